//! Evaluation of embeddings, whoever made them: protocols, probes, metrics, scores.
//!
//! Embeddings are rows of numbers, one for each node or graph. A [`Target`] has the labels to predict; a [`Protocol`] says which of them
//! are train, validation and test; a [`Probe`] is fitted and its hyperparameters chosen, with the test labels removed; a [`Metric`] tells
//! how well it predicts; a [`Score`] is what comes of it:
//!
//! ```
//! use fiedler_evaluate::{EvaluationSettings, Protocol, Target, evaluate};
//! use fiedler_graph::{NoObserver, generate};
//!
//! let dataset = generate::citation(0);
//! let features = dataset.features.as_ref().expect("features").to_dense();
//! let settings = EvaluationSettings { protocol: Some(Protocol::RANDOM.with_splits(3)?), ..Default::default() };
//! let score = evaluate(&features, &Target::of(&dataset)?, &settings, &NoObserver)?;
//! println!("{} {:.4} ± {:.4}: {}", score.metric, score.mean, score.std, score.description);
//! # assert_eq!((score.splits.len(), score.probe.as_str()), (3, "logistic"));
//! # Ok::<(), fiedler_evaluate::Error>(())
//! ```
//!
//! Protocols and probes each come from one list; every choice has a name, a line of help, and a nearest name for one that is misspelt.
//! [`ProtocolPreset`] names what tables over seeds are made by; [`QuickProbe`] is a first look at embeddings; [`SupervisedScores`] is for
//! encoders that predict by themselves.

mod compare;
mod error;
mod evaluate;
mod list;
mod matrix;
pub mod metric;
pub mod probe;
mod progress;
pub mod protocol;
mod quick_probe;
mod scaling;
mod score;
mod settings;
mod supervised;
mod target;

pub use compare::{Interval, PairedTest, bootstrap_interval, paired_test};
pub use error::{Error, Result};
pub use evaluate::evaluate;
pub use list::Entry;
pub use matrix::Matrix;
pub use metric::Metric;
pub use probe::Probe;
pub use protocol::{Protocol, ProtocolPreset};
pub use quick_probe::{QuickProbe, QuickScore};
pub use scaling::{DEFAULT_SCALING, Scaling};
pub use score::{Score, SplitScore, mean_and_deviation};
pub use settings::EvaluationSettings;
pub use supervised::SupervisedScores;
pub use target::{LabelKind, Target};
