//! Gets the bytes of a document: from a file or over HTTP, and only if they are new.

use std::{
    fs,
    io::Read as _,
    path::Path,
    time::{Instant, UNIX_EPOCH},
};

use api_client::{
    error::ErrorKind,
    transport::{Fetched as Answer, Validators},
};
use bytes::Bytes;
use tokio::task;
use url::Url;

use super::{ATTEMPT, DocumentLocation, LoadFailure, SourceOptions};
use crate::openapi::cache::{Stamp, sha256};

/// The largest file that is read; the largest document known has 38 MB.
const MAX_FILE: u64 = 128 << 20;

/// What the source had to say.
pub(super) enum Fetched {
    /// The known document is still the newest.
    Unchanged,
    New {
        bytes: Bytes,
        etag: Option<String>,
        last_modified: Option<String>,
        /// Where it was found, after redirects.
        url: Option<Url>,
    },
}

/// The URL of the document, where it has one.
pub(super) fn url(options: &SourceOptions) -> Option<Url> {
    match &options.location {
        DocumentLocation::Url { url, .. } => Some(url.clone()),
        DocumentLocation::File(_) => None,
        DocumentLocation::Instance { path } => {
            let mut url = options.transport.base_url().clone();
            url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
            Some(url)
        }
    }
}

/// Gets the document, unless the source says that it is the one in `known`.
pub(super) async fn fetch(
    options: &SourceOptions,
    known: Option<&Stamp>,
) -> Result<Fetched, LoadFailure> {
    let Some(url) = url(options) else {
        let path = options.location.file().unwrap_or(Path::new("")).to_owned();
        let (title, known) = (options.title.clone(), known.cloned());
        let read = task::spawn_blocking(move || read_file(&path, known.as_ref()));
        return match read.await {
            Ok(Ok(fetched)) => Ok(fetched),
            Ok(Err(problem)) => Err(failure(&title, &problem)),
            Err(_) => Err(failure(&title, "cannot be read")),
        };
    };
    let pin = match options.location {
        DocumentLocation::Url { sha256: pin, .. } => pin,
        DocumentLocation::Instance { .. } | DocumentLocation::File(_) => None,
    };
    // What has the pinned hash can never be newer.
    if pin.is_some() && pin == known.map(|known| known.sha256.as_str()) {
        return Ok(Fetched::Unchanged);
    }
    let fetched = over_http(options, &url, known).await?;
    if let (Some(pin), Fetched::New { bytes, .. }) = (pin, &fetched)
        && sha256(bytes) != pin
    {
        return Err(failure(
            &options.title,
            &format!(
                "at {url} is not the one this release was made for (SHA-256 {pin}): \
                 use a copy you trust with `--openapi`"
            ),
        ));
    }
    Ok(fetched)
}

async fn over_http(
    options: &SourceOptions,
    url: &Url,
    known: Option<&Stamp>,
) -> Result<Fetched, LoadFailure> {
    let validators = known
        .map(|known| Validators {
            etag: known.etag.clone(),
            last_modified: known.last_modified.clone(),
        })
        .filter(|it| it.etag.is_some() || it.last_modified.is_some());
    let deadline = Instant::now() + ATTEMPT;
    match options.transport.fetch(url, validators.as_ref(), deadline).await {
        Ok(Answer::NotModified) => Ok(Fetched::Unchanged),
        Ok(Answer::Document { bytes, content_type, .. })
            if is_html(&bytes, content_type.as_deref()) =>
        {
            Err(failure(
                &options.title,
                &format!(
                    "at {url} is HTML, not OpenAPI: a page for people; \
                     look there for the link to the JSON or YAML document"
                ),
            ))
        }
        Ok(Answer::Document { bytes, validators, url, .. }) => {
            let Validators { etag, last_modified } = validators;
            Ok(Fetched::New { bytes, etag, last_modified, url: Some(url) })
        }
        Err(error) => Err(match error.kind() {
            ErrorKind::Status(status) => refused(options, url, *status),
            _ => failure(&options.title, &format!("cannot be fetched from {url}: {error}")),
        }),
    }
}

fn refused(options: &SourceOptions, url: &Url, status: u16) -> LoadFailure {
    let same_origin = url.origin() == options.transport.base_url().origin();
    let advice = match (status, &options.credential_setting) {
        (401 | 403, _) if !same_origin => {
            "no credential is sent there, as it is not the API's own origin; \
             download the document and name the file with `--openapi`"
                .to_owned()
        }
        (401 | 403, Some(setting)) => format!("check the credential in {setting}"),
        (401 | 403, None) => "set a credential with `--token-env` or `--token-file`".to_owned(),
        (404, _) => "check the address".to_owned(),
        _ => "try again later".to_owned(),
    };
    failure(&options.title, &format!("at {url} was refused with status {status}: {advice}"))
}

/// Tells a page for people from a document, whatever its media type says.
fn is_html(bytes: &[u8], content_type: Option<&str>) -> bool {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    let says_so = content_type.is_some_and(|it| it.starts_with("text/html"));
    text.first() == Some(&b'<') || (says_so && text.first() != Some(&b'{'))
}

fn read_file(path: &Path, known: Option<&Stamp>) -> Result<Fetched, String> {
    let problem = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("is not in `{}`: no such file", path.display()),
        _ => format!("cannot be read from `{}`: {error}", path.display()),
    };
    let file = fs::File::open(path).map_err(problem)?;
    let metadata = file.metadata().map_err(problem)?;
    if metadata.is_dir() {
        return Err(format!("cannot be read from `{}`: it is a directory", path.display()));
    }
    if metadata.len() > MAX_FILE {
        return Err(format!("in `{}` is larger than {MAX_FILE} bytes", path.display()));
    }
    // A file with the same time and length has not changed; without a time it may have.
    let modified = metadata.modified().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let etag = modified.map(|it| format!("{}-{}", it.as_nanos(), metadata.len()));
    if etag.is_some() && etag == known.and_then(|known| known.etag.clone()) {
        return Ok(Fetched::Unchanged);
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(problem)?;
    if is_html(&bytes, None) {
        return Err(format!("in `{}` is HTML or XML, not OpenAPI", path.display()));
    }
    Ok(Fetched::New { bytes: bytes.into(), etag, last_modified: None, url: None })
}

fn failure(title: &str, problem: &str) -> LoadFailure {
    LoadFailure::new(format!("the document of `{title}` {problem}"))
}
