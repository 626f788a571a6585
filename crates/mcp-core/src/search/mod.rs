//! Finds entries of an API by words: a field-weighted BM25 with stemming, a thesaurus of API words
//! and the fit of a question's verb with an HTTP method; deterministic, without model or network.
//!
//! Reading order: [`Index`] (what is stored; `build.rs` makes it), `query.rs` (what was asked),
//! `groups.rs` (what may stand for each word; `thesaurus.rs`), `rank.rs` and `factors.rs` (which
//! entries answer), `explain.rs` (why).

mod build;
mod explain;
mod factors;
mod groups;
mod index;
mod lexicon;
mod query;
mod rank;
mod thesaurus;
mod tokenize;
mod vocabulary;

pub use index::{Entry, Index};
pub use rank::{Hit, Results};
