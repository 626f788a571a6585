//! One request to Sentry: filled in, sent, and its answer read.

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::error::{Error, Refusal};
use super::{Client, Completeness, MAX_PER_PAGE, Page};
use crate::error::{Error as TransportError, ErrorKind, Progress};
use crate::pagination::{self, Next, Visited};
use crate::request::{Location, Parameter, Request, RequestBuilder};
use crate::transport::{Effect, Response};

/// A request that is being written.
#[derive(Debug)]
pub(super) struct Call<'c> {
    client: &'c Client,
    route: String,
    effect: Effect,
    builder: RequestBuilder,
}

impl<'c> Call<'c> {
    pub(super) fn new(
        client: &'c Client,
        method: Method,
        template: &'static str,
        effect: Effect,
    ) -> Self {
        let route = format!("{method} {template}");
        Self { client, route, effect, builder: RequestBuilder::new(method, template) }
    }

    /// Fills a placeholder; the value stays one segment whatever it holds.
    pub(super) fn path(mut self, name: &str, value: &str) -> Self {
        let parameter = Parameter::new(name, Location::Path);
        self.builder = self.builder.parameter(&parameter, &Value::from(value));
        self
    }

    /// Fills a placeholder whose value may span several segments.
    pub(super) fn segments(mut self, name: &str, value: &str) -> Self {
        let parameter = Parameter { multi_segment: true, ..Parameter::new(name, Location::Path) };
        self.builder = self.builder.parameter(&parameter, &Value::from(value));
        self
    }

    /// Adds a query parameter; nothing is left out, a list repeats the name.
    pub(super) fn query(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.builder = self.builder.query(name, &value.into());
        self
    }

    pub(super) fn json(mut self, body: &impl Serialize) -> Self {
        // What is sent are plain structs and values: they always have a JSON text.
        let text = serde_json::to_string(body).unwrap_or_default();
        self.builder = self.builder.json_body("application/json", text);
        self
    }

    /// Sends it and reads one entity.
    pub(super) async fn entity<T: DeserializeOwned>(self) -> Result<T, Error> {
        let route = self.route.clone();
        let client = self.client;
        let response = self.send().await?;
        decode(&response, &route, client)
    }

    /// Sends it and reads one entity, which may also come with this status.
    pub(super) async fn entity_or<T: DeserializeOwned>(self, accepted: u16) -> Result<T, Error> {
        let (client, route) = (self.client, self.route.clone());
        let (_, response) = self.exchange().await?;
        match response.status {
            200..=299 => {}
            status if status == accepted => {}
            _ => return Err(Refusal::new(route, &response, &client.transport).into()),
        }
        decode(&response, &route, client)
    }

    /// Sends it and reads one page.
    pub(super) async fn page<T: DeserializeOwned>(self) -> Result<Page<T>, Error> {
        let (items, next_cursor) = self.entity_of_list().await?;
        Ok(Page { items, next_cursor })
    }

    /// Sends it and reads one entity that holds part of a list, and where the list goes on.
    pub(super) async fn entity_of_list<T>(self) -> Result<(T, Option<String>), Error>
    where
        T: DeserializeOwned,
    {
        let (client, route) = (self.client, self.route.clone());
        let (url, response) = self.send_from().await?;
        let body: Value = decode(&response, &route, client)?;
        let next_cursor = next_cursor(&url, &response, &body);
        let entity =
            serde_json::from_value(body).map_err(|error| unreadable(client, &route, &error))?;
        Ok((entity, next_cursor))
    }

    /// Sends it and takes the answer as it is, for what is no JSON or has nothing to say.
    pub(super) async fn send(self) -> Result<Response, Error> {
        Ok(self.send_from().await?.1)
    }

    async fn send_from(self) -> Result<(Url, Response), Error> {
        let (client, route) = (self.client, self.route.clone());
        let (url, response) = self.exchange().await?;
        match response.status {
            200..=299 => Ok((url, response)),
            _ => Err(Refusal::new(route, &response, &client.transport).into()),
        }
    }

    async fn exchange(self) -> Result<(Url, Response), Error> {
        let Self { client, route, effect, builder } = self;
        let request: Request = builder.build().map_err(|error| {
            let kind = ErrorKind::Request { why: error.to_string() };
            TransportError::new(route.as_str(), place(client), Progress::NotSent, kind)
        })?;
        let url = client.transport.url(&request)?;
        let response = client.transport.send(&request, effect, client.deadline).await?;
        Ok((url, response))
    }
}

/// Reads a list to its end, at most `max_pages` pages of it; the last value says whether that was all.
pub(super) async fn all_pages<'c, T: DeserializeOwned>(
    max_pages: usize,
    call: impl Fn() -> Call<'c>,
) -> Result<(Vec<T>, Completeness), Error> {
    all_pages_of(MAX_PER_PAGE, max_pages, call).await
}

/// The same for a list that hands out pages of another size.
pub(super) async fn all_pages_of<'c, T: DeserializeOwned>(
    per_page: u32,
    max_pages: usize,
    call: impl Fn() -> Call<'c>,
) -> Result<(Vec<T>, Completeness), Error> {
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    let mut visited = Visited::default();
    for _ in 0..max_pages {
        let call = call().query("per_page", per_page).query("cursor", cursor.as_deref());
        let page = call.page().await?;
        items.extend(page.items);
        match page.next_cursor {
            // A server that goes round in circles has nothing new to say.
            Some(next) if visited.is_new(&next, &Value::Null) => cursor = Some(next),
            Some(_) | None => return Ok((items, Completeness::Whole)),
        }
    }
    Ok((items, Completeness::Cut))
}

fn decode<T: DeserializeOwned>(
    response: &Response,
    route: &str,
    client: &Client,
) -> Result<T, Error> {
    serde_json::from_slice(&response.body).map_err(|error| {
        if is_html(&response.body) {
            let why = "it is a web page: the base URL may be that of a login or a proxy".to_owned();
            return failure(client, route, ErrorKind::Decode { why });
        }
        unreadable(client, route, &error)
    })
}

fn is_html(body: &Bytes) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

fn unreadable(client: &Client, route: &str, error: &serde_json::Error) -> Error {
    failure(client, route, ErrorKind::Decode { why: error.to_string() })
}

fn failure(client: &Client, route: &str, kind: ErrorKind) -> Error {
    TransportError::new(route, place(client), Progress::Answered(200), kind).into()
}

/// The `host:port` the client talks to.
fn place(client: &Client) -> String {
    let base = client.base_url();
    let host = base.host_str().unwrap_or("?");
    base.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn next_cursor(url: &Url, response: &Response, body: &Value) -> Option<String> {
    let page =
        pagination::Page { url, headers: &response.headers, body, declared: &[], first_page: 1 };
    let Next::Url(next) = pagination::next_page(&page) else { return None };
    let next = Url::parse(&next).ok()?;
    next.query_pairs().find(|(name, _)| name == "cursor").map(|(_, cursor)| cursor.into_owned())
}
