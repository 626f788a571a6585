//! Sockets: a loopback listener on a thread of its own, the control plane, and faults acted out.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use axum::serve::{IncomingStream, Listener};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::World;
use crate::engine::{Engine, Fixture, Service};
use crate::fault::{Action, Fault};
use crate::http::{Reply, Request};
use crate::log::Entry;

const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a stop waits for requests in flight.
const GRACE: Duration = Duration::from_millis(300);
const CONTROL: &str = "/__mock/";

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

    /// Back to the seeded state; clears the log, the clock and the fault counters.
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
    if let Some(reply) = control(&*service, &request) {
        return response(reply);
    }
    let before = service.strike(&request);
    if let Some(fault) = &before {
        if !matches!(fault.action, Action::Delay { .. }) {
            service.skip(&request, fault);
        }
        if let Some(reply) = act(fault, &cut).await {
            return response(reply);
        }
    }
    let (reply, after) = service.run(&request, before.as_ref());
    match after {
        Some(fault) => response(act(&fault, &cut).await.unwrap_or(reply)),
        None => response(reply),
    }
}

/// The answer a fault gives in place of the handler's; none after a mere delay.
async fn act(fault: &Fault, cut: &Cut) -> Option<Reply> {
    match &fault.action {
        Action::Respond { status, headers, body } => {
            let reply =
                Reply { status: *status, body: body.clone().into_bytes(), ..Reply::default() };
            Some(headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value)))
        }
        Action::Delay { ms } => {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
            None
        }
        Action::Reset => {
            cut.0.store(true, Ordering::Relaxed);
            Some(Reply::empty(500))
        }
    }
}

/// The control plane needs no token, only a header that no API client sends; it is not logged.
fn control(service: &dyn Service, request: &Request) -> Option<Reply> {
    let command = request.path.strip_prefix(CONTROL)?;
    if request.header("x-mock-control") != Some("1") {
        return None;
    }
    let reply = match (&request.method, command) {
        (&Method::GET, "log") => Reply::json(200, &service.log()),
        (&Method::GET, "state") => Reply::json(200, &service.state()),
        (&Method::POST, "reset") => {
            service.reset();
            Reply::empty(204)
        }
        _ => Reply::detail(404, "the control plane has GET log, GET state and POST reset"),
    };
    Some(reply)
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
