//! Spectra of graphs: operators, eigensolvers, and what the spectrum tells of a graph.
//!
//! A [`Graph`](fiedler_graph::Graph) becomes the matrix of an [`Operator`], [`Normalized`], which is never stored
//! densely: it only knows how to multiply. From there:
//!
//! - [`eigenvalues`] and [`spectrum`](fn@spectrum) compute all eigenpairs of graphs of some thousand nodes,
//! - [`partial`](fn@partial) the lowest and highest eigenpairs of larger ones, starting from earlier ones where there
//!   are any,
//! - [`Density`] estimates how many eigenvalues lie where,
//! - [`polynomial`] has functions of an operator on chosen pairs, and [`transport`] compares two spectra by their moments,
//! - [`properties`] turns eigenvalues into statements about the graph,
//! - [`cluster`] divides its nodes, and [`flip_changes`] tells what a changed edge does to the eigenvalues.
//!
//! ```
//! use fiedler_graph::Graph;
//! use fiedler_spectral::{Normalized, Operator, PartialSettings, partial};
//!
//! let (triangle, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (2, 0)])?;
//! let laplacian = Normalized::of(&triangle, Operator::Laplacian);
//! let found = partial(&laplacian, &PartialSettings { lowest: 2, highest: 1, ..Default::default() }, None)?;
//! assert!(found.lowest.values[0].abs() < 1e-12 && (found.highest.values[0] - 1.5).abs() < 1e-12);
//! // The norm of all eigenvalues, 0, 3/2 and 3/2, needs none of them.
//! assert!((laplacian.frobenius_squared() - 4.5).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod change;
pub mod clustering;
mod combinatorial;
pub mod dense;
pub mod density;
pub mod error;
mod linear;
pub mod operator;
mod outermost;
pub mod partial;
pub mod polynomial;
pub mod properties;
mod series;
pub mod simd;
pub mod transport;

pub use change::{eigenvalue_derivative, flip_changes};
pub use clustering::{ClusterSettings, Clustering, cluster};
pub use combinatorial::Combinatorial;
pub use dense::{Spectrum, dense_bytes, eigenvalues, spectrum};
pub use density::{Density, DensitySettings};
pub use error::{Error, Result};
pub use operator::{Normalized, Operator, Rows, SymmetricMap};
pub use outermost::Outermost;
pub use partial::{Limits, Pairs, Partial, PartialSettings, SolverProgress, partial, partial_within};
pub use series::ChebyshevSeries;
