//! Constraints: an organization, project or region that a session is pinned to.
//!
//! A pinned value is not asked for: its parameter is left out of what the client reads and filled in
//! at the call, over whatever the caller sent.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{error::ToolError, tool::Schema};

const ORGANIZATION: &str = "organizationSlug";
const PROJECT: &str = "projectSlug";
const PROJECT_OR_ID: &str = "projectSlugOrId";
const REGION: &str = "regionUrl";

/// What a session is pinned to; by default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    /// The organization's slug.
    pub organization: Option<String>,
    /// The project's slug.
    pub project: Option<String>,
    /// The organization's region, where it is known.
    pub region: Option<String>,
    /// What the pinned project can do, where it is known.
    pub capabilities: Option<Capabilities>,
}

/// What a project sends, and so what tools make sense for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Profiles.
    pub profiles: bool,
    /// Session replays.
    pub replays: bool,
    /// Logs.
    pub logs: bool,
    /// Traces.
    pub traces: bool,
}

/// One thing a project can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    Profiles,
    Replays,
    #[allow(dead_code, reason = "no tool is about logs alone")]
    Logs,
    Traces,
}

impl Capabilities {
    fn has(self, capability: Capability) -> bool {
        match capability {
            Capability::Profiles => self.profiles,
            Capability::Replays => self.replays,
            Capability::Logs => self.logs,
            Capability::Traces => self.traces,
        }
    }
}

impl Constraints {
    /// Whether the session is pinned to an organization or a project.
    pub fn is_pinned(&self) -> bool {
        self.organization.is_some() || self.project.is_some()
    }

    /// Whether the pinned project can do all of this; not known counts as yes.
    pub(crate) fn allow(&self, needed: &[Capability]) -> bool {
        match (self.project.as_ref(), self.capabilities) {
            (Some(_), Some(capabilities)) => needed.iter().all(|&it| capabilities.has(it)),
            _ => true,
        }
    }

    /// The pinned values, by parameter.
    fn pinned(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let project = self.project.as_deref();
        [
            (ORGANIZATION, self.organization.as_deref()),
            (PROJECT, project),
            (PROJECT_OR_ID, project),
            (REGION, self.region.as_deref()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|it| !it.is_empty())?)))
    }

    /// The schema without the parameters that are pinned.
    pub(crate) fn hide(&self, mut schema: Schema) -> Schema {
        let hidden: Vec<_> = self.pinned().map(|(name, _)| name).collect();
        schema.0.retain(|argument| !hidden.contains(&argument.name.as_ref()));
        schema
    }

    /// Drops what the caller says of pinned parameters: the session decides.
    pub(crate) fn strip(&self, given: &mut Map<String, Value>) {
        for (name, _) in self.pinned() {
            given.remove(name);
        }
    }

    /// The arguments with the pinned values, where the tool has such a parameter.
    pub(crate) fn inject<'a>(
        &self,
        schema: impl FnOnce() -> Schema,
        arguments: &'a Map<String, Value>,
    ) -> Cow<'a, Map<String, Value>> {
        let mut arguments = Cow::Borrowed(arguments);
        if self.pinned().next().is_none() {
            return arguments;
        }
        let schema = schema();
        for (name, value) in self.pinned().filter(|(name, _)| schema.get(name).is_some()) {
            arguments.to_mut().insert(name.to_owned(), Value::from(value));
        }
        arguments
    }

    /// Refuses something of another project than the pinned one.
    ///
    /// `what` names the thing, `slug` its project, where that is known.
    ///
    /// # Errors
    /// Names the expected project.
    pub(crate) fn check_project(&self, what: &str, slug: Option<&str>) -> Result<(), ToolError> {
        let Some(expected) = self.project.as_deref() else { return Ok(()) };
        if slug == Some(expected) {
            return Ok(());
        }
        let message = format!("{what} does not belong to the project `{expected}`");
        Err(ToolError::user(message).hint(format!(
            "this session is limited to the project `{expected}`: ask for something of that project"
        )))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::{Argument, ArgumentType};

    fn schema(names: &[&'static str]) -> Schema {
        let argument = |&name: &&'static str| Argument {
            name: name.into(),
            kind: ArgumentType::Text { empty: false },
            required: true,
            description: String::new(),
        };
        Schema(names.iter().map(argument).collect())
    }

    fn pinned() -> Constraints {
        let pin = |text: &str| Some(text.to_owned());
        Constraints { organization: pin("acme"), project: pin("web"), ..Constraints::default() }
    }

    #[test]
    fn pinned_parameters_are_hidden_and_filled_in_over_what_the_caller_sent() {
        let constraints = pinned();
        let full = schema(&["organizationSlug", "projectSlugOrId", "query"]);
        let names: Vec<_> =
            constraints.hide(full.clone()).0.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["query"]);
        let mut given = json!({"organizationSlug": "other", "projectSlug": "x", "query": "q"});
        let given = given.as_object_mut().unwrap();
        constraints.strip(given);
        let arguments = constraints.inject(|| full, given).into_owned();
        assert_eq!(
            Value::Object(arguments),
            json!({"query": "q", "organizationSlug": "acme", "projectSlugOrId": "web"})
        );
    }

    #[test]
    fn something_of_another_project_is_refused_by_name() {
        let Err(ToolError::UserInput(error)) =
            pinned().check_project("the issue `A-1`", Some("api"))
        else {
            panic!("refused");
        };
        assert!(error.to_string().contains("`web`"), "{error}");
        assert!(pinned().check_project("the issue", Some("web")).is_ok());
        assert!(Constraints::default().check_project("the issue", Some("api")).is_ok());
    }

    #[test]
    fn capabilities_count_only_for_a_pinned_project_that_is_known() {
        let needed = [Capability::Replays];
        assert!(pinned().allow(&needed));
        let known = Some(Capabilities::default());
        assert!(!Constraints { capabilities: known, ..pinned() }.allow(&needed));
        assert!(Constraints { capabilities: known, ..Constraints::default() }.allow(&needed));
    }
}
