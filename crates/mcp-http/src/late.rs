//! An answer that takes long: after a while it becomes an event stream, so that proxies and clients see
//! that somebody is still at work.

use std::{convert::Infallible, pin::Pin, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::{
    StreamExt as _,
    future::{Either, select},
    stream,
};
use http::{HeaderMap, HeaderValue, header};
use http_body_util::BodyExt as _;
use tokio::time::sleep;

/// How long an answer may take and still come alone.
const ALONE: Duration = Duration::from_secs(10);
/// Between the comments that keep a stream alive.
const PAUSE: Duration = Duration::from_secs(10);

const AT_WORK: Bytes = Bytes::from_static(b": at work\n\n");

/// Work that ends with an answer; dropped, it ends without one.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Whether a client can read event streams, as it says itself.
pub(crate) fn takes_streams(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    given.any(|it| it.to_ascii_lowercase().contains("text/event-stream"))
}

/// Returns the answer, or else a stream in which it comes.
pub(crate) async fn answer_or_stream(answer: Answer) -> Response {
    within(ALONE, PAUSE, answer).await
}

async fn within(alone: Duration, pause: Duration, answer: Answer) -> Response {
    let answer = match select(answer, Box::pin(sleep(alone))).await {
        Either::Left((answer, _)) => return answer,
        Either::Right(((), answer)) => answer,
    };
    let rest = stream::unfold(State::Working(answer), move |state| next(state, pause));
    let events = stream::iter([AT_WORK]).chain(rest);
    let mut response = Response::new(Body::from_stream(events.map(Ok::<_, Infallible>)));
    mark(response.headers_mut());
    response
}

/// The headers of a stream that nobody on the way is to hold back.
pub(crate) fn mark(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
}

pub(crate) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_some_and(|it| it.starts_with("text/event-stream"))
}

enum State {
    Working(Answer),
    /// The answer is a stream itself.
    Passing(Body),
    Over,
}

async fn next(state: State, pause: Duration) -> Option<(Bytes, State)> {
    let mut body = match state {
        State::Over => return None,
        State::Passing(body) => body,
        State::Working(answer) => match select(answer, Box::pin(sleep(pause))).await {
            Either::Right(((), answer)) => return Some((AT_WORK, State::Working(answer))),
            Either::Left((answer, _)) if is_stream(answer.headers()) => answer.into_body(),
            Either::Left((answer, _)) => {
                let whole = answer.into_body().collect().await.ok()?.to_bytes();
                return Some((event(&whole), State::Over));
            }
        },
    };
    loop {
        let frame = body.frame().await?.ok()?;
        if let Ok(data) = frame.into_data() {
            return Some((data, State::Passing(body)));
        }
    }
}

/// One event with a message.
fn event(message: &[u8]) -> Bytes {
    let lines = message.split(|byte| *byte == b'\n');
    let mut event = Vec::with_capacity(message.len() + 16);
    for line in lines {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(after: Duration, text: &'static str, kind: &'static str) -> Answer {
        Box::pin(async move {
            sleep(after).await;
            let mut response = Response::new(Body::from(text));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            response
        })
    }

    async fn text(response: Response) -> String {
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn an_answer_that_comes_soon_comes_alone() {
        let answer = answered(Duration::ZERO, "{}", "application/json");
        let response = within(Duration::from_secs(60), SHORT, answer).await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        assert_eq!(text(response).await, "{}");
    }

    #[tokio::test]
    async fn a_late_one_comes_in_a_stream_that_says_so_meanwhile() {
        let answer = answered(10 * SHORT, "{\"id\":1}", "application/json");
        let response = within(SHORT, SHORT, answer).await;
        assert!(is_stream(response.headers()));
        let text = text(response).await;
        assert!(text.matches(": at work\n\n").count() >= 2, "{text}");
        assert!(text.ends_with("data: {\"id\":1}\n\n"), "{text}");
    }

    #[tokio::test]
    async fn a_late_stream_goes_on_as_it_is() {
        let answer = answered(3 * SHORT, "id: 1\ndata: {}\n\n", "text/event-stream");
        let text = text(within(SHORT, Duration::from_secs(60), answer).await).await;
        assert_eq!(text, ": at work\n\nid: 1\ndata: {}\n\n");
    }
}
