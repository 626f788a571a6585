//! Which provider the operator chose: pure, so that each binary reads its own flags and environment.

use api_client::error::ConfigError;
use url::Url;

use crate::settings::{Provider, Settings, is_azure};

/// What one provider was given.
#[derive(Clone, Default)]
pub struct Account {
    /// The key, from the environment alone.
    pub key: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The address, from flags alone: an environment must not be able to send keys elsewhere.
    pub base_url: Option<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account")
            .field("has_key", &self.key.is_some())
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// What was given about models, wherever it came from.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The provider that was named.
    pub provider: Option<Provider>,
    /// OpenAI, and Azure OpenAI too.
    pub openai: Account,
    /// Anthropic.
    pub anthropic: Account,
    /// OpenRouter, whose address is fixed.
    pub openrouter: Account,
    /// `OPENROUTER_REASONING_EFFORT`.
    pub openrouter_effort: Option<String>,
    /// `OPENAI_API_VERSION`, for Azure's deployments.
    pub api_version: Option<String>,
}

/// What comes of it.
#[derive(Debug, Clone)]
pub enum Choice {
    /// This model.
    Model(Box<Settings>),
    /// None, and these words say why.
    Without(String),
}

impl Given {
    /// Reads keys, models and the like by the names of their variables. Empty values count as absent.
    #[must_use]
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        // Here an empty value says something: that no effort is named.
        let openrouter_effort = variable("OPENROUTER_REASONING_EFFORT");
        let variable = |name: &str| variable(name).filter(|it| !it.trim().is_empty());
        let account = |provider: Provider| Account {
            key: variable(provider.key_variable()),
            model: variable(provider.model_variable()),
            base_url: None,
        };
        Self {
            provider: None,
            openai: account(Provider::OpenAi),
            anthropic: account(Provider::Anthropic),
            openrouter: account(Provider::OpenRouter),
            openrouter_effort,
            api_version: variable("OPENAI_API_VERSION"),
        }
    }

    /// The provider that was named, or the only one with a key.
    ///
    /// # Errors
    /// A value that cannot work, with its name.
    pub fn choose(&self) -> Result<Choice, ConfigError> {
        let provider = match self.provider {
            Some(provider) => provider,
            None => match *self.with_key() {
                [provider] => provider,
                [] => {
                    let names = [Provider::Anthropic, Provider::OpenAi, Provider::OpenRouter];
                    let names = names.map(|it| format!("`{}`", it.key_variable())).join(", ");
                    return Ok(Choice::Without(format!("no key: set one of {names}")));
                }
                _ => {
                    let text = "there are keys of several providers: name one of them";
                    return Ok(Choice::Without(text.to_owned()));
                }
            },
        };
        self.settings(self.in_azure(provider))
    }

    fn with_key(&self) -> Vec<Provider> {
        [
            (Provider::Anthropic, &self.anthropic),
            (Provider::OpenAi, &self.openai),
            (Provider::OpenRouter, &self.openrouter),
        ]
        .into_iter()
        .filter(|(_, account)| account.key.is_some())
        .map(|(provider, _)| provider)
        .collect()
    }

    /// OpenAI at an address of Azure's is Azure OpenAI.
    fn in_azure(&self, provider: Provider) -> Provider {
        let base = self.openai.base_url.as_deref().and_then(|it| Url::parse(it.trim()).ok());
        match provider {
            Provider::OpenAi if base.as_ref().is_some_and(is_azure) => Provider::AzureOpenAi,
            _ => provider,
        }
    }

    fn settings(&self, provider: Provider) -> Result<Choice, ConfigError> {
        let account = match provider {
            Provider::OpenAi | Provider::AzureOpenAi => &self.openai,
            Provider::Anthropic => &self.anthropic,
            Provider::OpenRouter => &self.openrouter,
        };
        let Some(key) = &account.key else {
            let text = format!("`{provider}` has no key: set `{}`", provider.key_variable());
            return Ok(Choice::Without(text));
        };
        let mut settings = Settings::new(provider).key(provider.key_variable(), key)?;
        if let Some(model) = &account.model {
            settings = settings.model(model);
        }
        if let Some(base) = account.base_url.as_ref().filter(|_| provider != Provider::OpenRouter) {
            settings = settings.base_url(base)?;
        }
        if let Some(version) =
            self.api_version.as_ref().filter(|_| provider == Provider::AzureOpenAi)
        {
            settings = settings.api_version(version);
        }
        if provider == Provider::OpenRouter {
            settings.effort = openrouter_effort(self.openrouter_effort.as_deref())?;
        }
        settings.base()?;
        Ok(Choice::Model(Box::new(settings)))
    }
}

