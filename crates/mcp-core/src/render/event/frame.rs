//! Stack frames as SDKs send them, read leniently: every field may be missing or something else.

use serde_json::{Map, Value};

use super::sheet::{items, number, text};

/// One frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'e>(&'e Value);

impl<'e> Frame<'e> {
    /// The file as the SDK shortened it, or as it was on the machine.
    pub(crate) fn file(self) -> Option<&'e str> {
        text(self.0, "filename").or_else(|| text(self.0, "absPath"))
    }

    /// The file on the machine.
    pub(crate) fn abs_path(self) -> Option<&'e str> {
        text(self.0, "absPath")
    }

    /// The module, package or class.
    pub(crate) fn module(self) -> Option<&'e str> {
        text(self.0, "module")
    }

    /// The library file.
    pub(crate) fn package(self) -> Option<&'e str> {
        text(self.0, "package")
    }

    /// The function.
    pub(crate) fn function(self) -> Option<&'e str> {
        text(self.0, "function").or_else(|| text(self.0, "rawFunction"))
    }

    /// The line.
    pub(crate) fn line(self) -> Option<u64> {
        number(self.0, "lineNo")
    }

    /// The column.
    pub(crate) fn column(self) -> Option<u64> {
        number(self.0, "colNo")
    }

    /// Where in memory, for frames without symbols.
    pub(crate) fn address(self) -> Option<&'e str> {
        text(self.0, "instructionAddr")
    }

    /// The platform, where it differs from the event's.
    pub(crate) fn platform(self) -> Option<&'e str> {
        text(self.0, "platform")
    }

    /// Whether it is the app's own code.
    pub(crate) fn is_in_app(self) -> bool {
        self.0.get("inApp").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Lines of code around it, with their numbers.
    pub(crate) fn code(self) -> impl Iterator<Item = (u64, &'e str)> {
        items(self.0, "context").iter().filter_map(|row| {
            let row = row.as_array()?;
            Some((row.first()?.as_u64()?, row.get(1)?.as_str()?))
        })
    }

    /// The values of its variables.
    pub(crate) fn variables(self) -> Option<&'e Map<String, Value>> {
        self.0.get("vars").and_then(Value::as_object).filter(|it| !it.is_empty())
    }

    /// The source on the web, where the SDK or Sentry knows it.
    pub(crate) fn source_link(self) -> Option<&'e str> {
        text(self.0, "sourceLink")
    }
}

/// A stack: its frames, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Stack<'e> {
    /// The frames, oldest first.
    pub(crate) frames: Vec<Frame<'e>>,
    /// How many frames Sentry left out.
    pub(crate) omitted: Option<u64>,
}

impl<'e> Stack<'e> {
    /// The stack of an exception or a thread, if it has frames.
    pub(crate) fn of(holder: &'e Value) -> Option<Self> {
        let stacks = ["stacktrace", "rawStacktrace"].into_iter().filter_map(|it| holder.get(it));
        stacks.map(Self::read).find(|it| !it.frames.is_empty())
    }

    fn read(value: &'e Value) -> Self {
        let frames = items(value, "frames").iter().filter(|it| it.is_object()).map(Frame).collect();
        let omitted = match items(value, "framesOmitted") {
            [from, to] => from.as_u64().zip(to.as_u64()).map(|(from, to)| to.saturating_sub(from)),
            _ => None,
        };
        Self { frames, omitted: omitted.filter(|it| *it > 0) }
    }

    /// The frame to look at first: the newest one of the app's own with code or variables, else the
    /// newest of the app, else the newest with code.
    pub(crate) fn relevant(&self) -> Option<Frame<'e>> {
        let has_code = |it: Frame<'_>| it.code().next().is_some();
        let newest = || self.frames.iter().rev().copied();
        newest()
            .find(|it| it.is_in_app() && (has_code(*it) || it.variables().is_some()))
            .or_else(|| newest().find(|it| it.is_in_app()))
            .or_else(|| newest().find(|it| has_code(*it)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_stack_keeps_what_can_be_read() {
        let holder = json!({
            "stacktrace": {"frames": "none"},
            "rawStacktrace": {
                "frames": [{"filename": "", "absPath": "/a.py", "lineNo": "7", "inApp": 1}, 3, null],
                "framesOmitted": [4, 9]
            }
        });
        let stack = Stack::of(&holder).unwrap();
        assert_eq!((stack.frames.len(), stack.omitted), (1, Some(5)));
        let frame = stack.frames[0];
        assert_eq!(
            (frame.file(), frame.line(), frame.is_in_app()),
            (Some("/a.py"), Some(7), false)
        );
        assert!(Stack::of(&json!({"stacktrace": null})).is_none());
    }

    #[test]
    fn the_newest_frame_of_the_app_with_code_is_looked_at_first() {
        let frames = json!({"stacktrace": {"frames": [
            {"function": "old", "inApp": true, "context": [[1, "x"]]},
            {"function": "new", "inApp": true, "context": [[1, "x"], ["?", 2]]},
            {"function": "bare", "inApp": true},
            {"function": "library", "context": [[1, "x"]]}
        ]}});
        let relevant = Stack::of(&frames).unwrap().relevant().unwrap();
        assert_eq!(relevant.function(), Some("new"));
        assert_eq!(relevant.code().collect::<Vec<_>>(), [(1, "x")]);
    }
}
