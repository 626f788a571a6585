//! The tasks, one file each.

mod ak_captcha_pivot;
mod ak_captcha_recovery;
mod ak_gate;
mod ak_readonly;
mod alert;
mod catalog;
mod dashboard;
mod dashboard_timeout;
mod huge_projection;
mod injection_in_data;
mod issues_throttled_export;
mod limits;
mod monitor;
mod monitors_bulk_mute;
mod owner_drift;
mod release;
mod release_recovery;
mod repositories;
mod repositories_denied;
mod repositories_retry;
mod shifting_pages;
mod unshipped_operation;

use serde_json::{Value, json};

use crate::task::Task;

/// The tasks that have a file each.
const FILES: &[&Task] = &[
    &dashboard::TASK,
    &release::TASK,
    &repositories::TASK,
    &alert::TASK,
    &monitor::TASK,
    &release_recovery::TASK,
    &repositories_retry::TASK,
    &repositories_denied::TASK,
    &ak_captcha_pivot::TASK,
    &ak_captcha_recovery::TASK,
    &ak_readonly::TASK,
    &issues_throttled_export::TASK,
    &monitors_bulk_mute::TASK,
    &owner_drift::TASK,
    &dashboard_timeout::TASK,
    &huge_projection::TASK,
    &injection_in_data::TASK,
    &shifting_pages::TASK,
    &unshipped_operation::TASK,
];

/// All tasks but those of [`NIGHTLY`], in the order of reports.
pub static ALL: &[&Task] = &joined::<{ count(LISTS) }>(LISTS);

/// Tasks that take minutes.
pub static NIGHTLY: &[&Task] = &[&issues_throttled_export::WHOLE];

const LISTS: &[&[&Task]] = &[
    FILES,
    catalog::lists::ALL,
    catalog::issues::ALL,
    catalog::events::ALL,
    catalog::explore::ALL,
    catalog::triage::ALL,
    catalog::changes::ALL,
    catalog::one_call::ALL,
];

const fn count(lists: &[&[&Task]]) -> usize {
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        count += lists[list].len();
        list += 1;
    }
    count
}

const fn joined<const COUNT: usize>(lists: &[&[&'static Task]]) -> [&'static Task; COUNT] {
    let mut all = [lists[0][0]; COUNT];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut item = 0;
        while item < lists[list].len() {
            all[at] = lists[list][item];
            at += 1;
            item += 1;
        }
        list += 1;
    }
    all
}

/// Every task, those that take minutes last.
pub fn every() -> impl Iterator<Item = &'static Task> {
    ALL.iter().chain(NIGHTLY).copied()
}

/// The task of this name.
pub fn find(name: &str) -> Option<&'static Task> {
    every().find(|task| task.name == name)
}

/// Arguments of `call_operation`, in the organization all tasks are about.
fn operation(id: &str, mut arguments: Value) -> Value {
    arguments["organization_id_or_slug"] = "harbor-lantern".into();
    json!({ "operationId": id, "arguments": arguments })
}

/// What the call number `at` answered.
fn data(past: &[Value], at: usize) -> &Value {
    past.get(at).map_or(&Value::Null, |it| &it["data"])
}

/// The item of a list whose field holds this text.
fn named<'v>(list: &'v Value, field: &str, text: &str) -> &'v Value {
    let mut items = list.as_array().into_iter().flatten();
    items.find(|it| it[field] == text).unwrap_or(&Value::Null)
}
