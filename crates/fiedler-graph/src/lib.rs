//! Graphs, node features, labels and splits, read from every format graph benchmarks are published in.
//!
//! Data enters through [`read`], by a path or by a name of the [`catalogue`], and becomes a [`Dataset`]: a [`GraphSet`] (one
//! graph is a set of one) with [`Features`], [`Labels`] and [`Split`]s. [`generate`] makes graphs, [`measure`] describes them,
//! [`write`](mod@write) puts them back into files.
//!
//! ```
//! use fiedler_graph::{generate, measure};
//!
//! let karate = generate::karate_club();
//! let graph = karate.graph().expect("one graph");
//! assert_eq!((graph.num_nodes(), graph.num_edges()), (34, 78));
//! assert_eq!(measure::summarize(&karate).classes, Some(2));
//! # Ok::<(), fiedler_graph::Error>(())
//! ```

mod build;
pub mod catalogue;
mod dataset;
mod ego;
pub mod error;
mod features;
mod flip;
pub mod generate;
mod graph;
pub mod input;
mod labels;
pub mod measure;
pub mod molecule;
mod names;
mod observer;
pub mod random;
pub mod read;
mod set;
mod split;
pub mod write;

pub use dataset::{Dataset, ReadReport};
pub use ego::{EgoNets, ego_nets};
pub use error::{Error, Result};
pub use features::{Categorical, Dense, Features, Sparse};
pub use graph::{BuildReport, EdgeLookup, Graph, MAX_NODES};
pub use input::Input;
pub use labels::{Classes, Labels, MultiLabel, Regression};
pub use names::{Name, Names};
pub use observer::{Event, NoObserver, Observer};
pub use set::{Batch, GraphSet};
pub use split::Split;
