//! What a span did, in a few words: by the conventions its attributes follow, else as it says itself.

use std::borrow::Cow;

use api_client::sentry::traces::TraceNode;
use serde_json::Value;

use crate::render::event::{short, shorten};

use super::sql::without_literals;

/// The most characters of what a span did, and of each thing beside it.
const LONGEST_WORDS: usize = 160;
const LONGEST_BESIDE: usize = 64;

/// A convention: what it is known by, and the attributes that tell the most, each by its names over
/// the years.
struct Convention {
    name: &'static str,
    known_by: &'static [&'static str],
    words: &'static [&'static [&'static str]],
    beside: &'static [&'static [&'static str]],
}

/// The first one that fits is taken.
const CONVENTIONS: &[Convention] = &[
    Convention {
        name: "mcp",
        known_by: &["mcp.method.name", "mcp.tool.name"],
        words: &[
            &["mcp.method.name"],
            &["mcp.tool.name", "mcp.prompt.name", "mcp.resource.uri", "mcp.resource.name"],
        ],
        beside: &[&["mcp.server.name"], &["mcp.transport", "network.transport"]],
    },
    Convention {
        name: "http",
        known_by: &["http.request.method", "http.method", "http.route"],
        words: &[
            &["http.request.method", "http.method"],
            &[
                "http.route",
                "url.template",
                "url.full",
                "http.url",
                "url",
                "url.path",
                "http.target",
            ],
        ],
        beside: &[&["http.response.status_code", "http.status_code"]],
    },
    Convention {
        name: "gen_ai",
        known_by: &["gen_ai.operation.name", "gen_ai.operation.type", "gen_ai.request.model"],
        words: &[
            &["gen_ai.operation.name", "gen_ai.operation.type"],
            &[
                "gen_ai.tool.name",
                "gen_ai.agent.name",
                "gen_ai.request.model",
                "gen_ai.response.model",
            ],
        ],
        beside: &[&["gen_ai.system", "gen_ai.provider.name"], &["gen_ai.usage.total_tokens"]],
    },
    Convention {
        name: DATABASE,
        known_by: &["db.system.name", "db.system", "db.query.text", "db.statement"],
        words: &[&["db.query.summary", "db.query.text", "db.statement"]],
        beside: &[&["db.system.name", "db.system"], &["db.collection.name", "db.name"]],
    },
    Convention {
        name: "graphql",
        known_by: &["graphql.operation.type", "graphql.operation.name"],
        words: &[&["graphql.operation.type"], &["graphql.operation.name"]],
        beside: &[],
    },
    Convention {
        name: "object store",
        known_by: &["aws.s3.bucket", "aws.s3.key", "cloud.storage.bucket"],
        words: &[&["rpc.method"], &["aws.s3.bucket", "cloud.storage.bucket"], &["aws.s3.key"]],
        beside: &[&["cloud.region", "aws.region"]],
    },
    Convention {
        name: "rpc",
        known_by: &["rpc.service", "rpc.method", "rpc.system"],
        words: &[&["rpc.service"], &["rpc.method"]],
        beside: &[&["rpc.system"], &["rpc.grpc.status_code"]],
    },
    Convention {
        name: "messaging",
        known_by: &["messaging.system", "messaging.destination.name"],
        words: &[
            &["messaging.operation.name", "messaging.operation.type", "messaging.operation"],
            &["messaging.destination.name", "messaging.destination"],
        ],
        beside: &[&["messaging.system"], &["messaging.batch.message_count"]],
    },
    Convention {
        name: "cloudevents",
        known_by: &["cloudevents.event_type"],
        words: &[&["cloudevents.event_type"], &["cloudevents.event_subject"]],
        beside: &[&["cloudevents.event_source"]],
    },
    Convention {
        name: "faas",
        known_by: &["faas.trigger", "faas.name", "faas.invoked_name"],
        words: &[&["faas.trigger"], &["faas.invoked_name", "faas.name"]],
        beside: &[&["faas.coldstart"]],
    },
    Convention {
        name: "cicd",
        known_by: &["cicd.pipeline.name", "cicd.pipeline.task.name"],
        words: &[&["cicd.pipeline.name"], &["cicd.pipeline.task.name"]],
        beside: &[&["cicd.pipeline.result", "cicd.pipeline.task.run.result"]],
    },
    Convention {
        name: "feature flag",
        known_by: &["feature_flag.key"],
        words: &[&["feature_flag.key"], &["feature_flag.result.variant", "feature_flag.variant"]],
        beside: &[&["feature_flag.provider.name", "feature_flag.provider_name"]],
    },
    Convention {
        name: "process",
        known_by: &["process.command_line", "process.command", "process.executable.name"],
        words: &[&["process.command_line", "process.command", "process.executable.name"]],
        beside: &[&["process.exit.code"]],
    },
    Convention {
        name: "exception",
        known_by: &["exception.type"],
        words: &[&["exception.type"], &["exception.message"]],
        beside: &[],
    },
    Convention {
        name: "error",
        known_by: &["error.type"],
        words: &[&["error.type"], &["error.message"]],
        beside: &[],
    },
];

const DATABASE: &str = "db";

/// The operation and what was done, with what is worth a glance in brackets.
pub(super) fn label(span: &TraceNode) -> String {
    let found = CONVENTIONS.iter().find(|it| it.known_by.iter().any(|name| has(span, name)));
    let operation = span.op.as_deref().filter(|it| !it.trim().is_empty() && *it != "default");
    let operation = operation.or(found.map(|it| it.name)).unwrap_or("span");
    let words = found.map(|it| told(span, it.words, LONGEST_WORDS)).unwrap_or_default();
    let words = if words.is_empty() { own_words(span) } else { words.join(" ") };
    let is_query = found.is_some_and(|it| it.name == DATABASE) || operation.starts_with(DATABASE);
    let words = if is_query { without_literals(&words) } else { Cow::Borrowed(words.as_str()) };
    let beside = found.map(|it| told(span, it.beside, LONGEST_BESIDE)).unwrap_or_default();
    let beside = (!beside.is_empty()).then(|| format!("({})", beside.join(", ")));
    let words = Some(shorten(words.trim(), LONGEST_WORDS)).filter(|it| !it.is_empty());
    let parts = [Some(shorten(operation, 60)), words, beside];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn own_words(span: &TraceNode) -> String {
    let said = [&span.description, &span.name, &span.transaction].into_iter().flatten();
    // Enough to be cut later, without a copy of megabytes.
    said.map(|it| it.trim())
        .find(|it| !it.is_empty())
        .map(|it| shorten(it, 2_000))
        .unwrap_or_default()
}

/// The first known attribute of each row.
fn told(span: &TraceNode, rows: &[&[&str]], most: usize) -> Vec<String> {
    let first = |names: &&[&str]| names.iter().find_map(|name| attribute(span, name));
    let texts = rows.iter().filter_map(first).map(|it| short(it, most));
    texts.filter(|it| !it.trim().is_empty()).collect()
}

fn has(span: &TraceNode, name: &str) -> bool {
    attribute(span, name).is_some()
}

/// An attribute, wherever SDKs and servers have put it.
fn attribute<'s>(span: &'s TraceNode, name: &str) -> Option<&'s Value> {
    let known = [span.additional_attributes.get(name), span.data.get(name), tag(&span.tags, name)];
    let says = |it: &&Value| match it {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    known.into_iter().flatten().find(says)
}

/// Tags are an object, or a list of pairs.
fn tag<'t>(tags: &'t Value, name: &str) -> Option<&'t Value> {
    match tags {
        Value::Object(tags) => tags.get(name),
        Value::Array(tags) => {
            let is_it = |tag: &&Value| tag.get("key").and_then(Value::as_str) == Some(name);
            tags.iter().find(is_it)?.get("value")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(span: Value) -> String {
        label(&serde_json::from_value(span).unwrap())
    }

    #[test]
    fn a_span_is_told_by_the_convention_it_follows() {
        for (op, attributes, expected) in [
            (
                "mcp.server",
                json!({"mcp.method.name": "tools/call", "mcp.tool.name": "search", "http.method": "POST"}),
                "mcp.server tools/call search",
            ),
            (
                "http.client",
                json!({"http.request.method": "GET", "url.full": "https://a.test/x", "http.response.status_code": 502}),
                "http.client GET https://a.test/x (502)",
            ),
            (
                "gen_ai.chat",
                json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.usage.total_tokens": 120}),
                "gen_ai.chat chat m-1 (120)",
            ),
            (
                "",
                json!({"db.system": "postgresql", "db.statement": "SELECT 1"}),
                "db SELECT ? (postgresql)",
            ),
            (
                "graphql.execute",
                json!({"graphql.operation.type": "query", "graphql.operation.name": "Boats"}),
                "graphql.execute query Boats",
            ),
            (
                "rpc",
                json!({"rpc.system": "aws-api", "rpc.method": "PutObject", "aws.s3.bucket": "logs", "aws.s3.key": "a/b"}),
                "rpc PutObject logs a/b",
            ),
            (
                "grpc",
                json!({"rpc.service": "tide.Gauge", "rpc.method": "Read", "rpc.system": "grpc"}),
                "grpc tide.Gauge Read (grpc)",
            ),
            (
                "queue.publish",
                json!({"messaging.system": "kafka", "messaging.destination.name": "orders", "messaging.operation.name": "send"}),
                "queue.publish send orders (kafka)",
            ),
            ("function", json!({"cloudevents.event_type": "boat.sold"}), "function boat.sold"),
            (
                "function",
                json!({"faas.trigger": "timer", "faas.name": "sweep", "faas.coldstart": true}),
                "function timer sweep (true)",
            ),
            (
                "ci",
                json!({"cicd.pipeline.name": "main", "cicd.pipeline.task.name": "lint"}),
                "ci main lint",
            ),
            (
                "flag",
                json!({"feature_flag.key": "new-dock", "feature_flag.variant": "on"}),
                "flag new-dock on",
            ),
            (
                "subprocess",
                json!({"process.command": "git", "process.exit.code": 1}),
                "subprocess git (1)",
            ),
            (
                "default",
                json!({"exception.type": "KeyError", "exception.message": "'a'"}),
                "exception KeyError 'a'",
            ),
            ("task", json!({"error.type": "timeout"}), "task timeout"),
        ] {
            let span = json!({"op": op, "description": "as it says itself", "additional_attributes": attributes});
            assert_eq!(of(span), expected);
        }
    }

    #[test]
    fn without_a_convention_a_span_speaks_for_itself() {
        assert_eq!(
            of(json!({"op": "ui.render", "description": "<Receipt>"})),
            "ui.render <Receipt>"
        );
        assert_eq!(of(json!({"name": "work"})), "span work");
        assert_eq!(
            of(json!({"op": "db.query", "description": "SELECT 'x' FROM a WHERE id = 7"})),
            "db.query SELECT ? FROM a WHERE id = ?"
        );
        assert_eq!(of(json!({})), "span");
        let tags = json!([{"key": "http.method", "value": "PUT"}, {"key": "http.route", "value": "/a"}, 7]);
        assert_eq!(of(json!({"tags": tags})), "http PUT /a");
        assert_eq!(of(json!({"op": "x", "description": "é".repeat(5_000)})).chars().count(), 163);
    }
}
