//! Types of parameters that many catalog tools share, each with its form and its words for the model.

use std::{borrow::Cow, fmt, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::tool::{CLEARABLE, Form};

/// Text parameters: the type, its form, and what the model reads where the field has no words of its own.
macro_rules! texts {
    ($($(#[$attribute:meta])* $name:ident: $form:ident, $words:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $name(String);

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let wanted = Form::$form.wanted();
                Form::$form.check(&text).map(Self).ok_or_else(|| D::Error::custom(wanted))
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": Form::$form.mark(),
                    "description": $words,
                })
            }
        }
    )*};
}

texts! {
    /// An organization.
    OrganizationSlug: Slug, "the organization's slug";
    /// A project.
    ProjectSlug: Slug, "the project's slug";
    /// A project, by slug or number.
    ProjectSlugOrId: SlugOrId, "the project's slug or numeric id";
    /// A team.
    TeamSlug: Slug, "the team's slug";
    /// The host that keeps an organization's data.
    RegionUrl: Url, "the organization's region; found out when left out";
    /// Any id of the slug's alphabet.
    ResourceId: Slug, "";
    /// An issue.
    IssueId: IssueId, "as in `PROJ-123`, or a number";
    /// An event of an issue.
    EventRef: LatestOrHexId, "the event's id; default `latest`";
    /// An event.
    EventId: HexId, "the event's id, 32 hexadecimal digits";
    /// A trace.
    TraceId: HexId, "32 hexadecimal digits";
    /// How far back to look.
    Period: Period, "how far back, as in `24h`, `7d`, `2w`";
    /// One end of a stretch of time.
    DateTime: DateTime, "ISO 8601; `start` and `end` come together";
    /// What a project is written in.
    Platform: Platform, "such as `python` or `javascript-nextjs`";
    /// Who is responsible.
    Owner: Owner, "`user:ID` or `team:ID`";
    /// An address.
    Address: Url, "";
    /// Which guided setup it is.
    RunToken: RunToken, "given in the setup's prompt";
}

impl Default for EventRef {
    fn default() -> Self {
        Self("latest".to_owned())
    }
}

/// A project's slug, or `all`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProjectOrAll {
    /// Every project.
    All,
    /// This one.
    Project(ProjectSlug),
}

impl ProjectOrAll {
    /// The project, unless all are meant.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Project(slug) => Some(slug),
        }
    }
}

impl<'de> Deserialize<'de> for ProjectOrAll {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slug = ProjectSlug::deserialize(deserializer)?;
        Ok(if &*slug == "all" { Self::All } else { Self::Project(slug) })
    }
}

impl JsonSchema for ProjectOrAll {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ProjectOrAll".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": Form::Slug.mark(),
            "description": "the project's slug, or `all`",
        })
    }
}

/// How many rows: from 1 to `MOST`, `USUAL` by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit<const USUAL: usize, const MOST: usize>(usize);

impl<const USUAL: usize, const MOST: usize> Limit<USUAL, MOST> {
    /// The number.
    pub(crate) fn get(self) -> usize {
        self.0
    }
}

impl<const USUAL: usize, const MOST: usize> Default for Limit<USUAL, MOST> {
    fn default() -> Self {
        Self(USUAL)
    }
}

impl<'de, const USUAL: usize, const MOST: usize> Deserialize<'de> for Limit<USUAL, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = usize::deserialize(deserializer)?;
        let fits = (1..=MOST).contains(&number);
        fits.then_some(Self(number)).ok_or_else(|| D::Error::custom(format!("1 to {MOST}")))
    }
}

impl<const USUAL: usize, const MOST: usize> JsonSchema for Limit<USUAL, MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Limit{USUAL}Of{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "minimum": 1,
            "maximum": MOST,
            "default": USUAL,
        })
    }
}

/// A value to leave alone, to take away (`null`), or to set. Declare it with `#[serde(default)]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Change<T> {
    /// Nothing was said.
    #[default]
    Keep,
    /// `null`: take away what is set.
    Clear,
    /// The new value.
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::deserialize(deserializer)?;
        Ok(value.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Change<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Change{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert(CLEARABLE.to_owned(), true.into());
        schema
    }
}

/// For `#[serde(default = "yes")]`.
pub(crate) fn yes() -> bool {
    true
}
