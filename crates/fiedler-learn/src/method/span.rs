//! GCL-SPAN, the paper's method: nodes of one view are told which graph vector of the other view is theirs, and which nodes
//! are not of this graph.

use burn::Tensor;
use burn::module::Module;
use fiedler_graph::random::stream;
use serde::{Deserialize, Serialize};

use super::{Footprint, Method, Step};
use crate::data::{Level, Sample};
use crate::encoder::{Encoder, EncoderSettings, Layers, Widths};
use crate::error::{Error, Result};
use crate::objective::{Contrast, Negatives, Objective, Side};
use crate::readout::{Head, Jumping, Readout, ReadoutSettings};
use crate::{Initialiser, Weighting};

/// How the method is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Span {
    /// f in the paper.
    pub encoder: EncoderSettings,
    /// One encoder for both views, or two, one for each.
    pub encoders: usize,
    /// g in the paper.
    pub readout: ReadoutSettings,
    /// I in the paper.
    pub objective: Objective,
    /// What nodes are told apart from.
    pub negatives: NegativesFrom,
    /// What is embedded.
    pub embedding: EmbeddingOf,
}

impl Default for Span {
    fn default() -> Self {
        Span {
            encoder: EncoderSettings::default(),
            encoders: 1,
            readout: ReadoutSettings::default(),
            objective: Objective::default(),
            negatives: NegativesFrom::Auto,
            embedding: EmbeddingOf::Clean,
        }
    }
}

/// Where negatives come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativesFrom {
    /// From the batch where it has several graphs, else from shuffled features.
    #[default]
    Auto,
    /// Nodes of the same graph with each other's features.
    Shuffled,
    /// Nodes of the other graphs of the batch.
    InBatch,
}

/// What is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingOf {
    /// The graphs as they are.
    #[default]
    Clean,
    /// Two views drawn once more, side by side.
    Views,
}

/// All that the method learns.
#[derive(Module, Debug)]
pub struct SpanModel {
    encoders: Vec<Encoder>,
    readout: Readout,
}

impl SpanModel {
    /// The encoder of a view.
    fn encoder(&self, view: usize) -> &Encoder {
        &self.encoders[view.min(self.encoders.len() - 1)]
    }
}

/// What comes out of one view.
struct Encoded {
    nodes: Tensor<2>,
    graphs: Tensor<2>,
    negatives: Negatives,
}

impl Span {
    fn encode(&self, model: &SpanModel, step: &Step, view: usize) -> Result<Encoded> {
        let Sample { structure, input, segments, kept } = &step.views[view];
        let in_batch = match self.negatives {
            NegativesFrom::Auto => segments.len() > 1,
            NegativesFrom::Shuffled => false,
            NegativesFrom::InBatch => true,
        };
        let (layers, negatives) = if in_batch {
            (model.encoder(view).forward(structure, input, Some(&step.draws))?, Negatives::InBatch)
        } else {
            let mut random = stream(step.seed, "corruption", 2 * step.number + view as u64);
            let twin = structure.shuffled(segments, &mut random)?;
            let mut layers =
                model.encoder(view).forward_each(&[structure, &twin], input, Some(&step.draws))?.into_iter();
            match (layers.next(), layers.next()) {
                (Some(layers), Some(corrupted)) => (layers, Negatives::Corrupted(corrupted.last())),
                _ => unreachable!("as many as were asked for"),
            }
        };
        let graphs = match kept {
            Some(kept) => model.readout.forward(&layers.select(&kept.rows), &kept.segments),
            None => model.readout.forward(&layers, segments),
        };
        Ok(Encoded { nodes: layers.last(), graphs, negatives })
    }
}

impl Method for Span {
    type Model = SpanModel;

    fn weighting(&self) -> Weighting {
        self.encoder.weighting()
    }

    fn views(&self) -> usize {
        2
    }

    fn build(&self, widths: Widths, initialiser: &mut Initialiser) -> Result<SpanModel> {
        if !(1..=2).contains(&self.encoders) {
            return Err(Error::setting("encoders", self.encoders, "1, for both views, or 2, one for each"));
        }
        let (jumping, layers) = (self.readout.jumping, self.encoder.layers());
        if self.readout.head == Head::Identity && jumping == Jumping::Concatenate && layers > 1 {
            let expected = "linear or mlp, because nodes, of one layer, are compared with all layers side by side";
            return Err(Error::setting("head", "identity", expected));
        }
        let encoders = (0..self.encoders).map(|_| self.encoder.build(widths, initialiser)).collect::<Result<_>>()?;
        let readout = Readout::new(&self.readout, self.encoder.layers(), self.encoder.width(), initialiser)?;
        Ok(SpanModel { encoders, readout })
    }

    fn loss(&self, model: &SpanModel, step: &Step) -> Result<Tensor<1>> {
        let first = self.encode(model, step, 0)?;
        let second = self.encode(model, step, 1)?;
        let contrast = Contrast {
            sides: [
                Side { nodes: first.nodes, graphs: second.graphs, negatives: first.negatives },
                Side { nodes: second.nodes, graphs: first.graphs, negatives: second.negatives },
            ],
            segments: step.views[0].segments.clone(),
        };
        self.objective.loss(&contrast)
    }

    fn embeds_views(&self) -> bool {
        self.embedding == EmbeddingOf::Views
    }

    fn embed(&self, model: &SpanModel, samples: &[Sample], level: Level) -> Result<Tensor<2>> {
        let of = |encoder: &Encoder, sample: &Sample| -> Result<Tensor<2>> {
            let layers = encoder.forward(&sample.structure, &sample.input, None)?;
            Ok(pool(&model.readout, &layers, sample, level))
        };
        let parts: Vec<Tensor<2>> = match samples {
            [clean] => model.encoders.iter().map(|encoder| of(encoder, clean)).collect::<Result<_>>()?,
            views => {
                let each = views.iter().enumerate();
                each.map(|(view, sample)| of(model.encoder(view), sample)).collect::<Result<_>>()?
            }
        };
        Ok(Tensor::cat(parts, 1))
    }

    fn footprint(&self, widths: Widths) -> Footprint {
        let twins = if self.negatives == NegativesFrom::InBatch { 1.0 } else { 2.0 };
        let Footprint { values_per_node, weights } = Footprint::of_encoder(&self.encoder, widths);
        Footprint { values_per_node: 2.0 * twins * values_per_node, weights: self.encoders as f64 * weights }
    }
}

/// One row a node, or one a graph before the head.
pub(super) fn pool(readout: &Readout, layers: &Layers, sample: &Sample, level: Level) -> Tensor<2> {
    match (level, &sample.kept) {
        (Level::Nodes, _) => layers.last(),
        (Level::Graphs, Some(kept)) => readout.pool(&layers.select(&kept.rows), &kept.segments),
        (Level::Graphs, None) => readout.pool(layers, &sample.segments),
    }
}
