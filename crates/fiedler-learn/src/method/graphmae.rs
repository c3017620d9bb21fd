//! GraphMAE: features of masked nodes are rebuilt from what is left.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::{Int, TensorData};
use fiedler_augment::{Axis, Pipeline};
use fiedler_graph::random::stream;
use rand::RngExt;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph_contrast::{GraphEncoder, GraphReadout};
use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::encoder::{Encoder, EncoderSettings, GcnSettings, GinSettings, InputDims};
use crate::error::{Error, Result};
use crate::layer::{Activation, Linear};
use crate::loss::ScaledCosine;
use crate::ops::Pooling;
use crate::pass::Pass;
use crate::readout::JumpingKnowledge;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;
use crate::{FeatureMatrix, Initializer};

/// Settings of GraphMAE; masking, decoder and loss are those of the publication.
///
/// A share of the nodes is masked: their features become a learned token, or with a share of them those of another node. The encoder's
/// output goes through a linear map without bias, rows of masked nodes become zero once more, and a decoder of one layer rebuilds the
/// features; the loss is `(1 - cos(x, x̂))^γ`, the mean over masked nodes. There are no views and no negatives.
///
/// Published training: Adam without weight decay; rates, masks and widths are set for each dataset. The publication's program adds
/// self-loops to sets of graphs: a node counts twice, which is `encoder.epsilon = 1`. On single graphs it has attention layers, here graph
/// convolutions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphMae {
    /// The encoder: two graph isomorphism layers of 512 channels with PReLU and batch normalization. For the nodes of one
    /// graph, `gcn` serves better.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding, for sets of graphs.
    pub readout: GraphReadout,
    /// Share of the nodes that is masked in each step.
    pub mask_rate: f64,
    /// Share of the masked nodes that have the features of another node in place of the token.
    pub replace_rate: f64,
    /// γ: above 1, nodes that are nearly rebuilt count less.
    pub gamma: f64,
}

impl Default for GraphMae {
    fn default() -> Self {
        let gin = GinSettings {
            hidden_channels: 512,
            num_layers: 2,
            activation: Activation::Prelu,
            dropout: 0.2,
            ..GinSettings::default()
        };
        GraphMae {
            encoder: EncoderSettings::Gin(gin),
            readout: GraphReadout { pooling: Pooling::Mean, jumping_knowledge: JumpingKnowledge::Last },
            mask_rate: 0.5,
            replace_rate: 0.0,
            gamma: 1.0,
        }
    }
}

/// An encoder, the token of masked nodes, the map to the decoder, and the decoder.
#[derive(Module, Debug)]
pub struct GraphMaeModel {
    encoder: GraphEncoder,
    token: Param<Tensor<2>>,
    to_decoder: Linear,
    decoder: Encoder,
}

/// What a step masks.
struct MaskedNodes {
    /// Masked nodes, in ascending order.
    rows: Vec<u32>,
    /// For each of them the node whose features it has, where it is not the token.
    replaced: Vec<(u32, u32)>,
}

impl GraphMae {
    fn draw(&self, nodes: usize, step: &Step<'_>) -> MaskedNodes {
        let mut random = stream(step.seed, "masked nodes", step.clock.step);
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        order.shuffle(&mut random);
        // A share such as 0.29 of 100 must not lose a node to rounding; a step always has something to rebuild.
        let count = ((self.mask_rate * nodes as f64 + 1e-9) as usize).clamp(1, nodes);
        order.truncate(count);
        let replaced = (self.replace_rate * count as f64 + 1e-9) as usize;
        let replaced = order[..replaced].iter().map(|&node| (node, random.random_range(0..nodes as u32))).collect();
        order.sort_unstable();
        MaskedNodes { rows: order, replaced }
    }

    /// The decoder: one layer of the encoder's kind, from its channels to the features.
    fn decoder(&self, columns: usize) -> EncoderSettings {
        match &self.encoder {
            EncoderSettings::Gin(gin) => EncoderSettings::Gin(GinSettings {
                hidden_channels: columns,
                num_layers: 1,
                mlp_channels: Some(gin.hidden_channels),
                batch_norm: false,
                inner_norm: Some(gin.batch_norm),
                last_relu: false,
                embed: false,
                dropout: 0.0,
                ..gin.clone()
            }),
            _ => EncoderSettings::Gcn(GcnSettings {
                hidden_channels: columns,
                num_layers: 1,
                activation: Activation::Identity,
                ..GcnSettings::default()
            }),
        }
    }
}

