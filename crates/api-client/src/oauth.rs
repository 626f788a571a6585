//! The client credentials grant of OAuth 2: a client's own secret for access tokens that expire.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Method;
use serde::Deserialize;
use url::{Url, form_urlencoded};

use crate::auth::{Credential, SecretSource, Supplier, Supply};
use crate::error::ConfigError;
use crate::request::{Body, Request};
use crate::secret::{Mask, Secret};
use crate::transport::{Effect, Response, Transport, TransportOptions};

/// Who asks for access tokens, and for what.
#[derive(Debug, Clone)]
pub struct Grant {
    /// Where tokens are given out. Named by the operator, never taken from a document.
    pub token_url: Url,
    /// The client's identity.
    pub client_id: String,
    /// The client's secret.
    pub client_secret: SecretSource,
    /// What the tokens are for, separated by spaces.
    pub scope: Option<String>,
}

/// Gets access tokens with the client credentials grant (RFC 6749, section 4.4).
#[derive(Debug)]
pub struct ClientCredentials {
    transport: Transport,
    grant: Grant,
    /// The server does not take the secret in a header.
    in_body: AtomicBool,
}

impl ClientCredentials {
    /// Reaches the token endpoint as `options` say: timeouts, TLS and proxy. Their base and
    /// credential are replaced, and no redirect is followed.
    ///
    /// # Errors
    /// A token URL or another option that cannot work.
    pub fn new(mut options: TransportOptions, grant: Grant) -> Result<Self, ConfigError> {
        let mut origin = grant.token_url.clone();
        origin.set_path("");
        origin.set_query(None);
        options.base_url = origin;
        options.credential = Credential::None;
        options.headers = Vec::new();
        options.allowed_origins = Vec::new();
        let transport = Transport::new(options)?;
        Ok(Self { transport, grant, in_body: AtomicBool::new(false) })
    }

    /// The source of access tokens; `label` is what messages call it.
    pub fn into_source(self, label: impl Into<String>) -> SecretSource {
        SecretSource::supplied(label, self)
    }

    async fn token(&self) -> Result<Supply, ConfigError> {
        let mut response = self.ask(self.in_body.load(Ordering::Relaxed)).await?;
        // RFC 6749 wants servers to take the secret in a header; some take it in the body alone.
        if matches!(response.status, 400 | 401) && !self.in_body.load(Ordering::Relaxed) {
            let second = self.ask(true).await?;
            if second.status == 200 {
                self.in_body.store(true, Ordering::Relaxed);
                response = second;
            }
        }
        self.read(&response)
    }

    async fn ask(&self, in_body: bool) -> Result<Response, ConfigError> {
        let secret = self.grant.client_secret.current().await?;
        let (request, credential) = self.request(&secret, in_body)?;
        let transport = self.transport.with_credential(credential)?;
        let stay = |_: &Method, _: &str, _: &str| Err("a token request follows none".to_owned());
        let deadline = Instant::now() + LONGEST;
        // A second token does no harm, so a failed request may be repeated as a read is.
        let answer = transport.send_checked(&request, Effect::Read, deadline, &stay).await;
        answer.map_err(|error| {
            let hint = "check the token URL and that it can be reached from here";
            ConfigError::new(format!("no access token: {error}"), hint)
        })
    }

    fn request(
        &self,
        secret: &Secret,
        in_body: bool,
    ) -> Result<(Request, Credential), ConfigError> {
        let Grant { token_url, client_id, client_secret, scope } = &self.grant;
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        if let Some(scope) = scope {
            form.append_pair("scope", scope);
        }
        let credential = if in_body {
            form.append_pair("client_id", client_id).append_pair("client_secret", secret.expose());
            Credential::None
        } else {
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect();
            let (user, password): (String, String) = (encoded(client_id), encoded(secret.expose()));
            let password = SecretSource::literal(client_secret.label(), &password)?;
            Credential::Basic { user, password }
        };
        let request = Request {
            method: Method::POST,
            template: token_url.path().to_owned(),
            path: token_url.path().to_owned(),
            query: token_url.query().unwrap_or_default().to_owned(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: Some(Body {
                content_type: "application/x-www-form-urlencoded".to_owned(),
                bytes: Bytes::from(form.finish()),
            }),
        };
        Ok((request, credential))
    }

    fn read(&self, response: &Response) -> Result<Supply, ConfigError> {
        let place = self.grant.token_url.host_str().unwrap_or_default();
        if response.status != 200 {
            let why = serde_json::from_slice::<Refusal>(&response.body).unwrap_or_default();
            let why = self.shown(&format!("{} {}", why.error, why.error_description));
            return Err(ConfigError::new(
                format!("no access token: `{place}` answered {} {why}", response.status).trim_end(),
                "check the client's id, secret and scope",
            ));
        }
        let grant: Granted = serde_json::from_slice(&response.body).map_err(|_| {
            ConfigError::new(
                format!("no access token: what `{place}` answered holds no `access_token`"),
                "check the token URL",
            )
        })?;
        if grant.token_type.as_deref().is_some_and(|it| !it.eq_ignore_ascii_case("bearer")) {
            return Err(ConfigError::new(
                format!("no access token: `{place}` gives out another kind than bearer tokens"),
                "only bearer tokens can be used",
            ));
        }
        let lives = grant.expires_in.as_ref().and_then(seconds);
        Ok(Supply { secret: grant.access_token, lives })
    }

    /// What the server says, cut short and without the secret it may repeat.
    fn shown(&self, text: &str) -> String {
        let secret = self.grant.client_secret.known();
        let mut mask = Mask::default();
        secret.iter().for_each(|it| mask.add(it.expose()));
        mask.apply(text).trim().chars().filter(|it| !it.is_control()).take(200).collect()
    }
}

impl Supplier for ClientCredentials {
    fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>> {
        self.token().boxed()
    }

    fn secrets(&self) -> Vec<Secret> {
        self.grant.client_secret.known()
    }
}

/// The most a token may take, repetitions included; a call that waits for it has its own deadline.
const LONGEST: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
struct Granted {
    access_token: Secret,
    token_type: Option<String>,
    expires_in: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refusal {
    error: String,
    error_description: String,
}

/// A number, which some servers write as a string.
fn seconds(value: &serde_json::Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok()
}
