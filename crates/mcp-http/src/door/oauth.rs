//! A resource server of OAuth 2: tokens of one issuer, for this server, signed with one of its keys.

use std::str::FromStr as _;

use api_client::transport::TlsOptions;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use mcp_core::skill::{Skill, Skills};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::jwks::Keys;
use server_config::given::SetupError;

use crate::{
    grant::Grant,
    serving::{OAuthSettings, Serving},
};

/// How far clocks may differ, in seconds.
const LEEWAY: u64 = 30;
/// A longer token is no token.
const MAX_TOKEN: usize = 16 * 1024;

/// Where a resource's metadata is, before the path of the resource.
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Checks tokens and tells clients where to get them.
pub(crate) struct OAuth {
    issuer: String,
    audience: String,
    algorithms: Vec<Algorithm>,
    /// A scope, and the skills it stands for.
    scopes: Vec<(String, Skills)>,
    keys: Keys,
    /// Without a closing slash.
    public: String,
}

/// Whoever a good token is about.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) issuer: String,
    pub(crate) subject: String,
    scopes: Vec<String>,
}

/// Why a token does not let anybody in.
#[derive(Debug)]
pub(crate) enum Fault {
    Invalid(String),
    /// Nobody can tell.
    Unavailable,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    #[serde(default)]
    scope: Value,
    #[serde(default)]
    scp: Value,
}

impl OAuth {
    pub(crate) fn new(settings: &OAuthSettings, serving: &Serving) -> Result<Self, SetupError> {
        let tls = TlsOptions { extra_ca_pem: serving.extra_ca.clone(), ..TlsOptions::default() };
        let keys = Keys::new(&settings.issuer, settings.jwks.clone(), tls);
        let public = serving.public_url.as_ref().map(Url::as_str).unwrap_or_default();
        Ok(Self {
            issuer: settings.issuer.clone(),
            audience: settings.audience.clone(),
            algorithms: settings.algorithms.iter().map(algorithm).collect::<Result<_, _>>()?,
            scopes: scopes(settings)?,
            keys: keys.map_err(|error| SetupError::new(error.message(), error.hint()))?,
            public: public.trim_end_matches('/').to_owned(),
        })
    }

