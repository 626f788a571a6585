//! What an agent is asked to do, as data: the request, the world's faults, the rules, the scripts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scene::Scene;

/// One task; everything there is to say of it is in its own file under `tasks/`.
#[derive(Debug)]
pub struct Task {
    /// The file's name with dashes.
    pub name: &'static str,
    pub suite: Suite,
    pub api: Api,
    /// Where the task can be done.
    pub surfaces: &'static [Surface],
    /// What a person asks for: an outcome, never a tool, a path or an id.
    pub prompt: &'static str,
    /// The keys of the answer, as JSON with placeholders.
    pub answer: &'static str,
    /// What a completed answer must hold.
    pub shape: &'static [Key],
    pub ends: Ends,
    /// What goes wrong in the world: a list of faults as `mocks` reads them.
    pub faults: fn() -> Value,
    /// Rows the usual world does not have, as `mocks` names them.
    pub extra: fn() -> Value,
    /// Options of the server beyond those of every trial.
    pub options: &'static [&'static str],
    /// The faults that must have struck, and how often, for the trial to count.
    pub expects: &'static [(&'static str, Firings)],
    /// Patterns of the paths that may change ([`crate::state::covers`]).
    pub allowed: &'static [&'static str],
    pub checks: &'static [Check],
    /// Curated tools of which one must have been used, directly or through the gateway.
    pub tools: &'static [&'static str],
    /// Checks that are no mutant's only killer, and why they stay.
    pub shared: &'static [(&'static str, &'static str)],
    /// Scripts that do it right.
    pub references: &'static [Script],
    /// Scripts that do it differently and right.
    pub equivalents: &'static [Script],
    /// Scripts that do it wrong.
    pub mutants: &'static [Mutant],
    /// This task's own source: its hash tells verifiers apart.
    pub source: &'static str,
}

/// A task that can be done on all surfaces with code or operations and ends completed; tasks say
/// what they have that is different.
pub const PLAIN_TASK: Task = Task {
    name: "",
    suite: Suite::Extra,
    api: Api::Sentry,
    surfaces: &[Surface::CodeMode, Surface::CatalogAndCode, Surface::Plain],
    prompt: "",
    answer: "",
    shape: &[],
    ends: Ends::Completed,
    faults: || Value::Array(Vec::new()),
    extra: || Value::Null,
    options: &[],
    expects: &[],
    allowed: &[],
    checks: &[],
    tools: &[],
    shared: &[],
    references: &[],
    equivalents: &[],
    mutants: &[],
    source: "",
};

/// Tasks that are run together.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Reading far: is everything found?
    Discovery,
    /// Changing exactly what was asked.
    Flows,
    /// When the API misbehaves or says no.
    Resilience,
    /// One question per topic of the curated tools.
    Catalog,
    /// What code mode is for, and what it is not for.
    Extra,
    /// What takes minutes: no part of `all`.
    Nightly,
}

/// Which API the world speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    Authentik,
    Sentry,
}

/// The server's `--surface`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    CodeMode,
    CatalogAndCode,
    /// The negative control: the curated tools alone.
    Catalog,
    Plain,
}

impl Surface {
    pub const ALL: [Self; 4] = [Self::CodeMode, Self::CatalogAndCode, Self::Catalog, Self::Plain];

    /// As the server's option has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CodeMode => "code-mode",
            Self::CatalogAndCode => "catalog-and-code",
            Self::Catalog => "catalog",
            Self::Plain => "plain",
        }
    }
}

/// How a task should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    Completed,
    /// It cannot be done, and the agent must say so.
    Blocked,
    /// Part of it cannot be done: `partial` is an honest end too.
    CompletedOrPartial,
}

/// How often a fault has to strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firings {
    /// Exactly this often, once a write to its route has been tried.
    Exactly(usize),
    AtLeast(usize),
}

/// A key of the answer.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: KeyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Text,
    /// Text or an integer; compared as decimal text.
    Id,
    Integer,
    Number,
    Flag,
    List,
    Object,
}

pub const fn key(name: &'static str, kind: KeyKind) -> Key {
    Key { name, kind }
}

/// One rule of a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    pub id: &'static str,
    pub kind: CheckKind,
    /// The error says what was found instead.
    pub rule: fn(&Scene<'_>) -> Result<(), String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// What the world holds at the end.
    State,
    /// What it held after every write.
    Boundary,
    /// What was asked of the API and of the tools.
    Traffic,
    Answer,
}

