//! Providers that refuse, are busy, break off or say nonsense.

use std::time::Duration;

use mocks::{ModelAnswer, ModelServer};
use model_client::{Conversation, Delta, ErrorKind, Model, Protocol};

use super::{PROTOCOLS, model, settings};

#[tokio::test]
async fn a_refusal_names_the_host_and_keeps_the_providers_words_apart_without_the_key() {
    for (status, sentence) in [
        (401, "refuses the key (401); check the key and what it may use"),
        (404, "knows no such model or address (404); check both names"),
        (400, "refuses the request (400)"),
    ] {
        let answer = ModelAnswer::status(status, "bad key sk-test-0123456789 here");
        let server = ModelServer::script([answer]).unwrap();
        let error =
            model(&server, Protocol::Chat).complete(&Conversation::new("Hi")).await.unwrap_err();
        let place = server.base_url.trim_start_matches("http://");
        assert_eq!(error.to_string(), format!("`{place}` {sentence}"));
        assert_eq!(error.detail(), Some("bad key [secret] here"));
        assert!(!format!("{error:?}").contains("0123456789"));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_an_exhausted_one_is_not() {
    for protocol in PROTOCOLS {
        let busy = |wait: &str| ModelAnswer::Status {
            status: 529,
            headers: vec![("retry-after".to_owned(), wait.to_owned())],
            body: "{}".to_owned(),
        };
        let server =
            ModelServer::script([busy("0"), busy("0"), ModelAnswer::say("there")]).unwrap();
        let reply = model(&server, protocol).complete(&Conversation::new("Hi")).await.unwrap();
        assert_eq!((reply.turn.text.as_str(), server.requests().len()), ("there", 3));

        let server = ModelServer::script([busy("3600")]).unwrap();
        let error = model(&server, protocol).complete(&Conversation::new("Hi")).await.unwrap_err();
        let wait = Some(Duration::from_secs(3600));
        assert!(
            matches!(error.kind(), ErrorKind::Status { status: 529, retry_after } if *retry_after == wait)
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_begun_anew_and_that_is_told() {
    for protocol in PROTOCOLS {
        let cut = ModelAnswer::CutOff { text: "Half a".to_owned() };
        let server = ModelServer::script([cut, ModelAnswer::say("Whole")]).unwrap();
        let mut told = String::new();
        let reply = model(&server, protocol)
            .stream(&Conversation::new("Hi"), |delta| match delta {
                Delta::Text(text) => told.push_str(text),
                Delta::Again => told.push('|'),
                Delta::Call(_) => {}
            })
            .await
            .unwrap();
        assert_eq!((told.as_str(), reply.turn.text.as_str()), ("Half a|Whole", "Whole"));
    }
}

#[tokio::test]
async fn an_answer_of_another_form_is_an_error_that_says_what_is_missing() {
    for body in ["<html>", "[]", "{}", r#"{"choices":[],"content":1,"output":{}}"#] {
        for protocol in PROTOCOLS {
            let answer =
                ModelAnswer::Status { status: 200, headers: Vec::new(), body: body.to_owned() };
            let server = ModelServer::script([answer.clone(), answer]).unwrap();
            let model = model(&server, protocol);
            for error in [
                model.complete(&Conversation::new("Hi")).await.unwrap_err(),
                model.stream(&Conversation::new("Hi"), |_| {}).await.unwrap_err(),
            ] {
                assert!(matches!(error.kind(), ErrorKind::Answer(_)), "{body}: {error}");
            }
            assert_eq!(server.requests().len(), 2);
        }
    }
}

#[tokio::test]
async fn events_of_any_shape_end_in_an_error() {
    let events = [
        r#"{"type":"message_start","message":7}"#,
        r#"{"type":"content_block_start","content_block":[]}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":{}}}"#,
        r#"{"type":"message_delta","delta":1,"usage":{"input_tokens":"x"}}"#,
        r#"{"type":"response.completed","response":"done"}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":99,"function":3},{}],"content":[]}}]}"#,
        r#"{"choices":"none","usage":[],"model":{}}"#,
        "null",
    ];
    for protocol in PROTOCOLS {
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let answer = ModelAnswer::Status { status: 200, headers, body };
        let server = ModelServer::start(move |_| answer.clone()).unwrap();
        let mut settings = settings(&server, protocol);
        settings.attempts = 1;
        let model = Model::new(settings).unwrap();
        model.stream(&Conversation::new("Hi"), |_| {}).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_silent_provider_costs_no_more_than_the_time_it_is_given() {
    let server = ModelServer::script([ModelAnswer::Never]).unwrap();
    let mut settings = settings(&server, Protocol::Messages);
    settings.timeout = Duration::from_millis(50);
    let model = Model::new(settings).unwrap();
    let error = model.complete(&Conversation::new("Hi")).await.unwrap_err();
    assert!(error.to_string().contains("no complete answer from"), "{error}");
}
