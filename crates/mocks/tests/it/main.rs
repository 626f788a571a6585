//! Integration tests: real sockets, one client that knows only the wire.

mod authentik_captcha;
mod authentik_core;
mod authentik_document;
mod client;
mod frame;
mod sentry_core;
mod sentry_dashboards;
mod sentry_pages;
