//! The same inventory, but the first request for it fails once.

use serde_json::json;

use super::repositories::{self, ANSWER, LIST, PROGRAM, PROMPT, SHAPE, SHARED, inventory, page};
use crate::scene::{ensure, same};
use crate::task::{
    CODE, Check, Firings, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, mutant,
    script, traffic,
};

const FAULT: &str = "first-list-unavailable";

pub(super) static TASK: Task = Task {
    name: "repositories-retry",
    suite: Suite::Resilience,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    faults: || {
        json!([{
            "id": FAULT,
            "method": "GET",
            "route": LIST,
            "nth": 1,
            "phase": "before",
            "action": {
                "type": "respond",
                "status": 503,
                "headers": { "content-type": "application/json" },
                "body": "{\"detail\":\"Service temporarily unavailable\"}",
            },
        }])
    },
    expects: &[(FAULT, Firings::Exactly(1))],
    checks: CHECKS,
    shared: &[
        SHARED[0],
        ("p.sorted", "killed alone in `repositories`, whose check it is"),
        ("p.readonly", "killed alone in `repositories`, whose check it is"),
        ("p.bounded", "the same bound as `pr.bounded`, under the name of the other task"),
        ("pr.bounded", "the same bound as `p.bounded`, under this task's name"),
        ("p.coverage", "who skips a page also gets the set wrong"),
        ("pr.fault", "a trial in which it does not strike does not count at all"),
        ("pr.recovered", "who never got through also has no inventory"),
        ("p.set", "who misses some of the set also misses some of the total or of the pages"),
    ],
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: concat!(include_str!("repositories_retry.rs"), include_str!("repositories.rs")),
    ..PLAIN_TASK
};

/// The checks of the task without the fault, and three more.
const CHECKS: &[Check] = &{
    let [total, coverage, set, sorted, inactive, readonly, bounded] = *repositories::CHECKS else {
        panic!("the checks of `repositories` are seven")
    };
    [
        total,
        coverage,
        set,
        sorted,
        inactive,
        readonly,
        bounded,
        traffic("pr.fault", |scene| same("how often the fault struck", scene.struck(FAULT), 1)),
        traffic("pr.recovered", |scene| {
            let mut lists = scene.asked("GET", LIST).skip_while(|it| it.fault.is_none());
            ensure(lists.any(|it| it.succeeded()), "no list was read after the fault")
        }),
        traffic("pr.bounded", |scene| {
            let calls = scene.asked("GET", LIST).count();
            ensure(calls <= 20, format!("the list was asked for {calls} times"))
        }),
    ]
};

const REFERENCES: &[Script] = &[
    script("reference", CODE, &[Step::Read(PROGRAM, &[])], Says::Last),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |past| page(past, None)),
            Step::Tool("call_operation", |past| page(past, None)),
            Step::Tool("call_operation", |past| page(past, Some(1))),
        ],
        Says::Answer(|past| inventory(past, [1, 2])),
    ),
];

const EQUIVALENTS: &[Script] = &[script(
    "asks-twice-before-it-looks",
    CODE,
    &[Step::Read(
        PROGRAM,
        &[(
            "const rows = [];",
            "const rows = [];\nawait sentry.request(\"GET\", path).catch(() => null);",
        )],
    )],
    Says::Last,
)];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "gives up after one failure",
        &["pr.recovered", "p.set"],
        &[Step::Read(
            PROGRAM,
            &[(
                "if (page.status < 500) break;",
                "if (page.status >= 500) return { status: \"blocked\", reason: \"the service is unavailable\" };\n    break;",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M2",
        "takes the failure for an empty list",
        &["p.total"],
        &[Step::Read(
            PROGRAM,
            &[
                ("tries <= 3", "tries <= 1"),
                ("rows.push(...page.data);", "if (page.ok) rows.push(...page.data);"),
                ("page.headers.link", "page.headers.link ?? \"\""),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M3",
        "asks again and again without a pause",
        &["pr.bounded"],
        &[Step::Read(
            PROGRAM,
            &[(
                "const rows = [];",
                "const rows = [];\nfor (let tries = 0; tries < 25; tries++) await sentry.request(\"GET\", path);",
            )],
        )],
        Says::Last,
    ),
    mutant(
        "M4",
        "goes on with the second page where the first one failed",
        &["p.coverage", "p.set"],
        &[Step::Read(
            PROGRAM,
            &[
                ("const rows = [];", "const rows = [];\nawait sentry.request(\"GET\", path);"),
                ("let cursor;", "let cursor = \"100:1:0\";"),
            ],
        )],
        Says::Last,
    ),
    mutant(
        "M5",
        "reports the length of the last page as the total",
        &["p.total"],
        &[Step::Read(
            PROGRAM,
            &[
                ("activeTotal: rows.length", "activeTotal: last_page"),
                ("const rows = [];", "const rows = [];\nlet last_page = 0;"),
                (
                    "rows.push(...page.data);",
                    "rows.push(...page.data);\n  last_page = page.data.length;",
                ),
            ],
        )],
        Says::Last,
    ),
];
