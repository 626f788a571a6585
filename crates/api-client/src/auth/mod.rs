//! Credentials: how they are checked and put into a request.

mod source;
mod text;

use std::hash::{Hash, Hasher};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use url::Url;

use crate::error::ConfigError;
use crate::secret::{Mask, Secret};
use text::without_bearer;

pub use source::{SecretSource, Supplier, Supply};

/// How requests to the base origin prove who they are.
#[derive(Debug, Clone, Default)]
pub enum Credential {
    /// Not at all.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer(SecretSource),
    /// A header of its own, such as `X-Api-Key`.
    Header {
        /// The header's name.
        name: String,
        /// The header's whole value.
        secret: SecretSource,
    },
    /// `Authorization: Basic …`.
    Basic {
        /// The user name; must not hold `:`.
        user: String,
        /// The password.
        password: SecretSource,
    },
    /// A query parameter.
    Query {
        /// The parameter's name.
        name: String,
        /// The parameter's value.
        secret: SecretSource,
    },
}

impl Credential {
    /// Checks what can be checked before the first request.
    ///
    /// # Errors
    /// A name that is no header name, a user name with `:`, a secret that its place cannot carry.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::None | Self::Bearer(_) => {}
            Self::Header { name, .. } => drop(header_name(name)?),
            Self::Basic { user, .. } => {
                if user.contains(':') || user.chars().any(char::is_control) {
                    return Err(ConfigError::new(
                        "the user name holds `:` or control characters",
                        "give the user name alone; the password has its own setting",
                    ));
                }
            }
            Self::Query { name, .. } => {
                if name.is_empty() {
                    let hint = "name the query parameter that carries the key";
                    return Err(ConfigError::new("the query credential has no name", hint));
                }
            }
        }
        match self.source().map(SecretSource::at_hand) {
            Some(Some(secret)) => self.header(&secret?).map(drop),
            // A supplier is asked when the first request needs it.
            Some(None) | None => Ok(()),
        }
    }

    fn source(&self) -> Option<&SecretSource> {
        match self {
            Self::None => None,
            Self::Bearer(source) => Some(source),
            Self::Header { secret, .. } | Self::Query { secret, .. } => Some(secret),
            Self::Basic { password, .. } => Some(password),
        }
    }

    /// Gets the secret to use now.
    pub(crate) async fn current(&self) -> Result<Option<Secret>, ConfigError> {
        match self.source() {
            Some(source) => source.current().await.map(Some),
            None => Ok(None),
        }
    }

    /// Looks for another secret after the server has turned this one away; whether there is one.
    pub(crate) async fn renew(&self, rejected: &Secret) -> bool {
        match self.source() {
            Some(source) => source.renew(rejected).await,
            None => false,
        }
    }

    /// Puts a secret into a request, replacing what stands in its place.
    pub(crate) fn apply(
        &self,
        secret: &Secret,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), ConfigError> {
        if let Some((name, value)) = self.header(secret)? {
            headers.insert(name, value);
        }
        if let Self::Query { name, .. } = self {
            let kept = url.query().map(|query| without_pair(query, name));
            url.set_query(kept.as_deref().filter(|query| !query.is_empty()));
            url.query_pairs_mut().append_pair(name, secret.expose());
        }
        Ok(())
    }

    /// The header that carries a secret, if a header does.
    fn header(&self, secret: &Secret) -> Result<Option<(HeaderName, HeaderValue)>, ConfigError> {
        let text = secret.expose();
        let (name, source, value) = match self {
            Self::None | Self::Query { .. } => return Ok(None),
            Self::Bearer(source) => {
                let token = without_bearer(text);
                if token.contains(char::is_whitespace) {
                    return Err(ConfigError::new(
                        format!("`{}` holds a space inside", source.label()),
                        "a bearer token is one word: copy it again",
                    ));
                }
                (header::AUTHORIZATION, source, format!("Bearer {token}"))
            }
            Self::Header { name, secret } => (header_name(name)?, secret, text.to_owned()),
            Self::Basic { user, password } => {
                let pair = STANDARD.encode(format!("{user}:{text}"));
                (header::AUTHORIZATION, password, format!("Basic {pair}"))
            }
        };
        let value = HeaderValue::from_str(&value).ok().filter(|_| value.is_ascii());
        let value = value.ok_or_else(|| {
            ConfigError::new(
                format!("`{}` holds characters a header cannot carry", source.label()),
                "copy the value again: a dash, quote or space may have been replaced on the way",
            )
        })?;
        Ok(Some((name, sensitive(value))))
    }

    /// Returns the secrets in use now and shortly before.
    pub(crate) fn known(&self) -> Vec<Secret> {
        self.source().map(SecretSource::known).unwrap_or_default()
    }

    /// Adds all that a server could echo to a mask.
    pub(crate) fn add_to(&self, mask: &mut Mask) {
        for secret in self.known() {
            if let Self::Basic { user, .. } = self {
                mask.add(&STANDARD.encode(format!("{user}:{}", secret.expose())));
            }
            mask.add(without_bearer(secret.expose()));
        }
    }

    /// Feeds a hasher with what tells this caller from others; the same secret is the same caller.
    pub(crate) fn identify(&self, hasher: &mut impl Hasher) {
        match self {
            Self::None => {}
            Self::Bearer(_) => "bearer".hash(hasher),
            Self::Header { name, .. } | Self::Query { name, .. } => name.hash(hasher),
            Self::Basic { user, .. } => user.hash(hasher),
        }
        if let Some(source) = self.source() {
            source.identify(hasher);
        }
    }
}

