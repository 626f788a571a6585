//! Files: what scripts may read and save, in directories that the operator named.
//!
//! A script holds a handle, never the bytes: `{ "$file": name, size, type, sha256 }`. The host puts
//! the file in its place when the request is built, and only if it is still the one that was read.

mod beneath;

use std::{
    convert::Infallible,
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json, value::RawValue};

use crate::{
    openapi::cache::sha256,
    sandbox::{HostError, HostReply},
};

use self::beneath::Directory;
use super::policy::{Refusal, Rule};

/// The largest file that is read: it is held in memory while it is sent.
const MAX_FILE: u64 = 32 << 20;
/// The most names that `files.list` gives.
const MAX_LISTED: usize = 1000;
/// The key by which a handle is known.
const HANDLE: &str = "$file";

/// Types by the end of the name, for uploads that say what they are.
const TYPES: &[(&str, &str)] = &[
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("js", "text/javascript"),
    ("map", "application/json"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The directories that scripts may use; by default none, and `files` does not exist.
#[derive(Debug, Clone, Default)]
pub struct Files {
    directories: Arc<[(String, Directory)]>,
}

impl Files {
    /// Opens directories, each under the name that scripts put before its files; a single one may
    /// have an empty name.
    ///
    /// # Errors
    /// The path of a directory that cannot be opened, and why.
    pub fn open<'a>(
        directories: impl IntoIterator<Item = (String, &'a Path)>,
    ) -> Result<Self, (&'a Path, io::Error)> {
        let open = |(name, path)| match Directory::open(path) {
            Ok(directory) => Ok((name, directory)),
            Err(error) => Err((path, error)),
        };
        let directories = directories.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { directories })
    }

    /// Whether scripts have no files at all.
    pub fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// Answers `read` and `list`.
    pub(super) async fn call(&self, function: &str, given: &str) -> Result<HostReply, HostError> {
        let given: Vec<Value> = serde_json::from_str(given).unwrap_or_default();
        let function = function.to_owned();
        let answer = self.aside(move |this| match function.as_str() {
            "read" => this.read(&given),
            "list" => this.list(),
            other => Err(wrong(format!("`files` has no `{other}`"))),
        });
        Ok(HostReply { json: answer.await?.to_string(), big_integers: false })
    }

    /// Saves a file that is not there, or is there with just these bytes.
    pub(super) async fn save(&self, save: Save) -> Result<HostReply, HostError> {
        let reply = save.reply();
        self.aside(move |this| this.write(&save)).await?;
        Ok(reply)
    }

    /// Puts files in the place of their handles, as the request builder reads them; `None` when
    /// there is no handle.
    ///
    /// # Errors
    /// A handle whose file is gone or is not what it was.
    pub(super) async fn expand(&self, body: &RawValue) -> Result<Option<Box<RawValue>>, HostError> {
        if !body.get().contains(HANDLE) {
            return Ok(None);
        }
        let mut body: Value = serde_json::from_str(body.get()).unwrap_or_default();
        let expand = move |this: &Self| {
            let found = replace(&mut body, &mut |handle| this.contents(handle))?;
            Ok(found.then(|| body.to_string()))
        };
        let text = self.aside(expand).await?;
        let raw = text.map(RawValue::from_string).transpose();
        raw.map_err(|error| wrong(error.to_string()))
    }

    /// Does work on files where waiting for them holds up nothing else.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        let this = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&this)).await;
        done.unwrap_or_else(|_| Err(wrong("the file cannot be used".to_owned())))
    }

    /// The bytes that a handle stands for, if they are still those.
    fn contents(&self, handle: &Handle<'_>) -> Result<Vec<u8>, HostError> {
        let bytes = self.bytes(handle.name)?;
        if sha256(&bytes) == handle.sha256 {
            return Ok(bytes);
        }
        let name = handle.name;
        Err(wrong(format!("`{name}` is not the file that `files.read` gave; read it again")))
    }

    fn read(&self, arguments: &[Value]) -> Result<Value, HostError> {
        let name = name_in(arguments)?;
        let bytes = self.bytes(name)?;
        Ok(json!({
            HANDLE: name, "size": bytes.len(), "type": type_of(name), "sha256": sha256(&bytes),
        }))
    }

    fn list(&self) -> Result<Value, HostError> {
        let mut names = Vec::new();
        for (prefix, directory) in self.directories.iter() {
            let listed = directory.list(MAX_LISTED).map_err(|error| failed(prefix, &error))?;
            names.extend(listed.into_iter().map(|name| match prefix.is_empty() {
                true => name,
                false => format!("{prefix}/{name}"),
            }));
        }
        Ok(json!(names))
    }

    fn write(&self, save: &Save) -> Result<(), HostError> {
        let name = &save.name;
        let (directory, path) = self.find(name)?;
        let written = directory.create(path).and_then(|mut file| file.write_all(&save.bytes));
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match self.bytes(name).is_ok_and(|bytes| bytes == save.bytes) {
                    true => Ok(()),
                    false => Err(failed(name, &error)),
                }
            }
            other => other.map_err(|error| failed(name, &error)),
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, HostError> {
        let (directory, path) = self.find(name)?;
        let read = || {
            let file = directory.read(path)?;
            let size = file.metadata()?.len();
            if size > MAX_FILE {
                let limit = format!("it has {size} bytes, and {MAX_FILE} are the most");
                return Err(io::Error::other(limit));
            }
            let mut bytes = Vec::new();
            file.take(MAX_FILE).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| failed(name, &error))
    }

    /// The directory a name belongs to, and the path in it.
    fn find<'n>(&self, name: &'n str) -> Result<(&Directory, &'n str), HostError> {
        for (prefix, directory) in self.directories.iter() {
            let path = match prefix.is_empty() {
                true => Some(name),
                false => name.strip_prefix(prefix.as_str()).and_then(|it| it.strip_prefix('/')),
            };
            if let Some(path) = path {
                return Ok((directory, path));
            }
        }
        let known: Vec<_> =
            self.directories.iter().map(|(name, _)| format!("`{name}/…`")).collect();
        Err(wrong(format!("there is no file `{name}`; names begin with {}", known.join(", "))))
    }
}

