//! GF-Attack with relaxed flips: projected gradient steps on the low-rank approximation loss.

use faer::Mat;
use fiedler_augment::projection::shift_to_budget;
use fiedler_augment::sample::pair_at;
use fiedler_graph::random::stream;
use fiedler_graph::{Event, Observer};
use fiedler_spectral::{Normalized, PartialSettings, partial};
use rand::{Rng, RngExt};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::expected_graph::ExpectedGraph;
use crate::feature_rows::FeatureRows;
use crate::flips::{PoisonedGraph, check_ratio};
use crate::knowledge::Known;
use crate::matrix::{Matrix, add_scaled, dot};
use crate::settings::{Attack, AttackInput, Outcome};
use crate::state::{BlockState, RelaxedState};

/// Parts of flips below this are none.
const NEGLIGIBLE: f64 = 1e-6;

/// Settings of the relaxed GF-Attack: `Σ e_k² · ‖V_kᵀ X‖²` over the smallest eigenvalues of the propagation matrix is pushed up by projected
/// gradient steps on parts of flips, and flips are drawn from these. It reads no labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GfRelaxed {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// How many of the smallest eigenvalues count.
    pub smallest: usize,
    /// Gradient steps.
    pub steps: usize,
    /// Largest change of a part in the first step; later ones shrink as the root of their number.
    pub step_size: f64,
    /// Draws of flips, of which the best are taken.
    pub samples: usize,
    /// Most pairs that are looked at; where a graph has more, so many are drawn.
    pub block: usize,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for GfRelaxed {
    fn default() -> Self {
        GfRelaxed {
            ratio: 0.05,
            smallest: 128,
            steps: 20,
            step_size: 0.5,
            samples: 10,
            block: 4_000_000,
            degree_test: false,
            seed: 0,
        }
    }
}

/// The loss and what its derivative needs.
pub(crate) struct LowRankLoss {
    /// `Σ e²`.
    pub eigenvalues: f64,
    /// `‖Vᵀ X‖²`, taken as a constant by the derivative.
    pub signal: f64,
    /// `V` with each row divided by the root of the degree; a row a node.
    vectors: Matrix,
    /// The same with columns times `4 e`.
    weighted: Matrix,
    /// `Σ_k 2 e_k² v_ik² / d_i`.
    pull: Vec<f64>,
}

impl LowRankLoss {
    pub fn new(map: &Normalized<'_>, features: &FeatureRows, smallest: usize) -> Result<LowRankLoss> {
        let settings = PartialSettings { lowest: smallest, highest: 0, ..PartialSettings::default() };
        let found = partial(map, &settings, None)?.lowest;
        Ok(LowRankLoss::of(map, features, &found.values, &found.vectors))
    }

    fn of(map: &Normalized<'_>, features: &FeatureRows, values: &[f64], vectors: &Mat<f64>) -> LowRankLoss {
        let (nodes, rank) = (vectors.nrows(), values.len());
        let mut rows = Matrix::zeros(nodes, rank);
        rows.values_mut().chunks_mut(rank.max(1)).enumerate().for_each(|(node, row)| {
            row.iter_mut().enumerate().for_each(|(pair, value)| *value = vectors[(node, pair)]);
        });
        let signal = features.transposed_times(&rows).values().iter().map(|value| value * value).sum();
        let mut pull = vec![0.0; nodes];
        let mut weighted = rows.clone();
        for (node, pull) in pull.iter_mut().enumerate() {
            let root = map.degrees()[node].sqrt();
            rows.row_mut(node).iter_mut().for_each(|value| *value /= root);
            for ((weighted, &own), value) in weighted.row_mut(node).iter_mut().zip(rows.row(node)).zip(values) {
                *weighted = 4.0 * value * own;
                *pull += 2.0 * value * value * own * own;
            }
        }
        let eigenvalues = values.iter().map(|value| value * value).sum();
        LowRankLoss { eigenvalues, signal, vectors: rows, weighted, pull }
    }

    pub fn value(&self) -> f64 {
        self.eigenvalues * self.signal
    }

    /// The derivative by the weight of a pair.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.signal * (dot(self.vectors.row(i), self.weighted.row(j)) - self.pull[i] - self.pull[j])
    }
}

impl Attack for GfRelaxed {
    const KNOWN: Known = Known::NoLabels;

