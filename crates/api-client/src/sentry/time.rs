//! Which time a list covers, as Sentry's parameters `statsPeriod` or `start` and `end` say it.

use std::time::{SystemTime, UNIX_EPOCH};

use super::call::Call;

/// A stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeRange {
    /// The last hours, days or weeks, as in `24h`.
    Last(String),
    /// From one moment to another, in RFC 3339.
    Between {
        /// The first moment.
        start: String,
        /// The last moment.
        end: String,
    },
}

/// Why a stretch of time is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeRangeError {
    /// One end is missing.
    #[error("`start` and `end` must be given together")]
    Half,
    /// Both ways at once.
    #[error("give either `period` or `start` and `end`, not both")]
    Both,
    /// The period has another form.
    #[error("`period` must be a number and `h`, `d` or `w`, as in `24h` or `7d`")]
    Period,
    /// A moment has another form.
    #[error("`start` and `end` must be dates with a time, as in `2026-05-04T09:30:00Z`")]
    Moment,
    /// The order is wrong.
    #[error("`start` must lie before `end`")]
    Order,
}

impl TimeRange {
    /// Puts a range together from what a caller gave, or from `default`.
    ///
    /// # Errors
    /// Half a range, two at once, or one of another form.
    pub fn of(
        period: Option<&str>,
        start: Option<&str>,
        end: Option<&str>,
        default: &str,
    ) -> Result<Self, TimeRangeError> {
        match (period, start, end) {
            (None, None, None) => Ok(Self::Last(default.to_owned())),
            (Some(period), None, None) => {
                seconds(period).ok_or(TimeRangeError::Period)?;
                Ok(Self::Last(period.to_owned()))
            }
            (None, Some(start), Some(end)) => {
                let moments = epoch(start).zip(epoch(end)).ok_or(TimeRangeError::Moment)?;
                if moments.0 >= moments.1 {
                    return Err(TimeRangeError::Order);
                }
                Ok(Self::Between { start: start.to_owned(), end: end.to_owned() })
            }
            (Some(_), _, _) => Err(TimeRangeError::Both),
            (None, _, _) => Err(TimeRangeError::Half),
        }
    }

    /// The first and the last second since 1970.
    #[must_use]
    pub fn seconds(&self, now: SystemTime) -> (i64, i64) {
        match self {
            Self::Last(period) => {
                let now = now.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
                let now = i64::try_from(now).unwrap_or(i64::MAX);
                (now.saturating_sub(seconds(period).unwrap_or(0)), now)
            }
            Self::Between { start, end } => (epoch(start).unwrap_or(0), epoch(end).unwrap_or(0)),
        }
    }

    pub(super) fn apply<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Last(period) => call.query("statsPeriod", period.as_str()),
            Self::Between { start, end } => {
                call.query("start", start.as_str()).query("end", end.as_str())
            }
        }
    }
}

/// From the first of March of the year 0 to 1970.
const DAYS_FROM_MARCH_0000: i64 = 719_468;

/// Writes a second since 1970 as RFC 3339 in UTC.
#[must_use]
pub fn moment(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March end with the leap day; 400 of them are always 146,097 days.
    let since = day + DAYS_FROM_MARCH_0000;
    let (era, day) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The length of a period such as `24h`.
fn seconds(period: &str) -> Option<i64> {
    let (unit, length) = match period.strip_suffix(['h', 'd', 'w']) {
        Some(number) => (period.get(number.len()..)?, number),
        None => return None,
    };
    let unit = match unit {
        "h" => 3_600,
        "d" => 86_400,
        _ => 604_800,
    };
    let plain = length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length.parse::<i64>().ok().filter(|length| plain && *length > 0)?;
    length.checked_mul(unit)
}

/// Reads `2026-05-04T09:30[:00[.5]][Z|+01:00]` as seconds since 1970; without an offset it is UTC.
#[must_use]
pub fn epoch(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (clock, offset) = split_offset(rest)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let [hour, minute, second] = match clock.len() {
        5 => numbers(&format!("{clock}:00"), ':', [2, 2, 2])?,
        _ => numbers(clock, ':', [2, 2, 2])?,
    };
    let valid = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    valid.then_some(seconds - offset)
}

fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, 0)) };
    let (clock, offset) = text.split_at_checked(at)?;
    let [hours, minutes] = numbers(offset.get(1..)?, ':', [2, 2])?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    (hours < 24 && minutes < 60).then_some((clock, sign * (hours * 3_600 + minutes * 60)))
}

