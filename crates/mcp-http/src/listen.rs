//! Sockets: connections are taken up to a number, heads of requests must come in time, and those in
//! progress are ended in order.

use std::{sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

use crate::{endpoint::Peer, serving::Load};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 32 * 1024;
/// How long to wait after the system refused a connection, for lack of descriptors as a rule.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until `draining` is cancelled, then until what is in progress has ended or had its time.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    load: &Load,
    draining: CancellationToken,
    over: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(load.connections));
    let patience = load.patience;
    while let Some((stream, peer, slot)) = next(&listener, &slots, &draining).await {
        let service = TowerToHyperService::new(router.clone());
        let (draining, over) = (draining.clone(), over.clone());
        drop(tokio::spawn(async move {
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(Peer(peer));
                let request: Request = request.map(Body::new);
                hyper::service::Service::call(&service, request)
            });
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(MAX_HEAD);
            let connection = builder.serve_connection(TokioIo::new(stream), service);
            tokio::pin!(connection);
            let outcome = tokio::select! {
                outcome = connection.as_mut() => outcome,
                () = over.cancelled() => Ok(()),
                () = draining.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        outcome = connection => outcome,
                        () = over.cancelled() => Ok(()),
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
    tokio::select! {
        // Every slot is free again: nothing is in progress.
        _ = slots.acquire_many(all) => {}
        () = tokio::time::sleep(load.grace) => {
            tracing::warn!("what is still in progress is ended");
        }
    }
    over.cancel();
}

async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    draining: &CancellationToken,
) -> Option<(TcpStream, std::net::SocketAddr, OwnedSemaphorePermit)> {
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
