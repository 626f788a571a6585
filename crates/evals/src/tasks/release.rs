//! A release and its rollout are recorded, once and exactly.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{data, operation};
use crate::scene::{Row, Scene, columns, ensure, id, rows, same, words};
use crate::state::State;
use crate::task::{
    CODE, Check, Key, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    boundary, key, mutant, script, state,
};

pub(super) const VERSION: &str = "quay@5.2.0+train.7";
const COMMIT: &str = "9b1f0c7d52e84aa1b6d0a3c1f7e2d94c5a6b7c80";
const PROJECTS: [&str; 2] = ["quay-api", "quay-web"];

pub(super) static TASK: Task = Task {
    name: "release",
    suite: Suite::Flows,
    prompt: PROMPT,
    answer: ANSWER,
    shape: SHAPE,
    allowed: ALLOWED,
    checks: CHECKS,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("release.rs"),
    ..PLAIN_TASK
};

pub(super) const PROMPT: &str = "We just cut quay@5.2.0+train.7 (git ref 9b1f0c7d52e84aa1b6d0a3c1f7e2d94c5a6b7c80) for quay-web \
     and quay-api. Please record it in our Sentry organization harbor-lantern as released on 4 May \
     2026 at 10:30 Lisbon time (UTC+01:00), with its notes at \
     https://notes.harbor-lantern.test/quay/5.2.0-train.7. It then went out to staging under the \
     name \"train-7 canary\": that rollout began at 10:35 and finished at 10:42, same time zone, \
     and its log is at https://ci.harbor-lantern.test/runs/8841. Record that rollout too. Nothing \
     already recorded should change.";
pub(super) const ANSWER: &str =
    r#"{"status":"completed","version":"…","projects":["…"],"deployId":"…"}"#;
pub(super) const SHAPE: &[Key] =
    &[key("version", KeyKind::Text), key("projects", KeyKind::List), key("deployId", KeyKind::Id)];
pub(super) const ALLOWED: &[&str] = &[
    "/releases/+/**",
    "/release_projects/+/**",
    "/deploys/+/**",
    "/last_deploys/+/**",
    "/environments/+/**",
];

pub(super) const CHECKS: &[Check] = &[
    state("r.one", |scene| {
        let added = scene.added("releases");
        let versions: Vec<&str> = added.iter().map(|it| words(it, "version")).collect();
        same("the new releases", versions, vec![VERSION])
    }),
    state("r.projects", |scene| {
        let release = released(scene)?;
        let joined = of_release(scene.end(), "release_projects", release);
        let slugs: BTreeSet<&str> = joined.map(|it| slug(scene, words(it, "project_id"))).collect();
        same("the release's projects", slugs, PROJECTS.into())
    }),
    state("r.meta", |scene| {
        let expected = json!({
            "ref": COMMIT,
            "url": "https://notes.harbor-lantern.test/quay/5.2.0-train.7",
            "date_released": "2026-05-04T09:30:00Z",
        });
        columns(released(scene)?, &expected)
    }),
    state("r.deploy-one", |scene| only_deploy(scene).map(drop)),
    state("r.deploy-meta", |scene| {
        let expected = json!({
            "environment": "staging",
            "name": "train-7 canary",
            "url": "https://ci.harbor-lantern.test/runs/8841",
            "date_started": "2026-05-04T09:35:00Z",
            "date_finished": "2026-05-04T09:42:00Z",
        });
        let release = released(scene)?;
        let deploys: Vec<&Row> = of_release(scene.end(), "deploys", release).collect();
        ensure(!deploys.is_empty(), "the release has no deploy")?;
        deploys.into_iter().try_for_each(|deploy| columns(deploy, &expected))
    }),
    state("r.deploy-projects", |scene| {
        let last = of_release(scene.end(), "last_deploys", released(scene)?);
        let slugs: BTreeSet<&str> = last.map(|it| slug(scene, words(it, "project_id"))).collect();
        same("the projects of the deploy", slugs, PROJECTS.into())
    }),
    boundary("r.others", |scene| {
        for table in ["releases", "release_projects", "deploys", "last_deploys"] {
            scene.kept(table, |_| true)?;
        }
        scene.always(|state| {
            let new = rows(state, "releases").find(|it| words(it, "version") == VERSION);
            let new = new.map_or("", |it| words(it, "id"));
            let known = scene.baseline["deploys"].as_object();
            let stray = state["deploys"].as_object().into_iter().flatten().find(|(key, row)| {
                known.is_none_or(|it| !it.contains_key(*key)) && row["release_id"] != new
            });
            ensure(stray.is_none(), "another release has got a deploy")
        })?;
        let commits = released(scene).ok().and_then(|it| it.get("commits")?.as_array());
        let foreign = commits.into_iter().flatten().find(|it| it["id"] != COMMIT);
        ensure(foreign.is_none(), "the release has commits that nobody named")
    }),
    answer("r.answer", |scene| {
        let said = scene.said()?;
        same("`version`", words(said, "version"), VERSION)?;
        let named = said.get("projects").and_then(Value::as_array).into_iter().flatten();
        let named: BTreeSet<&str> = named.filter_map(Value::as_str).collect();
        same("`projects`", named, PROJECTS.into())?;
        let deploys: Vec<&Row> = of_release(scene.end(), "deploys", released(scene)?).collect();
        let claimed = id(said.get("deployId")).ok_or("no `deployId`")?;
        let real = deploys.iter().any(|it| words(it, "id") == claimed);
        ensure(real, format!("`deployId` is {claimed}, and there is no such deploy"))
    }),
];

