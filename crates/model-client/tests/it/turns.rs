//! What is sent and what is read, form by form.

use mocks::{ModelAnswer, ModelServer, Tokens};
use model_client::{
    Conversation, Delta, Message, Model, Protocol, Provider, Schema, Settings, Stop, Tool,
    ToolResult, Usage,
};
use serde_json::{Value, json};

use super::{PROTOCOLS, model, settings};

fn adding() -> Conversation {
    let mut conversation = Conversation::new("2+3 and 4+5?");
    conversation.system = Some("Use the tool.".to_owned());
    conversation.tools = ["add", "sub"]
        .map(|name| Tool {
            name: name.to_owned(),
            description: format!("{name}s two numbers"),
            input_schema: json!({ "type": "object", "properties": { "a": { "type": "number" } } }),
        })
        .to_vec();
    conversation
}

fn two_calls() -> ModelAnswer {
    ModelAnswer::calls([
        ("add".to_owned(), json!({ "a": 2, "b": "é{" })),
        ("add".to_owned(), json!({ "a": 4, "b": 5 })),
    ])
    .costing(Tokens {
        uncached_input: 100,
        cache_creation: 20,
        cache_read: 3000,
        output: 50,
        reasoning: 30,
    })
}

#[tokio::test]
async fn parallel_calls_and_the_cost_are_read_whole_and_streamed_alike() {
    for protocol in PROTOCOLS {
        let server = ModelServer::script([two_calls(), two_calls()]).unwrap();
        let model = model(&server, protocol);
        let whole = model.complete(&adding()).await.unwrap();
        let mut told = Vec::new();
        let streamed =
            model.stream(&adding(), |delta| told.push(format!("{delta:?}"))).await.unwrap();
        assert_eq!(told, [r#"Call("add")"#, r#"Call("add")"#], "{protocol:?}");
        for reply in [&whole, &streamed] {
            assert_eq!(reply.stop, Stop::Tools, "{protocol:?}");
            let calls: Vec<_> = reply
                .turn
                .calls
                .iter()
                .map(|call| (call.name.as_str(), Value::from(call.arguments.clone().unwrap())))
                .collect();
            let expected =
                [("add", json!({ "a": 2, "b": "é{" })), ("add", json!({ "a": 4, "b": 5 }))];
            assert_eq!(calls, expected, "{protocol:?}");
            let (creation, reasoning) = match protocol {
                Protocol::Messages => (Some(20), None),
                // OpenAI does not say what went into its cache.
                Protocol::Responses | Protocol::Chat => (None, Some(30)),
            };
            let usage = Usage {
                uncached_input: Some(100),
                cache_creation: creation,
                cache_read: Some(3000),
                output: Some(50),
                reasoning_output: reasoning,
                requests: 1,
            };
            assert_eq!(reply.usage, usage, "{protocol:?}");
            let resolved = format!("{}-2026-11-30", model.settings().model);
            assert_eq!(reply.model.as_deref(), Some(resolved.as_str()));
        }
    }
}

#[tokio::test]
async fn words_are_told_in_pieces_that_make_up_the_answer() {
    for protocol in PROTOCOLS {
        let server = ModelServer::script([ModelAnswer::say("Grüße, «you»!")]).unwrap();
        let mut told = String::new();
        let mut pieces = 0;
        let reply = model(&server, protocol)
            .stream(&Conversation::new("Hello"), |delta| {
                if let Delta::Text(text) = delta {
                    told.push_str(text);
                    pieces += 1;
                }
            })
            .await
            .unwrap();
        assert_eq!((told.as_str(), reply.turn.text.as_str()), ("Grüße, «you»!", "Grüße, «you»!"));
        assert_eq!((pieces, reply.stop), (2, Stop::End), "{protocol:?}");
    }
}

/// A call, its result, and what the model is then sent.
async fn second_request(protocol: Protocol) -> Value {
    let server = ModelServer::script([two_calls(), ModelAnswer::say("5 and 9")]).unwrap();
    let model = model(&server, protocol);
    let mut conversation = adding();
    let reply = model.complete(&conversation).await.unwrap();
    let results = reply.turn.calls.iter().zip(["5", "no"]).map(|(call, text)| ToolResult {
        id: call.id.clone(),
        text: text.to_owned(),
        is_error: text == "no",
    });
    let results = Message::Tools(results.collect());
    conversation.messages.extend([Message::Assistant(reply.turn), results]);
    model.complete(&conversation).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[1].results(), ["5", "no"]);
    requests[1].body.clone()
}

#[tokio::test]
async fn chat_sends_a_turn_back_as_it_came_and_each_result_by_itself() {
    let body = second_request(Protocol::Chat).await;
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], r#"{"a":2,"b":"é{"}"#);
    assert_eq!(messages[3], json!({ "role": "tool", "tool_call_id": "call_1_0", "content": "5" }));
    assert_eq!(body["tools"][1]["function"]["name"], "sub");
    assert_eq!(body.get("temperature"), None);
}

