//! Judging embeddings, whoever made them.
//!
//! Embeddings are rows of numbers, one for each node or graph. A [`Target`] says what is to be predicted from them; a [`Protocol`] which
//! of it may be learnt from; a [`probe`] does the learning; a [`Metric`] tells how well; a [`Score`] is what comes of it:
//!
//! ```
//! use fiedler_evaluate::{Protocol, Settings, Target, evaluate};
//! use fiedler_graph::generate;
//!
//! let dataset = generate::citation(0);
//! let features = dataset.features.as_ref().expect("features").to_dense();
//! let settings = Settings { protocol: Some(Protocol::RANDOM.with_splits(3)?), ..Default::default() };
//! let score = evaluate(&features, &Target::of(&dataset)?, &settings, &|_| true)?;
//! println!("{} {:.4} ± {:.4}: {}", score.metric, score.mean, score.std, score.description);
//! # assert_eq!(score.splits.len(), 3);
//! # Ok::<(), fiedler_evaluate::Error>(())
//! ```

mod error;
mod evaluate;
mod matrix;
pub mod metric;
mod preparation;
pub mod probe;
mod protocol;
mod score;
mod target;

pub use error::{Error, Result};
pub use evaluate::{PREPARATIONS, Settings, Stage, WEIGHTS, evaluate};
pub use matrix::Matrix;
pub use metric::Metric;
pub use preparation::Preparation;
pub use protocol::Protocol;
pub use score::{Score, SplitScore, mean_and_deviation};
pub use target::Target;
