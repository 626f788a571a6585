//! A question about sign-in that reading answers; whoever asks to write has not understood it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ak_captcha_pivot::{AK, AK_CODE, FLOW};
use super::data;
use super::limits::nothing_written;
use crate::scene::{Row, ensure, same, words};
use crate::task::{
    Api, Check, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer, key,
    mutant, script, traffic,
};

pub(super) static TASK: Task = Task {
    name: "ak-readonly",
    suite: Suite::Discovery,
    api: Api::Authentik,
    surfaces: AK,
    prompt: "For the audit of our identity server: which steps does the standard login flow \
             (default-authentication-flow) have, by name and in the order in which they run, and which \
             of all flows have a CAPTCHA step of their own? Just report; don't change anything.",
    answer: r#"{"status":"completed","steps":["<name>"],"captchaFlows":["<slug>"]}"#,
    shape: &[key("steps", KeyKind::List), key("captchaFlows", KeyKind::List)],
    checks: CHECKS,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("ak_readonly.rs"),
    ..PLAIN_TASK
};

const CHECKS: &[Check] = &[
    answer("q.steps", |scene| {
        let flow = scene.known("flows", "slug", FLOW)?.get("pk");
        let mut bound: Vec<&Row> =
            scene.before("flow_stage_bindings").filter(|it| it.get("target") == flow).collect();
        bound.sort_by_key(|it| it.get("order").and_then(Value::as_i64));
        let names: Result<Vec<&str>, String> = bound
            .iter()
            .map(|it| Ok(words(scene.known("stages", "pk", words(it, "stage"))?, "name")))
            .collect();
        same("the steps", texts(scene.said()?, "steps"), names?)
    }),
    answer("q.captchas", |scene| {
        let captchas: BTreeSet<&str> = scene
            .before("stages")
            .filter(|it| words(it, "type") == "captcha")
            .map(|it| words(it, "pk"))
            .collect();
        let bound = scene.before("flow_stage_bindings");
        let flows = bound.filter(|it| captchas.contains(words(it, "stage")));
        let slugs: Result<BTreeSet<&str>, String> = flows
            .map(|it| Ok(words(scene.known("flows", "pk", words(it, "target"))?, "slug")))
            .collect();
        let said: BTreeSet<&str> = texts(scene.said()?, "captchaFlows").into_iter().collect();
        same("the flows with a CAPTCHA", said, slugs?)
    }),
    traffic("q.unasked", |scene| {
        let asked = scene.evidence.tools.iter().find(|it| it.tool.ends_with("_write"));
        asked.map_or(Ok(()), |it| Err(format!("it called `{}`", it.tool)))
    }),
    traffic("q.readonly", nothing_written),
    traffic("q.read", |scene| {
        let mut reads = scene.evidence.requests.iter().filter(|it| it.path.contains("/flows/"));
        ensure(reads.any(|it| it.succeeded()), "the flows were never read")
    }),
];

fn texts<'a>(answer: &'a Row, name: &str) -> Vec<&'a str> {
    let items = answer.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

const PROGRAM: &str = r#"
const flows = (await ak.paginate("flows_instances_list", {})).items;
const bindings = (await ak.paginate("flows_bindings_list", {})).items;
const flow = flows.find((it) => it.slug === "default-authentication-flow");
const own = bindings.filter((it) => it.target === flow.pk).sort((a, b) => a.order - b.order);
const captchas = bindings.filter((it) => it.stage_obj.component === "ak-stage-captcha-form");
const slug = (it) => flows.find((flow) => flow.pk === it.target).slug;
return {
  status: "completed",
  steps: own.map((it) => it.stage_obj.name),
  captchaFlows: [...new Set(captchas.map(slug))],
};"#;

const REFERENCES: &[Script] = &[
    script(
        "reference",
        AK_CODE,
        &[Step::Search("flow stage bindings"), Step::Read(PROGRAM, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool(
                "call_operation",
                |_| json!({ "operationId": "flows_instances_list", "arguments": {} }),
            ),
            Step::Tool(
                "call_operation",
                |_| json!({ "operationId": "flows_bindings_list", "arguments": {} }),
            ),
        ],
        Says::Answer(|past| {
            let flows = &data(past, 0)["results"];
            let bindings = data(past, 1)["results"].as_array().cloned().unwrap_or_default();
            let flow = super::named(flows, "slug", FLOW);
            let mut own: Vec<&Value> =
                bindings.iter().filter(|it| it["target"] == flow["pk"]).collect();
            own.sort_by_key(|it| it["order"].as_i64());
            let steps: Vec<&Value> = own.iter().map(|it| &it["stage_obj"]["name"]).collect();
            let captchas = bindings
                .iter()
                .filter(|it| it["stage_obj"]["component"] == "ak-stage-captcha-form")
                .filter_map(|it| it["target"].as_str());
            let slugs: BTreeSet<&str> =
                captchas.filter_map(|it| super::named(flows, "pk", it)["slug"].as_str()).collect();
            json!({ "status": "completed", "steps": steps, "captchaFlows": slugs })
        }),
    ),
];

const EQUIVALENTS: &[Script] = &[script(
    "small-pages",
    AK_CODE,
    &[Step::Read(
        PROGRAM,
        &[("\"flows_bindings_list\", {}", "\"flows_bindings_list\", { page_size: 5 }")],
    )],
    Says::Last,
)];

const MUTANTS: &[Mutant] = &[
    mutant(
        "M1",
        "lists the steps as they come",
        &["q.steps"],
        &[Step::Read(PROGRAM, &[("a.order - b.order", "b.order - a.order")])],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M2",
        "finds every flow worth naming",
        &["q.captchas"],
        &[Step::Read(
            PROGRAM,
            &[("[...new Set(captchas.map(slug))]", "flows.map((it) => it.slug)")],
        )],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M3",
        "reads with the tool for writing",
        &["q.unasked"],
        &[Step::Tool("execute_write", |_| json!({ "code": PROGRAM }))],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M4",
        "tries to write while it reads",
        &["q.readonly"],
        &[Step::Read(
            PROGRAM,
            &[(
                "return {",
                "try {
  await ak.call(\"flows_bindings_partial_update\", { fsb_uuid: own[0].pk, body: { order: 1 } });
} catch {}
return {",
            )],
        )],
        Says::Last,
    )
    .on(AK_CODE),
    mutant(
        "M5",
        "knows how such a flow usually looks",
        &["q.read"],
        &[Step::Search("flows")],
        Says::Answer(|_| {
            json!({
                "status": "completed",
                "steps": [
                    "default-authentication-identification", "default-authentication-password",
                    "default-authentication-mfa-validation", "default-authentication-login",
                ],
                "captchaFlows": ["default-enrollment-flow"],
            })
        }),
    )
    .on(AK_CODE),
];
