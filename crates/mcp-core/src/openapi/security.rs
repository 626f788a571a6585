//! How an API wants its callers to prove who they are.

use api_client::request::Location;

use super::document::{ComponentKind, Document};
use super::text::Json;

/// A security scheme of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityScheme {
    /// The name operations ask for it by.
    pub name: String,
    /// What it is.
    pub kind: SecurityKind,
    /// Where an API key goes; `Header` for `http` schemes.
    pub location: Option<Location>,
    /// The header, query parameter or cookie it goes into.
    pub parameter_name: Option<String>,
    /// The scheme of `http`: `bearer`, `basic`, in small letters.
    pub scheme: Option<String>,
    /// Where OAuth tokens come from, one for each flow that has one, without repetitions.
    pub token_urls: Vec<String>,
    /// The scopes OAuth flows offer, without repetitions.
    pub scopes: Vec<String>,
}

/// The kinds of security schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityKind {
    /// A key in a header, the query or a cookie.
    ApiKey,
    /// The `Authorization` header: basic, bearer and others.
    Http,
    /// OAuth 2.
    OAuth2,
    /// OpenID Connect discovery.
    OpenIdConnect,
    /// A client certificate.
    MutualTls,
    /// A type the specification does not know.
    Unknown,
}

impl Document {
    /// The document's security schemes by name.
    #[must_use]
    pub fn security_schemes(&self) -> Vec<SecurityScheme> {
        self.components_of(ComponentKind::SecurityScheme)
            .filter_map(|component| {
                let scheme = self.follow(self.stored(component.span)).found()?;
                Some(read(&component.name, scheme))
            })
            .collect()
    }
}

fn read(name: &str, scheme: Json<'_>) -> SecurityScheme {
    let text = |name| scheme.get_str(name).map(Into::into);
    let kind = match scheme.get_str("type").unwrap_or_default().as_ref() {
        "apiKey" => SecurityKind::ApiKey,
        "http" | "basic" => SecurityKind::Http,
        "oauth2" => SecurityKind::OAuth2,
        "openIdConnect" => SecurityKind::OpenIdConnect,
        "mutualTLS" => SecurityKind::MutualTls,
        _ => SecurityKind::Unknown,
    };
    let (location, parameter_name) = match kind {
        SecurityKind::ApiKey => (scheme.get_str("in").and_then(|it| location(&it)), text("name")),
        SecurityKind::Http | SecurityKind::OAuth2 | SecurityKind::OpenIdConnect => {
            (Some(Location::Header), Some("Authorization".to_owned()))
        }
        SecurityKind::MutualTls | SecurityKind::Unknown => (None, None),
    };
    let mut token_urls = Vec::new();
    let mut scopes = Vec::new();
    for (_, flow) in scheme.get("flows").into_iter().flat_map(Json::members) {
        token_urls.extend(flow.get_str("tokenUrl").map(String::from));
        scopes.extend(
            flow.get("scopes")
                .into_iter()
                .flat_map(Json::members)
                .map(|(scope, _)| scope.name().into_owned()),
        );
    }
    for list in [&mut token_urls, &mut scopes] {
        list.sort();
        list.dedup();
    }
    SecurityScheme {
        name: name.to_owned(),
        kind,
        location,
        parameter_name,
        scheme: scheme.get_str("scheme").map(|it| it.to_ascii_lowercase()),
        token_urls,
        scopes,
    }
}

/// The place a parameter goes, by the word of the specification.
pub(super) fn location(word: &str) -> Option<Location> {
    match word {
        "path" => Some(Location::Path),
        "query" => Some(Location::Query),
        "header" => Some(Location::Header),
        "cookie" => Some(Location::Cookie),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LoadOptions, load};
    use super::*;

    #[test]
    fn schemes_say_where_the_credential_goes() {
        let text = r##"{"openapi": "3.0.0", "paths": {}, "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "token"},
            "token": {"type": "http", "scheme": "Bearer"},
            "alias": {"$ref": "#/components/securitySchemes/token"},
            "sign-in": {"type": "oauth2", "flows": {
                "implicit": {"authorizationUrl": "https://a.example/auth", "scopes": {"read": "", "write": ""}},
                "authorizationCode": {"tokenUrl": "https://a.example/token", "scopes": {"read": ""}}}},
            "odd": {"type": "magic"}
        }}}"##;
        let schemes = load(text.as_bytes(), &LoadOptions::default()).unwrap().security_schemes();
        let names: Vec<_> = schemes.iter().map(|it| (it.name.as_str(), it.kind)).collect();
        assert_eq!(
            names,
            [
                ("alias", SecurityKind::Http),
                ("key", SecurityKind::ApiKey),
                ("odd", SecurityKind::Unknown),
                ("sign-in", SecurityKind::OAuth2),
                ("token", SecurityKind::Http),
            ]
        );
        assert_eq!(schemes[0].scheme.as_deref(), Some("bearer"));
        assert_eq!(
            (schemes[1].location, schemes[1].parameter_name.as_deref()),
            (Some(Location::Query), Some("token"))
        );
        assert_eq!(schemes[3].token_urls, ["https://a.example/token"]);
        assert_eq!(schemes[3].scopes, ["read", "write"]);
    }
}
