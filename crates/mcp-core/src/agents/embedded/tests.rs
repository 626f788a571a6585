//! The embedded agent against a mock Sentry and a model that says what a test wrote down.

use std::time::{Duration, Instant};

use api_client::auth::{Credential, SecretSource};
use api_client::sentry::Client;
use api_client::transport::{Transport, TransportOptions};
use mocks::{Mock, ModelAnswer, ModelServer, World};
use model_client::{Model, Provider, Settings};
use serde_json::json;

use super::Embedded;
use crate::agents::{AgentFailure, QueryAgent as _, Question, Search, Translated};

/// What an agent makes of a question, and how often the model was asked.
async fn ask(
    search: Search,
    query: &str,
    answers: impl IntoIterator<Item = ModelAnswer>,
) -> (Result<Translated, AgentFailure>, ModelServer) {
    let mock = Mock::start(World::sentry()).unwrap();
    let mut options = TransportOptions::new(mock.base_url.parse().unwrap());
    options.credential = Credential::Bearer(SecretSource::literal("token", &mock.token).unwrap());
    let deadline = Instant::now() + Duration::from_secs(20);
    let sentry = Client::new(Transport::new(options).unwrap(), deadline);
    let server = ModelServer::script(answers).unwrap();
    let settings = Settings::new(Provider::OpenAi).key("KEY", "sk-test").unwrap();
    let mut settings = settings.base_url(&format!("{}/v1", server.base_url)).unwrap();
    settings.attempts = 1;
    let question = Question {
        search,
        query,
        dataset: None,
        fields: &[],
        sort: None,
        environments: &[],
        time: None,
        organization: "harbor-lantern",
        project: None,
        sentry: &sentry,
        deadline,
    };
    let agent = Embedded::new(Model::new(settings).unwrap());
    (agent.translate(&question).await, server)
}

fn provider(outcome: Result<Translated, AgentFailure>) -> String {
    match outcome {
        Err(AgentFailure::Provider(words)) => words,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_looks_up_who_asks_and_writes_the_query() {
    let answer = r#"{"query":"assigned:mara@example.com is:unresolved","sort":"date",
        "explanation":"Yours."}"#;
    let (outcome, server) = ask(
        Search::Issues,
        "what is assigned to me?",
        [ModelAnswer::call("whoami", json!({})), ModelAnswer::say(answer)],
    )
    .await;
    let found = outcome.unwrap();
    assert_eq!(found.query, "assigned:mara@example.com is:unresolved");
    assert_eq!(
        (found.sort.as_deref(), found.explanation.as_deref()),
        (Some("date"), Some("Yours."))
    );
    let requests = server.requests();
    assert_eq!(requests[0].tools(), ["issueFields", "whoami"]);
    let said: serde_json::Value = serde_json::from_str(&requests[1].results()[0]).unwrap();
    assert!(said["result"]["id"].is_string(), "{said}");
    let form = &requests[0].body["text"]["format"];
    assert_eq!((&form["type"], &form["strict"]), (&json!("json_schema"), &json!(false)));
}

#[tokio::test]
async fn a_look_up_that_fails_is_an_answer_the_model_can_act_on() {
    let (outcome, server) = ask(
        Search::Events,
        "slow model calls",
        [
            ModelAnswer::calls([
                ("otelSemantics".to_owned(), json!({ "namespace": "nope" })),
                ("datasetAttributes".to_owned(), json!({ "dataset": "replays" })),
                ("datasetAttributes".to_owned(), json!({})),
                ("issueFields".to_owned(), json!({})),
                ("replayFields".to_owned(), json!({})),
            ]),
            ModelAnswer::say(r#"{"dataset":"spans","query":"has:gen_ai.request.model"}"#),
        ],
    )
    .await;
    assert_eq!(outcome.unwrap().query, "has:gen_ai.request.model");
    let results = server.requests()[1].results();
    for (result, words) in results.iter().zip([
        "there is no namespace `nope`; there are: android,",
        "ask `replayFields` about replays",
        "missing field `dataset`",
        "there is no tool `issueFields`",
    ]) {
        assert!(result.starts_with("{\"error\":") && result.contains(words), "{result}");
    }
    assert!(results[4].contains("count_rage_clicks"));
}

#[tokio::test]
async fn what_the_agent_cannot_do_is_told_to_the_caller() {
    let answers = [ModelAnswer::say(r#"{"error":"Name the project."}"#)];
    let (outcome, _) = ask(Search::Issues, "everything", answers).await;
    assert_eq!(outcome, Err(AgentFailure::Request("Name the project".to_owned())));
    let (outcome, server) =
        ask(Search::Issues, "x", [ModelAnswer::say("I would rather not.")]).await;
    assert!(matches!(outcome, Err(AgentFailure::Request(_))), "{outcome:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_provider_that_fails_is_asked_once_and_its_words_stay_out() {
    for answer in [
        ModelAnswer::status(500, "internal secret"),
        ModelAnswer::status(429, "quota of org-123"),
        ModelAnswer::status(401, "bad key sk-test"),
    ] {
        let (outcome, server) = ask(Search::Events, "x", [answer]).await;
        let words = provider(outcome);
        assert!(!words.contains("secret") && !words.contains("org-123"), "{words}");
        assert_eq!(server.requests().len(), 1);
    }
    assert_eq!(
        provider(ask(Search::Events, "x", [ModelAnswer::say("")]).await.0),
        "the model said nothing"
    );
}

#[tokio::test]
async fn a_model_that_only_looks_things_up_is_stopped_after_five_requests() {
    let answers = (0..9).map(|_| ModelAnswer::call("whoami", json!({})));
    let (outcome, server) = ask(Search::Issues, "x", answers).await;
    assert_eq!(provider(outcome), "no answer within 5 requests");
    assert_eq!(server.requests().len(), 5);
}
