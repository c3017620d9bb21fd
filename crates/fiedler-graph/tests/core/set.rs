//! Sets and batches, against graphs put side by side by hand.

use std::sync::Arc;

use fiedler_graph::{Graph, GraphSet};
use proptest::prelude::*;

use crate::common::{checked_edges, graph, weighted_graph};

/// The graphs as blocks of one, built from shifted pairs.
fn side_by_side(graphs: &[Graph]) -> (Graph, Vec<u32>) {
    let mut pairs = Vec::new();
    let mut weights = Vec::new();
    let mut sizes = Vec::new();
    let mut first = 0;
    for graph in graphs {
        pairs.extend(graph.edge_pairs().map(|(low, high)| (low + first, high + first)));
        weights.extend(graph.edge_weights().unwrap_or_default());
        sizes.push(graph.num_nodes() as u32);
        first += graph.num_nodes() as u32;
    }
    let is_weighted = graphs.iter().any(|graph| graph.weights().is_some());
    let built = match is_weighted {
        true => Graph::from_weighted_pairs(first as usize, pairs, weights),
        false => Graph::from_pairs(first as usize, pairs),
    };
    (built.unwrap().0, sizes)
}

fn set_and_choices() -> impl Strategy<Value = (Vec<Graph>, Vec<Vec<usize>>)> {
    let plain = proptest::collection::vec(graph(6), 1..6);
    let weighted = proptest::collection::vec(weighted_graph(6), 1..6);
    prop_oneof![plain, weighted].prop_flat_map(|graphs| {
        let choice = proptest::collection::vec(0..graphs.len(), 0..8);
        (Just(graphs), proptest::collection::vec(choice, 1..4))
    })
}

proptest! {
    #[test]
    fn batches_are_the_chosen_graphs_side_by_side((graphs, choices) in set_and_choices()) {
        let (arena, sizes) = side_by_side(&graphs);
        let set = GraphSet::from_block_diagonal(arena, sizes).unwrap();
        prop_assert_eq!(set.len(), graphs.len());
        for (at, graph) in graphs.iter().enumerate() {
            prop_assert_eq!(&set.graph(at), graph);
            prop_assert_eq!(set.graph_edges(at), graph.num_edges());
        }
        // One batch after the other in the same memory: nothing of the earlier ones may stay.
        let mut reused = set.batch(&[]);
        for choice in choices {
            let chosen: Vec<_> = choice.iter().map(|&at| graphs[at].clone()).collect();
            let (expected, sizes) = side_by_side(&chosen);
            set.batch_into(&choice, &mut reused);
            checked_edges(&reused.graph);
            prop_assert_eq!(reused.graph.indptr(), expected.indptr());
            prop_assert_eq!(reused.graph.indices(), expected.indices());
            prop_assert_eq!(reused.graph.edge_weights().unwrap_or_default(), expected.edge_weights().unwrap_or_default());
            prop_assert_eq!(&reused, &set.batch(&choice));
            let rows: Vec<u32> = choice.iter().flat_map(|&at| set.node_range(at)).collect();
            prop_assert_eq!(&reused.node_rows, &rows);
            let offsets: Vec<u32> = (0..=sizes.len()).map(|at| sizes[..at].iter().sum()).collect();
            prop_assert_eq!(&reused.node_offsets, &offsets);
        }
    }
}

#[test]
fn graphs_of_a_set_must_fill_it_and_keep_apart() {
    let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)]).unwrap();
    assert!(GraphSet::from_block_diagonal(path.clone(), vec![1, 1]).unwrap_err().to_string().contains("sizes is 2"));
    assert!(GraphSet::from_block_diagonal(path.clone(), vec![u32::MAX, u32::MAX, 5]).is_err());
    assert!(GraphSet::from_block_diagonal(path.clone(), vec![1, 2]).unwrap_err().to_string().contains("same graph"));
    assert!(GraphSet::from_block_diagonal(path.clone(), vec![2, 1]).is_err());
    let with_empty = GraphSet::from_block_diagonal(path.clone(), vec![0, 3, 0]).unwrap();
    assert_eq!(with_empty.graph(0), Graph::empty(0));
    assert_eq!(with_empty.graph(1), path);
    assert!(GraphSet::from_block_diagonal(Graph::empty(0), vec![]).unwrap().is_empty());
}

#[test]
fn all_graphs_share_their_edges_with_the_set() {
    let (arena, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)]).unwrap();
    let set = GraphSet::from_block_diagonal(arena, vec![2, 3]).unwrap();
    let (whole, mut again) = (set.whole(), set.whole());
    assert!(Arc::ptr_eq(&whole.graph, &again.graph));
    // What others look at is not written over.
    set.batch_into(&[1], &mut again);
    assert_eq!(again, set.batch(&[1]));
    assert_eq!(whole, set.whole());
}
