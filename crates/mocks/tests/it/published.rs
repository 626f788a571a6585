//! What the Sentry mock answers, held against the published document and against its own.

use std::collections::BTreeSet;
use std::path::Path;

use mocks::Extra;
use serde_json::{Map, Value, json};

use crate::client::{Client, Response};

/// Where the real API differs from its document, and so does the mock: the place, and why.
const DIFFERS: &[(&str, &str)] = &[
    ("monitors/*/environments", "a list, where the document has an object"),
    ("monitors/*/owner", "null where nobody owns it"),
    ("monitors/*/alertRule", "null where no alert was made with it"),
    ("monitors/*/config", "what an interval leaves out is null"),
    ("workflows/*/comparison", "any JSON, where the document has a flag or a number"),
    ("dashboards/*/layout", "an object, where the document has text"),
    ("dashboards/*/utc", "a flag, where the document has text"),
];

/// Operations that are read without further ado, with the values of their placeholders.
const READS: [&str; 15] = [
    "organizations/",
    "organizations/harbor-lantern/",
    "organizations/harbor-lantern/environments/",
    "organizations/harbor-lantern/projects/",
    "organizations/harbor-lantern/teams/",
    "organizations/harbor-lantern/members/",
    "organizations/harbor-lantern/repos/",
    "organizations/harbor-lantern/dashboards/",
    "organizations/harbor-lantern/detectors/",
    "organizations/harbor-lantern/workflows/",
    "organizations/harbor-lantern/monitors/",
    "organizations/harbor-lantern/monitors/?expand=alertRule",
    "organizations/harbor-lantern/releases/",
    "organizations/harbor-lantern/releases/quay@5.1.9/deploys/",
    "projects/harbor-lantern/quay-web/environments/",
];

#[test]
fn answers_are_as_the_published_document_has_them_but_for_known_differences() {
    let Some(document) = published() else { return };
    let client = Client::sentry();
    let mut paths: Vec<String> = READS.iter().map(|it| format!("/{it}")).collect();
    for list in ["dashboards", "workflows", "monitors", "detectors", "members"] {
        let base = format!("/organizations/harbor-lantern/{list}/");
        let id = client.get(&base).rows()[0]["id"].as_str().unwrap().to_owned();
        paths.push(format!("{base}{id}/"));
    }
    paths.push("/organizations/harbor-lantern/releases/quay@5.1.9/".to_owned());
    let mut found = BTreeSet::new();
    for path in &paths {
        let response = client.get(path);
        assert_eq!(response.status, 200, "{path}");
        compare(&document, &client, &response, &mut found);
    }
    assert_known(&found);
}

#[test]
fn answers_to_writes_are_as_the_published_document_has_them_too() {
    let Some(document) = published() else { return };
    let client = Client::sentry();
    let base = "/organizations/harbor-lantern";
    let monitor = json!({
        "name": "Pier sweep", "project": "quay-web",
        "config": { "schedule_type": "crontab", "schedule": "15 2 * * *" },
    });
    let team = json!([{ "teamSlug": "web-crew", "role": "admin" }]);
    let invitation = json!({ "email": "orla.finch@harbor-lantern.test", "teamRoles": team });
    let mut found = BTreeSet::new();
    for (method, path, body, status) in [
        ("POST", "monitors/", monitor, 201),
        ("PUT", "monitors/pier-sweep/", json!({ "status": "disabled" }), 200),
        ("POST", "members/", invitation, 201),
        ("PUT", "members/me/", json!({ "teamRoles": team }), 200),
    ] {
        let response = client.call(method, &format!("{base}/{path}"), Some(body));
        assert_eq!(response.status, status, "{method} {path}");
        compare(&document, &client, &response, &mut found);
    }
    assert_known(&found);
}

fn published() -> Option<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/specs/sentry.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: the published document is not here");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

