//! `/mcp`: a request on its way through gate, door and limits to the protocol.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, header, request::Parts};
use http_body_util::Full;

use crate::{
    app::App,
    door::Caller,
    exchange::Exchange,
    gate::{Origin, is_preflight},
    grant::Narrowing,
    late,
    limits::Place,
    pinning,
    refusal::Refusal,
    sessions::SessionsOf,
    telemetry::span::Trace,
    wire::{self, Message},
};

/// Who is at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Answers a request to the endpoint.
pub(crate) async fn answer(State(app): State<Arc<App>>, request: Request) -> Response {
    let exchange = begin(&app, request.headers());
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut place = None;
    let mut response = match serve(&app, &exchange, request, &mut place).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    };
    app.gate.open_to(origin.as_ref(), &mut response);
    exchange.finish(response, place)
}

async fn serve(
    app: &Arc<App>,
    exchange: &Arc<Exchange>,
    request: Request,
    place: &mut Option<Place>,
) -> Result<Response, Refusal> {
    let (mut parts, body) = request.into_parts();
    app.gate.check_host(&parts.uri, &parts.headers)?;
    if is_preflight(&parts.method) {
        return Ok(app.gate.preflight(&parts.headers));
    }
    let origin = at_the_gate(app, &parts).await?;
    let path = parts.uri.path();
    let asked = asked(app, path, parts.uri.query())?;
    let caller = at_the_door(app, exchange, &parts.headers, path, place).await?;
    let mut cx = app.context(&caller, &asked, origin, exchange)?;
    let sessions = app.sessions_of(&cx);
    let streams = late::takes_streams(&parts.headers);
    let (bytes, message) = wire::read(&mut parts, body, &app.load).await?;
    exchange.asks_for(message.method.as_deref().unwrap_or(parts.method.as_str()));
    check_session(app, &parts.method, &parts.headers, &message, &sessions)?;
    // A session goes on with what it began with.
    if !session(&parts.headers).is_some_and(|id| sessions.has(id)) {
        pinning::verify(&mut cx, app.memo.as_ref(), app.door.another()).await?;
    }
    // A stream that waits for something to happen is no work; connections are counted elsewhere.
    if parts.method == Method::GET || message.is_subscription() {
        *place = None;
    }
    // What the caller sent to prove who it is ends here.
    parts.headers.remove(header::AUTHORIZATION);
    let service = app.service(cx, sessions);
    let request = http::Request::from_parts(parts, Full::new(bytes));
    let answer: late::Answer = Box::pin(async move {
        match wire::mend(service.handle(request).await) {
            Ok(response) => response.map(Body::new),
            Err(refusal) => refusal.into_response(),
        }
    });
    Ok(if streams { late::answer_or_stream(answer).await } else { answer.await })
}

/// Begins to keep account of a request.
pub(crate) fn begin(app: &App, headers: &HeaderMap) -> Arc<Exchange> {
    let trace = Trace::begin(app.spans.as_ref(), headers);
    Exchange::begin(&app.metrics, app.audit.as_ref(), trace)
}

/// Looks at where a request comes from, before anybody is asked who they are.
pub(crate) async fn at_the_gate(app: &App, parts: &Parts) -> Result<Origin, Refusal> {
    let origin = app.gate.check_origin(&parts.headers)?;
    app.gate.check_way(&parts.headers)?;
    if let Some(Peer(peer)) = parts.extensions.get::<Peer>() {
        let address = app.gate.address(*peer, &parts.headers);
        app.limits.count_address(address).await?;
    }
    Ok(origin)
}

/// Finds out who sends a request, and takes a place for it.
pub(crate) async fn at_the_door(
    app: &App,
    exchange: &Exchange,
    headers: &HeaderMap,
    path: &str,
    place: &mut Option<Place>,
) -> Result<Caller, Refusal> {
    let caller = app.door.admit(headers, path).await?;
    exchange.is_from(&caller.id, &caller.name);
    app.limits.count_caller(&caller.id).await?;
    *place = Some(app.limits.enter(&caller.id)?);
    Ok(caller)
}

/// The session a request says it is part of.
fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id").and_then(|it| it.to_str().ok())
}

/// What the path and query ask for.
fn asked(app: &App, path: &str, query: Option<&str>) -> Result<Narrowing, Refusal> {
    let mut segments = path.trim_end_matches('/').split('/').skip(2);
    let (organization, project) = (segments.next(), segments.next());
    if segments.next().is_some() || (organization.is_some() && !app.has_organizations()) {
        return Err(Refusal::not_found("there is nothing here: the endpoint is `/mcp`"));
    }
    Narrowing::read(organization, project, query)
}

fn check_session(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    message: &Message,
    sessions: &SessionsOf,
) -> Result<(), Refusal> {
    let Some(all) = &app.sessions else { return Ok(()) };
    match session(headers) {
        Some(id) if method != Method::POST && !sessions.has(id) => {
            Err(Refusal::not_found("there is no such session: begin a new one"))
        }
        None if message.is_initialize() && all.count() >= app.load.sessions => {
            let message = "the server has as many sessions as it can keep: try again later";
            Err(Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, 30, message))
        }
        _ => Ok(()),
    }
}
