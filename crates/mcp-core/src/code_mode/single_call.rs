//! One call without a script: what an operation answers, as the outcome of a run.

use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    context::Context,
    sandbox::{HostError, HostReply, Outcome, ScriptError},
};

use super::{paginate, script_api::ScriptApi};

/// A reply of the host, as `api.call` gets it.
#[derive(Debug, serde::Deserialize)]
struct Reply<'a> {
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    failure: Option<String>,
    operation: String,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// `{ status, data, next? }`, where `next` holds the arguments of the next page; a response of status
/// 400 and up is a failure.
pub(super) fn outcome(
    cx: &Context,
    binding: usize,
    host: &ScriptApi,
    answer: Result<HostReply, HostError>,
) -> Outcome {
    let reply = match answer {
        Ok(reply) => reply,
        Err(error) => return Outcome::failure(error.into()),
    };
    let Ok(Reply { status, headers, failure, operation, data }) = serde_json::from_str(&reply.json)
    else {
        return Outcome::success(reply.json);
    };
    if let Some(message) = failure {
        let data = serde_json::from_str(data.get()).unwrap_or_default();
        return Outcome::failure(ScriptError {
            properties: Map::from_iter([
                ("status".to_owned(), json!(status)),
                ("data".to_owned(), data),
                ("operation".to_owned(), json!(operation)),
            ]),
            ..ScriptError::new("ApiError", message)
        });
    }
    let mut json = format!("{{\"status\":{status},\"data\":{}", data.get());
    let path = host.calls().pop().map(|it| it.path).unwrap_or_default();
    if let Some(api) = cx.api(binding)
        && let Some(next) = paginate::next_arguments(api, &operation, &path, &headers, data)
    {
        json.push_str(",\"next\":");
        json.push_str(&Value::Object(next).to_string());
    }
    json.push('}');
    Outcome::success(json)
}

/// The outcome of a call that the client has given up.
pub(super) fn cancelled() -> Outcome {
    Outcome::failure(ScriptError::new("Cancelled", "the call was cancelled"))
}
