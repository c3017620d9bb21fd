use faer::Mat;
use fiedler_graph::Graph;
use fiedler_spectral::{
    Error, Limits, Normalized, Operator, Partial, PartialSettings, Rows, SolverProgress, SymmetricMap, partial,
    partial_within,
};
use proptest::prelude::*;

use crate::common::{
    all_values, any_graph, assert_close, assert_orthonormal, beside, complete, groups, path, ring, sparse, star,
};

/// No dense way out: the iteration itself is tested.
fn iterative(pairs: usize) -> PartialSettings {
    PartialSettings { lowest: pairs, highest: pairs, tolerance: 1e-8, dense_limit: 0, ..Default::default() }
}

/// Values, vectors and residuals are what they claim to be.
fn assert_pairs(map: &dyn SymmetricMap, found: &Partial, tolerance: f64) {
    let size = map.size();
    let values = all_values(map);
    assert_close(&found.lowest.values, &values[..found.lowest.len()], tolerance);
    let highest: Vec<f64> = values.iter().rev().take(found.highest.len()).copied().collect();
    assert_close(&found.highest.values, &highest, tolerance);
    for pairs in [&found.lowest, &found.highest] {
        assert_eq!((pairs.vectors.nrows(), pairs.vectors.ncols()), (size, pairs.len()));
        assert_orthonormal(&pairs.vectors);
        let image = map.to_dense() * &pairs.vectors;
        for (column, value) in pairs.values.iter().enumerate() {
            let residual = (0..size)
                .map(|row| (image[(row, column)] - value * pairs.vectors[(row, column)]).powi(2))
                .sum::<f64>()
                .sqrt();
            assert!(residual <= tolerance, "residual {residual} of pair {column}");
            assert!((residual - pairs.residuals[column]).abs() < 1e-9);
        }
    }
}

fn check_both_operators(graph: &Graph, pairs: usize) {
    for operator in Operator::ALL {
        let map = Normalized::of(graph, operator);
        let found = partial(&map, &iterative(pairs), None).unwrap();
        assert_eq!((found.lowest.len(), found.highest.len()), (pairs, pairs));
        assert!(found.lowest.rounds > 0, "the iteration is what is tested");
        assert_pairs(&map, &found, 1e-7);
    }
}

#[test]
fn sparse_random_graph() {
    // Degree 3 leaves many small components, isolated nodes and twins: zeros and repeated eigenvalues all over.
    check_both_operators(&sparse(900, 3.0, 5), 30);
}

#[test]
fn groups_with_few_edges_between() {
    check_both_operators(&groups(6, 100, 0.15, 0.002, 1), 12);
}

#[test]
fn ring_with_every_eigenvalue_twice() {
    check_both_operators(&ring(700), 15);
}

#[test]
fn long_path() {
    check_both_operators(&path(600), 6);
}

#[test]
fn hundreds_of_components() {
    // 0 and 2 are eigenvalues 300 times each; the block has far fewer columns.
    let pairs = vec![path(2); 290].into_iter().chain([ring(10), star(30), ring(300)]).collect::<Vec<_>>();
    check_both_operators(&beside(&pairs), 60);
}

#[test]
fn more_copies_of_zero_than_pairs_beyond_them() {
    let parts: Vec<Graph> = (0..40).map(|part| ring(20 + part % 3)).collect();
    check_both_operators(&beside(&parts), 50);
}

#[test]
fn star_and_complete_graph() {
    check_both_operators(&star(600), 5);
    check_both_operators(&complete(450), 7);
}

