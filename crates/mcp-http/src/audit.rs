//! The record of writes: a file that is only ever appended to, a line of JSON before each write is sent
//! and one after. A write that cannot be recorded is not sent.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;

use crate::logs;

/// The open file.
#[derive(Debug)]
pub(crate) struct Audit {
    file: Mutex<File>,
}

/// One line. Holds no argument but what stands in the path, and no secret.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Record<'a> {
    /// `sending` or `sent`.
    pub(crate) event: &'a str,
    pub(crate) request: &'a str,
    /// Tells callers apart without saying who they are.
    pub(crate) caller: &'a str,
    pub(crate) name: &'a str,
    pub(crate) host: &'a str,
    /// Method and path template.
    pub(crate) operation: &'a str,
    pub(crate) path: &'a str,
    /// The confirmed plan it is part of; a curated tool writes without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<&'a str>,
    /// The status, `unknown`, or `not sent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'a str>,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    #[serde(flatten)]
    record: &'a Record<'a>,
}

impl Audit {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { file: Mutex::new(options.open(path)?) })
    }

    /// Appends one line, whole or not at all.
    pub(crate) fn append(&self, record: &Record<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { time: logs::now(), record })?;
        line.push(b'\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_to_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit");
        std::fs::write(&path, "{}\n").unwrap();
        let record = Record {
            event: "sent",
            request: "r",
            caller: "c",
            name: "ann",
            host: "a.test",
            operation: "POST /users/",
            path: "/users/",
            plan: None,
            outcome: Some("201"),
        };
        Audit::open(&path).unwrap().append(&record).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let (first, last) = text.trim_end().split_once('\n').unwrap();
        assert_eq!(first, "{}");
        let line: serde_json::Value = serde_json::from_str(last).unwrap();
        assert_eq!((&line["outcome"], &line["path"]), (&"201".into(), &"/users/".into()));
        assert!(line["time"].as_str().is_some_and(|it| it.ends_with('Z')), "{line}");
    }
}
