//! The evaluations put to the test: references pass, mutants fail, and for the right reason.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod models;
mod population;
mod properties;
mod reports;
mod served;
mod verifiers;
