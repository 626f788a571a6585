//! A bare HTTP/1.1 client: what the tests see is what was on the wire.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mocks::{Mock, Running, World};
use serde_json::Value;

/// A running mock and the right token for it.
pub(crate) struct Client {
    pub(crate) mock: Running,
    base: &'static str,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn authentik() -> Self {
        Self::of(World::authentik())
    }

    pub(crate) fn sentry() -> Self {
        Self::of(World::sentry())
    }

    pub(crate) fn of(world: World) -> Self {
        let base = match world.api {
            mocks::Api::Authentik => "/api/v3",
            mocks::Api::Sentry => "/api/0",
        };
        Self { mock: Mock::start(world).unwrap(), base }
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.call("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Response {
        self.call("POST", path, Some(body))
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Response {
        self.call("PUT", path, Some(body))
    }

    pub(crate) fn patch(&self, path: &str, body: Value) -> Response {
        self.call("PATCH", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Response {
        self.call("DELETE", path, None)
    }

    /// With the token and below the API's base.
    pub(crate) fn call(&self, method: &str, path: &str, body: Option<Value>) -> Response {
        let authorization = format!("Bearer {}", self.mock.token);
        let mut headers = vec![("authorization", authorization.as_str())];
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        self.raw(method, &format!("{}{path}", self.base), &headers, body.as_bytes()).unwrap()
    }

    pub(crate) fn control(&self, method: &str, command: &str) -> Response {
        let path = format!("/__mock/{command}");
        self.raw(method, &path, &[("x-mock-control", "1")], b"").unwrap()
    }

    pub(crate) fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Response> {
        let address = self.mock.base_url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address)?;
        let fields: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-length: {}\r\n{fields}\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Ok(Response { status, headers, body: bytes[end + 4..].to_vec() })
    }
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{error} in {}", String::from_utf8_lossy(&self.body));
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The rows of an authentik page.
    pub(crate) fn results(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()["results"].as_array().unwrap().clone()
    }

    /// The rows of a bare list.
    pub(crate) fn rows(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json().as_array().unwrap().clone()
    }

    /// Status and JSON body at once, for comparing.
    pub(crate) fn pair(&self) -> (u16, Value) {
        (self.status, self.json())
    }
}
