//! Augmentation schemes for graphs, optimised for the largest change of the graph's spectrum.

pub mod ascent;
pub mod kernel;
pub mod objective;
pub mod projection;
pub mod sample;
pub mod support;
