//! Names of OpenTelemetry's semantic conventions, as far as searches need them.

use serde_json::{Value, json};

/// A namespace, what it is about, and its attributes without the namespace.
type Entry = (&'static str, &'static str, &'static [&'static str]);

/// Returns what is known of a namespace.
///
/// # Errors
/// The namespaces there are.
pub(super) fn namespace(name: &str) -> Result<Value, String> {
    let wanted = name.trim().trim_end_matches('.').to_lowercase();
    let found = NAMESPACES.iter().find(|(known, ..)| *known == wanted);
    let Some((namespace, about, attributes)) = found else {
        let names: Vec<&str> = NAMESPACES.iter().map(|(known, ..)| *known).collect();
        return Err(format!("there is no namespace `{wanted}`; there are: {}", names.join(", ")));
    };
    let attributes: Vec<String> =
        attributes.iter().map(|attribute| format!("{namespace}.{attribute}")).collect();
    Ok(json!({ "namespace": namespace, "about": about, "attributes": attributes }))
}

/// Sorted by name.
const NAMESPACES: &[Entry] = &[
    ("android", "Android", &["os.api_level", "app.state"]),
    ("app", "installed applications", &["installation.id", "build_id", "screen.id", "screen.name"]),
    ("artifact", "build artifacts", &["filename", "hash", "purl", "version"]),
    (
        "aws",
        "Amazon's cloud",
        &[
            "dynamodb.table_names",
            "ecs.cluster.arn",
            "ecs.task.arn",
            "lambda.invoked_arn",
            "request_id",
            "s3.bucket",
            "s3.key",
        ],
    ),
    (
        "azure",
        "Microsoft's cloud",
        &["client.id", "service.request.id", "resource_provider.namespace"],
    ),
    ("browser", "browsers", &["brands", "language", "mobile", "platform"]),
    ("cassandra", "Cassandra", &["consistency.level", "coordinator.dc", "page.size"]),
    (
        "cicd",
        "build pipelines",
        &["pipeline.name", "pipeline.result", "pipeline.run.id", "pipeline.task.name"],
    ),
    ("client", "who called", &["address", "port"]),
    (
        "cloud",
        "where it runs",
        &["account.id", "availability_zone", "platform", "provider", "region", "resource_id"],
    ),
    (
        "code",
        "source code",
        &["column.number", "file.path", "function.name", "line.number", "stacktrace"],
    ),
    ("container", "containers", &["id", "image.name", "image.tags", "name", "runtime.name"]),
    ("cpu", "processors", &["logical_number", "mode"]),
    (
        "db",
        "databases",
        &[
            "collection.name",
            "namespace",
            "operation.batch.size",
            "operation.name",
            "query.summary",
            "query.text",
            "response.returned_rows",
            "response.status_code",
            "stored_procedure.name",
            "system.name",
        ],
    ),
    ("deployment", "deployments", &["environment.name", "id", "name", "status"]),
    ("destination", "network destinations", &["address", "port"]),
    ("device", "devices", &["id", "manufacturer", "model.identifier", "model.name"]),
    ("disk", "disks", &["io.direction"]),
    ("dns", "name look-ups", &["answers", "question.name"]),
    ("elasticsearch", "Elasticsearch", &["node.name"]),
    ("enduser", "users", &["id", "pseudo.id"]),
    ("error", "errors", &["message", "type"]),
    ("event", "events", &["name"]),
    ("exception", "exceptions", &["message", "stacktrace", "type"]),
    (
        "faas",
        "functions",
        &["coldstart", "instance", "invocation_id", "name", "trigger", "version"],
    ),
    (
        "feature_flag",
        "feature flags",
        &["context.id", "key", "provider.name", "result.reason", "result.value", "result.variant"],
    ),
    ("file", "files", &["directory", "extension", "name", "path", "size"]),
    ("gcp", "Google's cloud", &["client.service", "cloud_run.job.execution", "gce.instance.name"]),
    (
        "gen_ai",
        "calls of models, agents and their tools",
        &[
            "agent.id",
            "agent.name",
            "conversation.id",
            "operation.name",
            "output.type",
            "provider.name",
            "request.max_tokens",
            "request.model",
            "request.temperature",
            "response.finish_reasons",
            "response.id",
            "response.model",
            "system",
            "tool.call.id",
            "tool.name",
            "tool.type",
            "usage.input_tokens",
            "usage.output_tokens",
        ],
    ),
    ("geo", "places", &["continent.code", "country.iso_code", "locality.name", "region.iso_code"]),
    ("graphql", "GraphQL", &["document", "operation.name", "operation.type"]),
    ("host", "machines", &["arch", "id", "image.name", "ip", "name", "type"]),
    (
        "http",
        "requests over HTTP",
        &[
            "request.body.size",
            "request.method",
            "request.resend_count",
            "response.body.size",
            "response.status_code",
            "route",
        ],
    ),
    ("jvm", "Java's machine", &["gc.action", "gc.name", "memory.pool.name", "thread.state"]),
    (
        "k8s",
        "Kubernetes",
        &[
            "cluster.name",
            "container.name",
            "cronjob.name",
            "deployment.name",
            "job.name",
            "namespace.name",
            "node.name",
            "pod.name",
            "pod.uid",
        ],
    ),
    ("log", "where log lines come from", &["file.name", "file.path", "iostream", "record.uid"]),
    (
        "mcp",
        "the Model Context Protocol",
        &[
            "method.name",
            "prompt.name",
            "protocol.version",
            "request.id",
            "resource.uri",
            "session.id",
            "tool.name",
        ],
    ),
    (
        "messaging",
        "queues and topics",
        &[
            "batch.message_count",
            "client.id",
            "consumer.group.name",
            "destination.name",
            "destination.partition.id",
            "message.body.size",
            "message.id",
            "operation.name",
            "operation.type",
            "system",
        ],
    ),
    (
        "network",
        "connections",
        &[
            "connection.type",
            "local.address",
            "peer.address",
            "peer.port",
            "protocol.name",
            "protocol.version",
            "transport",
        ],
    ),
    ("nodejs", "Node.js", &["eventloop.state"]),
    ("os", "operating systems", &["build_id", "description", "name", "type", "version"]),
    (
        "otel",
        "OpenTelemetry itself",
        &["scope.name", "scope.version", "status_code", "status_description"],
    ),
    ("peer", "what is called", &["service"]),
    (
        "process",
        "processes",
        &[
            "command",
            "executable.name",
            "exit.code",
            "owner",
            "pid",
            "runtime.name",
            "runtime.version",
        ],
    ),
    (
        "rpc",
        "remote calls",
        &[
            "grpc.status_code",
            "jsonrpc.error_code",
            "jsonrpc.request_id",
            "method",
            "service",
            "system",
        ],
    ),
    ("server", "what was called", &["address", "port"]),
    ("service", "services", &["instance.id", "name", "namespace", "version"]),
    ("session", "sessions", &["id", "previous_id"]),
    ("signalr", "SignalR", &["connection.status", "transport"]),
    ("source", "network sources", &["address", "port"]),
    ("system", "machine readings", &["device", "filesystem.mountpoint", "memory.state"]),
    ("telemetry", "the SDK", &["sdk.language", "sdk.name", "sdk.version"]),
    ("thread", "threads", &["id", "name"]),
    (
        "tls",
        "secure connections",
        &["cipher", "established", "protocol.name", "protocol.version", "resumed"],
    ),
    ("url", "addresses", &["domain", "fragment", "full", "path", "query", "scheme", "template"]),
    ("user", "users", &["email", "full_name", "id", "name", "roles"]),
    ("user_agent", "what a client calls itself", &["name", "original", "os.name", "version"]),
    (
        "vcs",
        "repositories",
        &[
            "change.id",
            "change.state",
            "ref.head.name",
            "ref.head.revision",
            "repository.name",
            "repository.url.full",
        ],
    ),
    ("webengine", "application servers", &["name", "version"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_gives_whole_names_and_an_unknown_one_names_the_others() {
        let found = namespace("Gen_AI.").unwrap();
        let names = found["attributes"].as_array().unwrap();
        assert!(names.contains(&json!("gen_ai.usage.input_tokens")), "{names:?}");
        assert!(namespace("nope").unwrap_err().contains("there are: android, app, artifact"));
    }

    #[test]
    fn the_namespaces_are_sorted_and_none_is_empty() {
        assert!(NAMESPACES.is_sorted_by_key(|(name, ..)| *name));
        assert!(NAMESPACES.iter().all(|(_, _, names)| !names.is_empty()));
    }
}
