//! How many eigenvalues lie where, for graphs too large to compute them.
//!
//! The kernel polynomial method: the moments of the spectrum in Chebyshev polynomials, `tr T_k(M)`, are estimated by
//! multiplying random signs, and damped by the Jackson kernel so that the density is never negative.

use std::f64::consts::PI;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::operator::SymmetricMap;
use fiedler_graph::random::stream;

/// How a density is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DensitySettings {
    /// Chebyshev moments; twice as many show details of half the width.
    pub moments: usize,
    /// Random vectors; four times as many halve the statistical error.
    pub probes: usize,
    /// Seed of the random vectors.
    pub seed: u64,
}

impl Default for DensitySettings {
    fn default() -> Self {
        DensitySettings { moments: 200, probes: 16, seed: 0 }
    }
}

/// An estimate of the distribution of the eigenvalues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Density {
    /// Damped Chebyshev moments; the first is the number of nodes.
    moments: Vec<f64>,
    /// Interval that holds the spectrum.
    bounds: (f64, f64),
    /// The damped moments by each random vector alone, whose mean `moments` are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    by_probe: Vec<Vec<f64>>,
}

impl Density {
    /// Estimates the density of a map's spectrum with `moments / 2 · probes` products.
    ///
    /// # Errors
    /// When there is not at least one probe and two moments.
    pub fn estimate(map: &dyn SymmetricMap, settings: &DensitySettings) -> Result<Density> {
        Density::estimate_watched(map, settings, &mut |_, _| true)
    }

