//! Texts of a known form: what they look like, and how they are brought into it.

use url::Url;

/// The form of a text argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `my-project`: an organization's, project's or team's slug, or an id of that alphabet.
    Slug,
    /// A slug or a number.
    SlugOrId,
    /// `PROJ-123` or a number.
    IssueId,
    /// 32 hexadecimal digits.
    HexId,
    /// `latest`, or 32 hexadecimal digits.
    LatestOrHexId,
    /// An address with `http://` or `https://`.
    Url,
    /// `24h`, `7d`, `2w`.
    Period,
    /// `2026-05-04T09:00:00Z`.
    DateTime,
    /// A platform's name, in lower case.
    Platform,
    /// `user:…` or `team:…`.
    Owner,
    /// Ten letters and digits.
    RunToken,
}

const LONGEST_SLUG: usize = 100;
const LONGEST_ID: usize = 20;

impl Form {
    const ALL: [Self; 11] = [
        Self::Slug,
        Self::SlugOrId,
        Self::IssueId,
        Self::HexId,
        Self::LatestOrHexId,
        Self::Url,
        Self::Period,
        Self::DateTime,
        Self::Platform,
        Self::Owner,
        Self::RunToken,
    ];

    /// The mark by which derived schemas name the form; it never leaves this process.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Slug => "slug",
            Self::SlugOrId => "slug-or-id",
            Self::IssueId => "issue-id",
            Self::HexId => "hex-id",
            Self::LatestOrHexId => "latest-or-hex-id",
            Self::Url => "uri",
            Self::Period => "period",
            Self::DateTime => "date-time",
            Self::Platform => "platform",
            Self::Owner => "owner",
            Self::RunToken => "run-token",
        }
    }

    /// The form of that mark.
    pub(super) fn of_mark(mark: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.mark() == mark)
    }

    /// What such a text is, for messages.
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Slug => "a slug: letters, digits, `.`, `_` and `-`, at most 100 characters",
            Self::SlugOrId => "a slug (letters, digits, `.`, `_`, `-`) or a numeric id",
            Self::IssueId => "an issue id such as `PROJ-123` or `4509876`",
            Self::HexId => "an id of 32 hexadecimal digits",
            Self::LatestOrHexId => "`latest` or an id of 32 hexadecimal digits",
            Self::Url => "a whole URL such as `https://example.com/path`",
            Self::Period => "a period such as `24h`, `7d` or `2w`",
            Self::DateTime => "a time such as `2026-05-04T09:00:00Z`",
            Self::Platform => "a platform such as `python` or `javascript-react`",
            Self::Owner => "an owner such as `user:123` or `team:456`",
            Self::RunToken => "a token of ten letters and digits",
        }
    }

    /// The text in its proper form, if it has it.
    pub fn check(self, text: &str) -> Option<String> {
        let text = text.trim();
        let fits = match self {
            Self::Slug => is_slug(text),
            Self::SlugOrId => is_id(text) || (is_slug(text) && !is_number(text)),
            Self::IssueId => return issue_id(text),
            Self::HexId => is_hex_id(text),
            Self::LatestOrHexId => {
                if text.eq_ignore_ascii_case("latest") {
                    return Some("latest".to_owned());
                }
                is_hex_id(text)
            }
            Self::Url => Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https")),
            Self::Period => is_period(text),
            Self::DateTime => is_date_time(text),
            Self::Platform => {
                let text = text.to_ascii_lowercase();
                return is_slug(&text).then_some(text);
            }
            Self::Owner => text
                .split_once(':')
                .is_some_and(|(kind, id)| matches!(kind, "user" | "team") && !id.is_empty()),
            Self::RunToken => text.len() == 10 && text.chars().all(|it| it.is_ascii_alphanumeric()),
        };
        fits.then(|| text.to_owned())
    }
}

fn is_slug(text: &str) -> bool {
    let inner = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    text.len() <= LONGEST_SLUG
        && text.starts_with(|it: char| it.is_ascii_alphanumeric())
        && text.chars().all(inner)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_digit())
}

fn is_id(text: &str) -> bool {
    is_number(text) && text.len() <= LONGEST_ID
}

