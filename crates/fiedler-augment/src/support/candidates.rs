//! Which non-edges to consider where all of them would be too many.

use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use rand::RngExt;
use rayon::prelude::*;

/// Draws up to `each` non-neighbors for every node, in proportion to `pull` (q in the gradient: what minimising ranks
/// additions by), and gives the distinct pairs `(low, high)`, sorted.
pub fn draw_candidates(graph: &Graph, pull: &[f64], each: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut cumulative = Vec::with_capacity(pull.len());
    let mut total = 0.0;
    for value in pull {
        total += value.max(0.0);
        cumulative.push(total);
    }
    if total <= 0.0 || graph.num_nodes() < 2 {
        return Vec::new();
    }
    let nodes = Cumulative::new(cumulative);
    let mut pairs: Vec<(u32, u32)> = (0..graph.num_nodes() as u32)
        .into_par_iter()
        .flat_map_iter(|node| {
            let mut random = stream(seed, "candidates", u64::from(node));
            let nodes = &nodes;
            (0..each).filter_map(move |_| {
                let other = nodes.at(random.random::<f64>() * total) as u32;
                (other != node && !graph.has_edge(node, other)).then(|| (node.min(other), node.max(other)))
            })
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    pairs
}

/// Rising sums, and for each of as many equal parts of their range where to begin looking.
struct Cumulative {
    sums: Vec<f64>,
    starts: Vec<u32>,
    parts_a_unit: f64,
}

impl Cumulative {
    fn new(sums: Vec<f64>) -> Cumulative {
        let parts = sums.len();
        let parts_a_unit = parts as f64 / sums.last().copied().unwrap_or(1.0);
        let mut starts = Vec::with_capacity(parts);
        let mut place = 0;
        for part in 0..parts {
            // A little early, so that no rounding can put the start behind a sum that is looked for.
            let least = (part as f64 - 0.5) / parts_a_unit;
            place += sums[place..].iter().take_while(|&&sum| sum <= least).count();
            starts.push(place as u32);
        }
        Cumulative { sums, starts, parts_a_unit }
    }

    /// The first place whose sum exceeds `value`.
    fn at(&self, value: f64) -> usize {
        let part = ((value * self.parts_a_unit) as usize).min(self.starts.len() - 1);
        let start = self.starts[part] as usize;
        let further = self.sums[start..].iter().take_while(|&&sum| sum <= value).count();
        (start + further).min(self.sums.len() - 1)
    }
}
