//! An issuer's keys: fetched when first needed, kept, and fetched again when a token names a new one.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use api_client::{
    error::ConfigError,
    transport::{Fetched, TlsOptions, Transport, TransportOptions},
};
use jsonwebtoken::{
    DecodingKey,
    jwk::{Jwk, PublicKeyUse},
};
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

/// How long keys are taken without asking again.
const FRESH: Duration = Duration::from_secs(600);
/// How long keys still count while the issuer cannot be reached.
const STALE: Duration = Duration::from_secs(3600);
/// How often a token with an unknown key may make us ask.
const PAUSE: Duration = Duration::from_secs(15);
/// How long the issuer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The keys of one issuer.
pub(crate) struct Keys {
    issuer: String,
    /// As the operator said, or else as the issuer's metadata says.
    address: Option<Url>,
    transport: Transport,
    held: RwLock<Option<Held>>,
    /// When keys were last asked for; held while asking, so that one caller asks for all.
    asked: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Held {
    keys: Arc<[Key]>,
    fetched: Instant,
}

/// A key that signatures can be checked with.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) id: Option<String>,
    /// The one algorithm it is for, where it says so.
    pub(crate) algorithm: Option<String>,
    pub(crate) key: DecodingKey,
}

impl Keys {
    pub(crate) fn new(
        issuer: &str,
        address: Option<Url>,
        tls: TlsOptions,
    ) -> Result<Self, ConfigError> {
        let base = Url::parse(issuer).map_err(|error| {
            ConfigError::new(format!("the issuer is no URL: {error}"), "write it in full")
        })?;
        let mut options = TransportOptions::new(base);
        options.tls = tls;
        Ok(Self {
            issuer: issuer.to_owned(),
            address,
            transport: Transport::new(options)?,
            held: RwLock::new(None),
            asked: Mutex::new(None),
        })
    }

    /// The keys that a token may have been signed with; `None` when they cannot be had.
    pub(crate) async fn candidates(&self, id: Option<&str>) -> Option<Vec<Key>> {
        if let Some(held) = self.held(FRESH) {
            let found = matching(&held.keys, id);
            if !found.is_empty() {
                return Some(found);
            }
        }
        self.ask().await;
        let held = self.held(STALE)?;
        Some(matching(&held.keys, id))
    }

    fn held(&self, at_most: Duration) -> Option<Held> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.clone().filter(|held| held.fetched.elapsed() < at_most)
    }

    /// Fetches the keys, unless that was done just now.
    async fn ask(&self) {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        *asked = Some(Instant::now());
        match self.fetch().await {
            Ok(keys) => {
                let held = Held { keys: keys.into(), fetched: Instant::now() };
                *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(held);
            }
            Err(why) => tracing::warn!(issuer = self.issuer, why, "keys cannot be fetched"),
        }
    }

    async fn fetch(&self) -> Result<Vec<Key>, String> {
        let address = match &self.address {
            Some(address) => address.clone(),
            None => self.discover().await?,
        };
        let set = self.json(&address).await?;
        let keys = set["keys"].as_array().ok_or("the answer holds no `keys`")?;
        // One key we do not understand costs only itself.
        let keys: Vec<_> = keys.iter().filter_map(key).collect();
        if keys.is_empty() {
            return Err("none of the keys can be used".to_owned());
        }
        Ok(keys)
    }

    /// Finds the keys' address in the issuer's metadata, which must be this issuer's own.
    async fn discover(&self) -> Result<Url, String> {
        let mut last = String::new();
        for address in metadata_addresses(self.transport.base_url()) {
            match self.json(&address).await {
                Ok(metadata) if metadata["issuer"] == self.issuer.as_str() => {
                    let found = metadata["jwks_uri"].as_str().and_then(|it| Url::parse(it).ok());
                    return found.ok_or_else(|| "the metadata names no `jwks_uri`".to_owned());
                }
                Ok(_) => last = "the metadata is another issuer's".to_owned(),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    async fn json(&self, address: &Url) -> Result<Value, String> {
        let fetched = self.transport.fetch(address, None, Instant::now() + PATIENCE).await;
        match fetched.map_err(|error| error.to_string())? {
            Fetched::Document { bytes, .. } => {
                serde_json::from_slice(&bytes).map_err(|error| format!("no JSON: {error}"))
            }
            Fetched::NotModified => Err("nothing came".to_owned()),
        }
    }
}

fn matching(keys: &[Key], id: Option<&str>) -> Vec<Key> {
    match id {
        Some(id) => keys.iter().filter(|it| it.id.as_deref() == Some(id)).cloned().collect(),
        None => keys.to_vec(),
    }
}

fn key(value: &Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    // A shared secret would let anybody who knows it make tokens.
    if value["kty"] == "oct"
        || jwk.common.public_key_use.as_ref().is_some_and(|it| *it != PublicKeyUse::Signature)
    {
        return None;
    }
    Some(Key {
        id: jwk.common.key_id.clone(),
        algorithm: value["alg"].as_str().map(str::to_owned),
        key: DecodingKey::from_jwk(&jwk).ok()?,
    })
}

/// Where an issuer's metadata may be: OAuth's place between host and path, OpenID's behind the path.
fn metadata_addresses(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let paths = [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    };
    paths.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_is_looked_for_in_both_places() {
        let of = |issuer| {
            let addresses = metadata_addresses(&Url::parse(issuer).unwrap());
            addresses.into_iter().map(|it| it.path().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            of("https://id.test/o/app/"),
            [
                "/.well-known/oauth-authorization-server/o/app",
                "/o/app/.well-known/openid-configuration"
            ]
        );
        assert_eq!(of("https://id.test")[1], "/.well-known/openid-configuration");
    }

    #[test]
    fn secrets_and_keys_for_something_else_are_no_keys() {
        let rsa = json!({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "a", "use": "sig"});
        assert_eq!(key(&rsa).unwrap().id.as_deref(), Some("a"));
        let mut other = rsa;
        other["use"] = json!("enc");
        assert!(key(&other).is_none());
        assert!(key(&json!({"kty": "oct", "k": "AQAB"})).is_none());
        assert!(key(&json!({"kty": "?"})).is_none());
    }
}
