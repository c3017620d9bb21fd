//! Methods, one file each: what views a method wants, which encoders and heads it has, its objective, and what its embedding is.
//!
//! All else is written once, in [`trainer`](crate::trainer): batches, views, steps, checkpoints. A new method is a file here that
//! implements [`Method`], and one variant of [`MethodSettings`].

mod raw;
mod span;
mod untrained;

use burn::Tensor;
use burn::module::Module;
use serde::{Deserialize, Serialize};

pub use raw::{Nothing, Raw};
pub use span::{EmbeddingOf, NegativesFrom, Span, SpanModel};
pub use untrained::{Untrained, UntrainedModel};

use crate::data::{Level, Sample};
use crate::dropout::Draws;
use crate::encoder::Widths;
use crate::error::Result;
use crate::{Initialiser, Weighting};

/// A way to learn an encoder, or to do without one.
pub trait Method {
    /// All that is learned.
    type Model: Module;

    /// How its encoders want messages weighted.
    fn weighting(&self) -> Weighting;

    /// The number of views that a step looks at; a method that looks at none is not trained.
    fn views(&self) -> usize;

    /// The model before training.
    ///
    /// # Errors
    /// When a setting is out of its range.
    fn build(&self, widths: Widths, initialiser: &mut Initialiser) -> Result<Self::Model>;

    /// What a step makes smaller: a single number.
    ///
    /// # Errors
    /// When the views do not fit the model.
    fn loss(&self, model: &Self::Model, step: &Step) -> Result<Tensor<1>>;

    /// Whether the embedding is made of views, as training is, rather than of the graphs as they are.
    fn embeds_views(&self) -> bool {
        false
    }

    /// One row for each node, or for each graph. `samples` holds the graphs as they are, or one sample for each view if
    /// [`Method::embeds_views`].
    ///
    /// # Errors
    /// When the samples do not fit the model.
    fn embed(&self, model: &Self::Model, samples: &[Sample], level: Level) -> Result<Tensor<2>>;

    /// Values that a step holds for each node at once, by an estimate.
    fn values_per_node(&self) -> usize;
}

/// What one step of training looks at.
#[derive(Debug)]
pub struct Step {
    /// As many views as the method wants.
    pub views: Vec<Sample>,
    /// What dropout draws from.
    pub draws: Draws,
    /// Seed of the run.
    pub seed: u64,
    /// The number of the step in the run, from zero.
    pub number: u64,
}

/// A method and its settings, as they stand in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MethodSettings {
    /// Nodes of one spectral view against the graph of the other: the paper's method.
    Span(Span),
    /// An encoder with random weights.
    Untrained(Untrained),
    /// The features as they are.
    Raw(Raw),
}

impl Default for MethodSettings {
    fn default() -> Self {
        MethodSettings::Span(Span::default())
    }
}

impl From<Span> for MethodSettings {
    fn from(span: Span) -> Self {
        MethodSettings::Span(span)
    }
}

impl From<Untrained> for MethodSettings {
    fn from(untrained: Untrained) -> Self {
        MethodSettings::Untrained(untrained)
    }
}

impl From<Raw> for MethodSettings {
    fn from(raw: Raw) -> Self {
        MethodSettings::Raw(raw)
    }
}

impl MethodSettings {
    /// The name, as it stands in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            MethodSettings::Span(_) => "span",
            MethodSettings::Untrained(_) => "untrained",
            MethodSettings::Raw(_) => "raw",
        }
    }

    /// How its encoders want messages weighted.
    pub fn weighting(&self) -> Weighting {
        match self {
            MethodSettings::Span(span) => span.weighting(),
            MethodSettings::Untrained(untrained) => untrained.weighting(),
            MethodSettings::Raw(raw) => raw.weighting(),
        }
    }

    /// The number of views that a step looks at.
    pub fn views(&self) -> usize {
        match self {
            MethodSettings::Span(span) => span.views(),
            MethodSettings::Untrained(untrained) => untrained.views(),
            MethodSettings::Raw(raw) => raw.views(),
        }
    }
}
