//! Instants to the microsecond, read and printed as RFC 3339 in UTC.

use std::fmt;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    /// 2026-05-04T09:00:00Z: where the clock of every mock starts.
    pub(crate) const START: Self = Self(1_777_885_200 * MICROS);

    pub(crate) fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(MICROS)))
    }

    pub(crate) fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Whole seconds since 1970.
    pub(crate) fn unix_seconds(self) -> i64 {
        self.0.div_euclid(MICROS)
    }

    /// Reads `2026-05-04T10:30[:00[.123456]][Z|+01:00]`; without an offset it is UTC.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_once(['T', 't', ' '])?;
        let (year, month, day) = three(date, '-')?;
        let (clock, offset) = split_offset(rest)?;
        let (whole, micros) = match clock.split_once('.') {
            Some((whole, fraction)) => (whole, micros(fraction)?),
            None => (clock, 0),
        };
        let (hour, minute, second) = match whole.matches(':').count() {
            1 => three(&format!("{whole}:00"), ':')?,
            _ => three(whole, ':')?,
        };
        let valid = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset;
        valid.then_some(Self(seconds * MICROS + micros))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MICROS);
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.0.rem_euclid(MICROS) {
            0 => write!(f, "Z"),
            micros => write!(f, ".{micros:06}Z"),
        }
    }
}

fn three(text: &str, separator: char) -> Option<(i64, i64, i64)> {
    let mut parts = text.split(separator).map(digits);
    let three = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(three)
}

fn digits(text: &str) -> Option<i64> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn micros(fraction: &str) -> Option<i64> {
    let plain = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let padded: String = fraction.chars().chain("000000".chars()).take(6).collect();
    if plain { padded.parse().ok() } else { None }
}

fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = text.find(['+', '-']) else { return Some((text, 0)) };
    let (clock, offset) = text.split_at_checked(at)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours < 24 && minutes < 60).then_some((clock, sign * (hours * 3600 + minutes * 60)))
}

/// Days before 1 January of a year, counted from year 0 of the proleptic Gregorian calendar.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    365 * year + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let months: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    days_before_year(year) - days_before_year(1970) + months + day - 1
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn civil(days_since_1970: i64) -> (i64, i64, i64) {
    let absolute = days_since_1970 + days_before_year(1970);
    let mut year = absolute.div_euclid(366);
    while days_before_year(year + 1) <= absolute {
        year += 1;
    }
    let mut day = absolute - days_before_year(year);
    let mut month = 1;
    while day >= days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Option<String> {
        Timestamp::parse(text).map(|at| at.to_string())
    }

    #[test]
    fn offsets_and_fractions_become_utc() {
        assert_eq!(Timestamp::START.to_string(), "2026-05-04T09:00:00Z");
        assert_eq!(printed("2026-05-04T10:30:00+01:00").unwrap(), "2026-05-04T09:30:00Z");
        assert_eq!(printed("2026-05-04T00:10-02:00").unwrap(), "2026-05-04T02:10:00Z");
        assert_eq!(printed("2024-02-29 23:59:59.5").unwrap(), "2024-02-29T23:59:59.500000Z");
        assert_eq!(printed("2024-06-20T14:38:03.498574Z").unwrap(), "2024-06-20T14:38:03.498574Z");
        assert_eq!(printed("1969-12-31T23:59:59Z").unwrap(), "1969-12-31T23:59:59Z");
        assert_eq!(printed("2000-12-31T00:00:00Z").unwrap(), "2000-12-31T00:00:00Z");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "é T",
            "2026-05-04",
            "2026-13-01T00:00Z",
            "2026-02-29T00:00Z",
            "2026-05-04T24:00Z",
            "2026-05-04T10:00+1",
        ] {
            assert_eq!(printed(text), None, "{text}");
        }
    }
}
