//! GF-Attack (Chang et al. 2020), of the whole graph and by poisoning: flips that make a graph filter's low-rank approximation worst.

use fiedler_graph::{Event, Observer};
use fiedler_spectral::{Normalized, Operator, spectrum};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::feature_rows::FeatureRows;
use crate::flips::{PoisonedGraph, check_ratio};
use crate::knowledge::Known;
use crate::matrix::{Matrix, add_scaled};
use crate::settings::{Attack, AttackInput, Outcome};
use crate::surrogate::scan::{Best, Candidate};

/// Bytes that a dense spectrum may take.
const MEMORY: u64 = 8 << 30;

/// Settings of GF-Attack. It reads no labels. Eigenvalues after a flip are those of first order; all are computed anew after every batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gf {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// Filter whose approximation is attacked.
    pub filter: GraphFilter,
    /// Order of the filter: the number of the victim's layers, or the window of its walks.
    pub order: u32,
    /// How many of the smallest responses count.
    pub smallest: usize,
    /// Flips between two decompositions, as a share of the edges.
    pub batch: f64,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
}

impl Default for Gf {
    fn default() -> Self {
        Gf { ratio: 0.05, filter: GraphFilter::Convolution, order: 2, smallest: 128, batch: 0.01, degree_test: false }
    }
}

/// A filter of the graph's spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphFilter {
    /// Graph convolutions: `(λ + 1)^(2 order)`.
    Convolution,
    /// Random walks: `|λ + … + λ^order| / (order · smallest degree)`.
    Sampling,
}

/// Eigenpairs of `(A + I) u = λ (D + I) u`, `uᵀ (D + I) u = 1`, with what each tells of the features.
pub(crate) struct FilterPairs {
    values: Vec<f64>,
    /// A row a node.
    vectors: Matrix,
    /// `(u · x)²`, x being the row sums of the features.
    signal: Vec<f64>,
    least_degree: f64,
}

/// The score of flips.
pub(crate) struct GfScore {
    pairs: FilterPairs,
    filter: GraphFilter,
    order: u32,
    smallest: usize,
    /// A response below which more than enough are, mostly.
    bound: f64,
}

impl FilterPairs {
    pub fn new(values: Vec<f64>, vectors: Matrix, signal: &[f64], least_degree: f64) -> FilterPairs {
        let mut products = vec![0.0; values.len()];
        signal.iter().enumerate().for_each(|(node, &x)| add_scaled(&mut products, x, vectors.row(node)));
        let signal = products.iter().map(|product| product * product).collect();
        FilterPairs { values, vectors, signal, least_degree }
    }

    /// Of a graph.
    pub fn of(map: &Normalized<'_>, signal: &[f64]) -> Result<FilterPairs> {
        let whole = spectrum(map, MEMORY)?;
        let nodes = whole.values.len();
        let mut vectors = Matrix::zeros(nodes, nodes);
        vectors.values_mut().par_chunks_mut(nodes.max(1)).enumerate().for_each(|(node, row)| {
            let root = map.degrees()[node].sqrt();
            row.iter_mut().enumerate().for_each(|(pair, value)| *value = whole.vectors[(node, pair)] / root);
        });
        let least = map.degrees().iter().copied().fold(f64::INFINITY, f64::min);
        Ok(FilterPairs::new(whole.values, vectors, signal, least))
    }
}

impl GfScore {
    pub fn new(pairs: FilterPairs, filter: GraphFilter, order: u32, smallest: usize) -> GfScore {
        let smallest = smallest.min(pairs.values.len());
        let mut score = GfScore { pairs, filter, order, smallest, bound: f64::INFINITY };
        let mut responses: Vec<f64> = score.pairs.values.iter().map(|&value| score.response(value)).collect();
        responses.sort_unstable_by(f64::total_cmp);
        // A quarter more than are wanted: one flip moves few of them across.
        score.bound = responses.get(smallest + smallest / 4 + 8).copied().unwrap_or(f64::INFINITY);
        score
    }

    fn response(&self, value: f64) -> f64 {
        match self.filter {
            GraphFilter::Convolution => (value + 1.0).powi(2 * self.order as i32),
            GraphFilter::Sampling => {
                let powers = (0..self.order).scan(1.0, |power, _| {
                    *power *= value;
                    Some(*power)
                });
                powers.sum::<f64>().abs() / (f64::from(self.order) * self.pairs.least_degree)
            }
        }
    }

