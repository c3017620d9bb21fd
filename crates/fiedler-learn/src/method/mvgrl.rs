//! MVGRL: nodes of the graph are told from shuffled ones given a summary of its diffusion, and the other way round; in sets of graphs, from
//! nodes of other graphs.

use std::sync::Arc;

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::sigmoid;
use fiedler_augment::pipeline::{Compose, MaskRates, SchemeView};
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{Axis, FeatureMasking, Pipeline, SchemeSettings};
use fiedler_graph::random::stream;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Compared, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained, graph_contrast, two_views};
use crate::discriminator::Discriminator;
use crate::encoder::{EncoderSettings, Gcn, GcnSettings, Layers};
use crate::error::{Error, Result};
use crate::feed_forward::FeedForward;
use crate::layer::Activation;
use crate::loss::{JensenShannon, LocalGlobal, LocalGlobalSide, Negatives};
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;
use crate::{Initializer, MessageGraph, Normalization};

/// Settings of MVGRL; encoders, summaries, discriminator, heads and losses are those of the publication.
///
/// Two encoders, one for the graph and one for its diffusion by personalized PageRank, `S = α (I - (1 - α) Â)⁻¹`. The diffusion is applied as a
/// power series that is cut off, and never written out. The other forms are views: with the scheme `diffusion` (exact, or sparse with the
/// largest entries of each node) the second view is a diffusion already and is taken as it is. Embeddings are the sum of what both encoders
/// make of the graph and of its diffusion, nothing hidden.
///
/// Published training: Adam with learning rate 1e-3 and no weight decay, up to 3,000 steps, patience 20 on the training loss; each step looks at
/// blocks of nodes with consecutive ids, here at the whole graph, as in DGL's version with 500 epochs. The publication's program adds two
/// self-loops to each node, by accident, here one.
///
/// In sets of graphs, nodes of one view (last layer) and graphs of the other (the sum of each layer, side by side) go through a head each that
/// both views share, and their dot products are told from those with other graphs of the batch by the Jensen–Shannon bound. The embedding
/// of a graph is the sum of both views' graphs after the head. Published settings for sets: 2, 8 or 12 layers of 512 channels, 32 to
/// 256 graphs a batch, 20 to 100 epochs. The publication's program never trains its graph convolutions there, and rows that only pad
/// graphs to one size act as negatives; not so here, where encoders are trained and nothing is padded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mvgrl {
    /// Both encoders, a gcn: one graph convolution of 512 channels with PReLU.
    pub encoder: EncoderSettings,
    /// What the second encoder makes of its view.
    pub diffusion: MvgrlDiffusion,
}

/// What becomes of the second view.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum MvgrlDiffusion {
    /// Its diffusion, as a power series that is cut off; a view that is a diffusion already stays as it is.
    Truncated(TruncatedPageRank),
    /// The view as it is, which takes the place of the diffusion.
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    Identity,
}

/// Personalized PageRank as a power series that is cut off: `α Σ_{k ≤ K} (1 - α)ᵏ Âᵏ`, which is within `(1 - α)^(K + 1)` of the whole series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TruncatedPageRank {
    /// α, the probability of starting anew.
    pub teleport: f64,
    /// K, the highest power: with α = 0.2, 20 is within 0.9 % of the whole series and 30 within 0.1 %.
    pub steps: usize,
}

impl Default for TruncatedPageRank {
    fn default() -> Self {
        TruncatedPageRank { teleport: 0.2, steps: 30 }
    }
}

impl TruncatedPageRank {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        if !(self.teleport > 0.0 && self.teleport <= 1.0) {
            return Err(Error::setting("teleport", self.teleport, "a number above 0, at most 1"));
        }
        if self.steps > 1000 {
            return Err(Error::setting("steps", self.steps, "at most 1,000"));
        }
        Ok(())
    }

    /// The coefficients of the series, from that of the identity on.
    ///
    /// ```
    /// use fiedler_learn::method::TruncatedPageRank;
    /// let coefficients = TruncatedPageRank { teleport: 0.5, steps: 2 }.coefficients();
    /// assert_eq!(coefficients, [0.5, 0.25, 0.125]);
    /// ```
    pub fn coefficients(&self) -> Vec<f32> {
        let power = |k: usize| self.teleport * (1.0 - self.teleport).powi(k as i32);
        (0..=self.steps).map(|k| power(k) as f32).collect()
    }
}

