//! What the options say of a language model behind the search tools: none, unless one is named.

use model_client::{Choice, Given as Models, Provider, Settings};

use crate::{
    cli::ModelOptions,
    given::{Environment, Given, SetupError},
};

/// The model that was chosen, or why there is none although one was named.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// The model.
    pub chosen: Option<Settings>,
    /// Why there is none.
    pub warning: Option<String>,
}

impl ModelSettings {
    /// Settles what options and variables say. A key alone chooses nothing: it may be there for
    /// something else, and what is searched for would leave the machine.
    ///
    /// # Errors
    /// A value that cannot be meant.
    pub fn resolve(
        options: &ModelOptions,
        has_sentry: bool,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let named = match Given::option("agent-provider", options.agent_provider.as_ref(), env)? {
            Some(given) => Some(given),
            None => Given::variable("EMBEDDED_AGENT_PROVIDER", env)?,
        };
        let Some(named) = named else { return Ok(Self::default()) };
        let provider = named.text.parse::<Provider>().map_err(|error| {
            named.is_not("a provider of models", error.hint().trim_end_matches('.'))
        })?;
        if !has_sentry {
            let why = format!("{} is for Sentry's search tools, which are not here", named.from);
            return Ok(Self { chosen: None, warning: Some(why) });
        }
        let variable = |name: &str| env(name).and_then(|raw| raw.text.into_string().ok());
        let mut models = Models::from_variables(variable);
        models.provider = Some(provider);
        let setting = |name: &str, flag: &Option<String>| -> Result<Option<String>, SetupError> {
            Ok(Given::option(name, flag.as_ref(), env)?.map(|given| given.text))
        };
        if let Some(model) = setting("openai-model", &options.openai_model)? {
            models.openai.model = Some(model);
        }
        if let Some(model) = setting("anthropic-model", &options.anthropic_model)? {
            models.anthropic.model = Some(model);
        }
        models.openai.base_url = address("openai-base-url", options.openai_base_url.as_ref(), env)?;
        models.anthropic.base_url =
            address("anthropic-base-url", options.anthropic_base_url.as_ref(), env)?;
        match models.choose() {
            Ok(Choice::Model(settings)) => Ok(Self { chosen: Some(*settings), warning: None }),
            Ok(Choice::Without(why)) => {
                let why = format!("{why}; the search tools use the caller's own words");
                Ok(Self { chosen: None, warning: Some(why) })
            }
            Err(error) => Err(SetupError::new(error.message(), error.hint())),
        }
    }
}

/// Where a provider is: from the command line or the file, never from the environment, which must
/// not be able to send keys and questions elsewhere.
fn address(
    name: &str,
    flag: Option<&String>,
    env: Environment<'_>,
) -> Result<Option<String>, SetupError> {
    let in_file: Environment<'_> = &|name| env(name).filter(|raw| raw.from.is_some());
    Ok(Given::option(name, flag, in_file)?.map(|given| given.text))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn resolve(arguments: &str, variables: &[(&str, &str)]) -> Result<ModelSettings, String> {
        let arguments = ["mcp-stdio"].into_iter().chain(arguments.split_whitespace());
        let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        ModelSettings::resolve(&cli.models, true, &env).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_alone_chooses_no_model() {
        let settings = resolve("", &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert!(settings.chosen.is_none() && settings.warning.is_none());
    }

    #[test]
    fn a_provider_that_is_named_takes_its_key_and_model_from_the_environment() {
        let variables = [
            ("EMBEDDED_AGENT_PROVIDER", "Anthropic"),
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_MODEL", "m1"),
        ];
        let chosen = |arguments| resolve(arguments, &variables).unwrap().chosen.unwrap();
        assert_eq!(chosen("").model, "m1");
        let settings = chosen("--anthropic-model m2");
        assert_eq!((settings.provider, settings.model.as_str()), (Provider::Anthropic, "m2"));
        let without = resolve("--agent-provider openai", &variables).unwrap();
        assert!(without.chosen.is_none());
        assert_eq!(
            without.warning.as_deref(),
            Some(
                "`openai` has no key: set `OPENAI_API_KEY`; the search tools use the caller's own \
                 words"
            )
        );
    }

    #[test]
    fn an_unknown_provider_is_refused_with_the_known_ones() {
        let error = resolve("", &[("EMBEDDED_AGENT_PROVIDER", "gemini")]).unwrap_err();
        assert!(error.contains("`EMBEDDED_AGENT_PROVIDER` is `gemini`, which is not"), "{error}");
        assert!(error.contains("`anthropic` or `openrouter`"), "{error}");
    }

    #[test]
    fn an_address_is_never_taken_from_the_environment() {
        let variables = [
            ("OPENAI_API_KEY", "k"),
            ("MCP_OPENAI_BASE_URL", "http://evil.test/v1"),
            ("OPENAI_BASE_URL", "http://evil.test/v1"),
        ];
        let printed = |arguments| format!("{:?}", resolve(arguments, &variables).unwrap().chosen);
        assert!(!printed("--agent-provider openai").contains("evil.test"));
        let flag = "--agent-provider openai --openai-base-url http://mine.test/v1";
        assert!(printed(flag).contains("mine.test"));
    }
}
