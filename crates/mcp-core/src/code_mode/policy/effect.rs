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
/// Airflow's `logout`, Jenkins' and Gitea's build and run triggers).
const ACTING_WORDS: &[&str] = &[
    "abort",
    "activate",
    "add",
    "approve",
    "archive",
    "attach",
    "cancel",
    "clear",
    "close",
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
    "merge",
    "mute",
    "open",
    "pause",
    "portforward",
    "post",
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
    "set",
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

/// Whether the id's or the path's verb is an acting word.
///
/// In a path only the last static segment can be the verb (`/auth.revoke`, `/pods/{name}/exec`), and
/// a word inside an id only where ids put their verbs: first or last. Anywhere else such a word is a
/// noun (`/actions/runs/{id}/logs`, `list_restore_points`).
fn acts(id: &str, path: &str) -> bool {
    let last_static = path
        .trim_end_matches('/')
        .rsplit('/')
        .find(|segment| !segment.starts_with('{'))
        .unwrap_or_default();
    words(last_static).iter().any(|word| is_acting(word)) || id_acts(id)
}

fn id_acts(id: &str) -> bool {
    let words = words(id);
    let ends = [words.first(), words.last()];
    ends.into_iter().flatten().any(|word| is_acting(word))
}

fn is_acting(word: &str) -> bool {
    ACTING_WORDS.binary_search(&word).is_ok()
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
    fn the_list_is_sorted_for_its_search() {
        assert!(ACTING_WORDS.is_sorted());
    }

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
        ];
        for (id, path) in reading {
            assert!(!acts(id, path), "{id} {path} reads");
        }
    }
}
