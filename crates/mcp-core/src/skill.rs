//! Skills: what an operator grants, in words a person understands.

use std::fmt;

/// A group of tools that is granted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skill {
    /// Look at issues, events, traces, releases and documentation.
    Inspect,
    /// Let Seer analyse issues.
    Seer,
    /// Read the documentation; part of `inspect` today.
    Docs,
    /// Change the state of issues.
    Triage,
    /// Manage projects, teams, keys and monitors.
    ProjectManagement,
    /// Read the whole API with scripts.
    ApiRead,
    /// Write to the whole API with confirmed scripts.
    ApiWrite,
}

impl Skill {
    /// Every skill, in the order they are shown.
    pub const ALL: &[Self] = &[
        Self::Inspect,
        Self::Seer,
        Self::Docs,
        Self::Triage,
        Self::ProjectManagement,
        Self::ApiRead,
        Self::ApiWrite,
    ];

    /// The name on the command line.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Seer => "seer",
            Self::Docs => "docs",
            Self::Triage => "triage",
            Self::ProjectManagement => "project-management",
            Self::ApiRead => "api-read",
            Self::ApiWrite => "api-write",
        }
    }

    /// The name for a person.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Inspect => "Inspect issues and events",
            Self::Seer => "Seer",
            Self::Docs => "Documentation",
            Self::Triage => "Triage issues",
            Self::ProjectManagement => "Manage projects and teams",
            Self::ApiRead => "Read the API with scripts",
            Self::ApiWrite => "Write to the API with confirmed scripts",
        }
    }

    /// What the grant means, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Inspect => "look at issues, events, traces, releases, monitors and documentation",
            Self::Seer => "let Seer find the root cause of an issue",
            Self::Docs => "search and read the documentation; part of `inspect` today",
            Self::Triage => "resolve, assign and comment on issues",
            Self::ProjectManagement => {
                "create and change projects, teams, keys and uptime monitors"
            }
            Self::ApiRead => "`search` the API and `execute` scripts that cannot write",
            Self::ApiWrite => "`execute_write` on top of `api-read`",
        }
    }

    /// Whether it is kept for old set-ups alone.
    pub const fn is_deprecated(self) -> bool {
        matches!(self, Self::Docs)
    }

    /// The skill of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.id().eq_ignore_ascii_case(name.trim()))
    }
}

impl fmt::Display for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A set of skills.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Skills(u8);

impl Skills {
    /// No skill: nothing is available.
    pub const NONE: Self = Self(0);

    /// Every skill that is not deprecated: what a local server grants by default.
    pub fn active() -> Self {
        Skill::ALL.iter().copied().filter(|it| !it.is_deprecated()).collect()
    }

    /// What a person who consents is offered first.
    pub fn proposed() -> Self {
        [Skill::Inspect, Skill::Seer].into_iter().collect()
    }

    /// Whether the skill is granted; writing to the API implies reading it.
    pub fn has(self, skill: Skill) -> bool {
        let own = self.0 & Self::bit(skill) != 0;
        own || (skill == Skill::ApiRead && self.0 & Self::bit(Skill::ApiWrite) != 0)
    }

    /// Whether one of the skills is granted.
    pub fn has_any(self, skills: &[Skill]) -> bool {
        skills.iter().any(|&skill| self.has(skill))
    }

    /// The same without these.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether nothing is granted.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The granted skills, in the order they are shown.
    pub fn iter(self) -> impl Iterator<Item = Skill> {
        Skill::ALL.iter().copied().filter(move |&skill| self.has(skill))
    }

    /// Reads a comma-separated list; empty entries count for nothing.
    ///
    /// # Errors
    /// The names that are no skills.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let mut skills = Self::NONE;
        let mut unknown = Vec::new();
        for name in text.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()) {
            match Skill::named(name) {
                Some(skill) => skills.0 |= Self::bit(skill),
                None => unknown.push(name.to_owned()),
            }
        }
        if unknown.is_empty() { Ok(skills) } else { Err(unknown) }
    }

    const fn bit(skill: Skill) -> u8 {
        1 << skill as u8
    }
}

impl FromIterator<Skill> for Skills {
    fn from_iter<I: IntoIterator<Item = Skill>>(skills: I) -> Self {
        Self(skills.into_iter().fold(0, |bits, skill| bits | Self::bit(skill)))
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Skill::id)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_is_read_and_what_is_no_skill_is_named() {
        let skills = Skills::parse(" inspect, Triage ,,").unwrap();
        assert!(skills.has(Skill::Inspect) && skills.has(Skill::Triage));
        assert!(!skills.has(Skill::Seer));
        assert_eq!(Skills::parse("inspect,fly,run"), Err(vec!["fly".to_owned(), "run".to_owned()]));
        assert!(Skills::parse(" , ").unwrap().is_empty());
    }

    #[test]
    fn writing_implies_reading_and_the_deprecated_skill_is_not_granted_by_default() {
        let write = Skills::parse("api-write").unwrap();
        assert!(write.has(Skill::ApiRead));
        assert!(!Skills::parse("api-read").unwrap().has(Skill::ApiWrite));
        let active = Skills::active();
        assert!(!active.has(Skill::Docs));
        assert_eq!(active.iter().count(), Skill::ALL.len() - 1);
        assert!(active.without(active).is_empty());
    }
}
