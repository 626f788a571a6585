//! What one caller may see: the tools of its surface that pass every filter, and how each is called.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use serde_json::{Map, Value, json};

use crate::{
    caller::Caller,
    catalog,
    code_mode::{self, definitions},
    context::Context,
    error::ToolError,
    failure,
    output::Content,
    plain_mode,
    skill::Skill,
    special::{self, ExecuteSentryTool, SearchSentryTools},
    surfaces::{self, Reach, Surface},
    tool::{Definition, Effect, Registered, Spec, Tool},
};

/// Names that agents try as tools, with what they exist as.
const INNER_FUNCTIONS: &[&str] = &["request", "call", "paginate", "describe", "operations", "api"];

/// What one caller may see and call; fixed when the server is built.
pub(crate) struct Session {
    context: Context,
    offers: Arc<Offers>,
    shown: Vec<Shown>,
}

/// A tool of `tools/list`.
pub(crate) struct Shown {
    pub(crate) definition: Definition,
    pub(crate) output_schema: Option<Map<String, Value>>,
    run: Run,
}

enum Run {
    /// A tool of the catalog.
    Curated(Arc<Offer>),
    /// A tool about tools.
    Gateway(Box<dyn Tool>),
    /// A tool that reaches the whole API, with scripts or by single operations; its every text is JSON.
    Whole(Box<dyn Tool>),
}

impl Session {
    pub(crate) fn new(mut context: Context) -> Self {
        let offers = Arc::new(Offers::of(&context));
        let mut tools = Vec::new();
        if context.surface.has_catalog() {
            tools.extend(offers.direct().map(Run::Curated));
            if !context.skills.is_empty() {
                tools.push(Run::Gateway(Box::new(SearchSentryTools::new(Arc::clone(&offers)))));
                tools.push(Run::Gateway(Box::new(ExecuteSentryTool::new(Arc::clone(&offers)))));
            }
        }
        // Without the skill to write, code mode is what a read-only operator gets.
        context.access.read_only |= !context.skills.has(Skill::ApiWrite);
        if reaches_api(&context) {
            let whole = match context.surface {
                Surface::Plain => plain_mode::tools(&context),
                Surface::CodeMode | Surface::CatalogAndCode => code_mode::tools(&context),
                Surface::Catalog => Vec::new(),
            };
            tools.extend(whole.into_iter().map(Run::Whole));
        }
        let shown: Vec<_> = tools.into_iter().map(|run| Shown::new(run, &context)).collect();
        context.reach = Arc::new(reach(&shown, &offers));
        Self { context, offers, shown }
    }

    /// The tools of `tools/list`, in order.
    pub(crate) fn shown(&self) -> &[Shown] {
        &self.shown
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// How the tools belong together.
    pub(crate) fn instructions(&self) -> String {
        let mut parts = Vec::new();
        if self.context.reach.has(special::SEARCH) {
            parts.push(format!(
                "Curated Sentry tools: the most used are listed, `{}` finds the others and `{}` runs them.",
                special::SEARCH,
                special::EXECUTE
            ));
        }
        if reaches_api(&self.context) {
            match self.context.surface {
                Surface::Plain => parts.push(plain_mode::instructions(&self.context)),
                Surface::CodeMode | Surface::CatalogAndCode => {
                    parts.push(definitions::instructions(&self.context));
                }
                Surface::Catalog => {}
            }
        }
        parts.join("\n")
    }

    /// Calls a tool by name.
    ///
    /// # Errors
    /// What to say of a name that is not shown.
    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        caller: &dyn Caller,
    ) -> Result<Content, String> {
        let Some(shown) = self.shown.iter().find(|it| it.definition.name == name) else {
            return Err(self.unknown(name));
        };
        let cx = &self.context;
        let outcome = match &shown.run {
            Run::Curated(offer) => offer.call(cx, caller, arguments).await,
            Run::Gateway(tool) | Run::Whole(tool) => {
                match shown.definition.input_schema.coerce(name, arguments) {
                    Ok(arguments) => tool.call(cx, caller, &arguments).await,
                    Err(error) => Err(error),
                }
            }
        };
        Ok(outcome.unwrap_or_else(|error| match shown.run {
            Run::Curated(_) | Run::Gateway(_) => failure::text(&error, name, &cx.reach),
            Run::Whole(_) => failure::json(&error, name, &cx.reach),
        }))
    }

