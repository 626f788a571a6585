//! The two tiers of failure: what the model can fix, and what only an operator can.

use std::fmt;

use api_client::{
    error::{Error as TransportError, ErrorKind},
    sentry::error::{Error as SentryError, Refusal},
};
use serde_json::{Map, Value};

use crate::surfaces::Reach;

/// Why a tool call failed.
#[derive(Debug)]
pub enum ToolError {
    /// The caller can fix it; message and hints are shown to the model.
    UserInput(UserInputError),
    /// Ours or the machine's: logged in full under an event id, the model sees the id alone.
    System(Box<dyn std::error::Error + Send + Sync>),
}

/// A fault in what was asked for, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserInputError {
    /// What is wrong: a lower-case fragment that names the thing in backticks.
    pub message: String,
    /// What to do next.
    pub hints: Vec<Hint>,
    /// Whose turn it is.
    pub topic: Topic,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// A sentence.
    Text(String),
    /// Another tool, named in the way the session reaches it, or not at all.
    Tool {
        /// Its name.
        name: &'static str,
        /// Completes "to …".
        purpose: &'static str,
    },
}

/// What a failure is about, which is its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The arguments.
    Input,
    /// Something that the API does not have, or not for this token; what was looked up is named.
    NotFound,
    /// The token itself.
    Authorization,
    /// The way to the API.
    Configuration,
}

impl Topic {
    /// The heading of the message.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Input => "Input Error",
            Self::NotFound => "Not Found",
            Self::Authorization => "Authorization Expired",
            Self::Configuration => "Configuration Error",
        }
    }
}

/// Parameters that say what was looked up, with the tool that lists such things.
const LOOKED_UP: &[(&str, Option<Hint>)] = &[
    ("organizationSlug", lists("find_organizations", "list the organizations")),
    ("projectSlug", lists("find_projects", "list the projects")),
    ("projectSlugOrId", lists("find_projects", "list the projects")),
    ("teamSlug", lists("find_teams", "list the teams")),
    ("releaseVersion", lists("find_releases", "list the releases")),
    ("monitorSlug", lists("find_monitors", "list the monitors")),
    ("uptimeMonitorId", lists("find_uptime_monitors", "list the uptime monitors")),
    ("keyId", lists("find_dsns", "list the keys")),
    ("dashboardIdOrTitle", lists("find_dashboards", "list the dashboards")),
    ("ruleIdOrName", lists("find_alert_rules", "list the alert rules")),
    ("issueId", lists("search_issues", "search the issues")),
    ("issueUrl", None),
    ("eventId", None),
    ("tagKey", None),
    ("attachmentId", None),
    ("traceId", None),
    ("replayId", None),
    ("replayUrl", None),
    ("profileId", None),
    ("profilerId", None),
    ("profileUrl", None),
    ("snapshotId", None),
    ("imageIdentifier", None),
];

const fn lists(name: &'static str, purpose: &'static str) -> Option<Hint> {
    Some(Hint::Tool { name, purpose })
}

impl ToolError {
    /// A fault the caller can fix.
    pub fn user(message: impl Into<String>) -> Self {
        Self::about(Topic::Input, message)
    }

    /// A fault with a topic of its own.
    pub fn about(topic: Topic, message: impl Into<String>) -> Self {
        Self::UserInput(UserInputError { message: message.into(), hints: Vec::new(), topic })
    }

    /// Adds what to do next; does nothing to a system error.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.with(Hint::Text(hint.into()))
    }

    /// Adds a tool that helps, where the session has it. `purpose` completes "to …".
    #[must_use]
    pub fn hint_tool(self, name: &'static str, purpose: &'static str) -> Self {
        self.with(Hint::Tool { name, purpose })
    }

    fn with(mut self, hint: Hint) -> Self {
        if let Self::UserInput(error) = &mut self
            && !error.hints.contains(&hint)
        {
            error.hints.push(hint);
        }
        self
    }

    /// A fault that the caller cannot fix.
    pub fn system(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::System(source.into())
    }

    /// Names what was looked up where it was not found, and who lists such things.
    #[must_use]
    pub(crate) fn looked_up(mut self, arguments: &Map<String, Value>) -> Self {
        let Self::UserInput(UserInputError { message, topic: Topic::NotFound, .. }) = &mut self
        else {
            return self;
        };
        let given = |name: &str| arguments.get(name).and_then(Value::as_str);
        let looked_up: Vec<_> = LOOKED_UP
            .iter()
            .filter_map(|(name, _)| Some(format!("`{name}` `{}`", given(name)?)))
            .collect();
        if !looked_up.is_empty() {
            *message = format!("{message}; looked up: {}", looked_up.join(", "));
        }
        LOOKED_UP
            .iter()
            .filter(|(name, _)| given(name).is_some())
            .filter_map(|(_, hint)| hint.clone())
            .fold(self, Self::with)
    }
}

impl UserInputError {
    /// What to do next, as this session can do it.
    pub fn hints(&self, reach: &Reach) -> Vec<String> {
        self.hints
            .iter()
            .filter_map(|hint| match hint {
                Hint::Text(text) => Some(text.clone()),
                Hint::Tool { name, purpose } => reach.hint(name, purpose),
            })
            .collect()
    }
}

