//! Integration tests: the transport against real sockets.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cases;
mod failures;
mod fetch;
mod limits;
mod network;
mod oauth;
mod redirects;
mod requests;
mod responses;
mod retries;
mod server;
mod tls;
