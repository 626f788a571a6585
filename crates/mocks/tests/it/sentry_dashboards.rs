//! Sentry: dashboards, with the ways in which copying one goes wrong.

use serde_json::{Value, json};

use crate::client::Client;

const LIST: &str = "/organizations/harbor-lantern/dashboards/";

fn path(dashboard: &Value) -> String {
    format!("{LIST}{}/", dashboard["id"].as_str().unwrap())
}

fn detail(client: &Client, title: &str) -> Value {
    let rows = client.get(LIST).rows();
    let found = rows.iter().find(|row| row["title"] == title).unwrap();
    client.get(&path(found)).json()
}

fn project(client: &Client, slug: &str) -> i64 {
    let project = client.get(&format!("/projects/harbor-lantern/{slug}/")).json();
    project["id"].as_str().unwrap().parse().unwrap()
}

fn create(client: &Client, body: Value) -> Value {
    let (status, created) = client.post(LIST, body).pair();
    assert_eq!(status, 201, "{created}");
    created
}

fn refused(client: &Client, body: Value) -> Value {
    let (status, errors) = client.post(LIST, body).pair();
    assert_eq!(status, 400, "{errors}");
    errors
}

fn query() -> Value {
    json!({ "name": "", "fields": ["count()"], "conditions": "" })
}

fn widget() -> Value {
    json!({ "title": "Errors", "displayType": "big_number", "queries": [query()] })
}

/// A copy of the source without the ids of its widgets.
fn copied(source: &Value) -> Value {
    let mut body = json!({});
    for field in ["environment", "period", "utc", "filters", "projects", "widgets", "permissions"] {
        body[field] = source[field].clone();
    }
    for widget in body["widgets"].as_array_mut().unwrap() {
        widget.as_object_mut().unwrap().remove("id");
    }
    body
}

/// What the task compares: everything but ids, dates and the place it belongs to.
fn comparable(dashboard: &Value) -> Value {
    let mut view = copied(dashboard);
    for widget in view["widgets"].as_array_mut().unwrap() {
        let widget = widget.as_object_mut().unwrap();
        for field in ["dashboardId", "dateCreated"] {
            widget.remove(field);
        }
        for query in widget["queries"].as_array_mut().unwrap() {
            let query = query.as_object_mut().unwrap();
            for field in ["id", "widgetId"] {
                query.remove(field);
            }
        }
    }
    view
}

#[test]
fn the_list_has_no_widgets_and_the_detail_has() {
    let client = Client::sentry();
    let rows = client.get(LIST).rows();
    let titles: Vec<&str> = rows.iter().map(|row| row["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Checkout health", "Checkout health (2024)", "Ops wallboard"]);
    assert!(rows.iter().all(|row| row.get("widgets").is_none()));
    assert_eq!(rows[0]["widgetDisplay"], json!(["line", "table", "big_number", "area"]));
    assert_eq!(rows[0]["environment"], json!(["production"]));
    assert_eq!(rows[2]["environment"], json!([]));
    let found = client.get(&format!("{LIST}?query=HEALTH&sort=-title")).rows();
    assert_eq!(found[0]["title"], "Checkout health (2024)");

    let source = detail(&client, "Checkout health");
    assert_eq!(source["projects"], json!([project(&client, "quay-web")]));
    assert_eq!(source["filters"], json!({ "release": ["quay-web@3.4.0"] }));
    assert_eq!((&source["period"], &source["utc"]), (&json!("14d"), &json!(true)));
    assert!(source.get("start").is_none(), "only what is stored is shown");
    let widgets = source["widgets"].as_array().unwrap();
    assert_eq!(widgets[0]["queries"][1]["isHidden"], true);
    assert_eq!(widgets[1]["limit"], 7);
    let thresholds = json!({ "max_values": { "max1": 120, "max2": 400 }, "unit": "millisecond",
        "preferredPolarity": "-" });
    assert_eq!(widgets[2]["thresholds"], thresholds);
    assert_eq!(
        (&widgets[2]["description"], &widgets[3]["description"]),
        (&json!(""), &Value::Null)
    );
    assert_eq!(widgets[1]["queries"][0]["aggregates"], json!(["p95()", "count()"]));
    assert_eq!(widgets[1]["queries"][0]["columns"], json!(["transaction"]));
}