impl Default for Mvgrl {
    fn default() -> Self {
        let encoder = EncoderSettings::Gcn(GcnSettings { num_layers: 1, ..GcnSettings::default() });
        Mvgrl { encoder, diffusion: MvgrlDiffusion::Truncated(TruncatedPageRank::default()) }
    }
}

/// One encoder for each view, and the discriminator of both.
#[derive(Module, Debug)]
pub struct MvgrlModel {
    adjacency: Gcn,
    diffusion: Gcn,
    /// For the nodes of one graph.
    discriminator: Option<Discriminator>,
    /// For sets of graphs: the head of nodes.
    local: Option<FeedForward>,
    /// For sets of graphs: the head of graphs.
    global: Option<FeedForward>,
}

impl Mvgrl {
    fn gcn(&self) -> Result<&GcnSettings> {
        match &self.encoder {
            EncoderSettings::Gcn(settings) => Ok(settings),
            EncoderSettings::Gin(_) => Err(refuse("gin")),
            EncoderSettings::Decoupled(_) => Err(refuse("decoupled")),
            EncoderSettings::Mlp(_) => Err(refuse("mlp")),
        }
    }

    /// Both views through their encoders.
    fn layers(&self, model: &MvgrlModel, step: &Step<'_>, pass: &Pass) -> Result<[Layers; 2]> {
        let [first, second] = [&step.views[0], &step.views[1]];
        Ok([
            model.adjacency.forward(first.graph(Normalization::Symmetric)?, &first.features, pass)?,
            model.diffusion.forward(&self.diffused(second)?, &second.features, pass)?,
        ])
    }

    /// The graphs of both views after their head.
    fn graphs(&self, global: &FeedForward, step: &Step<'_>, layers: &[Layers; 2]) -> [Tensor<2>; 2] {
        [0, 1].map(|view| {
            let sample = &step.views[view];
            let pool = |nodes: &Tensor<2>| ops::pool(nodes.clone(), &sample.offsets, Pooling::Sum);
            global.forward(Tensor::cat(layers[view].each().iter().map(pool).collect(), 1))
        })
    }

    /// Nodes of each view against graphs of the other.
    fn loss_of_graphs(
        &self,
        model: &MvgrlModel,
        [local, global]: [&FeedForward; 2],
        step: &Step<'_>,
    ) -> Result<Tensor<1>> {
        let layers = self.layers(model, step, &step.pass)?;
        let [first, second] = self.graphs(global, step, &layers);
        let side = |view: usize, graphs: Tensor<2>| LocalGlobalSide {
            nodes: local.forward(layers[view].last()),
            graphs,
            negatives: Negatives::InBatch,
        };
        let contrast = LocalGlobal { sides: [side(0, second), side(1, first)], offsets: step.views[0].offsets.clone() };
        JensenShannon::default().loss(&contrast)
    }

    /// The graph that the second encoder walks.
    fn diffused(&self, sample: &Sample) -> Result<MessageGraph> {
        let graph = sample.graph(Normalization::Symmetric)?;
        match self.diffusion {
            MvgrlDiffusion::Truncated(series) if !graph.is_as_given() => graph.with_series(&series.coefficients()),
            _ => Ok(graph.clone()),
        }
    }
}

fn refuse(encoder: &str) -> Error {
    Error::setting("encoder", encoder, "gcn, which can walk a diffusion")
}

/// The part of a pipeline that is embedded: a diffusion, whatever else is done to views of training.
fn diffusion_of(pipeline: &Pipeline) -> Pipeline {
    match pipeline {
        Pipeline::Diffuse(_) | Pipeline::Scheme(SchemeView { scheme: SchemeSettings::Diffusion(_), .. }) => {
            pipeline.clone()
        }
        Pipeline::Compose(Compose { steps }) => {
            steps.iter().map(diffusion_of).find(|step| !step.is_identity()).unwrap_or_default()
        }
        _ => Pipeline::Identity,
    }
}

