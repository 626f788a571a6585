//! The configuration file: any number of APIs, each with what the command line could say of one.
//!
//! The file is one more source of the same settings: what the command line says wins over it, and it
//! wins over environment variables. Where it names several APIs, nothing that belongs to one of them
//! is taken from anywhere else, so that no credential reaches an API it was not written for.

mod keys;
mod open;
mod parse;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use self::keys::{Key, Place, keys};
pub use self::open::{check_secret, create_private};
use crate::{
    address, cli, credential,
    given::{Environment, Given, Raw, SetupError},
};
use mcp_core::profile::Kind;

/// Settings by the name of their environment variable.
type Entries = BTreeMap<String, Entry>;

/// One setting of the file.
#[derive(Debug, Clone)]
struct Entry {
    given: Given,
    secret: bool,
    gives_token: bool,
}

/// What the text of a file says.
#[derive(Debug, Default)]
struct Tables {
    top: Entries,
    apis: Vec<ApiTable>,
    flows: Vec<FlowEntry>,
}

#[derive(Debug)]
struct ApiTable {
    entries: Entries,
}

/// A `[[flow]]`: what was read from one API may be sent to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowEntry {
    pub from: Given,
    pub to: Given,
}

/// A configuration file that was read.
#[derive(Debug)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// Whether it was found in its usual place, and not named.
    pub is_default: bool,
    keys: Vec<Key>,
    tables: Tables,
}

impl ConfigFile {
    /// Reads the file at `path`.
    pub fn read(path: &Path, is_default: bool) -> Result<Self, SetupError> {
        let (text, is_readable_by_others) = open::read(path)?;
        let file = Self::parse(path, &text, is_default)?;
        let secrets = file.entries().find(|entry| entry.secret);
        if let Some(entry) = secrets.filter(|_| is_readable_by_others) {
            return Err(SetupError::new(
                format!("{} is a secret, and others can read the file", entry.given.from),
                format!(
                    "take their right to read it (chmod 600 {}), or keep the secret elsewhere: \
                     `token_file`, `token_env`",
                    path.display()
                ),
            ));
        }
        Ok(file)
    }

    /// Reads text as the file at `path`.
    pub fn parse(path: &Path, text: &str, is_default: bool) -> Result<Self, SetupError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let keys = keys();
        let tables = parse::parse(&name, text, &keys)?;
        Ok(Self { path: path.to_owned(), is_default, keys, tables })
    }

    /// How many `[[api]]` it has.
    pub fn apis(&self) -> usize {
        self.tables.apis.len()
    }

    pub fn flows(&self) -> &[FlowEntry] {
        &self.tables.flows
    }

    /// A setting of the whole server.
    pub fn server_value(&self, name: &str, env: Environment<'_>) -> Option<Raw> {
        raw(&self.tables.top, name).or_else(|| env(name))
    }

    /// A setting that holds for one API and stands in its own table.
    pub fn own_value(&self, index: usize, name: &str) -> Option<Raw> {
        raw(&self.tables.apis.get(index)?.entries, name)
    }

    /// A setting of one API: its own, the server's, or the environment's.
    pub fn api_value(&self, index: usize, name: &str, env: Environment<'_>) -> Option<Raw> {
        let api = self.tables.apis.get(index)?;
        if let Some(own) = raw(&api.entries, name) {
            return Some(own);
        }
        if name == cli::variable("api") {
            // Without a profile it has a document, and that is enough.
            let from = api.entries.values().next().map(|entry| entry.given.from.clone());
            return Some(Raw { text: "custom".into(), from });
        }
        if self.hides(api, name) || self.is_anybodys(api, name) {
            return None;
        }
        self.server_value(name, env)
    }

    /// Variables that are set and belong to none of its APIs.
    pub fn unused(&self, env: Environment<'_>) -> Vec<String> {
        let several = self.apis() > 1;
        let of_one_api = self.keys.iter().filter(|key| several && key.place == Place::Api);
        let absent = [Kind::Authentik, Kind::Sentry]
            .into_iter()
            .filter(|kind| self.tables.apis.iter().all(|api| api.kind() != Some(*kind)));
        let of_absent = absent.flat_map(|kind| {
            address::variables_of(kind).iter().chain(credential::variables_of(kind))
        });
        let is_named = |name: &String| self.tables.apis.iter().any(|it| it.names_variable(name));
        let names = of_one_api.map(Key::variable).chain(of_absent.map(|&name| name.to_owned()));
        names.filter(|name| env(name).is_some() && !is_named(name)).collect()
    }

    /// Whether an option belongs to one API.
    pub fn is_of_one_api(&self, option: &str) -> bool {
        self.keys.iter().any(|key| key.place == Place::Api && key.option == option)
    }

    /// Whether, with several APIs, it is not said whom a variable is for.
    fn is_anybodys(&self, api: &ApiTable, name: &str) -> bool {
        let same = self.tables.apis.iter().filter(|other| other.kind() == api.kind()).count();
        let of_kind = |kind| {
            address::variables_of(kind).contains(&name)
                || credential::variables_of(kind).contains(&name)
        };
        let of_one_api = |key: &Key| key.place == Place::Api && key.variable() == name;
        (self.apis() > 1 && self.keys.iter().any(of_one_api))
            || (same > 1 && api.kind().is_some_and(of_kind) && !api.names_variable(name))
    }

    /// Whether the file itself answers what this variable would.
    fn hides(&self, api: &ApiTable, name: &str) -> bool {
        let addresses = ["base_url", "host"].map(cli::variable);
        let known = [Kind::Authentik, Kind::Sentry];
        let is_address = addresses.iter().any(|it| it == name)
            || known.iter().any(|kind| address::variables_of(*kind).contains(&name));
        let is_token = self.keys.iter().any(|key| key.gives_token && key.variable() == name)
            || known.iter().any(|kind| credential::variables_of(*kind).contains(&name));
        let has_address = addresses.iter().any(|it| api.entries.contains_key(it));
        let has_token = api.entries.values().any(|entry| entry.gives_token);
        (is_address && has_address) || (is_token && has_token && !api.names_variable(name))
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let apis = self.tables.apis.iter().flat_map(|api| api.entries.values());
        self.tables.top.values().chain(apis)
    }
}

