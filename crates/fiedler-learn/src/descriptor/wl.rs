//! Weisfeiler-Lehman color refinement with hashed colors.

use fiedler_graph::Graph;

/// What a color of each round is mixed with, so that colors of different rounds differ.
const ROUND: u64 = 0x9e37_79b9_7f4a_7c15;

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