    /// What to say of a tool that is not shown.
    fn unknown(&self, name: &str) -> String {
        let shown: Vec<_> = self.shown.iter().map(|it| it.definition.name).collect();
        let names: Vec<_> = shown.iter().map(|name| format!("`{name}`")).collect();
        let plain = name.rsplit('.').next().unwrap_or(name);
        let advice = if self.context.reach.behind.contains(&name) {
            format!("run it with `{}`, `name` `{name}`", special::EXECUTE)
        } else if has_code(&self.context) && INNER_FUNCTIONS.contains(&plain) {
            "it exists only inside the `code` of `execute`".to_owned()
        } else if let Some(nearest) =
            self.offers.nearest(name).filter(|it| self.context.reach.has(it))
        {
            let way = self.context.reach.hint(nearest, "do that").unwrap_or_default();
            format!("did you mean `{nearest}`? {way}")
        } else if has_code(&self.context) {
            "operations of the API are not tools: find them with `search`, then call them inside the `code` of `execute`"
                .to_owned()
        } else if has_plain(&self.context) {
            "operations of the API are not tools: find them with `search`, then call them with `call_operation`"
                .to_owned()
        } else {
            format!("find others with `{}`", special::SEARCH)
        };
        let name: String = name.chars().take(80).collect();
        format!("unknown tool `{name}`; the tools are {}; {advice}", names.join(", "))
    }
}

/// Whether the whole API is granted. Not in a pinned session: an operation could reach beyond the pin.
fn reaches_api(cx: &Context) -> bool {
    cx.skills.has(Skill::ApiRead) && !cx.constraints.is_pinned()
}

/// Whether scripts can be run here.
fn has_code(cx: &Context) -> bool {
    cx.surface.has_code() && reaches_api(cx)
}

/// Whether single operations can be called here.
fn has_plain(cx: &Context) -> bool {
    cx.surface == Surface::Plain && reaches_api(cx)
}

fn reach(shown: &[Shown], offers: &Offers) -> Reach {
    let direct: Vec<_> = shown.iter().map(|it| it.definition.name).collect();
    let behind = if direct.contains(&special::EXECUTE) {
        offers.all().iter().map(|it| it.name()).filter(|name| !direct.contains(name)).collect()
    } else {
        Vec::new()
    };
    Reach { direct, behind }
}

impl Shown {
    fn new(run: Run, cx: &Context) -> Self {
        let (definition, output_schema) = match &run {
            Run::Curated(offer) => (offer.definition(cx).clone(), offer.tool.output_schema()),
            Run::Gateway(tool) | Run::Whole(tool) => (tool.definition(cx), tool.output_schema()),
        };
        Self { definition, output_schema, run }
    }
}

/// The tools of the catalog that a session may use.
pub(crate) struct Offers(Vec<Arc<Offer>>);

/// A tool of the catalog, as this session has it.
pub(crate) struct Offer {
    /// Its position in the catalog.
    place: usize,
    tool: &'static dyn Registered,
    spec: Spec,
    /// Made when somebody asks.
    definition: OnceLock<Definition>,
}

/// What a search can find a tool by.
pub(crate) struct Words {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: String,
    pub(crate) method: &'static str,
    pub(crate) skills: Vec<String>,
    pub(crate) parameters: Vec<String>,
}

