//! Augmentation schemes for graphs, optimized for the largest change of the graph's spectrum.
//!
//! A [`Scheme`] gives every node pair the probability of being flipped, Δ in the paper, and views of the graph are drawn from it.
//! The squared norm of the spectrum of the expected graph is a sum over pairs, so that its value and its derivative need no
//! eigensolver ([`objective`]); objectives that look at single eigenvalues have one ([`eigen`]). [`ascent`] pushes an objective
//! by projected gradient steps on a [`support`] (all pairs, chosen ones, or nodes), and [`sample`] draws the flips of a view.
//! Beside the optimized schemes stand those that others use ([`scheme`]), and [`mask`] hides features.
//!
//! ```
//! use fiedler_augment::scheme::{Draw, Settings, Spectral, unwatched};
//! use fiedler_graph::generate;
//!
//! let karate = generate::karate_club();
//! let settings = Settings::Opposite(Spectral { ratio: 0.2, ..Spectral::default() });
//! let scheme = settings.compute(&karate.graphs, &unwatched)?;
//! let [max, min] = &scheme.report().views[..] else { unreachable!("two views") };
//! assert!(max.norm.unwrap().relative() > 1.0 && min.norm.unwrap().relative() < 1.0);
//!
//! let view = scheme.draw(&karate.graphs.whole(), Draw { seed: 7, epoch: 0, view: 0 })?;
//! assert!(view.graph.num_edges() < karate.graphs.num_edges());
//! # Ok::<(), fiedler_augment::Error>(())
//! ```

pub mod ascent;
pub mod centrality;
pub mod eigen;
pub mod error;
pub mod kernel;
pub mod mask;
pub mod objective;
pub mod projection;
pub mod sample;
pub mod scheme;
pub mod support;

pub use error::{Error, Result};
pub use scheme::{Scheme, Settings, View};
