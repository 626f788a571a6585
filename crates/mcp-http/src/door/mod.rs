//! Who may call: nobody is asked on loopback, or a token of a file, an issuer's token, or the caller's
//! own credential for the API, which is passed on.

pub(crate) mod jwks;
pub(crate) mod oauth;
pub(crate) mod roll;

use api_client::{
    auth::{Credential, SecretSource},
    error::ConfigError,
};
use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, StatusCode, header};
use mcp_core::Context;

use self::{oauth::OAuth, roll::Roll};
use server_config::given::SetupError;

use crate::{
    grant::Grant,
    refusal::Refusal,
    serving::{Doors, Serving},
};

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Tells callers apart without saying who they are: an HMAC of what let them in.
    pub(crate) id: String,
    /// For logs: the name in the file, or the id's beginning.
    pub(crate) name: String,
    pub(crate) grant: Grant,
    /// What the caller brought for the API.
    pub(crate) credential: Option<Credential>,
}

/// The ways in.
pub(crate) struct Door {
    doors: Doors,
    roll: Option<Roll>,
    oauth: Option<OAuth>,
    /// Made anew at each start, or from the key that instances share.
    key: hmac::Key,
    /// What the operator offers at most.
    full: Grant,
}

impl Door {
    /// Opens the file of callers and learns what the issuer is called; nothing is fetched yet.
    pub(crate) fn new(serving: &Serving, cx: &Context, key: &[u8]) -> Result<Self, SetupError> {
        let full = Grant::full(cx);
        let doors = &serving.doors;
        let roll = doors.callers.as_deref().map(|path| Roll::open(path, &full)).transpose()?;
        let oauth =
            doors.oauth.as_ref().map(|settings| OAuth::new(settings, serving)).transpose()?;
        Ok(Self {
            roll,
            oauth,
            full,
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            doors: doors.clone(),
        })
    }

    pub(crate) fn oauth(&self) -> Option<&OAuth> {
        self.oauth.as_ref()
    }

    /// Finds out who sends a request to this path.
    ///
    /// # Errors
    /// 401 with one challenge, or 403 when the caller is known and may do nothing here.
    pub(crate) async fn admit(&self, headers: &HeaderMap, path: &str) -> Result<Caller, Refusal> {
        let (mut parts, name, grant) = if self.doors.knows_callers() {
            self.known(headers, path).await?
        } else {
            (Vec::new(), None, self.full.clone())
        };
        let brought = if self.doors.brings_own() { Some(self.brought(headers)?) } else { None };
        parts.extend(brought.iter().map(|(name, value)| format!("{name}:{value}")));
        let id = self.id(&parts);
        Ok(Caller {
            name: name.unwrap_or_else(|| id.chars().take(8).collect()),
            id,
            grant,
            credential: brought
                .map(credential)
                .transpose()
                .map_err(|error| self.stranger(path, error.message()))?,
        })
    }

