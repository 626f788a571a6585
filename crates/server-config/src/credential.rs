//! Which credential is sent, and how: from options and variables to one token, scheme and headers.

use std::path::PathBuf;

use mcp_core::{openapi::source::file_path, profile::Kind};

use crate::{
    cli::CredentialOptions,
    given::{Environment, Given, SetupError},
    scheme::{Scheme, is_header_name},
    token_command::TokenCommand,
    token_keyring::TokenKeyring,
};

/// The credential as the operator set it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialSettings {
    pub token: Option<Token>,
    pub scheme: Scheme,
    /// Further headers of every request; their values may be secret too.
    pub headers: Vec<(String, Given)>,
}

/// Where the token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Text(Given),
    File { path: PathBuf, from: String },
    Command(TokenCommand),
    Keyring(TokenKeyring),
}

impl CredentialSettings {
    /// Finds token, scheme and headers; a known API without any credential is an error.
    pub fn resolve(
        kind: Kind,
        options: &CredentialOptions,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let scheme = Scheme::resolve(options, env)?;
        let headers = Given::options("header", &options.header, env)?;
        let headers = headers.into_iter().map(header).collect::<Result<Vec<_>, _>>()?;
        let token = match Token::from_options(options, env)? {
            Some(token) => Some(token),
            None => Token::from_variables(kind, env)?,
        };
        let settings = Self { token, scheme, headers };
        settings.check(kind, options.is_optional)?;
        Ok(settings)
    }

    /// The setting that messages about a refused credential name.
    pub fn setting(&self) -> Option<String> {
        match &self.token {
            Some(Token::Text(given)) => Some(given.from.clone()),
            Some(Token::File { from, .. }) => Some(from.clone()),
            Some(Token::Command(command)) => Some(command.from.clone()),
            Some(Token::Keyring(entry)) => Some(entry.from.clone()),
            None => self.headers.first().map(|(_, given)| given.from.clone()),
        }
    }

    fn check(&self, kind: Kind, is_optional: bool) -> Result<(), SetupError> {
        let own = match (&self.scheme, &self.token) {
            (_, None) | (Scheme::Query(_), _) => None,
            (Scheme::Bearer | Scheme::Basic(_) | Scheme::OAuth(_), Some(_)) => {
                Some("authorization")
            }
            (Scheme::Header(name), Some(_)) => Some(name.as_str()),
        };
        if let Some(own) = own
            && self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(own))
        {
            return Err(SetupError::new(
                format!("the header `{own}` is set twice, by the token and by `--header`"),
                "keep one of the two",
            ));
        }
        if let (Scheme::OAuth(grant), None) = (&self.scheme, &self.token) {
            return Err(SetupError::new(
                format!("the secret of the client `{}` is missing", grant.client),
                "give it as the token, for example with `--token-env` or `--token-file`",
            ));
        }
        if is_optional || self.token.is_some() || !self.headers.is_empty() {
            return Ok(());
        }
        match kind {
            Kind::Custom => Ok(()),
            Kind::Authentik => Err(SetupError::new(
                "`AUTHENTIK_TOKEN` is not set",
                "create an API token in authentik under Directory > Tokens and App passwords",
            )),
            Kind::Sentry => Err(SetupError::new(
                "`SENTRY_ACCESS_TOKEN` is not set",
                "create a token in Sentry under Settings > Auth Tokens",
            )),
        }
    }
}

impl Token {
    fn from_options(
        options: &CredentialOptions,
        env: Environment<'_>,
    ) -> Result<Option<Self>, SetupError> {
        let nothing: Environment<'_> = &|_| None;
        let text = Given::option("access-token", options.access_token.as_ref(), nothing)?;
        let name = Given::option("token-env", options.token_env.as_ref(), nothing)?;
        let file = Given::option("token-file", options.token_file.as_ref(), nothing)?;
        let command = Given::option("token-command", options.token_command.as_ref(), nothing)?;
        let keyring = Given::option("token-keyring", options.token_keyring.as_ref(), nothing)?;
        Self::only([
            text.map(Self::Text),
            Self::named(name, env)?,
            file.map(Self::file),
            command.as_ref().map(Self::command).transpose()?,
            keyring.as_ref().map(Self::keyring).transpose()?,
        ])
    }

