//! Sentry: tokens, slashes, errors, the routes beside the resources, and the real document.

use serde_json::{Value, json};

use crate::client::Client;

const ORGANIZATION: &str = "/organizations/harbor-lantern/";

fn missing() -> (u16, Value) {
    (404, json!({ "detail": "The requested resource does not exist" }))
}

#[test]
fn requests_without_the_token_get_401() {
    let client = Client::sentry();
    let sent = |headers: &[(&str, &str)]| {
        client.raw("GET", "/api/0/organizations/", headers, b"").unwrap().pair()
    };
    let none = json!({ "detail": "Authentication credentials were not provided." });
    assert_eq!(sent(&[]), (401, none));
    let wrong = [("authorization", "Bearer sntry-nobody")];
    assert_eq!(sent(&wrong), (401, json!({ "detail": "Invalid token" })));
    assert!(client.mock.token.starts_with("sntry-mock-"));
}

#[test]
fn slashes_methods_and_unknown_paths_are_answered_by_the_rules() {
    let client = Client::sentry();
    let read = client.get("/organizations/harbor-lantern/repos?per_page=5");
    assert_eq!(read.status, 301);
    let location = "/api/0/organizations/harbor-lantern/repos/?per_page=5";
    assert_eq!(read.header("location"), Some(location));
    let write = client.post("/organizations/harbor-lantern/dashboards", json!({ "title": "x" }));
    assert_eq!(write.pair(), missing());
    let wrong = client.patch("/organizations/harbor-lantern/dashboards/", json!({}));
    assert_eq!(wrong.pair(), (405, json!({ "detail": "Method \"PATCH\" not allowed." })));
    assert_eq!(client.get("/organizations/harbor-lantern/lighthouses/").pair(), missing());
    assert_eq!(client.get("/organizations/harbor-lantern/dashboards/1/").pair(), missing());
    let unimplemented: Vec<bool> =
        client.mock.log().iter().map(|entry| entry.unimplemented).collect();
    assert_eq!(unimplemented, [false, false, false, true, false]);
}

#[test]
fn unknown_organizations_and_projects_are_not_found_whatever_the_resource() {
    let client = Client::sentry();
    for path in [
        "",
        "projects/",
        "teams/",
        "members/",
        "members/me/",
        "monitors/",
        "environments/",
        "repos/",
        "dashboards/",
        "dashboards/1/",
        "detectors/",
    ] {
        assert_eq!(
            client.get(&format!("/organizations/nobody/{path}")).pair(),
            missing(),
            "{path}"
        );
    }
    for path in ["", "environments/", "teams/"] {
        assert_eq!(
            client.get(&format!("/projects/harbor-lantern/nothing/{path}")).pair(),
            missing()
        );
    }
    assert_eq!(client.get("/teams/harbor-lantern/nobody/").pair(), missing());
    assert!(client.mock.log().iter().all(|entry| !entry.unimplemented));
}

#[test]
fn the_organization_points_at_this_mock_as_its_region() {
    let client = Client::sentry();
    let organization = client.get(ORGANIZATION).json();
    assert_eq!(organization["slug"], "harbor-lantern");
    assert_eq!(organization["links"]["regionUrl"], client.mock.base_url);
    assert_eq!(client.get("/organizations/").json(), json!([organization]));
    assert_eq!(client.get("/organizations/?query=other").rows(), [] as [Value; 0]);
    let by_id = format!("/organizations/{}/", organization["id"].as_str().unwrap());
    assert_eq!(client.get(&by_id).json(), organization);
    assert_eq!(
        client.get("/users/me/regions/").json(),
        json!({ "regions": [{ "name": "us", "url": client.mock.base_url }] })
    );
    let me = json!({ "id": "7001", "name": "Eval Runner", "email": "eval@harbor-lantern.test" });
    assert_eq!(client.get("/auth/").json(), me);
}

