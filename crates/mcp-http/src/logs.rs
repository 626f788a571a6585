//! Logs on stderr: lines of JSON for machines, or text for people.

use std::io::Write as _;

use serde_json::{Map, Value};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{
        format::Writer,
        layer,
        time::{FormatTime as _, SystemTime},
    },
    layer::{Layered, SubscriberExt as _},
    util::SubscriberInitExt as _,
};

use server_config::given::{Environment, Given, SetupError};

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Json,
    Text,
}

impl LogFormat {
    pub(crate) fn resolve(flag: Option<&String>, env: Environment<'_>) -> Result<Self, SetupError> {
        match Given::option("log-format", flag, env)? {
            None => Ok(Self::Json),
            Some(given) => match given.text.as_str() {
                "json" => Ok(Self::Json),
                "text" => Ok(Self::Text),
                _ => Err(given.is_not("a way to log", "use json or text")),
            },
        }
    }

    /// Starts to log what the filter lets through, and to tell `more` of it.
    pub(crate) fn start<L>(self, filter: String, more: Option<L>)
    where
        L: Layer<Layered<EnvFilter, Registry>> + Send + Sync,
    {
        let logs = layer().with_writer(std::io::stderr);
        let all = Registry::default().with(EnvFilter::new(filter)).with(more);
        match self {
            Self::Json => {
                all.with(logs.json().flatten_event(true).with_current_span(false)).init();
            }
            Self::Text => {
                let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
                all.with(logs.with_ansi(is_terminal)).init();
            }
        }
        std::panic::set_hook(Box::new(|panic| {
            // What a panic says may hold what a client said.
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::error!(place, "a part of the program has panicked");
        }));
    }

    /// Writes one line whatever the filter says; a reader that went away is no reason to stop.
    pub(crate) fn say(self, message: &str, fields: &[(&str, String)]) {
        let line = match self {
            Self::Json => {
                let mut line = Map::new();
                line.insert("timestamp".to_owned(), now().into());
                line.insert("message".to_owned(), message.into());
                for (name, value) in fields {
                    line.insert((*name).to_owned(), value.as_str().into());
                }
                Value::Object(line).to_string()
            }
            Self::Text => fields
                .iter()
                .fold(message.to_owned(), |line, (name, value)| format!("{line} {name}={value}")),
        };
        drop(writeln!(std::io::stderr(), "{line}"));
    }
}

/// The present time, as in `2026-11-30T12:00:00.000000Z`.
pub(crate) fn now() -> String {
    let mut text = String::new();
    // Writing into a `String` cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}
