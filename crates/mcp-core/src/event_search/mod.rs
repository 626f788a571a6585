//! Searches over events: from what a caller asked for to what is run, shared by the search tools.

mod dataset;

pub use dataset::Dataset;
