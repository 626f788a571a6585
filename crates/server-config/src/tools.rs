//! What the options say of the tools: which are shown, which skills are granted, what a session is
//! limited to, where the documentation comes from.

use mcp_core::{
    constraints::Constraints,
    profile::Kind,
    skill::{Skill, Skills},
    surfaces::Surface,
    tool::Form,
};
use url::Url;

use crate::{
    cli::{AccessOptions, SentryOptions},
    given::{Environment, Given, SetupError},
};

/// Where Sentry's documentation is searched when nobody says otherwise.
const DOCS: &str = "https://mcp.sentry.dev";

/// What is shown and granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettings {
    /// As asked for; else what suits the API.
    pub surface: Option<Surface>,
    pub skills: Skills,
    pub constraints: Constraints,
    pub experimental: bool,
    /// Where the documentation is searched, if anywhere.
    pub docs: Option<Url>,
    /// Where its pages are read, in place of Sentry's own sites.
    pub docs_pages: Option<Url>,
}

impl ToolSettings {
    /// Settles what options and variables say; `has_sentry` tells whether one of the APIs is Sentry.
    pub fn resolve(
        access: &AccessOptions,
        sentry: &SentryOptions,
        has_sentry: bool,
        env: Environment<'_>,
    ) -> Result<Self, SetupError> {
        let settings = Self {
            surface: surface(access, has_sentry, env)?,
            skills: skills(access, env)?,
            constraints: constraints(sentry, has_sentry, env)?,
            experimental: Given::switch("experimental", sentry.experimental, env)?,
            docs: if has_sentry { docs(sentry, env)? } else { None },
            docs_pages: match Given::option("docs-pages-url", sentry.docs_pages_url.as_ref(), env)?
            {
                Some(given) => Some(web_address(&given, "use an address")?),
                None => None,
            },
        };
        if settings.constraints.is_pinned()
            && matches!(settings.surface, Some(Surface::CodeMode | Surface::Plain))
        {
            return Err(SetupError::new(
                "a session that is limited to an organization or project has the catalog alone",
                "leave `--surface` out, or use `--surface catalog`",
            ));
        }
        let surface = settings.surface.unwrap_or(Surface::CodeMode);
        let has_catalog = has_sentry && (settings.surface.is_none() || surface.has_catalog());
        if !has_catalog && !settings.skills.has(Skill::ApiRead) {
            return Err(SetupError::new(
                "the granted skills are the catalog's, which is not shown: there would be no tools",
                "grant api-read or api-write, or use `--surface catalog` with Sentry",
            ));
        }
        Ok(settings)
    }

    /// What deserves a word at start although it works.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.experimental {
            warnings.push("`--experimental`: these tools may still change".to_owned());
        }
        if self.constraints.is_pinned() && self.surface != Some(Surface::Catalog) {
            let why = "the session is limited to an organization or project: there is no code mode";
            warnings.push(why.to_owned());
        }
        warnings
    }
}

fn surface(
    options: &AccessOptions,
    has_sentry: bool,
    env: Environment<'_>,
) -> Result<Option<Surface>, SetupError> {
    let Some(given) = Given::option("surface", options.surface.as_ref(), env)? else {
        return Ok(None);
    };
    match given.text.parse() {
        Ok(surface) if Surface::has_catalog(surface) && !has_sentry => {
            Err(given.is_not("for this API: the catalog is Sentry's", "use code-mode"))
        }
        Ok(surface) => Ok(Some(surface)),
        Err(_) => {
            let known: Vec<_> = Surface::ALL.iter().map(|it| it.id()).collect();
            Err(given.is_not("a surface", &format!("use {}", known.join(", "))))
        }
    }
}

fn skills(options: &AccessOptions, env: Environment<'_>) -> Result<Skills, SetupError> {
    let nothing: Environment<'_> = &|_| None;
    let all = Given::switch("all-skills", options.all_skills, nothing)?;
    if all && options.skills.is_some() {
        return Err(SetupError::new(
            "`--all-skills` and `--skills` contradict each other",
            "keep one of the two",
        ));
    }
    let wanted = match all {
        true => None,
        false => Given::option("skills", options.skills.as_ref(), env)?,
    };
    let granted = match &wanted {
        Some(given) => parse(given)?,
        None => Skills::active(),
    };
    let taken = Given::option("disable-skills", options.disable_skills.as_ref(), env)?;
    let left = match &taken {
        Some(given) => granted.without(parse(given)?),
        None => granted,
    };
    if !left.is_empty() {
        return Ok(left);
    }
    let from = taken.or(wanted).map_or_else(String::new, |given| given.from);
    Err(SetupError::new(
        format!("{from} leaves no skill: the server would have no tools"),
        format!("grant at least one of {}", names()),
    ))
}

fn parse(given: &Given) -> Result<Skills, SetupError> {
    Skills::parse(&given.text).map_err(|unknown| {
        let unknown: Vec<_> = unknown.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("{} names no skill: {}", given.from, unknown.join(", "));
        SetupError::new(message, format!("the skills are {}", names()))
    })
}

fn names() -> String {
    let current = Skill::ALL.iter().filter(|it| !it.is_deprecated());
    current.map(|it| it.id()).collect::<Vec<_>>().join(", ")
}

