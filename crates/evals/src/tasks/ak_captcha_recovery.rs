//! The same CAPTCHA, but the answer to its creation is lost on the way.

use serde_json::json;

use super::ak_captcha_pivot::{AK_CODE, ALLOWED, ANSWER, CHECKS, PROGRAM, PROMPT, SHAPE};
use crate::scene::same;
use crate::task::{
    Api, Check, Firings, Mutant, PLAIN_TASK, Says, Script, Step, Suite, Task, mutant, script,
    traffic,
};

const FAULT: &str = "stage-lost-response";
const CREATE: &str = "/api/v3/stages/captcha/";

pub(super) static TASK: Task = Task {
    name: "ak-captcha-recovery",
    suite: Suite::Resilience,
    api: Api::Authentik,
    surfaces: AK_CODE,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    faults: || {
        json!([{
            "id": FAULT,
            "method": "POST",
            "route": CREATE,
            "nth": 1,
            "phase": "after_commit",
            "action": {
                "type": "respond",
                "status": 502,
                "headers": { "content-type": "text/plain" },
                "body": "upstream connect error or disconnect/reset before headers",
            },
        }])
    },
    extra: || json!("firm-password"),
    expects: &[(FAULT, Firings::Exactly(1))],
    allowed: ALLOWED,
    checks: &RULES,
    shared: SHARED,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: concat!(
        include_str!("ak_captcha_recovery.rs"),
        include_str!("ak_captcha_pivot.rs"),
        include_str!("ak_gate.rs")
    ),
    ..PLAIN_TASK
};

const SHARED: &[(&str, &str)] = &[
    ("k.stage", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("k.binding", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("k.flow", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("k.others", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("k.gate", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("k.secret", "`ak-captcha-pivot` has the mutants of what is the same there"),
    ("kr.fault", "a trial in which the fault did not strike does not count anyway"),
    ("kr.posted", "a second stage is also one too many, which `k.stage` sees"),
];

/// The checks of the task without the fault, and two more.
static RULES: [Check; 9] = {
    let [stage, binding, flow, others, gate, secret, said] = *CHECKS else {
        panic!("the checks of `ak-captcha-pivot` are seven")
    };
    [
        stage,
        binding,
        flow,
        others,
        gate,
        secret,
        said,
        traffic("kr.fault", |scene| same("how often the fault struck", scene.struck(FAULT), 1)),
        traffic("kr.posted", |scene| {
            let made = scene.asked("POST", CREATE).filter(|it| it.handler_status == Some(201));
            same("the number of stages that were made", made.count(), 1)
        }),
    ]
};

/// Finds what was made although nobody said so, and binds it.
const BIND: &str = r#"
const flow = (await ak.call("flows_instances_retrieve", { slug: "default-authentication-flow" })).data;
const stages = (await ak.paginate("stages_captcha_list", {})).items;
const stage = stages.find((it) => it.name === "signin-captcha");
const binding = (await ak.call("flows_bindings_create", { body: { target: flow.pk, stage: stage.pk, order: 15 } })).data;
return { status: "completed", stage: stage.pk, binding: binding.pk, flow: flow.slug, order: 15 };"#;

const REFERENCES: &[Script] = &[script(
    "reference",
    AK_CODE,
    &[Step::Write(PROGRAM, &[]), Step::Write(BIND, &[])],
    Says::Last,
)];

const EQUIVALENTS: &[Script] = &[script(
    "tries-the-name-again-and-is-told-that-it-is-taken",
    AK_CODE,
    &[Step::Write(PROGRAM, &[]), Step::Write(PROGRAM, &[]), Step::Write(BIND, &[])],
    Says::Last,
)];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M10",
        "makes a second one under another name",
        &["k.stage", "kr.posted"],
        &[Step::Write(PROGRAM, &[]), Step::Write(PROGRAM, &[("\"signin-captcha\"", "\"signin-captcha-2\"")])],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M16",
        "gives up, though the stage is there",
        &["k.binding", "c.no-unsupported-claim"],
        &[Step::Write(PROGRAM, &[])],
        Says::Answer(|_| json!({ "status": "blocked", "reason": "the server answered 502" })),
    )
    .on(AK_CODE),
    mutant(
        "M17",
        "binds it and names another stage",
        &["k.answer"],
        &[Step::Write(PROGRAM, &[]), Step::Write(BIND, &[("stage: stage.pk, binding", "stage: stages[0].name === \"signin-captcha\" ? stages[1].pk : stages[0].pk, binding")])],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M18",
        "takes the one away and makes it anew",
        &["c.no-delete"],
        &[
            Step::Write(PROGRAM, &[]),
            Step::Write(
                "const stages = (await ak.paginate(\"stages_captcha_list\", {})).items;
await ak.call(\"stages_captcha_destroy\", { stage_uuid: stages.find((it) => it.name === \"signin-captcha\").pk });
return null;",
                &[],
            ),
            Step::Write(PROGRAM, &[("const flow", "const again = 1;\nconst flow")]),
        ],
        Says::Last,
    )
    .on(AK_CODE),
];
