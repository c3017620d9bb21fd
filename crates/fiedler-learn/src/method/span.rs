//! GCL-SPAN, the paper's method: nodes of one view are told which graph vector of the other view is theirs, and which nodes
//! are not of this graph. Beyond the paper, nodes may be told which node of the other view is theirs, and graphs which graph.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, FeatureMasking, Pipeline, SchemeSettings};
use fiedler_graph::random::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::untrained::{check_extra_propagation, embed, is_zero};
use super::{Anchors, Compared, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::GraphOffsets;
use crate::Initializer;
use crate::encoder::{Encoder, EncoderSettings, Layers};
use crate::error::{Error, Result};
use crate::loss::{ContrastiveLoss, LocalGlobal, LocalGlobalSide, Negatives, PositivePairs};
use crate::pass::Pass;
use crate::readout::{JumpingKnowledge, Projector, Readout, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};

/// Settings of GCL-SPAN.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Span {
    /// Encoder: from features and graph to one vector a node, f in the paper.
    pub encoder: EncoderSettings,
    /// Whether both views have one encoder; otherwise each has its own.
    pub share_encoder: bool,
    /// Readout: from the vectors of nodes to one vector a graph, g in the paper.
    pub readout: ReadoutSettings,
    /// Contrastive loss, I in the paper.
    pub loss: ContrastiveLoss,
    /// What is contrasted across views.
    #[serde(skip_serializing_if = "ContrastMode::is_of_the_paper")]
    pub contrast: ContrastMode,
    /// What nodes are told apart from, where they are contrasted with graphs.
    pub negatives: NegativesFrom,
    /// Whether two views that are drawn once more are embedded, side by side, instead of the graphs as they are.
    pub embed_views: bool,
    /// Smoothing of node embeddings after training: `h + Âʳh` with the encoder's propagation matrix, or `h` where `r` is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub extra_propagation: usize,
}

impl Default for Span {
    fn default() -> Self {
        Span {
            encoder: EncoderSettings::default(),
            share_encoder: true,
            readout: ReadoutSettings::default(),
            loss: ContrastiveLoss::default(),
            contrast: ContrastMode::LocalGlobal,
            negatives: NegativesFrom::Auto,
            embed_views: false,
            extra_propagation: 0,
        }
    }
}

/// Contrast mode: what of one view is to recognize what of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
pub enum ContrastMode {
    /// Nodes the vector of their graph, as in the paper.
    #[default]
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    LocalGlobal,
    /// Nodes themselves, among other nodes of both views.
    LocalLocal {
        /// How many nodes are drawn anew for each step to be told apart; the cost grows with the square.
        #[serde(default = "ContrastMode::usual_anchors")]
        anchors: usize,
    },
    /// Graphs themselves, among the other graphs of the batch.
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    GlobalGlobal,
}

impl ContrastMode {
    /// Nodes themselves: as many anchors as so far, or as is usual.
    pub fn local_local(self) -> ContrastMode {
        match self {
            ContrastMode::LocalLocal { .. } => self,
            _ => ContrastMode::LocalLocal { anchors: ContrastMode::usual_anchors() },
        }
    }

    fn is_of_the_paper(&self) -> bool {
        *self == ContrastMode::LocalGlobal
    }

    fn usual_anchors() -> usize {
        1024
    }
}

impl std::str::FromStr for ContrastMode {
    type Err = Error;

    fn from_str(name: &str) -> Result<ContrastMode> {
        match name {
            "local-global" | "node-graph" => Ok(ContrastMode::LocalGlobal),
            "local-local" | "node-node" => Ok(ContrastMode::default().local_local()),
            "global-global" | "graph-graph" => Ok(ContrastMode::GlobalGlobal),
            _ => {
                Err(Error::unknown_name("contrast", name, ["local-global", "local-local", "global-global"].into_iter()))
            }
        }
    }
}

