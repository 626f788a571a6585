//! What is where: the endpoint, what clients look for beside it, and what operators ask.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::{
    app::App,
    door::oauth::METADATA,
    endpoint::{self, Peer},
    playground,
    refusal::Refusal,
};

/// The one endpoint.
pub(crate) const ENDPOINT: &str = "/mcp";
/// Where the catalog's tools can be read without a call.
const DEFINITIONS: &str = "/.mcp/tools.json";

const ROBOTS: &str = "User-agent: *\nAllow: /mcp.json\nDisallow: /mcp\nDisallow: /sse\n";

pub(crate) fn router(app: Arc<App>) -> Router {
    let below = format!("{METADATA}/{{*path}}");
    Router::new()
        .route(ENDPOINT, any(endpoint::answer))
        .route("/mcp/{*rest}", any(endpoint::answer))
        .route("/", get(playground::answer))
        .route("/playground/chat", post(playground::chat::answer))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/health", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/llms.txt", get(llms))
        .route("/robots.txt", get(|| async { open(ROBOTS) }))
        .route("/mcp.json", get(about))
        .route("/.mcp/", get(|| async { open(Json(json!({ "endpoints": [DEFINITIONS] }))) }))
        .route(DEFINITIONS, get(definitions))
        .route(METADATA, get(metadata))
        .route(&below, get(metadata))
        .route("/sse", any(gone))
        .route("/messages", any(gone))
        .fallback(nothing)
        .with_state(app)
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    if app.draining.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "going away\n").into_response();
    }
    "ready\n".into_response()
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    if !app.shows_metrics {
        return Refusal::not_found("figures are shown with `--metrics`").into_response();
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, app.metrics.text(app.gauges())).into_response()
}

/// What an issuer's clients read before they ask for a token.
async fn metadata(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path().strip_prefix(METADATA).unwrap_or_default();
    let path = if path.is_empty() { ENDPOINT } else { path };
    let is_ours = path == ENDPOINT || path.starts_with("/mcp/");
    match app.door.oauth().filter(|_| is_ours) {
        Some(oauth) => open(Json(oauth.metadata(path))),
        None => Refusal::not_found("no issuer's tokens are needed here").into_response(),
    }
}

async fn llms(State(app): State<Arc<App>>, request: Request) -> Response {
    let host = request.headers().get(header::HOST).and_then(|it| it.to_str().ok());
    if let Err(refusal) = app.gate.check_host(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    let identity = &app.template.identity;
    let narrower = match app.has_organizations() {
        true => {
            "- `/mcp/{organization}` and `/mcp/{organization}/{project}` are limited to those.\n"
        }
        false => "",
    };
    let text = format!(
        "# {}\n\nAn MCP server (Streamable HTTP, protocol revisions 2024-11-05 to 2026-07-28) for {}.\n\n\
         - The endpoint is `/mcp` on {}.\n{narrower}\
         - `?skills=…`, `?disable-skills=…` and `?surface=…` show fewer tools.\n",
        identity.name,
        app.titles(),
        host.unwrap_or("this host"),
    );
    open(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text))
}

/// What registries of servers read.
async fn about(State(app): State<Arc<App>>, request: Request) -> Response {
    if let Err(refusal) = app.gate.check_host(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    let endpoint = app.public_url.as_ref().and_then(|url| url.join(ENDPOINT).ok());
    let endpoint = endpoint.map_or_else(|| ENDPOINT.to_owned(), String::from);
    let identity = &app.template.identity;
    open(Json(json!({
        "name": identity.name,
        "version": identity.version,
        "description": format!("MCP server for {}", app.titles()),
        "endpoint": endpoint,
    })))
}

async fn definitions(State(app): State<Arc<App>>) -> Response {
    if !app.has_organizations() {
        return Refusal::not_found("this server has no catalog: ask for `tools/list`")
            .into_response();
    }
    let kept = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "public, max-age=300"),
    ];
    open((kept, mcp_core::definitions::tools().to_string()))
}

/// Where the transport of the first revision was.
async fn gone() -> Response {
    let message = "the HTTP+SSE transport is no longer served: use Streamable HTTP at `/mcp`";
    let body = json!({ "error": message, "endpoint": ENDPOINT });
    (StatusCode::GONE, Json(body)).into_response()
}

pub(crate) async fn nothing(request: Request) -> Response {
    let peer = request.extensions().get::<Peer>();
    tracing::debug!(?peer, path = request.uri().path(), "nothing there");
    Refusal::not_found("there is nothing here: the endpoint is `/mcp`").into_response()
}

/// For everybody's pages to read.
fn open(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    let anybody = HeaderValue::from_static("*");
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
    response
}
