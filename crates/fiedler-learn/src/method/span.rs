//! GCL-SPAN, the paper's method: nodes of one view are told which graph vector of the other view is theirs, and which nodes
//! are not of this graph. Beyond the paper, nodes may be told which node of the other view is theirs, and graphs which graph.

use burn::Tensor;
use burn::module::Module;
use fiedler_graph::random::stream;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Compared, Footprint, Method, Step};
use crate::data::{Level, Sample};
use crate::encoder::{Encoder, EncoderSettings, Layers, Widths};
use crate::error::{Error, Result};
use crate::objective::{Contrast, Negatives, Objective, Pairs, Side};
use crate::readout::{Head, Jumping, Readout, ReadoutSettings};
use crate::{Initializer, Weighting};

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
    /// What is recognized across views.
    #[serde(skip_serializing_if = "Pairing::is_of_the_paper")]
    pub pairs: Pairing,
    /// What nodes are told apart from, where they are paired with graphs.
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
            pairs: Pairing::NodeGraph,
            negatives: NegativesFrom::Auto,
            embedding: EmbeddingOf::Clean,
        }
    }
}

/// What of one view is to recognize what of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Pairing {
    /// Nodes the vector of their graph, as in the paper.
    #[default]
    NodeGraph,
    /// Nodes themselves, among other nodes of both views.
    NodeNode {
        /// How many nodes are drawn anew for each step to be told apart; the cost grows with the square.
        #[serde(default = "Pairing::usually_at_once", rename = "at-once")]
        at_once: usize,
    },
    /// Graphs themselves, among the other graphs of the batch.
    GraphGraph,
}

impl Pairing {
    /// Nodes themselves: as many at once as so far, or as is usual.
    pub fn node_node(self) -> Pairing {
        match self {
            Pairing::NodeNode { .. } => self,
            _ => Pairing::NodeNode { at_once: Pairing::usually_at_once() },
        }
    }

    fn is_of_the_paper(&self) -> bool {
        *self == Pairing::NodeGraph
    }

    fn usually_at_once() -> usize {
        1024
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
    /// Both views through their encoders.
    fn layers(&self, model: &SpanModel, step: &Step) -> Result<[Layers; 2]> {
        let of = |view: usize| {
            let Sample { structure, input, .. } = &step.views[view];
            model.encoder(view).forward(structure, input, Some(&step.draws))
        };
        Ok([of(0)?, of(1)?])
    }

    fn nodes_and_graphs(&self, model: &SpanModel, step: &Step) -> Result<Contrast> {
        let first = self.encode(model, step, 0)?;
        let second = self.encode(model, step, 1)?;
        Ok(Contrast {
            sides: [
                Side { nodes: first.nodes, graphs: second.graphs, negatives: first.negatives },
                Side { nodes: second.nodes, graphs: first.graphs, negatives: second.negatives },
            ],
            segments: step.views[0].segments.clone(),
        })
    }

    fn encode(&self, model: &SpanModel, step: &Step, view: usize) -> Result<Encoded> {
        let Sample { structure, input, segments, .. } = &step.views[view];
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
        Ok(Encoded { nodes: layers.last(), graphs: graphs(model, &step.views[view], &layers), negatives })
    }
}

/// The vectors of a view's graphs.
fn graphs(model: &SpanModel, view: &Sample, layers: &Layers) -> Tensor<2> {
    match &view.kept {
        Some(kept) => model.readout.forward(&layers.select(&kept.rows), &kept.segments),
        None => model.readout.forward(layers, &view.segments),
    }
}

/// The nodes that a step tells apart, of those that both views have kept; none where it is all of them.
fn rows_to_pair(step: &Step, at_once: usize) -> Option<Vec<u32>> {
    let all = step.views[0].segments.rows();
    let mut rows: Vec<u32> = (0..all as u32).collect();
    for kept in step.views.iter().filter_map(|view| view.kept.as_ref()) {
        rows.retain(|row| kept.rows.binary_search(row).is_ok());
    }
    if rows.len() < 2 {
        // Views of a small graph may have nothing in common; what was dropped still has its features.
        rows = (0..all as u32).collect();
    }
    if rows.len() > at_once {
        let (drawn, _) = rows.partial_shuffle(&mut stream(step.seed, "pairs", step.number), at_once);
        drawn.sort_unstable();
        rows = drawn.to_vec();
    }
    (rows.len() < all).then_some(rows)
}

impl Method for Span {
    type Model = SpanModel;

