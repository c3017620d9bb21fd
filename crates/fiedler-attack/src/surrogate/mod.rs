//! The surrogate victim: a linear GCN of two layers, `Z = Â² X W1 W2`, whose whole training is differentiated in closed form.

pub(crate) mod gradient;
pub(crate) mod loss;
pub(crate) mod scan;
pub(crate) mod self_training;
#[cfg(test)]
mod tests;
pub(crate) mod training;

use fiedler_graph::random::stream;
use fiedler_graph::{Graph, Labels, Split};
use fiedler_spectral::{Normalized, Operator};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::feature_rows::FeatureRows;
use crate::knowledge::{Knowledge, TrainingLabels};
use crate::matrix::Matrix;
use crate::settings::AttackInput;
use gradient::{PairGradient, TrainingPart};
use loss::{AttackLoss, Term};
use self_training::{propagate, self_training_labels, uniform, uniform_within};
use training::{InnerTraining, TrainingRows, Weights};

/// On which nodes the attack loss is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Nodes that do not train, against labels that the attacker guesses for them.
    MetaSelf,
    /// Training nodes, against their labels.
    MetaTrain,
    /// Both, in equal parts.
    Both,
}

impl Objective {
    /// The share of the training nodes' loss, λ in the paper.
    fn training_share(self) -> f64 {
        match self {
            Objective::MetaSelf => 0.0,
            Objective::MetaTrain => 1.0,
            Objective::Both => 0.5,
        }
    }
}

/// Weights that the surrogate's training begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartWeights {
    /// Drawn anew for every gradient.
    Fresh,
    /// Drawn once.
    Fixed,
}

impl StartWeights {
    /// The weights of a gradient, after so many flips, and of one of several trainings that it is averaged over.
    pub(crate) fn draw(self, seed: u64, (flips, at): (usize, usize), shape: [usize; 3]) -> Weights {
        let [features, hidden, classes] = shape;
        let index = |flips: usize| (at as u64) << 32 | flips as u64;
        match self {
            StartWeights::Fresh => {
                let mut random = stream(seed, "surrogate weights", index(flips));
                let first = uniform(&mut random, features, hidden);
                Weights { first, second: uniform(&mut random, hidden, classes) }
            }
            StartWeights::Fixed => {
                let mut random = stream(seed, "surrogate weights", index(0));
                let glorot = |rows: usize, columns: usize| (6.0 / (rows + columns) as f64).sqrt();
                let first = uniform_within(&mut random, features, hidden, glorot(features, hidden));
                Weights { first, second: uniform_within(&mut random, hidden, classes, glorot(hidden, classes)) }
            }
        }
    }
}

/// Settings of the surrogate: gradient descent with momentum, no biases, no weight decay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SurrogateSettings {
    /// Hidden units.
    pub hidden: usize,
    /// Steps of training.
    pub steps: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Momentum.
    pub momentum: f64,
    /// Whether features are scaled to rows that sum to one; the authors of Mettack take them as they are.
    pub normalize_features: bool,
}

impl Default for SurrogateSettings {
    fn default() -> Self {
        SurrogateSettings { hidden: 16, steps: 100, learning_rate: 0.1, momentum: 0.9, normalize_features: false }
    }
}

impl SurrogateSettings {
    fn training(&self) -> InnerTraining {
        InnerTraining { steps: self.steps, learning_rate: self.learning_rate, momentum: self.momentum }
    }

    /// Refuses a surrogate that cannot be trained.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("surrogate.hidden", self.hidden), ("surrogate.steps", self.steps)] {
            if !(1..=10_000).contains(&value) {
                return Err(Error::setting(name, value, "a whole number from 1 to 10000"));
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(Error::setting("surrogate.learning_rate", self.learning_rate, "a positive number"));
        }
        match (0.0..1.0).contains(&self.momentum) {
            true => Ok(()),
            false => Err(Error::setting("surrogate.momentum", self.momentum, "a number from 0 up to, but not, 1")),
        }
    }
}

