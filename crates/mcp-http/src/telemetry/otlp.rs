//! Traces for an OpenTelemetry collector, as OTLP over HTTP in JSON.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::{
    outbox::{Mail, Outbox, Place, outbox},
    span::{Span, Spans},
};
use server_config::given::{Given, SetupError};

/// Where spans are put.
#[derive(Debug, Clone)]
pub(super) struct Traces(Outbox<Span>);

/// Where they go.
pub(super) struct Collector {
    address: Url,
    headers: Vec<(String, String)>,
}

impl Traces {
    pub(super) fn new() -> (Self, Mail<Span>) {
        let (outbox, mail) = outbox();
        (Self(outbox), mail)
    }
}

impl Spans for Traces {
    fn record(&self, span: Span) {
        self.0.put(span);
    }
}

impl Collector {
    /// Reads the collector's base address, and headers as in `name=value,name=value`.
    pub(super) fn parse(address: &Given, headers: Option<&Given>) -> Result<Self, SetupError> {
        let hint = "write it as http://localhost:4318, the collector's port for HTTP";
        let base = Url::parse(&address.text).ok();
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let mut base = base.ok_or_else(|| address.is_not("the address of a collector", hint))?;
        let path = base.path().trim_end_matches('/');
        if !path.ends_with("/v1/traces") {
            base.set_path(&format!("{path}/v1/traces"));
        }
        let mut pairs = Vec::new();
        let listed = headers.map(|it| it.text.split(',')).into_iter().flatten();
        for pair in listed.map(str::trim).filter(|it| !it.is_empty()) {
            let decoded = |text: &str| {
                let text = percent_encoding::percent_decode_str(text.trim()).decode_utf8();
                text.ok().map(|it| it.into_owned())
            };
            let read = pair.split_once('=').and_then(|(k, v)| Some((decoded(k)?, decoded(v)?)));
            let hint = "write them as name=value,name=value";
            // The value may be secret: it is not repeated.
            pairs.push(read.ok_or_else(|| {
                let from = headers.map_or("a header", |it| it.from.as_str());
                SetupError::new(format!("{from} holds something that is no header"), hint)
            })?);
        }
        Ok(Self { address: base, headers: pairs })
    }

    /// Sends what comes until the end.
    pub(super) fn serve(
        self,
        mut mail: Mail<Span>,
        extra_ca: &[String],
        end: CancellationToken,
    ) -> Result<impl Future<Output = ()> + Send + 'static, SetupError> {
        let place = Place::new(&self.address, "application/json", self.headers, extra_ca)?;
        Ok(async move {
            while let Some(spans) = mail.next(&end).await {
                place.post(export(&spans).to_string().into_bytes()).await;
            }
        })
    }
}

fn export(spans: &[Span]) -> Value {
    let resource = [
        ("service.name", json!(env!("CARGO_PKG_NAME"))),
        ("service.version", json!(env!("CARGO_PKG_VERSION"))),
    ];
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(&resource) },
        "scopeSpans": [{
            "scope": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }] })
}

fn span(span: &Span) -> Value {
    let nanos = |time: SystemTime| {
        time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
    };
    let mut shown = json!({
        "traceId": hexadecimal(&span.trace),
        "spanId": hexadecimal(&span.id),
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanos(span.started),
        "endTimeUnixNano": nanos(span.ended),
        "attributes": attributes(&span.attributes),
        // 2 is an error, 0 says nothing.
        "status": { "code": if span.failed { 2 } else { 0 } },
    });
    if let Some(parent) = &span.parent {
        shown["parentSpanId"] = json!(hexadecimal(parent));
    }
    shown
}

fn attributes(list: &[(&'static str, Value)]) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Bool(it) => json!({ "boolValue": it }),
        // Integers of 64 bits are texts in OTLP's JSON.
        Value::Number(it) if it.is_f64() => json!({ "doubleValue": it }),
        Value::Number(it) => json!({ "intValue": it.to_string() }),
        Value::String(it) => json!({ "stringValue": it }),
        Value::Null | Value::Array(_) | Value::Object(_) => json!({}),
    };
    list.iter().map(|(key, it)| json!({ "key": key, "value": value(it) })).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::{super::span::Kind, *};

    fn given(text: &str) -> Given {
        Given { text: text.to_owned(), from: "`X`".to_owned() }
    }

    #[test]
    fn an_address_is_completed_and_headers_are_read() {
        let headers = given("authorization=Bearer%20SECRET, x-team=a");
        let read = Collector::parse(&given("http://localhost:4318"), Some(&headers)).unwrap();
        assert_eq!(read.address.as_str(), "http://localhost:4318/v1/traces");
        assert_eq!(read.headers[0], ("authorization".to_owned(), "Bearer SECRET".to_owned()));
        assert_eq!(read.headers[1].0, "x-team");
        let whole = Collector::parse(&given("https://a.test/x/v1/traces"), None).unwrap();
        assert_eq!(whole.address.path(), "/x/v1/traces");
        assert!(Collector::parse(&given("localhost:4318"), None).is_err());
        let fault = Collector::parse(&given("http://a"), Some(&given("SECRET"))).err().unwrap();
        assert!(!fault.to_string().contains("SECRET"), "{fault}");
    }

    #[test]
    fn a_span_is_written_as_the_protocol_wants_it() {
        let at = |ms| UNIX_EPOCH + std::time::Duration::from_millis(ms);
        let one = Span {
            trace: [1; 16],
            id: [2; 8],
            parent: Some([3; 8]),
            name: "GET /a".to_owned(),
            kind: Kind::Client,
            started: at(1),
            ended: at(2),
            failed: true,
            attributes: vec![("http.response.status_code", json!(502)), ("a", json!("b"))],
        };
        let text = export(&[one]);
        let shown = &text["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(shown["traceId"], "01".repeat(16));
        assert_eq!(shown["parentSpanId"], "0303030303030303");
        assert_eq!((&shown["kind"], &shown["status"]["code"]), (&json!(3), &json!(2)));
        assert_eq!(shown["endTimeUnixNano"], "2000000");
        assert_eq!(shown["attributes"][0]["value"], json!({ "intValue": "502" }));
        assert_eq!(shown["attributes"][1]["value"], json!({ "stringValue": "b" }));
    }
}
