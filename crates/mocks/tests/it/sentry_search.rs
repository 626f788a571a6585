//! Sentry: what only searches show: metrics, profiles, AI conversations.

use serde_json::json;

use crate::client::Client;

const EVENTS: &str = "/organizations/harbor-lantern/events/";
const CONVERSATIONS: &str = "/organizations/harbor-lantern/ai-conversations/";

#[test]
fn metrics_and_profiles_are_rows_beside_the_oldest_errors() {
    let client = Client::sentry();
    let sums = client.get(&format!(
        "{EVENTS}?dataset=tracemetrics&field=metric.name&field=sum(value)&sort=-sum(value)"
    ));
    assert_eq!(
        sums.json()["data"],
        json!([
            { "metric.name": "charge.duration", "sum(value)": 5_373 },
            { "metric.name": "basket.items", "sum(value)": 12 },
        ])
    );
    let profiles = client.get(&format!(
        "{EVENTS}?dataset=profiles&field=profile.id&field=profiler.id&field=timestamp&sort=timestamp&per_page=2"
    ));
    assert!(profiles.header("link").unwrap().contains("rel=\"next\"; results=\"true\""));
    let rows = profiles.json();
    assert_eq!(rows["data"][0]["profile.id"].as_str().map(str::len), Some(32));
    assert_eq!(rows["data"][1]["profiler.id"].as_str().map(str::len), Some(32));
}

#[test]
fn a_list_of_values_and_an_open_quotation_mark_are_read_as_sentry_does() {
    let client = Client::sentry();
    let found = client.get(&format!(
        "{EVENTS}?dataset=logs&field=severity&field=count()&query=severity:[warn,error]&sort=severity"
    ));
    let severities: Vec<_> =
        found.json()["data"].as_array().unwrap().iter().map(|it| it["severity"].clone()).collect();
    assert_eq!(severities, ["error", "warn"]);
    let open =
        client.get(&format!("{EVENTS}validate/?dataset=logs&field=message&query=%22half")).pair();
    assert_eq!((open.0, &open.1["query"][0]["valid"]), (400, &json!(false)));
}

#[test]
fn conversations_are_listed_and_told_by_their_spans() {
    let client = Client::sentry();
    let all = client.get(CONVERSATIONS).rows();
    assert_eq!((all.len(), &all[0]["llmCalls"]), (2, &json!(2)));
    assert_eq!(client.get(&format!("{CONVERSATIONS}?query=deposit")).rows().len(), 1);
    assert!(client.get(&format!("{CONVERSATIONS}?project=1")).rows().is_empty());
    let spans =
        client.get(&format!("{CONVERSATIONS}conv-berth-17/?per_page=1000&project=-1")).rows();
    let kinds: Vec<_> = spans.iter().map(|it| it["gen_ai.operation.type"].clone()).collect();
    assert_eq!(kinds, ["agent", "ai_client", "tool", "ai_client"]);
    assert_eq!(spans[0]["trace"], all[0]["traceIds"][0]);
    assert!(client.get(&format!("{CONVERSATIONS}nobody/")).rows().is_empty());
}