#[test]
fn no_edges() {
    check_both_operators(&Graph::empty(500), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_number_of_pairs_of_any_graph(graph in any_graph(60), lowest in 0usize..70, highest in 0usize..70) {
        let map = Normalized::of(&graph, Operator::Laplacian);
        let settings = PartialSettings { lowest, highest, ..Default::default() };
        let found = partial(&map, &settings, None).unwrap();
        prop_assert_eq!(found.lowest.len(), lowest.min(graph.num_nodes()));
        prop_assert_eq!(found.highest.len(), highest.min(graph.num_nodes() - found.lowest.len()));
        assert_pairs(&map, &found, 1e-9);
    }

    #[test]
    fn iteration_agrees_with_the_whole(graph in any_graph(60), pairs in 1usize..12, seed in 0u64..1000) {
        let map = Small(Normalized::of(&graph, Operator::Laplacian));
        let settings = PartialSettings { seed, ..iterative(pairs) };
        let found = partial(&map, &settings, None).unwrap();
        assert_pairs(&map, &found, 1e-7);
    }
}

/// Grown by isolated ones in the middle of the interval, so that no graph is too small for the iteration.
struct Small<'a>(Normalized<'a>);

impl SymmetricMap for Small<'_> {
    fn size(&self) -> usize {
        self.0.size() + 401
    }

    fn bounds(&self) -> (f64, f64) {
        self.0.bounds()
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        let inner = self.0.size() * columns;
        self.0.recur(&x[..inner], columns, scale, shift, keep, &mut y[..inner]);
        for (y, x) in y[inner..].iter_mut().zip(&x[inner..]) {
            *y = (scale + shift) * x + if keep == 0.0 { 0.0 } else { keep * *y };
        }
    }
}

/// 2,000 of Cora's 2,708 eigenpairs cost more than all of them; 400, or 40 of 20,000, a fraction.
#[test]
fn the_whole_spectrum_is_taken_where_it_is_cheaper() {
    let wanted = |k| PartialSettings { lowest: k, highest: k, ..PartialSettings::default() };
    assert!(wanted(1000).takes_whole(2708) && wanted(1000).takes_much(2708));
    assert!(!wanted(200).takes_whole(2708) && !wanted(20).takes_whole(20_000));
    // Not where it would not fit: then the iteration does what it can.
    assert!(!PartialSettings { dense_limit: 1 << 20, ..wanted(1000) }.takes_whole(2708));
}

#[test]
fn warm_start_finds_the_same_pairs() {
    let graph = groups(5, 160, 0.08, 0.003, 2);
    let before = Normalized::of(&graph, Operator::Laplacian);
    let settings = iterative(20);
    let start = partial(&before, &settings, None).unwrap();
    let of_edges: Vec<f64> = (0..graph.num_edges()).map(|edge| 1.0 - 0.01 * (edge % 3) as f64).collect();
    let values = graph.spread_to_entries(&of_edges);
    let rows = Rows { offsets: graph.indptr(), neighbors: graph.indices(), values: &values, self_loops: None };
    let after = Normalized::from_rows(rows, Operator::Laplacian).unwrap();
    assert_pairs(&after, &partial(&after, &settings, Some(&start)).unwrap(), 1e-7);
    // What was converged stays so, and costs a single look.
    let again = partial(&before, &settings, Some(&start)).unwrap();
    assert_eq!((again.lowest.rounds, again.highest.rounds), (1, 1));
    assert_pairs(&before, &again, 1e-7);
}

#[test]
fn warm_start_from_another_graph_does_no_harm() {
    let settings = iterative(10);
    let start = {
        let other = ring(800);
        partial(&Normalized::of(&other, Operator::Laplacian), &settings, None).unwrap()
    };
    let graph = sparse(800, 6.0, 9);
    let map = Normalized::of(&graph, Operator::Laplacian);
    assert_pairs(&map, &partial(&map, &settings, Some(&start)).unwrap(), 1e-7);
    let larger = sparse(900, 6.0, 9);
    let map = Normalized::of(&larger, Operator::Laplacian);
    assert_pairs(&map, &partial(&map, &settings, Some(&start)).unwrap(), 1e-7);
}

#[test]
fn the_seed_decides_not_the_threads() {
    let graph = sparse(1500, 5.0, 3);
    let map = Normalized::of(&graph, Operator::Propagation);
    let solve = |threads: usize| -> (Vec<f64>, Mat<f64>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| partial(&map, &iterative(20), None).unwrap());
        (found.highest.values, found.highest.vectors)
    };
    let one = solve(1);
    assert_eq!(one, solve(1));
    assert_eq!(one, solve(2));
    assert_eq!(one, solve(3));
}

