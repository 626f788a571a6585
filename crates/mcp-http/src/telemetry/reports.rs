//! Reports of errors for Sentry: what the log says at its highest level, as envelopes.

use std::{
    fmt,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};
use url::Url;

use super::outbox::{Mail, Outbox, Place, outbox};
use server_config::given::{Given, SetupError};

/// Reports a minute, at most: a fault that repeats says nothing new.
const A_MINUTE: usize = 30;
/// The longest text of a report, in characters.
const MAX_TEXT: usize = 4_000;

const CLIENT: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// What is said of one error.
#[derive(Debug)]
pub(super) struct Report {
    at: SystemTime,
    logger: &'static str,
    message: String,
    facts: Map<String, Value>,
}

/// Where reports are put: a part of the log's machinery.
#[derive(Debug, Clone)]
pub(crate) struct Reports(Outbox<Report>);

/// Where they go.
pub(super) struct Project {
    address: Url,
    key: String,
}

impl Reports {
    pub(super) fn new() -> (Self, Mail<Report>) {
        let (outbox, mail) = outbox();
        (Self(outbox), mail)
    }
}

impl<S: Subscriber> Layer<S> for Reports {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let metadata = event.metadata();
        if *metadata.level() != Level::ERROR {
            return;
        }
        let mut words = Words::default();
        event.record(&mut words);
        let Words { message, facts } = words;
        self.0.put(Report { at: SystemTime::now(), logger: metadata.target(), message, facts });
    }
}

#[derive(Default)]
struct Words {
    message: String,
    facts: Map<String, Value>,
}

impl Words {
    fn note(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => drop(self.facts.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.note(field, short(&format!("{value:?}")).into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.note(field, short(value).into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.note(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.note(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.note(field, value.into());
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

impl Project {
    /// Reads a DSN: `https://KEY@HOST/PROJECT`.
    pub(super) fn parse(given: &Given) -> Result<Self, SetupError> {
        let read = || {
            let mut url = Url::parse(&given.text).ok()?;
            let key = url.username().to_owned();
            let (prefix, project) = url.path().rsplit_once('/')?;
            let is_id = !project.is_empty() && project.bytes().all(|it| it.is_ascii_digit());
            let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
            if key.is_empty() || !is_id || !is_web {
                return None;
            }
            let path = format!("{prefix}/api/{project}/envelope/");
            url.set_username("").ok()?;
            url.set_password(None).ok()?;
            url.set_query(None);
            url.set_path(&path);
            Some(Self { address: url, key })
        };
        read().ok_or_else(|| {
            let hint = "copy it from the project's settings: https://KEY@HOST/PROJECT";
            SetupError::new(format!("{} is no DSN of Sentry", given.from), hint)
        })
    }

    /// Sends what comes until the end.
    pub(super) fn serve(
        self,
        mut mail: Mail<Report>,
        extra_ca: &[String],
        end: CancellationToken,
    ) -> Result<impl Future<Output = ()> + Send + 'static, SetupError> {
        let auth =
            format!("Sentry sentry_version=7, sentry_client={CLIENT}, sentry_key={}", self.key);
        let headers = vec![("x-sentry-auth".to_owned(), auth)];
        let kind = "application/x-sentry-envelope";
        let place = Place::new(&self.address, kind, headers, extra_ca)?;
        Ok(async move {
            let (mut begun, mut sent) = (Instant::now(), 0);
            while let Some(reports) = mail.next(&end).await {
                for report in reports {
                    if begun.elapsed() >= Duration::from_secs(60) {
                        (begun, sent) = (Instant::now(), 0);
                    }
                    sent += 1;
                    if sent <= A_MINUTE {
                        place.post(envelope(&report)).await;
                    }
                }
            }
        })
    }
}

fn envelope(report: &Report) -> Vec<u8> {
    let mut id = [0_u8; 16];
    // An id that another report has too loses one of them, no more.
    let _ = getrandom::fill(&mut id);
    let id = id.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let event = json!({
        "event_id": id,
        "timestamp": report.at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        "platform": "other",
        "level": "error",
        "logger": report.logger,
        "release": CLIENT.replace('/', "@"),
        "message": { "formatted": report.message },
        "extra": report.facts,
    });
    let event = event.to_string();
    let head = json!({ "event_id": id });
    let item = json!({ "type": "event", "length": event.len() });
    format!("{head}\n{item}\n{event}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Given {
        Given { text: text.to_owned(), from: "`--sentry-dsn`".to_owned() }
    }

    #[test]
    fn a_dsn_names_key_host_and_project() {
        let read = Project::parse(&given("https://abc@o1.sentry.test/prefix/42")).unwrap();
        assert_eq!(read.address.as_str(), "https://o1.sentry.test/prefix/api/42/envelope/");
        assert_eq!(read.key, "abc");
        for bad in ["", "https://o1.test/42", "https://abc@o1.test/x", "abc@o1.test/42"] {
            assert!(Project::parse(&given(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_envelope_holds_what_the_log_said() {
        let facts = Map::from_iter([("tool".to_owned(), json!("whoami"))]);
        let message = "internal error".to_owned();
        let report = Report { at: UNIX_EPOCH, logger: "mcp_core::failure", message, facts };
        let text = String::from_utf8(envelope(&report)).unwrap();
        let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(lines[0]["event_id"], lines[2]["event_id"]);
        assert_eq!(lines[1]["length"], lines[2].to_string().len());
        assert_eq!(lines[2]["message"]["formatted"], "internal error");
        assert_eq!(lines[2]["extra"]["tool"], "whoami");
    }
}
