//! Integration tests.

mod embed;
mod openapi;
mod sandbox;
