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
}

impl Density {
    /// Estimates the density of a map's spectrum with `moments / 2 · probes` products.
    ///
    /// # Errors
    /// When there is not at least one probe and two moments.
    pub fn estimate(map: &dyn SymmetricMap, settings: &DensitySettings) -> Result<Density> {
        if settings.moments < 2 {
            return Err(Error::setting("moments", settings.moments, "at least 2"));
        }
        if settings.probes == 0 {
            return Err(Error::setting("probes", 0, "at least 1"));
        }
        let mut moments = raw_moments(map, settings);
        damp(&mut moments);
        Ok(Density { moments, bounds: map.bounds() })
    }

    /// The interval that holds the spectrum.
    pub fn bounds(&self) -> (f64, f64) {
        self.bounds
    }

    /// Estimated number of eigenvalues up to `value`.
    pub fn count_up_to(&self, value: f64) -> f64 {
        let angle = self.scaled(value).acos();
        let series: f64 =
            (1..).zip(&self.moments[1..]).map(|(k, moment)| moment * (f64::from(k) * angle).sin() / f64::from(k)).sum();
        self.moments[0] * (1.0 - angle / PI) - 2.0 / PI * series
    }

    /// Estimated number of eigenvalues in each of `bins` equal parts of the interval.
    pub fn histogram(&self, bins: usize) -> Vec<f64> {
        let (low, high) = self.bounds;
        let edge = |place: usize| low + (high - low) * place as f64 / bins as f64;
        let counts: Vec<f64> = (0..=bins).map(|place| self.count_up_to(edge(place))).collect();
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

/// `tr T_k(M)`; each product gives two moments, as `T_2k = 2 T_k² - 1` and `T_2k-1 = 2 T_k T_k-1 - T_1`.
fn raw_moments(map: &dyn SymmetricMap, settings: &DensitySettings) -> Vec<f64> {
    let (size, probes) = (map.size(), settings.probes);
    let (low, high) = map.bounds();
    let (scale, shift) = (2.0 / (high - low), -(high + low) / (high - low));
    let mut signs = stream(settings.seed, "spectral density", 0);
    let mut now: Vec<f64> = (0..size * probes).map(|_| if signs.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
    let mut next = vec![0.0; now.len()];
    map.recur(&now, probes, scale, shift, 0.0, &mut next);
    let mean = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / probes as f64;
    let mut moments = vec![size as f64, mean(&now, &next)];
    while moments.len() < settings.moments {
        moments.push(2.0 * mean(&next, &next) - moments[0]);
        map.recur(&next, probes, 2.0 * scale, 2.0 * shift, -1.0, &mut now);
        std::mem::swap(&mut now, &mut next);
        moments.push(2.0 * mean(&next, &now) - moments[1]);
    }
    moments.truncate(settings.moments);
    moments
}

/// Multiplies by the Jackson kernel, which turns the series' ripples into a slight blur.
fn damp(moments: &mut [f64]) {
    let length = moments.len();
    moments.iter_mut().enumerate().for_each(|(k, moment)| *moment *= jackson(k, length));
}

/// The factor of the Jackson kernel for moment `k` of so many.
pub(crate) fn jackson(k: usize, length: usize) -> f64 {
    let steps = length as f64 + 1.0;
    let angle = PI * k as f64 / steps;
    ((steps - k as f64) * angle.cos() + angle.sin() / (PI / steps).tan()) / steps
}