    /// Checks a token that came with a request to this path.
    ///
    /// A token is for this server as a whole or for the one path it was made for, never for another.
    pub(crate) async fn verify(&self, token: &str, path: &str) -> Result<Visitor, Fault> {
        let invalid = |why: &str| Fault::Invalid(why.to_owned());
        if token.len() > MAX_TOKEN {
            return Err(invalid("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| invalid("the token cannot be read"))?;
        check_header(&header).map_err(invalid)?;
        if !self.algorithms.contains(&header.alg) {
            return Err(invalid("the token is signed with an algorithm that is not accepted"));
        }
        let mut validation = Validation::new(header.alg);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.issuer]);
        let resource = self.resource(path);
        validation.set_audience(&[self.audience.as_str(), resource.as_str()]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let keys = self.keys.candidates(header.kid.as_deref()).await.ok_or(Fault::Unavailable)?;
        let name = format!("{:?}", header.alg);
        let mut fault = "the token is signed with a key the issuer does not have";
        for key in keys.iter().filter(|it| it.algorithm.as_ref().is_none_or(|it| *it == name)) {
            match decode::<Claims>(token, &key.key, &validation) {
                Ok(data) => return Ok(visitor(data.claims)),
                Err(error) => fault = describe(&error),
            }
        }
        Err(invalid(fault))
    }

    /// At most what the scopes of the token stand for; nothing where that is nothing.
    pub(crate) fn limit(&self, mut grant: Grant, visitor: &Visitor) -> Option<Grant> {
        let granted = self.scopes.iter().filter(|(scope, _)| visitor.scopes.contains(scope));
        let skills: Vec<Skills> = granted.map(|(_, skills)| *skills).collect();
        let has = |skill| grant.skills.has(skill) && skills.iter().any(|it| it.has(skill));
        grant.skills = Skill::ALL.iter().copied().filter(|&skill| has(skill)).collect();
        (!grant.skills.is_empty()).then_some(grant)
    }

    pub(crate) fn scopes(&self) -> Vec<&str> {
        self.scopes.iter().map(|(scope, _)| scope.as_str()).collect()
    }

    /// Where clients read how to get a token for this path.
    pub(crate) fn metadata_url(&self, path: &str) -> String {
        format!("{}{METADATA}{path}", self.public)
    }

    /// What clients read there.
    pub(crate) fn metadata(&self, path: &str) -> Value {
        json!({
            "resource": self.resource(path),
            "authorization_servers": [self.issuer],
            "scopes_supported": self.scopes(),
            "bearer_methods_supported": ["header"],
        })
    }

    fn resource(&self, path: &str) -> String {
        format!("{}{path}", self.public)
    }
}

/// A token names no key of its own and asks for nothing we do not know.
fn check_header(header: &Header) -> Result<(), &'static str> {
    let brings_key = header.jku.is_some()
        || header.jwk.is_some()
        || header.x5u.is_some()
        || header.x5c.is_some();
    let kind = header.typ.as_deref().map(|it| it.trim_start_matches("application/"));
    if brings_key {
        return Err("the token names a key of its own");
    }
    if header.crit.is_some() || header.enc.is_some() || header.zip.is_some() {
        return Err("the token asks for something this server does not know");
    }
    if kind.is_some_and(|it| !it.eq_ignore_ascii_case("jwt") && !it.eq_ignore_ascii_case("at+jwt"))
    {
        return Err("the token is no access token");
    }
    Ok(())
}

fn visitor(claims: Claims) -> Visitor {
    let mut scopes = Vec::new();
    for value in [claims.scope, claims.scp] {
        match value {
            Value::String(text) => scopes.extend(text.split_whitespace().map(str::to_owned)),
            Value::Array(items) => {
                scopes.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }
    Visitor { issuer: claims.iss, subject: claims.sub, scopes }
}

fn describe(error: &jsonwebtoken::errors::Error) -> &'static str {
    use jsonwebtoken::errors::ErrorKind;

    match error.kind() {
        ErrorKind::ExpiredSignature => "the token has expired",
        ErrorKind::ImmatureSignature => "the token is not valid yet",
        ErrorKind::InvalidIssuer => "the token is another issuer's",
        ErrorKind::InvalidAudience => "the token is for another server",
        ErrorKind::MissingRequiredClaim(_) => "the token lacks exp, iss, aud or sub",
        ErrorKind::InvalidSignature => "the signature is not good",
        _ => "the token cannot be used",
    }
}

fn algorithm(name: &String) -> Result<Algorithm, SetupError> {
    let known = Algorithm::from_str(name).ok();
    // With the shared secrets of HS256 whoever can check a token can make one.
    known.filter(|_| !name.starts_with("HS")).ok_or_else(|| {
        SetupError::new(
            format!("`--oauth-algorithm` is `{name}`, which is not accepted"),
            "use RS256, PS256, ES256 or their longer forms, or EdDSA",
        )
    })
}

fn scopes(settings: &OAuthSettings) -> Result<Vec<(String, Skills)>, SetupError> {
    if settings.scopes.is_empty() {
        let own = |skill: &Skill| (skill.id().to_owned(), [*skill].into_iter().collect());
        return Ok(Skill::ALL.iter().filter(|it| !it.is_deprecated()).map(own).collect());
    }
    let parse = |given: &server_config::given::Given| {
        let hint = "write it as `mcp:read=inspect,api-read`";
        let (scope, list) =
            given.text.split_once('=').ok_or_else(|| given.is_not("SCOPE=SKILL", hint))?;
        let is_scope = !scope.is_empty()
            && scope.bytes().all(|it| matches!(it, b'!' | b'#'..=b'[' | b']'..=b'~'));
        match Skills::parse(list) {
            Ok(skills) if is_scope && !skills.is_empty() => Ok((scope.to_owned(), skills)),
            _ => Err(given.is_not("a scope with skills", hint)),
        }
    };
    settings.scopes.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_come_in_one_text_or_a_list() {
        let claims = |scope: Value, scp: Value| {
            visitor(Claims { iss: "i".to_owned(), sub: "s".to_owned(), scope, scp }).scopes
        };
        assert_eq!(claims(json!("a b"), Value::Null), ["a", "b"]);
        assert_eq!(claims(Value::Null, json!(["c", 1])), ["c"]);
    }

    #[test]
    fn a_token_that_brings_a_key_or_is_something_else_is_none() {
        let header = || Header::new(Algorithm::RS256);
        assert!(check_header(&header()).is_ok());
        let of = |typ: &str| Header { typ: Some(typ.to_owned()), ..header() };
        assert!(
            check_header(&of("at+jwt")).is_ok() && check_header(&of("application/at+JWT")).is_ok()
        );
        assert!(check_header(&of("dpop+jwt")).is_err());
        let own = Header { jku: Some("https://evil.test".to_owned()), ..header() };
        assert!(check_header(&own).is_err());
        let critical = Header { crit: Some(vec!["x".to_owned()]), ..header() };
        assert!(check_header(&critical).is_err());
    }

    #[test]
    fn shared_secrets_are_no_way_to_sign() {
        assert!(algorithm(&"ES256".to_owned()).is_ok());
        for name in ["HS256", "none", "NONE", ""] {
            assert!(algorithm(&name.to_owned()).is_err(), "{name}");
        }
    }
}
