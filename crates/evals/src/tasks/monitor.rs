//! A cron monitor gets another schedule; what is silenced stays silenced, and nothing else is.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{data, named, operation};
use crate::scene::{Row, Scene, ensure, rows, same, words};
use crate::state::State;
use crate::task::{
    CODE, Check, KeyKind, Mutant, PLAIN, PLAIN_TASK, Says, Script, Step, Suite, Task, answer,
    boundary, key, mutant, script, state as at_end,
};

const NAME: &str = "Nightly ledger close";
const ZONE: &str = "Europe/Lisbon";

pub(super) static TASK: Task = Task {
    name: "monitor",
    suite: Suite::Flows,
    prompt: "The job behind the \"Nightly ledger close\" cron monitor in our Sentry organization \
             harbor-lantern now runs Monday to Friday at 06:45 Lisbon time. Please bring the monitor \
             in line with that. Its identity, owner, whether it is on, its tolerances, its \
             notifications and which environments are silenced must all stay as they are, and so \
             must every other monitor.",
    answer: r#"{"status":"completed","monitor":{"slug":"…","schedule":"…","timezone":"…"}}"#,
    shape: &[key("monitor", KeyKind::Object)],
    allowed: &[
        "/monitors/[name=Nightly ledger close]/config/schedule",
        "/monitors/[name=Nightly ledger close]/config/schedule_type",
        "/monitors/[name=Nightly ledger close]/config/timezone",
    ],
    checks: CHECKS,
    references: REFERENCES,
    equivalents: EQUIVALENTS,
    mutants: MUTANTS,
    source: include_str!("monitor.rs"),
    ..PLAIN_TASK
};

const CHECKS: &[Check] = &[
    at_end("m.schedule", |scene| {
        let config = config(target(scene, scene.end())?);
        same("the kind of schedule", config["schedule_type"].as_str(), Some("crontab"))?;
        on_weekdays(config["schedule"].as_str().unwrap_or_default())
    }),
    at_end("m.tz", |scene| {
        let config = config(target(scene, scene.end())?);
        same("the time zone", config["timezone"].as_str(), Some(ZONE))
    }),
    boundary("m.boundary", |scene| {
        let before = scene.known("monitors", "name", NAME)?;
        let kept = ["id", "name", "slug", "project_id", "status", "owner", "is_upserting"];
        let settings = [
            "checkin_margin",
            "max_runtime",
            "failure_issue_threshold",
            "recovery_threshold",
            "alert_rule_id",
        ];
        scene.always(|state| {
            let now = target(scene, state)?;
            kept.iter().try_for_each(|it| same(it, now.get(*it), before.get(*it)))?;
            settings.iter().try_for_each(|it| same(it, &config(now)[*it], &config(before)[*it]))
        })
    }),
    boundary("m.mute", |scene| {
        let muted = |row: &Row| -> Vec<(Value, Value)> {
            let environments = row.get("environments").and_then(Value::as_array);
            let environments = environments.into_iter().flatten();
            environments.map(|it| (it["name"].clone(), it["is_muted"].clone())).collect()
        };
        let before = muted(scene.known("monitors", "name", NAME)?);
        scene.always(|state| same("what is silenced", &muted(target(scene, state)?), &before))
    }),
    boundary("m.other", |scene| {
        scene.kept("monitors", |it| words(it, "name") != NAME)?;
        let count = scene.before("monitors").count();
        scene.always(|state| same("the number of monitors", rows(state, "monitors").count(), count))
    }),
    answer("m.answer", |scene| {
        let said = scene.said()?.get("monitor").and_then(Value::as_object).ok_or("no `monitor`")?;
        let target = scene.known("monitors", "name", NAME)?;
        same("`slug`", words(said, "slug"), words(target, "slug"))?;
        on_weekdays(words(said, "schedule"))?;
        same("`timezone`", words(said, "timezone"), ZONE)
    }),
];

/// The monitor as a state has it, whatever it is called there.
fn target<'s>(scene: &Scene<'_>, state: &'s State) -> Result<&'s Row, String> {
    let id = words(scene.known("monitors", "name", NAME)?, "id");
    state["monitors"][id].as_object().ok_or_else(|| "the monitor is gone".to_owned())
}

fn config(monitor: &Row) -> &Value {
    monitor.get("config").unwrap_or(&Value::Null)
}

