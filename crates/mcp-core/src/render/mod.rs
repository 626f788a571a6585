//! From entities to what a reader sees: markdown pages and links, shared by tools.

pub(crate) mod alert_rule;
#[cfg(test)]
pub(crate) mod arbitrary;
pub(crate) mod dashboard;
pub(crate) mod event;
mod file;
mod issue;
pub(crate) mod monitor;
mod page;
pub(crate) mod profile;
#[cfg(test)]
mod properties;
pub(crate) mod replay;
pub(crate) mod rows;
mod seer;
mod snapshot;
pub(crate) mod team;
pub(crate) mod trace;
pub(crate) mod uptime;

use url::Url;

pub(crate) use file::{dimensions, file_part, is_text, picture_type};
pub(crate) use issue::{
    assignee, ignoring, is_about_metric, issue_facts, issue_name, issue_row, issue_status,
    issue_words,
};
pub(crate) use page::{Page, inline};
pub(crate) use seer::{seer_findings, seer_progress, seer_summary};
pub(crate) use snapshot::{branch_line, head_line, image_tree};

/// The address of a page for people: `path` begins with `/`, as in `/issues/1/`.
///
/// The hosted service has a subdomain for each organization; elsewhere it is part of the path.
pub(crate) fn web_url(base: &Url, organization: &str, path: &str) -> String {
    let organization = percent_encoding::utf8_percent_encode(organization, SEGMENT);
    if api_client::sentry::region::is_hosted(base) {
        return format!("https://{organization}.sentry.io{path}");
    }
    let origin = base.origin().ascii_serialization();
    let below = base.path().trim_end_matches('/');
    format!("{origin}{below}/organizations/{organization}{path}")
}

/// Whether a text that outsiders may have chosen is plainly an id, and so can stand among our words.
pub(crate) fn is_id(text: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
    (1..=64).contains(&text.len()) && text.chars().all(plain)
}

/// A value as one segment of a path in [`web_url`].
pub(crate) fn segment(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, SEGMENT).to_string()
}

const SEGMENT: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_for_people_are_where_the_installation_has_them() {
        let url = |base: &str| web_url(&base.parse().unwrap(), "acme", "/dashboard/7/");
        assert_eq!(url("https://sentry.io"), "https://acme.sentry.io/dashboard/7/");
        assert_eq!(url("https://de.sentry.io"), "https://acme.sentry.io/dashboard/7/");
        assert_eq!(
            url("http://sentry.test:9000"),
            "http://sentry.test:9000/organizations/acme/dashboard/7/"
        );
        assert_eq!(segment("app@1.0/x y"), "app%401.0%2Fx%20y");
    }
}