fn openrouter_effort(given: Option<&str>) -> Result<Option<String>, ConfigError> {
    let effort = given.unwrap_or("high").trim().to_ascii_lowercase();
    match effort.as_str() {
        "" => Ok(None),
        "none" | "minimal" | "low" | "medium" | "high" | "xhigh" => Ok(Some(effort)),
        "max" => Ok(Some("xhigh".to_owned())),
        _ => Err(ConfigError::new(
            format!("`{effort}` of `OPENROUTER_REASONING_EFFORT` is no effort"),
            "take `none`, `minimal`, `low`, `medium`, `high` or `xhigh`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Protocol;

    fn given(variables: &[(&str, &str)]) -> Given {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Given::from_variables(find)
    }

    fn model(given: &Given) -> Settings {
        match given.choose().unwrap() {
            Choice::Model(settings) => *settings,
            Choice::Without(why) => panic!("{why}"),
        }
    }

    fn without(given: &Given) -> String {
        match given.choose().unwrap() {
            Choice::Model(settings) => panic!("{settings:?}"),
            Choice::Without(why) => why,
        }
    }

    #[test]
    fn one_key_chooses_its_provider_and_several_choose_none() {
        let one = given(&[("ANTHROPIC_API_KEY", "k1"), ("OPENAI_API_KEY", " ")]);
        assert_eq!(model(&one).provider, Provider::Anthropic);
        assert_eq!(model(&one).model, "claude-sonnet-4-5");
        let mut two = given(&[("ANTHROPIC_API_KEY", "k1"), ("OPENAI_API_KEY", "k2")]);
        assert_eq!(without(&two), "there are keys of several providers: name one of them");
        two.provider = Some(Provider::OpenAi);
        assert_eq!(model(&two).protocol, Protocol::Responses);
        two.provider = Some(Provider::OpenRouter);
        assert_eq!(without(&two), "`openrouter` has no key: set `OPENROUTER_API_KEY`");
        assert!(without(&given(&[])).starts_with("no key: set one of `ANTHROPIC_API_KEY`"));
    }

    #[test]
    fn azure_is_known_by_its_address_and_needs_one() {
        let mut azure = given(&[("OPENAI_API_KEY", "k"), ("OPENAI_API_VERSION", "2026-01-01")]);
        for (base, protocol) in [
            ("https://r.openai.azure.com/openai/v1", Protocol::Responses),
            ("https://gw.test/openai/deployments/d", Protocol::Chat),
        ] {
            azure.openai.base_url = Some(base.to_owned());
            let settings = model(&azure);
            assert_eq!((settings.provider, settings.protocol), (Provider::AzureOpenAi, protocol));
            assert_eq!(settings.api_version.as_deref(), Some("2026-01-01"));
        }
        azure.openai.base_url = Some("https://api.groq.com/openai/v1".to_owned());
        assert_eq!(model(&azure).provider, Provider::OpenAi);
        azure.openai.base_url = None;
        azure.provider = Some(Provider::AzureOpenAi);
        let error = azure.choose().unwrap_err().to_string();
        assert!(error.starts_with("the provider `azure-openai` has no address"), "{error}");
    }

    #[test]
    fn openrouter_thinks_hard_unless_told_otherwise() {
        let effort = |value: Option<&str>| openrouter_effort(value).ok().flatten();
        assert_eq!(effort(None).as_deref(), Some("high"));
        assert_eq!(effort(Some("MAX")).as_deref(), Some("xhigh"));
        assert_eq!(effort(Some("")), None);
        assert_eq!(effort(Some("none")).as_deref(), Some("none"));
        assert!(openrouter_effort(Some("lots")).is_err());
    }

    #[test]
    fn an_address_may_name_more_than_the_base() {
        let base = |provider, text| {
            let settings = Settings::new(provider).base_url(text).unwrap();
            (settings.base().unwrap().to_string(), settings.protocol)
        };
        let chat = ("http://127.0.0.1:1/v1".to_owned(), Protocol::Chat);
        assert_eq!(base(Provider::OpenAi, "http://127.0.0.1:1/v1/chat/completions"), chat);
        let messages = ("http://127.0.0.1:1/".to_owned(), Protocol::Messages);
        assert_eq!(base(Provider::Anthropic, "http://127.0.0.1:1/v1/"), messages);
        assert!(Settings::new(Provider::OpenAi).base_url("ftp://x").is_err());
    }

    #[test]
    fn a_key_does_not_print() {
        let given = given(&[("OPENAI_API_KEY", "sk-very-secret")]);
        let printed = format!("{given:?} {:?}", model(&given));
        assert!(!printed.contains("very-secret"), "{printed}");
    }
}
