//! The configuration file as the real binary reads it.

use std::{fs, path::Path, process::Output};

use serde_json::json;

use crate::{support, upstream::Upstream};

const DOCUMENT: &str = r#"{"openapi":"3.0.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"operationId":"getA","responses":{}}}}}"#;

fn run(arguments: &[&str], variables: &[(&str, &Path)]) -> Output {
    let mut command = support::binary();
    command.args(arguments).envs(variables.iter().copied());
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn an_error_in_the_file_names_line_column_and_key_and_is_status_2() {
    let (_directory, path) = support::configured("# one\n[[api]]\n  profil = \"sentry\"\n");
    let output = run(&["--config", path.to_str().unwrap()], &[]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: config.toml:3:3: `profil` is not a key of `[[api]]`\n  hint: did you mean `profile`?\n";
    assert_eq!(stderr(&output), expected);
    let output = run(&["--config", "/no such/file.toml"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`/no such/file.toml` cannot be read"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn secrets_are_read_from_a_private_file_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_directory, path) =
        support::configured("[[api]]\nprofile = \"sentry\"\ntoken = \"SECRET-abc123XYZ\"\n");
    let file = path.to_str().unwrap();
    let output = run(&["--config", file], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let output = run(&["--config", file], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: `token` (config.toml:3) is a secret"));
    assert!(!stderr(&output).contains("abc123XYZ"));
}

#[tokio::test]
async fn the_users_own_file_is_found_and_what_lies_in_the_working_directory_is_not() {
    let upstream = Upstream::start(DOCUMENT);
    let (home, path) = support::configured(&format!(
        "[[api]]\ndocument = \"{0}/spec.json\"\ntoken = \"TOKEN-1\"\nauth = \"header:X-Key\"\n",
        upstream.base
    ));
    let own = home.path().join("mcp-stdio");
    fs::create_dir(&own).unwrap();
    // Where it stands now it is nobody's.
    let mut elsewhere = support::binary();
    elsewhere.current_dir(home.path()).env("XDG_CONFIG_HOME", ".");
    let output = elsewhere.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(stderr(&output).starts_with("error: no API is named"), "{}", stderr(&output));
    fs::rename(&path, own.join("config.toml")).unwrap();
    let mut without = support::binary();
    without.env("XDG_CONFIG_HOME", home.path()).arg("--no-config");
    let output = without.stdin(std::process::Stdio::null()).output().unwrap();
    assert!(stderr(&output).starts_with("error: no API is named"), "{}", stderr(&output));
    let mut command = support::binary();
    command.env("XDG_CONFIG_HOME", home.path());
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let mut session = support::connect(command).await;
    support::ok(
        &mut session,
        "execute",
        json!({ "code": "return (await api.call('getA')).status" }),
    )
    .await;
    assert_eq!(upstream.received()[0].header("x-key"), "TOKEN-1");
}

/// What a stored document claims about reads and writes is not believed.
#[tokio::test]
async fn a_cached_document_that_was_changed_is_not_used_and_never_makes_a_write_a_read() {
    let cache = tempfile::tempdir().unwrap();
    let document = r#"{"openapi":"3.0.0","info":{"title":"T","version":"1"},"paths":{"/a":{"get":{"operationId":"getA","summary":"first words","responses":{}},"post":{"operationId":"makeA","responses":{}}}}}"#;
    let upstream = Upstream::start(document);
    let command = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-stdio"));
        command.env_clear().arg("--spec-cache").arg(cache.path()).args(more);
        command.args(["--openapi", &format!("{}/spec.json", upstream.base)]);
        command.args(["--base-url", &upstream.base, "--trusted", "--confirm", "off"]);
        command
    };
    let write = json!({ "code": "return (await api.call('makeA')).status" });
    // Here the operator says that it reads; the index is stored by this server.
    let mut session = support::connect(command(&["--mark-read", "POST /a"])).await;
    support::ok(&mut session, "execute", write.clone()).await;
    assert_eq!(upstream.received().len(), 1);
    let stored = fs::read_dir(cache.path()).unwrap().next().unwrap().unwrap().path();
    upstream.publish("gone");
    let mut session = support::connect(command(&[])).await;
    let (is_error, text) = support::call(&mut session, "execute", write.clone()).await;
    assert!(is_error && text.contains("\"rule\":\"read-only\""), "{text}");
    assert_eq!(upstream.received().len(), 1);

    let good = fs::read(&stored).unwrap();
    let at = good.windows(11).position(|it| it == b"first words").unwrap();
    let mut bad = good;
    bad[at..at + 11].copy_from_slice(b"other words");
    fs::write(&stored, bad).unwrap();
    let mut session = support::connect(command(&[])).await;
    let (is_error, text) = support::call(&mut session, "search", json!({ "query": "getA" })).await;
    assert!(is_error && !text.contains("other words"), "{text}");
}
