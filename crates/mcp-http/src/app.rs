//! What all requests share: the template of their contexts, the door, the limits, the sessions.

use std::sync::Arc;

use api_client::transport::Witness;
use mcp_core::{Context, context::Api, observer::Observer, profile::Kind};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use server_config::given::SetupError;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    audit::Audit,
    door::{Caller, Door},
    exchange::Exchange,
    gate::{Gate, Origin},
    grant::Narrowing,
    limits::{Limits, Rates},
    memo::Memo,
    metrics::{Gauges, Metrics},
    playground::Playground,
    refusal::Refusal,
    serving::{Load, Serving},
    sessions::{Sessions, SessionsOf},
    telemetry::span::Spans,
};

/// What outlives a request: shared by instances, or this instance's own.
pub(crate) struct State {
    pub(crate) rates: Arc<dyn Rates>,
    pub(crate) memo: Arc<dyn Memo>,
    /// What callers are told apart by.
    pub(crate) key: [u8; 32],
}

/// One server.
pub(crate) struct App {
    pub(crate) door: Door,
    pub(crate) gate: Gate,
    pub(crate) limits: Arc<Limits>,
    /// What was looked up for a caller, kept for a while.
    pub(crate) memo: Arc<dyn Memo>,
    pub(crate) load: Load,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) audit: Option<Arc<Audit>>,
    /// Who takes the spans of requests, if anybody does.
    pub(crate) spans: Option<Arc<dyn Spans>>,
    pub(crate) sessions: Option<Arc<Sessions>>,
    pub(crate) shows_metrics: bool,
    pub(crate) public_url: Option<Url>,
    pub(crate) playground: Option<Playground>,
    pub(crate) is_open: bool,
    /// What the operator offers; each request gets at most that.
    pub(crate) template: Context,
    /// Cancelled when no new work is taken.
    pub(crate) draining: CancellationToken,
    /// Cancelled when the work in progress has had its time.
    pub(crate) over: CancellationToken,
    /// Cancelled when what was still to be said of it has had its time too.
    pub(crate) closed: CancellationToken,
    no_sessions: Arc<Sessions>,
}

impl App {
    pub(crate) fn new(
        serving: &Serving,
        template: Context,
        state: State,
        spans: Option<Arc<dyn Spans>>,
        port: u16,
    ) -> Result<Self, SetupError> {
        let audit = serving.audit_log.as_deref().map(|path| {
            Audit::open(path).map(Arc::new).map_err(|error| {
                SetupError::new(
                    format!("the audit log `{}` cannot be opened: {error}", path.display()),
                    "name a file in a directory this user may write to",
                )
            })
        });
        Ok(Self {
            door: Door::new(serving, &template, &state.key)?,
            gate: Gate::new(serving, port),
            limits: Limits::new(&serving.load, state.rates),
            memo: state.memo,
            load: serving.load.clone(),
            metrics: Arc::default(),
            audit: audit.transpose()?,
            spans,
            sessions: serving.sessions.then(Arc::default),
            shows_metrics: serving.metrics,
            public_url: serving.public_url.clone(),
            playground: Playground::new(serving, &template),
            is_open: serving.doors.is_open(),
            template,
            draining: CancellationToken::new(),
            over: CancellationToken::new(),
            closed: CancellationToken::new(),
            no_sessions: Arc::default(),
        })
    }

    /// What the APIs behind it are called.
    pub(crate) fn titles(&self) -> String {
        let titles = self.template.apis.iter().map(|it| it.profile.title.as_str());
        titles.collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn has_organizations(&self) -> bool {
        self.template.apis.iter().any(|api| api.profile.kind == Kind::Sentry)
    }

    /// What this caller sees and may do with this request.
    pub(crate) fn context(
        &self,
        caller: &Caller,
        asked: &Narrowing,
        origin: Origin,
        exchange: &Arc<Exchange>,
    ) -> Result<Context, Refusal> {
        let mut cx = self.template.clone();
        caller.grant.apply(asked, &mut cx)?;
        // Some page of this machine is not its person.
        cx.access.read_only |= self.is_open && origin == Origin::Loopback;
        cx.caller.clone_from(&caller.id);
        let witness = || Arc::clone(exchange) as Arc<dyn Witness>;
        let own = |api: &Arc<Api>| api.for_caller(caller.credential.clone(), witness());
        let apis = self.template.apis.iter().map(own).map(|api| api.map(Arc::new));
        cx.apis = apis.collect::<Result<_, _>>().map_err(|error| {
            Refusal::bad_request(format!("the credential cannot be passed on: {error}"))
        })?;
        cx.observer = Some(Arc::clone(exchange) as Arc<dyn Observer>);
        Ok(cx)
    }

    /// The sessions of whoever has this context, and only with what the context allows.
    pub(crate) fn sessions_of(&self, cx: &Context) -> SessionsOf {
        let sessions = self.sessions.as_ref().unwrap_or(&self.no_sessions);
        let Context { caller, skills, constraints, surface, experimental, access, .. } = cx;
        let read_only = access.read_only;
        sessions.of(format!(
            "{caller} {skills:?} {constraints:?} {surface:?} {experimental} {read_only}"
        ))
    }

    /// The protocol for one request.
    pub(crate) fn service(
        &self,
        cx: Context,
        sessions: SessionsOf,
    ) -> StreamableHttpService<impl rmcp::ServerHandler + Clone, SessionsOf> {
        // Host and origin were looked at before, with answers that name the options.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_legacy_session_mode(self.sessions.is_some())
            .with_json_response(true)
            .with_max_request_body_bytes(self.load.body)
            .with_cancellation_token(self.closed.clone());
        let server = build(cx, self.over.clone());
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config)
    }

    pub(crate) fn gauges(&self) -> Gauges {
        Gauges {
            in_progress: self.limits.in_progress(),
            sessions: self.sessions.as_ref().map_or(0, |it| it.count()),
        }
    }
}

#[cfg(not(feature = "conformance"))]
fn build(cx: Context, over: CancellationToken) -> impl rmcp::ServerHandler + Clone {
    mcp_core::server::build_server_until(cx, over)
}

#[cfg(feature = "conformance")]
fn build(cx: Context, over: CancellationToken) -> impl rmcp::ServerHandler + Clone {
    conformance::with_fixtures(mcp_core::server::build_server_until(cx, over))
}
