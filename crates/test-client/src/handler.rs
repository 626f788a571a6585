//! What the server may ask of the client, answered by callbacks.

use std::fmt;
use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorData, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use serde_json::{Value, json};

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

/// A question of the server to the person: a form to fill, or a page to visit.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    pub message: String,
    /// The form's fields, as a JSON schema.
    pub schema: Option<Value>,
    pub url: Option<String>,
}

/// The person's answer to an [`Elicitation`].
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Accept(Value),
    Decline,
    Cancel,
}

pub(crate) type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;
pub(crate) type OnElicitation = Arc<dyn Fn(Elicitation) -> Answer + Send + Sync>;

/// The callbacks; what has none is not offered to the server.
#[derive(Clone, Default)]
pub(crate) struct Handler {
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) on_elicitation: Option<OnElicitation>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.on_elicitation {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        let client = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        // The version of `initialize`; the modern era names its own with each request.
        ClientConfig::new(capabilities, client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(report) = &self.on_progress {
            report(Progress {
                progress: progress.progress,
                total: progress.total,
                message: progress.message,
            });
        }
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (Some(ask), Some(question)) = (self.on_elicitation.clone(), question(request)) else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        // A person takes their time; the connection must go on meanwhile.
        let answer = tokio::task::spawn_blocking(move || ask(question)).await;
        Ok(match answer {
            Ok(Answer::Accept(content)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Ok(Answer::Decline) => ElicitResult::new(ElicitationAction::Decline),
            Ok(Answer::Cancel) | Err(_) => ElicitResult::new(ElicitationAction::Cancel),
        })
    }
}

fn question(request: ElicitRequestParams) -> Option<Elicitation> {
    match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            Some(Elicitation { message, schema: Some(json!(requested_schema)), url: None })
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            Some(Elicitation { message, schema: None, url: Some(url) })
        }
        _ => None,
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("on_progress", &self.on_progress.is_some())
            .field("on_elicitation", &self.on_elicitation.is_some())
            .finish()
    }
}