    fn check(&self, _: &AttackInput<'_>) -> Result<()> {
        check_ratio(self.ratio)?;
        for (name, value) in [("smallest", self.smallest), ("steps", self.steps), ("block", self.block)] {
            if value == 0 {
                return Err(Error::setting(name, value, "a whole number from 1 up"));
            }
        }
        match self.step_size > 0.0 && self.step_size.is_finite() {
            true => Ok(()),
            false => Err(Error::setting("step_size", self.step_size, "a positive number")),
        }
    }

    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let graph = input.graph;
        let mut poisoned = PoisonedGraph::new(graph, self.ratio, self.degree_test);
        let budget = poisoned.budget();
        let features = FeatureRows::new(input.knowledge.features, graph.num_nodes());
        let pairs = draw_pairs(graph.num_nodes(), self.block, &mut stream(self.seed, "gf-relaxed pairs", 0));
        let (mut parts, mut rate, first) = match input.earlier_parts() {
            None => (vec![0.0; pairs.len()], None, 0),
            Some(earlier) => (earlier.now.parts(pairs.len())?, earlier.rate.map(f64::from_bits), earlier.steps),
        };
        let state = |steps: usize, parts: &[f64], rate: Option<f64>| RelaxedState {
            steps,
            now: BlockState::new(0, &[], parts),
            best: None,
            rate: rate.map(f64::to_bits),
        };
        let mut value = None;
        for step in first..if budget > 0 { self.steps } else { 0 } {
            let told =
                Event::Progress { stage: "attack", item: "gf-relaxed", done: step, total: Some(self.steps), value };
            if !observer.goes_on(&told) {
                let relaxed = Some(state(step, &parts, rate));
                return Ok(Outcome { budget, relaxed, ..Outcome::default() });
            }
            let expected = ExpectedGraph::new(graph, &flips_of(&pairs, &parts));
            let loss = LowRankLoss::new(&expected.propagation()?, &features, self.smallest)?;
            value = Some(loss.value());
            let slope = |&(low, high): &(u32, u32)| {
                let slope = loss.at(low as usize, high as usize);
                if graph.has_edge(low, high) { -slope } else { slope }
            };
            let slopes: Vec<f64> = pairs.par_iter().map(slope).collect();
            let largest = slopes.iter().fold(0.0, |largest: f64, slope| largest.max(slope.abs()));
            let first_rate = *rate.get_or_insert(if largest > 0.0 { self.step_size / largest } else { 0.0 });
            add_scaled(&mut parts, first_rate / ((step + 1) as f64).sqrt(), &slopes);
            project(&mut parts, budget as f64);
            input.keep_parts(&|| state(step + 1, &parts, rate));
        }
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_unstable_by(|&a, &b| parts[b].total_cmp(&parts[a]).then(a.cmp(&b)));
        let judge = |pairs: &[(u32, u32)]| -> Result<f64> {
            let changed: Vec<(u32, u32, f64)> = pairs.iter().map(|&(low, high)| (low, high, 1.0)).collect();
            let expected = ExpectedGraph::new(graph, &changed);
            Ok(LowRankLoss::new(&expected.propagation()?, &features, self.smallest)?.value())
        };
        let mut draws = stream(self.seed, "gf-relaxed draws", 0);
        take_best_draw(&mut poisoned, &pairs, &parts, &order, self.samples, &mut draws, judge)?;
        Ok(poisoned.into_outcome(true, "no other pair may be flipped"))
    }
}

/// All pairs, or so many that are drawn, ascending and distinct.
pub(crate) fn draw_pairs(nodes: usize, most: usize, random: &mut impl Rng) -> Vec<(u32, u32)> {
    let all = nodes * nodes.saturating_sub(1) / 2;
    if all <= most {
        return (0..nodes as u32).flat_map(|low| (low + 1..nodes as u32).map(move |high| (low, high))).collect();
    }
    let mut places: Vec<usize> = (0..most).map(|_| random.random_range(0..all)).collect();
    places.par_sort_unstable();
    places.dedup();
    places.into_par_iter().map(|place| pair_at(nodes, place)).collect()
}

/// Pairs that are flipped in part.
pub(crate) fn flips_of(pairs: &[(u32, u32)], parts: &[f64]) -> Vec<(u32, u32, f64)> {
    let flips = pairs.iter().zip(parts).filter(|(_, part)| **part > NEGLIGIBLE);
    flips.map(|(&(low, high), &part)| (low, high, part)).collect()
}

/// The nearest parts in [0, 1] whose sum is at most the budget.
pub(crate) fn project(parts: &mut [f64], budget: f64) {
    let shift = shift_to_budget(budget, 0.0, |shift| {
        let mut sum = (0.0, 0.0);
        for part in parts.iter() {
            let moved = (part - shift).clamp(0.0, 1.0);
            sum = (sum.0 + moved, sum.1 + f64::from(u8::from(0.0 < moved && moved < 1.0)));
        }
        sum
    });
    parts.iter_mut().for_each(|part| *part = (*part - shift).clamp(0.0, 1.0));
}

/// Makes the best of several sets of flips: the largest parts, and draws by them, filled up in `order` to the whole budget.
pub(crate) fn take_best_draw(
    poisoned: &mut PoisonedGraph<'_>,
    pairs: &[(u32, u32)],
    parts: &[f64],
    order: &[usize],
    samples: usize,
    random: &mut impl Rng,
    judge: impl Fn(&[(u32, u32)]) -> Result<f64>,
) -> Result<()> {
    let mut best: Option<(f64, PoisonedGraph<'_>)> = None;
    for sample in 0..samples.max(1) {
        let mut tried = poisoned.clone();
        if sample > 0 {
            let drawn: Vec<usize> = (0..pairs.len()).filter(|&at| random.random::<f64>() < parts[at]).collect();
            if drawn.len() > poisoned.left() {
                continue;
            }
            drawn.iter().for_each(|&at| {
                tried.flip(pairs[at].0, pairs[at].1, Some(parts[at]));
            });
        }
        for &at in order {
            if tried.left() == 0 {
                break;
            }
            tried.flip(pairs[at].0, pairs[at].1, Some(parts[at]));
        }
        let flipped: Vec<(u32, u32)> = tried.flips().iter().map(|flip| flip.pair()).collect();
        let value = judge(&flipped)?;
        if best.as_ref().is_none_or(|(known, _)| value > *known) {
            best = Some((value, tried));
        }
    }
    if let Some((_, tried)) = best {
        let flips = tried.into_flips();
        flips.iter().for_each(|flip| {
            poisoned.flip(flip.low, flip.high, flip.gain);
        });
    }
    Ok(())
}
