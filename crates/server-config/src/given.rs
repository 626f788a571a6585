//! A setting as the operator gave it: its text, and the name messages call it by.

use std::{ffi::OsString, fmt, str::FromStr};

use crate::cli;

/// Reads one environment variable, or what a configuration file says in its place.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<Raw>;

/// What an [`Environment`] holds under a name. It may be secret, so it does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct Raw {
    pub text: OsString,
    /// What messages call it, where that is not the variable's name.
    pub from: Option<String>,
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Raw").field("from", &self.from).finish_non_exhaustive()
    }
}

impl From<OsString> for Raw {
    fn from(text: OsString) -> Self {
        Self { text, from: None }
    }
}

impl From<&str> for Raw {
    fn from(text: &str) -> Self {
        OsString::from(text).into()
    }
}

/// The set-up is wrong: one sentence and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError {
    message: String,
    hint: String,
}

impl SetupError {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl std::error::Error for SetupError {}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  hint: {}", self.message, self.hint)
    }
}

/// A value and where it came from. Its text may be secret, so it does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    pub text: String,
    /// The option or variable, in backticks.
    pub from: String,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").field("from", &self.from).finish_non_exhaustive()
    }
}

impl Given {
    /// Takes the value of an option: from the command line, or else from its own variable.
    pub fn option(
        name: &str,
        flag: Option<&String>,
        env: Environment<'_>,
    ) -> Result<Option<Self>, SetupError> {
        match flag {
            Some(text) => Self::checked(text.clone(), format!("`--{name}`")).map(Some),
            None => Self::variable(&cli::variable(name), env),
        }
    }

    /// Takes the values of an option that may be repeated; its variable holds one a line.
    pub fn options(
        name: &str,
        flags: &[String],
        env: Environment<'_>,
    ) -> Result<Vec<Self>, SetupError> {
        if !flags.is_empty() {
            let flags = flags.iter();
            return flags.map(|text| Self::checked(text.clone(), format!("`--{name}`"))).collect();
        }
        let Some(given) = Self::variable(&cli::variable(name), env)? else {
            return Ok(Vec::new());
        };
        let lines = given.text.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(lines.map(|text| Self { text: text.to_owned(), from: given.from.clone() }).collect())
    }

    /// Tells whether a switch is on: on the command line, or in its variable.
    pub fn switch(name: &str, flag: bool, env: Environment<'_>) -> Result<bool, SetupError> {
        if flag {
            return Ok(true);
        }
        let Some(given) = Self::variable(&cli::variable(name), env)? else {
            return Ok(false);
        };
        match given.text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" => Ok(false),
            _ => Err(given.is_not("a switch", "use true or false")),
        }
    }

    /// Takes the value of an environment variable.
    pub fn variable(name: &str, env: Environment<'_>) -> Result<Option<Self>, SetupError> {
        let Some(raw) = env(name) else {
            return Ok(None);
        };
        let from = raw.from.unwrap_or_else(|| format!("`{name}`"));
        match raw.text.into_string() {
            Ok(text) => Self::checked(text, from).map(Some),
            Err(_) => {
                Err(SetupError::new(format!("{from} is not UTF-8 text"), "check how it is set"))
            }
        }
    }

    /// Reads the value as a number within bounds.
    pub fn number<T>(&self, least: T, most: T) -> Result<T, SetupError>
    where
        T: FromStr + PartialOrd + fmt::Display + Copy,
    {
        let number = self.text.replace('_', "").parse::<T>().ok();
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            self.is_not("within bounds", &format!("use a number from {least} to {most}"))
        })
    }

    /// Says that the value, which is no secret, is wrong.
    pub fn is_not(&self, what: &str, hint: &str) -> SetupError {
        SetupError::new(format!("{} is `{}`, which is not {what}", self.from, self.text), hint)
    }

    fn checked(text: String, from: String) -> Result<Self, SetupError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SetupError::new(
                format!("{from} is empty"),
                "give it a value, or leave it out altogether",
            ));
        }
        if is_placeholder(text) {
            return Err(SetupError::new(
                format!("{from} holds a placeholder that nobody replaced"),
                "the program that starts this server does not expand variables here: \
                 put the value itself, or pass the variable through under its own name",
            ));
        }
        Ok(Self { text: text.to_owned(), from })
    }
}

