//! GraphCL with a policy of augmentations that is learned beside the encoder: what JOAO and its second version have in common.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::{Int, TensorData};
use fiedler_augment::{Axis, Pipeline};
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::augmentation_pool::{self, one_of};
use super::graph_contrast::{self, GraphEncoder, GraphReadout};
use super::policy::Policy;
use super::{Epoch, Loss, Requirements, Step, Untrained};
use crate::Initializer;
use crate::encoder::EncoderSettings;
use crate::error::{Error, Result};
use crate::layer::Mlp;
use crate::loss::NtXent;
use crate::pass::{Mode, Pass};
use crate::task::Task;

/// The most augmentations that there can be: pairs of them are choices of a view.
const MOST: usize = 16;

/// Settings of JOAO and its second version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyContrast {
    /// The encoder: three graph isomorphism layers of 32 channels, each followed by a ReLU and then by batch normalization.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding: the sum of each layer, side by side.
    pub readout: GraphReadout,
    /// The augmentations to choose from. Without any, dropped nodes, subgraphs, perturbed edges, masked attributes and the graph as it is.
    pub augmentations: Vec<Pipeline>,
    /// Share of the nodes or edges that these change.
    pub rate: f64,
    /// γ: how strongly the policy is held near even probabilities.
    pub gamma: f64,
    /// Share of the graphs, at least one batch, by which losses of augmentations are estimated after each epoch.
    pub estimate: f64,
    /// The loss.
    pub loss: NtXent,
    /// Whether views and heads are as in the publication's program for the TU collection. One view is the graph as it is there, so that
    /// single augmentations are drawn and not pairs; with several heads, one is drawn for an epoch.
    pub as_released: bool,
}

impl Default for PolicyContrast {
    fn default() -> Self {
        PolicyContrast {
            encoder: graph_contrast::usual_encoder(3),
            readout: GraphReadout::default(),
            augmentations: Vec::new(),
            rate: 0.2,
            gamma: 0.1,
            estimate: 0.1,
            loss: NtXent::default(),
            as_released: false,
        }
    }
}

/// An encoder and its heads: one, or one for each augmentation.
#[derive(Module, Debug)]
pub struct PolicyContrastModel {
    encoder: GraphEncoder,
    heads: Vec<Mlp>,
}

impl PolicyContrast {
    /// The augmentations that there are.
    pub(super) fn all(&self) -> Vec<Pipeline> {
        if !self.augmentations.is_empty() {
            return self.augmentations.clone();
        }
        let mut all = augmentation_pool::all(self.rate, self.as_released);
        all.push(Pipeline::Identity);
        all
    }

    /// What the policy has a probability for: augmentations, or pairs of them.
    fn choices(&self) -> usize {
        let count = self.all().len();
        if self.as_released { count } else { count * count }
    }

    pub(super) fn check(&self, name: &str, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.loss.check()?;
        augmentation_pool::check_rate(self.rate)?;
        graph_contrast::check_batch(task)?;
        if self.augmentations.len() > MOST {
            return Err(Error::setting("number of augmentations", self.augmentations.len(), format!("at most {MOST}")));
        }
        if !(self.gamma.is_finite() && self.gamma >= 0.0) {
            return Err(Error::setting("gamma", self.gamma, "a number that is not negative"));
        }
        if !(self.estimate > 0.0 && self.estimate <= 1.0) {
            return Err(Error::setting("estimate", self.estimate, "a number above 0, at most 1"));
        }
        if task.num_views != 2 {
            let expected =
                format!("none: {name} draws its views from `method.augmentations`, where yours can be named");
            return Err(Error::setting("views", "given", expected));
        }
        Ok(graph_contrast::requirements(&self.encoder, self.readout, task, 2.0, false))
    }

    /// Views drawn by a policy. Where the run has views of its own there are too many, which is refused.
    pub(super) fn views(&self, policy: &Policy, given: &[Pipeline]) -> Vec<Pipeline> {
        given.iter().cloned().chain(self.drawn(policy.probabilities(self.choices()))).collect()
    }

    fn drawn(&self, weights: Vec<f64>) -> Vec<Pipeline> {
        let all = self.all();
        if self.as_released {
            return vec![Pipeline::Identity, one_of(all, Some(weights), false)];
        }
        let pairs = || all.iter().flat_map(|first| all.iter().map(move |second| [first, second]));
        let of_view =
            |view: usize| one_of(pairs().map(|pair| pair[view].clone()).collect(), Some(weights.clone()), true);
        vec![of_view(0), of_view(1)]
    }