impl Method for GraphMae {
    const INFO: MethodInfo = MethodInfo {
        name: "graphmae",
        about: "GraphMAE: features of masked nodes are rebuilt from what is left; no views, no negatives",
        citation: "Hou, Liu, Cen, Dong, Yang, Wang and Tang: GraphMAE: Self-Supervised Masked Graph Autoencoders, KDD 2022",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = GraphMaeModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.decoder(task.dims.nodes.max(1)).check()?;
        ScaledCosine { gamma: self.gamma }.check()?;
        if !(self.mask_rate > 0.0 && self.mask_rate <= 1.0) {
            return Err(Error::setting("mask_rate", self.mask_rate, "a number above 0, at most 1"));
        }
        if !(0.0..=1.0).contains(&self.replace_rate) {
            return Err(Error::setting("replace_rate", self.replace_rate, "a number from 0 to 1"));
        }
        if matches!(self.encoder, EncoderSettings::Mlp(_)) {
            let expected = "gcn, gin or decoupled: without edges there is nothing to rebuild features from";
            return Err(Error::setting("encoder", "mlp", expected));
        }
        if task.num_nodes < 2 {
            return Err(Error::setting("number of nodes", task.num_nodes, "at least 2, to rebuild one from others"));
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let (width, columns) = (self.encoder.out_channels() as f64, task.dims.nodes as f64);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: true,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                // What was hidden and what is rebuilt are written out.
                values_per_node: one.values_per_node + 3.0 * width + 4.0 * columns,
                weights: one.weights + width * (2.0 * width + columns),
                ..one
            },
        })
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings { epochs: 100, learning_rate: 1.5e-4, weight_decay: 0.0, ..TrainingSettings::default() })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<GraphMaeModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        let width = self.encoder.out_channels();
        let dims = InputDims { nodes: width, edges: None };
        Ok(GraphMaeModel {
            encoder,
            token: initializer.constant([1, task.dims.nodes], 0.0),
            to_decoder: Linear { weight: initializer.glorot(width, width), bias: None },
            decoder: self.decoder(task.dims.nodes).build(dims, initializer)?,
        })
    }

    fn loss(&self, model: &GraphMaeModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let nodes = sample.num_nodes();
        let masked = self.draw(nodes, step);
        let features = sample.features.with_masked_rows(&masked.rows, &masked.replaced, model.token.val())?;
        let graph = sample.graph(self.encoder.normalization())?;
        let hidden = model.encoder.layers_of(graph, &features, &step.pass)?.last();
        let device = hidden.device();
        let mut kept = vec![1f32; nodes];
        masked.rows.iter().for_each(|&row| kept[row as usize] = 0.0);
        let kept = Tensor::<2>::from_data(TensorData::new(kept, [nodes, 1]), &device);
        let hidden = model.to_decoder.forward(hidden) * kept;
        let rebuilt =
            model.decoder.forward(&graph.without_edge_features(), &FeatureMatrix::from(hidden), &step.pass)?;
        let rows: Vec<i64> = masked.rows.iter().map(|&row| row.into()).collect();
        let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [masked.rows.len()]), &device);
        let targets = sample.features.to_dense().select(0, rows);
        let rebuilt = rebuilt.last_of(Some(&masked.rows));
        Ok(ScaledCosine { gamma: self.gamma }.loss(targets, rebuilt)?.into())
    }

    fn embed(&self, model: &GraphMaeModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let layers = model.encoder.layers(&self.encoder, sample, &Pass::eval())?;
        Ok(match step.task.level {
            TaskLevel::Nodes => model.encoder.nodes(&layers),
            TaskLevel::Graphs => model.encoder.pool(&layers, sample),
        })
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![
            Axis::new("method.mask_rate", [0.25, 0.5, 0.75]),
            Axis::new("method.gamma", [1.0, 2.0, 3.0]),
            Axis::new("method.replace_rate", [0.0, 0.1]),
        ];
        if level == TaskLevel::Graphs {
            axes.push(Axis::new("method.readout.pooling", ["sum", "mean", "max"]));
        }
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(self.readout.untrained(&self.encoder))
    }

    fn encoder_field(&self) -> &'static str {
        "encoder.encoder"
    }
}
