//! Stateful stand-ins for authentik and Sentry on loopback sockets, for tests and evaluations.
//!
//! Reading order: `server` (sockets), `engine` (one request is one transaction), `route`, then one
//! folder per API and in it one file per resource. Nothing here knows our client or our server: a
//! shared type would make both sides wrong in the same way.

mod authentik;
mod control;
mod edit;
mod engine;
mod extra;
mod fault;
mod fields;
mod hash;
mod http;
mod log;
mod model;
mod route;
mod seed;
mod sentry;
mod server;
mod table;
mod time;

use std::net::{Ipv4Addr, SocketAddr};

pub use edit::Edit;
pub use extra::Extra;
pub use fault::{Action, Fault, Phase, When};
pub use log::{Boundary, Change, Entry, Firing};
pub use model::{ModelAnswer, ModelRequest, ModelServer, Tokens};
pub use server::Running;

/// What the Sentry mock says of itself where the published document is not at hand: the operations
/// that evaluations need, as an OpenAPI document in JSON.
pub const SENTRY_DOCUMENT: &str = include_str!("../fixtures/sentry.json");

/// Which API a mock speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// authentik 2026.8 under `/api/v3`.
    Authentik,
    /// Sentry under `/api/0`, with the one organization `harbor-lantern`.
    Sentry,
}

/// Everything that decides how a mock behaves; equal worlds answer alike.
#[derive(Clone, Debug)]
pub struct World {
    pub api: Api,
    /// Where to listen; port 0 takes a free one. Only loopback addresses are accepted.
    pub address: SocketAddr,
    /// The one bearer token that is let in; without it one is derived from the seed.
    pub token: Option<String>,
    /// Moves every id and every generated value.
    pub seed: u64,
    pub faults: Vec<Fault>,
    /// More of some rows than anybody else wants.
    pub extra: Extra,
}

impl World {
    pub fn authentik() -> Self {
        Self::of(Api::Authentik)
    }

    pub fn sentry() -> Self {
        Self::of(Api::Sentry)
    }

    pub fn of(api: Api) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { api, address, token: None, seed: 1, faults: Vec::new(), extra: Extra::None }
    }
}

/// The entry point: `Mock::start(World::authentik())`.
#[derive(Debug)]
pub struct Mock;

impl Mock {
    /// Binds, seeds and serves from a thread of its own until the handle is dropped.
    pub fn start(world: World) -> std::io::Result<Running> {
        match world.api {
            Api::Authentik => Running::start::<authentik::Authentik>(world),
            Api::Sentry => Running::start::<sentry::Sentry>(world),
        }
    }
}
