//! What scripts can reach by name, and what they cannot.

use std::fs;

use super::*;

fn open(names: &[&str]) -> (tempfile::TempDir, Files) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("secret.txt"), "outside").unwrap();
    let folders: Vec<_> = names.iter().map(|name| root.path().join(format!("d{name}"))).collect();
    for folder in &folders {
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("a.pdf"), "bytes of a").unwrap();
        fs::write(folder.join("sub/b.csv"), "1,2").unwrap();
    }
    let pairs =
        names.iter().map(|name| (*name).to_owned()).zip(folders.iter().map(|it| it.as_path()));
    let files = Files::open(pairs).unwrap();
    (root, files)
}

fn read(files: &Files, name: &str) -> Result<Value, String> {
    files.read(&[json!(name)]).map_err(|error| error.message)
}

fn save(files: &Files, name: &str, value: Value) -> Result<Value, String> {
    let save = Save::parse(&json!([name, value]).to_string()).map_err(|error| error.message)?;
    files.write(&save).map(|()| json!(save.bytes.len())).map_err(|error| error.message)
}

#[test]
fn a_handle_says_what_the_file_is_and_holds_none_of_it() {
    let (_root, files) = open(&[""]);
    let handle = read(&files, "a.pdf").unwrap();
    assert_eq!(handle["$file"], json!("a.pdf"));
    assert_eq!((&handle["size"], &handle["type"]), (&json!(10), &json!("application/pdf")));
    assert_eq!(handle["sha256"].as_str().map(str::len), Some(64));
    assert!(!handle.to_string().contains("bytes of a"));
    assert_eq!(read(&files, "sub/b.csv").unwrap()["type"], json!("text/csv"));
    assert_eq!(files.list().unwrap(), json!(["a.pdf"]));
}

#[test]
fn names_of_several_directories_begin_with_the_directorys_own() {
    let (_root, files) = open(&["in", "out"]);
    assert_eq!(read(&files, "in/a.pdf").unwrap()["size"], json!(10));
    let error = read(&files, "a.pdf").unwrap_err();
    assert!(error.contains("names begin with `in/…`, `out/…`"), "{error}");
    assert_eq!(files.list().unwrap(), json!(["in/a.pdf", "out/a.pdf"]));
}

#[test]
fn no_name_leads_out_of_its_directory() {
    let (root, files) = open(&[""]);
    let outside = root.path().join("secret.txt");
    for name in
        ["../secret.txt", "sub/../../secret.txt", outside.to_str().unwrap(), "", ".", "..", "a\0b"]
    {
        let error = read(&files, name).unwrap_err();
        assert!(error.contains("leads out of its directory"), "{name:?}: {error}");
        assert!(save(&files, name, json!("x")).is_err(), "{name:?}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "outside");
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_not_followed_and_pipes_are_not_waited_for() {
    use std::os::unix::fs::symlink;

    let (root, files) = open(&[""]);
    let folder = root.path().join("d");
    symlink("../secret.txt", folder.join("file")).unwrap();
    symlink("..", folder.join("up")).unwrap();
    symlink("/", folder.join("root")).unwrap();
    symlink("../new.txt", folder.join("new")).unwrap();
    for name in ["file", "up/secret.txt", "root/etc/passwd", "new"] {
        assert!(read(&files, name).is_err(), "{name}");
        assert!(save(&files, name, json!("x")).is_err(), "{name}");
    }
    assert!(save(&files, "up/made.txt", json!("x")).is_err());
    assert!(!root.path().join("new.txt").exists() && !root.path().join("made.txt").exists());
    let pipe = folder.join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|it| it.success()) {
        assert!(read(&files, "pipe").unwrap_err().contains("not a file"));
    }
}

/// Where the kernel cannot keep a path beneath a directory, no link is followed at all.
#[cfg(unix)]
#[test]
fn step_by_step_follows_no_link() {
    use rustix::fs::{Mode, OFlags};

    let (root, _) = open(&[""]);
    let folder = root.path().join("d");
    std::os::unix::fs::symlink("sub", folder.join("link")).unwrap();
    std::os::unix::fs::symlink("a.pdf", folder.join("to_a")).unwrap();
    let handle = fs::File::open(&folder).unwrap();
    let open = |parts: &[&str]| {
        beneath::step_by_step(&handle, parts, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    };
    assert!(open(&["sub", "b.csv"]).is_ok());
    assert!(open(&["link", "b.csv"]).is_err());
    assert!(open(&["to_a"]).is_err());
}

#[test]
fn a_response_its_text_and_its_bytes_are_saved_once_and_never_over_another_file() {
    let (root, files) = open(&[""]);
    let folder = root.path().join("d");
    let bytes = json!({ "status": 200, "data": { "base64": "AAH/", "type": "x/y", "size": 3 } });
    assert_eq!(save(&files, "n.bin", bytes.clone()).unwrap(), json!(3));
    assert!(save(&files, "n.bin", bytes).is_ok(), "the same bytes again are no change");
    assert_eq!(fs::read(folder.join("n.bin")).unwrap(), [0, 1, 255]);
    save(&files, "sub/n.txt", json!({ "status": 200, "data": "text" })).unwrap();
    assert_eq!(fs::read(folder.join("sub/n.txt")).unwrap(), b"text");
    save(&files, "n.json", json!({ "status": 200, "data": [1, { "a": 2 }] })).unwrap();
    assert_eq!(fs::read(folder.join("n.json")).unwrap(), br#"[1,{"a":2}]"#);
    let error = save(&files, "a.pdf", json!("other")).unwrap_err();
    assert!(error.contains("there is one already"), "{error}");
    assert_eq!(fs::read(folder.join("a.pdf")).unwrap(), b"bytes of a");
    assert!(save(&files, "no/such/folder.txt", json!("x")).is_err());
}

#[tokio::test]
async fn a_handle_in_a_body_becomes_the_file_if_it_is_still_the_same() {
    let (root, files) = open(&[""]);
    let handle = read(&files, "a.pdf").unwrap();
    let raw = |value: Value| RawValue::from_string(value.to_string()).unwrap();
    let body = raw(json!({ "title": "t", "parts": [handle] }));
    let expanded = files.expand(&body).await.unwrap().unwrap();
    let value: Value = serde_json::from_str(expanded.get()).unwrap();
    assert_eq!(value["parts"][0]["base64"], json!(STANDARD.encode("bytes of a")));
    assert_eq!(value["parts"][0]["filename"], json!("a.pdf"));
    assert!(files.expand(&raw(json!({ "title": "no file" }))).await.unwrap().is_none());
    fs::write(root.path().join("d/a.pdf"), "changed").unwrap();
    let error = files.expand(&body).await.unwrap_err();
    assert!(error.message.contains("read it again"), "{}", error.message);
}

#[test]
fn a_stand_in_is_the_files_digest_and_changes_with_it() {
    let handle = |sha256: &str| json!({ "f": { "$file": "d/a.png", "size": 1, "sha256": sha256 } });
    let mut one = handle("00");
    assert!(stand_in(&mut one));
    let expected =
        json!({ "base64": STANDARD.encode("00"), "type": "image/png", "filename": "a.png" });
    assert_eq!(one["f"], expected);
    let mut other = handle("01");
    assert!(stand_in(&mut other) && one != other);
    assert!(!stand_in(&mut json!({ "$file": "no digest" })));
    assert!(has_handle(&handle("00").to_string()) && !has_handle(r#"{"$file":"a"}"#));
}
