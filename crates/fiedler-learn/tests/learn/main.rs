//! What a user of the crate would see, compared with slow plain versions, finite differences and other programs.

#![allow(clippy::unwrap_used)]

mod operator;
mod common;
mod encoders;
mod objectives;
mod ops;
mod training;
