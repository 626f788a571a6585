//! What servers say about how often they may be asked, in the headers they use for it.

use std::time::{Duration, SystemTime};

/// What is left of a rate limit, as the server last told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The origin that counts.
    pub origin: String,
    /// What it counts, where it keeps several budgets and names them.
    pub resource: Option<String>,
    /// Requests in one window.
    pub limit: Option<u64>,
    /// Requests left in this window.
    pub remaining: Option<u64>,
    /// When the window ends, from now.
    pub reset: Option<Duration>,
}

/// What one response says about a budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) resource: Option<String>,
    pub(super) limit: Option<u64>,
    pub(super) remaining: Option<u64>,
    pub(super) reset: Option<Duration>,
}

impl Told {
    /// Reads the headers of a response, looked up by lower-case name.
    pub(super) fn read<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Self {
        let structured =
            header("ratelimit").and_then(|it| Self::structured(it, header("ratelimit-policy")));
        if let Some(told) = structured {
            return told;
        }
        // The server's clock, where it shows it: a moment in its future may be in our past.
        let now = header("date").and_then(|it| httpdate::parse_http_date(it).ok()).unwrap_or(now);
        for prefix in ["x-sentry-rate-limit-", "x-ratelimit-", "x-rate-limit-", "ratelimit-"] {
            let field = |name: &str| header(&format!("{prefix}{name}"));
            let count = |name: &str| leading_number(field(name)?);
            let told = Self {
                resource: field("resource").map(str::to_owned),
                limit: count("limit"),
                remaining: count("remaining"),
                reset: field("reset-after")
                    .and_then(delay)
                    .or_else(|| moment_or_delay(field("reset")?, now)),
            };
            if told.limit.is_some() || told.remaining.is_some() {
                return told;
            }
        }
        Self::default()
    }

    /// Reads `RateLimit: "name";r=5;t=30` and the earlier `RateLimit: limit=10, remaining=5, reset=30`.
    fn structured(text: &str, policy: Option<&str>) -> Option<Self> {
        if text.contains("remaining=") {
            let field = |name: &str| number_after(text, name, ',');
            return Some(Self {
                resource: None,
                limit: field("limit"),
                remaining: field("remaining"),
                reset: field("reset").map(Duration::from_secs),
            });
        }
        let items = text.split(',').filter_map(|item| {
            let remaining = number_after(item, "r", ';')?;
            let reset = number_after(item, "t", ';').map(Duration::from_secs);
            Some((remaining, reset, item.split(';').next().unwrap_or_default().trim()))
        });
        // The window that ends last among those with the least left is the one to wait for.
        let (remaining, reset, name) =
            items.min_by_key(|(remaining, reset, _)| (*remaining, std::cmp::Reverse(*reset)))?;
        let same = |item: &&str| item.split(';').next().is_some_and(|it| it.trim() == name);
        let policy = policy.and_then(|it| it.split(',').find(same));
        let limit = policy.and_then(|it| number_after(it, "q", ';'));
        Some(Self { resource: None, limit, remaining: Some(remaining), reset })
    }
}

/// The number of `name=` among fields separated by `separator`.
fn number_after(text: &str, name: &str, separator: char) -> Option<u64> {
    let fields = text.split(separator).filter_map(|field| field.split_once('='));
    let mut found = fields.filter(|(known, _)| known.trim() == name);
    found.next().and_then(|(_, value)| leading_number(value))
}

/// The number a text begins with: `100, 100;w=60` says more than the limit.
fn leading_number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text.get(..digits)?.parse().ok()
}

/// Seconds from now, perhaps with a fraction.
fn delay(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// Seconds from now, or since 1970 where the number is too large for that, or milliseconds since 1970.
fn moment_or_delay(text: &str, now: SystemTime) -> Option<Duration> {
    const SECONDS_SINCE_1970: f64 = 1e9;
    const MILLISECONDS_SINCE_1970: f64 = 1e12;
    let number: f64 = text.trim().parse().ok()?;
    let since_1970 = match number {
        it if it < SECONDS_SINCE_1970 => return delay(text),
        it if it < MILLISECONDS_SINCE_1970 => it,
        it => it / 1000.0,
    };
    let moment =
        SystemTime::UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(since_1970).ok()?)?;
    Some(moment.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(
        headers: &[(&str, &'static str)],
    ) -> (Option<u64>, Option<u64>, Option<u64>, Option<String>) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_959_200);
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|it| it.1);
        let Told { resource, limit, remaining, reset } = Told::read(header, now);
        (limit, remaining, reset.map(|it| it.as_secs()), resource)
    }

    #[test]
    fn every_dialect_of_rate_limit_headers_is_understood() {
        let table: [(&[(&str, &'static str)], _); 10] = [
            (
                &[
                    ("ratelimit", "\"default\";r=50;t=30"),
                    ("ratelimit-policy", "\"default\";q=100;w=60"),
                ],
                (Some(100), Some(50), Some(30), None),
            ),
            (
                &[
                    ("ratelimit", "\"burst\";r=0;t=2, \"day\";r=0;t=90, \"hour\";r=7;t=9"),
                    ("ratelimit-policy", "\"burst\";q=10;w=1, \"day\";q=1000;w=86400"),
                ],
                (Some(1000), Some(0), Some(90), None),
            ),
            (
                &[("ratelimit", "limit=100, remaining=5, reset=9")],
                (Some(100), Some(5), Some(9), None),
            ),
            (
                &[
                    ("ratelimit-limit", "100, 100;w=60"),
                    ("ratelimit-remaining", "0"),
                    ("ratelimit-reset", "50"),
                ],
                (Some(100), Some(0), Some(50), None),
            ),
            (
                &[
                    ("x-ratelimit-limit", "5000"),
                    ("x-ratelimit-remaining", "4999"),
                    ("x-ratelimit-reset", "1793959260"),
                    ("x-ratelimit-resource", "core"),
                ],
                (Some(5000), Some(4999), Some(60), Some("core".to_owned())),
            ),
            (
                &[
                    ("x-sentry-rate-limit-limit", "40"),
                    ("x-sentry-rate-limit-remaining", "39"),
                    ("x-sentry-rate-limit-reset", "1793959201"),
                ],
                (Some(40), Some(39), Some(1), None),
            ),
            // The server's clock is two minutes ahead.
            (
                &[
                    ("date", "Fri, 06 Nov 2026 10:02:00 GMT"),
                    ("x-ratelimit-remaining", "0"),
                    ("x-ratelimit-reset", "1793959330"),
                ],
                (None, Some(0), Some(10), None),
            ),
            (
                &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset-after", "1.5")],
                (None, Some(0), Some(1), None),
            ),
            (
                &[("x-rate-limit-limit", "9"), ("x-rate-limit-reset", "1793959205000")],
                (Some(9), None, Some(5), None),
            ),
            (
                &[("ratelimit", "soon"), ("x-ratelimit-limit", "-1"), ("x-ratelimit-reset", "NaN")],
                (None, None, None, None),
            ),
        ];
        for (headers, expected) in table {
            assert_eq!(told(headers), expected, "{headers:?}");
        }
    }
}
