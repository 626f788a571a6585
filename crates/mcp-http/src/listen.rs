//! Sockets: connections are taken up to a number, heads of requests must come in time, and those in
//! progress are ended in order.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

use crate::{endpoint::Peer, serving::Load, slow::Impatient};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 32 * 1024;
/// How long to wait after the system refused a connection, for lack of descriptors as a rule.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections that wait to be taken: as many as a burst of new callers may bring.
const BACKLOG: u32 = 1024;
/// How long calls that were cut off have to say so.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The steps in which a server ends, each cancelled in its turn.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    /// No new work is taken.
    pub(crate) draining: CancellationToken,
    /// Calls in progress are cut off.
    pub(crate) over: CancellationToken,
    /// Connections are closed.
    pub(crate) closed: CancellationToken,
}

/// Listens on an address, also where one that listened there has just ended.
pub(crate) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `draining` is cancelled, then until what is in progress has ended or had its time.
pub(crate) async fn serve(listener: TcpListener, router: Router, load: &Load, ends: Ends) {
    let slots = Arc::new(Semaphore::new(load.connections));
    let patience = load.patience;
    while let Some((stream, peer, slot)) = next(&listener, &slots, &ends.draining).await {
        let service = TowerToHyperService::new(router.clone());
        let Ends { draining, closed, .. } = ends.clone();
        drop(tokio::spawn(async move {
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(Peer(peer));
                let request: Request = request.map(Body::new);
                hyper::service::Service::call(&service, request)
            });
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(MAX_HEAD);
            let stream = TokioIo::new(Impatient::new(stream, patience));
            let connection = builder.serve_connection(stream, service);
            tokio::pin!(connection);
            let outcome = tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = closed.cancelled() => Ok(()),
                () = draining.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        outcome = connection => outcome,
                        () = closed.cancelled() => Ok(()),
                    }
                }
            };
            if let Err(error) = outcome {
                tracing::debug!(%peer, %error, "connection ended");
            }
            drop(slot);
        }));
    }
    drop(listener);
    let all = u32::try_from(load.connections).unwrap_or(u32::MAX);
    // Every slot is free again: nothing is in progress.
    let ended = || slots.acquire_many(all);
    if tokio::time::timeout(load.grace, ended()).await.is_err() {
        tracing::warn!("what is still in progress is ended");
        ends.over.cancel();
        drop(tokio::time::timeout(LAST_WORDS, ended()).await);
    }
    ends.over.cancel();
    ends.closed.cancel();
}

async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    draining: &CancellationToken,
) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let accept = async {
        let slot = Arc::clone(slots).acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => {
                    // Answers go out in several writes; the system would hold back the later ones.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "no-delay cannot be set");
                    }
                    return Some((stream, peer, slot));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be taken");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        taken = accept => taken,
        () = draining.cancelled() => None,
    }
}