    /// What flipping the pair would come to; `change` is 1 for an addition and −1 for a removal.
    pub fn of(&self, i: usize, j: usize, change: f64, room: &mut Vec<(f64, u32)>) -> f64 {
        self.collect(i, j, change, self.bound, room);
        if room.len() < self.smallest {
            self.collect(i, j, change, f64::INFINITY, room);
        }
        if self.smallest < room.len() {
            room.select_nth_unstable_by(self.smallest, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            room.truncate(self.smallest);
        }
        let responses: f64 = room.iter().map(|(response, _)| response).sum();
        let signal: f64 = room.iter().map(|&(_, pair)| self.pairs.signal[pair as usize]).sum();
        responses * signal
    }

    fn collect(&self, i: usize, j: usize, change: f64, bound: f64, room: &mut Vec<(f64, u32)>) {
        room.clear();
        let ends = self.pairs.vectors.row(i).iter().zip(self.pairs.vectors.row(j));
        for (pair, (&value, (a, b))) in self.pairs.values.iter().zip(ends).enumerate() {
            let response = self.response(value + change * (2.0 * a * b - value * (a * a + b * b)));
            if response <= bound {
                room.push((response, pair as u32));
            }
        }
    }
}

impl Attack for Gf {
    const KNOWN: Known = Known::NoLabels;

    fn check(&self, _: &AttackInput<'_>) -> Result<()> {
        check_ratio(self.ratio)?;
        if !(self.batch > 0.0 && self.batch <= 1.0) {
            return Err(Error::setting("batch", self.batch, "a share of the edges, above 0 and at most 1"));
        }
        if !(1..=64).contains(&self.order) {
            return Err(Error::setting("order", self.order, "a whole number from 1 to 64"));
        }
        match self.smallest {
            0 => Err(Error::setting("smallest", self.smallest, "a whole number from 1 up")),
            _ => Ok(()),
        }
    }

    fn run(&self, input: &AttackInput<'_>, observer: &dyn Observer) -> Result<Outcome> {
        let mut poisoned = PoisonedGraph::new(input.graph, self.ratio, self.degree_test);
        poisoned.resume(input.earlier_flips())?;
        let signal = FeatureRows::new(input.knowledge.features, input.graph.num_nodes()).row_sums();
        let batch = ((self.batch * input.graph.num_edges() as f64).ceil() as usize).max(1);
        let mut complete = true;
        while poisoned.left() > 0 {
            let done = poisoned.flips().len();
            let total = Some(poisoned.budget());
            if !observer.goes_on(&Event::Progress { stage: "attack", item: "gf", done, total, value: None }) {
                complete = false;
                break;
            }
            let graph = poisoned.graph()?;
            let map = Normalized::of(&graph, Operator::Propagation);
            let score = GfScore::new(FilterPairs::of(&map, &signal)?, self.filter, self.order, self.smallest);
            for found in best_scores(&score, &poisoned, graph.num_nodes(), batch.min(poisoned.left())) {
                poisoned.flip(found.low, found.high, Some(found.score));
            }
            input.keep(poisoned.flips());
            if poisoned.flips().len() == done {
                break;
            }
        }
        Ok(poisoned.into_outcome(complete, "no other pair may be flipped"))
    }
}

fn best_scores(score: &GfScore, poisoned: &PoisonedGraph<'_>, nodes: usize, count: usize) -> Vec<Candidate> {
    let of_row = |low: u32| {
        let (mut best, mut room) = (Best::new(count), Vec::new());
        for high in low + 1..nodes as u32 {
            if !poisoned.allows(low, high) {
                continue;
            }
            let change = if poisoned.has_edge(low, high) { -1.0 } else { 1.0 };
            let score = score.of(low as usize, high as usize, change, &mut room);
            if score >= best.threshold() {
                best.offer(Candidate { score, low, high });
            }
        }
        best
    };
    let found = (0..nodes as u32).into_par_iter().map(of_row);
    found.reduce(|| Best::new(count), Best::merge).into_candidates()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_graph::Graph;
    use serde_json::Value;

    use super::*;
    use crate::gf_relaxed::LowRankLoss;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    }