    fn from_variables(kind: Kind, env: Environment<'_>) -> Result<Option<Self>, SetupError> {
        let mut tokens = vec![
            Given::option("access-token", None, env)?.map(Self::Text),
            Self::named(Given::option("token-env", None, env)?, env)?,
            Given::option("token-file", None, env)?.map(Self::file),
            Given::option("token-command", None, env)?.as_ref().map(Self::command).transpose()?,
            Given::option("token-keyring", None, env)?.as_ref().map(Self::keyring).transpose()?,
        ];
        for name in variables_of(kind) {
            tokens.push(Given::variable(name, env)?.map(Self::Text));
        }
        Self::only(tokens)
    }

    /// Takes the value of the variable that an option names.
    fn named(name: Option<Given>, env: Environment<'_>) -> Result<Option<Self>, SetupError> {
        let Some(name) = name else {
            return Ok(None);
        };
        match Given::variable(&name.text, env)? {
            Some(given) => Ok(Some(Self::Text(given))),
            None => Err(SetupError::new(
                match is_shouted(&name.text) {
                    true => format!("{} names `{}`, which is not set", name.from, name.text),
                    false => format!("{} names a variable that is not set", name.from),
                },
                "set that variable to the token; the option takes a name, not the token itself",
            )),
        }
    }

    fn file(given: Given) -> Self {
        Self::File { path: file_path(&given.text), from: given.from }
    }

    fn command(given: &Given) -> Result<Self, SetupError> {
        TokenCommand::parse(given).map(Self::Command)
    }

    fn keyring(given: &Given) -> Result<Self, SetupError> {
        TokenKeyring::parse(given).map(Self::Keyring)
    }

    /// Takes the one token that was given; the same text twice is one.
    fn only(tokens: impl IntoIterator<Item = Option<Self>>) -> Result<Option<Self>, SetupError> {
        let mut found: Option<Self> = None;
        for token in tokens.into_iter().flatten() {
            match &found {
                None => found = Some(token),
                Some(first) if first.is_same(&token) => {}
                Some(first) => {
                    return Err(SetupError::new(
                        format!("{} and {} give different tokens", first.from(), token.from()),
                        "keep one of the two",
                    ));
                }
            }
        }
        Ok(found)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => one.text == two.text,
            (Self::File { path: one, .. }, Self::File { path: two, .. }) => one == two,
            _ => false,
        }
    }

    fn from(&self) -> &str {
        match self {
            Self::Text(given) => &given.from,
            Self::File { from, .. } => from,
            Self::Command(command) => &command.from,
            Self::Keyring(entry) => &entry.from,
        }
    }
}

/// Variables that hold the token of a known API.
pub fn variables_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Authentik => &["AUTHENTIK_TOKEN"],
        Kind::Sentry => &["SENTRY_ACCESS_TOKEN", "SENTRY_AUTH_TOKEN"],
        Kind::Custom => &[],
    }
}

/// Splits `NAME: VALUE`; the value may be secret and is not repeated in errors.
fn header(given: Given) -> Result<(String, Given), SetupError> {
    let split = given.text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match split {
        Some((name, value))
            if is_header_name(name)
                && !value.is_empty()
                && !value.contains(|letter: char| letter.is_control()) =>
        {
            let value = Given { text: value.to_owned(), from: format!("{} `{name}`", given.from) };
            Ok((name.to_owned(), value))
        }
        _ => Err(SetupError::new(
            format!("{} is not a header", given.from),
            "write it as 'NAME: VALUE', for example --header 'X-Tenant: acme'",
        )),
    }
}

