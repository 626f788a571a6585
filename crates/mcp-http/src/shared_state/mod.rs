//! State that several instances share through Redis or Valkey: confirmations and what was looked up,
//! sealed so that the store can neither read nor make them, and rates. While it is away, nothing passes.

mod connection;

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hmac,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use mcp_core::code_mode::confirm::{ConfirmationStore, LIFETIME, Subject, Unconfirmed};

use self::connection::{Address, Connection, Reply};
use server_config::given::{Given, SetupError};

use crate::{
    limits::{Rates, Uncounted},
    memo::Memo,
};

/// Unused confirmations that one caller can hold; the oldest goes first.
const PER_CALLER: usize = 8;
/// How long a rate is counted.
const WINDOW: Duration = Duration::from_secs(60);

/// The store, as all parts of a server use it.
pub(crate) struct SharedState {
    connection: Connection,
    /// Makes names that tell nothing.
    names: hmac::Key,
    seal: LessSafeKey,
}

impl std::fmt::Debug for SharedState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedState").finish_non_exhaustive()
    }
}

/// A key for one purpose out of the one that instances share.
pub(crate) fn derive(key: &[u8], purpose: &str) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), purpose.as_bytes());
    let mut derived = [0; 32];
    derived.copy_from_slice(tag.as_ref());
    derived
}

impl SharedState {
    /// Reads the address; connects when something is first needed.
    pub(crate) fn new(address: &Given, key: &[u8]) -> Result<Arc<Self>, SetupError> {
        let address = Address::parse(&address.text).ok_or_else(|| {
            SetupError::new(
                format!("{} is not an address of Redis or Valkey", address.from),
                "write it as redis://:PASSWORD@HOST:PORT; put a proxy in front for TLS",
            )
        })?;
        let seal = UnboundKey::new(&AES_256_GCM, &derive(key, "seal"))
            .map_err(|_| SetupError::new("the state key cannot be used", "make another one"))?;
        Ok(Arc::new(Self {
            connection: Connection::new(address),
            names: hmac::Key::new(hmac::HMAC_SHA256, &derive(key, "names")),
            seal: LessSafeKey::new(seal),
        }))
    }

    fn name(&self, kind: &str, parts: &[&[u8]]) -> String {
        let mut context = hmac::Context::with_key(&self.names);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        format!("mcp:{kind}:{}", URL_SAFE_NO_PAD.encode(context.sign().as_ref()))
    }

    fn confirmation(&self, subject: &Subject, line: &str) -> String {
        let parts = [subject.caller.as_bytes(), &subject.digest, line.as_bytes()];
        self.name("confirmation", &parts)
    }

    /// Seals a text such that it opens under the same name alone.
    fn seal(&self, name: &str, text: &str) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.seal.seal_in_place_append_tag(unique, Aad::from(name), &mut sealed).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    fn open(&self, name: &str, sealed: &[u8]) -> Option<String> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let opened = self.seal.open_in_place(nonce, Aad::from(name), &mut sealed).ok()?;
        String::from_utf8(opened.to_vec()).ok()
    }
}

#[async_trait]
impl ConfirmationStore for SharedState {
    async fn issue(&self, subject: Subject, line: String, plan: String, _now: SystemTime) -> bool {
        let name = self.confirmation(&subject, &line);
        let Some(sealed) = self.seal(&name, &plan) else { return false };
        let held = self.name("held", &[subject.caller.as_bytes()]);
        let lifetime = LIFETIME.as_millis().to_string();
        let last = (PER_CALLER - 1).to_string();
        let beyond = PER_CALLER.to_string();
        let kept = async {
            let set: [&[u8]; 5] = [b"SET", name.as_bytes(), &sealed, b"PX", lifetime.as_bytes()];
            self.connection.ask(&set).await?;
            self.connection.ask(&[b"LPUSH", held.as_bytes(), name.as_bytes()]).await?;
            let range: [&[u8]; 4] = [b"LRANGE", held.as_bytes(), beyond.as_bytes(), b"-1"];
            if let Reply::Array(old) = self.connection.ask(&range).await? {
                for name in old.iter().filter_map(Reply::bytes) {
                    self.connection.ask(&[b"DEL", name]).await?;
                }
            }
            self.connection.ask(&[b"LTRIM", held.as_bytes(), b"0", last.as_bytes()]).await?;
            self.connection.ask(&[b"PEXPIRE", held.as_bytes(), lifetime.as_bytes()]).await
        };
        match kept.await {
            Ok(_) => true,
            Err(error) => {
                tracing::error!(%error, "a confirmation cannot be kept");
                false
            }
        }
    }

