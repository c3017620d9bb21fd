//! What the tests share: small graphs of any shape, and the same work on one thread and on two.

use std::collections::BTreeSet;

use fiedler_graph::Graph;
use proptest::prelude::*;

/// Up to `most` nodes and any pairs of them: self-loops, mirrored and repeated pairs included.
pub fn pairs(most: usize) -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1..=most).prop_flat_map(|nodes| {
        let id = 0..nodes as u32;
        (Just(nodes), proptest::collection::vec((id.clone(), id), 0..3 * nodes))
    })
}

/// A graph of up to `most` nodes.
pub fn graph(most: usize) -> impl Strategy<Value = Graph> {
    pairs(most).prop_map(|(nodes, pairs)| Graph::from_pairs(nodes, pairs).unwrap().0)
}

/// A weighted graph of up to `most` nodes.
pub fn weighted_graph(most: usize) -> impl Strategy<Value = Graph> {
    pairs(most).prop_flat_map(|(nodes, pairs)| {
        let weights = proptest::collection::vec(0.5f32..2.0, pairs.len());
        weights.prop_map(move |weights| Graph::from_weighted_pairs(nodes, pairs.clone(), weights).unwrap().0)
    })
}

/// Checks all that a graph promises: symmetric, sorted, without loops and duplicates. Gives its edges.
pub fn checked_edges(graph: &Graph) -> BTreeSet<(u32, u32)> {
    assert_eq!(graph.indptr().len(), graph.num_nodes() + 1);
    assert_eq!(graph.indices().len(), 2 * graph.num_edges());
    for node in 0..graph.num_nodes() as u32 {
        let row = graph.neighbors(node);
        assert!(row.is_sorted_by(|a, b| a < b), "row {node} is {row:?}");
        assert!(row.iter().all(|&other| other != node && graph.has_edge(other, node)), "row {node} is {row:?}");
    }
    graph.edge_pairs().collect()
}

/// The same work on one thread and on two: both results.
pub fn on_one_and_two_threads<T: Send>(work: impl Fn() -> T + Sync) -> [T; 2] {
    [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work))
}
