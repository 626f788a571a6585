//! What waits to be sent elsewhere: bounded, in batches, and never waited for by a request.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use api_client::{
    request::{Body, Request},
    transport::{Effect, TlsOptions, Transport, TransportOptions},
};
use bytes::Bytes;
use http::Method;
use server_config::given::SetupError;
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use url::Url;

/// What waits at most; what comes then is dropped.
const MAX_WAITING: usize = 2048;
/// What goes at once at most.
const MAX_BATCH: usize = 256;
/// How long a batch waits for more.
const PAUSE: Duration = Duration::from_secs(2);
/// How long the other side may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where things are put.
pub(super) struct Outbox<T> {
    sender: Sender<T>,
    /// Whether it was said that something had to be dropped.
    full: Arc<AtomicBool>,
}

impl<T> Clone for Outbox<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), full: Arc::clone(&self.full) }
    }
}

impl<T> std::fmt::Debug for Outbox<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

/// Where they are taken from.
pub(super) struct Mail<T>(Receiver<T>);

pub(super) fn outbox<T>() -> (Outbox<T>, Mail<T>) {
    let (sender, receiver) = channel(MAX_WAITING);
    (Outbox { sender, full: Arc::default() }, Mail(receiver))
}

impl<T> Outbox<T> {
    pub(super) fn put(&self, item: T) {
        let is_full = self.sender.try_send(item).is_err();
        if is_full && !self.full.swap(true, Ordering::Relaxed) {
            tracing::warn!("more is reported than can be sent: some of it is dropped");
        }
    }
}

impl<T> Mail<T> {
    /// What has come, in a batch; after `end` what is left, then nothing.
    pub(super) async fn next(&mut self, end: &CancellationToken) -> Option<Vec<T>> {
        let mut batch = Vec::new();
        tokio::select! {
            first = self.0.recv() => batch.push(first?),
            () = end.cancelled() => {}
        }
        let more = async {
            while batch.len() < MAX_BATCH {
                let Some(item) = self.0.recv().await else { return };
                batch.push(item);
            }
        };
        tokio::select! {
            biased;
            _ = timeout(PAUSE, more) => {}
            () = end.cancelled() => {}
        }
        (!batch.is_empty()).then_some(batch)
    }
}

/// A place that takes what is posted.
pub(super) struct Place {
    transport: Transport,
    request: Request,
}

impl Place {
    pub(super) fn new(
        address: &Url,
        content_type: &str,
        headers: Vec<(String, String)>,
        extra_ca: &[String],
    ) -> Result<Self, SetupError> {
        let mut origin = address.clone();
        origin.set_path("");
        origin.set_query(None);
        let mut options = TransportOptions::new(origin);
        options.tls = TlsOptions { extra_ca_pem: extra_ca.to_vec(), ..TlsOptions::default() };
        let transport = Transport::new(options)
            .map_err(|error| SetupError::new(error.message(), error.hint()))?;
        let request = Request {
            method: Method::POST,
            template: address.path().to_owned(),
            path: address.path().to_owned(),
            query: address.query().unwrap_or_default().to_owned(),
            headers,
            body: Some(Body { content_type: content_type.to_owned(), bytes: Bytes::new() }),
        };
        Ok(Self { transport, request })
    }

    /// Sends a body; what is wrong is said in the log, once per body.
    pub(super) async fn post(&self, body: Vec<u8>) {
        let mut request = self.request.clone();
        if let Some(it) = &mut request.body {
            it.bytes = body.into();
        }
        let stay = |_: &Method, _: &str, _: &str| Err("reports follow none".to_owned());
        let deadline = Instant::now() + PATIENCE;
        let answer = self.transport.send_checked(&request, Effect::Write, deadline, &stay).await;
        let host = self.transport.base_url().host_str().unwrap_or_default();
        match answer {
            Ok(answer) if (200..300).contains(&answer.status) => {}
            Ok(answer) => {
                tracing::warn!(host, status = answer.status, "a report was not taken");
                // Whoever has enough is left alone, and what comes meanwhile is dropped.
                if answer.status == 429 {
                    sleep(answer.retry_after().unwrap_or(PAUSE).min(12 * PATIENCE)).await;
                }
            }
            Err(error) => tracing::warn!(host, %error, "a report cannot be sent"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_waits_at_the_end_is_still_sent() {
        let (outbox, mut mail) = outbox();
        let end = CancellationToken::new();
        for number in 0..3 {
            outbox.put(number);
        }
        end.cancel();
        assert_eq!(mail.next(&end).await, Some(vec![0, 1, 2]));
        assert_eq!(mail.next(&end).await, None);
    }
}
