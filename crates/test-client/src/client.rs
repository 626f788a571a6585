//! A connection to one MCP server: list its tools, call them, close it.

use std::fmt;

use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ServerPeerInfo, Tool};
use rmcp::service::{RunningService, ServiceError};
use serde_json::{Map, Value, json};
use tokio::process::Command;

use crate::connect::Options;
use crate::handler::Handler;
use crate::output::Captured;

/// A live connection; [`Options`] has the ways to make one beyond the plain ones here.
pub struct Client {
    service: RunningService<RoleClient, Handler>,
    server: Server,
    stderr: Captured,
}

/// Who answered, as it said itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub name: String,
    pub version: String,
    /// The negotiated protocol revision, such as `2026-07-28`.
    pub protocol: String,
    pub instructions: Option<String>,
}

/// One tool of the server's list.
#[derive(Debug, Clone)]
pub struct ToolInfo {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub annotations: Annotations,
    /// The whole definition as the server sent it.
    pub definition: Value,
}

/// What a tool says about itself; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The text blocks, joined by line breaks; other blocks are named in brackets.
    pub text: String,
    pub structured: Option<Value>,
    pub is_error: bool,
    /// The whole result as the server sent it.
    pub raw: Value,
}

/// Why there is no answer from a tool.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server answered the request with a JSON-RPC error.
    #[error("the server refused the request: {message} ({code})")]
    Rpc { code: i32, message: String, data: Option<Value> },
    /// The request cannot be put into a well-formed message; [`crate::raw`] can send it anyway.
    #[error("{0}")]
    Usage(String),
    /// There is no server, or no longer one.
    #[error("{0}")]
    Connection(String),
}

impl Client {
    /// Starts `command` and speaks with it over its standard streams.
    pub async fn stdio(command: impl Into<Command>) -> Result<Self, Error> {
        Options::default().stdio(command).await
    }

    /// Connects to an HTTP endpoint, sending `headers` with every request.
    pub async fn http(url: &str, headers: &[(&str, &str)]) -> Result<Self, Error> {
        Options::default().http(url, headers).await
    }

    pub(crate) fn new(service: RunningService<RoleClient, Handler>, stderr: Captured) -> Self {
        let server = service.peer_info().map(|info| Server::from(&*info)).unwrap_or_default();
        Self { service, server, stderr }
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// All tools, over all pages of the list.
    pub async fn list(&self) -> Result<Vec<ToolInfo>, Error> {
        Ok(self.service.list_all_tools().await?.into_iter().map(ToolInfo::from).collect())
    }

    /// Calls a tool with an object of arguments, or with none (`null`).
    ///
    /// Dropping the future (as a timeout does) cancels the call on the server too. A server that
    /// asks for input is answered by [`Options::on_elicitation`].
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolResult, Error> {
        let mut request = CallToolRequestParams::new(name.to_owned());
        request.arguments = match arguments {
            Value::Null => None,
            Value::Object(arguments) => Some(arguments),
            other => {
                return Err(Error::Usage(format!("arguments must be an object, not `{other}`")));
            }
        };
        Ok(self.service.call_tool(request).await?.into())
    }

    /// What the server has written to stderr so far (the end of it when it is very long); empty
    /// over HTTP and with [`Options::inherit_stderr`].
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Ends the connection and waits until a server we started is gone.
    pub async fn close(mut self) -> Result<(), Error> {
        let ended = self.service.close().await;
        ended.map(drop).map_err(|error| Error::Connection(error.to_string()))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.server).finish_non_exhaustive()
    }
}

impl ToolInfo {
    /// Whether the tool declares that it changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.annotations.read_only == Some(true)
    }

    /// Whether the tool may destroy something; what says nothing may, as the protocol has it.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.annotations.destructive != Some(false)
    }
}

impl ToolResult {
    /// The text as JSON, where it is JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            name: "unnamed".to_owned(),
            version: "?".to_owned(),
            protocol: "?".to_owned(),
            instructions: None,
        }
    }
}

impl From<&ServerPeerInfo> for Server {
    fn from(info: &ServerPeerInfo) -> Self {
        let unnamed = Self::default();
        let (name, version) = match &info.server_info {
            Some(server) => (server.name.clone(), server.version.clone()),
            None => (unnamed.name, unnamed.version),
        };
        let protocol = info.protocol_version.to_string();
        Self { name, version, protocol, instructions: info.instructions.clone() }
    }
}

impl From<Tool> for ToolInfo {
    fn from(tool: Tool) -> Self {
        let definition = json!(tool);
        let annotations = tool.annotations.unwrap_or_default();
        Self {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            input_schema: Value::Object(Map::clone(&tool.input_schema)),
            annotations: Annotations {
                title: annotations.title.or(tool.title),
                read_only: annotations.read_only_hint,
                destructive: annotations.destructive_hint,
                idempotent: annotations.idempotent_hint,
                open_world: annotations.open_world_hint,
            },
            definition,
        }
    }
}

impl From<CallToolResult> for ToolResult {
    fn from(result: CallToolResult) -> Self {
        let blocks: Vec<_> = result.content.iter().map(block_text).collect();
        Self {
            text: blocks.join("\n"),
            raw: json!(result),
            structured: result.structured_content,
            is_error: result.is_error == Some(true),
        }
    }
}

fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[audio {}]", audio.mime_type),
        ContentBlock::ResourceLink(link) => format!("[resource {}]", link.uri),
        _ => "[resource]".to_owned(),
    }
}

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Rpc {
                code: error.code.0,
                message: error.message.into_owned(),
                data: error.data,
            },
            ServiceError::TransportClosed => {
                Self::Connection("the server closed the connection".to_owned())
            }
            other => Self::Connection(chain(&other)),
        }
    }
}

/// An error and its causes in one line, each said once.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line
}
