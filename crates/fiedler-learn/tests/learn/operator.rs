use fiedler_learn::{Normalization, Operator};

use crate::common;

/// The matrix written out.
fn dense(operator: &Operator) -> Vec<Vec<f32>> {
    let nodes = operator.num_nodes();
    let mut dense = vec![vec![0.0; nodes]; nodes];
    for (node, row) in dense.iter_mut().enumerate() {
        let (columns, values) = operator.row(node);
        assert!(columns.is_sorted_by(|a, b| a < b));
        for (&column, &value) in columns.iter().zip(values) {
            row[column as usize] = value;
        }
    }
    dense
}

#[test]
fn convolution_is_normalized_by_degrees_with_loops() {
    for graph in [common::graph(40, 80, 1), common::weighted_graph(40, 80, 2)] {
        let operator = Operator::new(&graph, Normalization::Symmetric);
        let found = dense(&operator);
        let weight = |a: usize, b: usize| -> f64 {
            let row = graph.neighbors(a as u32);
            match row.iter().position(|&other| other as usize == b) {
                _ if a == b => 1.0,
                Some(place) => graph.neighbor_weights(a as u32).map_or(1.0, |weights| f64::from(weights[place])),
                None => 0.0,
            }
        };
        let degrees: Vec<f64> = (0..40).map(|a| (0..40).map(|b| weight(a, b)).sum()).collect();
        for a in 0..40 {
            for b in 0..40 {
                let expected = weight(a, b) / (degrees[a] * degrees[b]).sqrt();
                assert!((f64::from(found[a][b]) - expected).abs() < 1e-6);
                assert_eq!(found[a][b], found[b][a]);
            }
        }
    }
}

#[test]
fn sum_keeps_the_graph_as_it_is() {
    let graph = common::weighted_graph(30, 60, 3);
    let operator = Operator::new(&graph, Normalization::None);
    for node in 0..30 {
        let (columns, values) = operator.row(node as usize);
        assert_eq!((columns, Some(values)), (graph.neighbors(node), graph.neighbor_weights(node)));
    }
}

#[test]
fn relabelling_moves_rows_and_columns() {
    let operator = Operator::new(&common::weighted_graph(25, 50, 4), Normalization::Symmetric);
    let names: Vec<u32> = (0..25).map(|node| (node * 7 + 3) % 25).collect();
    let (before, after) = (dense(&operator), dense(&operator.relabelled(&names)));
    for a in 0..25 {
        for b in 0..25 {
            assert_eq!(after[names[a] as usize][names[b] as usize], before[a][b]);
        }
    }
}

#[test]
fn the_mean_over_neighbors_has_rows_that_sum_to_one() {
    let graph = common::weighted_graph(40, 50, 5);
    let operator = Operator::new(&graph, Normalization::RowMean);
    let mut alone = 0;
    for node in 0..40 {
        let (columns, values) = operator.row(node as usize);
        assert_eq!(columns, graph.neighbors(node));
        let total: f32 = graph.neighbor_weights(node).unwrap().iter().sum();
        for (value, weight) in values.iter().zip(graph.neighbor_weights(node).unwrap()) {
            assert!((value - weight / total).abs() < 1e-6);
        }
        alone += usize::from(columns.is_empty());
    }
    assert!(alone > 0, "a node without neighbors has an empty row");
}

#[test]
fn entries_know_their_edges() {
    for graph in [common::graph(40, 80, 6), common::weighted_graph(25, 20, 7)] {
        let edges: Vec<(u32, u32)> = graph.edge_pairs().collect();
        let names: Vec<u32> = (0..graph.num_nodes() as u32).rev().collect();
        for normalization in [Normalization::Symmetric, Normalization::None, Normalization::RowMean] {
            let operator = Operator::new(&graph, normalization);
            let relabelled = operator.relabelled(&names);
            let mut of_relabelled: Vec<(u32, u32)> = edges
                .iter()
                .map(|&(a, b)| (names[a as usize].min(names[b as usize]), names[a as usize].max(names[b as usize])))
                .collect();
            of_relabelled.sort_unstable();
            for (operator, edges) in [(&operator, &edges), (&relabelled, &of_relabelled)] {
                let places = operator.edge_places();
                assert_eq!(places.len(), operator.indices().len());
                for node in 0..operator.num_nodes() {
                    for entry in operator.indptr()[node]..operator.indptr()[node + 1] {
                        let other = operator.indices()[entry];
                        match places[entry] {
                            u32::MAX => assert_eq!(other as usize, node),
                            edge => {
                                let pair = (other.min(node as u32), other.max(node as u32));
                                assert_eq!(edges[edge as usize], pair);
                            }
                        }
                    }
                }
                let counted = places.iter().filter(|&&place| place != u32::MAX).count();
                assert_eq!(counted, 2 * edges.len());
            }
        }
    }
}
