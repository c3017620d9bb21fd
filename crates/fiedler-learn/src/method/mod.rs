//! Methods, one file each: what views a method wants, which encoders and heads it has, its objective, and what its embedding is.
//!
//! All else is written once, in [`trainer`](crate::trainer): batches, views, steps, checkpoints. A new method is a file here that
//! implements [`Method`], and one variant of [`MethodSettings`].

mod raw;
mod span;
mod supervised;
mod untrained;

use burn::Tensor;
use burn::module::Module;
use serde::{Deserialize, Serialize};

pub use raw::{Nothing, Raw};
pub use span::{EmbeddingOf, NegativesFrom, Pairing, Span, SpanModel};
pub use supervised::{Supervised, SupervisedModel};
pub use untrained::{Untrained, UntrainedModel};

use crate::data::{Level, Sample};
use crate::dropout::Draws;
use crate::encoder::{EncoderSettings, Widths};
use crate::error::Result;
use crate::readout::ReadoutSettings;
use crate::{Initializer, Weighting};

/// A way to learn an encoder, or to do without one.
pub trait Method: Sync {
    /// All that is learned.
    type Model: Module;

    /// How its encoders want messages weighted.
    fn weighting(&self) -> Weighting;

    /// The number of views that a step looks at. A method that looks at none sees the graphs as they are.
    fn views(&self) -> usize;

    /// Whether labels tell it what to learn. A method that looks at neither views nor labels is not trained.
    fn learns_from_labels(&self) -> bool {
        false
    }

    /// Whether it can learn from batches of at most so many graphs.
    ///
    /// # Errors
    /// When they are too few.
    fn check(&self, graphs: usize) -> Result<()> {
        let _ = graphs;
        Ok(())
    }

    /// The model before training.
    ///
    /// # Errors
    /// When a setting is out of its range.
    fn build(&self, widths: Widths, initializer: &mut Initializer) -> Result<Self::Model>;

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

    /// What a step will hold in memory, by an estimate, before anything is made.
    fn footprint(&self, widths: Widths) -> Footprint;
}

/// What a step of training holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Footprint {
    /// Values for each node: what layers make of it, and their gradients.
    pub values_per_node: f64,
    /// Weights of the model.
    pub weights: f64,
    /// What a step compares, each with each.
    pub compared: Compared,
}

/// Vectors whose similarities a step holds all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compared {
    /// None, or too few to count.
    #[default]
    Nothing,
    /// The nodes of a batch with its graphs.
    NodesWithGraphs,
    /// So many nodes with each other.
    Nodes(usize),
}

impl Footprint {
    /// That of one pass through an encoder: the product and the output of each layer, what normalizations keep, and once more
    /// the widest for its gradient.
    pub(crate) fn of_encoder(encoder: &EncoderSettings, widths: Widths) -> Footprint {
        let (width, layers) = (encoder.width() as f64, encoder.layers() as f64);
        let (values, square) = match encoder {
            EncoderSettings::Gcn(settings) => (if settings.batch_norm { 3.0 } else { 2.0 }, 1.0),
            EncoderSettings::Gin(settings) => {
                let expansion = settings.expansion as f64;
                (3.0 + expansion * if settings.batch_norm { 3.0 } else { 2.0 }, 2.0 * expansion)
            }
        };
        let columns = (widths.nodes + widths.edges.unwrap_or(0)) as f64;
        Footprint {
            values_per_node: (layers * values + 1.0) * width,
            weights: (columns + layers * square * width) * width,
            compared: Compared::Nothing,
        }
    }
}

/// What one step of training looks at.
#[derive(Debug)]
pub struct Step {
    /// As many views as the method wants; the graphs as they are, where it wants none.
    pub views: Vec<Sample>,
    /// What embeddings describe.
    pub level: Level,
    /// Nodes, or graphs, by their rows in the step and the classes that are known of them, for methods that learn from labels.
    pub answers: Vec<(u32, u32)>,
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
    /// An encoder trained by labels.
    Supervised(Supervised),
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

impl From<Supervised> for MethodSettings {
    fn from(supervised: Supervised) -> Self {
        MethodSettings::Supervised(supervised)
    }
}

impl MethodSettings {
    /// The name, as it stands in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            MethodSettings::Span(_) => "span",
            MethodSettings::Untrained(_) => "untrained",
            MethodSettings::Raw(_) => "raw",
            MethodSettings::Supervised(_) => "supervised",
        }
    }

    /// How its encoders want messages weighted.
    pub fn weighting(&self) -> Weighting {
        match self {
            MethodSettings::Span(span) => span.weighting(),
            MethodSettings::Untrained(untrained) => untrained.weighting(),
            MethodSettings::Raw(raw) => raw.weighting(),
            MethodSettings::Supervised(supervised) => supervised.weighting(),
        }
    }

    /// The number of views that a step looks at.
    pub fn views(&self) -> usize {
        match self {
            MethodSettings::Span(span) => span.views(),
            MethodSettings::Untrained(untrained) => untrained.views(),
            MethodSettings::Raw(raw) => raw.views(),
            MethodSettings::Supervised(supervised) => supervised.views(),
        }
    }

    /// Whether labels tell it what to learn.
    pub fn learns_from_labels(&self) -> bool {
        matches!(self, MethodSettings::Supervised(_))
    }

    /// Whether there is anything to train.
    pub fn is_trained(&self) -> bool {
        self.views() > 0 || self.learns_from_labels()
    }

    /// The encoder, of methods that have one.
    pub fn encoder(&self) -> Option<&EncoderSettings> {
        match self {
            MethodSettings::Span(span) => Some(&span.encoder),
            MethodSettings::Untrained(untrained) => Some(&untrained.encoder),
            MethodSettings::Supervised(supervised) => Some(&supervised.encoder),
            MethodSettings::Raw(_) => None,
        }
    }

    /// How the nodes of a graph become one vector, of methods that learn it.
    pub fn readout(&self) -> Option<&ReadoutSettings> {
        match self {
            MethodSettings::Span(span) => Some(&span.readout),
            MethodSettings::Untrained(untrained) => Some(&untrained.readout),
            MethodSettings::Supervised(supervised) => Some(&supervised.readout),
            MethodSettings::Raw(_) => None,
        }
    }
}