/// A file that a script wants to save.
#[derive(Debug)]
pub(super) struct Save {
    pub(super) name: String,
    bytes: Vec<u8>,
}

impl Save {
    /// Reads the arguments of `files.save`.
    pub(super) fn parse(arguments: &str) -> Result<Self, HostError> {
        let arguments: Vec<Value> = serde_json::from_str(arguments).unwrap_or_default();
        let name = name_in(&arguments)?.to_owned();
        Ok(Self { name, bytes: content(arguments.get(1))? })
    }

    /// What the script gets: the same in a rehearsal, where nothing is saved.
    pub(super) fn reply(&self) -> HostReply {
        HostReply { json: json!({ "saved": self.name }).to_string(), big_integers: false }
    }

    /// Why a reading script saves nothing.
    pub(super) fn refusal() -> Refusal {
        Refusal::new(
            Rule::ReadOnly,
            "saving a file is a write, and `execute` only reads: run the whole script with `execute_write`",
        )
    }
}

/// What a script holds in place of a file.
struct Handle<'a> {
    name: &'a str,
    sha256: &'a str,
}

impl<'a> Handle<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        let text = |key| value.get(key).and_then(Value::as_str);
        Some(Self { name: text(HANDLE)?, sha256: text("sha256")? })
    }
}

/// Puts what `bytes` says in the place of every handle; whether there was one.
fn replace<E>(
    value: &mut Value,
    bytes: &mut impl FnMut(&Handle<'_>) -> Result<Vec<u8>, E>,
) -> Result<bool, E> {
    if let Some(handle) = Handle::of(value) {
        let filename = handle.name.rsplit('/').next().unwrap_or(handle.name);
        *value = json!({
            "base64": STANDARD.encode(bytes(&handle)?),
            "type": type_of(handle.name),
            "filename": filename,
        });
        return Ok(true);
    }
    let mut found = false;
    match value {
        Value::Array(items) => {
            for item in items {
                found |= replace(item, bytes)?;
            }
        }
        Value::Object(fields) => {
            for (_, field) in fields {
                found |= replace(field, bytes)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(found)
}

/// Puts a stand-in of the file's digest in the place of every handle, so that a request can be
/// checked and compared before the file itself is needed; whether there was one.
pub(super) fn stand_in(value: &mut Value) -> bool {
    let mut digest = |handle: &Handle<'_>| Ok::<_, Infallible>(handle.sha256.as_bytes().to_vec());
    match replace(value, &mut digest) {
        Ok(found) => found,
        Err(impossible) => match impossible {},
    }
}

/// Whether exact JSON text holds a handle.
pub(super) fn has_handle(json: &str) -> bool {
    json.contains(HANDLE)
        && serde_json::from_str(json).is_ok_and(|mut value: Value| stand_in(&mut value))
}

fn name_in(arguments: &[Value]) -> Result<&str, HostError> {
    arguments
        .first()
        .and_then(Value::as_str)
        .ok_or_else(|| wrong("write `files.read(name)` or `files.save(name, response)`".to_owned()))
}

/// What a response, or a value in its place, holds as bytes.
fn content(value: Option<&Value>) -> Result<Vec<u8>, HostError> {
    let usage = || wrong("`files.save(name, response)` has nothing to save".to_owned());
    let value = value.ok_or_else(usage)?;
    let data = match value.get("data") {
        Some(data) if value.get("status").is_some() => data,
        _ => value,
    };
    match data {
        Value::Null => Err(usage()),
        Value::String(text) => Ok(text.clone().into_bytes()),
        Value::Object(fields) if fields.contains_key("base64") => {
            let text = fields.get("base64").and_then(Value::as_str).unwrap_or_default();
            STANDARD.decode(text).map_err(|error| wrong(format!("the bytes are damaged: {error}")))
        }
        other => Ok(other.to_string().into_bytes()),
    }
}

fn type_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let known = TYPES.iter().find(|(known, _)| *known == ending);
    known.map_or("application/octet-stream", |(_, name)| name)
}

fn wrong(message: String) -> HostError {
    HostError::new("FileError", message)
}

fn failed(name: &str, error: &io::Error) -> HostError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::AlreadyExists => "there is one already; choose another name".to_owned(),
        _ => error.to_string(),
    };
    wrong(format!("`{name}`: {why}"))
}

#[cfg(test)]
mod tests;