/// Tells whether a text is surely the name of a variable, and not a token in its place.
fn is_shouted(text: &str) -> bool {
    text.len() <= 40
        && text.contains('_')
        && text.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Case<'a> {
        token_env: &'a str,
        token_file: &'a str,
        token_command: &'a str,
        token_keyring: &'a str,
        access_token: &'a str,
        auth: &'a str,
        token_url: &'a str,
        scope: &'a str,
        header: &'a [&'a str],
        env: &'a [(&'a str, &'a str)],
    }

    fn resolve(kind: Kind, case: &Case<'_>) -> Result<CredentialSettings, String> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let options = CredentialOptions {
            token_env: given(case.token_env),
            token_file: given(case.token_file),
            token_command: given(case.token_command),
            token_keyring: given(case.token_keyring),
            access_token: given(case.access_token),
            auth: given(case.auth),
            token_url: given(case.token_url),
            scope: given(case.scope),
            header: case.header.iter().map(|&it| it.to_owned()).collect(),
            is_optional: false,
        };
        let env = |name: &str| {
            case.env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        CredentialSettings::resolve(kind, &options, &env).map_err(|error| error.to_string())
    }

    fn token(kind: Kind, case: &Case<'_>) -> (String, String) {
        match resolve(kind, case).unwrap().token {
            Some(Token::Text(given)) => (given.text, given.from),
            Some(Token::File { path, from }) => (path.display().to_string(), from),
            Some(Token::Command(command)) => (String::new(), command.from),
            Some(Token::Keyring(entry)) => (String::new(), entry.from),
            None => (String::new(), String::new()),
        }
    }

    #[test]
    fn the_token_comes_from_the_first_source_that_has_one() {
        let sentry = [("SENTRY_AUTH_TOKEN", "s1"), ("OTHER", "o1")];
        let cases: &[(Kind, Case<'_>, &str, &str)] = &[
            (Kind::Sentry, Case { env: &sentry, ..Case::default() }, "s1", "`SENTRY_AUTH_TOKEN`"),
            (
                Kind::Sentry,
                Case { access_token: "flag", env: &sentry, ..Case::default() },
                "flag",
                "`--access-token`",
            ),
            (
                Kind::Sentry,
                Case { token_env: "OTHER", env: &sentry, ..Case::default() },
                "o1",
                "`OTHER`",
            ),
            (
                Kind::Sentry,
                Case { token_file: "/run/a b/token", env: &sentry, ..Case::default() },
                "/run/a b/token",
                "`--token-file`",
            ),
            (
                Kind::Sentry,
                Case { token_command: "pass show 'a b'", env: &sentry, ..Case::default() },
                "",
                "`--token-command`",
            ),
            (
                Kind::Custom,
                Case { env: &[("MCP_TOKEN_ENV", "T"), ("T", "t1")], ..Case::default() },
                "t1",
                "`T`",
            ),
            (
                Kind::Authentik,
                Case { env: &[("AUTHENTIK_TOKEN", " a1 \n")], ..Case::default() },
                "a1",
                "`AUTHENTIK_TOKEN`",
            ),
            (Kind::Custom, Case { env: &sentry, ..Case::default() }, "", ""),
        ];
        for (kind, case, text, from) in cases {
            assert_eq!(token(*kind, case), ((*text).to_owned(), (*from).to_owned()));
        }
    }

    #[test]
    fn the_same_token_twice_is_one_and_different_ones_are_an_error() {
        let same = [("SENTRY_AUTH_TOKEN", "x"), ("SENTRY_ACCESS_TOKEN", "x")];
        assert_eq!(token(Kind::Sentry, &Case { env: &same, ..Case::default() }).0, "x");
        let cases = [
            (
                Case {
                    env: &[("SENTRY_AUTH_TOKEN", "SECRET1"), ("SENTRY_ACCESS_TOKEN", "SECRET2")],
                    ..Case::default()
                },
                "`SENTRY_ACCESS_TOKEN` and `SENTRY_AUTH_TOKEN` give different tokens",
            ),
            (
                Case { access_token: "SECRET1", token_file: "SECRET2", ..Case::default() },
                "`--access-token` and `--token-file` give different tokens",
            ),
            (
                Case { access_token: "SECRET1", header: &["authorization: x"], ..Case::default() },
                "the header `authorization` is set twice",
            ),
        ];
        for (case, expected) in cases {
            let error = resolve(Kind::Sentry, &case).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn a_known_api_wants_a_credential_and_a_header_will_do() {
        for (kind, name) in
            [(Kind::Authentik, "AUTHENTIK_TOKEN"), (Kind::Sentry, "SENTRY_ACCESS_TOKEN")]
        {
            let error = resolve(kind, &Case::default()).unwrap_err();
            assert!(error.starts_with(&format!("`{name}` is not set\n  hint: ")), "{error}");
            let case = Case { header: &["Authorization: Bearer x"], ..Case::default() };
            assert_eq!(resolve(kind, &case).unwrap().headers.len(), 1);
        }
        assert!(resolve(Kind::Custom, &Case::default()).is_ok());
    }

    #[test]
    fn a_client_of_oauth_has_an_endpoint_and_perhaps_a_scope() {
        let case = Case {
            auth: "oauth:agent:7",
            access_token: "client-secret",
            token_url: "id.test/token?tenant=1",
            scope: "read write",
            ..Case::default()
        };
        let Scheme::OAuth(grant) = resolve(Kind::Custom, &case).unwrap().scheme else { panic!() };
        assert_eq!(grant.token_url.as_str(), "https://id.test/token?tenant=1");
        assert_eq!(
            (grant.client.as_str(), grant.scope.as_deref()),
            ("agent:7", Some("read write"))
        );
        let stray = Case { access_token: "t", scope: "read", ..Case::default() };
        let error = resolve(Kind::Custom, &stray).unwrap_err();
        assert!(error.starts_with("`--scope` has no effect without"), "{error}");
    }

    #[test]
    fn schemes_are_read_and_unknown_ones_are_named() {
        for (text, scheme) in [
            ("Bearer", Scheme::Bearer),
            ("basic", Scheme::Basic(None)),
            ("basic:ann", Scheme::Basic(Some("ann".to_owned()))),
            ("header:X-Api-Key", Scheme::Header("X-Api-Key".to_owned())),
            ("query:key", Scheme::Query("key".to_owned())),
        ] {
            let case = Case { auth: text, access_token: "t", ..Case::default() };
            assert_eq!(resolve(Kind::Custom, &case).unwrap().scheme, scheme);
        }
        for text in ["digest", "header:", "header:a b", "query:"] {
            let error = resolve(Kind::Custom, &Case { auth: text, ..Case::default() }).unwrap_err();
            assert!(error.starts_with(&format!("`--auth` is `{text}`")), "{error}");
        }
    }

    /// P57.
    #[test]
    fn a_bad_header_or_token_is_named_without_its_text() {
        let cases = [
            (Case { header: &["SECRET"], ..Case::default() }, "`--header` is not a header"),
            (Case { header: &["X: SECRET\u{7}"], ..Case::default() }, "`--header` is not a header"),
            (
                Case { access_token: "${SECRET}", ..Case::default() },
                "`--access-token` holds a placeholder",
            ),
            (Case { token_env: "NO_SUCH", ..Case::default() }, "`--token-env` names `NO_SUCH`"),
            (Case { token_env: "sk-SECRET", ..Case::default() }, "`--token-env` names a variable"),
        ];
        for (case, expected) in cases {
            let error = resolve(Kind::Custom, &case).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
        let case = Case { header: &["X-Key: SECRET"], access_token: "SECRET", ..Case::default() };
        let settings = resolve(Kind::Custom, &case).unwrap();
        assert!(!format!("{settings:?}").contains("SECRET"));
    }
}
