//! A model and tools in turn.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mocks::{ModelAnswer, ModelServer};
use model_client::{Agent, Conversation, End, Message, Protocol, Seen, ToolOutcome, Toolbox};
use serde_json::{Map, Value, json};

use super::{PROTOCOLS, model};

/// Adds, and remembers the order of calls.
#[derive(Default)]
struct Adder(Mutex<Vec<String>>);

#[async_trait]
impl Toolbox for Adder {
    async fn call(&self, name: &str, arguments: Map<String, Value>) -> ToolOutcome {
        let (a, b) = (arguments["a"].as_i64().unwrap(), arguments["b"].as_i64().unwrap());
        self.0.lock().unwrap().push(format!("{name}({a},{b})"));
        let outcome = |text: String, is_error| ToolOutcome { text, is_error };
        if name == "add" {
            outcome((a + b).to_string(), false)
        } else {
            outcome(format!("no `{name}`"), true)
        }
    }
}

fn call(name: &str, a: i64, b: i64) -> (String, Value) {
    (name.to_owned(), json!({ "a": a, "b": b }))
}

#[tokio::test]
async fn calls_of_a_turn_run_in_order_and_their_results_go_back_together() {
    for protocol in PROTOCOLS {
        let server = ModelServer::start(|request| match request.results().as_slice() {
            [] => ModelAnswer::calls([call("add", 2, 3), call("multiply", 1, 1)]),
            [first, _] => ModelAnswer::calls([call("add", first.parse().unwrap(), 10)]),
            results => ModelAnswer::say(results.join(", ")),
        })
        .unwrap();
        for stream in [false, true] {
            let mut agent = Agent::new(model(&server, protocol));
            agent.stream = stream;
            let (tools, mut seen) = (Adder::default(), Vec::new());
            let mut conversation = Conversation::new("Go");
            let outcome = agent
                .run(&mut conversation, &tools, &mut |it| {
                    if let Seen::Result { call, result, bytes, .. } = it {
                        seen.push((call.name.clone(), result.is_error, bytes));
                    }
                })
                .await;
            assert!(matches!(outcome.end, End::Done), "{protocol:?}: {:?}", outcome.end);
            assert_eq!(outcome.text, "5, no `multiply`, 15");
            assert_eq!(*tools.0.lock().unwrap(), ["add(2,3)", "multiply(1,1)", "add(5,10)"]);
            let add = |bytes| ("add".to_owned(), false, bytes);
            assert_eq!(seen, [add(1), ("multiply".to_owned(), true, 13), add(2)]);
            assert_eq!((outcome.usage.requests, outcome.usage.output), (3, Some(21)));
            assert_eq!((outcome.models.len(), conversation.messages.len()), (1, 6));
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_models_to_write_again() {
    for protocol in PROTOCOLS {
        let bad = ("add".to_owned(), Value::from("{\"a\": 1,"));
        let server = ModelServer::script([
            ModelAnswer::calls([bad]),
            ModelAnswer::calls([call("add", 1, 2)]),
            ModelAnswer::say("3"),
        ])
        .unwrap();
        let tools = Adder::default();
        let mut conversation = Conversation::new("Go");
        let agent = Agent::new(model(&server, protocol));
        let outcome = agent.run(&mut conversation, &tools, &mut |_| {}).await;
        assert_eq!(outcome.text, "3", "{protocol:?}: {:?}", outcome.end);
        let results = server.requests()[1].results();
        assert_eq!(results, ["the arguments are not a JSON object; write the call again"]);
        assert_eq!(*tools.0.lock().unwrap(), ["add(1,2)"]);
    }
}

#[tokio::test]
async fn steps_time_and_failures_end_a_run() {
    let server = ModelServer::start(|_| ModelAnswer::calls([call("add", 1, 1)])).unwrap();
    let mut agent = Agent::new(model(&server, Protocol::Chat));
    agent.max_steps = 2;
    let outcome = agent.run(&mut Conversation::new("Go"), &Adder::default(), &mut |_| {}).await;
    assert!(matches!(outcome.end, End::Steps), "{:?}", outcome.end);
    assert_eq!(outcome.usage.requests, 2);

    let silent = ModelServer::start(|_| ModelAnswer::Never).unwrap();
    let mut agent = Agent::new(model(&silent, Protocol::Chat));
    agent.deadline = Some(Instant::now() + Duration::from_millis(50));
    let outcome = agent.run(&mut Conversation::new("Go"), &Adder::default(), &mut |_| {}).await;
    assert!(matches!(outcome.end, End::Time), "{:?}", outcome.end);

    let broken = ModelServer::script([ModelAnswer::status(401, "who?")]).unwrap();
    let agent = Agent::new(model(&broken, Protocol::Messages));
    let outcome = agent.run(&mut Conversation::new("Go"), &Adder::default(), &mut |_| {}).await;
    let End::Failed(error) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(error.detail(), Some("who?"));
}

#[tokio::test]
async fn a_long_result_is_cut_for_the_model_with_a_mark() {
    struct Long;
    #[async_trait]
    impl Toolbox for Long {
        async fn call(&self, _: &str, _: Map<String, Value>) -> ToolOutcome {
            ToolOutcome { text: "x".repeat(1000), is_error: false }
        }
    }
    let server =
        ModelServer::script([ModelAnswer::call("get", json!({})), ModelAnswer::say("ok")]).unwrap();
    let mut agent = Agent::new(model(&server, Protocol::Chat));
    agent.max_result_bytes = 100;
    let mut cut = None;
    let mut conversation = Conversation::new("Go");
    agent
        .run(&mut conversation, &Long, &mut |seen| {
            if let Seen::Result { bytes, is_cut, .. } = seen {
                cut = Some((bytes, is_cut));
            }
        })
        .await;
    assert_eq!(cut, Some((1000, true)));
    assert!(server.requests()[1].results()[0].ends_with("[cut: 100 of 1000 bytes are shown]"));
    assert!(matches!(conversation.messages.as_slice(), [_, _, Message::Tools(_), _]));
}
