//! Whether neighbors have similar features.

use rand::RngExt;
use rayon::prelude::*;

use crate::features::Features;
use crate::graph::Graph;
use crate::random::stream;

/// Edges, and as many random pairs, that are looked at.
const SAMPLE: usize = 20_000;

/// Edge AUC: the probability that the features of the two ends of an edge are more alike, by cosine, than those of a random pair of
/// nodes; ties count half. Estimated from up to 20,000 of each, drawn with the seed; `None` without edges.
///
/// Near one half, features say nothing of edges, and averaging them over neighbors may do more harm than good.
///
/// ```
/// use fiedler_graph::{Dense, Features, Graph, measure::edge_auc};
/// let (pairs, _) = Graph::from_pairs(4, vec![(0, 1), (2, 3)])?;
/// let features = Features::Dense(Dense::new(4, 2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])?);
/// assert!(edge_auc(&pairs, &features, 0).is_some_and(|auc| auc > 0.7));
/// assert_eq!(edge_auc(&Graph::empty(4), &features, 0), None);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn edge_auc(graph: &Graph, features: &Features, seed: u64) -> Option<f64> {
    let (nodes, entries) = (graph.num_nodes() as u32, graph.indices().len());
    if entries == 0 || features.rows() != graph.num_nodes() {
        return None;
    }
    let mut random = stream(seed, "edge auc", 0);
    let edges: Vec<(u32, u32)> = if graph.num_edges() <= SAMPLE {
        graph.edge_pairs().collect()
    } else {
        let draw = |_| {
            let entry = random.random_range(0..entries);
            let node = graph.indptr().partition_point(|&start| start <= entry) - 1;
            (node as u32, graph.indices()[entry])
        };
        (0..SAMPLE).map(draw).collect()
    };
    let pair = |_| {
        let a = random.random_range(0..nodes);
        // One less than there are nodes, and past the first: the two are never the same.
        let b = random.random_range(0..nodes - 1);
        (a, if b >= a { b + 1 } else { b })
    };
    let others: Vec<(u32, u32)> = (0..edges.len()).map(pair).collect();
    let cosines = |pairs: &[(u32, u32)]| -> Vec<f64> {
        pairs.par_iter().map(|&(a, b)| features.cosine(a as usize, b as usize)).collect()
    };
    Some(auc(&cosines(&edges), &mut cosines(&others)))
}

/// The probability that a value of the first list is larger than one of the second.
fn auc(first: &[f64], second: &mut [f64]) -> f64 {
    second.sort_unstable_by(f64::total_cmp);
    let wins = |value: &f64| {
        let below = second.partition_point(|other| other < value);
        let not_above = second.partition_point(|other| other <= value);
        (below + not_above) as f64 / 2.0
    };
    first.iter().map(wins).sum::<f64>() / (first.len() * second.len()) as f64
}
