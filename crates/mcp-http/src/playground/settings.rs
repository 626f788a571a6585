//! What the options say of the playground: whom it is for, and which model its chat has.

use model_client::{Choice, ConfigError, Given as Models, Model, Provider, TlsOptions};
use server_config::{
    config,
    given::{Environment, Given, SetupError},
    settings::{Confirm, Settings},
};

use crate::options::PlaygroundOptions;

/// Whom the playground is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    Nobody,
    /// Browsers on this machine.
    ThisMachine,
    /// Whoever can reach the server; what they may do is decided as for every caller.
    Anybody,
}

/// The playground, as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct PlaygroundSettings {
    pub(crate) audience: Audience,
    /// What its chat talks to.
    pub(crate) model: Option<Model>,
}

impl PlaygroundSettings {
    pub(crate) fn resolve(
        options: &PlaygroundOptions,
        settings: &Settings,
        extra_ca: &[String],
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let audience = audience(options, settings, env)?;
        let model = model(options, settings, extra_ca, env)?;
        if model.is_some() && audience == Audience::Nobody {
            return Err(needless("`--chat`", "`--playground`"));
        }
        Ok(Self { audience, model })
    }
}

fn audience(
    options: &PlaygroundOptions,
    settings: &Settings,
    env: Environment<'_>,
) -> Result<Audience, SetupError> {
    let shown = Given::switch("playground", options.playground, env)?;
    let remote = Given::switch("playground-remote", options.playground_remote, env)?;
    match (shown, remote) {
        (false, true) => Err(needless("`--playground-remote`", "`--playground`")),
        (true, _) if settings.confirm == Confirm::Off => Err(SetupError::new(
            "the playground shows a write before it is sent, and `--confirm off` sends it at once",
            "leave out `--playground` or `--confirm off`",
        )),
        (false, false) => Ok(Audience::Nobody),
        (true, false) => Ok(Audience::ThisMachine),
        (true, true) => Ok(Audience::Anybody),
    }
}

/// The model that was named, with its key from the environment. A key alone names none.
fn model(
    options: &PlaygroundOptions,
    settings: &Settings,
    extra_ca: &[String],
    env: Environment<'_>,
) -> Result<Option<Model>, SetupError> {
    let provider = Given::option("chat", options.chat.as_ref(), env)?;
    let name = Given::option("chat-model", options.chat_model.as_ref(), env)?;
    // Not from the environment, which must not be able to send the key elsewhere.
    let address = Given::option("chat-base-url", options.chat_base_url.as_ref(), &|_| None)?;
    let Some(provider) = provider else {
        return match name.or(address) {
            Some(given) => Err(needless(&given.from, "`--chat`")),
            None => Ok(None),
        };
    };
    let fault = |error: ConfigError| SetupError::new(error.message(), error.hint());
    let variable = |name: &str| env(name).and_then(|it| it.text.into_string().ok());
    let named: Provider = provider.text.parse().map_err(fault)?;
    let mut models = Models::from_variables(variable);
    models.provider = Some(named);
    let account = match named {
        Provider::OpenAi | Provider::AzureOpenAi => &mut models.openai,
        Provider::Anthropic => &mut models.anthropic,
        Provider::OpenRouter => &mut models.openrouter,
    };
    account.model = name.map(|it| it.text).or(account.model.take());
    account.base_url = address.map(|it| it.text);
    let mut chosen = match models.choose().map_err(fault)? {
        Choice::Model(chosen) => *chosen,
        Choice::Without(why) => {
            let hint = "put the key into the server's environment, or leave out `--chat`";
            return Err(SetupError::new(format!("the chat has no model: {why}"), hint));
        }
    };
    chosen.tls = TlsOptions { extra_ca_pem: extra_ca.to_vec(), ..TlsOptions::default() };
    chosen.proxy = settings.apis.first().and_then(|api| config::proxy(&api.network));
    Model::new(chosen).map(Some).map_err(fault)
}

fn needless(option: &str, other: &str) -> SetupError {
    let message = format!("{option} says nothing without {other}");
    SetupError::new(message, format!("add {other}, or leave it out"))
}
