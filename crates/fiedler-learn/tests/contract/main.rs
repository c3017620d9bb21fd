//! The contract between methods and the trainer: small methods of one's own, each of which needs one seam and sees whether it holds.

#![allow(clippy::unwrap_used)]

mod averages;
mod common;
mod labels;
mod operators;
mod optimizers;
mod phases;
mod state;
mod stopping;
mod views;