impl Method for Mvgrl {
    const INFO: MethodInfo = MethodInfo {
        name: "mvgrl",
        about: "MVGRL: nodes of the graph are told from shuffled ones, or those of other graphs, by a summary of its diffusion, and the other way round",
        citation: "Hassani and Khasahmadi: Contrastive Multi-View Representation Learning on Graphs, ICML 2020",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = MvgrlModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.gcn()?.check()?;
        if let MvgrlDiffusion::Truncated(series) = self.diffusion {
            series.check()?;
        }
        two_views::check(Self::INFO.name, task)?;
        if task.level == TaskLevel::Graphs {
            graph_contrast::check_batch(task)?;
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let width = self.encoder.out_channels() as f64;
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![Normalization::Symmetric],
            footprint: Footprint {
                values_per_node: 4.0 * one.values_per_node + 2.0 * width,
                weights: 2.0 * one.weights + width * width,
                compared: match task.level {
                    TaskLevel::Nodes => Compared::Nothing,
                    TaskLevel::Graphs => Compared::NodesWithGraphs,
                },
                ..one
            },
        })
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let scheme = SchemeSettings::Uniform(Uniform { first: Rates::default(), second: Rates::default() });
        let hidden = MaskRates::default();
        Some((scheme, FeatureMasking { first: hidden, second: hidden, ..FeatureMasking::default() }))
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 500,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            patience: Some(20),
            ..TrainingSettings::default()
        })
    }

    fn embedding_views(&self, given: &[Pipeline]) -> Vec<Pipeline> {
        match given {
            [one, other] => vec![diffusion_of(one), diffusion_of(other)],
            _ => vec![Pipeline::Identity; 2],
        }
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<MvgrlModel> {
        let settings = self.gcn()?;
        let adjacency = Gcn::new(settings, task.dims.nodes, initializer)?;
        let diffusion = Gcn::new(settings, task.dims.nodes, initializer)?;
        let (width, all) = (self.encoder.out_channels(), self.encoder.all_channels());
        Ok(match task.level {
            TaskLevel::Nodes => {
                let discriminator = Some(Discriminator::new(width, initializer));
                MvgrlModel { adjacency, diffusion, discriminator, local: None, global: None }
            }
            TaskLevel::Graphs => {
                let local = Some(FeedForward::new(width, width, Activation::Prelu, initializer));
                let global = Some(FeedForward::new(all, width, Activation::Prelu, initializer));
                MvgrlModel { adjacency, diffusion, discriminator: None, local, global }
            }
        })
    }

    fn loss(&self, model: &MvgrlModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        if let (Some(local), Some(global)) = (&model.local, &model.global) {
            return Ok(self.loss_of_graphs(model, [local, global], step)?.into());
        }
        let Some(discriminator) = &model.discriminator else {
            return Err(Error::setting("model", "without heads", "one that was built for this task"));
        };
        let [first, second] = [&step.views[0], &step.views[1]];
        let mut order: Vec<u32> = (0..first.num_nodes() as u32).collect();
        order.shuffle(&mut stream(step.seed, "corruption", step.clock.step));
        let order: Arc<[u32]> = order.into();
        let nodes = |encoder: &Gcn, graph: &MessageGraph, sample: &Sample| -> Result<[Tensor<2>; 2]> {
            let layers = encoder.forward_with_shuffled(graph, &sample.features, &order, &step.pass)?;
            Ok(layers.each_ref().map(Layers::last))
        };
        let [a, a_shuffled] = nodes(&model.adjacency, first.graph(Normalization::Symmetric)?, first)?;
        let [b, b_shuffled] = nodes(&model.diffusion, &self.diffused(second)?, second)?;
        let summary =
            |rows: &Tensor<2>, sample: &Sample| sigmoid(ops::pool(rows.clone(), &sample.offsets, Pooling::Mean));
        let (of_a, of_b) = (summary(&a, first), summary(&b, second));
        let loss = discriminator.loss(b, b_shuffled, of_a, &second.offsets)
            + discriminator.loss(a, a_shuffled, of_b, &first.offsets);
        Ok((loss / 2.0).into())
    }

    fn embed(&self, model: &MvgrlModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let layers = self.layers(model, step, &Pass::eval())?;
        let [first, second] = match &model.global {
            Some(global) => self.graphs(global, step, &layers),
            None => layers.each_ref().map(Layers::last),
        };
        Ok(first + second)
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![self.encoder.width_axis()];
        if matches!(self.diffusion, MvgrlDiffusion::Truncated(_)) {
            axes.push(Axis::new("method.diffusion.teleport", [0.05, 0.1, 0.2, 0.4]));
        }
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }

    fn encoder_field(&self) -> &'static str {
        "adjacency"
    }
}
