//! The command line of the real binary: help, version, exit codes, and what a wrong set-up says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

type Variables<'a> = &'a [(&'a str, &'a str)];

fn command(arguments: &[&str], variables: Variables<'_>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-stdio"));
    command.env_clear().args(arguments).envs(variables.iter().copied());
    command
}

fn run(arguments: &[&str], variables: Variables<'_>) -> Output {
    command(arguments, variables).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Waits for the end of a process that should end by itself.
fn code_within(child: &mut Child, limit: Duration) -> Option<i32> {
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    None
}

#[test]
fn help_and_version_go_to_stdout() {
    let help = run(&["--help"], &[]);
    assert_eq!(help.status.code(), Some(0));
    let text_of_help = text(&help.stdout);
    for heading in ["Usage:", "API:", "Credential:", "What the agent may do:", "Network:", "Limits"]
    {
        assert!(text_of_help.contains(heading), "{heading}");
    }
    assert_eq!(text(&help.stderr), "");
    let version = run(&["--version"], &[("AUTHENTIK_TOKEN", "${AUTHENTIK_TOKEN}")]);
    assert_eq!(version.status.code(), Some(0));
    assert_eq!(text(&version.stdout), concat!("mcp-stdio ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_wrong_set_up_is_one_sentence_and_a_hint_and_status_2() {
    let authentik = ("AUTHENTIK_URL", "https://id.test");
    let sentry = ("SENTRY_AUTH_TOKEN", "SECRET-abc123XYZ");
    let file = [sentry, ("MCP_TOKEN_FILE", "/no such/file")];
    let cases: &[(&[&str], Variables<'_>, &str)] = &[
        (&[], &[], "error: no API is named\n  hint: "),
        (&[], &[authentik], "error: `AUTHENTIK_TOKEN` is not set\n  hint: "),
        (&[], &[authentik, sentry], "error: `AUTHENTIK_URL` and `SENTRY_AUTH_TOKEN` are both set"),
        (
            &[],
            &[authentik, ("AUTHENTIK_TOKEN", "${AUTHENTIK_TOKEN}")],
            "error: `AUTHENTIK_TOKEN` holds a placeholder",
        ),
        (
            &[],
            &[sentry, ("SENTRY_URL", "http://sentry.io")],
            "error: `SENTRY_URL` would send the token to `sentry.io` over plain http",
        ),
        (&[], &file, "error: `MCP_TOKEN_FILE` and `SENTRY_AUTH_TOKEN` give different tokens"),
        (&["--surface", "all"], &[sentry], "error: `--surface` is `all`, which is not"),
        (&["--confirm", "ask"], &[sentry], "error: `--confirm` is `ask`, which is not"),
        (&["--allow", "FETCH /x"], &[sentry], "error: `--allow` cannot be used: `FETCH /x`"),
        (
            &["--openapi", r"C:\temp\x"],
            &[sentry],
            r"error: the OpenAPI document `C:\temp\x` cannot be opened",
        ),
        (
            &["--client-cert", "/no such/file"],
            &[sentry],
            "error: `--client-cert` cannot be read from `/no such/file`: ",
        ),
        (
            &["--token-command", "op 'x"],
            &[sentry],
            "error: `--token-command` has a quote that is not",
        ),
        (
            &["--access-token", "SECRET-abc\n123XYZ"],
            &[],
            "error: `--access-token` holds line breaks",
        ),
        (
            &["--access-token", "SECRET-abc123XYZ", "--no-such-option"],
            &[],
            "error: unexpected argument '--no-such-option'",
        ),
    ];
    for (arguments, variables, expected) in cases {
        let output = run(arguments, variables);
        let stderr = text(&output.stderr);
        assert!(stderr.starts_with(expected), "{stderr}");
        assert!(!stderr.contains("SECRET"), "{stderr}");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(text(&output.stdout), "");
    }
}

#[test]
fn the_end_of_stdin_is_a_clean_exit() {
    let variables = [("SENTRY_HOST", "127.0.0.1:9"), ("SENTRY_ACCESS_TOKEN", "SECRET-abc123XYZ")];
    let mut child = command(&["--no-spec-cache"], &variables)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(code_within(&mut child, Duration::from_secs(2)), Some(0));
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), "");
    let ready = concat!(
        "sentry-mcp ",
        env!("CARGO_PKG_VERSION"),
        " ready: https://127.0.0.1:9/ (from SENTRY_HOST)"
    );
    assert_eq!(text(&output.stderr).lines().next(), Some(ready));
}

#[cfg(unix)]
#[test]
fn a_signal_to_end_is_a_clean_exit() {
    for signal in ["-TERM", "-INT"] {
        let variables =
            [("SENTRY_URL", "https://127.0.0.1:9"), ("SENTRY_ACCESS_TOKEN", "SECRET-abc123XYZ")];
        let mut child = command(&["--no-spec-cache"], &variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut ready = String::new();
        stderr.read_line(&mut ready).unwrap();
        assert!(ready.contains(" ready: "), "{ready}");
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert_eq!(code_within(&mut child, Duration::from_secs(2)), Some(0), "{signal}");
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}