#[test]
fn a_copy_without_widget_ids_is_faithful_and_leaves_the_source_alone() {
    let client = Client::sentry();
    let source = detail(&client, "Checkout health");
    let mut body = copied(&source);
    body["title"] = json!("Checkout health - quay-api");
    let copy = create(&client, body);
    assert_eq!(comparable(&copy), comparable(&source));
    assert_ne!(copy["widgets"][0]["id"], source["widgets"][0]["id"]);
    assert_ne!(copy["widgets"][0]["queries"][0]["id"], source["widgets"][0]["queries"][0]["id"]);
    assert_eq!(copy["widgets"][0]["dashboardId"], copy["id"]);
    assert_eq!(client.get(&path(&copy)).json(), copy);
    assert_eq!(client.get(&path(&source)).json(), source);
    let writes = client.mock.writes();
    let expected = format!("/dashboards/{}", copy["id"].as_str().unwrap());
    assert_eq!((writes[0].diff.len(), writes[0].diff[0].path()), (1, expected.as_str()));
}

#[test]
fn either_spelling_of_a_field_will_do_but_not_both() {
    let client = Client::sentry();
    let snake = json!({ "title": "Snake", "is_favorited": true, "widgets": [{
        "title": "W",
        "display_type": "line",
        "widget_type": "spans",
        "layout": { "x": 0, "y": 0, "w": 1, "h": 1, "min_h": 1 },
        "queries": [
            { "fields": ["a"], "conditions": "", "field_aliases": ["A"], "is_hidden": true },
        ],
    }] });
    let camel = json!({ "title": "Camel", "isFavorited": true, "widgets": [{
        "title": "W",
        "displayType": "line",
        "widgetType": "spans",
        "layout": { "x": 0, "y": 0, "w": 1, "h": 1, "minH": 1 },
        "queries": [
            { "fields": ["a"], "conditions": "", "fieldAliases": ["A"], "isHidden": true },
        ],
    }] });
    let (snake, camel) = (create(&client, snake), create(&client, camel));
    assert_eq!(comparable(&snake), comparable(&camel));
    assert_eq!((&snake["isFavorited"], &camel["isFavorited"]), (&json!(true), &json!(true)));
    let text = "isFavorited collides with is_favorited, please pass only one value";
    assert_eq!(
        refused(&client, json!({ "title": "x", "isFavorited": true, "is_favorited": true })),
        json!({ "isFavorited": text })
    );
}