    /// As [`Density::estimate`]; `goes_on` hears of products, done and in all, and may end the estimate early: fewer moments show less detail.
    ///
    /// # Errors
    /// As there.
    pub fn estimate_watched(
        map: &dyn SymmetricMap,
        settings: &DensitySettings,
        goes_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Density> {
        let by_probe = moments_by_probe(map, settings, goes_on)?;
        let kernel = jackson_kernel(by_probe.len());
        let damped: Vec<f64> = by_probe.iter().zip(&kernel).map(|(probes, factor)| mean(probes) * factor).collect();
        let of_probe = |probe: usize| by_probe.iter().zip(&kernel).map(move |(of, factor)| of[probe] * factor);
        let by_probe = (0..settings.probes).map(|probe| of_probe(probe).collect()).collect();
        Ok(Density { moments: damped, bounds: map.bounds(), by_probe })
    }

    /// The interval that holds the spectrum.
    pub fn bounds(&self) -> (f64, f64) {
        self.bounds
    }

    /// Estimated number of eigenvalues up to `value`.
    pub fn count_up_to(&self, value: f64) -> f64 {
        self.count_by(&self.moments, value)
    }

    fn count_by(&self, moments: &[f64], value: f64) -> f64 {
        let angle = self.scaled(value).acos();
        let series: f64 =
            (1..).zip(&moments[1..]).map(|(k, moment)| moment * (f64::from(k) * angle).sin() / f64::from(k)).sum();
        moments[0] * (1.0 - angle / PI) - 2.0 / PI * series
    }

    /// The standard error of each count of [`Density::histogram`] that the random vectors leave; none where there is but one vector. What the blur of so
    /// few moments moves from one part to the next is not in it.
    pub fn standard_errors(&self, bins: usize) -> Vec<f64> {
        let probes = self.by_probe.len();
        if probes < 2 {
            return Vec::new();
        }
        let counts: Vec<Vec<f64>> = self.by_probe.iter().map(|moments| self.histogram_by(moments, bins)).collect();
        let error = |bin: usize| {
            let mean = counts.iter().map(|of| of[bin]).sum::<f64>() / probes as f64;
            let squares = counts.iter().map(|of| (of[bin] - mean).powi(2)).sum::<f64>();
            (squares / (probes - 1) as f64 / probes as f64).sqrt()
        };
        (0..bins).map(error).collect()
    }

    /// Estimated number of eigenvalues in each of `bins` equal parts of the interval.
    pub fn histogram(&self, bins: usize) -> Vec<f64> {
        self.histogram_by(&self.moments, bins)
    }

    fn histogram_by(&self, moments: &[f64], bins: usize) -> Vec<f64> {
        let (low, high) = self.bounds;
        let edge = |place: usize| low + (high - low) * place as f64 / bins as f64;
        let counts: Vec<f64> = (0..=bins).map(|place| self.count_by(moments, edge(place))).collect();
        counts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// The value below which about `count` eigenvalues lie.
    pub fn quantile(&self, count: f64) -> f64 {
        let (mut low, mut high) = self.bounds;
        // The damped density is not negative, so the count rises and halving finds its place.
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.count_up_to(middle) < count { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// From the interval of the spectrum to [-1, 1].
    fn scaled(&self, value: f64) -> f64 {
        let (low, high) = self.bounds;
        ((2.0 * value - low - high) / (high - low)).clamp(-1.0, 1.0)
    }
}

/// Estimates the Chebyshev moments of a map's spectrum, `tr T_k(M)` with the interval of the spectrum scaled to [-1, 1]. Each product gives
/// two, as `T_2k = 2 T_k² - 1` and `T_2k-1 = 2 T_k T_k-1 - T_1`.
///
/// # Errors
/// When there is not at least one probe and two moments.
pub fn chebyshev_moments(map: &dyn SymmetricMap, settings: &DensitySettings) -> Result<Vec<f64>> {
    Ok(moments_by_probe(map, settings, &mut |_, _| true)?.iter().map(|probes| mean(probes)).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The moments as each random vector has them.
fn moments_by_probe(
    map: &dyn SymmetricMap,
    settings: &DensitySettings,
    goes_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Vec<f64>>> {
    if settings.moments < 2 {
        return Err(Error::setting("moments", settings.moments, "at least 2"));
    }
    if settings.probes == 0 {
        return Err(Error::setting("probes", 0, "at least 1"));
    }
    let (size, probes) = (map.size(), settings.probes);
    let (low, high) = map.bounds();
    let (scale, shift) = (2.0 / (high - low), -(high + low) / (high - low));
    let mut signs = stream(settings.seed, "spectral density", 0);
    let mut now: Vec<f64> = (0..size * probes).map(|_| if signs.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
    let mut next = vec![0.0; now.len()];
    map.recur(&now, probes, scale, shift, 0.0, &mut next);
    // Rows are of nodes, columns of random vectors.
    let products = |a: &[f64], b: &[f64], minus: &[f64], factor: f64| -> Vec<f64> {
        let mut sums = vec![0.0; probes];
        for (a, b) in a.chunks_exact(probes).zip(b.chunks_exact(probes)) {
            sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
        }
        sums.iter().zip(minus).map(|(sum, minus)| factor * sum - minus).collect()
    };
    let none = vec![0.0; probes];
    let mut moments = vec![vec![size as f64; probes], products(&now, &next, &none, 1.0)];
    while moments.len() < settings.moments {
        moments.push(products(&next, &next, &moments[0], 2.0));
        map.recur(&next, probes, 2.0 * scale, 2.0 * shift, -1.0, &mut now);
        std::mem::swap(&mut now, &mut next);
        moments.push(products(&next, &now, &moments[1], 2.0));
        if !goes_on(moments.len().min(settings.moments), settings.moments) {
            break;
        }
    }
    moments.truncate(settings.moments);
    Ok(moments)
}

/// The Jackson kernel: what so many moments are multiplied by, which turns the ripples of their series into a slight blur.
pub fn jackson_kernel(moments: usize) -> Vec<f64> {
    let steps = moments as f64 + 1.0;
    let factor = |k: usize| {
        let angle = PI * k as f64 / steps;
        ((steps - k as f64) * angle.cos() + angle.sin() / (PI / steps).tan()) / steps
    };
    (0..moments).map(factor).collect()
}