impl ApiTable {
    fn kind(&self) -> Option<Kind> {
        match self.text(&cli::variable("api"))?.to_ascii_lowercase().as_str() {
            "authentik" => Some(Kind::Authentik),
            "sentry" => Some(Kind::Sentry),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(|entry| entry.given.text.as_str())
    }

    /// Whether `token_env` says that the token is in this variable.
    fn names_variable(&self, name: &str) -> bool {
        self.text(&cli::variable("token_env")) == Some(name)
    }
}

fn raw(entries: &Entries, name: &str) -> Option<Raw> {
    let given = &entries.get(name)?.given;
    Some(Raw { text: given.text.clone().into(), from: Some(given.from.clone()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ConfigFile {
        ConfigFile::parse(Path::new("/etc/x/c.toml"), text, false).unwrap()
    }

    fn value(file: &ConfigFile, index: usize, name: &str, set: &[(&str, &str)]) -> Option<String> {
        let env = |asked: &str| {
            set.iter().find(|(known, _)| *known == asked).map(|(_, value)| Raw::from(*value))
        };
        let raw = file.api_value(index, name, &env)?;
        Some(raw.text.into_string().unwrap())
    }

    #[test]
    fn the_file_wins_over_the_environment_and_hides_other_ways_to_say_the_same() {
        let file = file(
            "timeout = 3\n[[api]]\nprofile = \"sentry\"\nbase_url = \"https://s.test\"\n\
             token_env = \"SENTRY_AUTH_TOKEN\"\n",
        );
        let set = [
            ("MCP_BASE_URL", "https://env.test"),
            ("SENTRY_HOST", "env.test"),
            ("SENTRY_AUTH_TOKEN", "t1"),
            ("SENTRY_ACCESS_TOKEN", "t2"),
            ("MCP_TOKEN_FILE", "/f"),
            ("MCP_TIMEOUT", "9"),
            ("MCP_PROXY", "http://p.test"),
        ];
        let get = |name| value(&file, 0, name, &set);
        assert_eq!(get("MCP_BASE_URL").as_deref(), Some("https://s.test"));
        assert_eq!(get("SENTRY_HOST"), None, "the file names the address");
        assert_eq!(get("SENTRY_AUTH_TOKEN").as_deref(), Some("t1"), "the file names it");
        assert_eq!(get("SENTRY_ACCESS_TOKEN"), None);
        assert_eq!(get("MCP_TOKEN_FILE"), None);
        assert_eq!(get("MCP_TIMEOUT").as_deref(), Some("3"));
        assert_eq!(get("MCP_PROXY").as_deref(), Some("http://p.test"));
        assert_eq!(get("MCP_API").as_deref(), Some("sentry"));
    }

    /// P56: with several APIs nobody's credential is anybody's.
    #[test]
    fn with_several_apis_what_belongs_to_one_is_taken_from_its_own_table_alone() {
        let file = file(
            "[[api]]\nprofile = \"authentik\"\nname = \"one\"\nbase_url = \"https://a.test\"\n\
             [[api]]\nprofile = \"authentik\"\nname = \"two\"\nbase_url = \"https://b.test\"\n\
             token_env = \"AUTHENTIK_TOKEN\"\n\
             [[api]]\nprofile = \"sentry\"\n\
             [[api]]\ndocument = \"a.json\"\n",
        );
        let set = [
            ("MCP_ACCESS_TOKEN", "any"),
            ("AUTHENTIK_TOKEN", "ak"),
            ("SENTRY_AUTH_TOKEN", "sntry"),
            ("MCP_BASE_URL", "https://env.test"),
        ];
        for index in 0..4 {
            assert_eq!(value(&file, index, "MCP_ACCESS_TOKEN", &set), None);
        }
        assert_eq!(value(&file, 0, "AUTHENTIK_TOKEN", &set), None, "which of the two?");
        assert_eq!(value(&file, 1, "AUTHENTIK_TOKEN", &set).as_deref(), Some("ak"));
        assert_eq!(value(&file, 2, "SENTRY_AUTH_TOKEN", &set).as_deref(), Some("sntry"));
        assert_eq!(value(&file, 3, "MCP_BASE_URL", &set), None);
        assert_eq!(value(&file, 3, "MCP_API", &set).as_deref(), Some("custom"));
        let env = |asked: &str| {
            set.iter().find(|(known, _)| *known == asked).map(|(_, value)| Raw::from(*value))
        };
        assert_eq!(file.unused(&env), ["MCP_BASE_URL", "MCP_ACCESS_TOKEN"]);
    }

    #[test]
    fn the_example_of_the_readme_is_a_file_that_works() {
        let readme = include_str!("../../../../README.md");
        let (_, rest) = readme.split_once("```toml\n").unwrap();
        let file = file(rest.split_once("```").unwrap().0);
        assert_eq!((file.apis(), file.flows().len()), (2, 1));
        assert_eq!(value(&file, 1, "MCP_UNTRUSTED", &[]).as_deref(), Some("/issues/*"));
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        use super::*;

        fn written(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("c.toml");
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            (directory, path)
        }

        #[test]
        fn a_secret_in_a_file_that_others_can_read_is_refused_without_its_text() {
            let secrets = [
                "[[api]]\nprofile = \"sentry\"\ntoken = \"SECRET-1\"",
                "[[api]]\nprofile = \"sentry\"\nheaders = [\"X-Key: SECRET-1\"]",
                "proxy = \"http://u:SECRET-1@p.test\"",
            ];
            for text in secrets {
                let (_directory, path) = written(text, 0o644);
                let error = ConfigFile::read(&path, false).unwrap_err().to_string();
                assert!(error.contains("is a secret, and others can read the file"), "{error}");
                assert!(error.contains("chmod 600") && !error.contains("SECRET"), "{error}");
                let (_directory, path) = written(text, 0o600);
                let file = ConfigFile::read(&path, false).unwrap();
                assert!(!format!("{file:?}").contains("SECRET"));
            }
            let (_directory, path) =
                written("[[api]]\nprofile = \"sentry\"\ntoken_env = \"T\"", 0o644);
            assert_eq!(ConfigFile::read(&path, false).unwrap().apis(), 1);
        }

        #[test]
        fn a_token_file_is_ones_own_and_one_that_others_can_read_is_told_of() {
            let of = |mode| {
                let (directory, path) = written("token", mode);
                let link = directory.path().join("link");
                symlink(&path, &link).unwrap();
                let checked = [path, link].map(|it| check_secret(&it, "`--token-file`"));
                let [file, link] = checked.map(|it| it.map_err(|error| error.to_string()));
                assert_eq!(file.is_ok(), link.is_ok());
                file
            };
            assert_eq!((of(0o600), of(0o400), of(0o644)), (Ok(false), Ok(false), Ok(true)));
            for mode in [0o620, 0o602] {
                let error = of(mode).unwrap_err();
                assert!(error.starts_with("`--token-file`: `") && error.contains("somebody else"));
            }
        }

        #[test]
        fn a_file_that_others_could_have_written_or_a_link_is_not_read() {
            for mode in [0o620, 0o602] {
                let (_directory, path) = written("", mode);
                let error = ConfigFile::read(&path, false).unwrap_err().to_string();
                assert!(error.contains("can be changed by"), "{error}");
            }
            let (directory, path) = written("", 0o600);
            let link = directory.path().join("link.toml");
            symlink(&path, &link).unwrap();
            let error = ConfigFile::read(&link, false).unwrap_err().to_string();
            assert!(error.contains("is a link"), "{error}");
            let error = ConfigFile::read(directory.path(), false).unwrap_err().to_string();
            assert!(error.contains("is not a file"), "{error}");
        }
    }
}
