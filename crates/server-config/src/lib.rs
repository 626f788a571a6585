//! What both servers are set up with: options, variables and the configuration file, settled as a whole,
//! and the context that comes of them.
//!
//! A setting travels from [`cli`] or [`config_file`] through [`given`] (with where it came from) to
//! [`settings`], which refuses what cannot be meant; [`config`] alone reads the environment and the disk.

pub mod address;
pub mod cli;
pub mod config;
pub mod config_file;
pub mod credential;
pub mod given;
pub mod models;
pub mod scheme;
pub mod script_limits;
pub mod settings;
mod token_command;
mod token_keyring;
pub mod tools;
