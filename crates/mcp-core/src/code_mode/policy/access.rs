//! What the operator granted: read-only, allow and deny patterns.

use std::str::FromStr;

use crate::openapi::Summary;

use super::Effect;

/// What the operator granted; the default grants everything the credential can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// No writing operation at all, and no `execute_write`.
    pub read_only: bool,
    /// When not empty: only what one of these matches.
    pub allow: Vec<Pattern>,
    /// Never what one of these matches; wins over `allow`.
    pub deny: Vec<Pattern>,
}

impl Access {
    /// Why the operation may not be used, if so.
    pub fn refuses(&self, operation: &Summary, effect: Effect) -> Option<String> {
        if self.read_only && effect == Effect::Write {
            return Some("this server is read-only".to_owned());
        }
        if let Some(pattern) = self.deny.iter().find(|it| it.matches(operation)) {
            return Some(format!("the operator denies `{pattern}`"));
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|it| it.matches(operation)) {
            return Some("the operator allows only other operations".to_owned());
        }
        None
    }
}

/// A set of operations: an operationId, a tag, or `METHOD /glob`; `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Operations whose id or one of whose tags matches.
    Name(String),
    /// Operations whose template matches, of one method or all.
    Route {
        /// Upper case; `None` for any.
        method: Option<String>,
        /// The template, with `*`.
        path: String,
    },
}

impl Pattern {
    /// Whether the operation belongs to the set.
    pub fn matches(&self, operation: &Summary) -> bool {
        match self {
            Self::Name(name) => {
                glob(name, &operation.id) || operation.tags.iter().any(|tag| glob(name, tag))
            }
            Self::Route { method, path } => {
                method.as_deref().is_none_or(|it| it == operation.method.as_str())
                    && glob(path.trim_end_matches('/'), operation.path.trim_end_matches('/'))
            }
        }
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Route { method: Some(method), path } => write!(f, "{method} {path}"),
            Self::Route { method: None, path } => f.write_str(path),
        }
    }
}

/// A pattern that can never match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a pattern; use an operationId, a tag, or `METHOD /path/*`")]
pub struct BadPattern(String);

const METHODS: [&str; 8] = ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE"];

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let text = text.trim();
        let bad = || BadPattern(text.to_owned());
        if let Some((method, path)) = text.split_once(char::is_whitespace)
            && path.trim_start().starts_with('/')
        {
            let method = method.to_ascii_uppercase();
            let path = path.trim().to_owned();
            return match method.as_str() {
                "*" => Ok(Self::Route { method: None, path }),
                known if METHODS.contains(&known) => Ok(Self::Route { method: Some(method), path }),
                _ => Err(bad()),
            };
        }
        match text.chars().next() {
            None => Err(bad()),
            Some('/') => Ok(Self::Route { method: None, path: text.to_owned() }),
            Some(_) => Ok(Self::Name(text.to_owned())),
        }
    }
}

/// Whether `text` matches `pattern`, where `*` stands for any run of characters, slashes too.
/// Letters match in either case: a deny rule must not miss for a capital.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let text = text.to_lowercase();
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_texts() {
        let table = [
            ("core_users_list", "core_users_list", true),
            ("core_users_*", "core_users_list", true),
            ("*_destroy", "core_users_destroy", true),
            ("*", "anything", true),
            ("/core/*", "/core/users/{id}", true),
            ("/core/*/x", "/core/users/x", true),
            ("a*a", "a", false),
            ("core_users", "core_users_list", false),
            ("Core_Users_List", "core_users_list", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(glob(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn patterns_read_as_they_print() {
        for text in ["core_users_list", "GET /core/*", "/core/users/"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        assert_eq!(
            "delete /x".parse(),
            Ok(Pattern::Route { method: Some("DELETE".to_owned()), path: "/x".to_owned() })
        );
        assert!("FETCH /x".parse::<Pattern>().is_err());
        assert!("".parse::<Pattern>().is_err());
    }
}