/// Where negatives come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NegativesFrom {
    /// From the batch where it has several graphs, else from shuffled features.
    #[default]
    Auto,
    /// Nodes of a corruption: the same graph with shuffled features.
    #[serde(alias = "shuffled")]
    Corruption,
    /// Nodes of the other graphs of the batch.
    InBatch,
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
    fn in_batch(&self, graphs: usize) -> bool {
        match self.negatives {
            NegativesFrom::Auto => graphs > 1,
            NegativesFrom::Corruption => false,
            NegativesFrom::InBatch => true,
        }
    }

    fn forward(&self, encoder: &Encoder, sample: &Sample, pass: &Pass) -> Result<Layers> {
        encoder.forward(sample.graph(self.encoder.normalization())?, &sample.features, pass)
    }

    /// Both views through their encoders.
    fn layers(&self, model: &SpanModel, step: &Step<'_>) -> Result<[Layers; 2]> {
        let of = |view: usize| self.forward(model.encoder(view), &step.views[view], &step.pass);
        Ok([of(0)?, of(1)?])
    }

    fn local_global(&self, model: &SpanModel, step: &Step<'_>) -> Result<LocalGlobal> {
        let first = self.encode(model, step, 0)?;
        let second = self.encode(model, step, 1)?;
        Ok(LocalGlobal {
            sides: [
                LocalGlobalSide { nodes: first.nodes, graphs: second.graphs, negatives: first.negatives },
                LocalGlobalSide { nodes: second.nodes, graphs: first.graphs, negatives: second.negatives },
            ],
            offsets: match step.rows {
                Some(rows) => GraphOffsets::new(vec![0, rows.len() as u32]),
                None => step.views[0].offsets.clone(),
            },
        })
    }

    fn encode(&self, model: &SpanModel, step: &Step<'_>, view: usize) -> Result<Encoded> {
        let sample = &step.views[view];
        let (layers, negatives) = if self.in_batch(sample.num_graphs()) {
            (self.forward(model.encoder(view), sample, &step.pass)?, Negatives::InBatch)
        } else {
            let graph = sample.graph(self.encoder.normalization())?;
            let mut random = stream(step.seed, "corruption", 2 * step.clock.step + view as u64);
            let corruption = graph.corrupted(&sample.offsets, &mut random)?;
            let encoder = model.encoder(view);
            let mut layers = encoder.forward_each(&[graph, &corruption], &sample.features, &step.pass)?.into_iter();
            match (layers.next(), layers.next()) {
                (Some(layers), Some(corrupted)) => (layers, Negatives::Corrupted(corrupted.last_of(step.rows))),
                _ => unreachable!("as many as were asked for"),
            }
        };
        Ok(Encoded { nodes: layers.last_of(step.rows), graphs: graphs(model, sample, &layers), negatives })
    }
}

/// The vectors of a view's graphs.
fn graphs(model: &SpanModel, view: &Sample, layers: &Layers) -> Tensor<2> {
    match &view.kept {
        Some(kept) => model.readout.forward(&layers.select(&kept.rows), &kept.offsets),
        None => model.readout.forward(layers, &view.offsets),
    }
}

