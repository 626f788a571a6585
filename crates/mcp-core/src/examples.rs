//! The answers in `docs/examples` are what the tools say today of the mock's issues.

use std::{fs, path::PathBuf};

use serde_json::json;

use crate::test_support::Sentry;

const EXAMPLES: &[(&str, &str)] = &[
    ("python", "QUAY-API-2"),
    ("javascript", "QUAY-WEB-3"),
    ("java", "LAMP-MOBILE-1"),
    ("go", "TIDE-WORKER-2"),
    ("rust", "TIDE-WORKER-3"),
    ("php", "QUAY-API-3"),
    ("csharp", "QUAY-API-4"),
    ("n-plus-one", "QUAY-API-6"),
];
const COMMAND: &str = "cargo test -p mcp-core --lib -- --ignored examples::write";

fn path(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples");
    PathBuf::from(folder).join(name).with_extension("md")
}

async fn example(issue: &str) -> String {
    let arguments = json!({"organizationSlug": "harbor-lantern", "issueId": issue});
    let shown = Sentry::new().call("get_issue_details", arguments).await;
    let (_, answer) = shown.split_once("--- text\n").unwrap();
    format!(
        "<!-- What `get_issue_details` says of the mock's {issue}. Written by `{COMMAND}`. -->\n\n{answer}"
    )
}

#[tokio::test]
async fn examples_are_current() {
    for (name, issue) in EXAMPLES {
        let written = fs::read_to_string(path(name)).unwrap_or_default();
        assert!(
            written == example(issue).await,
            "docs/examples/{name}.md is not current: run `{COMMAND}`"
        );
    }
}

#[tokio::test]
#[ignore = "writes the files"]
async fn write() {
    fs::create_dir_all(path("x").parent().unwrap()).unwrap();
    for (name, issue) in EXAMPLES {
        fs::write(path(name), example(issue).await).unwrap();
    }
}
