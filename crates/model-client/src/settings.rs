//! Which model, where, and with which key.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use api_client::auth::{Credential, SecretSource};
use api_client::error::ConfigError;
use api_client::transport::{ProxyOptions, TlsOptions};
use url::Url;

/// Who is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI, or an endpoint of the same form.
    OpenAi,
    /// OpenAI's models in Azure.
    AzureOpenAi,
    /// Anthropic.
    Anthropic,
    /// OpenRouter.
    OpenRouter,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::AzureOpenAi, Self::Anthropic, Self::OpenRouter];

    /// The name in flags and variables.
    pub fn id(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::AzureOpenAi => "azure-openai",
            Self::Anthropic => "anthropic",
            Self::OpenRouter => "openrouter",
        }
    }

    /// The variable that holds the key.
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi | Self::AzureOpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenRouter => "OPENROUTER_API_KEY",
        }
    }

    /// The variable that names the model.
    pub fn model_variable(self) -> &'static str {
        match self {
            Self::OpenAi | Self::AzureOpenAi => "OPENAI_MODEL",
            Self::Anthropic => "ANTHROPIC_MODEL",
            Self::OpenRouter => "OPENROUTER_MODEL",
        }
    }

    /// The model where none is named.
    pub fn default_model(self) -> &'static str {
        match self {
            Self::OpenAi | Self::AzureOpenAi => "gpt-5",
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenRouter => "openai/gpt-5.6-luna",
        }
    }

    fn default_base(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::AzureOpenAi => None,
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::OpenRouter => Some("https://openrouter.ai/api/v1"),
        }
    }

    fn default_protocol(self) -> Protocol {
        match self {
            Self::OpenAi | Self::AzureOpenAi => Protocol::Responses,
            Self::Anthropic => Protocol::Messages,
            Self::OpenRouter => Protocol::Chat,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl FromStr for Provider {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let known = Self::ALL.into_iter().find(|it| it.id().eq_ignore_ascii_case(text.trim()));
        known.ok_or_else(|| {
            let hint = "take `openai`, `azure-openai`, `anthropic` or `openrouter`";
            ConfigError::new(format!("`{text}` is no provider of models"), hint)
        })
    }
}

/// The form of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions, which most other endpoints speak.
    Chat,
    /// Anthropic's Messages.
    Messages,
}

/// How to reach one model.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who is spoken to.
    pub provider: Provider,
    /// The form of requests; the provider's own unless set.
    pub protocol: Protocol,
    /// The model's name.
    pub model: String,
    /// How hard it is to think, in the provider's words, such as `low`; nothing is said without it.
    pub effort: Option<String>,
    /// The most one request may take, its retries apart. Five minutes unless set.
    pub timeout: Duration,
    /// How often a request is sent at most when the provider is busy. Three unless set.
    pub attempts: u32,
    /// Which servers are trusted.
    pub tls: TlsOptions,
    /// A proxy for everything but loopback.
    pub proxy: Option<ProxyOptions>,
    pub(crate) base: Option<Url>,
    pub(crate) api_version: Option<String>,
    pub(crate) credential: Credential,
}

impl Settings {
    /// The provider's defaults, without a key.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            protocol: provider.default_protocol(),
            model: provider.default_model().to_owned(),
            effort: None,
            timeout: Duration::from_secs(300),
            attempts: 3,
            tls: TlsOptions::default(),
            proxy: None,
            base: None,
            api_version: None,
            credential: Credential::None,
        }
    }

    /// Sets the key; `label` says in messages where it came from.
    ///
    /// # Errors
    /// A key that a header cannot carry.
    pub fn key(mut self, label: &str, key: &str) -> Result<Self, ConfigError> {
        let secret = SecretSource::literal(label, key)?;
        self.credential = match self.provider {
            Provider::OpenAi | Provider::OpenRouter => Credential::Bearer(secret),
            Provider::AzureOpenAi => Credential::Header { name: "api-key".to_owned(), secret },
            Provider::Anthropic => Credential::Header { name: "x-api-key".to_owned(), secret },
        };
        self.credential.check()?;
        Ok(self)
    }

    /// Sets the model's name.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the address below which the API lies: `https://host/v1` for OpenAI and what is like it,
    /// a resource's `…/openai/v1` or `…/openai/deployments/NAME` for Azure, `https://host` for
    /// Anthropic. The address of a deployment, and one that ends in `/chat/completions`, sets the
    /// protocol too.
    ///
    /// # Errors
    /// Something that is no `http` or `https` URL.
    pub fn base_url(mut self, text: &str) -> Result<Self, ConfigError> {
        let url = Url::parse(text.trim()).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        let mut url = url.ok_or_else(|| {
            let message = format!("`{text}` is no address of a model's provider");
            ConfigError::new(message, "give a URL that starts with `https://` or `http://`")
        })?;
        let path = url.path().trim_end_matches('/').to_owned();
        let chat = path.strip_suffix("/chat/completions");
        if chat.is_some() || is_deployment(&url) {
            self.protocol = Protocol::Chat;
        }
        // Both spellings of Anthropic's base are in use.
        let anthropic = path.strip_suffix("/v1").filter(|_| self.provider == Provider::Anthropic);
        url.set_path(chat.or(anthropic).unwrap_or(&path));
        self.base = Some(url);
        Ok(self)
    }

    /// Sets `api-version`, which Azure's deployments ask for.
    #[must_use]
    pub fn api_version(mut self, version: impl Into<String>) -> Self {
        self.api_version = Some(version.into());
        self
    }

    /// The address below which the API lies.
    pub(crate) fn base(&self) -> Result<Url, ConfigError> {
        let base = self.base.clone().or_else(|| self.provider.default_base()?.parse().ok());
        base.ok_or_else(|| {
            let message = format!("the provider `{}` has no address of its own", self.provider);
            let hint = "name that of your resource: `https://NAME.openai.azure.com/openai/v1`";
            ConfigError::new(message, hint)
        })
    }
}

/// Whether an address is one of Azure's deployments.
fn is_deployment(url: &Url) -> bool {
    url.path().contains("/openai/deployments/")
}

/// Whether an address is one of Azure's, by its host or its path.
pub(crate) fn is_azure(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let hosts = [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    is_deployment(url) || hosts.iter().any(|suffix| host.ends_with(suffix))
}