/// Tells whether a text looks like a variable reference or a gap in instructions.
fn is_placeholder(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    let between =
        |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    ["${", "{env:", "{{"].iter().any(|open| text.contains(open))
        || text.strip_prefix('$').is_some_and(is_name)
        || between('%', '%').is_some_and(is_name)
        || between('<', '>').is_some_and(|gap| !gap.contains(['<', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &'static str, value: &'static str) -> impl Fn(&str) -> Option<Raw> {
        move |asked| (asked == name).then(|| value.into())
    }

    #[test]
    fn the_command_line_wins_over_the_variable() {
        let env = one("MCP_BASE_URL", "https://b.test");
        let flag = "https://a.test".to_owned();
        let given = Given::option("base-url", Some(&flag), &env).unwrap().unwrap();
        assert_eq!((given.text.as_str(), given.from.as_str()), ("https://a.test", "`--base-url`"));
        let given = Given::option("base-url", None, &env).unwrap().unwrap();
        assert_eq!(
            (given.text.as_str(), given.from.as_str()),
            ("https://b.test", "`MCP_BASE_URL`")
        );
    }

    #[test]
    fn placeholders_are_named_and_their_text_is_not_repeated() {
        let placeholders = [
            "${SENTRY_AUTH_TOKEN}",
            "$TOKEN",
            "{env:TOKEN}",
            "<token>",
            "<your token>",
            "%TOKEN%",
            "{{token}}",
            "${input:token}",
            "https://${HOST}/",
        ];
        for text in placeholders {
            let error = Given::checked(text.to_owned(), "`X`".to_owned()).unwrap_err().to_string();
            assert!(error.starts_with("`X` holds a placeholder"), "{text}: {error}");
            assert!(!error.contains(text), "{error}");
        }
        for text in ["sntrys_eyJ$abc", "a$b", "50%", "<a><b>", "$5.00 off"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }

    #[test]
    fn an_empty_value_is_an_error_and_not_an_absent_one() {
        let error = Given::variable("MCP_DENY", &one("MCP_DENY", " ")).unwrap_err();
        assert!(error.to_string().starts_with("`MCP_DENY` is empty\n  hint: "));
    }

    #[test]
    fn a_repeatable_variable_holds_one_value_a_line() {
        let env = one("MCP_DENY", "DELETE *\n\n  users_update\n");
        let given = Given::options("deny", &[], &env).unwrap();
        let texts: Vec<_> = given.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["DELETE *", "users_update"]);
        let flags = ["x".to_owned()];
        assert_eq!(Given::options("deny", &flags, &env).unwrap().len(), 1);
    }

    #[test]
    fn a_switch_understands_the_usual_words_and_no_others() {
        for (value, on) in [("1", true), ("TRUE", true), ("yes", true), ("off", false)] {
            assert_eq!(Given::switch("read-only", false, &one("MCP_READ_ONLY", value)), Ok(on));
        }
        let error = Given::switch("read-only", false, &one("MCP_READ_ONLY", "maybe")).unwrap_err();
        assert!(error.to_string().starts_with("`MCP_READ_ONLY` is `maybe`"));
        assert_eq!(Given::switch("read-only", true, &one("MCP_READ_ONLY", "off")), Ok(true));
    }

    #[test]
    fn a_number_outside_its_bounds_names_them() {
        let given = Given { text: "0".to_owned(), from: "`--cpu`".to_owned() };
        let error = given.number(1, 60).unwrap_err().to_string();
        assert_eq!(
            error,
            "`--cpu` is `0`, which is not within bounds\n  hint: use a number from 1 to 60"
        );
        let nan = Given { text: "NaN".to_owned(), from: "`--cpu`".to_owned() };
        assert!(nan.number(0.1, 60.0).is_err());
    }
}
