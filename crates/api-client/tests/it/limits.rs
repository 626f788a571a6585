//! Rate limits: calls of one caller wait together, writes too, and what is left can be seen.

use std::time::{Duration, Instant};

use api_client::auth::{Credential, SecretSource};
use api_client::error::{ErrorKind, Progress};
use api_client::transport::{Budget, Effect, Transport};
use futures::future::join_all;

use crate::server::{Server, get, http, options, post, soon};

fn governed(server: &Server) -> Transport {
    let mut options = options(server.url(""));
    options.retries = true;
    Transport::new(options).unwrap()
}

fn within(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}

#[tokio::test]
async fn after_a_refusal_parallel_calls_wait_for_the_same_moment() {
    let server =
        Server::start(vec![http(429, "retry-after: 1", "slow down"), http(200, "", "ok")]).await;
    let transport = governed(&server);
    let start = Instant::now();
    let first = transport.send(&get("/x"), Effect::Read, within(500)).await.unwrap();
    assert_eq!((first.status, &first.body[..]), (429, &b"slow down"[..]));
    assert_eq!(first.retry_after(), Some(Duration::from_secs(1)));
    let (read, write) = (get("/y"), post("/z"));
    let calls = (0..8).map(|it| match it % 2 {
        0 => transport.send(&read, Effect::Read, soon()),
        _ => transport.send(&write, Effect::Write, soon()),
    });
    let statuses: Vec<_> = join_all(calls).await.into_iter().map(|it| it.unwrap().status).collect();
    assert_eq!(statuses, [200; 8]);
    assert!(start.elapsed() >= Duration::from_millis(990), "{:?}", start.elapsed());
    assert_eq!(server.lines().len(), 9, "each was sent once");
}

#[tokio::test]
async fn a_call_that_cannot_wait_is_not_sent_and_says_when_to_come_back() {
    let server = Server::start(vec![http(429, "retry-after: 60", ""), http(200, "", "ok")]).await;
    let transport = governed(&server);
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    let error = transport.send(&post("/y"), Effect::Write, soon()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RateLimited { retry_after: Some(_) }), "{error:?}");
    assert_eq!((error.progress(), error.is_outcome_unknown()), (Progress::NotSent, false));
    let place = server.address;
    let expected = format!("`POST /y`: not sent, as `{place}` limits the rate; try again in 60 s");
    assert_eq!(error.to_string(), expected);
    assert_eq!(server.lines().len(), 1);

    let source = SecretSource::literal("OTHER", "another-caller").unwrap();
    let other = transport.with_credential(Credential::Bearer(source)).unwrap();
    assert_eq!(other.send(&get("/y"), Effect::Read, soon()).await.unwrap().status, 200);
}

#[tokio::test]
async fn an_empty_budget_is_waited_for_and_a_far_reset_is_left_to_the_server() {
    let server = Server::start(vec![
        http(200, "x-ratelimit-limit: 5\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 1", ""),
        http(200, "ratelimit: \"all\";r=0;t=600\nratelimit-policy: \"all\";q=5;w=600", ""),
        http(429, "x-ratelimit-remaining: 0\nx-ratelimit-reset: 600", "no"),
    ])
    .await;
    let transport = governed(&server);
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    let start = Instant::now();
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
    let start = Instant::now();
    let refused = transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    assert_eq!((refused.status, refused.retry_after()), (429, Some(Duration::from_secs(600))));
    assert!(start.elapsed() < Duration::from_secs(5), "a long wait comes back at once");
}

#[tokio::test]
async fn github_refuses_with_403_and_a_read_waits_for_it() {
    let refusal = http(403, "retry-after: 1\nx-ratelimit-remaining: 10", "secondary rate limit");
    let server =
        Server::start(vec![refusal, http(200, "", "ok"), http(403, "", "forbidden")]).await;
    let transport = governed(&server);
    assert_eq!(transport.send(&get("/x"), Effect::Read, soon()).await.unwrap().status, 200);
    assert_eq!(transport.send(&get("/x"), Effect::Read, soon()).await.unwrap().status, 403);
    assert_eq!(server.lines().len(), 3, "another 403 is final");
}

#[tokio::test]
async fn what_is_left_is_visible_for_each_budget_the_server_keeps() {
    let headers = |resource: &str, remaining: u32| {
        format!(
            "x-ratelimit-limit: 30\nx-ratelimit-remaining: {remaining}\nx-ratelimit-reset: 40\nx-ratelimit-resource: {resource}"
        )
    };
    let server = Server::start(vec![
        http(200, &headers("core", 12), ""),
        http(200, &headers("search", 3), ""),
    ])
    .await;
    let transport = governed(&server);
    assert_eq!(transport.budget(), []);
    transport.send(&get("/x"), Effect::Read, soon()).await.unwrap();
    transport.send(&get("/search"), Effect::Read, soon()).await.unwrap();
    let budgets = transport.budget();
    let told = |it: &Budget| (it.resource.clone().unwrap(), it.limit, it.remaining);
    assert_eq!(
        budgets.iter().map(told).collect::<Vec<_>>(),
        [("core".to_owned(), Some(30), Some(12)), ("search".to_owned(), Some(30), Some(3))]
    );
    assert_eq!(budgets[0].origin, server.url("").origin().ascii_serialization());
    assert!(budgets[0].reset > Some(Duration::from_secs(38)));
}

#[tokio::test]
async fn without_retries_nothing_is_held_back() {
    let server = Server::start(vec![http(429, "retry-after: 60", ""), http(200, "", "ok")]).await;
    let transport = Transport::new(options(server.url(""))).unwrap();
    assert_eq!(transport.send(&get("/x"), Effect::Read, soon()).await.unwrap().status, 429);
    assert_eq!(transport.send(&get("/x"), Effect::Read, soon()).await.unwrap().status, 200);
    assert_eq!(transport.budget()[0].remaining, Some(0), "it is known all the same");
}