#[test]
fn wrong_bodies_are_refused_with_camel_case_errors_and_change_nothing() {
    let client = Client::sentry();
    let before = client.mock.state();
    let errors = |body: Value| refused(&client, body);
    assert_eq!(errors(json!({})), json!({ "title": ["This field is required."] }));
    let long = "x".repeat(256);
    let text = "Ensure this field has no more than 255 characters.";
    assert_eq!(errors(json!({ "title": long })), json!({ "title": [text] }));
    assert_eq!(
        errors(json!({ "title": "x", "projects": ["quay-web"] })),
        json!({ "projects": { "0": ["A valid integer is required."] } })
    );
    assert_eq!(
        errors(json!({ "title": "x", "environment": "staging" })),
        json!({ "environment": ["Expected a list of items but got type \"str\"."] })
    );
    assert_eq!(
        errors(
            json!({ "title": "x", "start": "2026-05-02T00:00:00Z", "end": "2026-05-01T00:00:00Z" })
        ),
        json!({ "nonFieldErrors": ["start must be before end"] })
    );
    let many = vec![widget(); 31];
    assert_eq!(
        errors(json!({ "title": "x", "widgets": many })),
        json!({ "nonFieldErrors": ["Number of widgets must be less than 30"] })
    );
    let of_widget = |change: Value| {
        let mut wrong = widget();
        for (field, value) in change.as_object().unwrap() {
            if value.is_null() {
                wrong.as_object_mut().unwrap().remove(field);
            } else {
                wrong[field] = value.clone();
            }
        }
        let found = errors(json!({ "title": "x", "widgets": [widget(), wrong] }));
        assert_eq!(found["widgets"][0], json!({}), "good widgets are empty objects");
        found["widgets"][1].clone()
    };
    assert_eq!(
        of_widget(json!({ "title": null })),
        json!({ "title": ["Title is required during creation."] })
    );
    assert_eq!(
        of_widget(json!({ "displayType": null })),
        json!({ "displayType": ["displayType is required during creation."] })
    );
    assert_eq!(
        of_widget(json!({ "displayType": "pie" })),
        json!({ "displayType": ["\"pie\" is not a valid choice."] })
    );
    assert_eq!(
        of_widget(json!({ "queries": [] })),
        json!({ "queries": ["One or more queries are required to create a widget"] })
    );
    assert_eq!(
        of_widget(json!({ "queries": [query(), { "fields": ["count()"] }] })),
        json!({ "queries": [{}, { "fields": ["fields are required during creation."],
            "conditions": ["conditions are required during creation."] }] })
    );
    assert_eq!(
        of_widget(json!({ "layout": { "x": 0, "y": 0, "w": 2, "h": 1 } })),
        json!({ "layout": ["Missing required keys: minH"] })
    );
    assert_eq!(
        of_widget(json!({ "layout": { "x": 6, "y": 0, "w": 2, "h": 1, "minH": 1 } }))["layout"][0],
        "Number out of range for: x"
    );
    assert_eq!(
        of_widget(json!({ "limit": 0 })),
        json!({ "limit": ["Ensure this value is greater than or equal to 1."] })
    );
    assert_eq!(client.post(LIST, json!({ "title": "x", "projects": [1] })).status, 403);
    assert_eq!(client.mock.state(), before);
}

#[test]
fn ids_of_widgets_in_a_new_dashboard_are_refused_and_ids_of_queries_passed_over() {
    let client = Client::sentry();
    let source = detail(&client, "Ops wallboard");
    let mut body = json!({ "title": "Copy", "widgets": source["widgets"] });
    let foreign = json!(["You cannot update widgets that are not part of this dashboard."]);
    assert_eq!(refused(&client, body.clone()), foreign);
    body["widgets"][0].as_object_mut().unwrap().remove("id");
    body["widgets"][0]["queries"][0] = json!({ "id": "1" });
    let copy = create(&client, body.clone());
    let query = &copy["widgets"][0]["queries"][0];
    assert_ne!(query["id"], "1");
    assert_eq!((&query["fields"], &query["conditions"]), (&json!([]), &json!("")));
    body["widgets"][0]["id"] = json!("seven");
    let text = "Invalid ID format. Must be a numeric string";
    assert_eq!(refused(&client, body), json!({ "widgets": [{ "id": [text] }] }));
}

#[test]
fn a_taken_title_makes_a_copy_on_post_and_a_conflict_on_put() {
    let client = Client::sentry();
    let titles = ["Ops wallboard", "Ops wallboard", "Ops wallboard copy", "Ops wallboard copy 1"]
        .map(|title| create(&client, json!({ "title": title }))["title"].clone());
    let expected = [
        "Ops wallboard copy",
        "Ops wallboard copy 1",
        "Ops wallboard copy 2",
        "Ops wallboard copy 3",
    ];
    assert_eq!(json!(titles), json!(expected));
    let source = detail(&client, "Checkout health");
    assert_eq!(
        client.put(&path(&source), json!({ "title": "Ops wallboard" })).pair(),
        (409, json!({ "detail": "Dashboard with that title already exists." }))
    );
    let same = client.put(&path(&source), json!({ "title": "Checkout health" }));
    assert_eq!(same.pair(), (200, source));
}

