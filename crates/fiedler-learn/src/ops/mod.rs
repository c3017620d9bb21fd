//! What tensor libraries lack: the few operations that graph learning spends its time in, each in one pass over memory and with
//! a derivative of its own.
//!
//! Each has a plain version in [`plain`], out of the tensor library's own operations, which defines it and serves devices other
//! than the CPU. On the CPU all of them give the same bits whatever the number of threads.

mod activate;
mod all_pairs;
mod batch_norm;
mod decorrelation;
mod edge_products;
mod info_nce;
pub(crate) mod kernel;
mod messages;
mod mix;
pub(crate) mod operation;
mod pair_softplus;
mod permute;
pub mod plain;
mod pool;
mod project;
mod propagate;
mod scalar;
mod similarity;
mod standardize;
mod weighted;
mod weighted_messages;

pub use activate::activate;
pub use batch_norm::{BatchNormOp, Statistics, normalize, statistics};
pub use decorrelation::{cross_decorrelation, decorrelation};
pub use edge_products::edge_products;
pub use info_nce::info_nce;
pub use messages::messages;
pub use mix::propagate_mix;
pub use pair_softplus::pair_softplus;
pub use permute::permute;
pub(crate) use pool::spread;
pub use pool::{Pooling, pool};
pub use project::project;
pub use propagate::{ActivationOp, propagate};
pub(crate) use similarity::SHORTEST;
pub use similarity::{Similarity, similarity};
pub use standardize::{STANDARDIZE_EPSILON, standardize};
pub use weighted::propagate_weighted;
pub use weighted_messages::weighted_messages;
