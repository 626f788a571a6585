//! The protocol: the one file that names its SDK.
//!
//! Tools see an SDK-free [`Caller`](crate::caller::Caller) and answer with our own
//! [`Content`](crate::output::Content); here they become messages. The rest of what the binaries need
//! of the SDK is re-exported from [`sdk`].

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ElicitRequestParams, ElicitationAction, ElicitationSchema, ErrorCode,
        ErrorData, Implementation, JsonObject, ListToolsResult, MetaObject, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, ResourceContents,
        ServerCapabilities, ServerConfig, SubscriptionFilter, Tool as WireTool, ToolAnnotations,
    },
    service::{ElicitationMode, RequestContext},
};
use tokio_util::sync::CancellationToken;

use crate::{
    caller::{Answer, Caller},
    context::Context,
    observer::{Called, Outcome},
    output::{Content, Part},
    session::{Session, Shown},
    tool::World,
};

/// What the binaries need of the protocol's SDK.
pub mod sdk {
    pub use rmcp::{
        RoleServer, ServiceExt, model, serve_server,
        service::{RxJsonRpcMessage, TxJsonRpcMessage},
        transport::Transport,
    };
}

/// How long a client may keep the list of tools: it is fixed for the life of the server.
const TOOLS_TTL_MS: u64 = 3_600_000;

/// Methods the SDK hands over as unknown when their parameters do not fit.
const KNOWN_METHODS: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// Methods among them that the stateless revisions no longer have.
const REMOVED_METHODS: &[&str] =
    &["initialize", "logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];

/// Builds the server that transports and embedders serve: the one entry.
pub fn build_server(context: Context) -> impl ServerHandler + Clone {
    Server::new(context, CancellationToken::new())
}

/// [`build_server`], with a token that cancels every call when the client is gone.
pub fn build_server_until(context: Context, gone: CancellationToken) -> impl ServerHandler + Clone {
    Server::new(context, gone)
}

#[derive(Clone)]
struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    session: Session,
    gone: CancellationToken,
}

impl Server {
    fn new(context: Context, gone: CancellationToken) -> Self {
        Self { inner: Arc::new(Inner { session: Session::new(context), gone }) }
    }

    /// Who answers: without a handshake every result says so.
    fn signature(&self) -> MetaObject {
        let identity = &self.inner.session.context().identity;
        let mut meta = MetaObject::new();
        let server = serde_json::json!({ "name": identity.name, "version": identity.version });
        meta.0.insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
        meta
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let session = &self.inner.session;
        let identity = &session.context().identity;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(identity.name.clone(), identity.version.clone()))
            .with_instructions(session.instructions())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.inner.session.shown().iter().map(wire_tool).collect();
        let mut result = ListToolsResult::with_all_items(listed).with_ttl_ms(TOOLS_TTL_MS);
        result.meta = is_modern(&context).then(|| self.signature());
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<WireTool> {
        self.inner.session.shown().iter().find(|it| it.definition.name == name).map(wire_tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let session = &self.inner.session;
        let mut watch = Watch::new(session.context(), &request.name);
        let modern = is_modern(&context);
        let caller = ClientCaller::new(context, self.inner.gone.clone());
        match session.call(&request.name, arguments, &caller).await {
            Ok(content) => {
                watch.ended(match (caller.cancelled.is_cancelled(), content.is_error) {
                    (true, _) => Outcome::Cancelled,
                    (false, true) => Outcome::Failed,
                    (false, false) => Outcome::Done,
                });
                let mut result = result(content);
                result.meta = modern.then(|| self.signature());
                Ok(result.into())
            }
            Err(unknown) => {
                watch.ended(Outcome::Unknown);
                Err(ErrorData::invalid_params(unknown, None))
            }
        }
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // The list of tools never changes: a subscription is acknowledged, and nothing is promised.
        Some(SubscriptionFilter::new())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let is_removed = is_modern(&context) && REMOVED_METHODS.contains(&method);
        if KNOWN_METHODS.contains(&method) && !is_removed {
            return Err(ErrorData::invalid_params(
                format!("invalid parameters for `{method}`"),
                None,
            ));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method `{method}` does not exist"),
            None,
        ))
    }
}

