//! Which non-edges to consider where all of them would be too many.

use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use rand::RngExt;
use rayon::prelude::*;

/// Draws up to `each` non-neighbours for every node, in proportion to `pull` (q in the gradient: what minimising ranks
/// additions by), and gives the distinct pairs `(low, high)`, sorted.
pub fn draw_candidates(graph: &Graph, pull: &[f64], each: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut cumulative = Vec::with_capacity(pull.len());
    let mut total = 0.0;
    for value in pull {
        total += value.max(0.0);
        cumulative.push(total);
    }
    if total <= 0.0 || graph.nodes() < 2 {
        return Vec::new();
    }
    let mut pairs: Vec<(u32, u32)> = (0..graph.nodes() as u32)
        .into_par_iter()
        .flat_map_iter(|node| {
            let mut random = stream(seed, "candidates", u64::from(node));
            let cumulative = &cumulative;
            (0..each).filter_map(move |_| {
                let drawn = random.random::<f64>() * total;
                let other = cumulative.partition_point(|&sum| sum <= drawn).min(cumulative.len() - 1) as u32;
                (other != node && !graph.has_edge(node, other)).then(|| (node.min(other), node.max(other)))
            })
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}
