//! The recipe of a catalog tool: what it says of itself, its parameters, what it answers.
//!
//! A tool's file writes a [`Spec`], a parameter type and `call`; the rest (schemas, coercion,
//! constraints, deadlines, cancellation, size) is done here, once for all.

use std::{
    ops::Deref,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use api_client::sentry::{self, Client};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::{
    caller::Caller,
    code_mode::region,
    constraints::Capability,
    context::Context,
    docs::DocsSource,
    error::{ToolError, Topic},
    output::{self, Content},
    skill::Skill,
};

use super::{Definition, Effect, Tool, World, derive};

/// How often a client that asked for it hears that a call goes on.
const HEARTBEAT: Duration = Duration::from_secs(4);
/// Bytes of one answer that are read: renders are bounded, so an answer may be larger than what a
/// script is given. Holds an event of 5 MB, a trace of 10,000 spans, a profile of 100,000 samples.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// What a catalog tool says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// The name, which is that of the file.
    pub(crate) name: &'static str,
    /// A few words for a person.
    pub(crate) title: &'static str,
    /// What the model reads to choose the tool: what it is for, when not to use it.
    pub(crate) description: &'static str,
    /// What calling it can do.
    pub(crate) effect: Effect,
    /// The skills it belongs to; one of them must be granted.
    pub(crate) skills: &'static [Skill],
    /// What the token must be allowed; Sentry checks it.
    pub(crate) scopes: &'static [&'static str],
    /// Names it had in older servers.
    pub(crate) formerly: &'static [&'static str],
    /// What a pinned project must be able to do.
    pub(crate) requires: &'static [Capability],
    /// Where a pinned session has no use for it.
    pub(crate) hidden: Hidden,
    /// Whether it depends on experimental mode.
    pub(crate) mode: Mode,
}

impl Spec {
    /// What most tools are: a look at something, anywhere. Fill in the rest.
    pub(crate) const READ: Self = Self {
        name: "",
        title: "",
        description: "",
        effect: Effect::Read,
        skills: &[],
        scopes: &[],
        formerly: &[],
        requires: &[],
        hidden: Hidden::Never,
        mode: Mode::Always,
    };

    /// Whether the session may have the tool; every filter must pass.
    pub(crate) fn is_available(&self, cx: &Context) -> bool {
        let in_mode = match self.mode {
            Mode::Always => true,
            Mode::Experimental => cx.experimental,
            Mode::NotExperimental => !cx.experimental,
        };
        let of_use = match self.hidden {
            Hidden::Never => true,
            Hidden::InOrganization => cx.constraints.organization.is_none(),
            Hidden::InProject => cx.constraints.project.is_none(),
        };
        in_mode && of_use && self.is_granted(cx)
    }

    /// Whether the operator's grant and the session's project allow what it does, shown or not.
    pub(crate) fn is_granted(&self, cx: &Context) -> bool {
        cx.skills.has_any(self.skills)
            && cx.constraints.allow(self.requires)
            && (self.effect.is_read_only() || !is_read_only(cx))
    }
}

/// Whether the operator takes writes away from the whole server or from its Sentry.
fn is_read_only(cx: &Context) -> bool {
    cx.access.read_only || cx.sentry().is_some_and(|api| api.access.read_only)
}

/// Where a pinned session has no use for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// Always of use.
    Never,
    /// Not when the organization is given.
    InOrganization,
    /// Not when the project is given.
    InProject,
}

/// Whether a tool depends on experimental mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There in both.
    Always,
    /// There only when the operator turned it on.
    #[allow(dead_code, reason = "no tool is an experiment today")]
    Experimental,
    /// Replaced by something else in experimental mode.
    NotExperimental,
}