fn constraints(
    options: &SentryOptions,
    has_sentry: bool,
    env: Environment<'_>,
) -> Result<Constraints, SetupError> {
    let slug = |name: &str, flag: &Option<String>| -> Result<Option<String>, SetupError> {
        let Some(given) = Given::option(name, flag.as_ref(), env)? else { return Ok(None) };
        if !has_sentry {
            let message = format!("{} is for Sentry, which is not among the APIs", given.from);
            return Err(SetupError::new(message, "leave it out"));
        }
        match Form::Slug.check(&given.text) {
            Some(slug) => Ok(Some(slug)),
            None => Err(given.is_not("a slug", "use letters, digits, `.`, `_` and `-`")),
        }
    };
    Ok(Constraints {
        organization: slug("organization-slug", &options.organization_slug)?,
        project: slug("project-slug", &options.project_slug)?,
        ..Constraints::default()
    })
}

fn docs(options: &SentryOptions, env: Environment<'_>) -> Result<Option<Url>, SetupError> {
    let given = match Given::option("docs-url", options.docs_url.as_ref(), env)? {
        Some(given) => Some(given),
        None => Given::variable("MCP_URL", env)?,
    };
    let Some(given) = given else { return Ok(Url::parse(DOCS).ok()) };
    if given.text == "off" {
        return Ok(None);
    }
    web_address(&given, "use an address, or `off`").map(Some)
}

fn web_address(given: &Given, advice: &str) -> Result<Url, SetupError> {
    match Url::parse(&given.text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(given.is_not("an http or https URL", advice)),
    }
}

/// Whether one of the APIs is Sentry.
pub fn has_sentry<'a>(mut kinds: impl Iterator<Item = &'a Kind>) -> bool {
    kinds.any(|kind| *kind == Kind::Sentry)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn resolve(arguments: &[&str], variables: &[(&str, &str)]) -> Result<ToolSettings, String> {
        let arguments = ["mcp-stdio"].iter().chain(arguments);
        let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        ToolSettings::resolve(&cli.access, &cli.sentry, true, &env).map_err(|it| it.to_string())
    }

    #[test]
    fn without_options_every_current_skill_is_granted_and_nothing_is_pinned() {
        let settings = resolve(&[], &[]).unwrap();
        assert_eq!(settings.skills, Skills::active());
        assert_eq!(settings.surface, None);
        assert!(!settings.constraints.is_pinned() && !settings.experimental);
        assert_eq!(settings.docs.unwrap().as_str(), "https://mcp.sentry.dev/");
    }

    #[test]
    fn skills_are_granted_and_taken_away_and_the_command_line_wins() {
        let granted = |arguments: &[&str], variables: &[(&str, &str)]| {
            let skills = resolve(arguments, variables).unwrap().skills;
            skills.iter().map(Skill::id).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(granted(&["--skills", "inspect,seer"], &[]), "inspect seer");
        assert_eq!(granted(&["--skills=docs"], &[("MCP_SKILLS", "triage")]), "docs");
        assert_eq!(granted(&[], &[("MCP_SKILLS", "triage")]), "triage");
        assert_eq!(granted(&["--all-skills"], &[("MCP_SKILLS", "triage")]), granted(&[], &[]));
        assert_eq!(
            granted(&["--disable-skills", "seer,api-write"], &[]),
            "inspect triage project-management api-read"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_the_next_step() {
        let cases: &[(&[&str], &str)] = &[
            (&["--skills", "inspect,fly"], "`--skills` names no skill: `fly`"),
            (&["--skills", "seer", "--all-skills"], "`--all-skills` and `--skills` contradict"),
            (
                &["--skills", "seer", "--disable-skills", "seer"],
                "`--disable-skills` leaves no skill",
            ),
            (&["--surface", "all"], "`--surface` is `all`, which is not a surface"),
            (
                &["--organization-slug", "a/b"],
                "`--organization-slug` is `a/b`, which is not a slug",
            ),
            (
                &["--project-slug", "web", "--surface", "code-mode"],
                "a session that is limited to an organization or project has the catalog alone",
            ),
            (&["--docs-url", "ftp://x"], "`--docs-url` is `ftp://x`, which is not an http"),
        ];
        for (arguments, expected) in cases {
            let error = resolve(arguments, &[]).unwrap_err();
            assert!(error.starts_with(expected), "{arguments:?}: {error}");
            assert!(error.contains("\n  hint: "), "{error}");
        }
    }

    #[test]
    fn the_catalog_and_its_limits_are_for_sentry() {
        let refused = |arguments: &[&str]| {
            let cli = Cli::try_parse_from(["mcp-stdio"].iter().chain(arguments)).unwrap();
            ToolSettings::resolve(&cli.access, &cli.sentry, false, &|_| None)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(&["--surface", "catalog"]).contains("the catalog is Sentry's"));
        assert!(refused(&["--skills", "inspect"]).contains("there would be no tools"));
        assert!(refused(&["--project-slug", "web"]).starts_with("`--project-slug` is for Sentry"));
    }

    #[test]
    fn the_documentation_can_come_from_elsewhere_or_nowhere() {
        let docs = |arguments: &[&str], variables: &[(&str, &str)]| {
            resolve(arguments, variables).unwrap().docs.map(String::from)
        };
        assert_eq!(docs(&["--mcp-url", "https://docs.test"], &[]).unwrap(), "https://docs.test/");
        assert_eq!(docs(&[], &[("MCP_URL", "http://docs.test")]).unwrap(), "http://docs.test/");
        assert_eq!(docs(&["--docs-url", "off"], &[]), None);
        let pages = |arguments| resolve(arguments, &[]).map(|it| it.docs_pages.map(String::from));
        assert_eq!(pages(&[]), Ok(None));
        let mirror = ["--docs-pages-url", "http://docs.test/mirror"];
        assert_eq!(pages(&mirror), Ok(Some("http://docs.test/mirror".to_owned())));
        let refusal = pages(&["--docs-pages-url", "off"]).unwrap_err();
        assert!(refusal.contains("`--docs-pages-url` is `off`, which is not an http"), "{refusal}");
    }
}
