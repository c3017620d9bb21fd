//! Augmentation schemes for graphs, optimised for the largest change of the graph's spectrum.
//!
//! A scheme gives every node pair the probability of being flipped, Δ in the paper. The squared norm of the spectrum of the
//! expected graph is a sum over pairs, so that its value and its derivative need no eigensolver ([`objective`]). [`ascent`]
//! pushes the norm up or down by projected gradient steps on a [`support`] (all pairs, or chosen ones), and [`sample`] draws
//! the flips of a view from the probabilities it ends with.
//!
//! ```
//! use fiedler_augment::ascent::{Ascent, Direction, StepSize};
//! use fiedler_augment::objective::{Objective, full_spectrum};
//! use fiedler_augment::sample::Flips;
//! use fiedler_augment::support::{Pairs, Support};
//! use fiedler_graph::generate;
//! use fiedler_spectral::Operator;
//!
//! let karate = generate::karate_club();
//! let graph = karate.graph().expect("one graph");
//! let evaluate = |support: &Pairs| full_spectrum(support, Operator::Laplacian, Objective::Expected);
//!
//! let mut pairs = Pairs::new(graph, &[]);
//! let original = evaluate(&pairs).squared_norm;
//! let budget = 0.2 * graph.edges() as f64;
//! let ascent = Ascent { direction: Direction::Max, budget, steps: 50, step_size: StepSize::default() };
//! let outcome = ascent.run(&mut pairs, original, evaluate, |_| true);
//! assert!(outcome.relative_norm > 1.0 && pairs.mass().total() < budget + 1e-3);
//!
//! let flips = Flips::of_pairs(graph.nodes(), pairs.iter().map(|(low, high, _, p)| ((low, high), p)));
//! let view = graph.flipped(&flips.draw(7, 0, 0))?;
//! assert!(view.edges() < graph.edges());
//! # Ok::<(), fiedler_graph::Error>(())
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
