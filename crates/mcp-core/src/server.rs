//! The protocol: the one file that names its SDK.
//!
//! Tools see an SDK-free [`Caller`](crate::caller::Caller) and answer with our own
//! [`Content`](crate::output::Content); here they become messages. The rest of what the binaries need
//! of the SDK is re-exported from [`sdk`].

use std::{borrow::Cow, sync::Arc, time::Duration};

use async_trait::async_trait;
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
        CustomResult, ElicitRequestParams, ElicitationAction, ElicitationSchema, ErrorCode,
        ErrorData, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
        ProgressNotificationParam, ProgressToken, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool as WireTool, ToolAnnotations,
    },
    service::{ElicitationMode, RequestContext},
};
use tokio_util::sync::CancellationToken;

use crate::{
    caller::{Answer, Caller},
    code_mode::{self, definitions},
    context::{Context, Surface},
    error::ToolError,
    output::Content,
    plain_mode,
    tool::{Definition, Effect, Tool, World},
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

/// Names that agents try as tools, with what they exist as.
const INNER_FUNCTIONS: &[&str] = &["request", "call", "paginate", "describe", "operations", "api"];

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
    context: Context,
    tools: Vec<(Definition, Box<dyn Tool>)>,
    listed: Vec<WireTool>,
    gone: CancellationToken,
}

impl Server {
    fn new(context: Context, gone: CancellationToken) -> Self {
        let tools = match context.surface {
            Surface::CodeMode => code_mode::tools(&context),
            Surface::Plain => plain_mode::tools(&context),
        };
        let tools: Vec<_> = tools.into_iter().map(|it| (it.definition(&context), it)).collect();
        let listed = tools.iter().map(|(definition, _)| wire_tool(definition)).collect();
        Self { inner: Arc::new(Inner { context, tools, listed, gone }) }
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let names: Vec<_> = self.inner.listed.iter().map(|it| format!("`{}`", it.name)).collect();
        let plain = name.rsplit('.').next().unwrap_or(name);
        let advice = if INNER_FUNCTIONS.contains(&plain) {
            "it exists only inside the `code` of `execute`"
        } else {
            "operations of the API are not tools: find them with `search`, then call them inside the `code` of `execute`"
        };
        let message =
            format!("unknown tool `{name}`; the tools are {}; {advice}", names.join(", "));
        ErrorData::invalid_params(message, None)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let identity = &self.inner.context.identity;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(identity.name.clone(), identity.version.clone()))
            .with_instructions(match self.inner.context.surface {
                Surface::CodeMode => definitions::instructions(&self.inner.context),
                Surface::Plain => plain_mode::instructions(&self.inner.context),
            })
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.listed.clone()).with_ttl_ms(TOOLS_TTL_MS))
    }

    fn get_tool(&self, name: &str) -> Option<WireTool> {
        self.inner.listed.iter().find(|it| it.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((definition, tool)) =
            self.inner.tools.iter().find(|(definition, _)| definition.name == request.name)
        else {
            return Err(self.unknown_tool(&request.name));
        };
        let given = request.arguments.unwrap_or_default();
        let arguments = match definition.input_schema.coerce(definition.name, given) {
            Ok(arguments) => arguments,
            Err(error) => return Ok(result(failure(&error, definition.name)).into()),
        };
        let caller = ClientCaller::new(context, self.inner.gone.clone());
        let content = match tool.call(&self.inner.context, &caller, &arguments).await {
            Ok(content) => content,
            Err(error) => failure(&error, definition.name),
        };
        Ok(result(content).into())
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
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        if KNOWN_METHODS.contains(&method.as_str()) {
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

fn wire_tool(definition: &Definition) -> WireTool {
    let annotations = ToolAnnotations::with_title(definition.title)
        .read_only(definition.effect == Effect::Read)
        .destructive(definition.effect == Effect::Destroy)
        .idempotent(definition.effect == Effect::Read)
        .open_world(definition.world == World::Open);
    let schema: JsonObject = definition.input_schema.to_json();
    WireTool::new(definition.name, Cow::Owned(definition.description.clone()), Arc::new(schema))
        .with_annotations(annotations)
}

fn result(content: Content) -> CallToolResult {
    let blocks = vec![ContentBlock::text(content.text)];
    if content.is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) }
}

/// The two tiers: what the model can fix is shown, the rest is logged under an id.
fn failure(error: &ToolError, tool: &str) -> Content {
    match error {
        ToolError::UserInput(error) => {
            tracing::info!(tool, message = %error.message, "refused");
            Content::error(
                serde_json::json!({ "error": { "message": error.message, "hints": error.hints } })
                    .to_string(),
            )
        }
        ToolError::System(error) => {
            let event = code_mode::confirm::random_token().unwrap_or_else(|_| "unknown".to_owned());
            tracing::error!(tool, event, error = %error, "internal error");
            let message = format!("internal error; the server's log has it under event `{event}`");
            Content::error(serde_json::json!({ "error": { "message": message } }).to_string())
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
