//! Spectra of graphs: operators, eigensolvers, and what the spectrum tells of a graph.
//!
//! A [`Graph`](fiedler_graph::Graph) becomes an [`Operator`]'s matrix, [`Normalised`], which is never stored densely: it
//! only knows how to multiply.
//!
//! ```
//! use fiedler_graph::Graph;
//! use fiedler_spectral::{Normalised, Operator};
//!
//! let (triangle, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (2, 0)])?;
//! let laplacian = Normalised::of(&triangle, Operator::Laplacian);
//! // The eigenvalues of a triangle are 0, 3/2, 3/2.
//! assert!((laplacian.frobenius_squared() - 4.5).abs() < 1e-12);
//! # Ok::<(), fiedler_graph::Error>(())
//! ```

pub mod dense;
pub mod density;
pub mod error;
pub mod operator;
pub mod partial;

pub use dense::{Spectrum, dense_bytes, eigenvalues, spectrum};
pub use density::{Density, DensitySettings};
pub use error::{Error, Result};
pub use operator::{Normalised, Operator, Rows, SymmetricMap};
pub use partial::{Pairs, Partial, PartialSettings, partial};
