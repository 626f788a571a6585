//! Where the documentation comes from: a search service, and the sites with the pages.

use api_client::sentry::docs::Docs;
use url::Url;

/// Where documentation is searched and read, without any credential.
#[derive(Debug, Clone)]
pub struct DocsSource {
    docs: Docs,
    /// Has the pages of Sentry's documentation sites under the same paths.
    mirror: Option<Url>,
}

impl DocsSource {
    /// Searches with this client; pages come from Sentry's documentation sites.
    pub fn new(docs: Docs) -> Self {
        Self { docs, mirror: None }
    }

    /// Takes the pages from a mirror instead, as an installation without internet has one.
    #[must_use]
    pub fn mirrored_at(mut self, mirror: Url) -> Self {
        self.mirror = Some(mirror);
        self
    }

    /// What searches and reads.
    pub(crate) fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Where a page of the documentation sites is fetched from.
    pub(crate) fn place_of(&self, page: &Url) -> Url {
        let Some(mirror) = &self.mirror else { return page.clone() };
        let mut place = mirror.clone();
        let below = mirror.path().trim_end_matches('/');
        place.set_path(&format!("{below}{}", page.path()));
        place
    }
}