fn is_hex_id(text: &str) -> bool {
    text.len() == 32 && text.chars().all(|it| it.is_ascii_hexdigit())
}

fn issue_id(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let is_short =
        text.rsplit_once('-').is_some_and(|(project, number)| is_slug(project) && is_slug(number));
    (is_id(&text) || is_short).then_some(text)
}

fn is_period(text: &str) -> bool {
    text.strip_suffix(['h', 'd', 'w']).is_some_and(|count| is_number(count) && count.len() <= 6)
}

/// A calendar date, a clock time and perhaps an offset; the upstream judges the rest.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return is_date(text);
    };
    let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let digits = |offset: &str| offset.chars().all(|it| it.is_ascii_digit() || it == ':');
    let is_offset = match offset.get(..1) {
        None => true,
        Some("Z" | "z") => offset.len() == 1,
        Some(_) => (3..=6).contains(&offset.len()) && digits(&offset[1..]),
    };
    is_date(date) && is_clock(clock) && is_number(fraction) && is_offset
}

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    year.len() == 4 && is_number(year) && within(month, 1..=12) && within(day, 1..=31)
}

fn is_clock(text: &str) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    match parts.as_slice() {
        [hour, minute] => within(hour, 0..=23) && within(minute, 0..=59),
        [hour, minute, second] => {
            within(hour, 0..=23) && within(minute, 0..=59) && within(second, 0..=60)
        }
        _ => false,
    }
}

fn within(text: &str, bounds: std::ops::RangeInclusive<u32>) -> bool {
    text.len() == 2 && is_number(text) && text.parse().is_ok_and(|number| bounds.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_accept_what_they_describe_and_nothing_that_leaves_a_path() {
        let table: [(Form, &[&str], &[&str]); 11] = [
            (
                Form::Slug,
                &["a", "My.Org_1-x", "4509"],
                &["", "-a", "a/b", "..", ".a", "a b", "%2e", "é"],
            ),
            (Form::SlugOrId, &["web", "4509876543210"], &["123456789012345678901", "a/b", ".."]),
            (
                Form::IssueId,
                &["proj-1A", "my-app-12", "4509"],
                &["proj", "-1", "a-", "a b-1", "../1"],
            ),
            (
                Form::HexId,
                &["0123456789abcdef0123456789ABCDEF"],
                &["0123", "g123456789abcdef0123456789abcdef"],
            ),
            (Form::LatestOrHexId, &["latest", "0123456789abcdef0123456789abcdef"], &["newest", ""]),
            (
                Form::Url,
                &["https://a.test/b?c", "http://127.0.0.1:1"],
                &["a.test", "ftp://a", "javascript:1"],
            ),
            (Form::Period, &["24h", "7d", "2w"], &["d", "7", "7m", "-1d", "1.5h"]),
            (
                Form::DateTime,
                &["2026-05-04T09:00:00Z", "2026-05-04", "2026-05-04T09:00:00.5+02:00"],
                &["2026-13-01", "yesterday", "2026-05-04T25:00", "2026-05-04T09:00:00+"],
            ),
            (Form::Platform, &["python", "JavaScript-React"], &["", "a/b"]),
            (Form::Owner, &["user:1", "team:a"], &["user:", "group:1", "me"]),
            (Form::RunToken, &["abcDE12345"], &["abc", "abcDE1234-"]),
        ];
        for (form, good, bad) in table {
            for text in good {
                assert!(form.check(text).is_some(), "{form:?}: {text}");
            }
            for text in bad {
                assert_eq!(form.check(text), None, "{form:?}: {text}");
            }
            assert_eq!(Form::of_mark(form.mark()), Some(form));
        }
    }

    #[test]
    fn texts_are_trimmed_and_only_ids_and_platforms_change_case() {
        assert_eq!(Form::Slug.check(" My-Org "), Some("My-Org".to_owned()));
        assert_eq!(Form::IssueId.check("proj-1a"), Some("PROJ-1A".to_owned()));
        assert_eq!(Form::Platform.check("Python"), Some("python".to_owned()));
        assert_eq!(Form::LatestOrHexId.check("LATEST"), Some("latest".to_owned()));
    }
}
