//! Encoders, contrastive objectives and the sparse kernels under them, for self-supervised learning on graphs.

mod adjacency;
pub mod error;
mod features;
pub mod ops;
mod segments;

pub use adjacency::{Adjacency, Weighting};
pub use error::{Error, Result};
pub use features::{Input, SparseFeatures};
pub use segments::Segments;
