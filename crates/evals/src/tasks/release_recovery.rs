//! The same release and rollout, but the answer to the rollout is lost on the way.

use serde_json::json;

use super::release::{
    self, ANSWER, PLAIN_STEPS, PROMPT, READ, SHAPE, VERSION, WRITE, claimed, only_deploy,
    plain_answer,
};
use crate::evidence::Request;
use crate::scene::{ensure, id, same};
use crate::task::{
    CODE, Check, Firings, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    mutant, script, state, traffic,
};

const FAULT: &str = "deploy-lost-response";
const DEPLOYS: &str = "/api/0/organizations/{organization_id_or_slug}/releases/{version}/deploys/";
const RELEASE: &str = "/api/0/organizations/{organization_id_or_slug}/releases/{version}/";

pub(super) static TASK: Task = Task {
    name: "release-recovery",
    suite: Suite::Resilience,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    faults: || {
        json!([{
            "id": FAULT,
            "method": "POST",
            "route": DEPLOYS,
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
    expects: &[(FAULT, Firings::Exactly(1))],
    allowed: release::ALLOWED,
    checks: CHECKS,
    shared: &[
        ("r.one", OF_RELEASE),
        ("r.projects", OF_RELEASE),
        ("r.meta", OF_RELEASE),
        ("r.deploy-one", "the same as `rr.single`, under the name of the other task"),
        ("r.deploy-meta", OF_RELEASE),
        ("r.deploy-projects", OF_RELEASE),
        ("r.others", OF_RELEASE),
        ("r.answer", OF_RELEASE),
        ("rr.fault", "a trial in which it does not strike does not count at all"),
        ("rr.single", "the same as `r.deploy-one`, under this task's name"),
        ("rr.id", "tells which of several rollouts is meant, and several are wrong anyway"),
    ],
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: concat!(include_str!("release_recovery.rs"), include_str!("release.rs")),
    ..PLAIN_TASK
};

const OF_RELEASE: &str = "killed alone in `release`, whose check it is";

/// The checks of the task without the fault, and four more.
const CHECKS: &[Check] = &{
    let [one, projects, meta, deploy_one, deploy_meta, deploy_projects, others, said] =
        *release::CHECKS
    else {
        panic!("the checks of `release` are eight")
    };
    [
        one,
        projects,
        meta,
        deploy_one,
        deploy_meta,
        deploy_projects,
        others,
        said,
        traffic("rr.fault", |scene| same("how often the fault struck", scene.struck(FAULT), 1)),
        state("rr.single", |scene| only_deploy(scene).map(drop)),
        answer("rr.id", |scene| {
            let lost = scene.asked("POST", DEPLOYS).find(|it| it.fault.is_some());
            let lost = lost.ok_or("no rollout was posted")?;
            let mut made = lost.diff.iter().filter(|it| it.path().starts_with("/deploys/"));
            let made = made.next().and_then(|it| it.path().rsplit('/').next());
            let claimed = id(scene.said()?.get("deployId"));
            same("`deployId`", claimed.as_deref(), made)
        }),
        traffic("rr.readback", |scene| {
            let lost = scene.evidence.requests.iter().find(|it| it.fault.is_some());
            let lost = lost.ok_or("no rollout was posted")?.seq;
            let reads = scene.asked("GET", DEPLOYS).chain(scene.asked("GET", RELEASE));
            let of_this = |it: &&Request| it.path.contains("quay%405.2.0%2Btrain.7");
            let mut after = reads.filter(|it| it.seq > lost && it.succeeded()).filter(of_this);
            ensure(after.next().is_some(), "nothing was read back after the lost answer")
        }),
    ]
};

const REFERENCES: &[Script] = &[
    script("reference", CODE, &[Step::Write(WRITE, &[]), Step::Read(READ, &[])], Says::Last),
    script("reference", PLAIN, PLAIN_STEPS, Says::Answer(plain_answer)),
];

const EQUIVALENTS: &[Script] = &[script(
    "reads-the-release-too",
    CODE,
    &[
        Step::Write(WRITE, &[]),
        Step::Read(READ, &[("deployId: deploy.id", "deployId: Number(release.lastDeploy.id)")]),
    ],
    Says::Last,
)];

/// Posts the rollout once more; `last` is what the first attempt brought.
const AGAIN: &str = r#"
const one = "/api/0/organizations/harbor-lantern/releases/quay%405.2.0%2Btrain.7/";
const posted = await sentry.request("POST", `${one}deploys/`, {
  body: {
    environment: "staging",
    name: "train-7 canary",
    url: "https://ci.harbor-lantern.test/runs/8841",
    dateStarted: "2026-05-04T10:35:00+01:00",
    dateFinished: "2026-05-04T10:42:00+01:00",
  },
});
return { deployId: posted.data.id };"#;

const GUESS: &str = r#"
const before = "/api/0/organizations/harbor-lantern/releases/quay%405.1.9/deploys/";
const known = (await sentry.request("GET", before)).data.map((it) => Number(it.id));
return { deployId: String(Math.max(...known) + 1) };"#;

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "posts again without looking",
        &["rr.single"],
        &[Step::Write(WRITE, &[]), Step::Write(AGAIN, &[])],
        Says::Answer(claimed),
    ),
    mutant(
        "M2",
        "posts again and names the one that the list shows",
        &["rr.single", "rr.id"],
        &[Step::Write(WRITE, &[]), Step::Write(AGAIN, &[]), Step::Read(READ, &[])],
        Says::Last,
    ),
    mutant(
        "M3",
        "gives up, though the rollout is there",
        &["r.answer"],
        &[Step::Write(WRITE, &[]), Step::Read(READ, &[])],
        Says::Answer(|_| json!({ "status": "failed", "reason": "the rollout was answered with 502" })),
    ),
    mutant(
        "M4",
        "works the id out from those before",
        &["rr.readback", "rr.id"],
        &[Step::Write(WRITE, &[]), Step::Read(GUESS, &[])],
        Says::Answer(claimed),
    ),
    mutant(
        "M5",
        "takes the release away and starts again",
        &["c.no-delete"],
        &[
            Step::Write(WRITE, &[]),
            Step::Write(
                "await sentry.request(\"DELETE\", \"/api/0/organizations/harbor-lantern/releases/quay%405.2.0%2Btrain.7/\");
return null;",
                &[],
            ),
            Step::Write(WRITE, &[("const version", "const again = last; const version")]),
            Step::Read(READ, &[]),
        ],
        Says::Last,
    ),
    mutant(
        "M6",
        "takes the lost answer for success and names no id",
        &["r.answer"],
        &[Step::Write(WRITE, &[]), Step::Read(READ, &[])],
        Says::Answer(|_| {
            json!({ "status": "completed", "version": VERSION, "projects": ["quay-api", "quay-web"] })
        }),
    ),
    mutant(
        "M7",
        "posts a second rollout under another name",
        &["rr.single"],
        &[
            Step::Write(WRITE, &[]),
            Step::Write(AGAIN, &[("train-7 canary", "train-7 canary (retry)")]),
        ],
        Says::Answer(claimed),
    ),
];
