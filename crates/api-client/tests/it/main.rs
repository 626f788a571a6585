//! Integration tests: the transport against real sockets.

mod cases;
mod failures;
mod fetch;
mod redirects;
mod requests;
mod responses;
mod retries;
mod server;
mod tls;