/// How much of the surrogate's training is differentiated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Depth {
    /// The last steps; with all of them the gradient is exact.
    Last(usize),
    /// A-Meta: the direct gradients before every step, added up.
    Approximate,
}

/// The surrogate and what is to become of it.
pub(crate) struct Surrogate {
    pub features: FeatureRows,
    pub labels: TrainingLabels,
    /// What every node is taken for: its label, or a guess.
    pub guessed: Vec<u32>,
    pub others: Vec<u32>,
    pub objective: Objective,
    pub loss: AttackLoss,
    pub training: InnerTraining,
    pub depth: Depth,
}

/// The gradient of the attack loss by pairs, and the loss itself.
pub(crate) struct MetaGradient<'a> {
    pub loss: f64,
    pub pairs: PairGradient<'a>,
}

impl Surrogate {
    /// The surrogate of an attack; guesses the labels of nodes that do not train, on the graph as it is.
    pub fn new(
        input: &AttackInput<'_>,
        attack: &'static str,
        settings: &SurrogateSettings,
        seed: u64,
    ) -> Result<Surrogate> {
        let labels = input.knowledge.training_labels(attack, input.graph.num_nodes())?;
        let features = feature_rows(input.graph, &input.knowledge, settings.normalize_features);
        let map = Normalized::of(input.graph, Operator::Propagation);
        let guessed = self_training_labels(&map, &features, &labels, seed);
        Ok(Surrogate { training: settings.training(), ..Surrogate::with_guesses(features, labels, guessed) })
    }

    /// The same with guesses that are known, and the settings of Mettack.
    pub fn with_guesses(features: FeatureRows, labels: TrainingLabels, guessed: Vec<u32>) -> Surrogate {
        let mut trains = vec![false; features.rows()];
        labels.nodes.iter().for_each(|&node| trains[node as usize] = true);
        let others = (0..features.rows() as u32).filter(|&node| !trains[node as usize]).collect();
        Surrogate {
            features,
            labels,
            guessed,
            others,
            objective: Objective::MetaSelf,
            loss: AttackLoss::CrossEntropy,
            training: InnerTraining { steps: 100, learning_rate: 0.1, momentum: 0.9 },
            depth: Depth::Last(usize::MAX),
        }
    }

    /// Start weights of a gradient, see [`StartWeights::draw`].
    pub fn start(&self, rule: StartWeights, seed: u64, gradient: (usize, usize), hidden: usize) -> Weights {
        rule.draw(seed, gradient, [self.features.columns(), hidden, self.labels.count])
    }

    /// The attack loss after training on a graph.
    pub fn loss(&self, map: &Normalized<'_>, start: &Weights) -> f64 {
        let trained = self.rows(map).train(start, self.training, 0);
        self.judge(&self.predictions(map, &trained.weights.product()), 1.0).0
    }

