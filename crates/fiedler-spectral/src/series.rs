//! Smooth functions of a map, applied to vectors by Chebyshev series: no eigenvector is needed.

use std::f64::consts::PI;

use crate::error::{Error, Result};
use crate::operator::SymmetricMap;

/// The most terms a series may have.
const MOST_TERMS: usize = 1 << 14;

/// A function on the interval of a spectrum, as a sum of Chebyshev polynomials.
///
/// ```
/// use fiedler_spectral::ChebyshevSeries;
///
/// let decay = ChebyshevSeries::of(|value| (-3.0 * value).exp(), (0.0, 2.0), 1e-12)?;
/// assert!((decay.at(0.7) - (-2.1f64).exp()).abs() < 1e-11);
/// # Ok::<(), fiedler_spectral::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChebyshevSeries {
    coefficients: Vec<f64>,
    bounds: (f64, f64),
}

impl ChebyshevSeries {
    /// The shortest series that stays within about `tolerance` of the function, relative to its largest value.
    ///
    /// # Errors
    /// When the function is not finite on the interval, or too rough for a series of some thousand terms.
    pub fn of(function: impl Fn(f64) -> f64, bounds: (f64, f64), tolerance: f64) -> Result<ChebyshevSeries> {
        let mut terms = 16;
        while terms <= MOST_TERMS {
            let mut coefficients = interpolate(&function, bounds, terms);
            let largest = coefficients.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            if !largest.is_finite() {
                return Err(Error::setting("function of the spectrum", "not finite", "a finite value everywhere"));
            }
            let needed =
                coefficients.iter().rposition(|value| value.abs() > 0.1 * tolerance * largest).map_or(1, |k| k + 1);
            // A tail of small terms shows that nothing was cut off.
            if 4 * needed <= 3 * terms {
                coefficients.truncate(needed);
                return Ok(ChebyshevSeries { coefficients, bounds });
            }
            terms *= 2;
        }
        Err(Error::setting("function of the spectrum", "too rough", "a smooth function"))
    }

    /// Number of products with the map it takes to apply the series.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The value of the series at a point of the interval.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.bounds;
        let angle = ((2.0 * value - low - high) / (high - low)).clamp(-1.0, 1.0).acos();
        self.coefficients.iter().enumerate().map(|(k, coefficient)| coefficient * (k as f64 * angle).cos()).sum()
    }

    /// The function of the map times `columns` vectors, row by row as in [`SymmetricMap`]. The series must have been
    /// made for the map's bounds.
    pub fn apply(&self, map: &dyn SymmetricMap, vectors: &[f64], columns: usize) -> Vec<f64> {
        let (low, high) = self.bounds;
        let (scale, shift) = (2.0 / (high - low), -(high + low) / (high - low));
        let mut sum: Vec<f64> = vectors.iter().map(|value| self.coefficients[0] * value).collect();
        let mut add = |coefficient: f64, term: &[f64]| {
            sum.iter_mut().zip(term).for_each(|(sum, value)| *sum += coefficient * value);
        };
        let mut now = vectors.to_vec();
        let mut next = vec![0.0; now.len()];
        for (k, &coefficient) in self.coefficients.iter().enumerate().skip(1) {
            if k == 1 {
                map.recur(&now, columns, scale, shift, 0.0, &mut next);
            } else {
                map.recur(&next, columns, 2.0 * scale, 2.0 * shift, -1.0, &mut now);
                std::mem::swap(&mut now, &mut next);
            }
            add(coefficient, &next);
        }
        sum
    }
}

/// Coefficients of the polynomial that meets the function at the Chebyshev points.
fn interpolate(function: impl Fn(f64) -> f64, (low, high): (f64, f64), terms: usize) -> Vec<f64> {
    let angle = |place: usize| PI * (place as f64 + 0.5) / terms as f64;
    let at = |place: usize| function(0.5 * (low + high) + 0.5 * (high - low) * angle(place).cos());
    let values: Vec<f64> = (0..terms).map(at).collect();
    (0..terms)
        .map(|k| {
            let sum: f64 =
                values.iter().enumerate().map(|(place, value)| value * (k as f64 * angle(place)).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / terms as f64
        })
        .collect()
}