#[test]
fn a_page_filter_in_a_put_replaces_them_all() {
    let client = Client::sentry();
    let source = detail(&client, "Checkout health");
    let changed = client.put(&path(&source), json!({ "environment": ["staging"] })).json();
    assert_eq!(changed["environment"], json!(["staging"]));
    assert!(changed.get("period").is_none() && changed.get("utc").is_none());
    assert_eq!(changed["filters"], json!({}));
    assert_eq!(changed["widgets"], source["widgets"], "widgets that are not sent stay");
    assert_eq!(changed["projects"], source["projects"]);
    let moved = client
        .put(&path(&source), json!({ "projects": [project(&client, "quay-api").to_string()] }));
    assert_eq!(moved.json()["projects"], json!([project(&client, "quay-api")]));
    assert_eq!(moved.json()["environment"], json!(["staging"]), "projects are no page filter");
    let all = client.put(&path(&source), json!({ "projects": [-1] })).json();
    assert_eq!(all["projects"], json!([-1]));
    let tagged = client.put(&path(&source), json!({ "filters": { "releaseId": ["7"] } })).json();
    assert_eq!(tagged["filters"], json!({ "releaseId": ["7"] }));
}

#[test]
fn widgets_of_a_put_are_changed_made_and_deleted_by_id() {
    let client = Client::sentry();
    let source = detail(&client, "Checkout health");
    let kept = &source["widgets"][1];
    let changed = &source["widgets"][0];
    let body = json!({ "widgets": [
        { "id": kept["id"] },
        widget(),
        {
            "id": changed["id"],
            "title": "By handling",
            "queries": [{ "id": changed["queries"][0]["id"], "name": "good" }, query()],
        },
    ] });
    let after = client.put(&path(&source), body).json();
    let widgets = after["widgets"].as_array().unwrap();
    assert_eq!((widgets.len(), &widgets[0]), (3, kept));
    assert_eq!(widgets[1]["title"], "Errors");
    assert_eq!((&widgets[2]["id"], &widgets[2]["title"]), (&changed["id"], &json!("By handling")));
    let queries = widgets[2]["queries"].as_array().unwrap();
    assert_eq!((queries.len(), &queries[0]["id"]), (2, &changed["queries"][0]["id"]));
    assert_eq!(
        (&queries[0]["name"], &queries[0]["conditions"]),
        (&json!("good"), &json!("error.handled:true"))
    );

    let before = client.mock.state();
    let foreign =
        client.put(&path(&source), json!({ "title": "Renamed", "widgets": [{ "id": "1" }] }));
    assert_eq!(
        foreign.pair(),
        (400, json!(["You cannot update widgets that are not part of this dashboard."]))
    );
    let body = json!({ "widgets": [{ "id": kept["id"], "queries": [{ "id": "1" }] }] });
    assert_eq!(client.put(&path(&source), body).status, 400);
    assert_eq!(client.mock.state(), before, "refused while saving, and rolled back");
}

#[test]
fn dashboards_are_deleted_but_not_the_last_one() {
    let client = Client::sentry();
    let rows = client.get(LIST).rows();
    for dashboard in &rows[..2] {
        assert_eq!(client.delete(&path(dashboard)).status, 204);
        assert_eq!(client.get(&path(dashboard)).status, 404);
    }
    assert_eq!(client.delete(&path(&rows[2])).status, 409);
    assert_eq!(client.get(LIST).rows().len(), 1);
    let again = create(&client, json!({ "title": "Checkout health" }));
    assert!(rows.iter().all(|row| row["id"] != again["id"]), "an id is never used twice");
    for entry in client.mock.log() {
        let quiet = entry.method == "GET" || entry.status >= 400;
        assert_eq!(entry.wrote, !quiet, "{} {}", entry.method, entry.path);
    }
}
