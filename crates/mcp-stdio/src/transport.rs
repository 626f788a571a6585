//! The protocol's pipe: one message a line, and nothing that comes in can end the process badly.

use std::{io, sync::Arc};

use mcp_core::server::sdk::{RoleServer, RxJsonRpcMessage, Transport, TxJsonRpcMessage};
use rmcp::{
    model::{ErrorData, JsonRpcMessage, RequestId},
    transport::io::{StdioReader, StdioWriter, stdio_pipes},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
};
use tokio_util::sync::CancellationToken;

/// The longest message: sixteen times the largest script. A longer line is dropped, with a note.
const MAX_LINE: usize = 4 << 20;

/// Messages as lines, over any pair of streams.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    /// What has arrived of the present line. Kept here because `receive` may be dropped halfway.
    line: Vec<u8>,
    /// The present line is too long: the rest of it is passed over.
    is_too_long: bool,
    max_line: usize,
    has_begun: bool,
    /// Cancelled when nothing more can arrive.
    gone: CancellationToken,
    write: Arc<Mutex<Option<W>>>,
}

/// Standard input and output; needs a runtime.
pub(crate) fn stdio(gone: CancellationToken) -> Lines<StdioReader, StdioWriter> {
    let (read, write) = stdio_pipes();
    Lines::new(read, write, MAX_LINE, gone)
}

/// How a stretch of input ended.
enum End {
    Line,
    TooLong,
    Input,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    fn new(read: R, write: W, max_line: usize, gone: CancellationToken) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_too_long: false,
            max_line,
            has_begun: false,
            gone,
            write: Arc::new(Mutex::new(Some(write))),
        }
    }

    /// Reads up to the end of a line into `self.line`; loses nothing when it is dropped halfway.
    async fn read_line(&mut self) -> io::Result<End> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(End::Input);
            }
            let newline = available.iter().position(|&byte| byte == b'\n');
            let text = newline.and_then(|at| available.get(..at)).unwrap_or(available);
            if self.line.len() + text.len() > self.max_line {
                self.is_too_long = true;
                self.line.clear();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(text);
            }
            let consumed = newline.map_or(available.len(), |at| at + 1);
            self.read.consume(consumed);
            if newline.is_some() {
                let was_too_long = std::mem::take(&mut self.is_too_long);
                return Ok(if was_too_long { End::TooLong } else { End::Line });
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let write = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let end = self.read_line().await.unwrap_or_else(|error| {
                tracing::warn!("input cannot be read: {error}");
                End::Input
            });
            let message = match end {
                End::TooLong => {
                    tracing::warn!("a message of more than {} bytes is ignored", self.max_line);
                    continue;
                }
                End::Input if self.line.is_empty() => {
                    self.gone.cancel();
                    return None;
                }
                // What came last may lack its line break.
                End::Line | End::Input => parse(&self.line),
            };
            self.line.clear();
            match message {
                // The SDK ends the connection when the first message is no request.
                Ok(JsonRpcMessage::Request(request)) => {
                    self.has_begun = true;
                    return Some(JsonRpcMessage::Request(request));
                }
                Ok(message) if self.has_begun => return Some(message),
                Ok(_) => tracing::warn!("a message before the first request is ignored"),
                Err(Unreadable::Blank) => {}
                Err(Unreadable::Line(problem)) => tracing::warn!("a line is ignored: {problem}"),
                Err(Unreadable::Request(id)) => {
                    let error = ErrorData::invalid_request("not a JSON-RPC request", None);
                    let answer = TxJsonRpcMessage::<RoleServer>::error(error, Some(id));
                    // On its own, as half an answer must not stay behind when this is dropped.
                    drop(tokio::spawn(self.send(answer)));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

/// Why a line is no message.
enum Unreadable {
    Blank,
    /// There is nobody to answer: a note on stderr must do.
    Line(String),
    /// Whoever sent it waits for an answer to this id.
    Request(RequestId),
}

fn parse(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Unreadable> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Err(Unreadable::Blank);
    }
    let problem = match serde_json::from_slice(line) {
        Ok(message) => return Ok(message),
        Err(problem) => problem,
    };
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Err(Unreadable::Line(format!("not JSON: {problem}")));
    };
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match id.filter(|_| value.get("method").is_some()) {
        Some(id) => Err(Unreadable::Request(id)),
        None => Err(Unreadable::Line(format!("not a JSON-RPC message: {problem}"))),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};

    use super::*;

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    /// A transport that reads `input` and then the end, and what it writes.
    async fn reading(input: &str) -> (Lines<DuplexStream, DuplexStream>, DuplexStream) {
        let (mut client, server) = duplex(1 << 16);
        client.write_all(input.as_bytes()).await.unwrap();
        drop(client);
        let (written, write) = duplex(1 << 16);
        (Lines::new(server, write, 200, CancellationToken::new()), written)
    }

    async fn is_request(lines: &mut Lines<DuplexStream, DuplexStream>) -> bool {
        matches!(lines.receive().await, Some(JsonRpcMessage::Request(_)))
    }

    #[tokio::test]
    async fn messages_before_the_first_request_are_dropped_and_later_ones_are_not() {
        let (mut lines, _) = reading(&format!("{NOTE}\n{NOTE}\n{PING}\n{NOTE}\n")).await;
        assert!(is_request(&mut lines).await);
        assert!(matches!(lines.receive().await, Some(JsonRpcMessage::Notification(_))));
        assert!(!lines.gone.is_cancelled());
        assert!(lines.receive().await.is_none());
        assert!(lines.gone.is_cancelled());
    }

    #[tokio::test]
    async fn lines_that_are_no_messages_or_too_long_are_passed_over() {
        let long = "x".repeat(300);
        let input = format!("garbage\n\r\n{{\n[1]\n{{\"id\":1}}\n{long}\n\u{feff}{PING}\r\n{PING}");
        let (mut lines, mut written) = reading(&input).await;
        assert!(is_request(&mut lines).await);
        assert!(is_request(&mut lines).await, "the last line has no line break");
        assert!(lines.receive().await.is_none());
        lines.close().await.unwrap();
        drop(lines);
        let mut output = String::new();
        written.read_to_string(&mut output).await.unwrap();
        assert_eq!(output, "");
    }

    #[tokio::test]
    async fn a_malformed_request_is_answered_under_its_own_id() {
        let (mut lines, written) = reading("{\"id\":\"a\",\"method\":7}\n").await;
        assert!(lines.receive().await.is_none());
        let output = BufReader::new(written).lines().next_line().await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&"a".into(), &(-32600).into()));
    }

    #[tokio::test]
    async fn a_line_that_arrives_in_pieces_is_one_message() {
        let (mut client, server) = duplex(8);
        let (_written, write) = duplex(64);
        let mut lines = Lines::new(server, write, 200, CancellationToken::new());
        let writer = tokio::spawn(async move {
            client.write_all(format!("{PING}\n").as_bytes()).await.unwrap();
        });
        while tokio::time::timeout(std::time::Duration::ZERO, lines.receive()).await.is_err() {
            tokio::task::yield_now().await;
        }
        writer.await.unwrap();
        assert!(lines.line.is_empty());
    }
}
