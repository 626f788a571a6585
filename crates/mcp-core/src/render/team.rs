//! A team in structured answers.

use api_client::sentry::teams::Team;
use schemars::JsonSchema;
use serde::Serialize;

/// A team with every name it goes by.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TeamView {
    id: String,
    slug: String,
    name: String,
}

impl From<Team> for TeamView {
    fn from(team: Team) -> Self {
        let name = team.name.unwrap_or_else(|| team.slug.clone());
        Self { id: team.id, slug: team.slug, name }
    }
}
