//! What one caller has and may do: the APIs, the access the operator granted, the shared machinery.
//!
//! A [`Context`] is built per connection (stdio) or per request (HTTP). Nothing per-user is static:
//! what several callers share (documents, transports, the worker pool) is shared by `Arc`.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use api_client::{
    auth::Credential,
    error::ConfigError,
    transport::{Transport, Witness},
};
use async_trait::async_trait;

use crate::{
    agents::QueryAgent,
    code_mode::{
        confirm::{ConfirmMode, ConfirmationStore, MemoryConfirmations},
        files::Files,
        policy::{Access, Effect, Flows},
        region::KnownRegions,
    },
    constraints::Constraints,
    docs::DocsSource,
    observer::Observer,
    openapi::{Summary, source::DocumentSource},
    profile::{Kind, Profile},
    sandbox::{Limits, Pool},
    skill::Skills,
    surfaces::{Reach, Surface},
};

/// One upstream API: how to reach it, how to read its document, what is particular to it.
#[derive(Debug)]
pub struct Api {
    /// What differs between APIs, as data.
    pub profile: Profile,
    /// Sends requests with the operator's credential.
    pub transport: Arc<Transport>,
    /// The OpenAPI document with its search index, loading in the background.
    pub document: Arc<DocumentSource>,
    /// What the operator granted of this API, beside what holds for all of them.
    pub access: Access,
    /// Where organizations keep their data, as far as it was looked up.
    pub(crate) regions: Arc<KnownRegions>,
}

impl Api {
    /// An API of which the operator granted what [`Context::access`] says.
    pub fn new(profile: Profile, transport: Arc<Transport>, document: Arc<DocumentSource>) -> Self {
        let (access, regions) = (Access::default(), Arc::default());
        Self { profile, transport, document, access, regions }
    }

    /// Why an operation may not be used, if so: by what holds for all APIs, then for this one.
    pub fn refuses(&self, all: &Access, operation: &Summary, effect: Effect) -> Option<String> {
        all.refuses(operation, effect).or_else(|| self.access.refuses(operation, effect))
    }

    /// The same API for one caller: with the credential the caller brought, if any, and with
    /// somebody who is told of its requests.
    ///
    /// # Errors
    /// A credential that its place cannot carry.
    pub fn for_caller(
        &self,
        credential: Option<Credential>,
        witness: Arc<dyn Witness>,
    ) -> Result<Self, ConfigError> {
        let (transport, regions) = match credential {
            Some(credential) => (self.transport.with_credential(credential)?, Arc::default()),
            None => (Transport::clone(&self.transport), Arc::clone(&self.regions)),
        };
        Ok(Self {
            profile: self.profile.clone(),
            transport: Arc::new(transport.with_witness(witness)),
            document: Arc::clone(&self.document),
            access: self.access.clone(),
            regions,
        })
    }

    /// The names scripts know this API by: `api` and the profile's own.
    pub fn binding_names(&self, alone: bool) -> Vec<String> {
        let own = self.profile.binding.clone();
        if alone && own != "api" { vec!["api".to_owned(), own] } else { vec![own] }
    }