    pub(super) fn build(
        &self,
        heads: usize,
        task: &Task,
        initializer: &mut Initializer,
    ) -> Result<PolicyContrastModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        let width = self.readout.width(&self.encoder);
        let heads = (0..heads).map(|_| graph_contrast::head(width, initializer)).collect();
        Ok(PolicyContrastModel { encoder, heads })
    }

    pub(super) fn loss(&self, model: &PolicyContrastModel, policy: &Policy, step: &Step<'_>) -> Result<Loss> {
        let project = |view: usize| -> Result<Tensor<2>> {
            let graphs = model.encoder.forward(&self.encoder, &step.views[view], &step.pass)?;
            Ok(match model.heads.as_slice() {
                [only] => only.forward(graphs),
                heads => by_heads(heads, graphs, &self.heads_of(view, policy, step)),
            })
        };
        Ok(self.loss.loss([project(0)?, project(1)?])?.into())
    }

    /// The head of each graph of a view.
    fn heads_of(&self, view: usize, policy: &Policy, step: &Step<'_>) -> Vec<usize> {
        let graphs = step.views[view].num_graphs();
        let count = self.all().len();
        if self.as_released {
            // The graph as it is has the first head, and so has everything while losses are estimated.
            if view == 0 || step.pass.mode() == Mode::Eval {
                return vec![0; graphs];
            }
            let mut left: f64 = stream(step.seed, "head of an epoch", step.clock.epoch as u64).random();
            let probabilities = policy.probabilities(count);
            let passed = |probability: &f64| {
                left -= probability;
                left < 0.0
            };
            let head = probabilities.iter().position(passed).unwrap_or(count - 1);
            return vec![head; graphs];
        }
        match step.views[view].choices.last() {
            Some(chosen) => {
                let of_pair =
                    |&pair: &u8| if view == 0 { usize::from(pair) / count } else { usize::from(pair) % count };
                chosen.iter().map(of_pair).collect()
            }
            None => vec![0; graphs],
        }
    }

    pub(super) fn after_epoch(&self, policy: &mut Policy, epoch: &mut dyn Epoch) -> Result<()> {
        let count = self.choices();
        let mut losses = Vec::with_capacity(count);
        for choice in 0..count {
            let forced = (0..count).map(|other| f64::from(u8::from(other == choice))).collect();
            losses.push(f64::from(epoch.loss_of_share(&self.drawn(forced), self.estimate)?));
        }
        policy.ascend(&losses, self.gamma);
        Ok(())
    }

    pub(super) fn embed(&self, model: &PolicyContrastModel, step: &Step<'_>) -> Result<Tensor<2>> {
        model.encoder.forward(&self.encoder, &step.views[0], &Pass::eval())
    }

    pub(super) fn search_axes(&self) -> Vec<Axis> {
        let mut axes =
            vec![Axis::new("method.gamma", [0.01, 0.1, 1.0]), Axis::new("method.loss.temperature", [0.1, 0.2, 0.5])];
        axes.extend(graph_contrast::search_axes());
        axes
    }

    pub(super) fn untrained(&self) -> Untrained {
        self.readout.untrained(&self.encoder)
    }
}

/// Rows through one of several heads each.
fn by_heads(heads: &[Mlp], rows: Tensor<2>, head_of: &[usize]) -> Tensor<2> {
    let device = rows.device();
    let integers = |places: Vec<i64>| -> Tensor<1, Int> {
        let count = places.len();
        Tensor::from_data(TensorData::new(places, [count]), &device)
    };
    let (mut parts, mut order) = (Vec::new(), Vec::<i64>::with_capacity(head_of.len()));
    for (place, head) in heads.iter().enumerate() {
        let mine: Vec<i64> = (0..head_of.len()).filter(|&row| head_of[row] == place).map(|row| row as i64).collect();
        if !mine.is_empty() {
            order.extend(&mine);
            parts.push(head.forward(rows.clone().select(0, integers(mine))));
        }
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| back[row as usize] = place as i64);
    Tensor::cat(parts, 0).select(0, integers(back))
}
