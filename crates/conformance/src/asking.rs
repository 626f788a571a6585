//! Tools that ask the client: in the middle of a call in the older revisions, by an answer that wants
//! another request in the newer ones.

use rmcp::{
    RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, CreateMessageRequestParams,
        ElicitRequestParams, ErrorData, InputRequiredResult, RequestStateCodec, SamplingMessage,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use crate::{data, parsed, text};

/// Any key will do: what is sealed is no secret, and it ends with the test.
const KEY: [u8; 32] = *b"a key for conformance tests only";

/// Asks for a text of a model.
pub(crate) async fn sample(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let prompt = argument(request, "prompt");
    let messages = vec![SamplingMessage::user_text(prompt)];
    let asked = context.peer.create_message(CreateMessageRequestParams::new(messages, 100)).await;
    let answer = asked.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let said = found(&json!(answer), "text").unwrap_or_default();
    Ok(text(format!("LLM response: {said}")))
}

/// Asks a person to fill in the form of the tool's name.
pub(crate) async fn elicit(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let form = data::part("forms", &request.name).unwrap_or_default();
    let message = match argument(request, "message") {
        "" => "Please fill this in",
        message => message,
    };
    let asked = context
        .peer
        .create_elicitation(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.to_owned(),
            requested_schema: parsed(form)?,
        })
        .await;
    let answer = asked.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let answer = json!(answer);
    Ok(text(format!(
        "User response: action={}, content={}",
        answer["action"].as_str().unwrap_or_default(),
        answer["content"]
    )))
}

/// Succeeds where the client can do this.
pub(crate) fn capable(
    context: &RequestContext<RoleServer>,
    capability: &str,
) -> Result<CallToolResponse, ErrorData> {
    if can(context, capability) {
        return Ok(text("the client can"));
    }
    let wanted: ClientCapabilities = parsed(json!({ capability: {} }))?;
    Err(ErrorData::missing_required_client_capability(wanted))
}

fn can(context: &RequestContext<RoleServer>, capability: &str) -> bool {
    json!(context.client_capabilities()).get(capability).is_some_and(|it| !it.is_null())
}

/// One round of a call that needs answers.
pub(crate) fn round(
    request: &CallToolRequestParams,
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let answers = json!(request.input_responses);
    let state = request.request_state.as_deref().map(open).transpose()?;
    let has = |key: &str| answers.get(key).is_some();
    match name {
        "test_input_required_result_elicitation" => match found(&answers["user_name"], "name") {
            Some(name) => Ok(text(format!("Hello, {name}!"))),
            None => again(&[("user_name", "name")], None),
        },
        "test_input_required_result_sampling" => {
            match found(&answers["capital_question"], "text") {
                Some(said) => Ok(text(said)),
                None => again(&[("capital_question", "capital")], None),
            }
        }
        "test_input_required_result_list_roots" if has("client_roots") => {
            Ok(text(format!("The roots are {}", answers["client_roots"])))
        }
        "test_input_required_result_list_roots" => again(&[("client_roots", "roots")], None),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => match state.as_deref() {
            Some("asked") if has("confirm") => Ok(text("state-ok")),
            _ => again(&[("confirm", "confirm")], Some("asked")),
        },
        "test_input_required_result_multiple_inputs" => {
            let all = [("user_name", "name"), ("greeting", "greeting"), ("client_roots", "roots")];
            match all.iter().all(|(key, _)| has(key)) && state.is_some() {
                true => Ok(text("all three came")),
                false => again(&all, Some("asked")),
            }
        }
        "test_input_required_result_multi_round" => match state.as_deref() {
            Some("second") if has("step2") => Ok(text("both steps are done")),
            Some("first") if has("step1") => again(&[("step2", "color")], Some("second")),
            _ => again(&[("step1", "name")], Some("first")),
        },
        "test_input_required_result_capabilities" => {
            let wishes = [
                ("elicitation", ("user_name", "name")),
                ("sampling", ("greeting", "greeting")),
                ("roots", ("client_roots", "roots")),
            ];
            let asked: Vec<_> = wishes
                .iter()
                .filter(|(capability, (key, _))| can(context, capability) && !has(key))
                .map(|(_, wish)| *wish)
                .collect();
            match asked.as_slice() {
                [] => Ok(text("nothing that the client could be asked")),
                asked => again(asked, None),
            }
        }
        other => Err(ErrorData::invalid_params(format!("there is no tool `{other}`"), None)),
    }
}

fn again(questions: &[(&str, &str)], state: Option<&str>) -> Result<CallToolResponse, ErrorData> {
    ask(questions, state).map(Into::into)
}

/// An answer that wants another request: questions by key and name in the data.
pub(crate) fn ask(
    questions: &[(&str, &str)],
    state: Option<&str>,
) -> Result<InputRequiredResult, ErrorData> {
    let mut requests = Map::new();
    for (key, name) in questions {
        let question = data::part("questions", name).unwrap_or_default();
        requests.insert((*key).to_owned(), question);
    }
    let state = state.map(|state| codec().map(|it| it.seal(state.as_bytes()))).transpose()?;
    Ok(InputRequiredResult::new(Some(parsed(Value::Object(requests))?), state))
}

fn open(sealed: &str) -> Result<String, ErrorData> {
    let opened = codec()?.open(sealed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    opened.ok_or_else(|| ErrorData::invalid_params("`requestState` is not as it was sent", None))
}

fn codec() -> Result<RequestStateCodec, ErrorData> {
    RequestStateCodec::try_new(KEY.to_vec())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn argument<'a>(request: &'a CallToolRequestParams, name: &str) -> &'a str {
    let arguments = request.arguments.as_ref();
    arguments.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default()
}

/// The first text of this name, however deep it lies.
pub(crate) fn found(value: &Value, name: &str) -> Option<String> {
    match value {
        Value::Object(members) => members
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or_else(|| members.values().find_map(|it| found(it, name))),
        Value::Array(items) => items.iter().find_map(|it| found(it, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
