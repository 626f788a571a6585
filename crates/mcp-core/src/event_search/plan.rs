//! From what a caller asked for, and perhaps what an agent made of it, to what is searched for.

use api_client::sentry::time::TimeRange;

use crate::{agents::Translated, error::ToolError};

use super::{Dataset, columns, syntax};

/// How far back is searched when nobody says.
pub(crate) const DEFAULT_PERIOD: &str = "14d";

/// What a caller asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) dataset: Option<Dataset>,
    pub(crate) query: String,
    pub(crate) fields: Vec<String>,
    pub(crate) sort: Option<String>,
    pub(crate) environments: Vec<String>,
    pub(crate) time: Option<TimeRange>,
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) dataset: Dataset,
    pub(crate) query: String,
    /// The columns; for replays those that the caller named, if any.
    pub(crate) fields: Vec<String>,
    pub(crate) sort: String,
    /// Environments that are no part of the query: those of replays.
    pub(crate) environments: Vec<String>,
    pub(crate) time: TimeRange,
    pub(crate) explanation: Option<String>,
}

impl Wish {
    /// Whether the caller knows what to write: syntax, in a data set whose fields are its own.
    fn is_trusted(&self) -> bool {
        let is_own =
            matches!(self.dataset, Some(Dataset::Spans | Dataset::Logs | Dataset::Metrics));
        is_own && syntax::is_structured(&self.query)
    }

    /// Whether an agent has nothing to add.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_trusted() && !self.fields.is_empty() && self.sort.is_some()
    }

    /// The search as the caller wrote it, with the usual values for the rest.
    pub(crate) fn alone(self) -> Result<Plan, ToolError> {
        let dataset = self.dataset.unwrap_or(Dataset::Errors);
        let sort = self.sort.unwrap_or_else(|| columns::usual_sort(dataset, &self.fields));
        Plan::of(dataset, self.query, self.fields, sort, self.environments, self.time)
    }

    /// The search as an agent wrote it, where it respects what the caller wrote.
    ///
    /// # Errors
    /// No order, or one that replays do not have.
    pub(crate) fn with(self, agent: Translated) -> Result<Plan, ToolError> {
        let is_trusted = self.is_trusted();
        let asked_of = self.dataset.unwrap_or(Dataset::Errors);
        let chosen = agent.dataset.unwrap_or(asked_of);
        let dataset = if is_trusted { asked_of } else { chosen };
        let is_structured = syntax::is_structured(&self.query);
        let is_worse = syntax::is_downgrade(&self.query, &agent.query)
            || (is_structured && agent.query.trim().is_empty());
        let is_kept = if is_trusted {
            !is_worse && syntax::keeps(&self.query, &agent.query)
        } else {
            !(is_structured && is_worse)
        };
        let query = if is_kept { agent.query } else { self.query };
        let own_form = is_trusted || (is_structured && dataset == asked_of);
        let own_fields = own_form && !self.fields.is_empty();
        let fields = if own_fields { self.fields } else { agent.fields };
        let sort = self.sort.filter(|_| own_form).or(agent.sort).filter(|it| !it.trim().is_empty());
        let sort = sort.ok_or_else(|| {
            ToolError::user("the search agent named no order of the rows")
                .hint("give `sort`, as in `-timestamp`, or write the search in Sentry's syntax")
        })?;
        let environments =
            if self.environments.is_empty() { agent.environments } else { self.environments };
        let time = self.time.or(agent.time);
        let plan = Plan::of(dataset, query, fields, sort, environments, time)?;
        Ok(Plan { explanation: agent.explanation, ..plan })
    }
}

impl Plan {
    fn of(
        dataset: Dataset,
        query: String,
        fields: Vec<String>,
        sort: String,
        environments: Vec<String>,
        time: Option<TimeRange>,
    ) -> Result<Self, ToolError> {
        let sort = columns::normal_sort(&sort);
        let time = time.unwrap_or_else(|| TimeRange::Last(DEFAULT_PERIOD.to_owned()));
        let (query, fields, environments) = match dataset {
            Dataset::Replays => {
                columns::check_replay_sort(&sort)?;
                (query, fields, environments)
            }
            Dataset::Spans
            | Dataset::Errors
            | Dataset::Logs
            | Dataset::Metrics
            | Dataset::Profiles => {
                let named = syntax::filters(&query).iter().any(|it| it.key == "environment");
                let missing: &[String] = if named { &[] } else { &environments };
                let query = syntax::within_environments(query.trim(), missing);
                (query, columns::wanted(dataset, &fields, &sort), Vec::new())
            }
        };
        Ok(Self { dataset, query, fields, sort, environments, time, explanation: None })
    }

