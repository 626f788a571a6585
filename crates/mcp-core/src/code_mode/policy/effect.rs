//! Whether an operation reads or writes, from its method and words alone.
//!
//! Nothing a document says of itself is believed: a hostile or careless document could call a
//! deletion a read. The method decides, a closed list of acting words narrows it, and the profile or
//! the operator's configuration may mark single routes as reads.

use crate::{openapi::Summary, profile::Profile};

/// What an operation does to the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads.
    Read,
    /// May change something.
    Write,
}

/// Words that mean an action although the method says GET: taken from operations of public APIs
/// that act on GET (Slack's `auth.revoke`, Kubernetes' `proxy`, `exec`, `attach` and `portforward`,
/// Airflow's `logout`, build and run triggers).
const ACTING_WORDS: &[&str] = &[
    "abort",
    "activate",
    "add",
    "approve",
    "attach",
    "cancel",
    "clear",
    "connect",
    "create",
    "deactivate",
    "delete",
    "deny",
    "destroy",
    "disable",
    "disconnect",
    "enable",
    "exec",
    "execute",
    "flush",
    "impersonate",
    "install",
    "invalidate",
    "invoke",
    "kick",
    "kill",
    "leave",
    "login",
    "logout",
    "mute",
    "pause",
    "portforward",
    "proxy",
    "publish",
    "purge",
    "reboot",
    "rebuild",
    "register",
    "reject",
    "remove",
    "rename",
    "reset",
    "restart",
    "restore",
    "resume",
    "revoke",
    "rotate",
    "send",
    "shutdown",
    "signout",
    "start",
    "stop",
    "submit",
    "subscribe",
    "suspend",
    "terminate",
    "trigger",
    "unarchive",
    "uninstall",
    "unpublish",
    "unsubscribe",
    "update",
    "upgrade",
    "write",
];

/// Words that are verbs in method-like names (`views.open`, `{id}:archive`) and nouns or adjectives
/// as plain path segments (`/issues/open`, `/repository/archive`).
const ACTING_IN_METHODS: &[&str] = &["archive", "close", "merge", "open", "post", "set"];

/// Words an id of a reading operation begins or ends with.
const READING_WORDS: &[&str] = &[
    "check", "count", "describe", "download", "export", "fetch", "find", "get", "has", "inspect",
    "is", "list", "query", "read", "retrieve", "search", "show", "view",
];

/// What the operation does, so far as may be believed.
pub fn effect_of(operation: &Summary, profile: &Profile) -> Effect {
    let method = operation.method.as_str();
    let marked = profile.is_marked_read(method, &operation.path);
    match method {
        "TRACE" => Effect::Write,
        _ if marked => Effect::Read,
        "GET" | "HEAD" if !acts(&operation.id, &operation.path) => Effect::Read,
        _ => Effect::Write,
    }
}

/// Whether the path's or the id's verb is an acting word.
fn acts(id: &str, path: &str) -> bool {
    path_acts(path) || id_acts(id)
}

/// Only the last fixed segment of a path can be its verb: `/auth.revoke`, `/pods/{name}/exec`,
/// `/jobs/{id}:cancel`. Of several words the first is the verb, unless they name a collection
/// (`/merge_requests`, `/proxy_endpoints`).
fn path_acts(path: &str) -> bool {
    let verb =
        path.trim_end_matches('/').rsplit('/').map(without_parameters).find(|it| !it.is_empty());
    let verb = verb.unwrap_or_default();
    if let Some((_, method)) = verb.rsplit_once(['.', ':']) {
        let first = words(method).into_iter().next().unwrap_or_default();
        return is_acting(&first) || ACTING_IN_METHODS.contains(&first.as_str());
    }
    match words(&verb).as_slice() {
        [] => false,
        [only] => is_acting(only),
        [first, .., last] => is_acting(first) && !is_plural(last),
    }
}

/// The fixed text of a segment: `{id}:cancel` is `:cancel`.
fn without_parameters(segment: &str) -> String {
    let mut depth = 0_u32;
    segment
        .chars()
        .filter(|character| match character {
            '{' => {
                depth += 1;
                false
            }
            '}' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
        .collect()
}

fn is_plural(word: &str) -> bool {
    word.ends_with('s') && !word.ends_with("ss")
}

/// An id says what an honest document means where the path does not; a dishonest one gains nothing
/// by it, for the path has been judged already.
fn id_acts(id: &str) -> bool {
    let all = words(id);
    let last_part = id.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    let verb = words(last_part).into_iter().next();
    let reads = [all.first(), all.last(), verb.as_ref()]
        .into_iter()
        .flatten()
        .any(|word| READING_WORDS.contains(&word.as_str()));
    !reads && [all.first(), verb.as_ref()].into_iter().flatten().any(|word| is_acting(word))
}

fn is_acting(word: &str) -> bool {
    ACTING_WORDS.contains(&word)
}

/// Splits `usersRevoke_all.now` into lower-case words.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut boundary = true;
    let mut previous_lower = false;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            boundary = true;
            continue;
        }
        if boundary || (character.is_uppercase() && previous_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        boundary = false;
        previous_lower = character.is_lowercase() || character.is_numeric();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acting_reads_are_told_from_reading_ones() {
        let acting = [
            ("auth_revoke", "/auth.revoke"),
            (
                "connectCoreV1GetNamespacedPodProxy",
                "/api/v1/namespaces/{namespace}/pods/{name}/proxy",
            ),
            (
                "connectCoreV1GetNamespacedPodExec",
                "/api/v1/namespaces/{namespace}/pods/{name}/exec",
            ),
            ("logout", "/auth/logout"),
            ("", "/jobs/{id}/publish"),
            ("", "/jobs/{id}:cancel"),
            ("views_open", "/views.open"),
            ("workflows_updateStep", "/workflows.updateStep"),
            ("getRevoke", "/auth.revoke"),
            ("core_users_impersonate_end_retrieve", "/core/users/impersonate_end/"),
        ];
        for (id, path) in acting {
            assert!(acts(id, path), "{id} {path} acts");
        }
        let reading = [
            ("core_users_list", "/core/users/"),
            ("repos/list-commits", "/repos/{owner}/{repo}/commits"),
            ("actions/list-workflow-runs", "/repos/{owner}/{repo}/actions/runs"),
            ("listConnections", "/connections"),
            ("getUpdateStatus", "/updates/{id}"),
            ("getV3ProjectsIdMergeRequests", "/v3/projects/{id}/merge_requests"),
            ("repos/download-zipball-archive", "/repos/{owner}/{repo}/zipball/{ref}"),
            ("pulls/check-if-merged", "/repos/{owner}/{repo}/pulls/{pull_number}/merge"),
            ("listAppsV1NamespacedReplicaSet", "/apis/apps/v1/namespaces/{namespace}/replicasets"),
            ("lifecycle_iterations_list_open", "/lifecycle/iterations/open/"),
            ("stages_user_login_list", "/stages/user_login/"),
        ];
        for (id, path) in reading {
            assert!(!acts(id, path), "{id} {path} reads");
        }
    }
}
