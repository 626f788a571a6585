//! The protocol's pipe, guarded: nothing a client sends before its first request, or by leaving,
//! can end the process badly.

use mcp_core::server::sdk::{RoleServer, RxJsonRpcMessage, Transport, TxJsonRpcMessage};
use rmcp::{
    model::JsonRpcMessage,
    transport::{
        async_rw::AsyncRwTransport,
        io::{StdioReader, StdioWriter, stdio_pipes},
    },
};
use tokio_util::sync::CancellationToken;

/// The longest message: sixteen times the largest script. A longer line is dropped, with a note.
const MAX_LINE: usize = 4 << 20;

/// Standard input and output as a transport.
pub(crate) type Stdio = AsyncRwTransport<RoleServer, StdioReader, StdioWriter>;

/// Opens standard input and output; needs a runtime.
pub(crate) fn stdio() -> Stdio {
    let (read, write) = stdio_pipes();
    AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_LINE)
}

/// A transport that drops what comes before the first request, and says when the client is gone.
pub(crate) struct Guard<T> {
    inner: T,
    has_begun: bool,
    /// Cancelled when nothing more can arrive.
    gone: CancellationToken,
}

impl<T> Guard<T> {
    pub(crate) fn new(inner: T, gone: CancellationToken) -> Self {
        Self { inner, has_begun: false, gone }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Guard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.gone.cancel();
                return None;
            };
            // The SDK ends the connection when the first message is no request.
            if self.has_begun || matches!(message, JsonRpcMessage::Request(_)) {
                self.has_begun = true;
                return Some(message);
            }
            tracing::warn!("a message before the first request is ignored");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex, sink};

    use super::*;

    type Piped = Guard<AsyncRwTransport<RoleServer, DuplexStream, tokio::io::Sink>>;

    /// A guard that reads `lines` and then the end.
    async fn reading(lines: &str) -> (Piped, CancellationToken) {
        let (mut client, server) = duplex(1 << 16);
        client.write_all(lines.as_bytes()).await.unwrap();
        drop(client);
        let gone = CancellationToken::new();
        let inner = AsyncRwTransport::new_server(server, sink()).with_max_line_length(200);
        (Guard::new(inner, gone.clone()), gone)
    }

    #[tokio::test]
    async fn messages_before_the_first_request_are_dropped_and_later_ones_are_not() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let (mut guard, gone) = reading(&format!("{note}\n{note}\n{ping}\n{note}\n")).await;
        assert!(matches!(guard.receive().await, Some(JsonRpcMessage::Request(_))));
        assert!(matches!(guard.receive().await, Some(JsonRpcMessage::Notification(_))));
        assert!(!gone.is_cancelled());
        assert!(guard.receive().await.is_none());
        assert!(gone.is_cancelled());
    }

    #[tokio::test]
    async fn lines_that_are_no_messages_or_too_long_are_passed_over() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let long = "x".repeat(300);
        let (mut guard, _gone) = reading(&format!("garbage\n\n{{\n{long}\n{ping}\n")).await;
        assert!(matches!(guard.receive().await, Some(JsonRpcMessage::Request(_))));
        assert!(guard.receive().await.is_none());
    }
}
