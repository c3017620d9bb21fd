//! Self-supervised learning on graphs, guided by the graph's spectrum.
//!
//! This crate gathers the others under one name; the program `fiedler` is built on the same parts. Data flows one way through
//! them, and starts in [`graph`]:
//!
//! ```
//! use fiedler::graph::{generate, measure};
//!
//! let dataset = generate::citation(0);
//! let summary = measure::summarize(&dataset);
//! assert_eq!(summary.nodes, 1000);
//! assert!(summary.homophily > Some(0.7));
//! ```

pub use fiedler_augment as augment;
pub use fiedler_evaluate as evaluate;
pub use fiedler_graph as graph;
pub use fiedler_learn as learn;
pub use fiedler_report as report;
pub use fiedler_spectral as spectral;