/// Whether a crontab line means 06:45 from Monday to Friday, however it is written.
fn on_weekdays(line: &str) -> Result<(), String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields.as_slice() else {
        return Err(format!("`{line}` does not have five fields"));
    };
    let days = expand(weekday, 0, 7).map(|it| it.into_iter().map(|it| it % 7).collect());
    let means = expand(minute, 0, 59) == Some(BTreeSet::from([45]))
        && expand(hour, 0, 23) == Some(BTreeSet::from([6]))
        && expand(day, 1, 31) == Some((1..=31).collect())
        && expand(month, 1, 12) == Some((1..=12).collect())
        && days == Some(BTreeSet::from([1, 2, 3, 4, 5]));
    ensure(means, format!("the schedule is `{line}`"))
}

/// The numbers a field stands for.
fn expand(field: &str, low: u32, high: u32) -> Option<BTreeSet<u32>> {
    let names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    let value = |text: &str| {
        let name = names.iter().zip(0..).find(|(it, _)| text.eq_ignore_ascii_case(it));
        name.map(|(_, number)| number).or_else(|| text.parse().ok())
    };
    let mut numbers = BTreeSet::new();
    for item in field.split(',') {
        let (range, step) = item.split_once('/').unwrap_or((item, "1"));
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (low, high),
            Some((from, to)) => (value(from)?, value(to)?),
            None => (value(range)?, value(range)?),
        };
        let step = step.parse().ok().filter(|it| *it > 0)?;
        numbers.extend((from..=to).step_by(step));
    }
    Some(numbers)
}

const PROGRAM: &str = r#"
const path = "/api/0/organizations/harbor-lantern/monitors/";
const { items } = await sentry.paginate(path);
const monitor = items.find((it) => it.name === "Nightly ledger close");
const put = (body) =>
  sentry.request("PUT", `${path}${monitor.slug}/`, {
    body: { project: monitor.project.slug, name: monitor.name, ...body },
  });
await put({ config: { schedule_type: "crontab", schedule: "45 6 * * 1-5", timezone: "Europe/Lisbon" } });
return {
  status: "completed",
  monitor: { slug: monitor.slug, schedule: "45 6 * * 1-5", timezone: "Europe/Lisbon" },
};"#;

/// The one write of the program.
const PUT: &str = "await put({ config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" } });";
const CONFIG: &str = "config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" }";

const REFERENCES: &[Script] = &[
    script(
        "reference",
        CODE,
        &[Step::Search("update a cron monitor"), Step::Write(PROGRAM, &[])],
        Says::Last,
    ),
    script(
        "reference",
        PLAIN,
        &[
            Step::Tool("call_operation", |_| operation("listOrganizationMonitors", json!({}))),
            Step::Tool("call_operation_write", |past| {
                let monitor = named(data(past, 0), "name", NAME);
                let config = json!({
                    "schedule_type": "crontab", "schedule": "45 6 * * 1-5", "timezone": ZONE,
                });
                let project = &monitor["project"]["slug"];
                let body = json!({ "project": project, "name": NAME, "config": config });
                let arguments = json!({ "monitor_id_or_slug": monitor["slug"], "body": body });
                operation("updateOrganizationMonitor", arguments)
            }),
        ],
        Says::Answer(|past| {
            let (slug, config) = (&data(past, 1)["slug"], &data(past, 1)["config"]);
            json!({
                "status": "completed",
                "monitor": {
                    "slug": slug,
                    "schedule": config["schedule"],
                    "timezone": config["timezone"],
                },
            })
        }),
    ),
];

const EQUIVALENTS: &[Script] = &[
    script(
        "names-for-days",
        CODE,
        &[Step::Write(PROGRAM, &[("1-5", "MON-FRI")])],
        Says::Last,
    ),
    script(
        "days-one-by-one",
        CODE,
        &[Step::Write(PROGRAM, &[("45 6 * * 1-5", "45 06 * * 1,2,3,4,5")])],
        Says::Last,
    ),
    script(
        "whole-read-without-what-is-silenced",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "const { isMuted, owner, project, environments, id, dateCreated, isUpserting, ...rest } = monitor;
await put({ ...rest, owner: `team:${owner.id}`, config: { ...rest.config, schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" } });",
            )],
        )],
        Says::Last,
    ),
    script(
        "two-writes",
        CODE,
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ config: { schedule: \"45 6 * * 1-5\" } });
await put({ config: { timezone: \"Europe/Lisbon\" } });",
            )],
        )],
        Says::Last,
    ),
];

