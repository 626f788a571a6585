//! Real documents: every operation is found, named, routed and rendered within its bounds.

use std::collections::{BTreeMap, HashSet};

use mcp_core::openapi::{Depth, Document, Method, full, line, schema, signature};

use super::{read, shared};

/// Operations by an independent count.
pub(super) const DOCUMENTS: [(&str, usize); 31] = [
    ("adyen-capital-v31.json", 12),
    ("airflow.yaml", 128),
    ("argocd-v2.json", 106),
    ("asana.yaml", 247),
    ("authentik.yaml", 1193),
    ("box.json", 296),
    ("cloudflare-zero_trust.yaml", 427),
    ("cohere.yaml", 41),
    ("digitalocean.json", 290),
    ("directus.json", 136),
    ("docker-v2.yaml", 108),
    ("gitea.json", 346),
    ("github-webhooks-v31.json", 0),
    ("github.json", 1223),
    ("gitlab.json", 358),
    ("jira.json", 499),
    ("kubernetes.json", 845),
    ("msgraph.json", 11422),
    ("museum-v31.yaml", 8),
    ("notion.json", 24),
    ("openai.yaml", 288),
    ("pagerduty.json", 465),
    ("parameters-style-v31.json", 25),
    ("prefect.json", 188),
    ("schema-types-v31.yaml", 23),
    ("sentry.json", 223),
    ("slack-v2.json", 174),
    ("stripe.json", 452),
    ("tictactoe-v31.yaml", 3),
    ("train-travel-v31.json", 7),
    ("webhook-v31.yaml", 0),
];

#[test]
fn every_operation_of_every_document_is_found() {
    let Some(folder) = shared("specs") else { return };
    for (name, operations) in DOCUMENTS.iter().filter(|(name, _)| folder.join(name).is_file()) {
        let document = read(&folder.join(name));
        assert_eq!((document.len(), document.skipped()), (*operations, &[][..]), "{name}");
        check_names(name, &document);
        // Some of them are enough.
        let step = if document.len() > 2_000 { 50 } else { 5 };
        for index in (0..document.len()).step_by(step) {
            check_operation(name, &document, index);
        }
    }
}

fn check_names(name: &str, document: &Document) {
    let mut ids = HashSet::new();
    for (index, summary) in document.summaries().iter().enumerate() {
        assert!(ids.insert(&summary.id), "{name}: {} twice", summary.id);
        assert_eq!(document.find_id(&summary.id), Some(index), "{name}: {}", summary.id);
        assert_eq!(
            document.find_route(summary.method.as_str(), &summary.path),
            Some(index),
            "{name}"
        );
        assert!(
            line(summary).len() <= 150.max(summary.id.len() + summary.path.len() + 30),
            "{name}"
        );
    }
}

fn check_operation(name: &str, document: &Document, index: usize) {
    let summary = &document.summaries()[index];
    let operation = document.operation(index).unwrap();
    assert_eq!((&operation.id, &operation.path), (&summary.id, &summary.path));
    let names: HashSet<_> =
        operation.parameters.iter().map(|it| (&it.name, format!("{:?}", it.location))).collect();
    assert_eq!(names.len(), operation.parameters.len(), "{name}: {}", summary.id);

    let text = signature(document, index, Depth::default());
    assert!(
        text.contains(&format!("{} {} {}", summary.id, summary.method, summary.path)),
        "{name}: {text}"
    );
    assert!(
        text.len() <= Depth::default().bytes + 1_000,
        "{name}: {} has {}",
        summary.id,
        text.len()
    );
    assert!(full(document, index).len() <= Depth::FULL.bytes + 6_000, "{name}: {}", summary.id);

    let mut path = summary.path.clone();
    while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
        path.replace_range(start..=end, "q7");
    }
    if path.contains(['?', '#', '[']) {
        return;
    }
    let found = document
        .route(summary.method.as_str(), &path)
        .unwrap_or_else(|error| panic!("{name}: {path}: {error}"));
    // Two templates may differ in the names of their parameters alone.
    let bare = |template: &str| {
        template.split('{').map(|it| it.split_once('}').map_or(it, |it| it.1)).collect::<String>()
    };
    assert_eq!(bare(&found.template), bare(&summary.path), "{name}: {path}");
    assert!(found.values.iter().all(|(_, value)| value == "q7"), "{name}: {found:?}");
}

