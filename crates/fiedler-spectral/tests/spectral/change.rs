use fiedler_graph::Graph;
use fiedler_spectral::{Normalized, Operator, PartialSettings, Rows, eigenvalue_derivative, flip_changes, partial};

use crate::common::{all_values, groups};

/// The eigenvalues when the weight of one pair, joined or not, is set.
fn moved(graph: &Graph, operator: Operator, (a, b): (u32, u32), weight: f64) -> Vec<f64> {
    let (mut offsets, mut neighbors, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in 0..graph.num_nodes() as u32 {
        let other = if node == a {
            Some(b)
        } else if node == b {
            Some(a)
        } else {
            None
        };
        let mut row: Vec<(u32, f64)> = graph.neighbors(node).iter().map(|&neighbor| (neighbor, 1.0)).collect();
        if let Some(other) = other {
            row.retain(|&(neighbor, _)| neighbor != other);
            row.push((other, weight));
        }
        for (neighbor, value) in row {
            neighbors.push(neighbor);
            values.push(value);
        }
        offsets.push(neighbors.len());
    }
    let rows = Rows { offsets: &offsets, neighbors: &neighbors, values: &values, self_loops: None };
    all_values(&Normalized::from_rows(rows, operator).unwrap())
}

#[test]
fn derivative_is_the_limit_of_differences() {
    let graph = groups(3, 20, 0.4, 0.05, 7);
    let joined = graph.edge_pairs().nth(17).unwrap();
    let apart = (0..60).map(|node| (5, node)).find(|&(a, b)| a != b && !graph.has_edge(a, b)).unwrap();
    for operator in Operator::ALL {
        let map = Normalized::of(&graph, operator);
        let whole = fiedler_spectral::spectrum(&map, 1 << 30).unwrap();
        for (pair, weight) in [(joined, 1.0), (apart, 0.0)] {
            // An entry may not be negative, so at 0 the difference is taken forwards, and extrapolated.
            let step = 1e-4;
            let at = |steps: f64| moved(&graph, operator, pair, weight + steps * step);
            let (zero, one, two) = (at(0.0), at(1.0), at(2.0));
            for (k, &value) in whole.values.iter().enumerate() {
                let expected = (4.0 * one[k] - 3.0 * zero[k] - two[k]) / (2.0 * step);
                let found = eigenvalue_derivative(
                    &map,
                    value,
                    whole.vectors.col_as_slice(k),
                    (pair.0 as usize, pair.1 as usize),
                );
                assert!((found - expected).abs() < 1e-5, "{operator} {pair:?} {k}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn first_order_change_is_near_the_true_one_where_degrees_are_high() {
    let graph = groups(2, 150, 0.4, 0.05, 8);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let settings = PartialSettings { lowest: 10, highest: 0, ..Default::default() };
    let pairs = partial(&map, &settings, None).unwrap().lowest;
    let before = all_values(&map);
    let (a, b) = graph.edge_pairs().find(|&(a, b)| a < 150 && b >= 150).unwrap();
    for (edge, amount, weight) in [((a, b), -1.0, 0.0), ((a, b), 0.5, 1.5)] {
        let after = moved(&graph, Operator::Laplacian, edge, weight);
        let estimate = flip_changes(&map, &pairs, (edge.0 as usize, edge.1 as usize), amount);
        // The eigenvalue between the two groups moves most, and is well apart from the others.
        let (found, expected) = (estimate[1], after[1] - before[1]);
        assert!((found - expected).abs() < 0.1 * expected.abs(), "{found}, truly {expected}");
        assert!((estimate[0]).abs() < 1e-9, "0 stays 0");
    }
}

#[test]
fn the_laplacian_changes_opposite_to_the_adjacency() {
    // Bojchevski and Günnemann's formula for μ = 1 - λ: Δμ = Δw (2 u_i u_j - μ (u_i² + u_j²)).
    let graph = groups(2, 15, 0.5, 0.1, 2);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let whole = fiedler_spectral::spectrum(&map, 1 << 30).unwrap();
    for (k, &value) in whole.values.iter().enumerate() {
        let vector = whole.vectors.col_as_slice(k);
        let at = |node: usize| vector[node] / map.degrees()[node].sqrt();
        let by_paper = 2.0 * at(3) * at(20) - (1.0 - value) * (at(3).powi(2) + at(20).powi(2));
        assert!((eigenvalue_derivative(&map, value, vector, (3, 20)) + by_paper).abs() < 1e-12);
    }
}
