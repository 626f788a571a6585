//! How the developers of each language read a stack: the form of a frame, its order, the words
//! between an exception and its cause.

use super::frame::Frame;
use super::sheet::shorten;

/// The most characters of a name in a frame.
const LONGEST_NAME: usize = 200;

/// A language, as far as stacks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    CSharp,
    Go,
    Java,
    JavaScript,
    Php,
    Python,
    Ruby,
    Rust,
    /// Everything else.
    Other,
}

impl Language {
    /// The language of a frame: by its file, by the shape of its module, by the event's platform.
    pub(crate) fn of(frame: Frame<'_>, platform: Option<&str>) -> Self {
        frame
            .file()
            .and_then(Self::of_file)
            .or_else(|| frame.platform().and_then(Self::of_platform))
            .or_else(|| frame.module().and_then(|it| Self::of_module(it, platform)))
            .or_else(|| platform.and_then(Self::of_platform))
            .unwrap_or(Self::Other)
    }

    fn of_file(file: &str) -> Option<Self> {
        let file = file.split(['?', '#']).next().unwrap_or_default();
        Some(match file.rsplit_once('.')?.1 {
            "cs" | "fs" | "vb" => Self::CSharp,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Java,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "vue" | "svelte" => Self::JavaScript,
            "php" => Self::Php,
            "py" | "pyx" => Self::Python,
            "rb" => Self::Ruby,
            "rs" => Self::Rust,
            _ => return None,
        })
    }

    /// `a::b` is Rust; `com.acme.Shop` is Java, where the platform does not say otherwise.
    fn of_module(module: &str, platform: Option<&str>) -> Option<Self> {
        if module.contains("::") {
            return Some(Self::Rust);
        }
        let (package, class) = module.rsplit_once('.')?;
        let is_class = class.starts_with(|it: char| it.is_ascii_uppercase());
        let is_package = package.starts_with(|it: char| it.is_ascii_lowercase());
        (is_class && is_package && platform.and_then(Self::of_platform).is_none())
            .then_some(Self::Java)
    }

    /// The language of a platform's name.
    pub(crate) fn of_platform(platform: &str) -> Option<Self> {
        Some(match platform.split('-').next()? {
            "csharp" | "dotnet" => Self::CSharp,
            "go" => Self::Go,
            "java" | "kotlin" | "android" => Self::Java,
            "javascript" | "node" | "react" => Self::JavaScript,
            "php" => Self::Php,
            "python" => Self::Python,
            "ruby" => Self::Ruby,
            "rust" => Self::Rust,
            _ => return None,
        })
    }

    /// Whether the newest frame stands last.
    pub(crate) fn is_newest_last(self) -> bool {
        self == Self::Python
    }

