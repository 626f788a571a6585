//! What a caller may do at most, and how a request narrows it. Nothing here ever adds.

use std::collections::BTreeMap;

use mcp_core::{
    Context,
    constraints::Constraints,
    skill::{Skill, Skills},
    surfaces::Surface,
};

use crate::refusal::Refusal;

/// What somebody may do at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) skills: Skills,
    pub(crate) organization: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) read_only: bool,
}

/// What one request asks for, by its path and query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Narrowing {
    pub(crate) organization: Option<String>,
    pub(crate) project: Option<String>,
    skills: Option<Skills>,
    without: Skills,
    surface: Option<Surface>,
    experimental: Option<bool>,
}

impl Grant {
    /// All that the operator offers.
    pub(crate) fn full(cx: &Context) -> Self {
        Self {
            skills: cx.skills,
            organization: cx.constraints.organization.clone(),
            project: cx.constraints.project.clone(),
            read_only: false,
        }
    }

    /// Reads `skills=…`, `organization=…`, `project=…` and `read-only`, at most what `self` has.
    pub(crate) fn parse<'a>(
        mut self,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        for word in words {
            match word.split_once('=') {
                Some(("skills", list)) => {
                    let skills = Skills::parse(list)
                        .map_err(|unknown| format!("`{}` is not a skill", unknown.join("`, `")))?;
                    self.skills = common(self.skills, skills);
                }
                Some(("organization", slug)) if is_slug(slug) => {
                    bind(&mut self.organization, slug)?;
                }
                Some(("project", slug)) if is_slug(slug) => bind(&mut self.project, slug)?,
                None if word == "read-only" => self.read_only = true,
                _ => return Err(format!("`{word}` says nothing here")),
            }
        }
        if self.project.is_some() && self.organization.is_none() {
            return Err("a project needs its organization".to_owned());
        }
        Ok(self)
    }

    /// Applies a request's own limits and puts what is left into the context.
    pub(crate) fn apply(&self, asked: &Narrowing, cx: &mut Context) -> Result<(), Refusal> {
        let organization =
            pinned("organization", self.organization.as_ref(), asked.organization.as_ref())?;
        let project = pinned("project", self.project.as_ref(), asked.project.as_ref())?;
        cx.skills = common(cx.skills, self.skills);
        if let Some(skills) = asked.skills {
            cx.skills = common(cx.skills, skills);
        }
        cx.skills = cx.skills.without(asked.without);
        if cx.skills.is_empty() {
            return Err(Refusal::bad_request(
                "nothing is left of the skills: ask for fewer limits in `skills` and \
                 `disable-skills`, or for a token that grants more",
            ));
        }
        if let Some(surface) = asked.surface {
            if !includes(cx.surface, surface) {
                return Err(Refusal::bad_request(format!(
                    "this server offers the surface `{}`, which has no `{surface}` in it",
                    cx.surface
                )));
            }
            cx.surface = surface;
        }
        cx.experimental &= asked.experimental.unwrap_or(true);
        cx.access.read_only |= self.read_only;
        cx.constraints = Constraints { organization, project, ..cx.constraints.clone() };
        Ok(())
    }
}

impl Narrowing {
    /// Reads path segments and query of a request.
    pub(crate) fn read(
        organization: Option<&str>,
        project: Option<&str>,
        query: Option<&str>,
    ) -> Result<Self, Refusal> {
        let slug = |what: &str, given: Option<&str>| match given {
            Some(slug) if !is_slug(slug) => {
                Err(Refusal::not_found(format!("the path names no {what}")))
            }
            given => Ok(given.map(str::to_owned)),
        };
        let mut asked = Self {
            organization: slug("organization", organization)?,
            project: slug("project", project)?,
            ..Self::default()
        };
        let query: BTreeMap<_, _> =
            url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
        for (name, value) in &query {
            match name.as_ref() {
                "skills" => asked.skills = Some(skills(name, value)?),
                "disable-skills" => asked.without = skills(name, value)?,
                "surface" => {
                    let surface = value.parse::<Surface>().map_err(|_| {
                        let known = Surface::ALL.map(|it| it.to_string()).join("`, `");
                        Refusal::bad_request(format!("`surface` is one of `{known}`"))
                    })?;
                    asked.surface = Some(surface);
                }
                "experimental" => {
                    asked.experimental = Some(matches!(value.as_ref(), "1" | "true"));
                }
                // Others may be the client's own, such as where a link was found.
                _ => {}
            }
        }
        Ok(asked)
    }
}

