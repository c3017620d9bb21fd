//! Mettack (Zügner and Günnemann 2019), with the exact meta-gradient.

use fiedler_graph::{Event, Observer};
use fiedler_spectral::{Normalized, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flips::{PoisonedGraph, check_ratio};
use crate::knowledge::Known;
use crate::settings::{Attack, AttackInput, Outcome};
use crate::surrogate::loss::AttackLoss;
use crate::surrogate::scan::best_pairs;
use crate::surrogate::training::Weights;
use crate::surrogate::{Depth, Objective, StartWeights, Surrogate, SurrogateSettings};

/// Settings of Mettack. The surrogate is a linear GCN without biases that is trained by gradient descent with momentum; the gradient of the
/// attack loss goes through its whole training. Labels of nodes that do not train are guessed once, on the clean graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mettack {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// On which nodes the attack loss is taken.
    pub objective: Objective,
    /// Attack loss. The authors have cross-entropy, which spends flips on nodes that are wrong already; the margin is at least as strong.
    pub loss: AttackLoss,
    /// Weights that the surrogate's training begins with.
    pub start_weights: StartWeights,
    /// Trainings from different start weights whose gradients are averaged; more make an attack less noisy, and slower.
    pub starts: usize,
    /// Only this many last steps of the training are differentiated; none: all, which is exact.
    pub truncated: Option<usize>,
    /// A-Meta: direct gradients before every step of Adam, added up, in place of the derivative through the training.
    pub a_meta: bool,
    /// Flips made with one gradient.
    pub batch: usize,
    /// The surrogate and its training.
    pub surrogate: SurrogateSettings,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of start weights and guessed labels.
    pub seed: u64,
}

impl Default for Mettack {
    fn default() -> Self {
        Mettack {
            ratio: 0.05,
            objective: Objective::MetaSelf,
            loss: AttackLoss::TanhMargin,
            start_weights: StartWeights::Fresh,
            starts: 1,
            truncated: None,
            a_meta: false,
            batch: 1,
            surrogate: SurrogateSettings::default(),
            degree_test: false,
            seed: 0,
        }
    }
}

impl Mettack {
    pub(crate) fn depth(&self) -> Depth {
        match (self.a_meta, self.truncated) {
            (true, _) => Depth::Approximate,
            (false, Some(steps)) => Depth::Last(steps),
            (false, None) => Depth::Last(usize::MAX),
        }
    }
}

impl Attack for Mettack {
    const KNOWN: Known = Known::TrainingLabels;

    fn check(&self, input: &AttackInput<'_>) -> Result<()> {
        check_ratio(self.ratio)?;
        self.surrogate.check()?;
        for (name, value) in [("batch", self.batch), ("starts", self.starts)] {
            if value == 0 {
                return Err(Error::setting(name, value, "a whole number from 1 up"));
            }
        }
        if self.a_meta && self.truncated.is_some() {
            return Err(Error::setting("truncated", "set with a_meta", "one of the two: A-Meta goes through no step"));
        }
        input.knowledge.training_labels("mettack", input.graph.num_nodes()).map(|_| ())
    }

    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let mut poisoned = PoisonedGraph::new(input.graph, self.ratio, self.degree_test);
        poisoned.resume(input.earlier_flips())?;
        let mut surrogate = Surrogate::new(input, "mettack", &self.surrogate, self.seed)?;
        (surrogate.objective, surrogate.loss, surrogate.depth) = (self.objective, self.loss, self.depth());
        let (mut complete, mut value) = (true, None);
        while poisoned.left() > 0 {
            let done = poisoned.flips().len();
            let told =
                Event::Progress { stage: "attack", item: "mettack", done, total: Some(poisoned.budget()), value };
            if !observer.goes_on(&told) {
                complete = false;
                break;
            }
            let graph = poisoned.graph()?;
            let map = Normalized::of(&graph, Operator::Propagation);
            // By the flips made, so that an attack that goes on draws what one that was never stopped draws.
            let starts: Vec<Weights> = (0..self.starts)
                .map(|at| surrogate.start(self.start_weights, self.seed, (done, at), self.surrogate.hidden))
                .collect();
            let gradient = surrogate.differentiate(&map, &starts, true);
            value = Some(gradient.loss);
            for candidate in best_pairs(&gradient.pairs, &graph, &poisoned, self.batch.min(poisoned.left())) {
                poisoned.flip(candidate.low, candidate.high, Some(candidate.score));
            }
            input.keep(poisoned.flips());
            if poisoned.flips().len() == done {
                break;
            }
        }
        Ok(poisoned.into_outcome(complete, "no other pair may be flipped"))
    }
}
