//! PageRank.

use rayon::prelude::*;

use crate::graph::Graph;

/// Rounds after which the iteration ends, settled or not.
const MOST_ROUNDS: usize = 10_000;
/// The mean change of a node, relative to the mean rank, below which the iteration has settled.
const SETTLED: f64 = 1e-10;
/// The chance that a random surfer follows an edge rather than jumping anywhere.
const DAMPING: f64 = 0.85;

/// PageRank of each node: how often a random surfer visits, who follows an edge with probability 0.85 and else jumps anywhere. Edges
/// count alike, whatever they weigh; from a node without edges the surfer always jumps. The ranks sum to one.
///
/// ```
/// use fiedler_graph::{Graph, measure::page_rank};
/// let (star, _) = Graph::from_pairs(4, vec![(0, 1), (0, 2), (0, 3)])?;
/// let ranks = page_rank(&star);
/// assert!(ranks[0] > ranks[1] && (ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn page_rank(graph: &Graph) -> Vec<f64> {
    let nodes = graph.num_nodes();
    let mut found = vec![1.0 / nodes.max(1) as f64; nodes];
    let mut next = vec![0.0; nodes];
    let mut sent = vec![0.0; nodes];
    for _ in 0..MOST_ROUNDS {
        let mut lost = 0.0;
        for (node, sent) in sent.iter_mut().enumerate() {
            match graph.degree(node as u32) {
                0 => lost += found[node],
                degree => *sent = found[node] / degree as f64,
            }
        }
        let everywhere = (1.0 - DAMPING + DAMPING * lost) / nodes as f64;
        // Every node sums over its own neighbors, so that the division of the work does not show in the result.
        next.par_iter_mut().with_min_len(1024).enumerate().for_each(|(node, next)| {
            let others = graph.neighbors(node as u32);
            *next = everywhere + DAMPING * others.iter().map(|&other| sent[other as usize]).sum::<f64>();
        });
        let change: f64 = found.iter().zip(&next).map(|(before, after)| (before - after).abs()).sum();
        let size: f64 = next.iter().sum();
        std::mem::swap(&mut found, &mut next);
        if change <= SETTLED * size {
            break;
        }
    }
    found
}
