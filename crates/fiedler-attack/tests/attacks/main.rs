//! Attacks as a user meets them.
#![allow(clippy::unwrap_used)]

mod common;
mod degree_test;
mod flips;
mod published;
mod running;
