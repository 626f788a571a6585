//! The ways to ignore an issue: what a caller may combine, and what is sent for it.

use api_client::sentry::issues::{Issue, IssueChanges};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::ToolError;

/// How long an issue is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum IgnoreMode {
    UntilEscalating,
    Forever,
    ForDuration,
    UntilOccurrenceCount,
    UntilUserCount,
}

impl IgnoreMode {
    /// The name of the mode, as a caller writes it.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::UntilEscalating => "untilEscalating",
            Self::Forever => "forever",
            Self::ForDuration => "forDuration",
            Self::UntilOccurrenceCount => "untilOccurrenceCount",
            Self::UntilUserCount => "untilUserCount",
        }
    }

    /// Sentry keeps three kinds apart; an ignored issue cannot go from one to another.
    fn substatus(self) -> &'static str {
        match self {
            Self::UntilEscalating => "archived_until_escalating",
            Self::Forever => "archived_forever",
            Self::ForDuration | Self::UntilOccurrenceCount | Self::UntilUserCount => CONDITION,
        }
    }
}

const CONDITION: &str = "archived_until_condition_met";

/// What a caller says about ignoring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IgnoreOptions {
    /// default `untilEscalating`, or what the numbers below say
    ignore_mode: Option<IgnoreMode>,
    #[schemars(range(min = 1))]
    ignore_duration_minutes: Option<u64>,
    /// events
    #[schemars(range(min = 1))]
    ignore_count: Option<u64>,
    /// the time in which `ignoreCount` is reached
    #[schemars(range(min = 1, max = 10080))]
    ignore_window_minutes: Option<u64>,
    /// users
    #[schemars(range(min = 1))]
    ignore_user_count: Option<u64>,
    #[schemars(range(min = 1, max = 10080))]
    ignore_user_window_minutes: Option<u64>,
}

impl IgnoreOptions {
    /// Whether anything was said.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The mode that the options amount to.
    pub(crate) fn mode(&self) -> Result<IgnoreMode, ToolError> {
        for (window, given, count, has_count) in [
            ("ignoreWindowMinutes", self.ignore_window_minutes, "ignoreCount", self.ignore_count),
            (
                "ignoreUserWindowMinutes",
                self.ignore_user_window_minutes,
                "ignoreUserCount",
                self.ignore_user_count,
            ),
        ] {
            if given.is_some() && has_count.is_none() {
                return Err(ToolError::user(format!("`{window}` needs `{count}`"))
                    .hint("the window is the time in which that many must come"));
            }
        }
        let given: Vec<(IgnoreMode, &str)> = [
            (self.ignore_duration_minutes, IgnoreMode::ForDuration, "ignoreDurationMinutes"),
            (self.ignore_count, IgnoreMode::UntilOccurrenceCount, "ignoreCount"),
            (self.ignore_user_count, IgnoreMode::UntilUserCount, "ignoreUserCount"),
        ]
        .into_iter()
        .filter_map(|(value, mode, name)| value.map(|_| (mode, name)))
        .collect();
        match (self.ignore_mode, given.as_slice()) {
            (None, []) => Ok(IgnoreMode::UntilEscalating),
            (None, [(mode, _)]) => Ok(*mode),
            (Some(mode @ (IgnoreMode::UntilEscalating | IgnoreMode::Forever)), []) => Ok(mode),
            (Some(mode), [(only, _)]) if mode == *only => Ok(mode),
            (Some(mode), []) => {
                let message = format!("`ignoreMode` `{}` needs `{}`", mode.id(), needed(mode));
                Err(ToolError::user(message).hint("give it, or choose another mode"))
            }
            (Some(mode), [.., (_, name)]) => {
                let message = format!("`{name}` does not go with `ignoreMode` `{}`", mode.id());
                Err(ToolError::user(message).hint("leave one of the two out"))
            }
            (None, [(_, one), (_, other), ..]) => {
                Err(ToolError::user(format!("`{one}` and `{other}` are two modes at once"))
                    .hint("give one of them"))
            }
        }
    }

    /// Puts the mode into a change.
    pub(crate) fn apply(&self, mode: IgnoreMode, changes: &mut IssueChanges<'_>) {
        changes.status = Some("ignored");
        changes.substatus = Some(mode.substatus());
        changes.ignore_duration = self.ignore_duration_minutes;
        changes.ignore_count = self.ignore_count;
        changes.ignore_window = self.ignore_window_minutes;
        changes.ignore_user_count = self.ignore_user_count;
        changes.ignore_user_window = self.ignore_user_window_minutes;
    }