#[test]
fn a_document_survives_the_cache() {
    let Some(folder) = shared("specs") else { return };
    let document = read(&folder.join("authentik.yaml"));
    let bytes = document.to_bytes().unwrap();
    let again = Document::from_bytes(&bytes).unwrap();
    assert_eq!(again.summaries(), document.summaries());
    assert_eq!(again.hash(), document.hash());
    for index in (0..document.len()).step_by(50) {
        assert_eq!(full(&again, index), full(&document, index));
    }
    for cut in [0, 1, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(Document::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn signatures_are_short() {
    let Some(folder) = shared("specs") else { return };
    for (name, limit) in [
        ("sentry.json", 700),
        ("authentik.yaml", 480),
        ("github.json", 520),
        ("stripe.json", 1_000),
    ] {
        let document = read(&folder.join(name));
        let bytes: usize = (0..document.len())
            .map(|index| signature(&document, index, Depth::default()).len())
            .sum();
        assert!(bytes / document.len() <= limit, "{name}: {}", bytes / document.len());
    }
}

#[test]
fn authentik_is_read_as_it_is() {
    let Some(folder) = shared("specs") else { return };
    let document = read(&folder.join("authentik.yaml"));
    assert_eq!(document.server_url(&BTreeMap::new()), "/api/v3");
    assert_eq!(document.base_paths(), ["/api/v3"]);
    let wanted = document.find_id("core_users_retrieve");
    for path in ["/core/users/7/", "/core/users/7", "/api/v3/core/users/7/", "/api/v3/core/users/7"]
    {
        let found = document.route("get", path).unwrap();
        assert_eq!(
            (Some(found.operation), found.path.as_str()),
            (wanted, "/core/users/7/"),
            "{path}"
        );
    }
    let nearest = document.nearest("GET", "/core/user/7/", 3);
    assert_eq!(document.summaries()[nearest[0]].id, "core_users_retrieve");
    assert!(schema(&document, "user", 1).unwrap().contains("User = {"));
}

#[test]
fn github_contents_take_several_segments() {
    let Some(folder) = shared("specs") else { return };
    let document = read(&folder.join("github.json"));
    let found = document.route("GET", "/repos/o/r/contents/src/a b/é.rs").unwrap();
    assert_eq!(document.summaries()[found.operation].id, "repos/get-content");
    assert_eq!(found.values[2], ("path".to_owned(), "src/a b/é.rs".to_owned()));
    assert_eq!(found.path, "/repos/o/r/contents/src/a%20b/%C3%A9.rs");
    let parameter = &document.operation(found.operation).unwrap().parameters[2];
    assert_eq!((parameter.name.as_str(), parameter.multi_segment), ("path", true));
}

#[test]
fn a_listed_method_is_named_where_another_was_asked_for() {
    let Some(folder) = shared("specs") else { return };
    let document = read(&folder.join("github.json"));
    let error = document.route("DELETE", "/user/emails/x").unwrap_err();
    assert_eq!(error.to_string(), "no documented operation has this path");
    let error = document.route("PUT", "/user/emails").unwrap_err();
    assert_eq!(error.to_string(), "this path is documented only for GET, POST, DELETE");
    let nearest = document.nearest("PUT", "/user/emails", 3);
    assert_eq!(document.summaries()[nearest[0]].path, "/user/emails");
    assert_eq!(Method::parse("delete"), Some(Method::Delete));
}