    /// Whether rows are groups with numbers, not single events.
    pub(crate) fn is_grouped(&self) -> bool {
        self.fields.iter().any(|it| columns::is_aggregate(it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(dataset: Option<Dataset>, query: &str) -> Wish {
        Wish { dataset, query: query.to_owned(), ..Wish::default() }
    }

    fn agent(dataset: Dataset, query: &str) -> Translated {
        Translated {
            dataset: Some(dataset),
            query: query.to_owned(),
            fields: vec!["id".to_owned()],
            sort: Some("-id".to_owned()),
            ..Translated::default()
        }
    }

    fn day() -> TimeRange {
        TimeRange::Last("24h".to_owned())
    }

    #[test]
    fn alone_a_search_has_the_usual_values() {
        let plan = wish(None, "broken").alone().unwrap();
        assert_eq!(
            (plan.dataset, plan.query.as_str(), plan.sort.as_str()),
            (Dataset::Errors, "broken", "-timestamp")
        );
        assert_eq!(plan.fields, Dataset::Errors.default_fields());
        assert_eq!(plan.time, TimeRange::Last("14d".to_owned()));
        let replays = wish(Some(Dataset::Replays), "").alone().unwrap();
        assert_eq!((replays.sort.as_str(), replays.fields.len()), ("-started_at", 0));
    }

    #[test]
    fn environments_are_a_filter_except_of_replays() {
        for dataset in Dataset::ALL {
            let environments = vec!["staging".to_owned()];
            let plan = Wish { environments, ..wish(Some(dataset), "level:error") }.alone().unwrap();
            if dataset == Dataset::Replays {
                assert_eq!((plan.query.as_str(), plan.environments.len()), ("level:error", 1));
            } else {
                assert_eq!(plan.query, "level:error environment:staging", "{dataset:?}");
                assert!(plan.environments.is_empty());
            }
        }
    }

    #[test]
    fn an_environment_of_the_query_is_not_repeated() {
        let environments = vec!["staging".to_owned()];
        let own = wish(None, "environment:production");
        let plan = Wish { environments, ..own }.alone().unwrap();
        assert_eq!(plan.query, "environment:production");
    }

    #[test]
    fn plain_words_are_the_agents_to_put_into_a_search() {
        let plan =
            wish(None, "slow database calls").with(agent(Dataset::Spans, "span.op:db")).unwrap();
        assert_eq!((plan.dataset, plan.query.as_str()), (Dataset::Spans, "span.op:db"));
        assert_eq!((plan.fields, plan.sort.as_str()), (vec!["id".to_owned()], "-id"));
    }

    #[test]
    fn a_trusted_query_keeps_its_data_set_and_every_filter() {
        let own = || wish(Some(Dataset::Logs), "severity:error");
        let kept = own().with(agent(Dataset::Spans, "severity:error project:web")).unwrap();
        assert_eq!(
            (kept.dataset, kept.query.as_str()),
            (Dataset::Logs, "severity:error project:web")
        );
        for worse in ["severity:warn", "message:error", "", "severity:error OR severity:info"] {
            let plan = own().with(agent(Dataset::Logs, worse)).unwrap();
            assert_eq!(plan.query, "severity:error", "{worse}");
        }
        let environments = vec!["staging".to_owned()];
        let plan = Wish { environments, ..own() }.with(agent(Dataset::Logs, "x")).unwrap();
        assert_eq!(plan.query, "severity:error environment:staging");
    }

    #[test]
    fn a_filter_in_another_data_set_may_change_but_not_become_a_text() {
        let own = || wish(None, "level:error checkout");
        let plan = own().with(agent(Dataset::Errors, "error.type:Oops")).unwrap();
        assert_eq!(plan.query, "error.type:Oops");
        let plan = own().with(agent(Dataset::Errors, "message:error")).unwrap();
        assert_eq!(plan.query, "level:error checkout");
    }

    #[test]
    fn the_callers_columns_and_order_stay_where_the_data_set_does() {
        let own = || Wish {
            fields: vec!["title".to_owned()],
            sort: Some("title".to_owned()),
            ..wish(None, "level:error")
        };
        let same = own().with(agent(Dataset::Errors, "level:error")).unwrap();
        assert_eq!((same.fields, same.sort.as_str()), (vec!["title".to_owned()], "title"));
        let other = own().with(agent(Dataset::Spans, "span.op:db")).unwrap();
        assert_eq!((other.fields, other.sort.as_str()), (vec!["id".to_owned()], "-id"));
    }

    /// P31 and P32: a time that was asked for is the time that is searched.
    #[test]
    fn the_callers_time_wins_over_the_agents() {
        let theirs = Translated {
            time: Some(TimeRange::Last("90d".to_owned())),
            ..agent(Dataset::Errors, "level:error")
        };
        let plan = wish(None, "words").with(theirs.clone()).unwrap();
        assert_eq!(plan.time, TimeRange::Last("90d".to_owned()));
        let own = Wish { time: Some(day()), ..wish(None, "words") };
        assert_eq!(own.with(theirs).unwrap().time, day());
    }

    #[test]
    fn an_agent_without_an_order_is_told_to_the_caller() {
        let silent = Translated { sort: None, ..agent(Dataset::Errors, "x") };
        assert!(wish(None, "words").with(silent.clone()).is_err());
        let own = Wish { sort: Some("-title".to_owned()), ..wish(None, "level:error") };
        assert_eq!(own.with(silent).unwrap().sort, "-title");
    }

    #[test]
    fn a_whole_search_needs_no_agent() {
        let whole = Wish {
            fields: vec!["id".to_owned()],
            sort: Some("-id".to_owned()),
            ..wish(Some(Dataset::Spans), "span.op:db")
        };
        assert!(whole.is_complete());
        assert!(!Wish { sort: None, ..whole.clone() }.is_complete());
        assert!(!Wish { dataset: Some(Dataset::Errors), ..whole.clone() }.is_complete());
        assert!(!Wish { query: "slow".to_owned(), ..whole }.is_complete());
    }
}
