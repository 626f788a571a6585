//! Integration tests.

mod definitions;
mod embed;
mod openapi;
mod policy;
mod regions;
mod sandbox;
