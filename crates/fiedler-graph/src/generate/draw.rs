//! Draws that several generators share.

use rand::{Rng, RngExt};

/// How many trials of the given probability fail before the first that succeeds.
///
/// Lets a generator leap from one success to the next rather than try every pair. `probability` is above 0 and at most 1.
pub(super) fn failures(random: &mut impl Rng, probability: f64) -> u64 {
    let failures = (1.0 - random.random::<f64>()).ln() / (-probability).ln_1p();
    failures as u64
}

/// A number from the Poisson distribution: arrivals in a time of `mean` with one expected in each unit of it.
pub(super) fn poisson(random: &mut impl Rng, mean: f64) -> usize {
    let mut wait = || -(1.0 - random.random::<f64>()).ln();
    let mut arrivals = 0;
    let mut time = wait();
    while time < mean {
        arrivals += 1;
        time += wait();
    }
    arrivals
}

/// Two independent numbers from the standard normal distribution (Box–Muller).
pub(super) fn normal_pair(random: &mut impl Rng) -> (f64, f64) {
    let length = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    let (sine, cosine) = (std::f64::consts::TAU * random.random::<f64>()).sin_cos();
    (length * cosine, length * sine)
}