    /// What stands between an exception and the one that led to it.
    pub(crate) fn caused_by(self) -> &'static str {
        match self {
            Self::CSharp => "---> inner exception:",
            Self::Go => "wrapped error:",
            Self::Php => "Previous exception:",
            Self::Python => "which was raised from:",
            Self::Java | Self::JavaScript | Self::Ruby | Self::Rust | Self::Other => "Caused by:",
        }
    }

    /// A frame on one line, or on two where the language's own tools do so.
    pub(crate) fn header(self, frame: Frame<'_>) -> String {
        let name = |it: &str| shorten(it, LONGEST_NAME);
        let function = frame.function().map(name);
        let module = frame.module().map(name);
        let file = frame.file().map(name);
        let line = frame.line().map(|it| format!(":{it}")).unwrap_or_default();
        let place = match &file {
            Some(file) => format!("{file}{line}"),
            None => frame
                .package()
                .or_else(|| frame.address())
                .or_else(|| frame.module())
                .map_or_else(|| "unknown".to_owned(), name),
        };
        let called = function.clone().unwrap_or_else(|| "<unknown>".to_owned());
        match self {
            Self::Java => {
                let of = module.map(|it| format!("{it}.")).unwrap_or_default();
                format!("at {of}{called}({place})")
            }
            Self::Python => {
                let file = file.or(module).unwrap_or_else(|| "<unknown>".to_owned());
                let line = frame.line().map(|it| format!(", line {it}")).unwrap_or_default();
                format!("File \"{file}\"{line}, in {called}")
            }
            Self::JavaScript => {
                let column = frame.column().map(|it| format!(":{it}")).unwrap_or_default();
                match function {
                    Some(function) => format!("{place}{column} ({function})"),
                    None => format!("{place}{column}"),
                }
            }
            Self::Ruby => format!("from {place}:in `{called}`"),
            Self::Php => {
                let line = frame.line().map(|it| format!("({it})")).unwrap_or_default();
                let file = file.unwrap_or_else(|| "[internal]".to_owned());
                format!("{file}{line}: {called}()")
            }
            Self::Go => format!("{called}(...)\n    {place}"),
            Self::Rust => format!("{called}\n    at {place}"),
            Self::CSharp => {
                let of = module.filter(|it| !called.starts_with(it.as_str()));
                let of = of.map(|it| format!("{it}.")).unwrap_or_default();
                let within = match (&file, frame.line()) {
                    (Some(file), Some(line)) => format!(" in {file}:line {line}"),
                    (Some(file), None) => format!(" in {file}"),
                    (None, _) => String::new(),
                };
                format!("at {of}{called}(){within}")
            }
            Self::Other => {
                let column = frame.column().map(|it| format!(":{it}")).unwrap_or_default();
                format!("at {called} ({place}{column})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::frame::Stack;
    use super::*;

    fn header(frame: Value, platform: &str) -> String {
        let holder = json!({"stacktrace": {"frames": [frame]}});
        let frame = Stack::of(&holder).unwrap().frames[0];
        Language::of(frame, Some(platform)).header(frame)
    }

    #[test]
    fn a_frame_reads_as_in_the_languages_own_traces() {
        let frame = |file: &str, module: Value, function: &str| json!({"filename": file, "module": module, "function": function, "lineNo": 7, "colNo": 3});
        for (frame, platform, expected) in [
            (
                frame("Shop.java", json!("com.acme.Shop"), "pay"),
                "java",
                "at com.acme.Shop.pay(Shop.java:7)",
            ),
            (
                frame("shop/pay.py", json!("shop.pay"), "pay"),
                "python",
                "File \"shop/pay.py\", line 7, in pay",
            ),
            (frame("./src/pay.ts", json!(null), "pay"), "node", "./src/pay.ts:7:3 (pay)"),
            (frame("app/pay.rb", json!(null), "pay"), "ruby", "from app/pay.rb:7:in `pay`"),
            (
                frame("/src/Pay.php", json!(null), "App\\Pay::run"),
                "php",
                "/src/Pay.php(7): App\\Pay::run()",
            ),
            (frame("pay.go", json!("main"), "main.pay"), "go", "main.pay(...)\n    pay.go:7"),
            (
                frame("src/pay.rs", json!("shop"), "shop::pay"),
                "native",
                "shop::pay\n    at src/pay.rs:7",
            ),
            (
                frame("Pay.cs", json!("Acme.Shop"), "Pay"),
                "csharp",
                "at Acme.Shop.Pay() in Pay.cs:line 7",
            ),
            (frame("pay.c", json!(null), "pay"), "native", "at pay (pay.c:7:3)"),
        ] {
            assert_eq!(header(frame, platform), expected, "{platform}");
        }
    }

    #[test]
    fn a_frame_of_nothing_still_has_a_line() {
        for platform in ["java", "python", "javascript", "ruby", "php", "go", "rust", "csharp", "x"]
        {
            assert!(!header(json!({}), platform).trim().is_empty(), "{platform}");
        }
        assert_eq!(header(json!({"instructionAddr": "0x1f"}), "native"), "at <unknown> (0x1f)");
    }

    #[test]
    fn the_language_is_that_of_the_file_before_that_of_the_platform() {
        let lonely = json!({"module": "com.acme.Shop", "function": "pay"});
        assert_eq!(header(lonely, "other"), "at com.acme.Shop.pay(com.acme.Shop)");
        let mixed = json!({"filename": "a.js?v=1", "function": "f"});
        assert_eq!(header(mixed, "python"), "a.js?v=1 (f)");
    }
}
