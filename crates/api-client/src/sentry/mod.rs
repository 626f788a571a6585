//! Sentry's API, typed: one file per resource, over the request builder and the transport.
//!
//! Entities are read leniently: unknown fields are ignored, and a field that is missing, `null` or
//! of another type costs only itself. What names an entity, its id or slug, must be there.

pub mod activities;
pub mod ai_conversations;
pub mod alert_rules;
pub mod attachments;
pub mod autofix;
mod call;
pub mod dashboards;
pub mod docs;
pub mod error;
pub mod events;
mod filtered;
pub mod issues;
mod lenient;
pub mod monitors;
pub mod onboarding;
pub mod organizations;
pub mod profiles;
pub mod project_keys;
pub mod projects;
pub mod region;
pub mod releases;
pub mod replays;
pub mod repositories;
pub mod snapshots;
pub mod source_links;
pub mod tags;
pub mod teams;
#[cfg(test)]
mod testing;
pub mod time;
pub mod traces;
pub mod uptime;
pub mod users;
pub mod workflows;

use std::time::Instant;

use http::Method;
use url::Url;

use crate::error::ConfigError;
use crate::transport::{Effect, Transport};
use call::Call;

/// The largest page Sentry hands out.
pub const MAX_PER_PAGE: u32 = 100;

/// Sends typed requests to one host of Sentry until a deadline. Cheap to make, one per tool call.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Transport,
    deadline: Instant,
}

/// Part of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The entities, in Sentry's order.
    pub items: Vec<T>,
    /// What to pass as `cursor` to get what follows; nothing on the last page.
    pub next_cursor: Option<String>,
}

/// Whether a list was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// There is nothing more.
    Whole,
    /// There is more than is ever read.
    Cut,
}

impl Client {
    /// Talks to the transport's base until the deadline. Paths start with `/api/0`.
    #[must_use]
    pub fn new(transport: Transport, deadline: Instant) -> Self {
        Self { transport, deadline }
    }

    /// Returns the same client for another host: one that [`region`] has checked.
    ///
    /// # Errors
    /// A URL that cannot be a base.
    pub fn at(&self, host: &Url) -> Result<Self, ConfigError> {
        Ok(Self { transport: self.transport.with_base(host.clone())?, deadline: self.deadline })
    }

    /// Returns the same client with less time: until then, or its own deadline if that is sooner.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        Self { deadline: self.deadline.min(deadline), ..self.clone() }
    }

    /// The host it talks to.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        self.transport.base_url()
    }

    fn get(&self, template: &'static str) -> Call<'_> {
        Call::new(self, Method::GET, template, Effect::Read)
    }

    fn post(&self, template: &'static str) -> Call<'_> {
        Call::new(self, Method::POST, template, Effect::Write)
    }

    fn put(&self, template: &'static str) -> Call<'_> {
        Call::new(self, Method::PUT, template, Effect::Write)
    }

    fn delete(&self, template: &'static str) -> Call<'_> {
        Call::new(self, Method::DELETE, template, Effect::Write)
    }
}