    fn weighting(&self) -> Weighting {
        self.encoder.weighting()
    }

    fn views(&self) -> usize {
        2
    }

    fn check(&self, graphs: usize) -> Result<()> {
        if self.pairs == Pairing::GraphGraph && graphs < 2 {
            let expected = "node-graph or node-node for one graph; graphs need others in their batch";
            return Err(Error::setting("pairs", "graph-graph", expected));
        }
        Ok(())
    }

    fn build(&self, widths: Widths, initializer: &mut Initializer) -> Result<SpanModel> {
        if !(1..=2).contains(&self.encoders) {
            return Err(Error::setting("encoders", self.encoders, "1, for both views, or 2, one for each"));
        }
        if let Pairing::NodeNode { at_once: at_once @ 0..2 } = self.pairs {
            return Err(Error::setting("at-once", at_once, "at least 2 nodes to be told apart"));
        }
        let (jumping, layers) = (self.readout.jumping, self.encoder.layers());
        let is_wider = jumping == Jumping::Concatenate && layers > 1;
        if self.pairs == Pairing::NodeGraph && self.readout.head == Head::Identity && is_wider {
            let expected =
                "linear, mlp or mlp-elu, because nodes, of one layer, are compared with all layers side by side";
            return Err(Error::setting("head", "identity", expected));
        }
        let encoders = (0..self.encoders).map(|_| self.encoder.build(widths, initializer)).collect::<Result<_>>()?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        Ok(SpanModel { encoders, readout })
    }

    fn loss(&self, model: &SpanModel, step: &Step) -> Result<Tensor<1>> {
        match self.pairs {
            Pairing::NodeGraph => self.objective.loss(&self.nodes_and_graphs(model, step)?),
            Pairing::NodeNode { at_once } => {
                let rows = rows_to_pair(step, at_once);
                let [first, second] = self.layers(model, step)?.map(|layers| match &rows {
                    Some(rows) => model.readout.nodes(&layers.select(rows)),
                    None => model.readout.nodes(&layers),
                });
                let views = [first, second].map(|nodes| model.readout.head(nodes));
                self.objective.loss_of_pairs(&Pairs::new(views)?)
            }
            Pairing::GraphGraph => {
                self.check(step.views[0].segments.len())?;
                let [first, second] = self.layers(model, step)?;
                let views = [graphs(model, &step.views[0], &first), graphs(model, &step.views[1], &second)];
                self.objective.loss_of_pairs(&Pairs::new(views)?)
            }
        }
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
        let has_twins = self.pairs == Pairing::NodeGraph && self.negatives != NegativesFrom::InBatch;
        let twins = if has_twins { 2.0 } else { 1.0 };
        let one = Footprint::of_encoder(&self.encoder, widths);
        Footprint {
            values_per_node: 2.0 * twins * one.values_per_node,
            weights: self.encoders as f64 * one.weights,
            compared: match self.pairs {
                Pairing::NodeGraph => Compared::NodesWithGraphs,
                Pairing::NodeNode { at_once } => Compared::Nodes(at_once),
                Pairing::GraphGraph => Compared::Nothing,
            },
        }
    }
}

/// One row a node, or one a graph before the head.
pub(super) fn pool(readout: &Readout, layers: &Layers, sample: &Sample, level: Level) -> Tensor<2> {
    match (level, &sample.kept) {
        (Level::Nodes, _) => readout.embed(layers, &sample.structure),
        (Level::Graphs, Some(kept)) => readout.pool(&layers.select(&kept.rows), &kept.segments),
        (Level::Graphs, None) => readout.pool(layers, &sample.segments),
    }
}
