//! A token in the keyring of the system: Secret Service, Keychain, Credential Manager.

use api_client::{
    auth::{Supplier, Supply},
    error::ConfigError,
};
use futures::{FutureExt as _, future::BoxFuture};

use crate::given::{Given, SetupError};

/// An entry of the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenKeyring {
    service: String,
    account: String,
    /// The option or variable, in backticks.
    pub from: String,
}

impl TokenKeyring {
    /// Splits `SERVICE/ACCOUNT` at its last slash.
    pub fn parse(given: &Given) -> Result<Self, SetupError> {
        let parts = given.text.rsplit_once('/').map(|(one, two)| (one.trim(), two.trim()));
        let Some((service, account)) =
            parts.filter(|(one, two)| !one.is_empty() && !two.is_empty())
        else {
            return Err(SetupError::new(
                format!("{} is `{}`, which names no entry", given.from, given.text),
                "write it as SERVICE/ACCOUNT, for example gitea/me",
            ));
        };
        if cfg!(not(feature = "keyring")) {
            return Err(SetupError::new(
                format!("{} is set, and this build has no keyring", given.from),
                "install it with `--features keyring`, or take the token from `--token-command`",
            ));
        }
        let (service, account) = (service.to_owned(), account.to_owned());
        Ok(Self { service, account, from: given.from.clone() })
    }

    /// Reads the entry; the keyring may ask the person first.
    #[cfg(feature = "keyring")]
    fn read(&self) -> Result<Supply, ConfigError> {
        let Self { service, account, from } = self;
        let entry = keyring::Entry::new(service, account).and_then(|it| it.get_password());
        match entry {
            Ok(token) => Ok(Supply { secret: api_client::secret::Secret::new(token), lives: None }),
            Err(keyring::Error::NoEntry) => Err(ConfigError::new(
                format!("{from}: the keyring has no `{account}` of the service `{service}`"),
                "store the token there first, or name the right entry",
            )),
            Err(error) => Err(ConfigError::new(
                format!("{from}: the keyring cannot be read: {error}"),
                "unlock it, or take the token from `--token-file`",
            )),
        }
    }
}

impl Supplier for TokenKeyring {
    #[cfg(feature = "keyring")]
    fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>> {
        let entry = self.clone();
        let lost = |_| ConfigError::new("the keyring did not answer", "try again");
        async move { tokio::task::spawn_blocking(move || entry.read()).await.map_err(lost)? }
            .boxed()
    }

    #[cfg(not(feature = "keyring"))]
    fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>> {
        let fault = format!("{}: this build has no keyring", self.from);
        let (service, account) = (&self.service, &self.account);
        let remedy = format!("`{account}` of `{service}` needs the feature `keyring`");
        async move { Err(ConfigError::new(fault, remedy)) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Result<TokenKeyring, String> {
        let given = Given { text: text.to_owned(), from: "`--token-keyring`".to_owned() };
        TokenKeyring::parse(&given).map_err(|error| error.to_string())
    }

    #[test]
    fn an_entry_has_a_service_and_an_account() {
        for text in ["gitea", "/me", "gitea/", " / "] {
            let error = entry(text).unwrap_err();
            assert!(
                error.starts_with("`--token-keyring` is `") && error.contains("SERVICE/ACCOUNT")
            );
        }
    }

    #[cfg(not(feature = "keyring"))]
    #[test]
    fn a_build_without_a_keyring_says_how_to_get_one() {
        let error = entry("gitea/me").unwrap_err();
        assert!(
            error.contains("has no keyring") && error.contains("--features keyring"),
            "{error}"
        );
    }

    #[cfg(feature = "keyring")]
    #[tokio::test]
    async fn the_token_is_what_the_keyring_holds_and_what_is_missing_is_named() {
        keyring::set_default_credential_builder(keyring::mock::default_credential_builder());
        let parsed = entry("https://git.example.com/me").unwrap();
        assert_eq!(parsed.service, "https://git.example.com");
        let error = parsed.supply().await.unwrap_err().to_string();
        let expected = "`--token-keyring`: the keyring has no `me` of the service `https://git";
        assert!(error.starts_with(expected), "{error}");
    }
}