    /// Whether an issue has to be told: not when it is ignored just so, and never from one family to
    /// another.
    pub(crate) fn is_needed(&self, mode: IgnoreMode, issue: &Issue) -> Result<bool, ToolError> {
        if issue.status.as_deref() != Some("ignored") {
            return Ok(true);
        }
        if self.is_empty() {
            return Ok(false);
        }
        let present = match issue.substatus.as_deref() {
            Some(known @ ("archived_until_escalating" | CONDITION)) => known,
            _ if has_condition(issue) => CONDITION,
            _ => "archived_forever",
        };
        if present != mode.substatus() {
            let how = crate::render::ignoring(issue).unwrap_or_default();
            let message = format!(
                "the issue is ignored {how}; Sentry cannot change that to `{}` at once",
                mode.id()
            );
            return Err(ToolError::user(message)
                .hint("set `status` `unresolved` first, then ignore it again"));
        }
        // New numbers replace the old ones; the other families have none.
        Ok(mode.substatus() == CONDITION)
    }
}

fn has_condition(issue: &Issue) -> bool {
    issue.status_details.iter().any(|(key, value)| key.starts_with("ignore") && !value.is_null())
}

fn needed(mode: IgnoreMode) -> &'static str {
    match mode {
        IgnoreMode::ForDuration => "ignoreDurationMinutes",
        IgnoreMode::UntilOccurrenceCount => "ignoreCount",
        IgnoreMode::UntilUserCount => "ignoreUserCount",
        IgnoreMode::UntilEscalating | IgnoreMode::Forever => "nothing",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn options(value: Value) -> IgnoreOptions {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_mode_is_what_the_options_say() {
        for (given, expected) in [
            (json!({}), "untilEscalating"),
            (json!({"ignoreMode": "forever"}), "forever"),
            (json!({"ignoreDurationMinutes": 60}), "forDuration"),
            (json!({"ignoreCount": 10, "ignoreWindowMinutes": 60}), "untilOccurrenceCount"),
            (json!({"ignoreMode": "untilUserCount", "ignoreUserCount": 3}), "untilUserCount"),
        ] {
            assert_eq!(options(given).mode().unwrap().id(), expected);
        }
    }

    #[test]
    fn options_that_do_not_agree_are_refused_by_name() {
        for (given, words) in [
            (json!({"ignoreWindowMinutes": 60}), "`ignoreWindowMinutes` needs `ignoreCount`"),
            (json!({"ignoreUserWindowMinutes": 60, "ignoreCount": 1}), "needs `ignoreUserCount`"),
            (json!({"ignoreMode": "forDuration"}), "needs `ignoreDurationMinutes`"),
            (json!({"ignoreMode": "forever", "ignoreCount": 1}), "`ignoreCount` does not go with"),
            (json!({"ignoreMode": "forDuration", "ignoreCount": 1}), "does not go with"),
            (
                json!({"ignoreMode": "forDuration", "ignoreDurationMinutes": 1, "ignoreCount": 1}),
                "`ignoreCount` does not go with",
            ),
            (json!({"ignoreDurationMinutes": 1, "ignoreCount": 1}), "two modes at once"),
        ] {
            let ToolError::UserInput(error) = options(given.clone()).mode().unwrap_err() else {
                panic!("{given}");
            };
            assert!(error.message.contains(words), "{given}: {error}");
        }
    }

    #[test]
    fn an_ignored_issue_stays_in_its_family() {
        let issue = |substatus: Value, details: Value| -> Issue {
            let issue = json!({"id": 1, "status": "ignored", "substatus": substatus, "statusDetails": details});
            serde_json::from_value(issue).unwrap()
        };
        let forever = issue(json!("archived_forever"), json!({}));
        let counted = issue(json!(null), json!({"ignoreCount": 5}));
        let needed = |given: Value, issue: &Issue| {
            let options = options(given);
            options.is_needed(options.mode().unwrap(), issue).map_err(|_| "refused")
        };
        assert_eq!(needed(json!({}), &forever), Ok(false));
        assert_eq!(needed(json!({"ignoreMode": "forever"}), &forever), Ok(false));
        assert_eq!(needed(json!({"ignoreMode": "untilEscalating"}), &forever), Err("refused"));
        assert_eq!(needed(json!({"ignoreCount": 9}), &forever), Err("refused"));
        assert_eq!(needed(json!({"ignoreCount": 9}), &counted), Ok(true));
        assert_eq!(needed(json!({"ignoreMode": "forever"}), &counted), Err("refused"));
    }
}
