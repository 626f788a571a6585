//! What may be sent: every request of a script passes here before any byte leaves.
//!
//! One module for all ways in. The order of the checks is the order in which a refusal helps most:
//! the operation exists, it may be used at all, it may be used *here*, its arguments are complete.

mod access;
mod arguments;
mod effect;
mod flow;
mod names;

pub(crate) use access::glob;
pub use access::{Access, BadPattern, Pattern};
pub use arguments::Warnings;
pub use effect::{Effect, effect_of};
pub use flow::Flows;
pub(super) use flow::Sources;

use std::fmt;

use serde_json::value::RawValue;

use crate::{
    context::Api,
    openapi::{Document, Operation, RouteError, source::Loaded},
    surfaces::Surface,
};

/// What the tool that runs the script allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `execute`: reading operations only.
    Read,
    /// `execute_write`, confirmed.
    Write,
}

/// The rule a request broke; scripts see its name as `rule`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The document has no such operation.
    Undocumented,
    /// The path tries to leave its place.
    Path,
    /// A writing operation where only reads are possible.
    ReadOnly,
    /// The operator did not grant it.
    NotGranted,
    /// A required argument is missing, or an unknown one given.
    Arguments,
    /// Credentials are the host's to add.
    Credentials,
    /// Not an origin of this API.
    Origin,
    /// What was read from another API may not be sent to this one.
    Flow,
}

impl Rule {
    /// The name scripts and logs know the rule by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undocumented => "undocumented",
            Self::Path => "path",
            Self::ReadOnly => "read-only",
            Self::NotGranted => "not-granted",
            Self::Arguments => "arguments",
            Self::Credentials => "credentials",
            Self::Origin => "origin",
            Self::Flow => "flow",
        }
    }
}

/// A request that is not sent, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule it broke.
    pub rule: Rule,
    /// What is wrong and what is allowed instead, for the model.
    pub message: String,
}

impl Refusal {
    /// A refusal under `rule`.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The rules that hold for one API in one session.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    /// The API asked for.
    pub api: &'a Api,
    /// Its document, with the index that knows what is near a wrong name.
    pub loaded: &'a Loaded,
    /// What the operator granted.
    pub access: &'a Access,
    /// What the running tool allows.
    pub mode: Mode,
    /// Which tools the refusals speak of.
    pub surface: Surface,
}

/// A documented operation with the values its path was called with.
#[derive(Debug)]
pub struct Routed {
    /// Its number in the document.
    pub index: usize,
    /// Path parameters by name, decoded.
    pub values: Vec<(String, String)>,
}

impl Policy<'_> {
    /// Finds the operation a method and a concrete path stand for.
    ///
    /// # Errors
    /// Refuses paths that leave the API and names the nearest operations for an unknown one.
    pub fn route(&self, method: &str, path: &str) -> Result<Routed, Refusal> {
        match self.document().route(method, path) {
            Ok(found) => Ok(Routed { index: found.operation, values: found.values }),
            Err(RouteError::UnknownPath) => Err(Refusal::new(
                Rule::Undocumented,
                format!(
                    "`{method} {path}` is not an operation of this API{}",
                    self.list(&self.document().nearest(method, path, NEAREST))
                ),
            )),
            Err(error @ (RouteError::OtherMethods { .. } | RouteError::UnknownMethod { .. })) => {
                Err(Refusal::new(
                    Rule::Undocumented,
                    format!("`{method} {path}` is not an operation of this API: {error}"),
                ))
            }
            Err(error) => {
                Err(Refusal::new(Rule::Path, format!("`{method} {path}` is refused: {error}")))
            }
        }
    }

    /// Finds an operation by its operationId or `METHOD /template`.
    ///
    /// # Errors
    /// Names the nearest operations.
    pub fn by_id(&self, id: &str) -> Result<usize, Refusal> {
        let id = id.trim();
        if let Some(index) = self.document().find_id(id) {
            return Ok(index);
        }
        let near = self.loaded.index.search(id).hits.into_iter().take(NEAREST).map(|it| it.entry);
        Err(Refusal::new(
            Rule::Undocumented,
            format!(
                "`{id}` is not an operation of this API{}",
                self.list(&near.collect::<Vec<_>>())
            ),
        ))
    }

    /// Whether the operation may be used at all, and here.
    ///
    /// # Errors
    /// Refuses what was not granted, and writes in a reading run.
    pub fn admit(&self, index: usize) -> Result<Effect, Refusal> {
        let Some(summary) = self.document().summaries().get(index) else {
            return Err(Refusal::new(Rule::Undocumented, "no such operation"));
        };
        let effect = effect_of(summary, &self.api.profile);
        let shown = format!("`{} {}` ({})", summary.method, summary.path, summary.id);
        if let Some(reason) = self.api.refuses(self.access, summary, effect) {
            return Err(Refusal::new(
                Rule::NotGranted,
                format!("{shown} is not granted: {reason}"),
            ));
        }
        if effect == Effect::Write && self.mode == Mode::Read {
            let advice = match self.surface {
                Surface::Plain => {
                    "`call_operation` only reads: nothing was sent; use `call_operation_write`"
                }
                Surface::Catalog | Surface::CodeMode | Surface::CatalogAndCode => {
                    "`execute` only reads: nothing was sent; run the whole script with `execute_write`"
                }
            };
            return Err(Refusal::new(
                Rule::ReadOnly,
                format!("{shown} can change things, and {advice}"),
            ));
        }
        Ok(effect)
    }

    /// Checks header, query and body names against the credentials rule, and the arguments against
    /// the document.
    ///
    /// # Errors
    /// Names the first thing that may not be sent or is missing.
    pub fn check(
        &self,
        operation: &Operation,
        call: &CallArguments<'_>,
    ) -> Result<Warnings, Refusal> {
        names::check(self.document(), operation, call)?;
        arguments::check(self.document(), operation, call, &self.api.profile)
    }

    /// `; nearest: …`, or nothing when nothing is near.
    fn list(&self, indices: &[usize]) -> String {
        let near: Vec<_> = indices
            .iter()
            .filter_map(|&index| self.document().summaries().get(index))
            .filter(|it| {
                self.api.refuses(self.access, it, effect_of(it, &self.api.profile)).is_none()
            })
            .map(|it| format!("`{} {}` ({})", it.method, it.path, it.id))
            .collect();
        if near.is_empty() {
            "; look it up with `search`".to_owned()
        } else {
            format!("; nearest: {}; look up the exact one with `search`", near.join(", "))
        }
    }

    fn document(&self) -> &Document {
        &self.loaded.document
    }
}

/// How many nearest operations a refusal names.
const NEAREST: usize = 3;

/// What a call brings, whichever way it was written, before it is built into a request.
#[derive(Debug, Clone, Default)]
pub struct CallArguments<'a> {
    /// Path parameters by name.
    pub path: Vec<(String, serde_json::Value)>,
    /// Query parameters, declared or not, in the order given.
    pub query: Vec<(String, serde_json::Value)>,
    /// Headers, names as written.
    pub headers: Vec<(String, serde_json::Value)>,
    /// The body, as exact JSON text.
    pub body: Option<&'a RawValue>,
}
