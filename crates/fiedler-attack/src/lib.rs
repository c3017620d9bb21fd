//! Poisoning attacks on graphs: which pairs to flip so that whoever learns from the graph afterwards learns worst.
//!
//! An attack is one line in the list of [`AttackSettings`]: random flips, DICE, GF-Attack, Mettack, PR-BCD. It gets a graph and
//! [`Knowledge`], spends a [`budget`] of `⌊ratio · edges⌋` undirected pairs, leaves no node without edges that had one, and gives an
//! [`Outcome`]: the flips in their order.
//!
//! Mettack needs the gradient of a loss through the whole training of a linear GCN, for every pair of nodes. That gradient has a closed form
//! of low rank but for the rows of training nodes, so that nothing of the size of all pairs is stored, and no automatic
//! differentiation is needed.
//!
//! ```
//! use fiedler_attack::{AttackInput, AttackSettings, Knowledge, Mettack};
//! use fiedler_graph::{NoObserver, Split, generate};
//!
//! let karate = generate::karate_club();
//! let graph = karate.graph().expect("one graph");
//! let split = Split { train: vec![0, 1, 3, 30, 32, 33], ..Split::default() };
//! let knowledge = Knowledge { features: None, labels: karate.node_labels.as_ref(), split: Some(&split) };
//! let attack = AttackSettings::Mettack(Mettack { ratio: 0.05, ..Mettack::default() });
//! let outcome = attack.run(&AttackInput::new(graph, knowledge), &NoObserver)?;
//! assert_eq!(outcome.flips.len(), 3);
//! # Ok::<(), fiedler_attack::Error>(())
//! ```

mod bcd;
mod block;
mod degree_test;
mod dice;
mod error;
mod expected_graph;
mod feature_rows;
mod flips;
mod gf;
mod gf_relaxed;
mod knowledge;
mod matrix;
mod mettack;
mod random;
mod settings;
mod state;
mod surrogate;
mod suspicion;

pub use bcd::{GrBcd, PrBcd};
pub use degree_test::DegreeTest;
pub use dice::{Additions, Dice};
pub use error::{Error, Result};
pub use flips::{Flip, budget};
pub use gf::{Gf, GraphFilter};
pub use gf_relaxed::GfRelaxed;
pub use knowledge::{Knowledge, Known};
pub use mettack::Mettack;
pub use random::{RandomFlips, RandomMode};
pub use settings::{AttackInput, AttackSettings, Checkpoint, Outcome};
pub use state::{AttackState, RelaxedState};
pub use surrogate::loss::AttackLoss;
pub use surrogate::{Objective, StartWeights, SurrogateSettings, surrogate_accuracy};
pub use suspicion::{Suspect, suspicious_edges};