/// Keeps a value out of debug output and header compression.
pub(crate) fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        ConfigError::new(
            format!("`{name}` is not a header name"),
            "give the name alone, for example `X-Api-Key`",
        )
    })
}

/// Takes the pairs of that name out of a query and leaves the rest to the letter.
fn without_pair(query: &str, name: &str) -> String {
    let same = |pair: &&str| {
        url::form_urlencoded::parse(pair.as_bytes()).next().is_some_and(|(key, _)| key == name)
    };
    query.split('&').filter(|pair| !same(pair)).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> SecretSource {
        SecretSource::literal("API_TOKEN", text).unwrap()
    }

    fn applied(credential: &Credential, url: &str) -> (String, String) {
        let mut url = Url::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        credential.check().unwrap();
        if let Some(secret) = credential.source().and_then(SecretSource::at_hand) {
            credential.apply(&secret.unwrap(), &mut url, &mut headers).unwrap();
        }
        let header = headers.iter().next();
        let header = header.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        (url.to_string(), header.unwrap_or_default())
    }

    #[test]
    fn every_scheme_writes_its_own_place() {
        let url = "https://h/a?x=1%202";
        let table = [
            (Credential::None, url, ""),
            (Credential::Bearer(source(" tok \n")), url, "authorization: Bearer tok"),
            (Credential::Bearer(source("bearer  tok")), url, "authorization: Bearer tok"),
            (
                Credential::Header { name: "X-Key".into(), secret: source("Token tok") },
                url,
                "x-key: Token tok",
            ),
            (
                Credential::Basic { user: "ann".into(), password: source("pa ß") },
                url,
                "authorization: Basic YW5uOnBhIMOf",
            ),
            (
                Credential::Query { name: "key".into(), secret: source("a b&c") },
                "https://h/a?x=1%202&key=a+b%26c",
                "",
            ),
        ];
        for (credential, url_after, header) in table {
            assert_eq!(applied(&credential, url), (url_after.to_owned(), header.to_owned()));
        }
    }

    #[test]
    fn a_query_key_replaces_one_that_is_already_there() {
        let credential = Credential::Query { name: "key".into(), secret: source("secret") };
        assert_eq!(
            applied(&credential, "https://h/?key=old&a=b%20c").0,
            "https://h/?a=b%20c&key=secret"
        );
    }

    #[test]
    fn what_a_place_cannot_carry_is_refused_without_repeating_the_secret() {
        let message = Credential::Bearer(source("two words")).check().unwrap_err().to_string();
        assert!(message.contains("space inside") && !message.contains("two"), "{message}");
        let message = Credential::Bearer(source("sec\u{2011}ret")).check().unwrap_err().to_string();
        assert!(message.contains("cannot carry") && !message.contains("ret\u{2011}"), "{message}");
        let header = Credential::Header { name: "X Key".into(), secret: source("secret") };
        assert!(header.check().is_err());
        let basic = Credential::Basic { user: "a:b".into(), password: source("secret") };
        assert!(basic.check().is_err());
    }

    #[test]
    fn debug_output_holds_no_secret() {
        let credential = Credential::Basic { user: "ann".into(), password: source("hunter22") };
        assert!(!format!("{credential:?}").contains("hunter22"));
    }
}
