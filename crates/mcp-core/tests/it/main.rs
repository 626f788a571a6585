//! Integration tests.

mod embed;
mod openapi;
mod policy;
mod regions;
mod sandbox;