    fn matrix(value: &Value) -> Matrix {
        let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
        Matrix::from_values(rows.len(), rows[0].len(), rows.concat())
    }

    fn graph(values: &Value) -> Graph {
        let pair = |pair: &Value| (numbers(pair)[0] as u32, numbers(pair)[1] as u32);
        let pairs = values["edges"].as_array().unwrap().iter().map(pair).collect();
        Graph::from_pairs(values["n"].as_u64().unwrap() as usize, pairs).unwrap().0
    }

    fn assert_scores(score: &GfScore, graph: &Graph, expected: &[f64], fixed: impl Fn(usize) -> bool) {
        let mut room = Vec::new();
        let nodes = graph.num_nodes() as u32;
        let pairs = (0..nodes).flat_map(|low| (low + 1..nodes).map(move |high| (low, high)));
        for (place, (low, high)) in pairs.enumerate().filter(|(place, _)| fixed(*place)) {
            let change = if graph.has_edge(low, high) { -1.0 } else { 1.0 };
            let found = score.of(low as usize, high as usize, change, &mut room);
            let error = (found - expected[place]).abs() / expected[place].abs().max(1e-300);
            assert!(error < 1e-10, "{found} and not {} at {low} {high}", expected[place]);
        }
    }

    #[test]
    fn scores_of_karate_in_a_given_basis() {
        let values: Value = serde_json::from_str(include_str!("../tests/fixtures/karate_gfattack.json")).unwrap();
        let graph = graph(&values);
        for expected in values["expected"].as_array().unwrap() {
            let vectors = matrix(&values["eigenvectors_rows"]);
            let least = 2.0;
            let pairs = FilterPairs::new(numbers(&values["eigenvalues"]), vectors, &numbers(&values["signal"]), least);
            let whole = |key: &str| expected[key].as_u64().unwrap();
            let score =
                GfScore::new(pairs, GraphFilter::Convolution, whole("order_K") as u32, whole("smallest_T") as usize);
            assert_scores(&score, &graph, &numbers(&expected["score_first_order"]), |_| true);
        }
    }

    #[test]
    fn scores_of_twenty_nodes_by_their_own_eigenpairs() {
        let values: Value = serde_json::from_str(include_str!("../tests/fixtures/twenty_gfattack.json")).unwrap();
        let graph = graph(&values);
        let signal = FeatureRows::from_dense(&matrix(&values["features"])).row_sums();
        let map = Normalized::of(&graph, Operator::Propagation);
        let sampling = [(GraphFilter::Sampling, &values["expected_sampling_loss"])];
        let convolution = values["expected"].as_array().unwrap().iter().map(|one| (GraphFilter::Convolution, one));
        for (filter, expected) in convolution.chain(sampling) {
            let whole = |key: &str| expected[key].as_u64().unwrap();
            let pairs = FilterPairs::of(&map, &signal).unwrap();
            let score = GfScore::new(pairs, filter, whole("order_K") as u32, whole("smallest_T") as usize);
            assert_scores(&score, &graph, &numbers(&expected["score_first_order"]), |_| true);
        }
    }

    #[test]
    fn the_relaxed_loss_and_its_derivative() {
        let values: Value = serde_json::from_str(include_str!("../tests/fixtures/twenty_gfattack.json")).unwrap();
        let graph = graph(&values);
        let features = FeatureRows::from_dense(&matrix(&values["features"]));
        let expected = &values["relaxed_low_rank_loss"];
        let smallest = expected["smallest_T"].as_u64().unwrap() as usize;
        let loss = LowRankLoss::new(&Normalized::of(&graph, Operator::Propagation), &features, smallest).unwrap();
        let close = |found: f64, key: &str| (found - expected[key].as_f64().unwrap()).abs() < 1e-12;
        assert!(close(loss.value(), "value") && close(loss.signal, "signal_factor"));
        assert!(close(loss.eigenvalues, "eigenvalue_factor"));
        let slopes = numbers(&expected["pair_gradient_eigenvectors_constant"]);
        let pairs = (0..20).flat_map(|low| (low + 1..20).map(move |high| (low, high)));
        for ((low, high), slope) in pairs.zip(slopes) {
            let found = loss.at(low, high);
            assert!((found - slope).abs() < 1e-12, "{found} and not {slope} at {low} {high}");
        }
    }
}
