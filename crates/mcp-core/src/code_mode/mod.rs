//! Code mode: an agent searches an API and drives it with scripts that can only read, or whose
//! writes are confirmed.
//!
//! Reading order: [`policy`] (what may be sent), `script_api` (what a script can reach), `run` (one
//! script, from source to report), `plan` (writes rehearsed, shown and held to), then the three tools.

pub mod answer;
mod budget;
mod call;
pub mod confirm;
pub(crate) mod definitions;
mod execute;
mod execute_write;
pub mod files;
mod journal;
mod paginate;
mod plan;
pub mod policy;
pub(crate) mod region;
mod report;
mod response;
pub(crate) mod run;
mod script_api;
pub(crate) mod search;
mod single_call;
pub(crate) mod writing;

use api_client::request::Request;
use serde_json::value::RawValue;

use crate::{
    context::{Api, Context},
    openapi::Document,
    tool::Tool,
};

/// The tools of code mode that this context shows, in the order of `tools/list`.
pub fn tools(cx: &Context) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> = vec![Box::new(search::Search), Box::new(execute::Execute)];
    if !cx.is_read_only() {
        tools.push(Box::new(execute_write::ExecuteWrite));
    }
    tools
}

/// Builds the request that `api.call(id, arguments)` would send, without sending it.
///
/// `arguments` is what a script would pass: parameters by name, or `path`, `query`, `headers` and
/// `body`. For checks and tools; scripts go through the policy as well.
///
/// # Errors
/// A sentence that names what is wrong.
pub fn request_for(
    api: &Api,
    document: &Document,
    id: &str,
    arguments: &RawValue,
) -> Result<Request, String> {
    let operation = document
        .find_id(id)
        .and_then(|index| document.operation(index))
        .ok_or_else(|| format!("`{id}` is not an operation of this document"))?;
    let form = call::sort_arguments(&operation, Some(arguments), &[]).map_err(|it| it.message)?;
    call::build(api, document, &operation, &form.arguments()).map_err(|it| it.message)
}
