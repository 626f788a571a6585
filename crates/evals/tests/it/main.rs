//! The evaluations put to the test: references pass, mutants fail, and for the right reason.

mod models;
mod population;
mod properties;
mod reports;
mod verifiers;
