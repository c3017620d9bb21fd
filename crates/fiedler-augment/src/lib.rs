//! Augmentation schemes for graphs, optimized for the largest change of the graph's spectrum.
//!
//! A [`Scheme`] gives every node pair the probability of being flipped, Δ in the paper, and views of the graph are drawn from it.
//! The squared norm of the spectrum of the expected graph is a sum over pairs, so that its value and its derivative need no
//! eigensolver ([`objective`]); objectives that look at single eigenvalues have one ([`eigen`]), and
//! those that compare whole spectra do without where graphs are not small ([`transport`]). [`ascent`] pushes an objective
//! by projected gradient steps on a [`support`] (all pairs, chosen ones, or nodes), and [`sample`] draws the flips of a view.
//! Beside the optimized schemes stand those that others use ([`scheme`]). [`mask`] hides features, and a [`pipeline`] composes
//! all of these into a view.
//!
//! ```
//! use fiedler_augment::scheme::{SchemeSettings, Spectral, ViewKey};
//! use fiedler_graph::{NoObserver, generate};
//!
//! let karate = generate::karate_club();
//! let settings = SchemeSettings::Opposite(Spectral { ratio: 0.2, ..Spectral::default() });
//! let scheme = settings.compute(&karate.graphs, &NoObserver)?;
//! let [max, min] = &scheme.report().views[..] else { unreachable!("two views") };
//! assert!(max.norm.unwrap().relative() > 1.0 && min.norm.unwrap().relative() < 1.0);
//!
//! let view = scheme.draw(&karate.graphs.whole(), ViewKey::new(7, 0, 0))?;
//! assert!(view.graph.num_edges() < karate.graphs.num_edges());
//! # Ok::<(), fiedler_augment::Error>(())
//! ```

pub mod ascent;
mod axis;
pub mod centrality;
pub mod eigen;
pub mod error;
mod expected;
pub mod kernel;
pub mod mask;
mod mask_fill;
pub mod objective;
pub mod pipeline;
pub mod projection;
pub mod sample;
pub mod scheme;
pub mod support;
pub mod transport;
pub mod version1;

pub use axis::Axis;
pub use error::{Error, Result};
pub use pipeline::{FeatureMasking, Pipeline};
pub use scheme::{Scheme, SchemeSettings, View, ViewKey};