impl Offers {
    /// Every tool that passes the filters: mode, skills, constraints, capabilities.
    fn of(cx: &Context) -> Self {
        if !cx.surface.has_catalog() || cx.sentry().is_none() {
            return Self(Vec::new());
        }
        let tools =
            catalog::ALL.iter().enumerate().map(|(place, &tool)| (place, tool, tool.spec()));
        let available = tools.filter(|(_, _, spec)| spec.is_available(cx));
        let offer = |(place, tool, spec)| {
            Arc::new(Offer { place, tool, spec, definition: OnceLock::new() })
        };
        Self(available.map(offer).collect())
    }

    pub(crate) fn all(&self) -> &[Arc<Offer>] {
        &self.0
    }

    /// The tools that are shown at once.
    fn direct(&self) -> impl Iterator<Item = Arc<Offer>> {
        self.0.iter().filter(|offer| surfaces::is_direct(offer.spec.name)).cloned()
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|offer| offer.spec.name == name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Offer> {
        self.0.iter().map(Arc::as_ref).find(|offer| offer.spec.name == name.trim())
    }

    /// Today's name of a tool that was renamed, or else the most similar one.
    pub(crate) fn nearest(&self, name: &str) -> Option<&'static str> {
        let name = name.trim().to_ascii_lowercase().replace(['-', ' ', '.'], "_");
        let renamed = self.0.iter().find(|it| it.spec.formerly.contains(&name.as_str()));
        if let Some(offer) = renamed {
            return Some(offer.spec.name);
        }
        let scored = self.0.iter().map(|it| (similarity(&name, it.spec.name), it.spec.name));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(score, _)| *score >= 0.5).map(|it| it.1)
    }
}

impl Offer {
    pub(crate) fn name(&self) -> &'static str {
        self.spec.name
    }

    pub(crate) fn effect(&self) -> Effect {
        self.spec.effect
    }

    fn definition(&self, cx: &Context) -> &Definition {
        self.definition.get_or_init(|| {
            let Some(whole) = catalog::whole_definition(self.place) else {
                return self.tool.definition(cx);
            };
            let whole = whole.under(&cx.constraints);
            match self.tool.own_description(cx) {
                Some(description) => Definition { description, ..whole },
                None => whole,
            }
        })
    }

    /// What a search answers of it.
    pub(crate) fn describe(&self, cx: &Context) -> Value {
        let definition = self.definition(cx);
        json!({
            "name": definition.name,
            "description": definition.description,
            "inputSchema": definition.input_schema.to_json(),
            "annotations": {
                "readOnlyHint": definition.effect.is_read_only(),
                "destructiveHint": definition.effect.is_destructive(),
                "idempotentHint": definition.effect.is_idempotent(),
                "openWorldHint": true,
            },
        })
    }

    pub(crate) fn words(&self, cx: &Context) -> Words {
        let definition = self.definition(cx);
        let parameters = &definition.input_schema.0;
        Words {
            name: self.spec.name,
            title: self.spec.title,
            description: definition.description.clone(),
            method: match self.spec.name.split('_').next() {
                Some("create" | "add") => "POST",
                Some("update") => "PUT",
                Some("delete" | "remove") => "DELETE",
                _ => "GET",
            },
            skills: self.spec.skills.iter().map(ToString::to_string).collect(),
            parameters: parameters.iter().map(|it| it.name.clone().into_owned()).collect(),
        }
    }

    /// Calls it with what a client sent; pinned values win over the client's.
    pub(crate) async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        mut given: Map<String, Value>,
    ) -> Result<Content, ToolError> {
        cx.constraints.strip(&mut given);
        let arguments = self.definition(cx).input_schema.coerce(self.spec.name, given)?;
        self.tool.call(cx, caller, &arguments).await
    }
}

/// How alike two names are, from 0 to 1: the letter pairs they share.
fn similarity(left: &str, right: &str) -> f64 {
    let pairs =
        |name: &str| -> BTreeSet<(char, char)> { name.chars().zip(name.chars().skip(1)).collect() };
    let (left, right) = (pairs(left), pairs(right));
    let all = left.len() + right.len();
    if all == 0 { 0.0 } else { 2.0 * left.intersection(&right).count() as f64 / all as f64 }
}

#[cfg(test)]
mod tests;
