//! How a token is sent: as it is, in one of the usual places, or traded for access tokens.

use url::Url;

use crate::{
    address,
    cli::CredentialOptions,
    given::{Environment, Given, SetupError},
};

/// How the token is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    Bearer,
    /// Without a user, the token is `USER:PASSWORD`.
    Basic(Option<String>),
    Header(String),
    Query(String),
    /// The token is a client's secret, which access tokens are fetched with.
    OAuth(Grant),
}

/// Where access tokens are fetched, by whom and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub client: String,
    pub token_url: Url,
    /// The option or variable that named the URL, in backticks.
    pub from: String,
    pub scope: Option<String>,
}

impl Scheme {
    /// Reads the scheme and what belongs to it.
    pub fn resolve(options: &CredentialOptions, env: Environment<'_>) -> Result<Self, SetupError> {
        let given = Given::option("auth", options.auth.as_ref(), env)?;
        let token_url = Given::option("token-url", options.token_url.as_ref(), env)?;
        let scope = Given::option("scope", options.scope.as_ref(), env)?;
        let client = given.as_ref().and_then(|it| it.text.strip_prefix("oauth:"));
        if let Some(client) = client.filter(|client| !client.is_empty()) {
            let Some(token_url) = token_url else {
                return Err(SetupError::new(
                    "`--token-url` is not set",
                    "say where the client fetches access tokens; it is never taken from a document",
                ));
            };
            return Ok(Self::OAuth(Grant {
                client: client.to_owned(),
                token_url: address::parse_url(&token_url)?,
                from: token_url.from,
                scope: scope.map(|it| it.text),
            }));
        }
        if let Some(stray) = token_url.or(scope) {
            return Err(SetupError::new(
                format!("{} has no effect without `--auth oauth:CLIENT_ID`", stray.from),
                "name the client, or leave it out",
            ));
        }
        given.as_ref().map_or(Ok(Self::Bearer), Self::parse)
    }

    fn parse(given: &Given) -> Result<Self, SetupError> {
        let hint = "use bearer, basic, basic:USER, header:NAME, query:NAME or oauth:CLIENT_ID";
        match given.text.split_once(':') {
            None if given.text.eq_ignore_ascii_case("bearer") => Ok(Self::Bearer),
            None if given.text.eq_ignore_ascii_case("basic") => Ok(Self::Basic(None)),
            Some(("basic", user)) if !user.is_empty() => Ok(Self::Basic(Some(user.to_owned()))),
            Some(("header", name)) if is_header_name(name) => Ok(Self::Header(name.to_owned())),
            Some(("query", name)) if !name.is_empty() => Ok(Self::Query(name.to_owned())),
            _ => Err(given.is_not("a way to send a token", hint)),
        }
    }
}

/// Tells whether a text can name a header.
pub fn is_header_name(name: &str) -> bool {
    let mark = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !name.is_empty() && name.chars().all(mark)
}
