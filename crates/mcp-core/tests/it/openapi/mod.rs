//! OpenAPI documents: real ones, the public reports turned into cases, and hostile ones.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a step that fails is a failed test, and a skipped one says so"
)]

mod cases;
mod corpus;
mod hostile;
mod kinds;
mod typed_view;

use std::fs;
use std::path::{Path, PathBuf};

use mcp_core::openapi::{Document, LoadOptions, load};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");

/// A folder of the shared material, or `None` where this checkout has none beside it.
fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(SHARED).join(folder);
    if !path.is_dir() {
        eprintln!("skipped: {folder} is not beside this checkout");
        return None;
    }
    Some(path)
}

#[track_caller]
fn read(path: &Path) -> Document {
    let bytes = fs::read(path).unwrap();
    load(&bytes, &LoadOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn parse(text: &str) -> Document {
    load(text.as_bytes(), &LoadOptions::default()).unwrap()
}
