//! What path and query ask for: always less, never more.

use mocks::{Mock, Running, World};
use serde_json::Value;

use crate::{
    support::{Server, against, authentik, binary, list, names, result},
    upstream::Upstream,
};

struct Sentry {
    mock: Running,
    server: Server,
    _upstream: Upstream,
}

async fn sentry(more: &[&str]) -> Sentry {
    let mock = Mock::start(World::sentry()).unwrap();
    let upstream = Upstream::start().await;
    let mut command = binary();
    command.args(["--api", "sentry", "--base-url", &mock.base_url]).args(more);
    command.env("SENTRY_ACCESS_TOKEN", &mock.token);
    command.arg("--openapi").arg(upstream.document.path());
    Sentry { server: Server::start(command), mock, _upstream: upstream }
}

async fn tools(server: &Server, path: &str) -> Value {
    result(server.post_to(path, &list()).send().await.unwrap()).await
}

async fn status(server: &Server, path: &str) -> u16 {
    server.post_to(path, &list()).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn skills_and_surface_of_the_query_take_tools_away() {
    let world = sentry(&[]).await;
    let server = &world.server;
    let all = tools(server, "/mcp").await;
    let all = names(&all);
    assert!(all.contains(&"execute_write") && all.contains(&"find_organizations"), "{all:?}");
    let reading = tools(server, "/mcp?skills=api-read").await;
    assert!(names(&reading).contains(&"execute") && !names(&reading).contains(&"execute_write"));
    let without = tools(server, "/mcp?disable-skills=api-read,api-write").await;
    assert!(!names(&without).contains(&"execute"), "{without}");
    let code = tools(server, "/mcp?surface=code-mode").await;
    assert_eq!(names(&code), ["search", "execute", "execute_write"]);
    for bad in ["skills=", "skills=fly", "surface=all", "disable-skills="] {
        assert_eq!(status(server, &format!("/mcp?{bad}")).await, 400, "{bad}");
    }
    assert_eq!(status(server, "/mcp?skills=triage&disable-skills=triage").await, 400);
}

#[tokio::test]
async fn a_path_limits_the_session_to_its_organization() {
    let world = sentry(&[]).await;
    let listed = tools(&world.server, "/mcp/harbor-lantern").await;
    let projects = listed["tools"].as_array().unwrap();
    let projects = projects.iter().find(|it| it["name"] == "find_projects").unwrap();
    let parameters = &projects["inputSchema"]["properties"];
    assert!(parameters.get("organizationSlug").is_none(), "{parameters}");
    assert!(!names(&listed).contains(&"execute"), "a script could reach beyond the limit");
    assert_eq!(status(&world.server, "/mcp/../mcp").await, 200, "the client resolved it");
    assert_eq!(status(&world.server, "/mcp/%2e%2e").await, 405, "the client resolved it to `/`");
    assert_eq!(status(&world.server, "/mcp/a%20b").await, 404);
    assert!(world.mock.log().iter().all(|it| it.method == "GET"));
}

#[tokio::test]
async fn what_a_path_names_must_be_there_and_is_looked_up_once() {
    let world = sentry(&[]).await;
    let server = &world.server;
    for path in ["/mcp/nowhere", "/mcp/harbor-lantern/nowhere"] {
        let answer = server.post_to(path, &list()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 404, "{path}");
        let said = answer.text().await.unwrap();
        assert!(said.contains("there is no") && said.contains("nowhere"), "{said}");
    }
    let before = world.mock.log().len();
    for _ in 0..3 {
        assert_eq!(status(server, "/mcp/harbor-lantern").await, 200);
    }
    assert_eq!(world.mock.log().len(), before + 1, "the answer is kept");
}

#[tokio::test]
async fn what_the_operator_does_not_offer_cannot_be_asked_for() {
    let mock = authentik();
    let mut command = against(&mock);
    command.args(["--skills", "api-read"]);
    let server = Server::start(command);
    let more = tools(&server, "/mcp?skills=api-read,api-write,inspect&experimental=1").await;
    assert_eq!(names(&more), ["search", "execute"]);
    let plain = tools(&server, "/mcp?surface=plain").await;
    assert_eq!(names(&plain), ["search", "call_operation"]);
    assert_eq!(status(&server, "/mcp?surface=catalog").await, 400);
    assert_eq!(status(&server, "/mcp/acme").await, 404, "this API has no organizations");
}
