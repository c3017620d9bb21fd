//! What a user of the crate would see.

#![allow(clippy::unwrap_used)]

mod change;
mod clustering;
mod common;
mod density;
mod operator;
mod partial;
mod properties;
mod published;
mod transport;
