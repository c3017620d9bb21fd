//! What eigenvalues of the normalized Laplacian say of cuts and distances.

use faer::MatRef;
use fiedler_graph::Graph;
use serde::{Deserialize, Serialize};

use crate::operator::inverse_root;

/// Eigenvalues closer than this are one eigenvalue.
pub(super) const SAME: f64 = 1e-8;

/// Computed eigenvalues further apart than this are different ones.
const DISTINCT: f64 = 1e-10;

/// Bounds on the conductance of a connected graph's best cut, by Cheeger's inequality: `λ₂/2 ≤ h ≤ √(2 λ₂)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cheeger {
    /// No cut has a lower conductance.
    pub at_least: f64,
    /// Some cut has at most this conductance.
    pub at_most: f64,
    /// The conductance of the best cut along the second eigenvector, where it was computed.
    pub found: Option<f64>,
}

impl Cheeger {
    /// The bounds that follow from the second lowest eigenvalue of the normalized Laplacian.
    pub fn from_second(second: f64) -> Cheeger {
        let second = second.max(0.0);
        Cheeger { at_least: second / 2.0, at_most: (2.0 * second).sqrt(), found: None }
    }
}

/// The lowest conductance among the cuts that an eigenvector of the normalized Laplacian orders the nodes into.
///
/// `None` where no cut has edges on both sides.
pub fn sweep_conductance(graph: &Graph, vector: &[f64]) -> Option<f64> {
    let weight =
        |node: u32, place: usize| graph.neighbor_weights(node).map_or(1.0, |weights| f64::from(weights[place]));
    let degree = |node: u32| -> f64 { (0..graph.degree(node)).map(|place| weight(node, place)).sum() };
    let degrees: Vec<f64> = (0..graph.num_nodes() as u32).map(degree).collect();
    let height = |node: u32| vector[node as usize] * inverse_root(degrees[node as usize]);
    let mut order: Vec<u32> = (0..graph.num_nodes() as u32).collect();
    order.sort_by(|&a, &b| height(a).total_cmp(&height(b)).then(a.cmp(&b)));
    let total: f64 = degrees.iter().sum();
    let mut inside = vec![false; graph.num_nodes()];
    let (mut volume, mut cut) = (0.0, 0.0);
    let mut best: Option<f64> = None;
    for node in order {
        inside[node as usize] = true;
        volume += degrees[node as usize];
        for (place, &other) in graph.neighbors(node).iter().enumerate() {
            cut += if inside[other as usize] { -weight(node, place) } else { weight(node, place) };
        }
        let smaller = volume.min(total - volume);
        if smaller > 1e-9 * total {
            let conductance = cut.max(0.0) / smaller;
            best = Some(best.map_or(conductance, |best| best.min(conductance)));
        }
    }
    best
}

/// What the spectrum of the normalized Laplacian says of a connected graph's diameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DiameterBounds {
    /// `1 / (2 m λ₂) ≤ d`, Chung's Lemma 1.9. (The paper prints this inequality the other way round.) Unweighted graphs
    /// only.
    pub from_edges: Option<f64>,
    /// `4 / (n λ₂) ≤ d`, with λ₂ of the Laplacian that is not normalized, where it is known. Unweighted graphs only.
    pub from_nodes: Option<f64>,
    /// `d ≤ r - 1` for r distinct eigenvalues, where all are known.
    pub from_distinct: Option<usize>,
    /// `d ≤ ⌊log((vol - δ)/δ) / log((λₙ + λ₂)/(λₙ - λ₂))⌋ + 1`, δ the lowest degree, after Chung. Rounding the quotient up
    /// instead would fail where it is whole, as on a path of three nodes.
    pub from_interval: Option<usize>,
    /// The least of `k log n / λ_k` over the known k: the order of the bound of Oveis Gharan and Trevisan, which
    /// holds with the constant 48; the paper states it without.
    pub order_from_higher: Option<f64>,
}

/// What is known of a connected graph when its diameter is bounded.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Lowest eigenvalues of the normalized Laplacian, ascending, or all of them.
    pub lowest: &'a [f64],
    /// The highest eigenvalue of the normalized Laplacian.
    pub highest: f64,
    /// The second lowest eigenvalue of the Laplacian that is not normalized.
    pub unnormalized_second: Option<f64>,
}

impl DiameterBounds {
    /// The bounds for a connected graph.
    pub fn of(graph: &Graph, known: Known) -> DiameterBounds {
        let nodes = graph.num_nodes() as f64;
        let second = known.lowest.get(1).copied().filter(|&second| second > SAME);
        let unweighted = graph.weights().is_none();
        let all = known.lowest.len() == graph.num_nodes();
        let higher = (2..).zip(known.lowest.iter().skip(1)).filter(|(_, value)| **value > SAME);
        DiameterBounds {
            from_edges: second.filter(|_| unweighted).map(|second| 1.0 / (2.0 * graph.num_edges() as f64 * second)),
            from_nodes: known
                .unnormalized_second
                .filter(|&value| unweighted && value > SAME)
                .map(|value| 4.0 / (nodes * value)),
            from_distinct: all.then(|| distinct(known.lowest).saturating_sub(1)),
            from_interval: second.and_then(|second| interval_bound(graph, second, known.highest)),
            order_from_higher: higher.map(|(k, value)| f64::from(k) * nodes.ln() / value).reduce(f64::min),
        }
    }

    /// The largest of the lower bounds.
    pub fn at_least(&self) -> Option<f64> {
        [self.from_edges, self.from_nodes].into_iter().flatten().reduce(f64::max)
    }

    /// The lowest of the upper bounds whose constants are known.
    pub fn at_most(&self) -> Option<usize> {
        [self.from_distinct, self.from_interval].into_iter().flatten().min()
    }
}

fn interval_bound(graph: &Graph, second: f64, highest: f64) -> Option<usize> {
    let degree = |node: u32| -> f64 {
        graph
            .neighbor_weights(node)
            .map_or(graph.degree(node) as f64, |row| row.iter().map(|&weight| f64::from(weight)).sum())
    };
    let degrees = (0..graph.num_nodes() as u32).map(degree);
    let (volume, least) = degrees.fold((0.0, f64::INFINITY), |(sum, least), degree| (sum + degree, least.min(degree)));
    if highest - second <= SAME {
        // One eigenvalue beside 0: the graph is complete.
        return Some(1);
    }
    let bound = ((volume - least) / least).ln() / ((highest + second) / (highest - second)).ln();
    bound.is_finite().then(|| (bound + 1e-9).floor().max(0.0) as usize + 1)
}

/// Number of eigenvalues that differ, of all in ascending order.
pub fn distinct(values: &[f64]) -> usize {
    let steps = values.windows(2).filter(|pair| pair[1] - pair[0] > DISTINCT).count();
    steps + usize::from(!values.is_empty())
}

/// The gaps between successive eigenvalues, ascending: the k-th, from 1, stands between the k-th and the next.
pub fn eigengaps(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The number of clusters, at least 2, after which the lowest eigenvalues of the Laplacian make their largest step.
pub fn clusters_by_gap(lowest: &[f64]) -> Option<usize> {
    let gaps = eigengaps(lowest);
    // Of equal gaps the first: fewer clusters.
    (2..=gaps.len()).max_by(|&a, &b| gaps[a - 1].total_cmp(&gaps[b - 1]).then(b.cmp(&a)))
}

/// One column of a matrix as a vector.
pub(super) fn column(vectors: MatRef<'_, f64>, place: usize) -> Vec<f64> {
    vectors.col(place).iter().copied().collect()
}
