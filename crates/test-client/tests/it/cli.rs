//! The command line: output, exit codes, the question before a write.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const SERVER: &str = env!("CARGO_BIN_EXE_fake-server");

/// Runs `test-client` with these words and `--stdio` for the fake server in front: exit status,
/// stdout, stderr.
fn run(words: &[&str], input: &str) -> (Option<i32>, String, String) {
    run_plain(&[&["--stdio", SERVER], words].concat(), input)
}

fn run_plain(words: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_test-client"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A client that does not read has closed the pipe.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn script(directory: &tempfile::TempDir, code: &str) -> String {
    let file = directory.path().join("script.js");
    std::fs::write(&file, code).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn list_shows_marks_and_first_sentences() {
    let (status, shown, _) = run(&["list"], "");
    assert_eq!(status, Some(0));
    let expected = "\
fake 1.2.3 · MCP 2026-07-28

search         read-only    Finds operations, e.g. by words.
execute        read-only    Runs a script that reads
execute_write  destructive  Runs a script that writes.
note           writes       Adds a note.
add            destructive
fail           destructive
slow           destructive
ask            destructive
";
    assert_eq!(shown, expected);
}

#[test]
fn list_as_json_is_the_definitions_in_one_line() {
    let (status, shown, _) = run(&["list", "--json"], "");
    assert_eq!((status, shown.lines().count()), (Some(0), 1));
    let definitions: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(definitions[0]["annotations"]["openWorldHint"], false);
    assert_eq!(definitions.as_array().unwrap().len(), 8);
}

#[test]
fn call_shows_json_for_reading_and_tells_by_its_status_how_it_went() {
    let (status, shown, _) = run(&["call", "search", "--args", r#"{"query":"x"}"#], "");
    assert_eq!((status, shown.as_str()), (Some(0), "{ \"found\": { \"query\": \"x\" } }\n"));

    let (status, shown, said) = run(&["call", "fail"], "");
    assert_eq!((status, shown.as_str()), (Some(1), "it did not work\n"));
    assert_eq!(said, "the tool reports an error\n");

    let (status, shown, _) = run(&["call", "fail", "--json"], "");
    let raw = r#"{"resultType":"complete","content":[{"type":"text","text":"it did not work"}],"isError":true}"#;
    assert_eq!((status, shown.trim_end()), (Some(1), raw));

    let (status, _, said) = run(&["call", "nothing"], "");
    assert_eq!(status, Some(1));
    assert_eq!(said, "error: the server refused the request: unknown tool `nothing` (-32602)\n");
}

#[test]
fn run_sends_the_text_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = script(&directory, "return 1 // ü\n");
    let (status, shown, _) = run(&["run", &file], "");
    assert_eq!(status, Some(0));
    assert_eq!(
        shown,
        "{\n  \"result\": {\n    \"ran\": |\n      return 1 // ü\n  },\n  \"calls\": []\n}\n"
    );
}

#[test]
fn write_shows_the_plan_and_sends_only_what_is_confirmed() {
    let directory = tempfile::tempdir().unwrap();
    let file = script(&directory, "plan");
    let (status, shown, asked) = run(&["write", &file], "y\n");
    assert_eq!(status, Some(0), "{asked}");
    let expected = r#"  1  POST /things/  ak things_create
     body   { "name": "a\u001b[2Jb", "order": 15 }
  2  PATCH /things/«1.id»/  ak things_update
     query  { "dry": true }
     before { "order": 1 }
     body   { "order": 2 }
warning: line 3 reads what was written
Nothing has been sent.
{ "result": "written", "journal": [{ "n": 1, "outcome": "applied" }] }
"#;
    assert_eq!(shown, expected);
    assert_eq!(asked, "\nid.example.com: POST 1 (/things/) #k7f3q9w2x5\nSend this? [y/N] ");

    for (answer, said) in
        [("n\n", ""), ("\n", ""), ("", "no answer: `--yes` confirms without asking\n")]
    {
        let (status, shown, asked) = run(&["write", &file], answer);
        assert_eq!(status, Some(1));
        assert!(shown.ends_with("Nothing has been sent.\n"), "{shown}");
        let declined = format!("[y/N] {said}not confirmed; nothing was written\n");
        assert!(asked.ends_with(&declined), "{asked}");
    }
}

#[test]
fn write_without_a_list_of_requests_shows_the_script() {
    let directory = tempfile::tempdir().unwrap();
    let file = script(&directory, "old");
    let (status, shown, _) = run(&["write", "--yes", &file], "");
    assert_eq!(status, Some(0));
    assert!(shown.starts_with("  │ old\nwarning: line 3 reads"), "{shown}");
}

#[test]
fn write_ends_where_nothing_is_or_can_be_confirmed() {
    let directory = tempfile::tempdir().unwrap();
    let file = script(&directory, "reads only");
    let (status, shown, asked) = run(&["write", &file], "");
    assert_eq!((status, asked.as_str()), (Some(0), ""));
    assert_eq!(shown, "{ \"result\": null, \"calls\": [] }\n");

    let file = script(&directory, "huge");
    let (status, shown, said) = run(&["write", "--yes", &file], "");
    assert_eq!((status, shown.as_str()), (Some(1), "Split the script.\n"));
    assert_eq!(said, "this cannot be confirmed; nothing was written\n");

    let file = script(&directory, "again");
    let (status, _, said) = run(&["write", "--yes", &file], "");
    assert_eq!(status, Some(1));
    assert_eq!(said, "stopped after 20 plans, each followed by another\n");
}

#[test]
fn a_call_that_takes_too_long_is_cancelled() {
    let (status, _, said) = run(&["call", "slow", "--timeout", "1"], "");
    assert_eq!(status, Some(1));
    assert!(said.contains("`slow` was cancelled after 1s\n"), "{said}");
}

#[test]
fn usage_and_connection_have_statuses_of_their_own() {
    for (words, status, said) in [
        (&["list"][..], 2, "error: no server: name one with `--stdio CMD` or `--url URL`\n"),
        (&["list", "--stdio"], 2, "error: `--stdio` needs the command that starts the server\n"),
        (
            &["--url", "http://127.0.0.1:9/", "--bearer-env", "NO_SUCH_VARIABLE", "list"],
            2,
            "error: `NO_SUCH_VARIABLE` of `--bearer-env` is not set\n",
        ),
        (&["--stdio", SERVER, "call", "add", "--args", "{"], 2, "error: `--args` is not JSON: "),
        (&["--stdio", SERVER, "run", "no/such.js"], 2, "error: cannot read `no/such.js`: "),
        (&["--stdio", SERVER, "--die", "list"], 3, "no configuration\n"),
        (&["--stdio", "no-such-program", "list"], 3, "error: cannot start `no-such-program`: "),
        (
            &["--url", "http://127.0.0.1:9/", "list"],
            3,
            "error: no answer from `http://127.0.0.1:9/`: ",
        ),
        (&["dance"], 2, "error: unrecognized subcommand 'dance'"),
    ] {
        let (code, shown, told) = run_plain(words, "");
        assert_eq!((code, shown.as_str()), (Some(status), ""), "{words:?}: {told}");
        assert!(told.starts_with(said), "{words:?}: {told}");
    }
    let (status, help, _) = run_plain(&["--help"], "");
    assert_eq!(status, Some(0));
    assert!(help.contains("--bearer-env"), "{help}");
}

#[test]
fn a_session_reads_commands_from_its_input() {
    let directory = tempfile::tempdir().unwrap();
    let file = script(&directory, "plan");
    let lines = format!(
        "search two words\nsearch query=three limit=1\nsearch {{\"limit\": 2}}\nadd a=1 b=2\n\
         js return \\\n1\nrun {file}\nwrite {file}\ny\nhelp\nexit\nadd\n"
    );
    let (status, shown, said) = run(&[], &lines);
    assert_eq!(status, Some(0), "{said}");
    let expected = [
        "{ \"found\": { \"query\": \"two words\" } }",
        "{ \"found\": { \"query\": \"query=three limit=1\" } }",
        "{ \"found\": { \"limit\": 2 } }",
        "{\"sum\":3}\ndone",
        "{\n  \"result\": {\n    \"ran\": |\n      return \n      1\n  },\n  \"calls\": []\n}",
        "{ \"result\": { \"ran\": \"plan\" }, \"calls\": [] }",
    ];
    let start = format!("{}\n", expected.join("\n"));
    assert!(shown.starts_with(&start), "{shown}");
    assert!(shown.contains("\"outcome\": \"applied\""), "{shown}");
    assert!(shown.contains("  TOOL key=value …"), "{shown}");
}

#[test]
fn a_session_goes_on_after_a_mistake_and_remembers_it_in_its_status() {
    let (status, shown, said) = run(&[], "dance\nadd a\nsearch {\nadd a=4\n");
    assert_eq!((status, shown.as_str()), (Some(1), "{\"sum\":4}\ndone\n"));
    let expected = "\
`dance` is neither a tool nor a command; `help` lists them
`a` is neither `key=value` nor a JSON object
the arguments are not JSON: EOF while parsing an object at line 1 column 1
";
    assert_eq!(said, expected);
}

#[test]
fn history_is_kept_only_where_it_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("history");
    run(&["exit"], "");
    for line in ["add a=1\n", "add a=2\n"] {
        let words = ["--history", history.to_str().unwrap(), "--stdio", SERVER];
        assert_eq!(run_plain(&words, line).0, Some(0));
    }
    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.ends_with("add a=1\nadd a=2\n"), "{kept}");
    assert!(!Path::new("history.txt").exists());
}
