//! `mcp-stdio init`: a file that works once it is filled in, and snippets without a secret.

use std::{fs, process::Output};

use crate::support;

fn init(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = support::binary();
    let output: Output = command.arg("init").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_file_is_private_and_is_never_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/config.toml");
    let file = path.to_str().unwrap();
    let (code, out, err) = init(&["authentik", "--config", file, "--base-url", "https://id.test"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let written = fs::read_to_string(&path).unwrap();
    assert!(
        written.contains("\nprofile = \"authentik\"\nbase_url = \"https://id.test\"\n"),
        "{written}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
    assert!(out.contains(env!("CARGO_BIN_EXE_mcp-stdio")), "{out}");
    let (code, _, err) = init(&["sentry", "--config", file]);
    assert_eq!(code, Some(2));
    assert!(err.contains("is there already and stays as it is"), "{err}");
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn every_client_gets_a_snippet_with_the_absolute_path_and_no_secret() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.toml");
    let file = path.to_str().unwrap();
    let arguments = [
        "https://git.test/spec.json",
        "--config",
        file,
        "--name",
        "git",
        "--token-env",
        "GIT_TOKEN",
    ];
    let (code, out, err) = init(&arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for client in
        ["Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Gemini CLI", "Zed"]
    {
        assert!(out.contains(client), "{client}: {out}");
    }
    let binary = env!("CARGO_BIN_EXE_mcp-stdio");
    for text in [
        format!("claude mcp add git -- {binary} --config {file}"),
        format!("[mcp_servers.git]\ncommand = \"{binary}\"\nargs = [\"--config\", \"{file}\"]"),
        "\"mcpServers\": {\n    \"git\": {".to_owned(),
        "\"servers\": {\n    \"git\": {\n      \"type\": \"stdio\",".to_owned(),
        "\"context_servers\": {".to_owned(),
    ] {
        assert!(out.contains(&text), "{text}\n{out}");
    }
    let written = fs::read_to_string(&path).unwrap();
    for line in
        ["name = \"git\"", "document = \"https://git.test/spec.json\"", "token_env = \"GIT_TOKEN\""]
    {
        assert!(written.lines().any(|it| it == line), "{line}: {written}");
    }
}

/// A new file is one that the server reads: what is missing in it is said by name.
#[test]
fn a_new_file_is_read_and_what_is_left_to_fill_in_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for (what, expected) in [
        ("authentik", "`AUTHENTIK_URL` is not set"),
        ("sentry", "sentry.token"),
        ("https://api.test/openapi.yaml", "api.token"),
    ] {
        let path = directory.path().join(format!("{}.toml", what.len()));
        let (code, _, err) = init(&[what, "--config", path.to_str().unwrap()]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{what}");
        let output = support::binary().arg("--config").arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{what}");
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains(expected), "{what}: {err}");
    }
    for what in ["jira", "ftp://x.test/a", "https://u:SECRET@x.test/a"] {
        let path = directory.path().join("never.toml");
        let (code, _, err) = init(&[what, "--config", path.to_str().unwrap()]);
        assert_eq!(code, Some(2), "{what}");
        assert!(err.contains("hint: ") && !err.contains("SECRET"), "{err}");
        assert!(!path.exists());
    }
}
