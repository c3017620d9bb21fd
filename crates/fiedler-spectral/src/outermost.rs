//! The norm of the outermost eigenvalues from moments of all.
//!
//! `Σ λ²` over the K lowest and the K highest eigenvalues is an integral up to the quantile where the counting function reaches K and from the
//! one where K are left, and its derivative with respect to an eigenvalue is `2 λ` outside of these and zero between. Where K is a
//! large share of all, moments tell the quantiles well, and no eigenvalue is computed.

use crate::transport::{counts, point, series_on_grid};

/// Points of the grid for each moment.
const POINTS_A_MOMENT: usize = 8;
/// The fewest points of a grid.
const FEWEST_POINTS: usize = 512;

/// The squared norm of the K lowest and K highest eigenvalues, and its derivative as a function of the eigenvalue.
///
/// ```
/// use fiedler_spectral::Outermost;
/// use fiedler_spectral::transport::moments_of;
///
/// let values = [0.1, 0.3, 0.9, 1.0, 1.1, 1.6, 1.9];
/// let outermost = Outermost::of(&moments_of(&values, (0.0, 2.0), 800), 2, (0.0, 2.0));
/// let right = 0.1f64.powi(2) + 0.3f64.powi(2) + 1.6f64.powi(2) + 1.9f64.powi(2);
/// assert!((outermost.squared_norm() - right).abs() < 0.01 * right);
/// ```
#[derive(Debug, Clone)]
pub struct Outermost {
    /// `φ'(λ)` on a grid of rising eigenvalues, even in the angle.
    slopes: Vec<f64>,
    squared_norm: f64,
}

impl Outermost {
    /// Of the spectrum with these moments, `tr T_k` of the operator scaled from `bounds` to [-1, 1].
    pub fn of(moments: &[f64], k: usize, bounds: (f64, f64)) -> Outermost {
        let cells = (POINTS_A_MOMENT * moments.len()).max(FEWEST_POINTS);
        let counts = counts(moments, cells);
        let (middle, half) = ((bounds.0 + bounds.1) / 2.0, (bounds.1 - bounds.0) / 2.0);
        let value = |place: usize| middle + half * point(place, cells);
        let total = counts.last().copied().unwrap_or(0.0);
        let lowest = (k as f64).min(total / 2.0);
        let highest = total - lowest;
        let slope = |(place, &count): (usize, &f64)| {
            if count <= lowest || count >= highest { 2.0 * value(place) } else { 0.0 }
        };
        let slopes = counts.iter().enumerate().map(slope).collect();
        let squared_norm = counts
            .windows(2)
            .enumerate()
            .map(|(cell, count)| {
                let (from, to) = (count[0], count[1]);
                // Eigenvalues of a cell lie evenly in it.
                let part = |from_count: f64, to_count: f64| {
                    let (first, last) = (from_count.clamp(from, to), to_count.clamp(from, to));
                    if last <= first {
                        return 0.0;
                    }
                    let at = |count: f64| value(cell) + (count - from) / (to - from) * (value(cell + 1) - value(cell));
                    let (low, high) = (at(first), at(last));
                    (last - first) * (low * low + low * high + high * high) / 3.0
                };
                part(0.0, lowest) + part(highest, total)
            })
            .sum();
        Outermost { slopes, squared_norm }
    }

    /// `Σ λ²`
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    /// Chebyshev coefficients of the derivative, as a function of the scaled operator.
    pub fn slope_series(&self, degree: usize) -> Vec<f64> {
        series_on_grid(&self.slopes, degree)
    }
}
