//! Any other API: the operator names it and says where its document is.

use super::{Example, Kind, Profile, Trust};
use crate::openapi::source::DocumentLocation;

/// The longest name for an API, in characters.
const MAX_NAME: usize = 20;

/// Names that scripts already use for something else.
const TAKEN: &[&str] = &[
    "arguments",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "codemode",
    "console",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "fetch",
    "files",
    "finally",
    "for",
    "function",
    "globalthis",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "process",
    "protected",
    "public",
    "require",
    "return",
    "sleep",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "tools",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// The name of an API cannot be used inside scripts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name an API in scripts; use a letter, then letters, digits or underscores, \
     at most {MAX_NAME}, and no word of JavaScript"
)]
pub struct InvalidName(pub String);

impl Profile {
    /// Returns a profile for an API with this document, called `name` in scripts (`api` without).
    ///
    /// # Errors
    ///
    /// [`InvalidName`] when the name is not usable as an identifier.
    pub fn custom(name: Option<&str>, document: DocumentLocation) -> Result<Self, InvalidName> {
        let binding = name.unwrap_or("api");
        check_name(binding)?;
        Ok(Self {
            kind: Kind::Custom,
            title: name.unwrap_or("the API").to_owned(),
            server_name: name.unwrap_or("openapi-code-mode").to_owned(),
            binding: binding.to_owned(),
            default_base: None,
            base_path: None,
            pasted_paths: &[],
            document,
            credential_setting: None,
            server_variables: &[],
            reads: Vec::new(),
            trust: Trust::Unknown,
            untrusted: Vec::new(),
            either_spelling: false,
            public_hosts: &[],
            regions: None,
            example: Example {
                code: format!(
                    "const {{ items }} = await {binding}.paginate(\"/projects\", {{ query: {{ state: \"open\" }} }});\n\
                     return items.map((project) => project.name);"
                ),
            },
        })
    }
}

/// Checks that scripts can call an API by this name.
pub(super) fn check_name(name: &str) -> Result<(), InvalidName> {
    let mut letters = name.chars();
    let is_usable = name.len() <= MAX_NAME
        && letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !TAKEN.contains(&name.to_ascii_lowercase().as_str());
    if is_usable { Ok(()) } else { Err(InvalidName(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_the_binding_and_the_servers_name() {
        let document = DocumentLocation::parse("openapi.yaml").unwrap();
        let profile = Profile::custom(Some("gitea"), document.clone()).unwrap();
        assert_eq!((profile.binding.as_str(), profile.server_name.as_str()), ("gitea", "gitea"));
        assert!(profile.example.code.contains("gitea.paginate("));
        let unnamed = Profile::custom(None, document).unwrap();
        assert_eq!(unnamed.binding, "api");
        assert_eq!(unnamed.server_name, "openapi-code-mode");
    }

    #[test]
    fn a_name_that_is_no_identifier_is_refused_by_name() {
        let document = DocumentLocation::parse("openapi.yaml").unwrap();
        for name in ["", "my-api", "1st", "await", "Console", "a b", "größe", &"x".repeat(21)] {
            let error = Profile::custom(Some(name), document.clone()).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{name}` cannot name an API")));
        }
    }
}
