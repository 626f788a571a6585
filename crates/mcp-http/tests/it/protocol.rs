//! Both eras of the protocol on one endpoint, and what clients get wrong.

use reqwest::{Method, StatusCode};
use serde_json::json;
use test_client::{Options, Protocol};

use crate::support::{
    Server, against, authentik, call, initialize, list, message, modern, modern_headers, names,
    request, result, text,
};

#[tokio::test]
async fn both_eras_are_served_by_one_endpoint() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    for (protocol, revision) in [(Protocol::Legacy, "2025-11-25"), (Protocol::Modern, "2026-07-28")]
    {
        let endpoint = server.endpoint();
        let client = Options::default().protocol(protocol).http(&endpoint, &[]).await.unwrap();
        assert_eq!(client.server().protocol, revision);
        assert_eq!(client.server().name, "authentik-code-mode");
        let tools = client.list().await.unwrap();
        let tools: Vec<_> = tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(tools, ["search", "execute", "execute_write"]);
        let code = "return (await ak.request('GET', '/core/groups/')).status";
        let answer = client.call("execute", json!({ "code": code })).await.unwrap();
        assert_eq!(answer.json().unwrap()["result"], 200, "{}", answer.text);
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_call_needs_no_session_and_every_modern_result_says_who_answered() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let listed = result(server.post(&list()).send().await.unwrap()).await;
    assert_eq!(names(&listed), ["search", "execute", "execute_write"]);
    assert!(listed.get("_meta").is_none(), "{listed}");
    let modern_call =
        modern("tools/call", json!({ "name": "search", "arguments": { "query": "users" } }));
    let answer = modern_headers(server.post(&modern_call), &modern_call).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let answer = result(answer).await;
    let name = &answer["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
    assert_eq!(name, "authentik-code-mode", "{answer}");
}

#[tokio::test]
async fn what_clients_get_wrong_is_answered_in_the_protocols_words() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let raw = |body: &'static str| {
        let request =
            server.request(Method::POST, "/mcp").header("content-type", "application/json");
        request.body(body)
    };
    let cases = [
        ("{\"jsonrpc\":", 400, -32700),
        ("[]", 400, -32600),
        ("{}", 400, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", 400, -32600),
    ];
    for (body, status, code) in cases {
        let answer = raw(body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{body}");
        assert_eq!(message(answer).await["error"]["code"], code, "{body}");
    }
    let malformed = request("tools/call", json!({ "name": "search", "arguments": [1] }));
    let answer = message(server.post(&malformed).send().await.unwrap()).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let unknown = message(server.post(&call("nope", json!({}))).send().await.unwrap()).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let no_type = server.request(Method::POST, "/mcp").body("{}").send().await.unwrap();
    assert_eq!(no_type.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let method = message(server.post(&request("nope/nope", json!({}))).send().await.unwrap()).await;
    assert_eq!(method["error"]["code"], -32601, "{method}");
}

#[tokio::test]
async fn clients_that_accept_less_or_say_no_version_are_served() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    for accept in [None, Some("*/*"), Some("application/json"), Some("text/event-stream")] {
        let mut request = server
            .request(Method::POST, "/mcp")
            .header("content-type", "application/json; charset=utf-8")
            .body(initialize().to_string());
        if let Some(accept) = accept {
            request = request.header("accept", accept);
        }
        let answer = result(request.send().await.unwrap()).await;
        assert_eq!(answer["protocolVersion"], "2025-11-25", "{accept:?}");
    }
    let image = server.post(&list()).header("accept", "image/png");
    assert!(image.send().await.unwrap().status().is_success(), "one of two headers fits");
    for (method, path, status) in [
        (Method::GET, "/mcp", 405),
        (Method::DELETE, "/mcp", 405),
        (Method::GET, "/mcp/a/b/c", 404),
        (Method::POST, "/nothing", 404),
        (Method::GET, "/sse", 410),
        (Method::POST, "/messages", 410),
    ] {
        let answer = server.request(method.clone(), path).header("accept", "*/*").send().await;
        assert_eq!(answer.unwrap().status().as_u16(), status, "{method} {path}");
    }
}

#[tokio::test]
async fn a_session_id_of_another_time_is_no_hindrance_without_sessions() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let answer = server.post(&list()).header("mcp-session-id", "dead").send().await.unwrap();
    assert_eq!(names(&result(answer).await).len(), 3);
}

#[tokio::test]
async fn progress_comes_as_a_stream_that_proxies_do_not_hold_back() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let mut slow = call("execute", json!({ "code": "await sleep(6000); return 1" }));
    slow["params"]["_meta"] = json!({ "progressToken": "p" });
    let answer = server.post(&slow).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(answer.headers()["x-accel-buffering"], "no");
    assert_eq!(answer.headers()["cache-control"], "no-cache");
    let body = answer.text().await.unwrap();
    assert!(body.contains("notifications/progress"), "{body}");
    assert!(body.contains(r#"\"result\":1"#), "{body}");
}

#[tokio::test]
async fn an_answer_that_takes_long_comes_in_a_stream_to_who_reads_streams() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let slow = call("execute", json!({ "code": "await sleep(11000); return 1" }));
    let streamed = async {
        let answer = server.post(&slow).send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        assert_eq!(answer.headers()["x-accel-buffering"], "no");
        let body = answer.text().await.unwrap();
        assert!(body.starts_with(": at work\n\n"), "{body}");
        assert!(body.contains(r#"\"result\":1"#), "{body}");
    };
    let alone = async {
        let request = server.request(Method::POST, "/mcp").body(slow.to_string());
        let request = request.header("content-type", "application/json");
        let answer = request.header("accept", "application/json").send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], "application/json");
        assert_eq!(text(&result(answer).await)["result"], 1);
    };
    tokio::join!(streamed, alone);
}

#[tokio::test]
async fn a_write_is_planned_confirmed_and_applied_across_requests() {
    let mock = authentik();
    let server = Server::start(against(&mock));
    let code =
        "return (await ak.request('POST', '/core/groups/', { body: { name: 'crew' } })).status";
    let planned = text(&server.call("execute_write", json!({ "code": code })).await);
    assert_eq!(planned["status"], "needs_confirmation", "{planned}");
    assert!(mock.writes().is_empty());
    let arguments = json!({ "code": code, "confirm": planned["confirm"] });
    let applied = text(&server.call("execute_write", arguments).await);
    assert_eq!(applied["result"], 201, "{applied}");
    assert_eq!(mock.writes().len(), 1);
}
