//! Sockets: a loopback listener on a thread of its own, the control plane, and faults acted out.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::serve::{IncomingStream, Listener};
use futures::StreamExt as _;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::edit::Edit;
use crate::engine::{Engine, Fixture, Service};
use crate::fault::{Action, Fault};
use crate::http::{Reply, Request};
use crate::log::{Boundary, Entry, Firing};
use crate::{Extra, World, control, hash};

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a stop waits for requests in flight.
const GRACE: Duration = Duration::from_millis(300);
/// How long a broken answer waits between its last byte and its end.
const FLUSH: Duration = Duration::from_millis(20);

/// A mock that is listening; dropping it stops it.
pub struct Running {
    /// `http://127.0.0.1:PORT`, without a trailing slash.
    pub base_url: String,
    pub token: String,
    service: Arc<dyn Service>,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start<F: Fixture>(world: World) -> io::Result<Self> {
        if !world.address.ip().is_loopback() {
            let text = format!(
                "`{}` is not a loopback address: a mock listens locally only",
                world.address
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let listener = std::net::TcpListener::bind(world.address)?;
        listener.set_nonblocking(true)?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let token = world.token.clone().unwrap_or_else(|| F::default_token(world.seed));
        let engine = Engine::<F>::new(world, token.clone(), base_url.clone());
        let service: Arc<dyn Service> = Arc::new(engine);
        let stop = Arc::new(Notify::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = serve(listener, Arc::clone(&service), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("mock".to_owned()).spawn(move || {
            // The listener cannot fail here in a way a caller could act on: it is bound already.
            drop(runtime.block_on(serving));
        })?;
        Ok(Self { base_url, token, service, stop, thread: Some(thread) })
    }

    /// Every request so far, in the order of commit.
    pub fn log(&self) -> Vec<Entry> {
        self.service.log()
    }

    /// The requests that asked for a change, whatever came of them.
    pub fn writes(&self) -> Vec<Entry> {
        self.log().into_iter().filter(Entry::asks_to_write).collect()
    }

    /// The stored rows: raw columns, sorted by key, not an API view.
    pub fn state(&self) -> Value {
        self.service.state()
    }

    /// The state before the first request, then after each of the boundaries.
    pub fn states(&self) -> Vec<Value> {
        self.service.states()
    }

    /// SHA-256 over the state as JSON with sorted keys, in hex.
    pub fn state_hash(&self) -> String {
        hash::of(&self.state())
    }

    /// Every change that was committed, whatever its caller was told.
    pub fn boundaries(&self) -> Vec<Boundary> {
        self.service.boundaries()
    }

    /// The faults that struck, in order.
    pub fn firings(&self) -> Vec<Firing> {
        self.log().iter().filter_map(Entry::firing).collect()
    }

    /// Other faults from now on, none of which has counted a request yet.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        self.service.set_faults(faults);
    }

    /// Changes the world the mock starts from, and starts over; fails when a table does not exist.
    pub fn edit(&self, edits: &[Edit]) -> Result<(), String> {
        self.service.edit(edits)
    }

    /// How many requests there were so far.
    pub fn count(&self) -> usize {
        self.service.count()
    }

    /// Becomes the world of another seed, as if it had just started; address and token stay.
    pub fn begin(&self, seed: u64, extra: Extra, faults: Vec<Fault>) {
        self.service.begin(seed, extra, faults);
    }

    /// Back to the state at the start; clears the log, the clock and the fault counters.
    pub fn reset(&self) {
        self.service.reset();
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the serving thread has been printed by then.
            drop(thread.join());
        }
    }
}

async fn serve(
    listener: std::net::TcpListener,
    service: Arc<dyn Service>,
    stop: Arc<Notify>,
) -> io::Result<()> {
    let listener = Loopback(TcpListener::from_std(listener)?);
    let app = Router::new()
        .fallback(answer)
        .with_state(service)
        .into_make_service_with_connect_info::<Cut>();
    let stopping = Arc::new(Notify::new());
    let stopped = Arc::clone(&stopping);
    let serving = axum::serve(listener, app).with_graceful_shutdown(async move {
        stop.notified().await;
        stopping.notify_one();
    });
    let overdue = async {
        stopped.notified().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = serving => result,
        () = overdue => Ok(()),
    }
}

async fn answer(
    State(service): State<Arc<dyn Service>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: axum::extract::Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return response(Reply::detail(413, "Request body is too large."));
    };
    let request = Request {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body,
    };
    if let Some(reply) = control::answer(&*service, &request) {
        return response(reply);
    }
    let before = service.strike(&request);
    if let Some(fault) = &before {
        if !fault.passes_on() {
            service.skip(&request, fault);
        }
        if let Some(response) = act(fault, &cut, None).await {
            return response;
        }
    }
    let (reply, after) = service.run(&request, before.as_ref());
    let Some(fault) = after else { return response(reply) };
    let lost = act(&fault, &cut, Some(&reply)).await;
    lost.unwrap_or_else(|| response(reply))
}

/// The answer a fault gives in place of the handler's; none when that one goes out as it is.
async fn act(fault: &Fault, cut: &Cut, reply: Option<&Reply>) -> Option<Response<Body>> {
    match &fault.action {
        Action::Respond { status, headers, body } => {
            let reply =
                Reply { status: *status, body: body.clone().into_bytes(), ..Reply::default() };
            let reply =
                headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
            Some(response(reply))
        }
        Action::Delay { ms } => {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
            None
        }
        Action::Stall { ms } => {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
            Some(reset(cut))
        }
        Action::Reset => Some(reset(cut)),
        Action::Truncate { bytes, seamless } => {
            reply.map(|reply| truncated(reply, *bytes, *seamless))
        }
        Action::Mutate { .. } => None,
        Action::RateLimit { limit, window_ms, retry_after, .. } => {
            Some(response(too_many(*limit, *window_ms, *retry_after)))
        }
    }
}

fn reset(cut: &Cut) -> Response<Body> {
    cut.0.store(true, Ordering::Relaxed);
    response(Reply::empty(500))
}

/// The first bytes of an answer, under the length of all of it unless the cut is seamless.
fn truncated(reply: &Reply, bytes: usize, seamless: bool) -> Response<Body> {
    let sent = reply.body.get(..bytes).unwrap_or(&reply.body).to_vec();
    let short = Reply { status: reply.status, headers: reply.headers.clone(), ..Reply::default() };
    if seamless || sent.len() == reply.body.len() {
        return response(Reply { body: sent, ..short });
    }
    let mut response = response(short.header("content-length", &reply.body.len().to_string()));
    let broken = async {
        // What is there goes out while this waits.
        tokio::time::sleep(FLUSH).await;
        Err(io::Error::from(io::ErrorKind::UnexpectedEof))
    };
    let chunks = futures::stream::iter([Ok(sent)]).chain(futures::stream::once(broken));
    *response.body_mut() = Body::from_stream(chunks);
    response
}

/// JSON under the type of a web page, as Sentry's middleware sends it.
fn too_many(limit: u32, window_ms: u64, retry_after: Option<u64>) -> Reply {
    let seconds = window_ms.div_ceil(1_000);
    let text = format!(
        "You are attempting to use this endpoint too frequently. Limit is {limit} requests in \
         {seconds} seconds"
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let body = serde_json::json!({ "detail": text }).to_string().into_bytes();
    let reply = Reply { status: 429, body, ..Reply::default() }
        .header("content-type", "text/html; charset=utf-8")
        .header("x-sentry-rate-limit-limit", &limit.to_string())
        .header("x-sentry-rate-limit-remaining", "0")
        .header("x-sentry-rate-limit-reset", &(now + seconds).to_string())
        .header("x-sentry-rate-limit-concurrentlimit", "25")
        .header("x-sentry-rate-limit-concurrentremaining", "24");
    match retry_after {
        Some(seconds) => reply.header("retry-after", &seconds.to_string()),
        None => reply,
    }
}

fn response(reply: Reply) -> Response<Body> {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in reply.headers {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// Set for a connection that is to be reset instead of answered.
#[derive(Clone, Debug, Default)]
struct Cut(Arc<AtomicBool>);

impl Connected<IncomingStream<'_, Loopback>> for Cut {
    fn connect_info(stream: IncomingStream<'_, Loopback>) -> Self {
        stream.remote_addr().clone()
    }
}

struct Loopback(TcpListener);

impl Listener for Loopback {
    type Io = Socket;
    type Addr = Cut;

    async fn accept(&mut self) -> (Socket, Cut) {
        loop {
            if let Ok((stream, _)) = self.0.accept().await {
                let cut = Cut::default();
                return (Socket { stream, cut: cut.clone() }, cut);
            }
            // Out of descriptors, most likely: some connection has to end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn local_addr(&self) -> io::Result<Cut> {
        Ok(Cut::default())
    }
}

/// A connection that can be reset at the moment its answer would be written.
struct Socket {
    stream: TcpStream,
    cut: Cut,
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.cut.0.load(Ordering::Relaxed) {
            self.stream.set_zero_linger()?;
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
