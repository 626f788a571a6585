//! Integration tests: real sockets, one client that knows only the wire.
#![expect(clippy::unwrap_used, reason = "a test fails where something is not as expected")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod authentik_captcha;
mod authentik_core;
mod authentik_document;
mod client;
mod faults;
mod frame;
mod published;
mod sentry_core;
mod sentry_dashboards;
mod sentry_issues;
mod sentry_pages;
mod sentry_search;
mod sentry_triage;
mod sentry_writes;
