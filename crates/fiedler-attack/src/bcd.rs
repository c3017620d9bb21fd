//! PR-BCD and GR-BCD (Geisler et al. 2021) on the exact gradient of the linear surrogate: memory grows with edges and block, not with
//! pairs.

use fiedler_graph::random::stream;
use fiedler_graph::{Event, Graph, Observer};
use fiedler_spectral::{Normalized, Operator};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::{Block, Blocks};
use crate::error::{Error, Result};
use crate::expected_graph::ExpectedGraph;
use crate::flips::{PoisonedGraph, check_ratio};
use crate::gf_relaxed::{draw_pairs, flips_of, project, take_best_draw};
use crate::knowledge::Known;
use crate::matrix::add_scaled;
use crate::settings::{Attack, AttackInput, Outcome};
use crate::state::{BlockState, RelaxedState};
use crate::surrogate::gradient::PairGradient;
use crate::surrogate::loss::AttackLoss;
use crate::surrogate::scan::{Best, Candidate};
use crate::surrogate::{Objective, StartWeights, Surrogate, SurrogateSettings};

/// Settings of PR-BCD: projected randomized block coordinate descent. Parts of flips on a random block of pairs climb the meta-gradient; pairs
/// without any are exchanged for others; flips are drawn from the parts at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PrBcd {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// On which nodes the attack loss is taken.
    pub objective: Objective,
    /// Attack loss.
    pub loss: AttackLoss,
    /// Gradient steps.
    pub epochs: usize,
    /// Steps after which pairs are exchanged no more.
    pub resampling: usize,
    /// Pairs in the block.
    pub block: usize,
    /// Learning rate, times the budget over the number of nodes.
    pub learning_rate: f64,
    /// Draws of flips, of which the best are taken.
    pub samples: usize,
    /// The surrogate and its training.
    pub surrogate: SurrogateSettings,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of blocks, draws, start weights and guessed labels.
    pub seed: u64,
}

impl Default for PrBcd {
    fn default() -> Self {
        PrBcd {
            ratio: 0.05,
            objective: Objective::MetaSelf,
            loss: AttackLoss::TanhMargin,
            epochs: 125,
            resampling: 100,
            block: 1_000_000,
            learning_rate: 1000.0,
            samples: 20,
            surrogate: SurrogateSettings::default(),
            degree_test: false,
            seed: 0,
        }
    }
}

/// Settings of GR-BCD: greedy randomized block coordinate descent. Every step draws a block of pairs and flips the best of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GrBcd {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// On which nodes the attack loss is taken.
    pub objective: Objective,
    /// Attack loss.
    pub loss: AttackLoss,
    /// Steps that the budget is divided among.
    pub epochs: usize,
    /// Pairs in the block.
    pub block: usize,
    /// Weights that the surrogate's training begins with.
    pub start_weights: StartWeights,
    /// The surrogate and its training.
    pub surrogate: SurrogateSettings,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of blocks, start weights and guessed labels.
    pub seed: u64,
}

impl Default for GrBcd {
    fn default() -> Self {
        GrBcd {
            ratio: 0.05,
            objective: Objective::MetaSelf,
            loss: AttackLoss::MaskedCrossEntropy,
            epochs: 100,
            block: 1_000_000,
            start_weights: StartWeights::Fresh,
            surrogate: SurrogateSettings::default(),
            degree_test: false,
            seed: 0,
        }
    }
}

fn check_block(ratio: f64, epochs: usize, block: usize, surrogate: &SurrogateSettings) -> Result<()> {
    check_ratio(ratio)?;
    surrogate.check()?;
    for (name, value) in [("epochs", epochs), ("block", block)] {
        if value == 0 {
            return Err(Error::setting(name, value, "a whole number from 1 up"));
        }
    }
    Ok(())
}

/// What flipping each pair of a block promises.
fn block_scores(gradient: &PairGradient<'_>, graph: &Graph, pairs: &[(u32, u32)]) -> Vec<f64> {
    let score = |&(low, high): &(u32, u32)| {
        let slope = gradient.at(low as usize, high as usize);
        if graph.has_edge(low, high) { -slope } else { slope }
    };
    pairs.par_iter().map(score).collect()
}

fn state_of(steps: usize, block: &Block, best: Option<&(f64, Block)>) -> RelaxedState {
    let best = best.map(|(loss, block)| (loss.to_bits(), block.state()));
    RelaxedState { steps, now: block.state(), best, rate: None }
}

impl Attack for PrBcd {
    const KNOWN: Known = Known::TrainingLabels;

