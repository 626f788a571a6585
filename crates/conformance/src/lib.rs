//! What the official conformance suite wants a server to have beside its own tools, as data and a few
//! behaviours. Everything else is asked of the real server inside.

#![allow(deprecated, reason = "the suite still asks for what the protocol has deprecated")]

mod asking;
mod data;

use std::time::Duration;

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorData,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Between the notifications of one call.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a client may keep a list.
const TTL_MS: u64 = 60_000;

/// Adds the fixtures to a server.
pub fn with_fixtures<S>(inner: S) -> impl ServerHandler + Clone
where
    S: ServerHandler + Clone,
{
    Fixtures { inner }
}

#[derive(Clone)]
struct Fixtures<S> {
    inner: S,
}

fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is broken: {error}"), None))
}

/// A result that is all there is.
fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    parsed(value)
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text.into())]).into()
}

impl<S: ServerHandler + Clone> ServerHandler for Fixtures<S> {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        let all = json!({
            "tools": {}, "prompts": {}, "resources": { "subscribe": true },
            "logging": {}, "completions": {},
        });
        if let Ok(capabilities) = serde_json::from_value(all) {
            info.capabilities = capabilities;
        }
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.inner.list_tools(request, context).await?;
        listed.tools.extend(data::tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.inner.get_tool(name).or_else(|| data::tools().into_iter().find(|it| it.name == name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if let Some(result) = data::part("results", &name) {
            return complete::<CallToolResult>(result).map(Into::into);
        }
        match name.as_str() {
            "test_tool_with_progress" => progress(&context).await,
            "test_tool_with_logging" => logging(&context, true).await,
            // Without a level in the request nothing may be logged.
            "test_logging_tool" => logging(&context, context.meta.log_level().is_some()).await,
            "test_sampling" => asking::sample(&request, &context).await,
            "test_missing_capability" => asking::capable(&context, "sampling"),
            "test_streaming_elicitation" => {
                asking::round(&request, "test_input_required_result_elicitation", &context)
            }
            _ if data::part("forms", &name).is_some() => asking::elicit(&request, &context).await,
            _ if name.starts_with("test_input_required_result_") => {
                asking::round(&request, &name, &context)
            }
            _ => self.inner.call_tool(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = parsed(data::whole("prompts"))?;
        Ok(ListPromptsResult::with_all_items(prompts).with_ttl_ms(TTL_MS))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.clone().unwrap_or_default();
        let argument = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = |text: String| json!({ "type": "text", "text": text });
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![said("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => vec![said(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))],
            "test_prompt_with_embedded_resource" => vec![
                json!({ "type": "resource", "resource": {
                    "uri": argument("resourceUri"), "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                }}),
                said("Please process the embedded resource above.".to_owned()),
            ],
            "test_prompt_with_image" => vec![
                json!({ "type": "image", "data": data::whole("png"), "mimeType": "image/png" }),
                said("Please analyze the image above.".to_owned()),
            ],
            "test_input_required_result_prompt" => {
                let answers = json!(request.input_responses);
                match asking::found(&answers, "context") {
                    Some(context) => vec![said(format!("In the context of {context}."))],
                    None => {
                        return asking::ask(&[("user_context", "context")], None).map(Into::into);
                    }
                }
            }
            other => {
                let message = format!("there is no prompt `{other}`");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let messages: Vec<_> =
            contents.into_iter().map(|it| json!({ "role": "user", "content": it })).collect();
        complete::<GetPromptResult>(json!({ "messages": messages })).map(Into::into)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = parsed(data::whole("resources"))?;
        Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(TTL_MS))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = parsed(data::whole("templates"))?;
        Ok(ListResourceTemplatesResult::with_all_items(templates).with_ttl_ms(TTL_MS))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"));
        let content = data::part("contents", uri).or_else(|| {
            let id = id?;
            let item =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Some(json!({ "mimeType": "application/json", "text": item.to_string() }))
        });
        let Some(mut content) = content else {
            let data = json!({ "uri": uri });
            return Err(ErrorData::invalid_params("there is no such resource", Some(data)));
        };
        content["uri"] = json!(uri);
        let result: ReadResourceResult = complete(json!({ "contents": [content] }))?;
        Ok(result.with_ttl_ms(TTL_MS).into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.inner.accepted_subscription_filter(requested)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    for step in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let note = ProgressNotificationParam::new(token, step).with_total(100.0);
            context.peer.notify_progress(note).await.ok();
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("done"))
}

async fn logging(
    context: &RequestContext<RoleServer>,
    may_log: bool,
) -> Result<CallToolResponse, ErrorData> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if may_log {
            let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
            context.peer.notify_logging_message(note).await.ok();
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(text("done"))
}
