//! The text of a secret: trimmed, and refused where it can only be a mistake.

use crate::error::ConfigError;
use crate::secret::Secret;

/// Trims a secret and refuses what can only be a mistake.
pub(super) fn clean(label: &str, text: &str) -> Result<Secret, ConfigError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() || text.eq_ignore_ascii_case("bearer") {
        return Err(ConfigError::new(
            format!("`{label}` is empty"),
            "set it to the token itself, or leave it out",
        ));
    }
    if let Some(placeholder) = placeholder(text) {
        return Err(ConfigError::new(
            format!("`{label}` holds {placeholder} instead of a value"),
            "the client did not expand it: set the variable in its environment or write the value",
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(ConfigError::new(
            format!("`{label}` holds line breaks or control characters"),
            "copy the value again, as one line",
        ));
    }
    Ok(Secret::new(text))
}

/// Names a placeholder that some client should have replaced. What may be part of a real secret is
/// described, not repeated.
fn placeholder(text: &str) -> Option<String> {
    let text = without_bearer(text);
    let enclosed = |open: &str, close: &str| {
        text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).filter(|it| {
            !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric() || "_-:. ".contains(c))
        })
    };
    let upper_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    if let Some(name) = enclosed("${", "}") {
        return Some(format!("the placeholder `${{{name}}}`"));
    }
    if let Some(name) = text.strip_prefix('$').filter(|name| upper_name(name)) {
        return Some(format!("the placeholder `${name}`"));
    }
    if let Some(name) = enclosed("%", "%").filter(|name| upper_name(name)) {
        return Some(format!("the placeholder `%{name}%`"));
    }
    let described = [
        ("{{", "}}", "a placeholder in `{{ }}`"),
        ("{", "}", "a placeholder in `{ }`"),
        ("<", ">", "a placeholder in `< >`"),
    ];
    let found = described.iter().find(|(open, close, _)| enclosed(open, close).is_some());
    let example = || is_example(text).then_some("the text of an example");
    found.map(|(_, _, what)| *what).or_else(example).map(str::to_owned)
}

/// Whether a text is what instructions write where a token belongs: `your-token-here`, `xxxx`.
fn is_example(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(['-', '_', ' ', '.']).collect();
    let addresses_a_person = words.first().is_some_and(|it| REQUESTS.contains(it))
        || words.last().is_some_and(|it| *it == "here");
    let crossed_out = |it: char| matches!(it, 'x' | '*' | '.' | '-' | '…' | '•');
    text.len() > 2 && text.chars().all(crossed_out)
        || addresses_a_person && words.iter().all(|it| FILLERS.contains(it))
}

/// How such texts begin.
const REQUESTS: &[&str] =
    &["change", "changeme", "enter", "insert", "my", "paste", "put", "replace", "your"];

/// What such texts consist of. A real token would have to hold nothing else.
const FILLERS: &[&str] = &[
    "a",
    "access",
    "an",
    "api",
    "auth",
    "authentik",
    "change",
    "changeme",
    "enter",
    "goes",
    "here",
    "insert",
    "it",
    "key",
    "me",
    "my",
    "password",
    "paste",
    "personal",
    "put",
    "replace",
    "secret",
    "sentry",
    "the",
    "this",
    "token",
    "value",
    "with",
    "your",
];

/// Takes off a scheme that was copied along with the token.
pub(super) fn without_bearer(text: &str) -> &str {
    match text.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer ") => token.trim_start(),
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        clean("API_TOKEN", text).unwrap_err().to_string()
    }

    /// P57.
    #[test]
    fn placeholders_are_named() {
        for (text, named) in [
            ("${SENTRY_AUTH_TOKEN}", "`${SENTRY_AUTH_TOKEN}`"),
            ("${env:TOKEN}", "`${env:TOKEN}`"),
            ("$TOKEN", "`$TOKEN`"),
            ("Bearer $TOKEN", "`$TOKEN`"),
            ("%TOKEN%", "`%TOKEN%`"),
            ("{env:TOKEN}", "`{ }`"),
            ("{{ token }}", "`{{ }}`"),
            ("<your-token>", "`< >`"),
            ("your-token-here", "text of an example"),
            ("Bearer YOUR_API_KEY", "text of an example"),
            ("token_goes_here", "text of an example"),
            ("changeme", "text of an example"),
            ("xxxxxxxx-xxxx", "text of an example"),
            ("…", "text of an example"),
        ] {
            let message = refusal(text);
            assert!(message.contains("API_TOKEN") && message.contains(named), "{text}: {message}");
        }
        for text in ["$2y$10$abcdefghijkl", "<a/b+c=>", "secret-token", "your-9f3a", "my.key.7"] {
            assert!(clean("API_TOKEN", text).is_ok(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_refused_without_repeating_the_secret() {
        for text in ["", "  ", "Bearer ", "sec\nret", "sec\u{0}ret"] {
            let message = refusal(text);
            assert!(message.contains("`API_TOKEN`") && !message.contains("sec\n"), "{message}");
        }
    }
}
