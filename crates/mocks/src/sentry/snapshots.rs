//! Visual snapshots of an app, with their images; read only.

use serde_json::{Value, json};

use super::attachments::PNG;
use super::{State, by_id_or_slug, not_found, organization, project};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::table::{Columns as _, Row, row};

const ONE: &str =
    "/organizations/{organization_id_or_slug}/preprodartifacts/snapshots/{snapshot_id}/";
const LATEST: &str =
    "/organizations/{organization_id_or_slug}/preprodartifacts/snapshots/latest-base/";
const IMAGE: &str = "/organizations/{organization_id_or_slug}/preprodartifacts/snapshots/{snapshot_id}/images/{image_identifier}/";
/// Names of images may hold one slash here; the real route takes any number.
const DEEP_IMAGE: &str = "/organizations/{organization_id_or_slug}/preprodartifacts/snapshots/{snapshot_id}/images/{folder}/{image_identifier}/";
const FILE: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/files/images/{key}/";
const APP: &str = "test.harbor-lantern.lamp";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![
        get(ONE, retrieve),
        get(LATEST, latest),
        get(IMAGE, image),
        get(DEEP_IMAGE, image),
        get(FILE, file),
    ]
}

/// A base on `main`, and a branch that changes, adds and removes an image.
pub(super) fn seed(state: &mut State) {
    let project = state.projects.find("slug", "lamp-mobile").map(|it| it.value("id"));
    let base = state.ids.number("snapshot", 88_000).to_string();
    let head = state.ids.number("snapshot", 88_000).to_string();
    for (id, branch, base, images) in [
        (&base, "main", None, json!(["home.png", "settings/dark.png", "old.png"])),
        (&head, "brighter-lamp", Some(&base), json!(["home.png", "settings/dark.png", "new.png"])),
    ] {
        let columns = json!({
            "id": id,
            "project_id": project,
            "base_id": base,
            "branch": branch,
            "images": images,
            "date_added": "2026-05-03T16:00:00Z",
        });
        state.snapshots.insert(id, row(columns));
    }
}

fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let snapshot = state.snapshots.get(call.value(1)).ok_or_else(not_found)?;
    let base = state.snapshots.get(snapshot.text("base_id"));
    let all = names(snapshot);
    let before = base.map(names).unwrap_or_default();
    let views = |names: &[&str]| names.iter().map(|it| short(it)).collect::<Vec<_>>();
    let added: Vec<&str> = all.iter().filter(|it| !before.contains(it)).copied().collect();
    let removed: Vec<&str> = before.iter().filter(|it| !all.contains(it)).copied().collect();
    let common: Vec<&str> = all.iter().filter(|it| before.contains(it)).copied().collect();
    let (changed, unchanged) = common.split_at(common.len().min(1));
    let pairs: Vec<Value> = changed
        .iter()
        .map(|it| json!({ "base_image": short(it), "head_image": short(it), "diff_image_key": key(it), "diff": 0.125 }))
        .collect();
    let solo = base.is_none();
    Ok(Reply::json(
        200,
        &json!({
            "head_artifact_id": snapshot.text("id"),
            "base_artifact_id": snapshot.value("base_id"),
            "project_id": snapshot.text("project_id"),
            "comparison_type": if solo { "solo" } else { "diff" },
            "state": "processed",
            "vcs_info": vcs(snapshot, base),
            "app_id": APP,
            "is_selective": false,
            "images": if solo { views(&all) } else { Vec::new() },
            "image_count": all.len(),
            "changed": pairs,
            "changed_count": pairs.len(),
            "added": if solo { Vec::new() } else { views(&added) },
            "added_count": if solo { 0 } else { added.len() },
            "removed": views(&removed),
            "removed_count": removed.len(),
            "renamed": [],
            "renamed_count": 0,
            "unchanged": views(unchanged),
            "unchanged_count": unchanged.len(),
            "errored": [],
            "errored_count": 0,
            "skipped": [],
            "skipped_count": 0,
            "diff_threshold": 0.01,
            "comparison_state": if solo { Value::Null } else { json!("success") },
            "approval_status": if solo { Value::Null } else { json!("requires_approval") },
        }),
    ))
}

