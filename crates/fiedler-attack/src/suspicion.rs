//! Edges that look added: their ends, and the neighbors of these, have unlike features.

use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::support::Pairs;
use fiedler_graph::{Features, Graph};
use fiedler_spectral::Operator;
use rayon::prelude::*;

use crate::feature_rows::FeatureRows;

/// An edge with what speaks against it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Suspect {
    /// The node with the lower id.
    pub low: u32,
    /// The node with the higher id.
    pub high: u32,
    /// Likeness of the features of its ends, by Jaccard or cosine; none without features.
    pub similarity: Option<f64>,
    /// Cosine of the features of its two neighborhoods, each without the other end; none without features.
    pub neighborhood_similarity: Option<f64>,
    /// Change of the squared norm of the spectrum when it is removed, to first order.
    pub spectral_effect: f64,
    /// From 0 to 1: the mean of the shares of edges whose ends, and whose neighborhoods, are no less alike; without features, the share
    /// of edges that the spectrum hangs on no more.
    pub score: f64,
}

/// All edges, the most suspicious first; of equal ones the smaller pair.
///
/// The effect on the spectrum is told with every edge. It enters the score only where there are no features: on graphs that Mettack
/// poisoned it tells added edges from others no better than chance.
///
/// ```
/// use fiedler_attack::suspicious_edges;
/// use fiedler_graph::{Dense, Features, Graph};
/// let (graph, _) = Graph::from_pairs(6, vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])?;
/// let features = [[1.0, 0.0]; 3].into_iter().chain([[0.0, 1.0]; 3]).flatten().collect();
/// let features = Features::Dense(Dense::new(6, 2, features)?);
/// let suspects = suspicious_edges(&graph, Some(&features));
/// assert_eq!((suspects[0].low, suspects[0].high, suspects[0].similarity), (2, 3, Some(0.0)));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn suspicious_edges(graph: &Graph, features: Option<&Features>) -> Vec<Suspect> {
    let features = features.filter(|features| features.rows() == graph.num_nodes());
    let neighborhoods = features.map(|features| neighborhood_similarities(graph, features));
    let objective = full_spectrum(&Pairs::new(graph, &[]), Operator::Laplacian, SpectralObjective::Expected);
    let edges: Vec<(u32, u32)> = graph.edge_pairs().collect();
    let look = |(at, &(low, high)): (usize, &(u32, u32))| Suspect {
        low,
        high,
        similarity: features.map(|features| features.similarity(low as usize, high as usize)),
        neighborhood_similarity: neighborhoods.as_ref().map(|all| all[at]),
        spectral_effect: -objective.kernel.at(low as usize, high as usize, 1.0),
        score: 0.0,
    };
    let mut suspects: Vec<Suspect> = edges.par_iter().enumerate().map(look).collect();
    let scores: Vec<f64> = match features {
        Some(_) => {
            let ends = ranks(&suspects, |suspect| -suspect.similarity.unwrap_or(0.0));
            let around = ranks(&suspects, |suspect| -suspect.neighborhood_similarity.unwrap_or(0.0));
            ends.iter().zip(around).map(|(ends, around)| (ends + around) / 2.0).collect()
        }
        None => ranks(&suspects, |suspect| suspect.spectral_effect.abs()),
    };
    suspects.iter_mut().zip(scores).for_each(|(suspect, score)| suspect.score = score);
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.low, a.high).cmp(&(b.low, b.high))));
    suspects
}

/// The sum t of unit feature rows x over a node and its neighbors.
struct Neighborhood {
    /// t·t.
    square: f64,
    /// t·x of the node itself.
    own: f64,
    /// Of each neighbor: t·x, and t times the neighbor's own t.
    neighbors: Vec<(f64, f64)>,
}

/// For each edge the cosine of the sums of unit feature rows over each end with its neighbors, but for the other end.
fn neighborhood_similarities(graph: &Graph, features: &Features) -> Vec<f64> {
    let rows = FeatureRows::new(Some(features), graph.num_nodes()).unit_rows();
    let around = |node: u32| std::iter::once(node).chain(graph.neighbors(node).iter().copied());
    let look = |node: u32| {
        let mut sum = vec![0.0; rows.columns()];
        around(node).for_each(|other| rows.add_row(other as usize, 1.0, &mut sum));
        let with = |other: u32| rows.dot(other as usize, &sum);
        let of = |&other: &u32| (with(other), around(other).map(with).sum());
        let neighbors = graph.neighbors(node).iter().map(of).collect();
        Neighborhood { square: around(node).map(with).sum(), own: with(node), neighbors }
    };
    let looked: Vec<Neighborhood> = (0..graph.num_nodes() as u32).into_par_iter().map(look).collect();
    let entry = |node: u32, other: u32| {
        let place = graph.neighbors(node).partition_point(|&neighbor| neighbor < other);
        looked[node as usize].neighbors[place]
    };
    let length = |node: u32| rows.row(node as usize).1.iter().map(|value| value * value).sum::<f64>();
    let similarity = |(low, high): (u32, u32)| {
        let (of_low, of_high) = (&looked[low as usize], &looked[high as usize]);
        let ((low_with_high, both), (high_with_low, _)) = (entry(low, high), entry(high, low));
        let product = both - of_low.own - of_high.own + rows.product(low as usize, high as usize);
        let squares =
            (of_low.square - 2.0 * low_with_high + length(high)) * (of_high.square - 2.0 * high_with_low + length(low));
        if squares > 1e-24 { product / squares.sqrt() } else { 0.0 }
    };
    graph.edge_pairs().map(similarity).collect()
}

/// For each item the share of items whose value is not larger.
fn ranks(suspects: &[Suspect], value: impl Fn(&Suspect) -> f64) -> Vec<f64> {
    let mut sorted: Vec<f64> = suspects.iter().map(&value).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let share = |suspect| sorted.partition_point(|&other| other <= value(suspect)) as f64 / sorted.len() as f64;
    suspects.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_graph::Dense;

    use super::*;

    #[test]
    fn neighborhoods_are_compared_without_the_other_end() {
        let (graph, _) = Graph::from_pairs(6, vec![(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (0, 5)]).unwrap();
        let cells: Vec<f32> = (0..24).map(|at| ((at * at + 5 * at) % 7) as f32).collect();
        let features = Features::Dense(Dense::new(6, 4, cells.clone()).unwrap());
        let unit = |node: u32| {
            let row = cells[node as usize * 4..node as usize * 4 + 4].iter().map(|&value| f64::from(value));
            let norm = row.clone().map(|value| value * value).sum::<f64>().sqrt();
            row.map(|value| if norm > 0.0 { value / norm } else { 0.0 }).collect::<Vec<f64>>()
        };
        let sum = |node: u32, without: u32| {
            let mut sum = unit(node);
            for &other in graph.neighbors(node).iter().filter(|other| **other != without) {
                sum.iter_mut().zip(unit(other)).for_each(|(to, value)| *to += value);
            }
            sum
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let found = neighborhood_similarities(&graph, &features);
        for ((low, high), found) in graph.edge_pairs().zip(found) {
            let (a, b) = (sum(low, high), sum(high, low));
            let expected = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            assert!((found - expected).abs() < 1e-12, "{found} and not {expected} at {low} {high}");
        }
    }
}