    /// The parts of an identity, without saying it. Nobody in particular is `local`.
    fn id(&self, parts: &[String]) -> String {
        if parts.is_empty() {
            return "local".to_owned();
        }
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part.as_bytes());
        }
        let tag = context.sign();
        URL_SAFE_NO_PAD.encode(tag.as_ref().get(..18).unwrap_or_default())
    }

    async fn known(
        &self,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<(Vec<String>, Option<String>, Grant), Refusal> {
        let Some(token) = bearer(headers).map_err(|why| self.stranger(path, why))? else {
            return Err(self.challenge(path, None, "a token is needed"));
        };
        // A token of three parts is an issuer's; those of the file have none.
        if let Some(oauth) = self.oauth.as_ref().filter(|_| token.matches('.').count() == 2) {
            let visitor = oauth.verify(token, path).await.map_err(|fault| match fault {
                oauth::Fault::Invalid(why) => self.stranger(path, &why),
                oauth::Fault::Unavailable => Refusal::busy(
                    StatusCode::SERVICE_UNAVAILABLE,
                    5,
                    "the issuer's keys cannot be fetched, so no token can be checked",
                ),
            })?;
            let grant = match &self.roll {
                Some(roll) => roll.subject(&visitor.subject).ok_or_else(|| {
                    Refusal::forbidden(
                        "the token is good, but its subject is not among the callers",
                    )
                })?,
                None => self.full.clone(),
            };
            let grant = oauth.limit(grant, &visitor).ok_or_else(|| self.insufficient(path))?;
            return Ok((vec![visitor.issuer, visitor.subject], None, grant));
        }
        let entry = self.roll.as_ref().and_then(|roll| roll.token(token));
        let entry = entry.ok_or_else(|| self.stranger(path, "the token is not known"))?;
        Ok((vec!["token".to_owned(), entry.digest], Some(entry.name), entry.grant))
    }

    /// What the caller brought to be passed on: the header's name and its whole value.
    fn brought(&self, headers: &HeaderMap) -> Result<(String, String), Refusal> {
        if self.doors.pass_through {
            let value = text(headers, "authorization")?;
            let token = value.as_deref().and_then(|it| after_scheme(it, "sentry-bearer"));
            let token = token.ok_or_else(|| {
                let message = "send your own Sentry token as `Authorization: Sentry-Bearer TOKEN`";
                let challenge = "Sentry-Bearer realm=\"mcp\"";
                Refusal::new(StatusCode::UNAUTHORIZED, message)
                    .header(header::WWW_AUTHENTICATE, challenge)
            })?;
            return Ok(("authorization".to_owned(), format!("Bearer {token}")));
        }
        let mut brought = Vec::new();
        for name in &self.doors.forwarded {
            brought.extend(text(headers, name)?.map(|value| (name.clone(), value)));
        }
        let names = self.doors.forwarded.join("` or `");
        match (brought.pop(), brought.is_empty()) {
            (Some(one), true) => Ok(one),
            (Some(_), false) => Err(Refusal::bad_request(format!("send one of `{names}` alone"))),
            (None, _) => {
                let message =
                    format!("send your own credential for the API in the header `{names}`");
                Err(Refusal::new(StatusCode::UNAUTHORIZED, message)
                    .header(header::WWW_AUTHENTICATE, "Bearer realm=\"mcp\""))
            }
        }
    }

    /// Asks for another credential than the one that was brought for the API, where one is brought.
    pub(crate) fn another(&self) -> Option<&'static str> {
        match (self.doors.pass_through, self.doors.brings_own()) {
            (true, _) => Some("Sentry-Bearer realm=\"mcp\", error=\"invalid_token\""),
            (false, true) => Some("Bearer realm=\"mcp\", error=\"invalid_token\""),
            (false, false) => None,
        }
    }

    /// 401 for a token that is not good.
    fn stranger(&self, path: &str, why: &str) -> Refusal {
        self.challenge(path, Some(why), why)
    }

    fn challenge(&self, path: &str, fault: Option<&str>, message: &str) -> Refusal {
        let mut parameters = Vec::new();
        if let Some(why) = fault {
            parameters.push("error=\"invalid_token\"".to_owned());
            parameters.push(format!("error_description=\"{}\"", quotable(why)));
        }
        let hint = match &self.oauth {
            Some(oauth) => {
                parameters.push(format!("resource_metadata=\"{}\"", oauth.metadata_url(path)));
                parameters.push(format!("scope=\"{}\"", oauth.scopes().join(" ")));
                "get one from the issuer that the metadata names"
            }
            None => {
                parameters.insert(0, "realm=\"mcp\"".to_owned());
                "send a static one, from whoever runs this server, as `Authorization: Bearer TOKEN`"
            }
        };
        Refusal::new(StatusCode::UNAUTHORIZED, format!("{message}: {hint}"))
            .header(header::WWW_AUTHENTICATE, &format!("Bearer {}", parameters.join(", ")))
    }

    /// 403 for a good token that grants nothing here.
    fn insufficient(&self, path: &str) -> Refusal {
        let refusal =
            Refusal::forbidden("the token grants nothing here: ask for one of its scopes");
        let Some(oauth) = &self.oauth else { return refusal };
        let challenge = format!(
            "Bearer error=\"insufficient_scope\", resource_metadata=\"{}\", scope=\"{}\"",
            oauth.metadata_url(path),
            oauth.scopes().join(" ")
        );
        refusal.header(header::WWW_AUTHENTICATE, &challenge)
    }
}

/// The token of `Authorization: Bearer …`, if there is one.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("there are two `Authorization` headers");
    }
    let token = value.to_str().ok().and_then(|it| after_scheme(it, "bearer"));
    token.map(Some).ok_or("`Authorization` holds no bearer token")
}

/// What follows the scheme: one word.
fn after_scheme<'a>(value: &'a str, scheme: &str) -> Option<&'a str> {
    let (found, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    let is_word = !token.is_empty() && !token.contains(char::is_whitespace);
    (found.eq_ignore_ascii_case(scheme) && is_word).then_some(token)
}

/// The inside of a quoted string.
fn quotable(text: &str) -> String {
    text.chars().filter(|it| (' '..='~').contains(it) && !matches!(it, '"' | '\\')).collect()
}

/// The one value of a header, if it is there.
fn text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
            _ => Err(Refusal::bad_request(format!("the header `{name}` cannot be read"))),
        },
        (Some(_), Some(_)) => Err(Refusal::bad_request(format!("the header `{name}` came twice"))),
    }
}

/// A credential that is sent as it came.
fn credential((name, value): (String, String)) -> Result<Credential, ConfigError> {
    let secret = SecretSource::literal(format!("the header {name}"), &value)?;
    let is_bearer = name == "authorization" && after_scheme(&value, "bearer").is_some();
    Ok(match is_bearer {
        true => Credential::Bearer(secret),
        false => Credential::Header { name, secret },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_counts_whatever_its_case_and_a_token_is_one_word() {
        assert_eq!(after_scheme("bearer abc", "bearer"), Some("abc"));
        assert_eq!(after_scheme("BEARER  abc ", "bearer"), Some("abc"));
        for value in ["abc", "Basic abc", "Bearer", "Bearer ", "Bearer a b"] {
            assert_eq!(after_scheme(value, "bearer"), None, "{value}");
        }
    }

    #[test]
    fn a_challenge_cannot_be_broken_out_of() {
        assert_eq!(quotable("a\"b\\c\nd é"), "abcd ");
    }
}
