//! Files of the operator's directories: uploaded and saved without passing through the model.

use serde_json::{Value, json};
use test_client::raw::Session;

use crate::{support, upstream::Upstream};

fn document() -> String {
    let upload = json!({ "type": "object", "required": ["file"], "properties": {
        "name": { "type": "string" }, "file": { "type": "string", "format": "binary" },
    } });
    json!({
        "openapi": "3.0.3", "info": { "title": "T", "version": "1" },
        "paths": {
            "/files": { "post": { "operationId": "upload", "requestBody": { "required": true, "content": { "multipart/form-data": { "schema": upload } } }, "responses": {} } },
            "/raw": { "put": { "operationId": "put", "requestBody": { "required": true, "content": { "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } } }, "responses": {} } },
            "/json": { "post": { "operationId": "json", "requestBody": { "content": { "application/json": { "schema": { "type": "object" } } } }, "responses": {} } },
            "/export": { "get": { "operationId": "export", "responses": {} } },
        },
    })
    .to_string()
}

async fn server(upstream: &Upstream, more: &[&str]) -> Session {
    let mut command = support::binary();
    command.args(["--openapi", &format!("{}/spec.json", upstream.base)]);
    command.args(["--base-url", &upstream.base, "--trusted"]).args(more);
    support::connect(command).await
}

async fn run(session: &mut Session, tool: &str, code: &str) -> (bool, Value) {
    let (is_error, text) = support::call(session, tool, json!({ "code": code })).await;
    (is_error, serde_json::from_str(&text).unwrap())
}

/// P52: an upload has its body.
#[tokio::test]
async fn a_file_is_sent_as_a_part_or_a_body_and_the_script_holds_only_its_handle() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("report.csv"), "a,b\n1,2\n").unwrap();
    let upstream = Upstream::start(&document());
    let mut session =
        server(&upstream, &["--confirm", "off", "--files", directory.path().to_str().unwrap()])
            .await;
    let code = "const file = await files.read('report.csv');
        await api.call('upload', { body: { name: 'r', file } });
        await api.call('put', { body: file });
        return [file, await files.list()]";
    let (is_error, answer) = run(&mut session, "execute_write", code).await;
    assert!(!is_error, "{answer}");
    assert_eq!(answer["result"][0]["type"], json!("text/csv"));
    assert_eq!(answer["result"][1], json!(["report.csv"]));
    assert!(!answer.to_string().contains("1,2"), "{answer}");
    let received = upstream.received();
    assert!(received[0].header("content-type").starts_with("multipart/form-data; boundary="));
    for text in [
        "name=\"name\"\r\n\r\nr\r\n",
        "name=\"file\"; filename=\"report.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\n1,2\n\r\n",
    ] {
        assert!(received[0].body.contains(text), "{}", received[0].body);
    }
    assert_eq!(received[1].body, "a,b\n1,2\n");
    let code = "await api.call('json', { body: { f: await files.read('report.csv') } })";
    let (is_error, answer) = run(&mut session, "execute_write", code).await;
    assert!(is_error && answer.to_string().contains("takes JSON"), "{answer}");
    assert_eq!(upstream.received().len(), 2);
}

#[tokio::test]
async fn saving_is_a_write_and_stays_in_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let upstream =
        Upstream::answering(&document(), |_| (200, String::new(), r#"{"rows":[1,2]}"#.to_owned()));
    let option = format!("out={}", directory.path().display());
    let mut session = server(&upstream, &["--confirm", "off", "--files", &option]).await;
    let save = "return await files.save('out/e.json', await api.call('export'))";
    let (is_error, answer) = run(&mut session, "execute", save).await;
    assert!(is_error && answer["error"]["rule"] == json!("read-only"), "{answer}");
    assert!(!directory.path().join("e.json").exists());
    let (is_error, answer) = run(&mut session, "execute_write", save).await;
    assert!(!is_error && answer["result"] == json!({ "saved": "out/e.json" }), "{answer}");
    let saved = std::fs::read_to_string(directory.path().join("e.json")).unwrap();
    assert_eq!(saved, r#"{"rows":[1,2]}"#);
    for name in ["out/../x", "x", "out/e.json"] {
        // The last is there already, with other bytes.
        let code = format!("await files.save('{name}', 'text')");
        let (is_error, answer) = run(&mut session, "execute_write", &code).await;
        assert!(is_error && answer["error"]["name"] == json!("FileError"), "{answer}");
    }
}

/// What is uploaded and saved is part of what a person confirms.
#[tokio::test]
async fn a_plan_names_its_files_and_the_run_is_held_to_them() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("in.csv");
    let output = directory.path().join("out.json");
    std::fs::write(&input, "a,b\n").unwrap();
    let upstream = Upstream::start(&document());
    let mut session = server(&upstream, &["--files", directory.path().to_str().unwrap()]).await;
    let code = "const file = await files.read('in.csv');
        await api.call('upload', { body: { file } });
        await files.save('out.json', await api.call('export'));
        return 'done'";
    let writes = || upstream.received().iter().filter(|it| it.method == "POST").count();
    let (_, asked) = run(&mut session, "execute_write", code).await;
    assert_eq!(asked["status"], json!("needs_confirmation"), "{asked}");
    assert_eq!(asked["plan"][0]["body"]["file"]["$file"], json!("in.csv"), "{asked}");
    assert_eq!(
        asked["plan"][1],
        json!({ "save": "out.json", "size": 2, "sha256": asked["plan"][1]["sha256"] }),
        "{asked}"
    );
    let line = asked["confirm"].as_str().unwrap();
    assert!(line.contains("POST 1, save 1 (/files, out.json)"), "{line}");
    assert!(writes() == 0 && !output.exists());

    std::fs::write(&input, "changed\n").unwrap();
    let confirmed = json!({ "code": code, "confirm": line });
    let (is_error, text) = support::call(&mut session, "execute_write", confirmed).await;
    assert!(is_error && text.contains("is not write 1 of the confirmed plan"), "{text}");
    assert!(writes() == 0 && !output.exists());

    let (_, asked) = run(&mut session, "execute_write", code).await;
    let confirmed = json!({ "code": code, "confirm": asked["confirm"] });
    let done = support::ok(&mut session, "execute_write", confirmed).await;
    assert_eq!(done["result"], json!("done"), "{done}");
    assert_eq!(writes(), 1);
    assert!(upstream.received().iter().any(|it| it.body.contains("changed\n")));
    assert_eq!(std::fs::read_to_string(output).unwrap(), "{}");
}

#[tokio::test]
async fn without_directories_there_are_no_files_and_the_flag_is_named() {
    let upstream = Upstream::start(&document());
    let mut session = server(&upstream, &[]).await;
    let (is_error, answer) = run(&mut session, "execute", "return typeof files").await;
    assert!(!is_error && answer["result"] == json!("undefined"), "{answer}");
    let (is_error, answer) = run(&mut session, "execute", "return await files.read('a')").await;
    assert!(
        is_error && answer["error"]["message"].as_str().unwrap().contains("--files DIR"),
        "{answer}"
    );
    let output = support::binary()
        .args(["--openapi", "a.json", "--base-url", "http://127.0.0.1:9", "--files", "/no/such"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// What a file will hold is part of the plan, and its name cannot break the line that confirms it.
#[tokio::test]
async fn a_planned_file_is_held_to_its_contents() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let count = AtomicUsize::new(0);
    let upstream = Upstream::answering(&document(), move |_: &_| {
        let version = count.fetch_add(1, Ordering::Relaxed);
        (200, String::new(), json!({ "version": version }).to_string())
    });
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path().to_str().unwrap();
    let mut session = server(&upstream, &["--files", files]).await;
    let code = "await files.save('a\\n#b.json', (await api.request('GET', '/export')).data)";
    let (_, planned) = run(&mut session, "execute_write", code).await;
    assert_eq!(planned["plan"][0]["size"], json!(13), "{planned}");
    assert!(planned["plan"][0]["sha256"].is_string(), "{planned}");
    let line = planned["confirm"].as_str().unwrap();
    assert!(!line.contains('\n') && line.contains("a\\u{a}#b.json"), "{line}");
    let confirmed = json!({ "code": code, "confirm": line });
    let (is_error, text) = support::call(&mut session, "execute_write", confirmed).await;
    assert!(is_error && text.contains("other contents than were confirmed"), "{text}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
