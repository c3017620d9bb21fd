use fiedler_learn::{Operator, Normalization};

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