#[tokio::test]
async fn responses_sends_sealed_thoughts_back_and_stores_nothing() {
    let body = second_request(Protocol::Responses).await;
    let input = body["input"].as_array().unwrap();
    let types: Vec<_> = input.iter().map(|it| it["type"].as_str().unwrap_or("-")).collect();
    let calls = ["function_call", "function_call"];
    let outputs = ["function_call_output", "function_call_output"];
    assert_eq!(types, [&["-", "reasoning"], &calls[..], &outputs[..]].concat());
    assert_eq!(input[1]["encrypted_content"], "sealed-1");
    assert_eq!(body["store"], false);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["instructions"], "Use the tool.");
}

#[tokio::test]
async fn messages_marks_what_is_to_be_cached_and_keeps_errors_apart() {
    let body = second_request(Protocol::Messages).await;
    let kept = json!({ "type": "ephemeral" });
    assert_eq!(body["system"][0]["cache_control"], kept);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert_eq!(body["tools"][1]["cache_control"], kept);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0]["content"][0]["cache_control"], kept);
    assert_eq!(messages[1]["content"][0].get("cache_control"), None);
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["is_error"]), (2, &json!(false)));
    assert_eq!(results[0].get("cache_control"), None);
    assert_eq!((&results[1]["is_error"], &results[1]["cache_control"]), (&json!(true), &kept));
    assert!(body["max_tokens"].as_u64().is_some());
}

#[tokio::test]
async fn each_provider_gets_its_key_effort_and_form_in_its_own_place() {
    let server = ModelServer::start(|_| ModelAnswer::say("{}")).unwrap();
    let ask = async |provider, path: &str| {
        let settings = Settings::new(provider).key("KEY", "sk-test-0123456789").unwrap();
        let url = format!("{}{path}", server.base_url);
        let mut settings = settings.base_url(&url).unwrap().api_version("2026-01-01");
        settings.effort = Some("low".to_owned());
        let mut conversation = Conversation::new("Go");
        let schema = json!({ "type": "object" });
        conversation.schema = Some(Schema { name: "answer".to_owned(), schema });
        Model::new(settings).unwrap().complete(&conversation).await.unwrap();
        server.requests().pop().unwrap()
    };
    let key = "sk-test-0123456789";

    let openai = ask(Provider::OpenAi, "/v1").await;
    assert_eq!((openai.path.as_str(), openai.query.as_str()), ("/v1/responses", ""));
    assert_eq!(openai.header("authorization"), Some(format!("Bearer {key}").as_str()));
    assert_eq!(openai.body["reasoning"], json!({ "effort": "low" }));
    assert_eq!(openai.body["text"]["format"]["strict"], false);

    let router = ask(Provider::OpenRouter, "/api/v1").await;
    assert_eq!(router.path, "/api/v1/chat/completions");
    assert_eq!(router.body["reasoning"], json!({ "effort": "low" }));
    assert_eq!(router.body["response_format"]["json_schema"]["name"], "answer");

    let azure = ask(Provider::AzureOpenAi, "/openai/deployments/d").await;
    assert_eq!(azure.path, "/openai/deployments/d/chat/completions");
    assert_eq!(azure.query, "api-version=2026-01-01");
    assert_eq!((azure.header("api-key"), azure.header("authorization")), (Some(key), None));
    assert_eq!(azure.body["reasoning_effort"], "low");
    let azure = ask(Provider::AzureOpenAi, "/openai/v1").await;
    assert_eq!((azure.path.as_str(), azure.query.as_str()), ("/openai/v1/responses", ""));

    let anthropic = ask(Provider::Anthropic, "").await;
    assert_eq!(anthropic.path, "/v1/messages");
    assert_eq!(anthropic.header("x-api-key"), Some(key));
    assert_eq!(anthropic.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(anthropic.body["output_config"], json!({ "effort": "low" }));
}

#[tokio::test]
async fn a_model_without_thoughts_is_not_asked_for_them() {
    let server = ModelServer::start(|_| ModelAnswer::say("hm")).unwrap();
    for (name, thinks) in [("gpt-5", true), ("o4-mini", true), ("gpt-4o", false), ("llama3", false)]
    {
        let settings = settings(&server, Protocol::Responses).model(name);
        Model::new(settings).unwrap().complete(&Conversation::new("Hello")).await.unwrap();
        let body = server.requests().pop().unwrap().body;
        assert_eq!(body.get("include").is_some(), thinks, "{name}");
    }
}