fn latest(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    if call.query("app_id").as_deref().unwrap_or_default().is_empty() {
        return Err(Reply::json(400, &json!({ "app_id": ["This field is required."] })));
    }
    let name = call.query("project").or_else(|| call.query("projectSlug"));
    let wanted = match name {
        Some(name) => Some(by_id_or_slug(&state.projects, &name)?.text("id")),
        None => None,
    };
    let branch = call.query("branch").unwrap_or_else(|| "main".to_owned());
    let found = state.snapshots.rows().find(|it| {
        it.text("branch") == branch && wanted.is_none_or(|id| id == it.text("project_id"))
    });
    let known = call.query("app_id").as_deref() == Some(APP);
    let snapshot = found.filter(|_| known).ok_or_else(not_found)?;
    let project = state.projects.get(snapshot.text("project_id"));
    let slug = project.map_or("", |it| it.text("slug"));
    let images: Vec<Value> = names(snapshot).iter().map(|it| full(it, slug)).collect();
    Ok(Reply::json(
        200,
        &json!({
            "head_artifact_id": snapshot.text("id"),
            "project_id": snapshot.text("project_id"),
            "project_slug": slug,
            "app_id": APP,
            "image_count": images.len(),
            "images": images,
            "diff_threshold": 0.01,
            "date_added": snapshot.text("date_added"),
            "vcs_info": vcs(snapshot, None),
        }),
    ))
}

fn image(state: &State, call: &Call<'_>) -> Answer {
    organization(state, call)?;
    let snapshot = state.snapshots.get(call.value(1)).ok_or_else(not_found)?;
    let name = match call.value(3) {
        "" => call.value(2).to_owned(),
        last => format!("{}/{last}", call.value(2)),
    };
    let base = state.snapshots.get(snapshot.text("base_id"));
    let project = state.projects.get(snapshot.text("project_id"));
    let slug = project.map_or("", |it| it.text("slug"));
    let shown =
        |snapshot: &Row| names(snapshot).contains(&name.as_str()).then(|| full(&name, slug));
    let (head, before) = (shown(snapshot), base.and_then(shown));
    let (status, diff) = match (&head, &before) {
        (None, None) => return Err(not_found()),
        (Some(_), Some(_)) => ("changed", Some(address(&name, slug))),
        (Some(_), None) => ("added", None),
        (None, Some(_)) => ("removed", None),
    };
    Ok(Reply::json(
        200,
        &json!({
            "image_file_name": name,
            "comparison_status": base.map(|_| status),
            "head_image": head,
            "base_image": before,
            "diff_image_url": diff,
            "diff_percentage": diff.as_ref().map(|_| 0.125),
            "previous_image_file_name": null,
        }),
    ))
}

/// Every image is the same pixel.
fn file(state: &State, call: &Call<'_>) -> Answer {
    project(state, call)?;
    let reply = Reply { status: 200, body: PNG.to_vec(), ..Reply::default() };
    Ok(reply.header("content-type", "image/png"))
}

fn names(snapshot: &Row) -> Vec<&str> {
    snapshot.list("images").iter().filter_map(Value::as_str).collect()
}

fn key(name: &str) -> String {
    name.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn address(name: &str, project: &str) -> String {
    format!("/api/0/projects/harbor-lantern/{project}/files/images/{}/", key(name))
}

fn short(name: &str) -> Value {
    json!({
        "key": key(name), "display_name": name, "group": null, "image_file_name": name,
        "width": 1, "height": 1, "canvas_theme": null,
    })
}

fn full(name: &str, project: &str) -> Value {
    let mut image = short(name);
    image["image_url"] = address(name, project).into();
    image["description"] = Value::Null;
    image["tags"] = Value::Null;
    image
}

fn vcs(snapshot: &Row, base: Option<&Row>) -> Value {
    json!({
        "head_sha": "4f1c2a9be07d5b13c6e8f0a1d2b3c4e5f6a7b8c9",
        "base_sha": base.map(|_| "0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e"),
        "provider": "github",
        "head_repo_name": "harbor-lantern/lamp-mobile",
        "head_ref": snapshot.text("branch"),
        "base_ref": base.map(|it| it.text("branch")),
        "pr_number": base.map(|_| 77),
    })
}