/// Holds the last answer against what the document says of its operation.
fn compare(document: &Value, client: &Client, response: &Response, found: &mut BTreeSet<String>) {
    let log = client.mock.log();
    let entry = log.last().unwrap();
    let template = entry.route.as_deref().unwrap();
    let operation = &document["paths"][template][entry.method.to_lowercase()];
    let answer = &operation["responses"][response.status.to_string()];
    let schema = &answer["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{} {template} is not in the document", entry.method);
    let mut check = Check { document, place: Vec::new(), found };
    let name = template.trim_end_matches('/').rsplit('/').find(|it| !it.starts_with('{'));
    check.place.push(name.unwrap().to_owned());
    check.value(schema, &response.json());
}

fn assert_known(found: &BTreeSet<String>) {
    let known =
        |it: &&String| DIFFERS.iter().any(|(place, _)| it.starts_with(place) || covers(place, it));
    let surprises: Vec<&String> = found.iter().filter(|it| !known(it)).collect();
    assert!(surprises.is_empty(), "{surprises:#?}");
}

/// Whether `a/*/b` is a difference at any depth between its two ends.
fn covers(pattern: &str, found: &str) -> bool {
    let (start, end) = pattern.split_once("/*/").unwrap();
    let (place, _) = found.split_once(": ").unwrap();
    place.starts_with(start)
        && (place.contains(&format!("/{end}/")) || place.ends_with(&format!("/{end}")))
}

/// The part of JSON Schema that the document uses.
struct Check<'a> {
    document: &'a Value,
    place: Vec<String>,
    found: &'a mut BTreeSet<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value) {
        let schema = self.resolved(schema).clone();
        if value.is_null() {
            let free = schema.get("type").is_none() && schema.get("allOf").is_none();
            if schema["nullable"] != true && !free {
                self.report("is null");
            }
            return;
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.value(part, value);
        }
        for choice in ["oneOf", "anyOf"] {
            let Some(parts) = schema[choice].as_array() else { continue };
            if !parts.iter().any(|part| self.fits(part, value)) {
                self.report("fits no alternative");
            }
        }
        if let Some(choices) = schema["enum"].as_array()
            && !choices.contains(value)
        {
            self.report(&format!("{value} is no choice"));
        }
        let fits = match schema["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some(_) | None => true,
        };
        if !fits {
            self.report(&format!("is no {}", schema["type"]));
        }
        match value {
            Value::Object(fields) => self.object(&schema, fields),
            Value::Array(items) if schema["items"].is_object() => {
                for item in items {
                    self.value(&schema["items"], item);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &Value, fields: &Map<String, Value>) {
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            if !fields.contains_key(name) {
                self.report(&format!("has no `{name}`"));
            }
        }
        for (name, value) in fields {
            let below = match schema["properties"].get(name) {
                Some(below) => below,
                None if schema["additionalProperties"].is_object() => {
                    &schema["additionalProperties"]
                }
                None => continue,
            };
            self.place.push(name.clone());
            self.value(below, value);
            self.place.pop();
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = BTreeSet::new();
        let mut check = Check { document: self.document, place: Vec::new(), found: &mut found };
        check.value(schema, value);
        found.is_empty()
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema["$ref"].as_str() {
            Some(target) => {
                self.resolved(self.document.pointer(target.trim_start_matches('#')).unwrap())
            }
            None => schema,
        }
    }

    fn report(&mut self, what: &str) {
        self.found.insert(format!("{}: {what}", self.place.join("/")));
    }
}

#[test]
fn every_operation_of_the_mocks_own_document_is_answered() {
    let document: Value = serde_json::from_str(mocks::SENTRY_DOCUMENT).unwrap();
    let client = Client::of(mocks::World { extra: Extra::None, ..mocks::World::sentry() });
    let mut ids = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
            let real = path
                .replace("{organization_id_or_slug}", "harbor-lantern")
                .replace("{project_id_or_slug}", "quay-web")
                .replace("{version}", "quay@5.1.9");
            let real = real.strip_prefix("/api/0").unwrap();
            client.call(&method.to_uppercase(), real, None);
            let log = client.mock.log();
            let entry = log.last().unwrap();
            assert!(!entry.unimplemented, "{method} {path}");
            assert_eq!(entry.route.as_deref(), Some(path.as_str()));
        }
    }
    assert!(ids.len() > 45);
}
