//! `mcp-stdio init`: writes a configuration file to fill in, and prints what MCP clients need.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use mcp_core::openapi::source::file_path;
use serde_json::{Value, json};
use server_config::{
    cli::Cli,
    config,
    config_file::{ConfigFile, create_private},
    given::{Given, SetupError},
};
use url::Url;

/// What stands above the APIs of a new file.
const HEAD: &str = "\
# Configuration of mcp-stdio. Every option of `mcp-stdio --help` can be a key here: those of one API
# under its [[api]], limits under [limits], all others above the first table. The command line wins
# over this file, and this file over environment variables. `mcp-stdio check` says whether it works.

# read_only = true               # offer no way to write, to no API
# deny = [\"DELETE /*\"]           # never these: operationId, tag or METHOD /glob
# confirm = \"plan\"               # what is shown before something is written

";

/// What stands below them.
const TAIL: &str = "
# Further APIs, each with a name and a credential of its own:
# [[api]]
# name = \"gitea\"
# document = \"https://git.example.com/swagger.v1.json\"
# base_url = \"https://git.example.com\"
# token_env = \"GITEA_TOKEN\"

# A script that has read from one API may send to another only where a flow says so:
# [[flow]]
# from = \"gitea\"
# to = \"{name}\"

# [limits]
# wall = 50                      # seconds from start to result
# max_requests = 100             # of one script
";

/// What the new file is for.
enum Subject {
    Authentik,
    Sentry,
    Document(String),
}

impl Subject {
    fn of(what: Option<&str>) -> Result<Self, SetupError> {
        let Some(what) = what else {
            return Ok(Self::Authentik);
        };
        let is_sentry = |url: &Url| {
            let host = url.host_str().unwrap_or_default();
            host == "sentry.io" || host.ends_with(".sentry.io")
        };
        match (what.to_ascii_lowercase().as_str(), Url::parse(what)) {
            ("authentik", _) => Ok(Self::Authentik),
            ("sentry", _) => Ok(Self::Sentry),
            (_, Ok(url)) if !matches!(url.scheme(), "http" | "https" | "file") => {
                Err(unknown(what))
            }
            (_, Ok(url)) if is_sentry(&url) => Ok(Self::Sentry),
            (_, Ok(url)) if !url.username().is_empty() || url.password().is_some() => {
                Err(SetupError::new(
                    "the address holds a user name or password",
                    "give it alone; the file says where the credential is",
                ))
            }
            (_, Ok(_)) => Ok(Self::Document(what.to_owned())),
            (_, Err(_)) => Err(unknown(what)),
        }
    }

    /// What scripts call the API, and what its token is kept under.
    fn name(&self, cli: &Cli) -> String {
        match (self, &cli.api.name) {
            (_, Some(name)) => name.clone(),
            (Self::Authentik, None) => "authentik".to_owned(),
            (Self::Sentry, None) => "sentry".to_owned(),
            (Self::Document(_), None) => "api".to_owned(),
        }
    }
}

fn unknown(what: &str) -> SetupError {
    SetupError::new(
        format!("`{what}` is neither a known API nor an address"),
        "use authentik, sentry, or the URL of an OpenAPI document",
    )
}

/// Writes the file and prints the snippets.
pub(crate) fn run(cli: &Cli, what: Option<&str>) -> anyhow::Result<ExitCode> {
    let subject = Subject::of(what)?;
    let path = target(cli)?;
    let name = subject.name(cli);
    let token = path.with_file_name(format!("{name}.token"));
    let text = text(&subject, cli, &name, &token)?;
    // What is handed out must be readable here.
    ConfigFile::parse(&path, &text, false)?;
    create_private(&path, &text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => SetupError::new(
            format!("`{}` is there already and stays as it is", path.display()),
            "edit it, or name another file with `--config`",
        ),
        _ => SetupError::new(
            format!("`{}` cannot be written: {error}", path.display()),
            "name another file with `--config`",
        ),
    })?;
    let binary = std::env::current_exe()?;
    let file = std::path::absolute(&path)?;
    let mut lines = vec![
        format!("Wrote {}. Next:\n", file.display()),
        "  1. fill it in, and put the token where it says".to_owned(),
        format!("  2. {} check --config {}", shell(&binary), shell(&file)),
        "  3. add the server to your client:\n".to_owned(),
    ];
    lines.extend(snippets(&name, &binary, &file));
    // A reader that went away is no reason to fail.
    drop(writeln!(io::stdout(), "{}", lines.join("\n")));
    Ok(ExitCode::SUCCESS)
}

