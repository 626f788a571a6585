//! What a session shows, hides, fills in and answers, whatever the tool.

use serde_json::{Map, Value, json};

use super::{Session, similarity};
use crate::{
    caller::Caller,
    constraints::Constraints,
    special,
    surfaces::Surface,
    test_support::{Sentry, Silent, rows},
};

const SLUG: &str = "harbor-lantern";

async fn found(sentry: &Sentry, query: &str) -> Vec<String> {
    let answer =
        sentry.call_structured(special::SEARCH, json!({"query": query, "limit": 20})).await;
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

async fn refused(session: &Session, name: &str) -> String {
    session.call(name, Map::new(), &Silent::default() as &dyn Caller).await.unwrap_err()
}

#[tokio::test]
async fn a_search_answers_all_that_a_call_needs() {
    let sentry = Sentry::new();
    let answer =
        sentry.call_structured(special::SEARCH, json!({"query": "find teams", "limit": "1"})).await;
    assert_eq!(answer["query"], json!("find teams"));
    let [result] = answer["results"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(result["name"], json!("find_teams"));
    assert_eq!(result["annotations"]["readOnlyHint"], json!(true));
    assert_eq!(result["annotations"]["openWorldHint"], json!(true));
    let schema = &result["inputSchema"];
    assert_eq!(schema["required"], json!(["organizationSlug"]));
    assert_eq!(schema["properties"]["query"]["type"], json!("string"));
    assert!(sentry.requests().is_empty(), "a search stays here");
}

#[tokio::test]
async fn questions_lead_to_the_tool_that_answers_them() {
    let sentry = Sentry::new();
    for (question, tool) in [
        ("whoami", "whoami"),
        ("who am I", "whoami"),
        ("which version was released last", "find_releases"),
        ("deploys and commits of a release", "get_release_details"),
        ("list client keys of a project", "find_dsns"),
        ("screenshot attached to an event", "get_event_attachment"),
        ("how do I configure the SDK, documentation", "search_docs"),
        ("visual snapshot diff", "get_snapshot"),
    ] {
        let found = found(&sentry, question).await;
        let place = found.iter().position(|it| it == tool);
        assert!(place.is_some_and(|it| it < 3), "{question}: {found:?}");
    }
    assert_eq!(found(&sentry, "xyzzy plugh").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_skill_that_is_taken_away_hides_its_tools_everywhere() {
    let sentry = Sentry::new().skills("inspect");
    assert!(!found(&sentry, "find_dsns").await.contains(&"find_dsns".to_owned()));
    let arguments = json!({"organizationSlug": SLUG, "projectSlug": "quay-web"});
    let hidden = sentry.call_failing("find_dsns", arguments.clone()).await;
    let unknown = sentry.call_failing("find_nothing", arguments).await;
    assert!(hidden.contains("`find_dsns` is not a tool of this session"), "{hidden}");
    assert!(unknown.contains("`find_nothing` is not a tool of this session"), "{unknown}");
    assert!(sentry.requests().is_empty());
    let granted = Sentry::new().skills("project-management");
    assert!(found(&granted, "find_dsns").await.contains(&"find_dsns".to_owned()));
}

#[tokio::test]
async fn an_api_grant_keeps_the_lists_and_both_gateways() {
    let common = ["find_organizations", "find_projects", special::SEARCH, special::EXECUTE];
    let read = Sentry::new().skills("api-read").shown();
    assert_eq!(read, [&common[..], &["search", "execute"]].concat());
    let write = Sentry::new().skills("api-write").shown();
    assert_eq!(write, [&common[..], &["search", "execute", "execute_write"]].concat());
    let none = Sentry::new().skills("inspect").shown();
    assert!(!none.contains(&"execute"), "{none:?}");
}

#[tokio::test]
async fn without_any_skill_there_is_nothing() {
    assert_eq!(Sentry::new().skills("").shown(), Vec::<&str>::new());
}

#[tokio::test]
async fn surfaces_show_their_part() {
    let catalog = Sentry::new().surface(Surface::Catalog).shown();
    assert!(catalog.contains(&special::EXECUTE) && !catalog.contains(&"execute"), "{catalog:?}");
    let code = Sentry::new().surface(Surface::CodeMode).shown();
    assert_eq!(code, ["search", "execute", "execute_write"]);
}

#[tokio::test]
async fn a_read_only_session_has_no_tool_that_writes_and_says_so_of_its_gateway() {
    let session = Sentry::new().read_only().session();
    for shown in session.shown() {
        assert!(shown.definition.effect.is_read_only(), "{}", shown.definition.name);
    }
}

#[tokio::test]
async fn what_is_pinned_is_hidden_from_every_schema_and_filled_in() {
    let sentry = Sentry::new().pinned(SLUG, Some("quay-web"));
    let shown = sentry.shown();
    for hidden in ["find_organizations", "find_projects", "execute", "search"] {
        assert!(!shown.contains(&hidden), "{shown:?}");
    }
    let answer =
        sentry.call_structured(special::SEARCH, json!({"query": "release", "limit": 20})).await;
    for result in answer["results"].as_array().unwrap() {
        let properties = result["inputSchema"]["properties"].as_object().unwrap();
        for pinned in ["organizationSlug", "projectSlug", "projectSlugOrId"] {
            assert!(!properties.contains_key(pinned), "{result}");
        }
    }
    sentry.content("find_releases", json!({"projectSlug": "other", "organizationSlug": "x"})).await;
    assert_eq!(
        sentry.requests(),
        ["GET /api/0/projects/harbor-lantern/quay-web/releases/?per_page=26"]
    );
}

#[tokio::test]
async fn a_pinned_region_is_checked_like_any_other() {
    let region = Some("https://evil.example.com".to_owned());
    let sentry = Sentry::new().constrained(Constraints { region, ..Constraints::default() });
    let text = sentry.call_failing("find_teams", json!({"organizationSlug": SLUG})).await;
    assert!(text.contains("does not belong to"), "{text}");
    assert!(sentry.requests().is_empty());
}

/// P5.
#[tokio::test]
async fn a_tool_without_arguments_may_be_called_without_any() {
    let sentry = Sentry::new();
    for arguments in [json!({}), json!({"arguments": null}), json!({"arguments": ""})] {
        let Value::Object(mut arguments) = arguments else { unreachable!() };
        arguments.insert("name".to_owned(), json!("whoami"));
        let session = sentry.session();
        let content = session.call(special::EXECUTE, arguments, &Silent::default()).await.unwrap();
        assert!(!content.is_error, "{}", content.text);
    }
}

/// P8.
#[tokio::test]
async fn the_gateway_takes_its_arguments_as_json_text_too() {
    let sentry = Sentry::new();
    let arguments = json!({
        "name": "find_teams",
        "arguments": "{\"organizationSlug\": \"harbor-lantern\", \"query\": \"{\\\"a\\\":1}\"}",
    });
    let Value::Object(arguments) = arguments else { unreachable!() };
    sentry.session().call(special::EXECUTE, arguments, &Silent::default()).await.unwrap();
    assert_eq!(
        sentry.requests(),
        ["GET /api/0/organizations/harbor-lantern/teams/?per_page=26&query=%7B%22a%22%3A1%7D"]
    );
}

#[tokio::test]
async fn an_older_name_is_answered_with_todays() {
    let sentry = Sentry::new();
    let text = sentry.call_failing("list_teams", json!({})).await;
    assert!(text.contains("did you mean `find_teams`?"), "{text}");
    let text = refused(&sentry.session(), "list_organizations").await;
    assert!(text.contains("did you mean `find_organizations`? use `find_organizations`"), "{text}");
}

#[tokio::test]
async fn a_tool_that_is_not_listed_is_answered_with_the_way_to_it() {
    let session = Sentry::new().session();
    let text = refused(&session, "find_teams").await;
    assert!(text.contains("run it with `execute_sentry_tool`, `name` `find_teams`"), "{text}");
    let text = refused(&session, "findTeams").await;
    assert!(text.contains("did you mean `find_teams`?"), "{text}");
    let text = refused(&session, "api.paginate").await;
    assert!(text.contains("only inside the `code` of `execute`"), "{text}");
    let text = refused(&Sentry::new().surface(Surface::Catalog).session(), "zzz").await;
    assert!(text.contains("`search_sentry_tools`"), "{text}");
}

/// P42.
#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named() {
    let sentry = Sentry::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let context = crate::test_support::context(&format!("http://{port}"), "sntrys_test");
    let sentry = sentry.with(|it| *it = context);
    let text = sentry.call_failing("find_organizations", json!({})).await;
    assert!(text.contains("**Configuration Error**") && text.contains("refused"), "{text}");
    assert!(text.contains(&port.to_string()) && !text.contains("sntrys_test"), "{text}");
}

#[tokio::test]
async fn an_answer_beyond_the_cap_says_how_to_get_less() {
    let row =
        |n| json!({"slug": format!("org-{n}"), "links": {"organizationUrl": "x".repeat(200)}});
    let many = rows(25, row);
    let fault = crate::test_support::fault("GET", "/api/0/organizations/", 200, &many);
    let sentry = Sentry::with_fault(fault).with(|cx| cx.limits.result = 1000);
    let text = sentry.call_failing("find_organizations", json!({})).await;
    assert!(text.contains("the limit is 1000"), "{text}");
}

#[test]
fn names_that_share_most_letter_pairs_are_alike() {
    assert!(similarity("find_team", "find_teams") > 0.9);
    assert!(similarity("list_issues", "whoami") < 0.2);
    assert!(similarity("", "").abs() < f64::EPSILON);
}