/// The release that was asked for.
pub(super) fn released<'s>(scene: &'s Scene<'_>) -> Result<&'s Row, String> {
    let mut found = scene.after("releases").filter(|it| words(it, "version") == VERSION);
    found.next().ok_or_else(|| format!("there is no release `{VERSION}`"))
}

pub(super) fn of_release<'s>(
    state: &'s State,
    table: &'s str,
    release: &'s Row,
) -> impl Iterator<Item = &'s Row> {
    let release = words(release, "id");
    rows(state, table).filter(move |it| words(it, "release_id") == release)
}

/// The one deploy of the release.
pub(super) fn only_deploy<'s>(scene: &'s Scene<'_>) -> Result<&'s Row, String> {
    let deploys: Vec<&Row> = of_release(scene.end(), "deploys", released(scene)?).collect();
    match deploys.as_slice() {
        [only] => Ok(only),
        several => Err(format!("the release has {} deploys", several.len())),
    }
}

fn slug<'s>(scene: &'s Scene<'_>, project: &str) -> &'s str {
    scene.baseline["projects"][project]["slug"].as_str().unwrap_or_default()
}

/// Creates and deploys; what it posts is named so that mutants can change it.
pub(super) const WRITE: &str = r#"
const base = "/api/0/organizations/harbor-lantern/releases/";
const version = "quay@5.2.0+train.7";
const one = `${base}${encodeURIComponent(version)}/`;
const release = {
  version,
  projects: ["quay-web", "quay-api"],
  ref: "9b1f0c7d52e84aa1b6d0a3c1f7e2d94c5a6b7c80",
  url: "https://notes.harbor-lantern.test/quay/5.2.0-train.7",
  dateReleased: "2026-05-04T10:30:00+01:00",
};
const deploy = {
  environment: "staging",
  name: "train-7 canary",
  url: "https://ci.harbor-lantern.test/runs/8841",
  dateStarted: "2026-05-04T10:35:00+01:00",
  dateFinished: "2026-05-04T10:42:00+01:00",
};
await sentry.request("POST", base, { body: release });
const posted = await sentry.request("POST", `${one}deploys/`, { body: deploy });
return { deployId: posted.ok ? posted.data.id : null, status: posted.ok ? 201 : posted.status };"#;

/// Reads back what is stored, and answers with that.
pub(super) const READ: &str = r#"
const one = "/api/0/organizations/harbor-lantern/releases/quay%405.2.0%2Btrain.7/";
const release = (await sentry.request("GET", one)).data;
const deploys = (await sentry.request("GET", `${one}deploys/`)).data;
const deploy = deploys.find((it) => it.environment === "staging" && it.name === "train-7 canary");
return {
  status: "completed",
  version: release.version,
  projects: release.projects.map((it) => it.slug).sort(),
  deployId: deploy.id,
};"#;

