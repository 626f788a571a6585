//! The protocol spoken from inside: this server's own tools, called as a client would, under a context.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use mcp_core::Context;
use serde_json::{Map, Value, json};

use crate::{app::App, routes::ENDPOINT};

const REVISION: &str = "2026-07-28";

/// The server, for one caller.
#[derive(Clone)]
pub(crate) struct Within {
    app: Arc<App>,
    pub(crate) cx: Context,
}

impl Within {
    pub(crate) fn new(app: &Arc<App>, cx: Context) -> Self {
        Self { app: Arc::clone(app), cx }
    }

    /// The same server under another context.
    pub(crate) fn with(&self, cx: Context) -> Self {
        Self::new(&self.app, cx)
    }

    /// The tools, as they are listed.
    pub(crate) async fn tools(&self) -> Result<Vec<Value>, String> {
        let mut result = self.ask("tools/list", json!({})).await?;
        match result["tools"].take() {
            Value::Array(tools) => Ok(tools),
            _ => Err("the list of tools is none".to_owned()),
        }
    }

    /// Calls a tool: all text of its answer, and whether it says that it failed.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<(String, bool), String> {
        let result =
            self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await?;
        let blocks = result["content"].as_array().into_iter().flatten();
        let text = blocks.map(|it| match it["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{} is not shown here]", it["type"].as_str().unwrap_or("a part")),
        });
        Ok((text.collect::<Vec<_>>().join("\n"), result["isError"] == true))
    }

    async fn ask(&self, method: &str, mut params: Value) -> Result<Value, String> {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {
                "name": "chat", "version": self.cx.identity.version,
            },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = Request::post(ENDPOINT)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method);
        if !name.is_empty() {
            request = request.header("mcp-name", name);
        }
        let request = request
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|_| "the name is not that of a tool".to_owned())?;
        let service = self.app.service(self.cx.clone(), self.app.sessions_of(&self.cx));
        let answer = service.handle(request).await.into_body().collect().await;
        let bytes = answer.map_err(|_| "the answer broke off".to_owned())?.to_bytes();
        let mut answer: Value = serde_json::from_slice(&bytes).map_err(|_| {
            let start: String = String::from_utf8_lossy(&bytes).chars().take(200).collect();
            format!("the answer is no message: {start}")
        })?;
        match answer["error"]["message"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => Ok(answer["result"].take()),
        }
    }
}
