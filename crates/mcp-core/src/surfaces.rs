//! Which tools are shown at once, and how the others are reached.

use std::{fmt, str::FromStr};

use crate::{profile::Kind, special};

/// Which tools a server instance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Curated tools, and two gateways to the ones that are not shown.
    Catalog,
    /// `search`, `execute`, `execute_write`.
    CodeMode,
    /// Both.
    CatalogAndCode,
    /// `search`, `call_operation`, `call_operation_write`: for clients that cannot write code.
    Plain,
}

impl Surface {
    /// Every surface.
    pub const ALL: [Self; 4] = [Self::Catalog, Self::CodeMode, Self::CatalogAndCode, Self::Plain];

    /// What an API is shown through when nobody says otherwise.
    pub fn default_for(kind: Kind) -> Self {
        match kind {
            Kind::Sentry => Self::CatalogAndCode,
            Kind::Authentik | Kind::Custom => Self::CodeMode,
        }
    }

    /// The name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::CodeMode => "code-mode",
            Self::CatalogAndCode => "catalog-and-code",
            Self::Plain => "plain",
        }
    }

    /// Whether curated tools are shown.
    pub fn has_catalog(self) -> bool {
        matches!(self, Self::Catalog | Self::CatalogAndCode)
    }

    /// Whether scripts can be run.
    pub fn has_code(self) -> bool {
        matches!(self, Self::CodeMode | Self::CatalogAndCode)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The text is no surface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a surface")]
pub struct UnknownSurface(String);

impl FromStr for Surface {
    type Err = UnknownSurface;

    fn from_str(text: &str) -> Result<Self, UnknownSurface> {
        let known = Self::ALL.into_iter().find(|it| it.id() == text);
        known.ok_or_else(|| UnknownSurface(text.to_owned()))
    }
}

/// The curated tools that are shown at once: what most conversations begin with. Each costs every
/// client tokens, so the list is short; at most 12 tools are shown in all.
const DIRECT: &[&str] = &[
    "find_organizations",
    "find_projects",
    "search_issues",
    "search_events",
    "get_sentry_resource",
    "update_issue",
    "analyze_issue_with_seer",
];

/// Whether a curated tool is shown at once.
pub(crate) fn is_direct(name: &str) -> bool {
    DIRECT.contains(&name)
}

/// Which tools a session has, and how it gets at them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Tools that are shown.
    pub(crate) direct: Vec<&'static str>,
    /// Tools behind the gateways.
    pub(crate) behind: Vec<&'static str>,
}

impl Reach {
    /// A line that sends the model to a tool, in the way this session reaches it; `purpose`
    /// completes "to …". Nothing where the session does not have the tool.
    pub fn hint(&self, tool: &str, purpose: &str) -> Option<String> {
        let way = if self.direct.contains(&tool) {
            format!("`{tool}`")
        } else if self.behind.contains(&tool) {
            format!("`{}` with `name` `{tool}`", special::EXECUTE)
        } else {
            return None;
        };
        Some(format!("use {way} to {purpose}"))
    }

    /// Whether the session can use the tool at all.
    pub fn has(&self, tool: &str) -> bool {
        self.direct.contains(&tool) || self.behind.contains(&tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_way_the_session_has() {
        let reach = Reach { direct: vec!["find_projects"], behind: vec!["find_teams"] };
        assert_eq!(
            reach.hint("find_projects", "list the projects").unwrap(),
            "use `find_projects` to list the projects"
        );
        assert_eq!(
            reach.hint("find_teams", "list the teams").unwrap(),
            "use `execute_sentry_tool` with `name` `find_teams` to list the teams"
        );
        assert_eq!(reach.hint("create_team", "make a team"), None);
    }

    #[test]
    fn surfaces_read_as_they_print() {
        for surface in Surface::ALL {
            assert_eq!(surface.to_string().parse(), Ok(surface));
        }
        assert!("all".parse::<Surface>().is_err());
    }
}