/// Whether a request is of the stateless revisions.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28)
}

fn wire_tool(shown: &Shown) -> WireTool {
    let definition = &shown.definition;
    let annotations = ToolAnnotations::with_title(definition.title)
        .read_only(definition.effect.is_read_only())
        .destructive(definition.effect.is_destructive())
        .idempotent(definition.effect.is_idempotent())
        .open_world(definition.world == World::Open);
    let schema: JsonObject = definition.input_schema.to_json();
    let description = Cow::Owned(definition.description.clone());
    let tool =
        WireTool::new(definition.name, description, Arc::new(schema)).with_annotations(annotations);
    match &shown.output_schema {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema.clone())),
        None => tool,
    }
}

fn result(content: Content) -> CallToolResult {
    let mut blocks = vec![ContentBlock::text(content.text)];
    blocks.extend(content.parts.into_iter().map(block));
    if content.is_error {
        return CallToolResult::error(blocks);
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = content.structured;
    result
}

fn block(part: Part) -> ContentBlock {
    match part {
        Part::Text(text) => ContentBlock::text(text),
        Part::Image { mime_type, data } => ContentBlock::image(data, mime_type),
        Part::File { uri, mime_type, data } => {
            ContentBlock::resource(ResourceContents::blob(data, uri).with_mime_type(mime_type))
        }
    }
}

/// Tells the observer how a call ended, also when the client has left and its future is dropped.
struct Watch<'a> {
    cx: &'a Context,
    tool: &'a str,
    started: Instant,
    outcome: Outcome,
}

impl<'a> Watch<'a> {
    fn new(cx: &'a Context, tool: &'a str) -> Self {
        Self { cx, tool, started: Instant::now(), outcome: Outcome::Cancelled }
    }

    fn ended(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(observer) = &self.cx.observer {
            let took = self.started.elapsed();
            observer.called(&Called { tool: self.tool, outcome: self.outcome, took });
        }
    }
}

/// The client of one request.
struct ClientCaller {
    context: RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    cancelled: CancellationToken,
    /// Ends the task that watches for the client to go away.
    _watch: tokio_util::sync::DropGuard,
}

/// How long a person may think about a question.
const PATIENCE: Duration = Duration::from_secs(50);

impl ClientCaller {
    fn new(context: RequestContext<RoleServer>, gone: CancellationToken) -> Self {
        let cancelled = CancellationToken::new();
        let done = CancellationToken::new();
        let (withdrawn, target, finished) = (context.ct.clone(), cancelled.clone(), done.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = withdrawn.cancelled() => target.cancel(),
                () = gone.cancelled() => target.cancel(),
                () = finished.cancelled() => {}
            }
        });
        let token = context.meta.get_progress_token();
        Self { context, token, cancelled, _watch: done.drop_guard() }
    }
}

#[async_trait]
impl Caller for ClientCaller {
    fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    async fn progress(&self, step: f64, message: &str) {
        let Some(token) = self.token.clone() else { return };
        let note = ProgressNotificationParam::new(token, step).with_message(message);
        if let Err(error) = self.context.peer.notify_progress(note).await {
            tracing::debug!(%error, "progress could not be told");
        }
    }

    async fn ask(&self, question: &str) -> Answer {
        let peer = &self.context.peer;
        if !peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
            return Answer::Unavailable;
        }
        // An empty form: accepting it is the answer.
        let Ok(requested_schema) = ElicitationSchema::builder().build() else {
            return Answer::Unavailable;
        };
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question.to_owned(),
            requested_schema,
        };
        let answer = tokio::select! {
            answer = peer.create_elicitation_with_timeout(form, Some(PATIENCE)) => answer,
            () = self.cancelled.cancelled() => return Answer::Unavailable,
        };
        match answer.map(|it| it.action) {
            Ok(ElicitationAction::Accept) => Answer::Accepted,
            Ok(ElicitationAction::Decline) => Answer::Declined,
            Ok(_) => Answer::Unavailable,
            Err(error) => {
                // Clients of the stateless revision cannot be asked from here.
                tracing::debug!(%error, "the person could not be asked");
                Answer::Unavailable
            }
        }
    }
}