impl Method for Span {
    const INFO: MethodInfo = MethodInfo {
        name: "span",
        about: "GCL-SPAN: nodes of one spectral view against the graph of the other, the paper's method",
        citation: "Lin, Chen and Wang: Spectral Augmentation for Self-Supervised Learning on Graphs, ICLR 2023",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = SpanModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.loss.check()?;
        check_extra_propagation(self.extra_propagation, &self.encoder)?;
        if task.num_views != 2 {
            return Err(Error::setting("number of views", task.num_views, "2, which is what span contrasts"));
        }
        let alone = task.batch_graphs < 2;
        match self.contrast {
            ContrastMode::GlobalGlobal if alone => {
                let expected = "local-global or local-local for one graph; graphs need others in their batch";
                return Err(Error::setting("contrast", "global-global", expected));
            }
            ContrastMode::LocalLocal { anchors } if task.num_nodes >= 2 => Anchors::Count(anchors).check()?,
            ContrastMode::LocalLocal { .. } => {
                return Err(Error::setting("number of nodes", task.num_nodes, "at least 2 to be told apart"));
            }
            ContrastMode::LocalGlobal if alone && self.negatives == NegativesFrom::InBatch => {
                let expected = "corruption or auto: one graph has no others in its batch";
                return Err(Error::setting("negatives", "in-batch", expected));
            }
            _ => {}
        }
        let is_wider = self.readout.jumping_knowledge == JumpingKnowledge::Concatenate && self.encoder.num_layers() > 1;
        if self.contrast == ContrastMode::LocalGlobal && self.readout.projector == Projector::Identity && is_wider {
            let expected =
                "linear, mlp or mlp-elu, because nodes, of one layer, are compared with all layers side by side";
            return Err(Error::setting("projector", "identity", expected));
        }
        let corrupts = self.contrast == ContrastMode::LocalGlobal && self.negatives != NegativesFrom::InBatch;
        if corrupts && (alone || self.negatives == NegativesFrom::Corruption) {
            self.encoder.check_corruption()?;
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                values_per_node: if corrupts { 4.0 } else { 2.0 } * one.values_per_node,
                // What the projector makes of both views comes on top.
                transient_per_node: 2.0 * one.transient_per_node,
                weights: if self.share_encoder { 1.0 } else { 2.0 } * one.weights,
                compared: match self.contrast {
                    ContrastMode::LocalGlobal => Compared::NodesWithGraphs,
                    ContrastMode::LocalLocal { anchors } => match self.loss {
                        // Never held all at once.
                        ContrastiveLoss::InfoNce(_) => Compared::Nothing,
                        ContrastiveLoss::JensenShannon(_) => Compared::Nodes(anchors),
                    },
                    ContrastMode::GlobalGlobal => Compared::Nothing,
                },
            },
        })
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        Some(Default::default())
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn embedding_views(&self, given: &[Pipeline]) -> Vec<Pipeline> {
        if self.embed_views && !given.is_empty() { given.to_vec() } else { vec![Pipeline::Identity] }
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SpanModel> {
        let count = if self.share_encoder { 1 } else { 2 };
        let encoders = (0..count).map(|_| self.encoder.build(task.dims, initializer)).collect::<Result<_>>()?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        Ok(SpanModel { encoders, readout })
    }

    fn loss(&self, model: &SpanModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let loss = match self.contrast {
            ContrastMode::LocalGlobal => self.loss.loss(&self.local_global(model, step)?)?,
            ContrastMode::LocalLocal { anchors: count } => {
                let rows = Anchors::Count(count).draw(step);
                let [first, second] = self.layers(model, step)?.map(|layers| match &rows {
                    Some(rows) => model.readout.nodes(&layers.select(rows)),
                    None => model.readout.nodes(&layers),
                });
                let views = [first, second].map(|nodes| model.readout.project(nodes));
                self.loss.loss_of_pairs(&PositivePairs::new(views)?)?
            }
            ContrastMode::GlobalGlobal => {
                let [first, second] = self.layers(model, step)?;
                let views = [graphs(model, &step.views[0], &first), graphs(model, &step.views[1], &second)];
                self.loss.loss_of_pairs(&PositivePairs::new(views)?)?
            }
        };
        Ok(loss.into())
    }

    fn embed(&self, model: &SpanModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let of = |encoder: &Encoder, sample: &Sample| -> Result<Tensor<2>> {
            let graph = sample.graph(self.encoder.normalization())?;
            let layers = encoder.forward(graph, &sample.features, &Pass::eval())?;
            Ok(embed(&model.readout, &layers, sample, graph, step.task.level, self.extra_propagation))
        };
        let parts: Vec<Tensor<2>> = match step.views {
            [clean] => model.encoders.iter().map(|encoder| of(encoder, clean)).collect::<Result<_>>()?,
            views => {
                let each = views.iter().enumerate();
                each.map(|(view, sample)| of(model.encoder(view), sample)).collect::<Result<_>>()?
            }
        };
        Ok(Tensor::cat(parts, 1))
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        let of_graphs = level == TaskLevel::Graphs;
        let info_nce = [1.0, 0.5, 0.2].map(|temperature| json!({ "name": "info-nce", "temperature": temperature }));
        let jensen_shannon =
            ["dot", "cosine"].map(|similarity| json!({ "name": "jensen-shannon", "similarity": similarity }));
        let other_contrast = if of_graphs { "global-global" } else { "local-local" };
        let projectors = ["identity", "linear", "mlp", "mlp-elu"];
        let mut axes = vec![
            Axis::new("method.loss", info_nce.into_iter().chain(jensen_shannon)),
            Axis::new("method.contrast.name", ["local-global", other_contrast]),
            Axis::new("method.readout.projector", projectors.into_iter().skip(usize::from(of_graphs))),
        ];
        if !of_graphs {
            axes.push(Axis::new("method.readout.sigmoid", [false, true]));
        }
        axes.push(Axis::new("method.share_encoder", [true, false]));
        axes.extend(EncoderSettings::search_axes(level));
        axes.push(Axis::new("method.readout.jumping_knowledge", ["last", "concatenate"]));
        axes.push(match of_graphs {
            true => Axis::new("method.readout.pooling", ["sum", "mean"]),
            false => Axis::new("method.extra_propagation", [0, 2, 4]),
        });
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        let Span { encoder, readout, extra_propagation, .. } = self.clone();
        Some(Untrained { encoder, readout, extra_propagation })
    }

    fn encoder_field(&self) -> &'static str {
        "encoders.0"
    }
}