    async fn take(
        &self,
        subject: &Subject,
        line: &str,
        _now: SystemTime,
    ) -> Result<String, Unconfirmed> {
        let name = self.confirmation(subject, line);
        // Read and removed in one step: of two instances one gets it.
        let taken = self.connection.ask(&[b"GETDEL", name.as_bytes()]).await.map_err(|error| {
            tracing::error!(%error, "a confirmation cannot be looked up");
            Unconfirmed::Unavailable
        })?;
        let sealed = taken.bytes().ok_or(Unconfirmed::Unknown)?;
        self.open(&name, sealed).ok_or(Unconfirmed::Unknown)
    }
}

#[async_trait]
impl Rates for SharedState {
    async fn count(&self, key: &str, a_minute: u32) -> Result<(), Uncounted> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let window = now.as_secs() / WINDOW.as_secs();
        let name = self.name("rate", &[key.as_bytes(), &window.to_le_bytes()]);
        let lifetime = (2 * WINDOW).as_millis().to_string();
        let counted = async {
            let counted = self.connection.ask(&[b"INCR", name.as_bytes()]).await?;
            if matches!(counted, Reply::Integer(1)) {
                let expire: [&[u8]; 3] = [b"PEXPIRE", name.as_bytes(), lifetime.as_bytes()];
                self.connection.ask(&expire).await?;
            }
            Ok::<_, std::io::Error>(counted)
        };
        match counted.await {
            Ok(Reply::Integer(count)) if count > i64::from(a_minute) => {
                let passed = Duration::from_secs(now.as_secs() % WINDOW.as_secs());
                Err(Uncounted::TooMany(WINDOW.saturating_sub(passed)))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::error!(%error, "rates cannot be counted");
                Err(Uncounted::Unavailable)
            }
        }
    }
}

#[async_trait]
impl Memo for SharedState {
    async fn recall(&self, key: &str) -> Option<String> {
        let name = self.name("memo", &[key.as_bytes()]);
        match self.connection.ask(&[b"GET", name.as_bytes()]).await {
            Ok(kept) => self.open(&name, kept.bytes()?),
            Err(error) => {
                tracing::warn!(%error, "what was looked up before cannot be recalled");
                None
            }
        }
    }

    async fn keep(&self, key: &str, value: String, lifetime: Duration) {
        let name = self.name("memo", &[key.as_bytes()]);
        let Some(sealed) = self.seal(&name, &value) else { return };
        let lifetime = lifetime.as_millis().to_string();
        let set: [&[u8]; 5] = [b"SET", name.as_bytes(), &sealed, b"PX", lifetime.as_bytes()];
        if let Err(error) = self.connection.ask(&set).await {
            tracing::warn!(%error, "what was looked up cannot be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(key: &[u8]) -> Arc<SharedState> {
        let address =
            Given { text: "redis://127.0.0.1:1".to_owned(), from: "`--redis`".to_owned() };
        SharedState::new(&address, key).unwrap()
    }

    #[test]
    fn what_is_sealed_opens_under_its_name_and_key_alone() {
        let ours = state(&[1; 32]);
        let sealed = ours.seal("a", "the plan").unwrap();
        assert!(!sealed.windows(4).any(|it| it == b"plan"));
        assert_eq!(ours.open("a", &sealed).as_deref(), Some("the plan"));
        assert_eq!(ours.open("b", &sealed), None);
        assert_eq!(state(&[2; 32]).open("a", &sealed), None);
        assert_eq!(ours.open("a", &sealed[..20]), None);
        assert_eq!(ours.open("a", &[]), None);
    }

    #[tokio::test]
    async fn without_the_store_nothing_is_confirmed_counted_or_recalled() {
        let state = state(&[1; 32]);
        let subject = Subject { caller: "ann".to_owned(), digest: [0; 32] };
        let now = SystemTime::now();
        assert!(!state.issue(subject.clone(), "l".to_owned(), "p".to_owned(), now).await);
        assert_eq!(state.take(&subject, "l", now).await, Err(Unconfirmed::Unavailable));
        assert_eq!(state.count("a", 1).await, Err(Uncounted::Unavailable));
        state.keep("a", "1".to_owned(), WINDOW).await;
        assert_eq!(state.recall("a").await, None);
    }
}