    /// The gradient by pairs, the mean over several starts; `tables` hold products for all pairs at once, |T| × n numbers twice.
    pub fn differentiate<'a>(&'a self, map: &'a Normalized<'a>, starts: &[Weights], tables: bool) -> MetaGradient<'a> {
        let rows = self.rows(map);
        let share = 1.0 / starts.len() as f64;
        let mut loss = 0.0;
        // Derivatives by predictions, beside each other, and the weights that those were made with.
        let (mut residuals, mut products) = (Vec::new(), Vec::new());
        let mut through: Option<Matrix> = None;
        for start in starts {
            match self.depth {
                Depth::Last(steps) => {
                    let trained = rows.train(start, self.training, steps.min(self.training.steps));
                    let product = trained.weights.product();
                    let (value, residual) = self.judge(&self.predictions(map, &product), share);
                    loss += value;
                    if steps > 0 {
                        let direct = self.features.transposed_times(&propagate(map, &propagate(map, &residual)));
                        let part = rows.differentiate(start, &trained, self.training, &direct);
                        match &mut through {
                            Some(sum) => sum.mix(1.0, 1.0, &part),
                            None => through = Some(part),
                        }
                    }
                    residuals.push(residual);
                    products.push(product);
                }
                Depth::Approximate => {
                    for product in rows.train_by_adam(start, self.training.steps) {
                        let (value, residual) = self.judge(&self.predictions(map, &product), share);
                        loss += value;
                        residuals.push(residual);
                        products.push(product);
                    }
                }
            }
        }
        let part = through.map(|rows| TrainingPart::new(map, &self.features, &self.labels.nodes, rows, tables));
        let scores = self.features.times(&Matrix::beside(&products.iter().collect::<Vec<_>>()));
        let residual = Matrix::beside(&residuals.iter().collect::<Vec<_>>());
        MetaGradient { loss, pairs: PairGradient::new(map, residual, scores, part) }
    }

    /// `Â² X` times both layers.
    fn predictions(&self, map: &Normalized<'_>, product: &Matrix) -> Matrix {
        propagate(map, &propagate(map, &self.features.times(product)))
    }

    /// The attack loss and its derivative by the predictions, times a factor.
    fn judge(&self, predictions: &Matrix, factor: f64) -> (f64, Matrix) {
        let share = self.objective.training_share();
        let mut derivative = Matrix::zeros(predictions.rows(), predictions.columns());
        let own = Term { nodes: &self.labels.nodes, classes: &self.guessed, weight: factor * share, loss: self.loss };
        let others =
            Term { nodes: &self.others, classes: &self.guessed, weight: factor * (1.0 - share), loss: self.loss };
        let loss = own.add(predictions, &mut derivative) + others.add(predictions, &mut derivative);
        (loss, derivative)
    }

    /// `Â² X` of training nodes.
    fn rows(&self, map: &Normalized<'_>) -> TrainingRows {
        let columns = self.features.columns();
        let mut rows = Matrix::zeros(self.labels.nodes.len(), columns);
        rows.values_mut().par_chunks_mut(columns.max(1)).zip(&self.labels.nodes).for_each(|(to, &node)| {
            visit_row(map, node as usize, |near, outer| {
                visit_row(map, near, |far, inner| self.features.add_row(far, outer * inner, to));
            });
        });
        TrainingRows::new(rows, self.labels.classes.clone())
    }
}

/// Visits the entries of a row of Â, its diagonal included.
pub(crate) fn visit_row(map: &Normalized<'_>, node: usize, mut visit: impl FnMut(usize, f64)) {
    visit(node, map.diagonal()[node]);
    let (neighbors, values) = map.row(node);
    neighbors.iter().zip(values).for_each(|(&other, &value)| visit(other as usize, value));
}

pub(crate) fn feature_rows(graph: &Graph, knowledge: &Knowledge<'_>, normalize: bool) -> FeatureRows {
    let rows = FeatureRows::new(knowledge.features, graph.num_nodes());
    if normalize { rows.row_normalized() } else { rows }
}

/// Accuracy of the surrogate of the self-training labels: a linear GCN trained on the split's training nodes, judged on its test nodes.
/// `None` where no test node has a label.
///
/// # Errors
/// When there are no classes, no split, or no training nodes.
pub fn surrogate_accuracy(graph: &Graph, knowledge: &Knowledge<'_>, seed: u64) -> Result<Option<f64>> {
    let labels = knowledge.training_labels("surrogate", graph.num_nodes())?;
    let features = feature_rows(graph, knowledge, false);
    let predicted = self_training::predict(&Normalized::of(graph, Operator::Propagation), &features, &labels, seed);
    let empty = Split::default();
    let test = &knowledge.split.unwrap_or(&empty).test;
    let classes = knowledge.labels.and_then(Labels::classes).map(|classes| classes.of()).unwrap_or_default();
    let known = || test.iter().filter_map(|&node| Some((classes[node as usize]?, predicted[node as usize])));
    let right = known().filter(|(class, guess)| class == guess).count();
    let all = known().count();
    Ok((all > 0).then(|| right as f64 / all as f64))
}
