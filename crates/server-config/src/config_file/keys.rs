//! The keys of the configuration file: the options of the command line, each in its place.

use clap::{Arg, ArgAction};

use crate::cli;

/// Options that read better under another name in a file.
const RENAMED: &[(&str, &str)] = &[
    ("access_token", "token"),
    ("api", "profile"),
    ("header", "headers"),
    ("mark_read", "reads"),
    ("openapi", "document"),
];

/// Options of one API that stand under a heading with others that are not.
const OF_ONE_API: &[&str] =
    &["api", "base_url", "host", "openapi", "name", "mark_read", "trusted", "untrusted"];
/// Options that hold for the whole server or for one API.
const OF_BOTH: &[&str] = &["read_only", "allow", "deny"];
/// Headings of the command line that decide for all their options.
const CREDENTIAL: &str = "Credential";
const NETWORK: &str = "Network";
const LIMITS: &str = "Limits of one script";

/// Where a key may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Above all tables: it holds for the server.
    Top,
    /// In an `[[api]]` table.
    Api,
    /// In either; there it holds for that API alone.
    Both,
    /// In the `[limits]` table.
    Limits,
}

/// What kind of value a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    List,
    Switch,
}

/// One key and the option it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// The option's id, such as `base_url`.
    pub(crate) option: String,
    pub(crate) place: Place,
    pub(crate) shape: Shape,
    /// Whether it says where the token comes from, so that a file with one hears no other source.
    pub(crate) gives_token: bool,
}

impl Key {
    /// The environment variable of the same option.
    pub(crate) fn variable(&self) -> String {
        cli::variable(&self.option)
    }

    /// Whether the value itself is secret, wherever it came from.
    pub(crate) fn is_secret(&self) -> bool {
        let endings = ["_secret", "_password", "_passphrase"];
        matches!(self.option.as_str(), "access_token" | "header")
            || endings.iter().any(|ending| self.option.ends_with(ending))
    }

    pub(crate) fn is_in_api(&self) -> bool {
        matches!(self.place, Place::Api | Place::Both)
    }

    pub(crate) fn is_on_top(&self) -> bool {
        matches!(self.place, Place::Top | Place::Both)
    }
}

/// All keys, in the order of the command line's help.
pub(crate) fn keys() -> Vec<Key> {
    let command = cli::command();
    let options = command.get_arguments().filter(|it| it.get_long().is_some());
    options.filter_map(key).collect()
}

fn key(argument: &Arg) -> Option<Key> {
    let shape = match argument.get_action() {
        ArgAction::Set => Shape::Text,
        ArgAction::Append => Shape::List,
        ArgAction::SetTrue => Shape::Switch,
        _ => return None,
    };
    let option = argument.get_id().as_str();
    let place = match argument.get_help_heading() {
        _ if ["config", "no_config"].contains(&option) => return None,
        _ if OF_ONE_API.contains(&option) => Place::Api,
        _ if OF_BOTH.contains(&option) => Place::Both,
        Some(CREDENTIAL) => Place::Api,
        Some(NETWORK) => Place::Both,
        Some(LIMITS) => Place::Limits,
        _ => Place::Top,
    };
    let renamed = RENAMED.iter().find(|(known, _)| *known == option);
    Some(Key {
        name: renamed.map_or(option, |(_, name)| name).to_owned(),
        option: option.to_owned(),
        place,
        shape,
        gives_token: argument.get_help_heading() == Some(CREDENTIAL)
            && !matches!(option, "auth" | "header" | "scope" | "token_url"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_but_the_files_own_is_a_key_in_one_place() {
        let keys = keys();
        let place = |name: &str| keys.iter().find(|it| it.name == name).map(|it| it.place);
        for (name, expected) in [
            ("document", Place::Api),
            ("token_env", Place::Api),
            ("headers", Place::Api),
            ("reads", Place::Api),
            ("read_only", Place::Both),
            ("ca_cert", Place::Both),
            ("confirm", Place::Top),
            ("spec_cache", Place::Top),
            ("wall", Place::Limits),
        ] {
            assert_eq!(place(name), Some(expected), "{name}");
        }
        for name in ["config", "openapi", "help", "version", "access_token"] {
            assert_eq!(place(name), None, "{name}");
        }
        let mut names: Vec<_> = keys.iter().map(|it| it.name.as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn what_is_secret_and_what_gives_the_token_is_known_by_name() {
        let keys = keys();
        let secret: Vec<_> =
            keys.iter().filter(|it| it.is_secret()).map(|it| it.name.as_str()).collect();
        assert!(secret.contains(&"token") && secret.contains(&"headers"), "{secret:?}");
        assert!(!secret.contains(&"token_env") && !secret.contains(&"token_file"), "{secret:?}");
        for key in keys.iter().filter(|it| it.gives_token) {
            assert!(key.name.starts_with("token") && key.name != "token_url", "{}", key.name);
        }
    }
}