    /// Host (and port, where it is not the scheme's own) of the API, as shown to a person.
    pub fn host(&self) -> String {
        let base = self.transport.base_url();
        let host = base.host_str().unwrap_or_default();
        base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// Name and version the server gives itself in the handshake.
#[derive(Debug, Clone)]
pub struct Identity {
    /// `authentik-code-mode`, `sentry-mcp`, or the configured name.
    pub name: String,
    /// The release, as in `Cargo.toml`.
    pub version: String,
}

/// Tells the time and lets it pass; tests hold it still, or let it leap.
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present moment.
    fn now(&self) -> SystemTime;

    /// Returns when so much time has passed.
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Everything a caller can see or do.
#[derive(Debug, Clone)]
pub struct Context {
    /// How the server introduces itself.
    pub identity: Identity,
    /// The APIs of this server, in the operator's order; never empty.
    pub apis: Vec<Arc<Api>>,
    /// What the operator granted, of every API.
    pub access: Access,
    /// What the operator granted of the tools.
    pub skills: Skills,
    /// What the session is pinned to.
    pub constraints: Constraints,
    /// Whether tools that may still change are there.
    pub experimental: bool,
    /// Where the documentation comes from, if it comes from anywhere.
    pub docs: Option<DocsSource>,
    /// Who turns plain words into searches, if anybody does.
    pub agent: Option<Arc<dyn QueryAgent>>,
    /// Between which APIs a script may carry what it read.
    pub flows: Flows,
    /// The directories whose files scripts may use.
    pub files: Files,
    /// Which tools are shown.
    pub surface: Surface,
    /// How the session reaches its tools; found out when the server is built.
    pub(crate) reach: Arc<Reach>,
    /// How `execute_write` asks before it writes.
    pub confirm: ConfirmMode,
    /// Limits of one script.
    pub limits: Limits,
    /// The worker processes.
    pub pool: Arc<Pool>,
    /// Confirmations that were issued and not used yet.
    pub confirmations: Arc<dyn ConfirmationStore>,
    /// Who is calling: confirmations and the fair queue are kept apart by it.
    pub caller: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Is told of every tool call.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Context {
    /// Starts a context for `api`, with the defaults of a local, single-user server.
    pub fn builder(identity: Identity, pool: Arc<Pool>, api: Api) -> ContextBuilder {
        let surface = Surface::default_for(api.profile.kind);
        ContextBuilder {
            context: Self {
                identity,
                apis: vec![Arc::new(api)],
                access: Access::default(),
                skills: Skills::active(),
                constraints: Constraints::default(),
                experimental: false,
                docs: None,
                agent: None,
                surface,
                reach: Arc::default(),
                flows: Flows::default(),
                files: Files::default(),
                confirm: ConfirmMode::Plan,
                limits: Limits::default(),
                pool,
                confirmations: Arc::new(MemoryConfirmations::default()),
                caller: "local".to_owned(),
                clock: Arc::new(SystemClock),
                observer: None,
            },
        }
    }

    /// The Sentry among the APIs, which the catalog is for.
    pub(crate) fn sentry(&self) -> Option<&Arc<Api>> {
        self.apis.iter().find(|api| api.profile.kind == Kind::Sentry)
    }

    /// Whether nothing at all can be written.
    pub fn is_read_only(&self) -> bool {
        self.access.read_only || self.apis.iter().all(|api| api.access.read_only)
    }

    /// The API a script's binding number stands for.
    pub fn api(&self, index: usize) -> Option<&Arc<Api>> {
        self.apis.get(index)
    }
}

/// Sets what differs from the defaults of [`Context::builder`].
#[derive(Debug)]
pub struct ContextBuilder {
    context: Context,
}

impl ContextBuilder {
    /// One more API. Each needs a name of its own, other than `api`.
    #[must_use]
    pub fn api(mut self, api: Api) -> Self {
        self.context.apis.push(Arc::new(api));
        self
    }

    /// Between which APIs a script may carry what it read; by default none.
    #[must_use]
    pub fn flows(mut self, flows: Flows) -> Self {
        self.context.flows = flows;
        self
    }

    /// The directories whose files scripts may use; by default none.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.context.files = files;
        self
    }

    /// What the operator granted, of every API.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.context.access = access;
        self
    }

    /// What the operator granted of the tools.
    #[must_use]
    pub fn skills(mut self, skills: Skills) -> Self {
        self.context.skills = skills;
        self
    }

    /// What the session is pinned to.
    #[must_use]
    pub fn constraints(mut self, constraints: Constraints) -> Self {
        self.context.constraints = constraints;
        self
    }

    /// Whether tools that may still change are there.
    #[must_use]
    pub fn experimental(mut self, experimental: bool) -> Self {
        self.context.experimental = experimental;
        self
    }

    /// Where the documentation comes from; by default from nowhere.
    #[must_use]
    pub fn docs(mut self, docs: DocsSource) -> Self {
        self.context.docs = Some(docs);
        self
    }

    /// Who turns plain words into searches; by default nobody.
    #[must_use]
    pub fn agent(mut self, agent: Arc<dyn QueryAgent>) -> Self {
        self.context.agent = Some(agent);
        self
    }

    /// Which tools are shown; by default what suits the API.
    #[must_use]
    pub fn surface(mut self, surface: Surface) -> Self {
        self.context.surface = surface;
        self
    }

    /// How `execute_write` asks before it writes.
    #[must_use]
    pub fn confirm(mut self, confirm: ConfirmMode) -> Self {
        self.context.confirm = confirm;
        self
    }

    /// Limits of one script.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.context.limits = limits;
        self
    }

    /// Who is calling.
    #[must_use]
    pub fn caller(mut self, caller: impl Into<String>) -> Self {
        self.context.caller = caller.into();
        self
    }

    /// The time source; tests hold it still.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.context.clock = clock;
        self
    }

    /// Who is told of every tool call.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.context.observer = Some(observer);
        self
    }

    /// Where issued confirmations are kept.
    #[must_use]
    pub fn confirmations(mut self, store: Arc<dyn ConfirmationStore>) -> Self {
        self.context.confirmations = store;
        self
    }

    /// The finished context.
    #[must_use]
    pub fn build(self) -> Context {
        self.context
    }
}
