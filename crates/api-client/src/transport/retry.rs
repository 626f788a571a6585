//! When a failed read is tried again, and after how long.

use std::time::{Duration, Instant, SystemTime};

use super::Response;
use crate::error::{Error, Progress};

/// How often a request is sent at most.
pub(super) const ATTEMPTS: u32 = 3;

/// A longer `Retry-After` is for the caller to decide on.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The first pause; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Returns the pause before the next attempt, or `None` if there is to be none.
pub(super) fn pause(
    attempt: u32,
    outcome: &Result<Response, Error>,
    deadline: Instant,
) -> Option<Duration> {
    let asked = match outcome {
        Ok(response) if response.status == 503 || response.is_rate_limited() => {
            response.retry_after()
        }
        Err(error) if error.is_connection_failure() => None,
        Ok(_) | Err(_) => return None,
    };
    if attempt + 1 >= ATTEMPTS || asked.is_some_and(|wait| wait > LONGEST_WAIT) {
        return None;
    }
    let backoff = FIRST_PAUSE * 2u32.pow(attempt);
    let pause = asked.unwrap_or_default().max(backoff) + jitter(backoff);
    (Instant::now() + pause < deadline).then_some(pause)
}

/// Whether a write was turned away before anything of it was sent.
pub(super) fn never_sent(outcome: &Result<Response, Error>) -> bool {
    outcome.as_ref().is_err_and(|error| error.progress() == Progress::NotSent)
}

/// Reads `Retry-After`: seconds or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// A random part of `most`, so that callers turned away together do not come back together.
pub(super) fn jitter(most: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or_default();
    most.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Fri, 06 Nov 2026 10:00:00 GMT").unwrap();
        let seconds = |text| retry_after(text, now).map(|it| it.as_secs_f64());
        assert_eq!(seconds("2"), Some(2.0));
        assert_eq!(seconds(" 0.5 "), Some(0.5));
        assert_eq!(seconds("Fri, 06 Nov 2026 10:01:30 GMT"), Some(90.0));
        assert_eq!(seconds("Fri, 06 Nov 2026 09:00:00 GMT"), Some(0.0));
        for text in ["", "soon", "-1", "NaN", "inf", "1e300"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