    fn check(&self, input: &AttackInput<'_>) -> Result<()> {
        check_block(self.ratio, self.epochs, self.block, &self.surrogate)?;
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(Error::setting("learning_rate", self.learning_rate, "a positive number"));
        }
        input.knowledge.training_labels("pr-bcd", input.graph.num_nodes()).map(|_| ())
    }

    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let graph = input.graph;
        let mut poisoned = PoisonedGraph::new(graph, self.ratio, self.degree_test);
        let budget = poisoned.budget();
        let mut surrogate = Surrogate::new(input, "pr-bcd", &self.surrogate, self.seed)?;
        (surrogate.objective, surrogate.loss) = (self.objective, self.loss);
        let start = surrogate.start(StartWeights::Fixed, self.seed, (0, 0), self.surrogate.hidden);
        let blocks = Blocks { nodes: graph.num_nodes(), size: self.block, seed: self.seed };
        let epochs = if budget > 0 { self.epochs } else { 0 };
        let (mut block, mut best, first) = match input.earlier_parts() {
            None => (blocks.first(), None, 0),
            Some(earlier) => {
                let restored = |(loss, block): &(u64, BlockState)| -> Result<(f64, Block)> {
                    Ok((f64::from_bits(*loss), blocks.restore(block)?))
                };
                let best = earlier.best.as_ref().map(restored).transpose()?;
                (blocks.restore(&earlier.now)?, best, earlier.steps)
            }
        };
        let mut scores = vec![0.0; block.pairs.len()];
        for epoch in first..epochs {
            let value = best.as_ref().map(|(loss, _): &(f64, Block)| *loss);
            let told = Event::Progress { stage: "attack", item: "pr-bcd", done: epoch, total: Some(epochs), value };
            if !observer.goes_on(&told) {
                let relaxed = Some(state_of(epoch, &block, best.as_ref()));
                return Ok(Outcome { budget, relaxed, ..Outcome::default() });
            }
            if epoch == self.resampling.min(epochs)
                && let Some((_, found)) = best.clone()
            {
                block = found;
            }
            let expected = ExpectedGraph::new(graph, &flips_of(&block.pairs, &block.parts));
            let map = expected.propagation()?;
            let gradient = surrogate.differentiate(&map, std::slice::from_ref(&start), false);
            if best.as_ref().is_none_or(|(known, _)| gradient.loss > *known) {
                best = Some((gradient.loss, block.clone()));
            }
            scores = block_scores(&gradient.pairs, graph, &block.pairs);
            let late = (epoch.saturating_sub(self.resampling) + 1) as f64;
            let rate = self.learning_rate * budget as f64 / graph.num_nodes() as f64 / late.sqrt();
            add_scaled(&mut block.parts, rate, &scores);
            project(&mut block.parts, budget as f64);
            if epoch + 1 < self.resampling {
                blocks.resample(&mut block, epoch as u64 + 1);
            }
            // After the last one flips are drawn by its scores, which are not kept.
            if epoch + 1 < epochs {
                input.keep_parts(&|| state_of(epoch + 1, &block, best.as_ref()));
            }
        }
        if let Some((_, found)) = best.filter(|(_, found)| found.pairs == block.pairs) {
            block = found;
        }
        scores.resize(block.pairs.len(), 0.0);
        let mut order: Vec<usize> = (0..block.pairs.len()).collect();
        let rank = |at: usize| (block.parts[at], scores[at]);
        order.par_sort_unstable_by(|&a, &b| {
            let ((part_a, score_a), (part_b, score_b)) = (rank(a), rank(b));
            part_b.total_cmp(&part_a).then(score_b.total_cmp(&score_a)).then(a.cmp(&b))
        });
        let judge = |pairs: &[(u32, u32)]| -> Result<f64> {
            let flipped = graph.flipped(pairs)?;
            Ok(surrogate.loss(&Normalized::of(&flipped, Operator::Propagation), &start))
        };
        let mut draws = stream(self.seed, "pr-bcd draws", 0);
        take_best_draw(&mut poisoned, &block.pairs, &block.parts, &order, self.samples, &mut draws, judge)?;
        Ok(poisoned.into_outcome(true, "no other pair of the block may be flipped"))
    }
}

impl Attack for GrBcd {
    const KNOWN: Known = Known::TrainingLabels;

    fn check(&self, input: &AttackInput<'_>) -> Result<()> {
        check_block(self.ratio, self.epochs, self.block, &self.surrogate)?;
        input.knowledge.training_labels("gr-bcd", input.graph.num_nodes()).map(|_| ())
    }

    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let mut poisoned = PoisonedGraph::new(input.graph, self.ratio, self.degree_test);
        poisoned.resume(input.earlier_flips())?;
        let mut surrogate = Surrogate::new(input, "gr-bcd", &self.surrogate, self.seed)?;
        (surrogate.objective, surrogate.loss) = (self.objective, self.loss);
        let each = poisoned.budget().div_ceil(self.epochs).max(1);
        let (mut complete, mut value, mut fruitless) = (true, None, 0);
        while poisoned.left() > 0 {
            let done = poisoned.flips().len();
            let told = Event::Progress { stage: "attack", item: "gr-bcd", done, total: Some(poisoned.budget()), value };
            if !observer.goes_on(&told) {
                complete = false;
                break;
            }
            let graph = poisoned.graph()?;
            let map = Normalized::of(&graph, Operator::Propagation);
            let start = surrogate.start(self.start_weights, self.seed, (done, 0), self.surrogate.hidden);
            let gradient = surrogate.differentiate(&map, std::slice::from_ref(&start), false);
            value = Some(gradient.loss);
            let mut random = stream(self.seed, "block", (done + fruitless) as u64);
            let pairs = draw_pairs(graph.num_nodes(), self.block, &mut random);
            let scores = block_scores(&gradient.pairs, &graph, &pairs);
            let mut best = Best::new(each.min(poisoned.left()));
            for (&(low, high), &score) in pairs.iter().zip(&scores) {
                if score >= best.threshold() && poisoned.allows(low, high) {
                    best.offer(Candidate { score, low, high });
                }
            }
            for found in best.into_candidates() {
                poisoned.flip(found.low, found.high, Some(found.score));
            }
            input.keep(poisoned.flips());
            // A block may hold no pair that may be flipped where others do.
            fruitless = if poisoned.flips().len() == done { fruitless + 1 } else { 0 };
            if fruitless > 3 {
                break;
            }
        }
        Ok(poisoned.into_outcome(complete, "no other pair may be flipped"))
    }
}