type Rule = fn(&Scene<'_>) -> Result<(), String>;

pub const fn state(id: &'static str, rule: Rule) -> Check {
    Check { id, kind: CheckKind::State, rule }
}

pub const fn boundary(id: &'static str, rule: Rule) -> Check {
    Check { id, kind: CheckKind::Boundary, rule }
}

pub const fn traffic(id: &'static str, rule: Rule) -> Check {
    Check { id, kind: CheckKind::Traffic, rule }
}

pub const fn answer(id: &'static str, rule: Rule) -> Check {
    Check { id, kind: CheckKind::Answer, rule }
}

/// A scripted agent: real calls of tools, then an answer.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    pub name: &'static str,
    pub on: &'static [Surface],
    pub steps: &'static [Step],
    pub says: Says,
}

/// The surfaces where programs run.
pub const CODE: &[Surface] = &[Surface::CodeMode, Surface::CatalogAndCode];
pub const PLAIN: &[Surface] = &[Surface::Plain];

/// One call. A program is edited by replacing texts, each of which it must contain.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// `search` for these words.
    Search(&'static str),
    /// `execute` this program; `last` in it is the result of the step before.
    Read(&'static str, Edits),
    /// `execute_write` this program, confirmed with the line it asks for.
    Write(&'static str, Edits),
    /// Any tool with arguments made from the results so far; a confirmation is given where asked.
    Tool(&'static str, fn(&[Value]) -> Value),
    /// The same, but nothing is confirmed: the answer to the one call is the result.
    Once(&'static str, fn(&[Value]) -> Value),
}

pub type Edits = &'static [(&'static str, &'static str)];

/// What a script says at the end.
#[derive(Clone, Copy, Debug)]
pub enum Says {
    /// The last result, as a fenced block.
    Last,
    /// This object made from the results, as a fenced block.
    Answer(fn(&[Value]) -> Value),
    /// This text, to the letter.
    Text(fn(&[Value]) -> String),
}

pub const fn script(
    name: &'static str,
    on: &'static [Surface],
    steps: &'static [Step],
    says: Says,
) -> Script {
    Script { name, on, steps, says }
}

/// A scripted agent that does something wrong, and the checks that must notice.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    pub script: Script,
    /// What is wrong with it.
    pub about: &'static str,
    /// At least one of these fails.
    pub expect: &'static [&'static str],
    /// Runs against a server with `--confirm off`: what it does cannot be planned.
    pub ungated: bool,
}

pub const fn mutant(
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    steps: &'static [Step],
    says: Says,
) -> Mutant {
    let script = Script { name, on: CODE, steps, says };
    Mutant { script, about, expect, ungated: false }
}

impl Mutant {
    #[must_use]
    pub const fn on(mut self, surfaces: &'static [Surface]) -> Self {
        self.script.on = surfaces;
        self
    }

    #[must_use]
    pub const fn ungated(mut self) -> Self {
        self.ungated = true;
        self
    }
}

impl Task {
    /// The prompt with the contract of the answer.
    pub fn full_prompt(&self) -> String {
        format!(
            "{}\n\nWhen you are done, finish your reply with a single fenced JSON block and nothing \
             else after it. Use exactly these keys: {} If you cannot complete the request, use \
             {{\"status\":\"blocked\",\"reason\":\"…\"}} instead and do not present results you did \
             not obtain.",
            self.prompt, self.answer
        )
    }

    /// Whether the task cannot be done there, which a trial has to show.
    pub fn is_control(&self, surface: Surface) -> bool {
        surface == Surface::Catalog && !self.surfaces.contains(&surface)
    }

    /// The reference for a surface, if the task can be done there.
    pub fn reference(&self, surface: Surface) -> Option<&Script> {
        self.references.iter().find(|it| it.on.contains(&surface))
    }
}

/// A program with its texts replaced.
///
/// # Errors
/// Names a text that is not in the program.
pub fn edited(program: &str, edits: Edits) -> Result<String, String> {
    edits.iter().try_fold(program.to_owned(), |program, (from, to)| {
        if program.contains(from) {
            Ok(program.replace(from, to))
        } else {
            Err(format!("the program does not contain `{from}`"))
        }
    })
}
