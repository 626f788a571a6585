//! How much at once and how often: by caller, by address, and in all.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{refusal::Refusal, serving::Load};

/// Counters that are kept at most; the ones that are full again go first.
const MAX_KEPT: usize = 20_000;

/// Counts requests by key, on this instance or on all of them.
#[async_trait]
pub(crate) trait Rates: Send + Sync {
    /// Counts one request of `key`.
    async fn count(&self, key: &str, a_minute: u32) -> Result<(), Uncounted>;
}

/// Why a request does not count as one of those that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uncounted {
    /// There were too many a minute; the next one is taken after this.
    TooMany(Duration),
    /// Nobody can tell how many there were.
    Unavailable,
}

/// The limits of one server.
pub(crate) struct Limits {
    rates: Arc<dyn Rates>,
    load: Load,
    all: Arc<Semaphore>,
    callers: Mutex<HashMap<String, usize>>,
}

/// A place among the requests in progress; given back when dropped.
pub(crate) struct Place {
    limits: Arc<Limits>,
    caller: String,
    _permit: OwnedSemaphorePermit,
}

impl Limits {
    pub(crate) fn new(load: &Load, rates: Arc<dyn Rates>) -> Arc<Self> {
        Arc::new(Self {
            rates,
            all: Arc::new(Semaphore::new(load.in_progress)),
            load: load.clone(),
            callers: Mutex::default(),
        })
    }

    /// Counts a request by where it came from, before anybody is asked who they are.
    pub(crate) async fn count_address(&self, address: IpAddr) -> Result<(), Refusal> {
        let key = match address {
            IpAddr::V4(address) => format!("address:{address}"),
            // Whoever has one address of version 6 has the rest of its network too.
            IpAddr::V6(address) => format!("address:{:x}", address.to_bits() >> 64),
        };
        self.count(&key, self.load.address_rate).await
    }

    /// Counts a request by who sent it.
    pub(crate) async fn count_caller(&self, caller: &str) -> Result<(), Refusal> {
        self.count(&format!("caller:{caller}"), self.load.rate).await
    }

    async fn count(&self, key: &str, a_minute: u32) -> Result<(), Refusal> {
        if a_minute == 0 {
            return Ok(());
        }
        self.rates.count(key, a_minute).await.map_err(|why| match why {
            Uncounted::TooMany(wait) => {
                let message = format!("more than {a_minute} requests a minute: wait, then go on");
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Refusal::busy(StatusCode::TOO_MANY_REQUESTS, seconds, message)
            }
            Uncounted::Unavailable => {
                let message = "the store that this server's instances share is away, and without \
                               it nobody knows how many requests there were: try again in a moment";
                Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, 5, message)
            }
        })
    }

    /// Takes a place among the requests in progress.
    pub(crate) fn enter(self: &Arc<Self>, caller: &str) -> Result<Place, Refusal> {
        let Ok(permit) = Arc::clone(&self.all).try_acquire_owned() else {
            let message = "the server has as much to do as it can: try again in a moment";
            return Err(Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, 1, message));
        };
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let in_progress = callers.entry(caller.to_owned()).or_default();
        if *in_progress >= self.load.caller_in_progress {
            let message = format!(
                "{in_progress} of your requests are in progress: wait for one of them to end"
            );
            return Err(Refusal::busy(StatusCode::TOO_MANY_REQUESTS, 1, message));
        }
        *in_progress += 1;
        Ok(Place { limits: Arc::clone(self), caller: caller.to_owned(), _permit: permit })
    }

    /// How many requests are in progress.
    pub(crate) fn in_progress(&self) -> usize {
        self.load.in_progress - self.all.available_permits()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut callers = self.limits.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(in_progress) = callers.get_mut(&self.caller) {
            *in_progress -= 1;
            if *in_progress == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

/// Counts on this instance: each key has a bucket that fills again at its rate.
#[derive(Default)]
pub(crate) struct LocalRates {
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

#[async_trait]
impl Rates for LocalRates {
    async fn count(&self, key: &str, a_minute: u32) -> Result<(), Uncounted> {
        self.count_at(key, a_minute, Instant::now()).map_err(Uncounted::TooMany)
    }
}

impl LocalRates {
    fn count_at(&self, key: &str, a_minute: u32, now: Instant) -> Result<(), Duration> {
        let full = f64::from(a_minute);
        let a_second = full / 60.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_KEPT && !buckets.contains_key(key) {
            // Whoever was silent for a minute has a full bucket, as has somebody new.
            buckets.retain(|_, it| now.duration_since(it.at) < Duration::from_secs(60));
            if buckets.len() >= MAX_KEPT {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket { left: full, at: now });
        let filled = now.saturating_duration_since(bucket.at).as_secs_f64() * a_second;
        bucket.left = (bucket.left + filled).min(full);
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.left) / a_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again_at_its_rate() {
        let rates = LocalRates::default();
        let start = Instant::now();
        for _ in 0..60 {
            assert!(rates.count_at("a", 60, start).is_ok());
        }
        let wait = rates.count_at("a", 60, start).unwrap_err();
        assert!((0.99..1.01).contains(&wait.as_secs_f64()), "{wait:?}");
        assert!(rates.count_at("b", 60, start).is_ok(), "others are not held up");
        let later = start + Duration::from_millis(1100);
        assert!(rates.count_at("a", 60, later).is_ok());
        assert!(rates.count_at("a", 60, later).is_err());
    }
}