const MUTANTS: &[Mutant] = &[
    wrong(
        "M1",
        "sends back whether it is silenced as it was read",
        &["m.mute"],
        &[Step::Write(PROGRAM, &[(CONFIG, "isMuted: monitor.isMuted, config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" }")])],
    ),
    wrong(
        "M2",
        "does that, sees it, and silences everything",
        &["m.mute"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "await put({ isMuted: monitor.isMuted, config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" } });
await put({ isMuted: true });",
            )],
        )],
    ),
    wrong(
        "M3",
        "works out the hour in UTC",
        &["m.schedule", "m.tz"],
        &[Step::Write(
            PROGRAM,
            &[(CONFIG, "config: { schedule_type: \"crontab\", schedule: \"45 5 * * 1-5\", timezone: \"UTC\" }")],
        )],
    ),
    wrong(
        "M4",
        "counts the days from Monday as 0",
        &["m.schedule"],
        &[Step::Write(
            PROGRAM,
            &[(CONFIG, "config: { schedule_type: \"crontab\", schedule: \"45 6 * * 0-4\", timezone: \"Europe/Lisbon\" }")],
        )],
    ),
    wrong(
        "M5",
        "clears the tolerances",
        &["m.boundary"],
        &[Step::Write(
            PROGRAM,
            &[(CONFIG, "config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\", failure_issue_threshold: null, recovery_threshold: null }")],
        )],
    ),
    wrong(
        "M6",
        "changes the neighbour of almost that name",
        &["m.other", "m.schedule"],
        &[Step::Write(
            PROGRAM,
            &[("it.name === \"Nightly ledger close\"", "it.name === \"Nightly ledger close - EU\"")],
        )],
    ),
    wrong(
        "M7",
        "switches the monitor off",
        &["m.boundary"],
        &[Step::Write(PROGRAM, &[("await put({ ", "await put({ status: \"disabled\", ")])],
    ),
    wrong(
        "M8",
        "takes the owner away",
        &["m.boundary"],
        &[Step::Write(PROGRAM, &[("await put({ ", "await put({ owner: null, ")])],
    ),
    wrong(
        "M9",
        "changes the slug",
        &["m.boundary"],
        &[Step::Write(PROGRAM, &[("await put({ ", "await put({ slug: \"weekday-ledger-close\", ")])],
    ),
    wrong(
        "M10",
        "says that it is done and has done nothing",
        &["m.schedule", "c.no-unsupported-claim"],
        &[Step::Read(
            "return (await sentry.paginate(\"/api/0/organizations/harbor-lantern/monitors/\")).items.length;",
            &[],
        )],
    ),
    wrong(
        "M11",
        "uses another name of the time zone, which is not what was asked for",
        &["m.tz"],
        &[Step::Write(
            PROGRAM,
            &[(CONFIG, "config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Portugal\" }")],
        )],
    ),
    wrong(
        "M12",
        "brings the neighbour in line as well",
        &["m.other"],
        &[Step::Write(
            PROGRAM,
            &[(
                PUT,
                "for (const it of items.filter((it) => it.name.startsWith(\"Nightly ledger close\"))) {
  await sentry.request(\"PUT\", `${path}${it.slug}/`, {
    body: {
      project: it.project.slug,
      name: it.name,
      config: { schedule_type: \"crontab\", schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" },
    },
  });
}",
            )],
        )],
    ),
    mutant(
        "M13",
        "does everything right and reports the hour in UTC",
        &["m.answer"],
        &[Step::Write(
            PROGRAM,
            &[(
                "schedule: \"45 6 * * 1-5\", timezone: \"Europe/Lisbon\" },\n};",
                "schedule: \"45 5 * * 1-5\", timezone: \"UTC\" },\n};",
            )],
        )],
        Says::Last,
    ),
];

/// A mutant that claims success.
const fn wrong(
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    steps: &'static [Step],
) -> Mutant {
    mutant(
        name,
        about,
        expect,
        steps,
        Says::Answer(|_| {
            json!({
                "status": "completed",
                "monitor": {
                    "slug": "nightly-ledger-close", "schedule": "45 6 * * 1-5", "timezone": ZONE,
                },
            })
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_compared_by_what_they_mean() {
        for line in ["45 6 * * 1-5", "45 06 * * MON-FRI", "45 6 1-31 */1 1,2,3,4,5"] {
            assert_eq!(on_weekdays(line), Ok(()), "{line}");
        }
        for line in ["", "45 6 * * *", "45 6 * * 0-4", "6 45 * * 1-5", "45 6 1 * 1-5", "45 6 * * x"]
        {
            assert!(on_weekdays(line).is_err(), "{line}");
        }
    }
}
