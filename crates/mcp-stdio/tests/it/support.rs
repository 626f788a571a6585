//! A world for end-to-end tests: a mock upstream and the real binary as a child process.

use std::{path::PathBuf, process::Command, time::Duration};

use mocks::{Mock, Running, World};
use serde_json::{Value, json};
use test_client::raw;

/// Long enough for a cold debug build on a loaded machine; never waited for when things work.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The real binary, with an empty environment.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-stdio"));
    command.env_clear().arg("--no-spec-cache");
    command
}

/// The binary pointed at a mock authentik.
pub(crate) fn against(mock: &Running) -> Command {
    let mut command = binary();
    command.env("AUTHENTIK_URL", &mock.base_url).env("AUTHENTIK_TOKEN", &mock.token);
    command
}

/// A directory of the test's own with a configuration file that only this user can read.
pub(crate) fn configured(text: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    (directory, path)
}

/// A document of `../shared`, where it is present.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(path);
    if path.exists() {
        return Some(path);
    }
    report_skip(&path);
    None
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn report_skip(path: &std::path::Path) {
    eprintln!("skipped: {} is not here", path.display());
}

/// A mock authentik with a server connected to it, past the handshake.
pub(crate) struct Connected {
    pub(crate) mock: Running,
    pub(crate) session: raw::Session,
}

impl Connected {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// The same, with more flags.
    pub(crate) async fn with(configure: impl FnOnce(&mut Command)) -> Self {
        let mock = Mock::start(World::authentik()).unwrap();
        let mut command = against(&mock);
        configure(&mut command);
        let session = connect(command).await;
        Self { mock, session }
    }

    /// Calls a tool that must succeed and parses its text.
    pub(crate) async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        ok(&mut self.session, tool, arguments).await
    }

    /// Calls a tool that must fail and parses its text.
    pub(crate) async fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, text) = call(&mut self.session, tool, arguments).await;
        assert!(is_error, "expected a failure: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs a reading script that must succeed and returns its result.
    pub(crate) async fn execute(&mut self, code: &str) -> Value {
        self.ok("execute", json!({ "code": code })).await["result"].clone()
    }

    /// How many requests that ask for a change reached the upstream.
    pub(crate) fn writes(&self) -> usize {
        self.mock.log().iter().filter(|it| it.asks_to_write()).count()
    }
}

/// Spawns a server and shakes hands.
pub(crate) async fn connect(command: Command) -> raw::Session {
    let mut session = raw::Session::spawn(command).unwrap();
    session.initialize("2025-11-25").await.unwrap();
    session
}

/// Calls a tool; whether it failed, and its one text.
pub(crate) async fn call(
    session: &mut raw::Session,
    tool: &str,
    arguments: Value,
) -> (bool, String) {
    let message = session.call(tool, arguments, PATIENCE).await.unwrap();
    let result = &message["result"];
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{message}");
    assert!(result.get("structuredContent").is_none(), "one copy of the result is enough");
    (result["isError"] == json!(true), result["content"][0]["text"].as_str().unwrap().to_owned())
}

pub(crate) async fn ok(session: &mut raw::Session, tool: &str, arguments: Value) -> Value {
    let (is_error, text) = call(session, tool, arguments).await;
    assert!(!is_error, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