/// A tool of the catalog.
pub(crate) trait CuratedTool: Send + Sync + 'static {
    /// What it says of itself.
    const SPEC: Spec;
    /// Its parameters; the fields' doc comments are what the model reads.
    type Params: DeserializeOwned + JsonSchema + Send;
    /// What it answers: [`Structured`], [`Markdown`], or [`Content`] of several parts.
    type Output: Output;

    /// What the model reads in this session instead of the [`Spec`]'s description, where that
    /// depends on the session.
    fn description(cx: &Context) -> Option<String> {
        let _ = cx;
        None
    }

    /// Does it.
    fn call(
        &self,
        cx: &Call<'_>,
        params: Self::Params,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// One call of a catalog tool: the context, how long it may take, what it is at.
pub(crate) struct Call<'a> {
    cx: &'a Context,
    deadline: Instant,
    news: &'a News,
}

/// What a call that takes long is at, for the client that waits for it.
#[derive(Debug, Default)]
struct News {
    words: Mutex<Option<String>>,
    changed: Notify,
}

impl News {
    fn words(&self) -> Option<String> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Deref for Call<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

impl Call<'_> {
    /// When the answer must be there.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Tells a client that asked for progress what the call is at.
    pub(crate) fn tell(&self, words: impl Into<String>) {
        let words = Some(words.into());
        let mut told = self.news.words.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != words {
            *told = words;
            self.news.changed.notify_one();
        }
    }

    /// Sentry at the configured host.
    pub(crate) fn sentry(&self) -> Result<Client, ToolError> {
        let api = self.cx.sentry().ok_or_else(|| ToolError::system("this server has no Sentry"))?;
        Ok(Client::new(api.transport.reading_up_to(MOST_BYTES), self.deadline))
    }

    /// Sentry at the host that keeps an organization's data: the one that is named, else the one
    /// that Sentry says, else the configured one.
    pub(crate) async fn sentry_of(
        &self,
        organization: &str,
        region: Option<&str>,
    ) -> Result<Client, ToolError> {
        let client = self.sentry_in(region)?;
        let api = self.cx.sentry().filter(|_| region.is_none());
        let Some(api) = api else { return Ok(client) };
        match region::of_organization(api, organization, self.deadline).await {
            Some(host) => client.at(&host).map_err(|error| ToolError::user(error.to_string())),
            None => Ok(client),
        }
    }

    /// Sentry at the host of a region, or at the configured one.
    pub(crate) fn sentry_in(&self, region: Option<&str>) -> Result<Client, ToolError> {
        let client = self.sentry()?;
        let Some(region) = region else { return Ok(client) };
        let host = sentry::region::named(client.base_url(), region).map_err(|error| {
            ToolError::user(error.to_string())
                .hint("leave `regionUrl` out, or take it from the answer of `find_organizations`")
        })?;
        client.at(&host).map_err(|error| ToolError::user(error.to_string()))
    }

    /// Where the documentation comes from.
    pub(crate) fn docs(&self) -> Result<&DocsSource, ToolError> {
        self.cx.docs.as_ref().ok_or_else(|| {
            let message = "this server has no source for the documentation";
            ToolError::about(Topic::Configuration, message)
                .hint("whoever set it up turned it off; the pages are on https://docs.sentry.io")
        })
    }

    /// The address of a page for people: `path` begins with `/`, as in `/issues/1/`.
    pub(crate) fn web_url(&self, organization: &str, path: &str) -> String {
        self.cx.sentry().map_or_else(String::new, |api| {
            crate::render::web_url(api.transport.base_url(), organization, path)
        })
    }

    /// A line that sends the model to another tool, in the way this session reaches it; nothing
    /// where it does not. `purpose` completes "to …".
    pub(crate) fn hint(&self, tool: &str, purpose: &str) -> Option<String> {
        self.cx.reach.hint(tool, purpose)
    }
}

/// What a catalog tool can answer.
pub(crate) trait Output: Send {
    /// The shape of every success, where one is promised.
    fn schema() -> Option<Map<String, Value>> {
        None
    }

    /// The answer, at most `cap` bytes of text.
    fn into_content(self, cap: usize) -> Result<Content, ToolError>;
}

/// One JSON object: structured, and as text for clients that show only text.
#[derive(Debug)]
pub(crate) struct Structured<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send> Output for Structured<T> {
    fn schema() -> Option<Map<String, Value>> {
        Some(derive::output::<T>())
    }

