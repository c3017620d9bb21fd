//! How central the nodes of a graph are. Edges count alike, whatever they weigh.

use fiedler_graph::{Graph, measure};
use serde::{Deserialize, Serialize};

/// Rounds after which an iteration ends, settled or not.
const MOST_ROUNDS: usize = 10_000;
/// The mean change of a node, relative to the mean centrality, below which an iteration has settled.
const SETTLED: f64 = 1e-10;

/// A measure of how central a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centrality {
    /// The number of neighbors.
    #[default]
    Degree,
    /// The principal eigenvector of the adjacency matrix, of length one. Where the largest eigenvalue belongs to several
    /// components, each has its share. The power iteration ends after 10,000 rounds, where it may still be on its way on
    /// graphs such as very long paths.
    Eigenvector,
    /// How often a random surfer visits, who follows an edge with probability 0.85 and else jumps anywhere.
    PageRank,
}

impl Centrality {
    /// The centrality of every node. None is negative.
    ///
    /// ```
    /// use fiedler_augment::centrality::Centrality;
    /// use fiedler_graph::Graph;
    /// let (star, _) = Graph::from_pairs(4, vec![(0, 1), (0, 2), (0, 3)])?;
    /// let found = Centrality::Eigenvector.of_nodes(&star);
    /// assert!((found[0] - 0.5f64.sqrt()).abs() < 1e-8 && (found[1] - 6f64.sqrt().recip()).abs() < 1e-8);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn of_nodes(self, graph: &Graph) -> Vec<f64> {
        let nodes = 0..graph.num_nodes() as u32;
        match self {
            Centrality::Degree => nodes.map(|node| graph.degree(node) as f64).collect(),
            Centrality::Eigenvector => eigenvector(graph),
            Centrality::PageRank => measure::page_rank(graph),
        }
    }
}

fn eigenvector(graph: &Graph) -> Vec<f64> {
    let nodes = graph.num_nodes();
    let mut found = vec![1.0 / (nodes.max(1) as f64).sqrt(); nodes];
    // Adding the identity keeps the eigenvectors and makes the iteration settle on bipartite graphs too.
    iterate(&mut found, |found, next| {
        for (node, next) in next.iter_mut().enumerate() {
            let others = graph.neighbors(node as u32);
            *next = found[node] + others.iter().map(|&other| found[other as usize]).sum::<f64>();
        }
        let length = next.iter().map(|value| value * value).sum::<f64>().sqrt();
        next.iter_mut().for_each(|value| *value /= length);
    });
    found
}

/// Repeats a step until it changes nothing more.
fn iterate(found: &mut Vec<f64>, mut step: impl FnMut(&[f64], &mut [f64])) {
    let mut next = vec![0.0; found.len()];
    for _ in 0..MOST_ROUNDS {
        step(found, &mut next);
        let change: f64 = found.iter().zip(&next).map(|(before, after)| (before - after).abs()).sum();
        let size: f64 = next.iter().sum();
        std::mem::swap(found, &mut next);
        if change <= SETTLED * size {
            return;
        }
    }
}

/// Probabilities that fall with importance, as GCA has them: `min(p (s_max - s) / (s_max - s_mean), cutoff)` with `s` the
/// logarithm of the importance.
///
/// Where all are equally important each has `p`. What alone has no importance at all is outside of the mean and has the
/// cut-off.
pub(crate) fn fading(importance: &[f64], probability: f64, cutoff: f64) -> Vec<f64> {
    let logarithms = || importance.iter().filter(|value| **value > 0.0).map(|value| value.ln());
    let count = logarithms().count() as f64;
    if count == 0.0 {
        return vec![probability.min(cutoff); importance.len()];
    }
    let highest = logarithms().fold(f64::NEG_INFINITY, f64::max);
    let gap = highest - logarithms().sum::<f64>() / count;
    let one = |&value: &f64| {
        if probability == 0.0 {
            return 0.0;
        }
        if value <= 0.0 {
            return cutoff;
        }
        // Rounding must not be mistaken for a difference.
        let share = if gap > 1e-9 { (highest - value.ln()) / gap } else { 1.0 };
        (share * probability).min(cutoff)
    };
    importance.iter().map(one).collect()
}
