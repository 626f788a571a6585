//! The typed view.
use super::document::Document;
/// t
#[must_use]
pub fn typed_operation(_document: &Document, _index: usize) -> Option<openapiv3::Operation> { None }
/// t
#[must_use]
pub fn typed_schema(_document: &Document, _name: &str) -> Option<openapiv3::Schema> { None }
