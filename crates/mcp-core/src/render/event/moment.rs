//! Moments in whichever way SDKs and servers write them.

use api_client::sentry::time::epoch;
use serde_json::Value;

/// Milliseconds since 1970: of a number of seconds, or of an ISO date with a time.
pub(crate) fn moment_of(value: &Value) -> Option<f64> {
    let milliseconds = match value {
        Value::Number(seconds) => seconds.as_f64()? * 1_000.0,
        Value::String(text) => {
            let whole = epoch(text)? as f64 * 1_000.0;
            whole + fraction(text)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    milliseconds.is_finite().then_some(milliseconds)
}

/// What stands after the seconds, in milliseconds.
fn fraction(text: &str) -> f64 {
    let Some((_, after)) = text.split_once('.') else { return 0.0 };
    let digits = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
    let digits = after.get(..digits.min(9)).unwrap_or_default();
    format!("0.{digits}").parse::<f64>().unwrap_or(0.0) * 1_000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_ways_of_writing_a_moment_are_read() {
        for (value, expected) in [
            (json!(1.5), Some(1_500.0)),
            (json!("1970-01-01T00:00:01.25Z"), Some(1_250.0)),
            (json!("1970-01-01T00:00:01.250000+00:00"), Some(1_250.0)),
            (json!("1970-01-01T00:00:01"), Some(1_000.0)),
            (json!("soon"), None),
            (json!(null), None),
            (json!([1]), None),
        ] {
            assert_eq!(moment_of(&value), expected, "{value}");
        }
    }
}
