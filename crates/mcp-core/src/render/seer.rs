//! What Seer found out: the cause of an issue, a solution, pull requests.

use api_client::sentry::autofix::Autofix;
use serde_json::{Map, Value};

use super::{
    Page,
    event::{Sheet, short},
};

const MOST_STEPS: usize = 12;
const LONGEST_TEXT: usize = 390;

/// The findings of a run: each in a fence, for a model wrote them about text of outsiders.
pub(crate) fn seer_findings(page: &mut Page, run: &Autofix) -> bool {
    let mut found = false;
    for (heading, text) in [("Root cause", root_cause(run)), ("Solution", solution(run))] {
        if !text.is_empty() {
            page.heading(heading).untrusted(&text);
            found = true;
        }
    }
    let links = run.repo_pr_states.iter().filter_map(pull_request);
    let links: Vec<_> = links.take(MOST_STEPS).collect();
    if !links.is_empty() {
        page.heading("Pull requests");
        for link in links {
            page.item(link);
        }
        found = true;
    }
    found
}

/// The gist in a few lines, to stand among other things.
pub(crate) fn seer_summary(run: &Autofix) -> String {
    let mut sheet = Sheet::new(1_200);
    let cause = run.artifact("root_cause").and_then(|it| it.get("one_line_description"));
    let cause = cause.map(|it| short(it, LONGEST_TEXT)).or_else(|| old_cause(run));
    sheet.fact("Root cause", cause);
    let solution = run.artifact("solution").and_then(|it| it.get("one_line_summary"));
    sheet.fact("Solution", solution.map(|it| short(it, LONGEST_TEXT)));
    sheet.finish()
}

/// What the agent is at: the newest intention that is not done.
pub(crate) fn seer_progress(run: &Autofix) -> Option<String> {
    let todos = run.blocks.iter().rev().map(|it| &it.todos).find(|it| !it.is_empty())?;
    let active = todos.iter().find(|it| it.status.as_deref() == Some("in_progress"));
    let next = active.or_else(|| todos.iter().find(|it| it.status.as_deref() == Some("pending")));
    next.map(|it| super::event::shorten(&it.content, 200))
}

fn root_cause(run: &Autofix) -> String {
    let mut sheet = Sheet::new(6_000);
    match run.artifact("root_cause") {
        Some(found) => {
            sheet.fact(
                "In short",
                found.get("one_line_description").map(|it| short(it, LONGEST_TEXT)),
            );
            sheet.section("Why");
            for (index, why) in list(found, "five_whys").iter().take(MOST_STEPS).enumerate() {
                sheet.line(format!("{}. {}", index + 1, short(why, LONGEST_TEXT)));
            }
            sheet.section("To reproduce");
            for step in list(found, "reproduction_steps").iter().take(MOST_STEPS) {
                sheet.line(format!("- {}", short(step, LONGEST_TEXT)));
            }
        }
        None => sheet.fact("In short", old_cause(run)),
    }
    sheet.finish()
}

fn solution(run: &Autofix) -> String {
    let mut sheet = Sheet::new(6_000);
    let steps = match run.artifact("solution") {
        Some(found) => {
            sheet.fact("In short", found.get("one_line_summary").map(|it| short(it, LONGEST_TEXT)));
            list(found, "steps")
        }
        None => run
            .steps
            .iter()
            .map(|it| list(it, "solution"))
            .find(|it| !it.is_empty())
            .unwrap_or_default(),
    };
    for step in steps.iter().take(MOST_STEPS) {
        let said =
            |key: &str| step.get(key).filter(|it| it.is_string()).map(|it| short(it, LONGEST_TEXT));
        let text = said("description").or_else(|| said("code_snippet_and_analysis"));
        match (said("title"), text) {
            (Some(title), Some(text)) => sheet.line(format!("- {title}: {text}")),
            (Some(text), None) | (None, Some(text)) => sheet.line(format!("- {text}")),
            (None, None) => {}
        }
    }
    sheet.finish()
}

/// The cause in the form of older servers.
fn old_cause(run: &Autofix) -> Option<String> {
    let causes = run.steps.iter().flat_map(|it| list(it, "causes"));
    let described = causes.filter_map(|it| it.get("description").filter(|it| it.is_string()));
    described.map(|it| short(it, LONGEST_TEXT)).next()
}

fn list<'v>(fields: &'v Map<String, Value>, key: &str) -> &'v [Value] {
    fields.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn pull_request((repository, state): (&String, &Value)) -> Option<String> {
    let url = state.get("pr_url")?.as_str().filter(|it| it.starts_with("https://"))?;
    Some(format!("{repository}: {url}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_of_older_servers_are_read_as_well() {
        let run = json!({"status": "COMPLETED", "steps": [
            {"type": "default"},
            {"causes": [{"description": "the cache is stale"}]},
            {"solution": [{"title": "Clear it", "code_snippet_and_analysis": "on write"}]}]});
        let run: Autofix = serde_json::from_value(run).unwrap();
        assert_eq!(root_cause(&run), "In short: the cache is stale\n");
        assert_eq!(solution(&run), "- Clear it: on write\n");
        assert_eq!(seer_summary(&run), "Root cause: the cache is stale\n");
    }

    #[test]
    fn a_run_that_found_nothing_says_nothing() {
        let run = json!({"blocks": [{"todos": [{"content": "read", "status": "completed"},
            {"content": "think", "status": "in_progress"}]}], "repo_pr_states": {"a": {"pr_url": "javascript:1"}}});
        let run: Autofix = serde_json::from_value(run).unwrap();
        assert!(!seer_findings(&mut Page::default(), &run));
        assert_eq!(seer_progress(&run).as_deref(), Some("think"));
    }
}
