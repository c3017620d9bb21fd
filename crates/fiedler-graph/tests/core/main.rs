//! The types of the crate, the generators and the measures, against plain definitions of what they should be.
#![allow(clippy::unwrap_used)]

mod common;
mod ego;
mod features;
mod fingerprint;
mod generate;
mod graph;
mod labels;
mod measure;
mod set;