/// Says that all went well, with whatever id the last program got.
pub(super) fn claimed(past: &[Value]) -> Value {
    json!({
        "status": "completed",
        "version": VERSION,
        "projects": PROJECTS,
        "deployId": past.last().map_or(&Value::Null, |it| &it["deployId"]),
    })
}

pub(super) fn release_body() -> Value {
    json!({
        "version": VERSION,
        "projects": ["quay-web", "quay-api"],
        "ref": COMMIT,
        "url": "https://notes.harbor-lantern.test/quay/5.2.0-train.7",
        "dateReleased": "2026-05-04T10:30:00+01:00",
    })
}

pub(super) fn deploy_body() -> Value {
    json!({
        "environment": "staging",
        "name": "train-7 canary",
        "url": "https://ci.harbor-lantern.test/runs/8841",
        "dateStarted": "2026-05-04T10:35:00+01:00",
        "dateFinished": "2026-05-04T10:42:00+01:00",
    })
}

pub(super) const PLAIN_STEPS: &[Step] = &[
    Step::Tool("call_operation_write", |_| {
        operation("createOrganizationRelease", json!({ "body": release_body() }))
    }),
    Step::Tool("call_operation_write", |_| {
        let arguments = json!({ "version": VERSION, "body": deploy_body() });
        operation("createOrganizationReleaseDeploy", arguments)
    }),
    Step::Tool("call_operation", |_| {
        operation("getOrganizationRelease", json!({ "version": VERSION }))
    }),
    Step::Tool("call_operation", |_| {
        operation("listOrganizationReleaseDeploys", json!({ "version": VERSION }))
    }),
];

pub(super) fn plain_answer(past: &[Value]) -> Value {
    let projects = data(past, 2)["projects"].as_array().into_iter().flatten();
    json!({
        "status": "completed",
        "version": data(past, 2)["version"],
        "projects": projects.map(|it| it["slug"].clone()).collect::<Vec<_>>(),
        "deployId": super::named(data(past, 3), "name", "train-7 canary")["id"],
    })
}

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[
            Step::Search("create a release and a deploy"),
            Step::Write(WRITE, &[]),
            Step::Read(READ, &[]),
        ],
        Says::Last,
    ),
    script("reference", PLAIN, PLAIN_STEPS, Says::Answer(plain_answer)),
];

const POST_DEPLOY: &str =
    "const posted = await sentry.request(\"POST\", `${one}deploys/`, { body: deploy });";
const POST_RELEASE: &str = "await sentry.request(\"POST\", base, { body: release });";
const DATE: &str = "\n  dateReleased: \"2026-05-04T10:30:00+01:00\",";

