//! Graphs, and what is known of their nodes and edges: the data structures that every other crate of `fiedler` works on.
//!
//! The path of the data: files become a [`Dataset`] in `fiedler-io`, or [`generate`] makes one. A dataset is a [`GraphSet`] (one graph is
//! a set of one; a [`Batch`] is some graphs of a set, block-diagonal) with [`Features`], [`Labels`] and [`Split`]s. [`measure`] describes
//! it, [`ego_nets`] and [`Graph::flipped`] make other graphs of it, and [`fingerprint`] tells it from all others.
//!
//! ```
//! use fiedler_graph::{Graph, generate, measure};
//!
//! let karate = generate::karate_club();
//! let graph = karate.graph().expect("one graph");
//! assert_eq!((graph.num_nodes(), graph.num_edges()), (34, 78));
//! assert_eq!(graph.neighbors(16), [5, 6]);
//! assert_eq!(measure::summarize(&karate).classes, Some(2));
//!
//! let (triangle, report) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (2, 0), (0, 2)])?;
//! assert_eq!((triangle.num_edges(), report.mirrored), (3, 1));
//! # Ok::<(), fiedler_graph::Error>(())
//! ```
//!
//! This crate touches no files and knows no formats.

mod block;
mod build;
mod component;
mod csr;
mod dataset;
mod degree_buckets;
mod ego;
pub mod error;
mod features;
pub mod fingerprint;
mod flip;
mod gather;
pub mod generate;
mod graph;
mod labels;
pub mod measure;
pub mod molecule;
mod names;
mod observer;
mod partition;
pub mod random;
mod set;
mod split;
mod stored;

pub use block::NodeMarks;
pub use build::PairChunk;
pub use dataset::{Dataset, GraphSource, ReadReport};
pub use ego::{EgoNets, ego_nets, walked_ego_nets};
pub use error::{Error, Result};
pub use features::{Categorical, Dense, Features, Sparse};
pub use graph::{BuildReport, EdgeLookup, Graph, MAX_NODES};
pub use labels::{Classes, Labels, MultiLabel, Regression};
pub use names::{Name, Names};
pub use observer::{Event, NoObserver, Observer};
pub use partition::partition;
pub use set::{Batch, GraphSet};
pub use split::Split;
pub use stored::{RowSource, StoredFeatures};