/// Reads numbers of exactly these lengths.
fn numbers<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut parts = text.split(separator);
    for (into, length) in found.iter_mut().zip(lengths) {
        let part = parts.next()?;
        let plain = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        *into = part.parse().ok().filter(|_| plain)?;
    }
    parts.next().is_none().then_some(found)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let past = year - 1;
    let leaps = past / 4 - past / 100 + past / 400;
    let months: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    365 * past + leaps + months + day - 719_163
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_read_with_and_without_an_offset() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-05-04T09:00:00Z", 1_777_885_200),
            ("2026-05-04T10:00+01:00", 1_777_885_200),
            ("2026-05-04 09:00:00.123456", 1_777_885_200),
            ("2024-02-29T23:59:59-00:30", 1_709_252_999),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(epoch(text), Some(expected), "{text}");
        }
        for text in [
            "2026-05-04",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-05-04T24:00:00Z",
            "now",
            "2026-05-04T09:00:00.Z",
            "26-05-04T09:00:00Z",
            "2026-05-04T09:00:00+1",
            "T",
            "",
        ] {
            assert_eq!(epoch(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_is_a_period_or_two_moments_in_order() {
        let (early, late) = ("2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
        let of = |period, start, end| TimeRange::of(period, start, end, "24h");
        assert_eq!(of(None, None, None), Ok(TimeRange::Last("24h".to_owned())));
        assert_eq!(of(Some("2w"), None, None), Ok(TimeRange::Last("2w".to_owned())));
        let between = TimeRange::Between { start: early.to_owned(), end: late.to_owned() };
        assert_eq!(of(None, Some(early), Some(late)), Ok(between));
        assert_eq!(of(None, Some(early), None), Err(TimeRangeError::Half));
        assert_eq!(of(Some("1h"), Some(early), Some(late)), Err(TimeRangeError::Both));
        assert_eq!(of(None, Some(late), Some(early)), Err(TimeRangeError::Order));
        assert_eq!(of(None, Some("monday"), Some(late)), Err(TimeRangeError::Moment));
        for period in ["", "h", "24", "24m", "-1h", "1.5h", "0d", "é", "99999999999999999999w"] {
            assert_eq!(of(Some(period), None, None), Err(TimeRangeError::Period), "{period}");
        }
    }

    #[test]
    fn moments_are_written_as_they_are_read() {
        for text in [
            "1970-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2000-02-29T12:34:56Z",
            "2024-12-31T23:59:59Z",
            "2026-05-04T09:00:00Z",
            "2100-03-01T00:00:00Z",
        ] {
            assert_eq!(epoch(text).map(moment).as_deref(), Some(text));
        }
        assert_eq!(moment(i64::from(i32::MAX)), "2038-01-19T03:14:07Z");
        assert_eq!(moment(i64::MAX), "292277026596-12-04T15:30:07Z");
        assert_eq!(moment(-62_167_219_200), "0000-01-01T00:00:00Z");
        for day in (-719_000..900_000).step_by(97) {
            let seconds = day * 86_400 + 86_399;
            assert_eq!(epoch(&moment(seconds)), Some(seconds));
        }
    }

    #[test]
    fn a_range_has_its_seconds() {
        let now = UNIX_EPOCH + Duration::from_secs(1_777_885_200);
        let last = TimeRange::Last("2h".to_owned());
        assert_eq!(last.seconds(now), (1_777_878_000, 1_777_885_200));
    }
}
