//! Any bytes as a document: loading, rendering, routing and the cache end without a panic, in bounded time.

#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use mcp_core::openapi::{self, Depth, LoadOptions, source::Loaded};

/// Operations looked at in one document: the rest is more of the same.
const OPERATIONS: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = openapi::load(bytes, &LoadOptions::default()) else { return };
    for index in 0..document.len().min(OPERATIONS) {
        let depth = Depth::default();
        assert!(openapi::signature(&document, index, depth).len() <= 4 * depth.bytes);
        assert!(openapi::full(&document, index).len() <= 4 * Depth::FULL.bytes);
        let summary = &document.summaries()[index];
        black_box(openapi::line(summary));
        let path = summary.path.clone();
        if let Ok(found) = document.route(summary.method.as_str(), &path) {
            assert!(found.operation < document.len());
        }
        black_box(document.nearest(summary.method.as_str(), &path, 3));
        assert_eq!(document.find_id(&summary.id), Some(index));
        black_box(openapi::typed_operation(&document, index));
        if let Some(operation) = document.operation(index) {
            for media in operation.body.iter().flat_map(|body| &body.content) {
                black_box(document.flatten(&media.schema));
            }
        }
    }
    for name in document.schema_names().take(OPERATIONS) {
        black_box(openapi::schema(&document, name, 4));
    }
    let loaded = Loaded::new(document);
    let stored = loaded.to_bytes().expect("what was loaded can be stored");
    let again = Loaded::from_bytes(&stored).expect("what was stored can be read");
    assert_eq!(again.document.summaries().len(), loaded.document.summaries().len());
    // Stored bytes are never trusted either.
    black_box(Loaded::from_bytes(bytes));
});
