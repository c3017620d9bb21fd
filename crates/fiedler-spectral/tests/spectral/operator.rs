use fiedler_graph::Graph;
use fiedler_spectral::{Combinatorial, Error, Normalized, Operator, Rows, SymmetricMap, dense_bytes};
use proptest::prelude::*;

use crate::common::{all_values, any_graph, assert_close, by_definition, complete, path, ring, star};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn multiplies_as_its_definition_says(graph in any_graph(30), columns in 0usize..40) {
        for operator in Operator::ALL {
            let map = Normalized::of(&graph, operator);
            let dense = by_definition(&graph, operator);
            let size = map.size();
            let x: Vec<f64> = (0..size * columns).map(|place| ((place * 37 % 101) as f64 / 50.0) - 1.0).collect();
            let mut y: Vec<f64> = x.iter().map(|value| value * value).collect();
            let before = y.clone();
            map.recur(&x, columns, 2.0, -0.5, 0.25, &mut y);
            for row in 0..size {
                for column in 0..columns {
                    let product: f64 = (0..size).map(|k| dense[(row, k)] * x[k * columns + column]).sum();
                    let place = row * columns + column;
                    let expected = 2.0 * product - 0.5 * x[place] + 0.25 * before[place];
                    prop_assert!((y[place] - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn norm_and_bounds_agree_with_the_eigenvalues(graph in any_graph(30)) {
        for operator in Operator::ALL {
            let map = Normalized::of(&graph, operator);
            let values = all_values(&map);
            let (low, high) = map.bounds();
            prop_assert!(values.iter().all(|&value| value > low - 1e-9 && value < high + 1e-9));
            let squares: f64 = values.iter().map(|value| value * value).sum();
            prop_assert!((map.frobenius_squared() - squares).abs() < 1e-9 * (1.0 + squares));
        }
        let combinatorial = Combinatorial::of(&graph);
        let (low, high) = combinatorial.bounds();
        prop_assert!(all_values(&combinatorial).iter().all(|&value| value > low - 1e-9 && value < high + 1e-9));
    }

    #[test]
    fn rows_of_a_graph_are_the_graph(graph in any_graph(30)) {
        let weights = graph.edge_weights().unwrap_or_else(|| vec![1.0; graph.num_edges()]);
        let values: Vec<f64> = graph.spread_to_entries(&weights).into_iter().map(f64::from).collect();
        let rows = Rows { offsets: graph.indptr(), neighbors: graph.indices(), values: &values, self_loops: None };
        for operator in Operator::ALL {
            let expected = Normalized::of(&graph, operator);
            let mut map = Normalized::from_rows(rows, operator).unwrap().into_owned();
            prop_assert_eq!(map.to_dense(), expected.to_dense());
            map.reweight(&vec![0.5; values.len()], None).unwrap();
            map.reweight(&values, None).unwrap();
            prop_assert_eq!(map.to_dense(), expected.to_dense());
        }
    }
}

#[test]
fn known_spectra() {
    let laplacian = |graph: &Graph| all_values(&Normalized::of(graph, Operator::Laplacian));
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let cosines = |count: u32, step: f64| sorted((0..count).map(|k| 1.0 - (step * f64::from(k)).cos()).collect());
    assert_close(&laplacian(&ring(12)), &cosines(12, std::f64::consts::TAU / 12.0), 1e-12);
    assert_close(&laplacian(&path(9)), &cosines(9, std::f64::consts::PI / 8.0), 1e-12);
    assert_close(&laplacian(&star(7)), &[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 1e-12);
    assert_close(&laplacian(&complete(6)), &[0.0, 1.2, 1.2, 1.2, 1.2, 1.2], 1e-12);
    let ends = all_values(&Combinatorial::of(&star(7)));
    assert_close(&ends, &[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0], 1e-12);
}

#[test]
fn degenerate_graphs() {
    assert!(all_values(&Normalized::of(&Graph::empty(0), Operator::Laplacian)).is_empty());
    // An isolated node is 1 in both operators: the Laplacian of the paper subtracts nothing from its diagonal.
    for operator in Operator::ALL {
        assert_close(&all_values(&Normalized::of(&Graph::empty(3), operator)), &[1.0; 3], 0.0);
    }
}

#[test]
fn self_loops_count_as_degree() {
    let rows = Rows { offsets: &[0, 1, 2], neighbors: &[1, 0], values: &[1.0, 1.0], self_loops: Some(&[3.0, 0.0]) };
    let map = Normalized::from_rows(rows, Operator::Laplacian).unwrap();
    assert_close(map.degrees(), &[4.0, 1.0], 0.0);
    assert_close(map.diagonal(), &[0.25, 1.0], 1e-15);
    assert_close(map.row(0).1, &[-0.5], 1e-15);
}

#[test]
fn refuses_rows_that_do_not_fit() {
    let good = Rows { offsets: &[0, 1, 2], neighbors: &[1, 0], values: &[1.0, 1.0], self_loops: None };
    let cases = [
        Rows { offsets: &[], ..good },
        Rows { offsets: &[0, 2, 1], ..good },
        Rows { offsets: &[0, 1, 3], ..good },
        Rows { neighbors: &[1, 2], ..good },
        Rows { values: &[1.0], ..good },
        Rows { values: &[1.0, -1.0], ..good },
        Rows { values: &[f64::NAN, 1.0], ..good },
        Rows { self_loops: Some(&[1.0]), ..good },
    ];
    for rows in cases {
        assert!(matches!(Normalized::from_rows(rows, Operator::Laplacian), Err(Error::Setting { .. })), "{rows:?}");
    }
}

#[test]
fn names_go_both_ways() {
    for operator in Operator::ALL {
        assert_eq!(operator.to_string().parse::<Operator>().unwrap(), operator);
        assert_eq!(serde_json::to_string(&operator).unwrap(), format!("\"{operator}\""));
    }
    let error = "adjacency".parse::<Operator>().unwrap_err().to_string();
    assert!(error.contains("laplacian or propagation"), "{error}");
}

#[test]
fn a_dense_spectrum_that_does_not_fit_is_refused() {
    let graph = path(100);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let needed = dense_bytes(100, true);
    assert!(needed >= 2 * 8 * 100 * 100 && needed > dense_bytes(100, false));
    assert!(fiedler_spectral::spectrum(&map, needed).is_ok());
    assert!(matches!(fiedler_spectral::spectrum(&map, needed - 1), Err(Error::TooLarge { nodes: 100, .. })));
}