fn skills(name: &str, list: &str) -> Result<Skills, Refusal> {
    let names = || Skill::ALL.iter().map(|it| it.id()).collect::<Vec<_>>().join(", ");
    match Skills::parse(list) {
        Ok(skills) if !skills.is_empty() => Ok(skills),
        Ok(_) => {
            Err(Refusal::bad_request(format!("`{name}` is empty; the skills are {}", names())))
        }
        Err(_) => Err(Refusal::bad_request(format!(
            "`{name}` names something that is no skill; the skills are {}",
            names()
        ))),
    }
}

fn common(left: Skills, right: Skills) -> Skills {
    // What one side has not is taken from the other; reading comes with writing on both.
    Skill::ALL.iter().copied().filter(|&it| left.has(it) && right.has(it)).collect()
}

/// Whether everything of `inner` can be reached through `outer`.
fn includes(outer: Surface, inner: Surface) -> bool {
    match inner {
        Surface::Catalog => outer.has_catalog(),
        Surface::CodeMode | Surface::Plain => outer.has_code(),
        Surface::CatalogAndCode => outer == Surface::CatalogAndCode,
    }
}

/// One value out of what a caller is bound to and what the request names.
fn pinned(
    what: &str,
    bound: Option<&String>,
    asked: Option<&String>,
) -> Result<Option<String>, Refusal> {
    match (bound, asked) {
        (Some(bound), Some(asked)) if bound != asked => Err(Refusal::forbidden(format!(
            "this caller is bound to the {what} `{bound}`: use the path that names it, or none"
        ))),
        (Some(bound), _) => Ok(Some(bound.clone())),
        (None, asked) => Ok(asked.cloned()),
    }
}

/// Binds to a value, unless the whole server is bound to another.
fn bind(bound: &mut Option<String>, slug: &str) -> Result<(), String> {
    match bound {
        Some(other) if other != slug => Err(format!("the server is limited to `{other}`")),
        _ => {
            *bound = Some(slug.to_owned());
            Ok(())
        }
    }
}

/// What names an organization or a project.
fn is_slug(text: &str) -> bool {
    (1..=100).contains(&text.len())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'))
        && !text.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(words: &str) -> Result<Grant, String> {
        let full =
            Grant { skills: Skills::active(), organization: None, project: None, read_only: false };
        full.parse(words.split_whitespace())
    }

    #[test]
    fn a_grant_is_read_word_by_word_and_what_it_cannot_mean_is_named() {
        let read = grant("skills=inspect,api-read organization=acme read-only").unwrap();
        assert!(read.skills.has(Skill::Inspect) && !read.skills.has(Skill::ApiWrite));
        assert_eq!((read.organization.as_deref(), read.read_only), (Some("acme"), true));
        assert_eq!(grant("skills=fly"), Err("`fly` is not a skill".to_owned()));
        assert_eq!(grant("project=web"), Err("a project needs its organization".to_owned()));
        assert_eq!(
            grant("organization=a/b"),
            Err("`organization=a/b` says nothing here".to_owned())
        );
    }

    #[test]
    fn writing_and_reading_meet_in_reading() {
        let write = Skills::parse("api-write").unwrap();
        let read = Skills::parse("api-read").unwrap();
        let both = common(write, read);
        assert!(both.has(Skill::ApiRead) && !both.has(Skill::ApiWrite));
    }

    #[test]
    fn a_request_may_ask_for_less_and_for_nothing_else() {
        let read = |query| Narrowing::read(None, None, Some(query));
        assert!(read("skills=inspect&utm_source=x").is_ok());
        assert!(read("skills=").is_err() && read("skills=fly").is_err());
        assert!(read("surface=all").is_err());
        assert!(Narrowing::read(Some("acme"), Some("../x"), None).is_err());
        assert!(Narrowing::read(Some(".."), None, None).is_err());
    }

    #[test]
    fn surfaces_lie_inside_each_other() {
        assert!(includes(Surface::CatalogAndCode, Surface::Plain));
        assert!(includes(Surface::CodeMode, Surface::Plain));
        assert!(!includes(Surface::CodeMode, Surface::Catalog));
        assert!(!includes(Surface::Catalog, Surface::CatalogAndCode));
    }
}