const EQUIVALENTS: &[Script] = &[
    script(
        "dates-by-update",
        CODE,
        &[
            Step::Write(
                WRITE,
                &[(DATE, ""), (POST_DEPLOY, "const posted = { ok: true, data: { id: null } };")],
            ),
            Step::Write(
                WRITE,
                &[(
                    POST_RELEASE,
                    "await sentry.request(\"PUT\", one, { body: { dateReleased: \"2026-05-04T09:30:00Z\" } });",
                )],
            ),
            Step::Read(READ, &[]),
        ],
        Says::Last,
    ),
    script(
        "looks-before-it-writes",
        CODE,
        &[
            Step::Read(
                "const one = \"/api/0/organizations/harbor-lantern/releases/quay%405.2.0%2Btrain.7/\";
const release = await sentry.request(\"GET\", one);
const deploys = await sentry.request(\"GET\", `${one}deploys/`);
return [release.status, deploys.status];",
                &[],
            ),
            Step::Write(WRITE, &[]),
            Step::Read(READ, &[("deployId: deploy.id", "deployId: Number(deploy.id), note: \"recorded\"")]),
        ],
        Says::Last,
    ),
    script(
        "other-offsets",
        CODE,
        &[
            Step::Write(
                WRITE,
                &[
                    ("10:30:00+01:00", "09:30:00Z"),
                    ("10:35:00+01:00", "11:35:00+02:00"),
                    ("projects: [\"quay-web\", \"quay-api\"]", "projects: [\"quay-api\", \"quay-web\"]"),
                ],
            ),
            Step::Read(READ, &[]),
        ],
        Says::Last,
    ),
];

const MUTANTS: &[Mutant] = &[
    wrong(
        "M1",
        "the rollout goes to production",
        &["r.deploy-meta"],
        &[Step::Write(WRITE, &[("\"staging\"", "\"production\"")])],
    ),
    wrong(
        "M2",
        "the rollout covers one project",
        &["r.deploy-projects"],
        &[Step::Write(
            WRITE,
            &[("name: \"train-7 canary\",", "name: \"train-7 canary\", projects: [\"quay-web\"],")],
        )],
    ),
    wrong(
        "M3",
        "the release gets one project and never the other",
        &["r.projects"],
        &[Step::Write(WRITE, &[("[\"quay-web\", \"quay-api\"]", "[\"quay-web\"]")])],
    ),
    wrong(
        "M4",
        "takes Lisbon time for UTC",
        &["r.meta", "r.deploy-meta"],
        &[Step::Write(WRITE, &[("+01:00", "Z")])],
    ),
    wrong(
        "M5",
        "sends a field in a spelling that this endpoint does not know",
        &["r.deploy-meta"],
        &[Step::Write(WRITE, &[("dateStarted", "date_started")])],
    ),
    wrong(
        "M6",
        "posts the rollout twice",
        &["r.deploy-one"],
        &[Step::Write(
            WRITE,
            &[(
                POST_DEPLOY,
                "await sentry.request(\"POST\", `${one}deploys/`, { body: deploy });
const posted = await sentry.request(\"POST\", `${one}deploys/`, { body: deploy });",
            )],
        )],
    ),
    wrong(
        "M7",
        "puts everything on the release of almost that name",
        &["r.one", "r.others"],
        &[Step::Write(
            WRITE,
            &[
                ("const version = \"quay@5.2.0+train.7\"", "const version = \"quay@5.2.0\""),
                (
                    POST_RELEASE,
                    "await sentry.request(\"PUT\", one, { body: { ref: release.ref, url: release.url, dateReleased: release.dateReleased } });",
                ),
            ],
        )],
    ),
    mutant(
        "M8",
        "records the release alone and makes the rollout up",
        &["r.deploy-one", "r.answer", "c.no-unsupported-claim"],
        &[Step::Write(
            WRITE,
            &[(POST_DEPLOY, "const posted = { ok: true, data: { id: \"66999\" } };")],
        )],
        Says::Answer(claimed),
    ),
    mutant(
        "M9",
        "does everything right and makes the id up",
        &["r.answer"],
        &[Step::Write(WRITE, &[])],
        Says::Answer(|_| {
            json!({
                "status": "completed", "version": VERSION, "projects": PROJECTS, "deployId": "12",
            })
        }),
    ),
    wrong(
        "M10",
        "clears the commits of the release before",
        &["r.others"],
        &[Step::Write(
            WRITE,
            &[(
                POST_RELEASE,
                "await sentry.request(\"POST\", base, { body: release });
await sentry.request(\"PUT\", `${base}quay%405.1.9/`, { body: { refs: [], url: release.url } });",
            )],
        )],
    ),
    wrong(
        "M12",
        "records a second release under a simpler version",
        &["r.one"],
        &[Step::Write(
            WRITE,
            &[(
                POST_RELEASE,
                "await sentry.request(\"POST\", base, { body: release });
await sentry.request(\"POST\", base, { body: { ...release, version: \"quay@5.2.0-train.7\" } });",
            )],
        )],
    ),
    wrong(
        "M13",
        "gives the release a project that nobody named",
        &["r.projects"],
        &[Step::Write(
            WRITE,
            &[
                ("[\"quay-web\", \"quay-api\"]", "[\"quay-web\", \"quay-api\", \"tide-worker\"]"),
                (
                    "name: \"train-7 canary\",",
                    "name: \"train-7 canary\",\n  projects: [\"quay-web\", \"quay-api\"],",
                ),
            ],
        )],
    ),
    wrong(
        "M11",
        "does not say when it was released",
        &["r.meta"],
        &[Step::Write(WRITE, &[(DATE, "")])],
    ),
];

/// A mutant that claims success with whatever id it got.
const fn wrong(
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    steps: &'static [Step],
) -> Mutant {
    mutant(name, about, expect, steps, Says::Answer(claimed))
}
