//! What a user of the crate would see, compared with slow plain versions, finite differences and other programs.

#![allow(clippy::unwrap_used)]

mod all_pairs;
mod common;
mod correlations;
mod encoders;
mod fixture;
mod gmi;
mod node_contrast;
mod objectives;
mod operator;
mod ops;
mod training;
