//! Weisfeiler-Lehman color refinement with hashed colors.

use fiedler_graph::{Features, Graph, GraphSet};
use rayon::prelude::*;

/// What a color of each round is mixed with, so that colors of different rounds differ.
const ROUND: u64 = 0x9e37_79b9_7f4a_7c15;

/// Rounds of the color refinement behind a graph's signature.
const SIGNATURE_DEPTH: usize = 4;

/// Colors of all nodes in round 0 … depth of the color refinement, round after round, from the colors `start` of round 0: two nodes have the
/// same color in a round if, and but for a collision of 64-bit hashes only if, they had the same color in the round before and so had
/// their neighbors, each as often.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_learn::descriptor::wl_colors;
/// let (path, _) = Graph::from_pairs(4, vec![(0, 1), (1, 2), (2, 3)])?;
/// let colors = wl_colors(&path, &[7; 4], 1);
/// assert_eq!(colors.len(), 8);
/// assert!(colors[4] == colors[7] && colors[4] != colors[5]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn wl_colors(graph: &Graph, start: &[u64], depth: usize) -> Vec<u64> {
    let nodes = graph.num_nodes();
    let mut colors = Vec::with_capacity(nodes * (depth + 1));
    colors.extend(start.iter().map(|&color| mix(color)));
    for round in 1..=depth as u64 {
        let first = colors.len() - nodes;
        // A sum of mixed hashes is the same in any order of the neighbors, which need not be sorted.
        let mixed: Vec<u64> = colors[first..].iter().map(|&color| mix(color ^ ROUND)).collect();
        for node in 0..nodes {
            let others = graph.neighbors(node as u32);
            let sum = others.iter().fold(0u64, |sum, &other| sum.wrapping_add(mixed[other as usize]));
            let own = mix(colors[first + node].wrapping_add(round.wrapping_mul(ROUND)));
            colors.push(mix(own ^ sum.rotate_left(23)));
        }
    }
    colors
}

/// Colors of round 0 where nodes have no labels: their degrees.
pub fn degree_colors(graph: &Graph) -> Vec<u64> {
    (0..graph.num_nodes() as u32).map(|node| graph.degree(node) as u64).collect()
}

/// Each color once, ascending, and how often it occurs.
pub fn count_colors(mut colors: Vec<u64>) -> Vec<(u64, u32)> {
    colors.sort_unstable();
    let mut counts: Vec<(u64, u32)> = Vec::new();
    for color in colors {
        match counts.last_mut() {
            Some((last, count)) if *last == color => *count += 1,
            _ => counts.push((color, 1)),
        }
    }
    counts
}

/// For each graph of a set a hash that equal graphs share, whatever their nodes are called: of numbers of nodes and edges, and of the colors
/// of four rounds of the color refinement, from features of nodes if there are any, else from degrees. Graphs that share it are twins to
/// whatever looks at four steps around each node.
pub fn graph_signatures(graphs: &GraphSet, features: Option<&Features>) -> Vec<u64> {
    let of_graph = |place: usize| {
        let graph = graphs.graph(place);
        let start = match features {
            Some(features) => graphs.node_range(place).map(|node| row_color(features, node as usize)).collect(),
            None => degree_colors(&graph),
        };
        signature(&graph, &count_colors(wl_colors(&graph, &start, SIGNATURE_DEPTH)))
    };
    (0..graphs.len()).into_par_iter().map(of_graph).collect()
}

/// A hash of one row of features.
fn row_color(features: &Features, row: usize) -> u64 {
    let add = |color: u64, (place, bits): (u64, u32)| color.wrapping_add(mix(mix(place) ^ u64::from(bits)));
    match features {
        Features::Dense(dense) => {
            let entries = dense.row(row).iter().enumerate().filter(|(_, value)| **value != 0.0);
            entries.map(|(at, value)| (at as u64, value.to_bits())).fold(0, add)
        }
        Features::Sparse(sparse) => {
            let (columns, values) = sparse.row(row);
            columns.iter().zip(values).map(|(&at, value)| (at.into(), value.to_bits())).fold(0, add)
        }
        Features::Categorical(codes) => {
            codes.row(row).iter().enumerate().map(|(at, &code)| (at as u64, u32::from(code))).fold(0, add)
        }
    }
}

/// A hash that equal graphs share, whatever their nodes are called: of numbers of nodes and edges and all colors.
pub(super) fn signature(graph: &Graph, counts: &[(u64, u32)]) -> u64 {
    let sizes = mix(graph.num_nodes() as u64) ^ mix(graph.num_edges() as u64).rotate_left(17);
    counts.iter().fold(sizes, |sum, &(color, count)| sum.wrapping_add(mix(color ^ mix(u64::from(count)))))
}

/// A bijection of 64-bit numbers that leaves no pattern (the finalizer of SplitMix64).
pub(super) fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(ROUND);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