impl fmt::Display for UserInputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for hint in &self.hints {
            match hint {
                Hint::Text(text) => write!(f, "\nhint: {text}")?,
                Hint::Tool { name, purpose } => write!(f, "\nhint: `{name}` to {purpose}")?,
            }
        }
        Ok(())
    }
}

impl From<SentryError> for ToolError {
    /// The decision table of typed calls: who sees what.
    fn from(error: SentryError) -> Self {
        match error {
            SentryError::Transport(error) => error.into(),
            SentryError::Refused(refusal) => refused(refusal),
            SentryError::Cursor => Self::user(error.to_string()),
            SentryError::Region(error) => Self::user(error.to_string())
                .hint("leave `regionUrl` out, or take it from the list of organizations"),
        }
    }
}

/// A status that is no success: up to 499 the call is wrong, from 500 on Sentry is.
fn refused(refusal: Refusal) -> ToolError {
    let said = refusal.detail.as_deref().map(|it| format!(": {it}")).unwrap_or_default();
    let status = refusal.status;
    match status {
        401 => ToolError::about(
            Topic::Authorization,
            format!("Sentry does not accept the token (401){said}"),
        )
        .hint("give the server a valid token and start it again"),
        403 => ToolError::user(format!("Sentry does not allow this with the token (403){said}"))
            .hint("the token may lack a scope, or its user the access; if several projects are meant, name one"),
        404 => ToolError::about(Topic::NotFound, format!("Sentry has no such thing (404){said}"))
            .hint("check the spelling; it may also mean that the token has no access"),
        429 => {
            let wait = match refusal.retry_after {
                Some(wait) => format!("try again in {} s", wait.as_secs().max(1)),
                None => "try again in a minute".to_owned(),
            };
            ToolError::user(format!("Sentry limits the rate (429){said}")).hint(wait)
        }
        300..=499 => ToolError::user(format!("Sentry refused the request ({status}){said}"))
            .hint("change the arguments it complains about and try again"),
        _ => ToolError::system(refusal),
    }
}

impl From<TransportError> for ToolError {
    /// The decision table of the transport: an operator's set-up is named, the rest is ours.
    fn from(error: TransportError) -> Self {
        let shown = error.to_string();
        match error.kind() {
            ErrorKind::Dns
            | ErrorKind::Refused
            | ErrorKind::Unreachable
            | ErrorKind::Tls { .. }
            | ErrorKind::Proxy { .. }
            | ErrorKind::ConnectTimeout
            | ErrorKind::NotHttp
            | ErrorKind::Credential(_) => Self::about(Topic::Configuration, shown)
                .hint("whoever set this server up can change it; other arguments do not help"),
            ErrorKind::Redirect { .. } | ErrorKind::Inner => {
                Self::about(Topic::Configuration, shown)
                    .hint("the configured address may be that of a login page or an old host")
            }
            ErrorKind::Timeout | ErrorKind::Incomplete => {
                Self::user(shown).hint("try again, with a narrower filter or a shorter period")
            }
            ErrorKind::TooLarge { .. } => {
                Self::user(shown).hint("ask for less: a smaller limit or a narrower filter")
            }
            ErrorKind::RateLimited { .. } | ErrorKind::Request { .. } => Self::user(shown),
            ErrorKind::Status(401) => Self::about(Topic::Authorization, shown),
            ErrorKind::Status(404) => Self::about(Topic::NotFound, shown),
            ErrorKind::Status(300..=499) => Self::user(shown),
            ErrorKind::Status(_) | ErrorKind::Decode { .. } | ErrorKind::Other => {
                Self::system(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(status: u16) -> ToolError {
        let detail = Some("No luck".to_owned());
        let route = "GET /api/0/x/".to_owned();
        SentryError::Refused(Refusal { route, status, detail, retry_after: None }).into()
    }

    /// P44 and P45.
    #[test]
    fn what_sentry_says_reaches_the_model_with_the_next_step() {
        for (status, topic, word) in [
            (400, Topic::Input, "change the arguments"),
            (401, Topic::Authorization, "valid token"),
            (403, Topic::Input, "scope"),
            (404, Topic::NotFound, "no access"),
            (409, Topic::Input, "change the arguments"),
            (429, Topic::Input, "try again"),
        ] {
            let ToolError::UserInput(error) = refusal(status) else { panic!("{status} is shown") };
            assert_eq!(error.topic, topic, "{status}");
            let text = error.to_string();
            assert!(text.contains("No luck") && text.contains(&status.to_string()), "{text}");
            assert!(text.contains(word), "{status}: {text}");
        }
        assert!(matches!(refusal(500), ToolError::System(_)));
    }

    /// P43.
    #[test]
    fn what_was_looked_up_is_named_with_the_tool_that_lists_it() {
        let arguments = json!({"organizationSlug": "acme", "projectSlug": "nope", "query": "x"});
        let error = refusal(404).looked_up(arguments.as_object().unwrap());
        let ToolError::UserInput(error) = error else { panic!("shown") };
        let text = error.to_string();
        assert!(text.contains("`projectSlug` `nope`"), "{text}");
        assert!(text.contains("`find_projects` to list the projects"), "{text}");
        assert!(!text.contains("query"), "{text}");
    }
}
