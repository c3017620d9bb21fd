//! Triangles, and the clustering coefficients that follow from them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::graph::Graph;

/// How many triangles each node is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triangles {
    of: Vec<u64>,
}

impl Triangles {
    /// Triangles through each node.
    pub fn of(&self) -> &[u64] {
        &self.of
    }

    /// Number of triangles among the given nodes, which have no edges to others.
    pub fn count(&self, nodes: Range<u32>) -> u64 {
        self.within(nodes).iter().sum::<u64>() / 3
    }

    /// Average of the local clustering coefficients of the given nodes, where nodes of fewer than two neighbors have zero;
    /// `None` without nodes.
    pub fn average_clustering(&self, graph: &Graph, nodes: Range<u32>) -> Option<f64> {
        let size = nodes.len();
        let sum: f64 = nodes.map(|node| self.clustering(graph, node)).sum();
        (size > 0).then(|| sum / size as f64)
    }

    /// Local clustering coefficient: the share of a node's pairs of neighbors that are neighbors themselves; 0 where there is no pair.
    pub fn clustering(&self, graph: &Graph, node: u32) -> f64 {
        match pairs_of_neighbors(graph, node) {
            0 => 0.0,
            pairs => self.of[node as usize] as f64 / pairs as f64,
        }
    }

    /// Share of pairs of edges with a common node, among the given nodes, that a third edge closes; 0 when there is no such pair.
    pub fn transitivity(&self, graph: &Graph, nodes: Range<u32>) -> f64 {
        let closed: u64 = self.within(nodes.clone()).iter().sum();
        let pairs: u64 = nodes.map(|node| pairs_of_neighbors(graph, node)).sum();
        if pairs == 0 { 0.0 } else { closed as f64 / pairs as f64 }
    }

    fn within(&self, nodes: Range<u32>) -> &[u64] {
        &self.of[nodes.start as usize..nodes.end as usize]
    }
}

fn pairs_of_neighbors(graph: &Graph, node: u32) -> u64 {
    let degree = graph.degree(node) as u64;
    degree * degree.saturating_sub(1) / 2
}

/// Counts the triangles through each node.
///
/// Every edge is looked at from its end of lower degree, which bounds the work by the edges to the power of 1.5 even where a few
/// nodes have most of them.
pub fn triangles(graph: &Graph) -> Triangles {
    let ranked = Ranked::new(graph);
    let counts: Vec<AtomicU64> = (0..graph.num_nodes()).map(|_| AtomicU64::new(0)).collect();
    // Whole numbers add up to the same in any order.
    let add = |rank: u32, triangles: u64| counts[rank as usize].fetch_add(triangles, Ordering::Relaxed);
    (0..graph.num_nodes() as u32).into_par_iter().with_min_len(256).for_each_init(
        || vec![false; graph.num_nodes()],
        |is_above, low| {
            let above = ranked.above(low);
            if above.len() < 2 {
                return;
            }
            above.iter().for_each(|&rank| is_above[rank as usize] = true);
            let mut of_low = 0;
            for &middle in above {
                let mut of_middle = 0;
                for &high in ranked.above(middle) {
                    if is_above[high as usize] {
                        add(high, 1);
                        of_middle += 1;
                    }
                }
                if of_middle > 0 {
                    add(middle, of_middle);
                }
                of_low += of_middle;
            }
            add(low, of_low);
            above.iter().for_each(|&rank| is_above[rank as usize] = false);
        },
    );
    let counts: Vec<u64> = counts.into_iter().map(AtomicU64::into_inner).collect();
    Triangles { of: ranked.rank_of.iter().map(|&rank| counts[rank as usize]).collect() }
}

/// The graph with nodes called by their rank among degrees, every edge kept at its end of lower rank only.
struct Ranked {
    rank_of: Vec<u32>,
    starts: Vec<usize>,
    above: Vec<u32>,
}

impl Ranked {
    fn new(graph: &Graph) -> Ranked {
        let mut by_degree: Vec<u32> = (0..graph.num_nodes() as u32).collect();
        by_degree.par_sort_by_key(|&node| graph.degree(node));
        let mut rank_of = vec![0; graph.num_nodes()];
        for (rank, &node) in by_degree.iter().enumerate() {
            rank_of[node as usize] = rank as u32;
        }
        let mut starts = Vec::with_capacity(graph.num_nodes() + 1);
        let mut above = Vec::with_capacity(graph.num_edges());
        starts.push(0);
        for (rank, &node) in by_degree.iter().enumerate() {
            let ranks = graph.neighbors(node).iter().map(|&other| rank_of[other as usize]);
            above.extend(ranks.filter(|&other| other > rank as u32));
            starts.push(above.len());
        }
        Ranked { rank_of, starts, above }
    }

    fn above(&self, rank: u32) -> &[u32] {
        &self.above[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }
}
