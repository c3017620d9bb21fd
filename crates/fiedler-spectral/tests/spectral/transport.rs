//! Moments, polynomials and transport against eigenvalues and eigenvectors.

use fiedler_graph::random::stream;
use fiedler_spectral::polynomial::{PANEL, Polynomials, SignProbes, UpperPairs, series_columns};
use fiedler_spectral::transport::{Transport, moments_of, times_argument};
use fiedler_spectral::{Normalized, Operator, SymmetricMap, spectrum};
use proptest::prelude::*;
use rand::RngExt;

use crate::common::sparse;

/// Entry `(i, j)` of a function of the operator, from eigenpairs.
fn entry(whole: &fiedler_spectral::Spectrum, i: usize, j: usize, function: impl Fn(f64) -> f64) -> f64 {
    let terms = whole.values.iter().enumerate();
    terms.map(|(k, &value)| function(value) * whole.vectors[(i, k)] * whole.vectors[(j, k)]).sum()
}

fn sum_of_series(series: &[f64], x: f64) -> f64 {
    let angle = x.clamp(-1.0, 1.0).acos();
    series.iter().enumerate().map(|(k, c)| c * (k as f64 * angle).cos()).sum()
}

#[test]
fn polynomials_are_those_of_eigenpairs() {
    let graph = sparse(90, 4.4, 4);
    let all: Vec<(u32, u32)> = (0..90).flat_map(|low| (low + 1..90).map(move |high| (low, high))).collect();
    let pairs = UpperPairs::new(90, all.iter().copied().filter(|(low, high)| (low + high) % 3 == 0));
    for operator in Operator::ALL {
        let map = Normalized::of(&graph, operator);
        let whole = spectrum(&map, 1 << 30).unwrap();
        let (low, high) = map.bounds();
        let scaled = |value: f64| (2.0 * value - low - high) / (high - low);
        for degree in [1, 2, 7, 12] {
            let found = Polynomials::of(&map, degree, &pairs);
            let moments = moments_of(&whole.values, map.bounds(), 2 * degree + 1);
            for (k, (found, right)) in found.moments().iter().zip(&moments).enumerate() {
                assert!((found - right).abs() < 2e-4, "moment {k}: {found} is not {right}");
            }
            let series: Vec<f64> = (0..=degree).map(|k| 1.0 / (1.0 + k as f64) - 0.3).collect();
            let by_argument = times_argument(&series);
            for (node, &found) in found.diagonal(&by_argument).iter().enumerate() {
                let right = entry(&whole, node, node, |value| scaled(value) * sum_of_series(&series, scaled(value)));
                assert!((found - right).abs() < 1e-5, "{operator}, degree {degree}, node {node}: {found}, {right}");
            }
            for (found, (low, high)) in found.entries(&series).into_iter().zip(pairs.iter()) {
                let right = entry(&whole, low as usize, high as usize, |value| sum_of_series(&series, scaled(value)));
                assert!((f64::from(found) - right).abs() < 1e-5, "{operator}, {low} {high}: {found}, {right}");
            }
            let columns = series_columns(&map, &series, 70);
            for (node, column) in (0..90).flat_map(|node| (0..20).map(move |column| (node, column))) {
                let right = entry(&whole, node, 70 + column, |value| sum_of_series(&series, scaled(value)));
                assert!((f64::from(columns[node * PANEL + column]) - right).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn random_signs_estimate_moments_and_entries() {
    let graph = sparse(400, 6.0, 7);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let whole = spectrum(&map, 1 << 30).unwrap();
    let probes = SignProbes { panels: 16, seed: 1 };
    let (degree, count) = (8, (probes.panels * PANEL) as f64);
    let moments = moments_of(&whole.values, map.bounds(), 2 * degree + 1);
    for (found, right) in probes.moments(&map, degree).iter().zip(&moments) {
        // The variance of an estimate by one sign vector is at most twice the squared Frobenius norm, here at most 400.
        assert!((found - right).abs() < 5.0 * (2.0 * 400.0 / count).sqrt(), "{found} is not {right}");
    }
    let series = [0.0, 0.5, -0.25, 0.125];
    let pairs = UpperPairs::new(400, graph.edge_pairs());
    let exact = Polynomials::of(&map, 3, &pairs);
    let (entries, diagonal) = probes.entries(&map, &series, &series, &pairs);
    let error = |found: &[f64], right: &[f64]| {
        let square: f64 = found.iter().zip(right).map(|(a, b)| (a - b).powi(2)).sum();
        (square / found.len() as f64).sqrt()
    };
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    let of_pairs = error(&wide(&entries), &wide(&exact.entries(&series)));
    let of_nodes = error(&diagonal, &exact.diagonal(&series));
    // A row of the function has a norm of at most 0.9.
    assert!(of_pairs < 2.0 * 0.9 / count.sqrt() && of_nodes < 2.0 * 0.9 / count.sqrt(), "{of_pairs}, {of_nodes}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With many moments the monotone map is the matching of sorted eigenvalues.
    #[test]
    fn the_monotone_map_matches_sorted_eigenvalues(count in 1usize..20, seed in 0u64..1000) {
        let mut random = stream(seed, "test", 0);
        let bounds = (0.0, 2.0);
        let mut draw = |low: f64, high: f64| {
            let mut values: Vec<f64> = (0..count).map(|_| random.random_range(low..high)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (own, other) = (draw(0.1, 1.9), draw(0.3, 1.9));
        let moments = |values: &[f64]| moments_of(values, bounds, 1200);
        let transport = Transport::between(&moments(&own), &moments(&other), bounds);
        let right: f64 = own.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum();
        prop_assert!((transport.squared_distance() - right).abs() < 0.02 * right + 1e-3, "{} is not {right}", transport.squared_distance());
        let back = Transport::between(&moments(&other), &moments(&own), bounds);
        prop_assert!((transport.squared_distance() - back.squared_distance()).abs() < 0.01 * right + 1e-3);
        // λ - offset rises with λ, but for what interpolation between points of the grid leaves.
        let images: Vec<f64> = (0..=200).map(|at| at as f64 / 100.0).map(|value| value - transport.offset(value, bounds)).collect();
        prop_assert!(images.windows(2).all(|pair| pair[1] >= pair[0] - 1e-5));
    }
}

/// The slopes' series is that of the function 2 (λ - T(λ)), here of a spectrum moved as a whole.
#[test]
fn a_spectrum_moved_as_a_whole_has_a_constant_slope() {
    let own: Vec<f64> = (0..2000).map(|at| 0.3 + 1.2 * at as f64 / 2000.0).collect();
    let other: Vec<f64> = own.iter().map(|value| value + 0.1).collect();
    let moments = |values: &[f64]| moments_of(values, (0.0, 2.0), 400);
    let transport = Transport::between(&moments(&own), &moments(&other), (0.0, 2.0));
    assert!((transport.squared_distance() - 2000.0 * 0.01).abs() < 0.1, "{}", transport.squared_distance());
    for value in [0.4, 0.9, 1.4] {
        assert!((transport.offset(value, (0.0, 2.0)) + 0.1).abs() < 2e-3);
    }
    let series = transport.slope_series(60);
    assert!((sum_of_series(&series, -0.1) + 0.2).abs() < 0.01, "{}", sum_of_series(&series, -0.1));
    assert!(transport.resolution() < 0.01);
}