#[test]
fn out_of_range_settings_are_named() {
    let graph = path(10);
    let map = Normalized::of(&graph, Operator::Laplacian);
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = PartialSettings { tolerance, ..Default::default() };
        assert!(matches!(partial(&map, &settings, None), Err(Error::Setting { .. })));
    }
    let graph = sparse(1000, 4.0, 1);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let hurried = PartialSettings { rounds: 1, tolerance: 1e-13, ..iterative(50) };
    assert!(matches!(partial(&map, &hurried, None), Err(Error::NotConverged { .. })));
    let everything = PartialSettings { lowest: 1000, ..iterative(0) };
    assert!(matches!(partial(&map, &everything, None), Err(Error::TooLarge { nodes: 1000, .. })));
}

/// What `partial_within` gives of both ends of a map of a thousand nodes, after so many products.
fn within(map: &dyn SymmetricMap, products: usize, tolerance: f64) -> Partial {
    let settings = PartialSettings { tolerance, dense_limit: 0, ..iterative(30) };
    partial_within(map, &settings, &Limits { products, goes_on: &|_| true }).unwrap()
}

#[test]
fn what_has_not_converged_is_given_with_its_error() {
    let graph = sparse(1000, 6.0, 5);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let all = all_values(&map);
    let mut worst = f64::INFINITY;
    for products in [1, 2000, 4000, 20_000, 1_000_000] {
        let found = within(&map, products, 1e-9);
        for (pairs, sign) in [(&found.lowest, 1.0), (&found.highest, -1.0)] {
            assert!(!pairs.is_empty() && pairs.residuals.len() == pairs.len());
            for (rank, (&value, &residual)) in pairs.values.iter().zip(&pairs.residuals).enumerate() {
                let nearest = all.iter().map(|other| (other - value).abs()).fold(f64::INFINITY, f64::min);
                assert!(nearest <= residual + 1e-9, "{products}: {value} ± {residual}, off by {nearest}");
                let true_one = if sign > 0.0 { all[rank] } else { all[999 - rank] };
                assert!(sign * (value - true_one) > -1e-9, "{products}: {value} is beyond {true_one}");
            }
        }
        if products >= 2000 {
            assert_eq!((found.lowest.len(), found.highest.len()), (30, 30));
            let now = found.lowest.worst_residual();
            assert!(now <= worst * 1.5, "{products}: {now} after {worst}");
            worst = now;
        }
    }
    assert!(worst <= 1e-9);
}

#[test]
fn limits_give_the_same_bits_on_any_number_of_threads() {
    let graph = sparse(3000, 5.0, 6);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| within(&map, 1500, 1e-13))
    };
    let (one, three) = (on(1), on(3));
    assert!(one.lowest.worst_residual() > 1e-13, "the limit is reached");
    assert_eq!((one.lowest.values, one.highest.values), (three.lowest.values, three.highest.values));
    assert_eq!(one.lowest.vectors, three.lowest.vectors);
}

#[test]
fn who_watches_may_stop_and_keeps_what_was_found() {
    let graph = sparse(2000, 6.0, 7);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let settings = PartialSettings { highest: 0, tolerance: 1e-12, dense_limit: 0, ..iterative(10) };
    for after in [0, 1, 50, 300] {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let goes_on = |progress: &SolverProgress| {
            assert!(progress.products <= progress.most);
            asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < after
        };
        let limits = Limits { products: 1_000_000, goes_on: &goes_on };
        let found = partial_within(&map, &settings, &limits).unwrap().lowest;
        let more = asked.load(std::sync::atomic::Ordering::SeqCst).saturating_sub(after);
        assert!(more <= 3, "asked {more} times more after it was told to stop");
        assert_eq!(found.is_empty(), after < 80, "after {after}: {} pairs", found.len());
        for (column, residual) in found.residuals.iter().enumerate() {
            let vector = found.vectors.subcols(column, 1).to_owned();
            let length = vector.norm_l2();
            assert!((length - 1.0).abs() < 1e-8 && *residual < 2.0, "{length}, {residual}");
        }
    }
}
