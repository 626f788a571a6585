//! The agents that can be named on the command line.

pub mod claude;
pub mod cli;
pub mod codex;
pub mod external;
pub mod http;
pub mod scripted;

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};

use crate::agent::Agent;
use crate::task::{Surface, Task};

/// What an agent may be told when it is made.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub model: Option<&'a str>,
    pub effort: Option<&'a str>,
    /// Reads one variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("model", &self.model)
            .field("effort", &self.effort)
            .finish_non_exhaustive()
    }
}

/// An agent of a population, and what is expected of it.
#[derive(Clone)]
pub struct Member {
    /// `reference`, `mutant:M3`, `openai`, …
    pub name: String,
    pub agent: Arc<dyn Agent>,
    pub expect: Expect,
    /// Needs a server that applies writes without a plan.
    pub ungated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Every check is fulfilled.
    Pass,
    /// At least one of these checks fails.
    Fail(&'static [&'static str]),
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The names `--agent` takes, for messages.
pub const NAMES: &str = "reference, equivalents, equivalent:NAME, mutants, mutant:NAME, external, \
                         openai, anthropic, claude, codex";

/// The agents of this name for a task on a surface; none where the task cannot be scripted there.
pub fn find(
    name: &str,
    task: &'static Task,
    surface: Surface,
    options: Options<'_>,
) -> Result<Vec<Member>> {
    let (kind, which) = name.split_once(':').unwrap_or((name, ""));
    let scripted = |name: String, script, expect, ungated| Member {
        name,
        agent: Arc::new(scripted::Scripted::new(script)),
        expect,
        ungated,
    };
    let members = match (kind, which) {
        ("reference", _) if task.is_control(surface) => {
            vec![scripted(name.to_owned(), &scripted::GIVES_UP, Expect::Pass, false)]
        }
        ("reference", "") => {
            let reference = task.reference(surface).into_iter();
            reference.map(|it| scripted(name.to_owned(), it, Expect::Pass, false)).collect()
        }
        ("equivalents" | "equivalent", _) => {
            let here = task.equivalents.iter().filter(|it| it.on.contains(&surface));
            here.filter(|it| which.is_empty() || it.name == which)
                .map(|it| scripted(format!("equivalent:{}", it.name), it, Expect::Pass, false))
                .collect()
        }
        ("mutants" | "mutant", _) => {
            let here = task.mutants.iter().filter(|it| it.script.on.contains(&surface));
            here.filter(|it| which.is_empty() || it.script.name == which)
                .map(|it| {
                    let name = format!("mutant:{}", it.script.name);
                    scripted(name, &it.script, Expect::Fail(it.expect), it.ungated)
                })
                .collect()
        }
        ("external", "") => vec![Member {
            name: name.to_owned(),
            agent: Arc::new(external::External),
            expect: Expect::Pass,
            ungated: false,
        }],
        _ => vec![Member {
            name: name.to_owned(),
            agent: model(name, options)?
                .with_context(|| format!("there is no agent `{name}`: the agents are {NAMES}"))?,
            expect: Expect::Pass,
            ungated: false,
        }],
    };
    let named = !which.is_empty() && matches!(kind, "mutant" | "equivalent");
    if named && members.is_empty() {
        bail!("`{}` has no {kind} `{which}` on `{}`", task.name, surface.name());
    }
    Ok(members)
}

/// An agent with a model behind it.
///
/// # Errors
/// Says what is missing, such as a key.
fn model(name: &str, options: Options<'_>) -> Result<Option<Arc<dyn Agent>>> {
    let agent: Arc<dyn Agent> = match name {
        "openai" => Arc::new(http::Http::openai(options)?),
        "anthropic" => Arc::new(http::Http::anthropic(options)?),
        "claude" => Arc::new(claude::Claude::new(options)?),
        "codex" => Arc::new(codex::Codex::new(options)?),
        _ => return Ok(None),
    };
    Ok(Some(agent))
}
