//! The distance between two spectra from their moments: optimal transport between spectral measures.
//!
//! `Σ_k (λ_k - ν_k)²` over sorted eigenvalues is the squared Wasserstein-2 distance between the two counting measures, and its
//! derivative with respect to `λ_k` is `2 (λ_k - T(λ_k))` with the monotone map `T = Q_ν ∘ N_λ`, the quantile function of the
//! one after the counting function of the other. Both counting functions follow from Chebyshev moments, so that no
//! eigenvalue is computed.

use std::f64::consts::PI;

use crate::density::jackson_kernel;

/// Points of the grid for each moment.
const POINTS_A_MOMENT: usize = 8;
/// The fewest points of a grid.
const FEWEST_POINTS: usize = 512;

/// The monotone map from one spectrum to another, with what it costs.
///
/// ```
/// use fiedler_spectral::transport::{Transport, moments_of};
///
/// let (one, other) = ([0.2, 0.9, 1.4], [0.1, 1.0, 1.8]);
/// let moments = |values: &[f64]| moments_of(values, (0.0, 2.0), 400);
/// let transport = Transport::between(&moments(&one), &moments(&other), (0.0, 2.0));
/// assert!((transport.squared_distance() - 0.18).abs() < 0.01);
/// ```
#[derive(Debug, Clone)]
pub struct Transport {
    /// `λ - T(λ)` on a grid of rising eigenvalues, even in the angle.
    offsets: Vec<f64>,
    squared_distance: f64,
    resolution: f64,
}

impl Transport {
    /// From the spectrum with the moments `own` to that with the moments `other`, `tr T_k` of the operators scaled from
    /// `bounds` to [-1, 1]. Of two lists the longer is cut.
    pub fn between(own: &[f64], other: &[f64], bounds: (f64, f64)) -> Transport {
        let length = own.len().min(other.len());
        let (half, cells) = ((bounds.1 - bounds.0) / 2.0, (POINTS_A_MOMENT * length).max(FEWEST_POINTS));
        let (counts, others) = (counts(&own[..length], cells), counts(&other[..length], cells));
        let mut offsets = Vec::with_capacity(cells + 1);
        // The counts rise, and so does where they are met in the other spectrum.
        let mut cell = 0;
        for (place, &count) in counts.iter().enumerate() {
            while cell + 1 < cells && others[cell + 1] < count {
                cell += 1;
            }
            let (low, high) = (others[cell], others[cell + 1]);
            let share = if high > low { ((count - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
            let (left, right) = (point(cell, cells), point(cell + 1, cells));
            offsets.push(half * (point(place, cells) - left - share * (right - left)));
        }
        let squared_distance = offsets
            .windows(2)
            .zip(counts.windows(2))
            .map(|(e, n)| (n[1] - n[0]) * (e[0] * e[0] + e[0] * e[1] + e[1] * e[1]) / 3.0)
            .sum();
        Transport { offsets, squared_distance, resolution: half * PI / length.max(1) as f64 }
    }

    /// `Σ_k (λ_k - ν_k)²` over sorted eigenvalues.
    pub fn squared_distance(&self) -> f64 {
        self.squared_distance
    }

    /// The width below which the moments do not tell eigenvalues apart.
    pub fn resolution(&self) -> f64 {
        self.resolution
    }

    /// `λ - T(λ)` at an eigenvalue.
    pub fn offset(&self, value: f64, bounds: (f64, f64)) -> f64 {
        let cells = self.offsets.len() - 1;
        let x = ((2.0 * value - bounds.0 - bounds.1) / (bounds.1 - bounds.0)).clamp(-1.0, 1.0);
        let place = (-x).acos() / PI * cells as f64;
        let cell = (place as usize).min(cells - 1);
        let share = place - cell as f64;
        (1.0 - share) * self.offsets[cell] + share * self.offsets[cell + 1]
    }

    /// Chebyshev coefficients of the derivative `φ'(λ) = 2 (λ - T(λ))`, as a function of the scaled operator.
    ///
    /// They are those of the function itself: damping them makes the derivative worse, and so does fitting the polynomial to
    /// the spectrum alone, where eigenvalues that fall together leave it ill determined.
    pub fn slope_series(&self, degree: usize) -> Vec<f64> {
        let slopes: Vec<f64> = self.offsets.iter().map(|offset| 2.0 * offset).collect();
        series_on_grid(&slopes, degree)
    }
}

/// Chebyshev coefficients of a function from its values on a grid that rises with the eigenvalue, even in the angle.
pub(crate) fn series_on_grid(values: &[f64], degree: usize) -> Vec<f64> {
    let cells = values.len() - 1;
    let coefficient = |k: usize| {
        let sum: f64 = values
            .iter()
            .enumerate()
            .map(|(place, value)| {
                let weight = if place == 0 || place == cells { 0.5 } else { 1.0 };
                // The grid rises with the eigenvalue, the angle falls.
                let turns = (k * (cells - place)) % (2 * cells);
                weight * value * (PI * turns as f64 / cells as f64).cos()
            })
            .sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / cells as f64
    };
    (0..=degree).map(coefficient).collect()
}

/// A point of the grid, rising from -1 to 1.
pub(crate) fn point(place: usize, cells: usize) -> f64 {
    -(PI * place as f64 / cells as f64).cos()
}

/// The coefficients of `x · p(x)`, from those of `p`: `x T_k = (T_{k+1} + T_{k-1}) / 2`.
pub fn times_argument(series: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; series.len() + 1];
    for (k, &c) in series.iter().enumerate() {
        if k == 0 {
            product[1] += c;
        } else {
            product[k + 1] += 0.5 * c;
            product[k - 1] += 0.5 * c;
        }
    }
    product
}

/// The first moments `Σ T_k(λ)` of known eigenvalues, the operator scaled from `bounds` to [-1, 1].
pub fn moments_of(values: &[f64], bounds: (f64, f64), count: usize) -> Vec<f64> {
    let mut moments = vec![0.0; count];
    for &value in values {
        let x = ((2.0 * value - bounds.0 - bounds.1) / (bounds.1 - bounds.0)).clamp(-1.0, 1.0);
        let (mut now, mut next) = (1.0, x);
        for moment in &mut moments {
            *moment += now;
            (now, next) = (next, 2.0 * x * next - now);
        }
    }
    moments
}

/// The number of eigenvalues up to each of the points `-cos(π · place / cells)`, from damped moments; rising.
pub(crate) fn counts(moments: &[f64], cells: usize) -> Vec<f64> {
    let total = moments.first().copied().unwrap_or(0.0);
    let damped: Vec<f64> = (0..)
        .zip(moments.iter().zip(jackson_kernel(moments.len())))
        .map(|(k, (moment, factor))| moment * factor / f64::from(k.max(1)))
        .collect();
    let mut most: f64 = 0.0;
    let mut counts: Vec<f64> = (0..=cells)
        .map(|place| {
            // The grid rises with the eigenvalue, the angle falls.
            let angle = PI * (cells - place) as f64 / cells as f64;
            let (twice_cos, mut before, mut now) = (2.0 * angle.cos(), 0.0, angle.sin());
            let mut series = 0.0;
            for moment in damped.iter().skip(1) {
                series += moment * now;
                (before, now) = (now, twice_cos * now - before);
            }
            most = most.max((total * (1.0 - angle / PI) - 2.0 / PI * series).clamp(0.0, total));
            most
        })
        .collect();
    if let Some(last) = counts.last_mut() {
        *last = total;
    }
    counts
}
