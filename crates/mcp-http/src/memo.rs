//! Answers that are kept for a while, by this instance or for all of them.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;

/// Answers that are kept at most; the outdated ones go first.
const MAX_KEPT: usize = 20_000;

/// Keeps what was looked up. What cannot be recalled is looked up again.
#[async_trait]
pub(crate) trait Memo: Send + Sync {
    /// What was kept under this key and still counts.
    async fn recall(&self, key: &str) -> Option<String>;

    /// Keeps an answer for this long.
    async fn keep(&self, key: &str, value: String, lifetime: Duration);
}

/// Keeps answers on this instance.
#[derive(Default)]
pub(crate) struct LocalMemo {
    kept: Mutex<HashMap<String, (Instant, String)>>,
}

#[async_trait]
impl Memo for LocalMemo {
    async fn recall(&self, key: &str) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, value) = kept.get(key)?;
        (*until > Instant::now()).then(|| value.clone())
    }

    async fn keep(&self, key: &str, value: String, lifetime: Duration) {
        let now = Instant::now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, (until, _)| *until > now);
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
        }
        kept.insert(key.to_owned(), (now + lifetime, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_counts_for_its_time_and_under_its_key() {
        let memo = LocalMemo::default();
        memo.keep("a", "1".to_owned(), Duration::from_secs(60)).await;
        memo.keep("b", "2".to_owned(), Duration::ZERO).await;
        assert_eq!(memo.recall("a").await.as_deref(), Some("1"));
        assert_eq!(memo.recall("b").await, None);
        assert_eq!(memo.recall("c").await, None);
    }
}
