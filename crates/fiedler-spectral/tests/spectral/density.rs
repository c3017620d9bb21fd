use fiedler_spectral::{Density, DensitySettings, Error, Normalized, Operator};

use crate::common::{all_values, groups, ring, sparse};

#[test]
fn close_to_the_exact_histogram() {
    for graph in [sparse(1000, 6.0, 4), groups(4, 250, 0.05, 0.002, 4)] {
        for operator in Operator::ALL {
            let map = Normalized::of(&graph, operator);
            let density = Density::estimate(&map, &DensitySettings { moments: 300, probes: 40, seed: 1 }).unwrap();
            let values = all_values(&map);
            let (low, high) = operator.bounds();
            // Between the exact counts a little to the left and right of each place, and the noise of the probes.
            for step in 0..=100 {
                let value = low + (high - low) * f64::from(step) / 100.0;
                let count = |value: f64| values.partition_point(|&other| other <= value) as f64;
                let found = density.count_up_to(value);
                let (least, most) = (count(value - 0.02) - 12.0, count(value + 0.02) + 12.0);
                assert!(found >= least && found <= most, "{operator}, up to {value}: {found}, exact {least} to {most}");
            }
            let histogram = density.histogram(20);
            assert!((histogram.iter().sum::<f64>() - 1000.0).abs() < 1e-6);
            assert!(histogram.iter().all(|&count| count > -1e-9));
            let median = density.quantile(500.0);
            assert!((density.count_up_to(median) - 500.0).abs() < 1e-6);
        }
    }
}

#[test]
fn needs_probes_and_moments() {
    let graph = ring(10);
    let map = Normalized::of(&graph, Operator::Laplacian);
    for settings in
        [DensitySettings { probes: 0, ..Default::default() }, DensitySettings { moments: 1, ..Default::default() }]
    {
        assert!(matches!(Density::estimate(&map, &settings), Err(Error::Setting { .. })));
    }
}
