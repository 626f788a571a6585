//! Asks the embedded agent, where there is one.

use std::time::{Duration, Instant};

use api_client::sentry::{Client, time::TimeRange};

use crate::{
    agents::{AgentFailure, Question, Search, Translated},
    error::ToolError,
    tool::Call,
};

use super::{Wish, syntax};

/// What is left of the call for the search itself.
const RESERVED: Duration = Duration::from_secs(20);

/// What became of the question.
#[derive(Debug)]
pub(crate) enum Asked {
    /// There is nobody to ask, or nothing to ask for.
    Nobody,
    /// The agent's search.
    Answered(Translated),
    /// The agent could not be had; the caller's own search is used.
    Failed,
}

/// Whose search it is.
pub(crate) struct Asker<'a> {
    pub(crate) search: Search,
    pub(crate) organization: &'a str,
    /// The project's number.
    pub(crate) project: Option<&'a str>,
    pub(crate) sentry: &'a Client,
}

impl Asker<'_> {
    /// Asks about a search over events.
    pub(crate) async fn about(&self, cx: &Call<'_>, wish: &Wish) -> Result<Asked, ToolError> {
        if wish.is_complete() {
            return Ok(Asked::Nobody);
        }
        self.ask(cx, wish).await
    }

    /// Asks about a query whose other parameters stay as they are; one of filters alone is final.
    pub(crate) async fn about_query(
        &self,
        cx: &Call<'_>,
        query: &str,
        sort: Option<&str>,
        time: Option<&TimeRange>,
    ) -> Result<Asked, ToolError> {
        if syntax::is_only_filters(query) {
            return Ok(Asked::Nobody);
        }
        let wish = Wish {
            query: query.to_owned(),
            sort: sort.map(str::to_owned),
            time: time.cloned(),
            ..Wish::default()
        };
        self.ask(cx, &wish).await
    }

    async fn ask(&self, cx: &Call<'_>, wish: &Wish) -> Result<Asked, ToolError> {
        let Some(agent) = &cx.agent else { return Ok(Asked::Nobody) };
        let deadline = cx.deadline().checked_sub(RESERVED).unwrap_or_else(Instant::now);
        let question = Question {
            search: self.search,
            query: &wish.query,
            dataset: wish.dataset,
            fields: &wish.fields,
            sort: wish.sort.as_deref(),
            environments: &wish.environments,
            time: wish.time.as_ref(),
            organization: self.organization,
            project: self.project,
            sentry: self.sentry,
            deadline,
        };
        let failure = match tokio::time::timeout_at(deadline.into(), agent.translate(&question))
            .await
        {
            Ok(Ok(translated)) => return Ok(Asked::Answered(translated)),
            Ok(Err(AgentFailure::Request(words))) => {
                return Err(ToolError::user(words)
                    .hint("ask in other words, or write the search in Sentry's syntax, as in `level:error release:1.2`"));
            }
            Ok(Err(AgentFailure::Provider(words))) => words,
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(failure, "the search agent failed; the caller's own search is used");
        Ok(Asked::Failed)
    }
}

/// A query that an agent may have rewritten: its words where they keep what the caller wrote.
pub(crate) fn rewritten(own: &str, theirs: &str) -> String {
    let is_lost = syntax::is_structured(own)
        && (syntax::is_downgrade(own, theirs) || !keeps_filters(own, theirs));
    if is_lost || theirs.trim().is_empty() { own.to_owned() } else { theirs.to_owned() }
}

fn keeps_filters(own: &str, theirs: &str) -> bool {
    let found = syntax::filters(theirs);
    syntax::filters(own).iter().all(|it| found.contains(it))
}

/// What to say of a search that no agent could be had for.
pub(crate) const FAILED: &str =
    "The search agent could not be reached: the query was used as it was given.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewritten_query_keeps_what_the_caller_wrote() {
        for (own, theirs, expected) in [
            ("unresolved crashes", "is:unresolved level:fatal", "is:unresolved level:fatal"),
            ("is:resolved crashes", "is:resolved level:fatal", "is:resolved level:fatal"),
            ("is:resolved crashes", "is:unresolved", "is:resolved crashes"),
            ("crashes", " ", "crashes"),
        ] {
            assert_eq!(rewritten(own, theirs), expected, "{own} -> {theirs}");
        }
    }
}