    fn into_content(self, cap: usize) -> Result<Content, ToolError> {
        let value = serde_json::to_value(self.0).map_err(ToolError::system)?;
        let content = Content::structured(value);
        let size = content.text.len();
        if size > cap {
            // Cut, it would no longer have the promised shape.
            let message = format!("the answer has {size} bytes, the limit is {cap}");
            return Err(ToolError::user(message).hint("narrow it with a filter or a smaller limit"));
        }
        Ok(content)
    }
}

/// Text in markdown.
#[derive(Debug)]
pub(crate) struct Markdown(pub(crate) String);

impl Output for Markdown {
    fn into_content(self, cap: usize) -> Result<Content, ToolError> {
        Ok(Content::text(output::cut_text(self.0, cap)))
    }
}

impl Output for Content {
    fn into_content(self, cap: usize) -> Result<Content, ToolError> {
        Ok(Self { text: output::cut_text(self.text, cap), ..self })
    }
}

/// A tool as the list of the catalog holds it.
#[async_trait]
pub(crate) trait Registered: Tool + std::fmt::Debug {
    /// What it says of itself.
    fn spec(&self) -> Spec;

    /// What a session is told that is pinned to nothing.
    fn whole_definition(&self) -> Definition;

    /// What this session reads of it, where that is something of its own.
    fn own_description(&self, cx: &Context) -> Option<String>;

    /// Answers as a part of another tool's call, within its time.
    async fn answer(
        &self,
        call: &Call<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError>;
}

#[async_trait]
impl<T: CuratedTool + std::fmt::Debug> Registered for T {
    fn spec(&self) -> Spec {
        T::SPEC
    }

    fn whole_definition(&self) -> Definition {
        Definition {
            name: T::SPEC.name,
            title: T::SPEC.title,
            description: T::SPEC.description.to_owned(),
            input_schema: derive::arguments::<T::Params>(),
            effect: T::SPEC.effect,
            world: World::Open,
        }
    }

    fn own_description(&self, cx: &Context) -> Option<String> {
        T::description(cx)
    }

    async fn answer(
        &self,
        call: &Call<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let arguments = call.constraints.inject(derive::arguments::<T::Params>, arguments);
        let params = serde_json::from_value(Value::Object(arguments.clone().into_owned()))
            .map_err(|error| {
                ToolError::user(format!("the arguments of `{}`: {error}", T::SPEC.name))
            })?;
        let answer = CuratedTool::call(self, call, params).await;
        answer.map_err(|error| error.looked_up(&arguments))?.into_content(call.limits.result)
    }
}

#[async_trait]
impl<T: CuratedTool + std::fmt::Debug> Tool for T {
    fn definition(&self, cx: &Context) -> Definition {
        let whole = self.whole_definition().under(&cx.constraints);
        match T::description(cx) {
            Some(description) => Definition { description, ..whole },
            None => whole,
        }
    }

    fn output_schema(&self) -> Option<Map<String, Value>> {
        <T::Output as Output>::schema()
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let news = News::default();
        let call = Call { cx, deadline: Instant::now() + cx.limits.wall, news: &news };
        attended(caller, T::SPEC.title, &news, self.answer(&call, arguments)).await
    }
}

/// Does the work, tells the client that it goes on, and stops when the client withdraws.
async fn attended<T>(
    caller: &dyn Caller,
    title: &str,
    news: &News,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let mut work = std::pin::pin!(work);
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.tick().await;
    let mut step = 0.0;
    loop {
        tokio::select! {
            outcome = &mut work => return outcome,
            () = caller.cancelled().cancelled() => {
                return Err(ToolError::user("the call was cancelled"));
            }
            () = news.changed.notified(), if caller.wants_progress() => {
                step += 1.0;
                caller.progress(step, &news.words().unwrap_or_default()).await;
            }
            _ = beat.tick(), if caller.wants_progress() => {
                step += 1.0;
                caller.progress(step, news.words().as_deref().unwrap_or(title)).await;
            }
        }
    }
}
