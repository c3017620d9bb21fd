//! What a user of the crate would see, compared with slow plain versions, finite differences and other programs.

#![allow(clippy::unwrap_used)]

mod adjacency;
mod common;
mod encoders;
mod objectives;
mod ops;
mod training;