/// Where the file goes: where `--config` says, or the user's own place.
fn target(cli: &Cli) -> Result<PathBuf, SetupError> {
    let env = |name: &str| config::variable(name).map(Into::into);
    if let Some(given) = Given::option("config", cli.setup.config.as_ref(), &env)? {
        return Ok(file_path(&given.text));
    }
    config::default_file().ok_or_else(|| {
        SetupError::new(
            "this system does not say where configuration files go",
            "name the file with `--config`",
        )
    })
}

fn text(subject: &Subject, cli: &Cli, name: &str, token: &Path) -> Result<String, SetupError> {
    let mut lines = vec!["[[api]]".to_owned()];
    let base = |hint: &str| match &cli.api.base_url {
        Some(base) => format!("base_url = {}", quoted(base)),
        None => hint.to_owned(),
    };
    match subject {
        Subject::Authentik => {
            lines.push("profile = \"authentik\"".to_owned());
            lines.push(base(
                "# base_url = \"https://id.example.com\"   # fill in: where your authentik is",
            ));
            lines.push(
                "# A token from Directory > Tokens and App passwords, of intent API:".to_owned(),
            );
        }
        Subject::Sentry => {
            lines.push("profile = \"sentry\"".to_owned());
            lines.push(base("# base_url = \"https://sentry.example.com\"   # only if self-hosted"));
            lines.push("# A token from Settings > Auth Tokens:".to_owned());
        }
        Subject::Document(document) => {
            lines.push(format!("document = {}", quoted(document)));
            lines.push(base(
                "# base_url = \"https://api.example.com/v1\"   # if the document does not say it",
            ));
            if cli.credential.auth.is_none() {
                lines.push(
                    "# auth = \"header:X-Api-Key\"   # how the token is sent, if not as a bearer"
                        .to_owned(),
                );
            }
        }
    }
    if let Some(name) = &cli.api.name {
        lines.insert(1, format!("name = {}", quoted(name)));
    } else if let Subject::Document(_) = subject {
        lines.insert(1, "# name = \"example\"   # what scripts call it, besides `api`".to_owned());
    }
    let credential = &cli.credential;
    let given = [
        ("auth", &credential.auth),
        ("token_url", &credential.token_url),
        ("scope", &credential.scope),
        ("token_env", &credential.token_env),
        ("token_file", &credential.token_file),
        ("token_command", &credential.token_command),
        ("token_keyring", &credential.token_keyring),
    ];
    let given = given.iter().filter_map(|(key, value)| Some((*key, value.as_ref()?)));
    let given: Vec<_> = given.collect();
    lines.extend(given.iter().map(|(key, value)| format!("{key} = {}", quoted(value))));
    if !given.iter().any(|(key, _)| key.starts_with("token_") && *key != "token_url") {
        let file = quoted(&absolute(token)?);
        lines.push(format!("token_file = {file}   # a file only you can read"));
        lines
            .push("# token_env = \"API_TOKEN\"   # or instead, an environment variable".to_owned());
    }
    Ok(format!("{HEAD}{}\n{}", lines.join("\n"), TAIL.replace("{name}", name)))
}

fn absolute(path: &Path) -> Result<String, SetupError> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.into_os_string().into_string().map_err(|_| {
        SetupError::new("the path of the file is not UTF-8 text", "name another with `--config`")
    })
}

/// The same server in the words of each client.
fn snippets(name: &str, binary: &Path, file: &Path) -> Vec<String> {
    let (command, path) = (binary.display().to_string(), file.display().to_string());
    let arguments = json!(["--config", path]);
    let server = json!({ "command": command, "args": arguments });
    let servers = json!({ "mcpServers": { name: server } });
    let typed = json!({ "type": "stdio", "command": command, "args": arguments });
    let codex = format!(
        "[mcp_servers.{name}]\ncommand = {}\nargs = [\"--config\", {}]",
        quoted(&command),
        quoted(&path)
    );
    let claude = format!("claude mcp add {name} -- {} --config {}", shell(binary), shell(file));
    let texts = [
        ("Claude Code (in a shell)", claude),
        ("Claude Desktop (claude_desktop_config.json)", pretty(&servers)),
        ("Cursor (.cursor/mcp.json or ~/.cursor/mcp.json)", pretty(&servers)),
        ("VS Code (.vscode/mcp.json)", pretty(&json!({ "servers": { name: typed } }))),
        ("Codex (~/.codex/config.toml)", codex),
        ("Gemini CLI (~/.gemini/settings.json)", pretty(&servers)),
        ("Zed (settings.json)", pretty(&json!({ "context_servers": { name: server } }))),
    ];
    texts.map(|(client, text)| format!("{client}:\n\n{text}\n")).into()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// A text as TOML and JSON both write it.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A path as a shell reads it.
fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+:\\".contains(it);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