#[test]
fn projects_teams_and_members_belong_together() {
    let client = Client::sentry();
    let projects = client.get(&format!("{ORGANIZATION}projects/")).rows();
    let slugs: Vec<&str> = projects.iter().map(|row| row["slug"].as_str().unwrap()).collect();
    assert_eq!(slugs, ["lamp-mobile", "quay-api", "quay-web", "tide-worker"]);
    let id: u64 = projects[0]["id"].as_str().unwrap().parse().unwrap();
    assert!((1 << 32..1 << 53).contains(&id));
    let found = client.get(&format!("{ORGANIZATION}projects/?query=QUAY")).rows();
    assert_eq!(found.len(), 2);
    let worker = client.get("/projects/harbor-lantern/tide-worker/").json();
    assert_eq!(worker["team"]["slug"], "dock-oncall");
    let by_id = format!("/projects/harbor-lantern/{}/", worker["id"].as_str().unwrap());
    assert_eq!(client.get(&by_id).json(), worker);
    let teams = client.get("/projects/harbor-lantern/tide-worker/teams/").rows();
    assert_eq!((teams.len(), &teams[0]["memberCount"]), (1, &json!(2)));

    let teams = client.get(&format!("{ORGANIZATION}teams/")).rows();
    assert_eq!(teams.len(), 4);
    let dock = teams.iter().find(|team| team["slug"] == "dock-oncall").unwrap();
    assert_eq!(dock["projects"][0]["slug"], "tide-worker");
    let brief = client.get(&format!("{ORGANIZATION}teams/?detailed=0")).rows();
    assert!(brief[0].get("projects").is_none());
    let own = client.get("/teams/harbor-lantern/dock-oncall/projects/").rows();
    assert_eq!(own[0]["slug"], "tide-worker");

    let members = client.get(&format!("{ORGANIZATION}members/")).rows();
    let pending: Vec<&Value> = members.iter().filter(|member| member["pending"] == true).collect();
    assert_eq!((members.len(), pending.len()), (7, 1));
    assert_eq!(pending[0]["user"], Value::Null);

    let environments = client.get(&format!("{ORGANIZATION}environments/")).rows();
    assert_eq!(environments.len(), 3);
    let own = client.get("/projects/harbor-lantern/quay-web/environments/").rows();
    assert_eq!((own.len(), &own[0]["isHidden"]), (2, &json!(false)));

    let detectors = client.get(&format!("{ORGANIZATION}detectors/")).rows();
    assert_eq!(detectors.len(), 4);
    let project = worker["id"].as_str().unwrap();
    let own = client.get(&format!("{ORGANIZATION}detectors/?project={project}")).rows();
    let path = format!("{ORGANIZATION}detectors/{}/", own[0]["id"].as_str().unwrap());
    assert_eq!((own.len(), client.get(&path).json()), (1, own[0].clone()));
}

/// Every route of the mock that the document has answers what the document promises.
#[test]
fn list_items_have_the_required_fields_of_the_real_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/specs/sentry.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: the real Sentry document is not at hand");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let resolve = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
        None => schema.clone(),
    };
    let client = Client::sentry();
    for template in [
        "/organizations/",
        "/organizations/{organization_id_or_slug}/projects/",
        "/organizations/{organization_id_or_slug}/teams/",
        "/organizations/{organization_id_or_slug}/members/",
        "/organizations/{organization_id_or_slug}/environments/",
        "/organizations/{organization_id_or_slug}/repos/",
        "/organizations/{organization_id_or_slug}/dashboards/",
        "/organizations/{organization_id_or_slug}/detectors/",
        "/organizations/{organization_id_or_slug}/monitors/",
        "/organizations/{organization_id_or_slug}/releases/",
        "/organizations/{organization_id_or_slug}/workflows/",
    ] {
        let answers = &document["paths"][format!("/api/0{template}")]["get"]["responses"];
        let list = resolve(&answers["200"]["content"]["application/json"]["schema"]);
        let item = resolve(&list["items"]);
        let row =
            client.get(&template.replace("{organization_id_or_slug}", "harbor-lantern")).rows()[0]
                .clone();
        for field in item["required"].as_array().into_iter().flatten() {
            assert!(row.get(field.as_str().unwrap()).is_some(), "{field} of {template}");
        }
    }
}
