//! What counts as a read, over real documents.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use mcp_core::{
    code_mode::policy::{Effect, effect_of},
    openapi::{self, Document, LoadOptions, Method, source::DocumentLocation},
    profile::Profile,
};

fn document(name: &str) -> Option<Document> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/specs")).join(name);
    if !path.exists() {
        skipped(&path);
        return None;
    }
    Some(openapi::load(&fs::read(path).unwrap(), &LoadOptions::default()).unwrap())
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(path: &std::path::Path) {
    eprintln!("skipped: {} is not here", path.display());
}

fn custom() -> Profile {
    Profile::custom(None, DocumentLocation::parse("openapi.json").unwrap()).unwrap()
}

/// The GETs of a document that count as writes.
fn acting(document: &Document, profile: &Profile) -> BTreeSet<String> {
    document
        .summaries()
        .iter()
        .filter(|it| it.method == Method::Get && effect_of(it, profile) == Effect::Write)
        .map(|it| it.id.clone())
        .collect()
}

#[test]
fn acting_gets_are_writes_and_reading_gets_are_not() {
    let table: &[(&str, Profile, &[&str])] = &[
        (
            "slack-v2.json",
            custom(),
            &[
                "apps_uninstall",
                "auth_revoke",
                "dialog_open",
                "rtm_connect",
                "views_open",
                "views_publish",
                "views_update",
                "workflows_updateStep",
            ],
        ),
        ("airflow.yaml", custom(), &["login", "logout"]),
        (
            "kubernetes.json",
            custom(),
            &[
                "connectCoreV1GetNamespacedPodAttach",
                "connectCoreV1GetNamespacedPodExec",
                "connectCoreV1GetNamespacedPodPortforward",
                "connectCoreV1GetNamespacedPodProxy",
                "connectCoreV1GetNamespacedPodProxyWithPath",
                "connectCoreV1GetNamespacedServiceProxy",
                "connectCoreV1GetNamespacedServiceProxyWithPath",
                "connectCoreV1GetNodeProxy",
                "connectCoreV1GetNodeProxyWithPath",
            ],
        ),
        (
            "authentik.yaml",
            Profile::authentik(),
            &["core_users_impersonate_end_retrieve", "flows_instances_execute_retrieve"],
        ),
        ("sentry.json", Profile::sentry(), &[]),
        ("github.json", custom(), &[]),
        ("stripe.json", custom(), &[]),
        ("openai.yaml", custom(), &[]),
        // Nouns that begin like verbs: refused to be safe, `--mark-read` is for them.
        (
            "msgraph.json",
            custom(),
            &[
                "deviceAppManagement.managedEBooks.GetInstallSummary",
                "print.taskDefinitions.tasks.GetTrigger",
                "security.cases.ediscoveryCases.searches.GetAddToReviewSetOperation",
            ],
        ),
    ];
    for (name, profile, expected) in table {
        let Some(document) = document(name) else { continue };
        let expected: BTreeSet<_> = expected.iter().map(|&id| id.to_owned()).collect();
        assert_eq!(acting(&document, profile), expected, "{name}");
    }
}

#[test]
fn methods_other_than_get_and_head_are_writes_unless_marked() {
    let Some(document) = document("github.json") else { return };
    let mut profile = custom();
    profile.reads = vec!["POST /markdown".to_owned()];
    for it in document.summaries() {
        let reads = effect_of(it, &profile) == Effect::Read;
        let expected =
            matches!(it.method, Method::Get | Method::Head) || it.id == "markdown/render";
        assert_eq!(reads, expected, "{} {}", it.method.as_str(), it.path);
    }
}
