//! Chebyshev moments of a spectrum, and the derivatives of objectives that are seen through them.

use std::sync::Arc;

use fiedler_spectral::polynomial::{PANEL, Polynomials, SignProbes, UpperPairs};
use fiedler_spectral::transport::{Transport, moments_of, times_argument};
use fiedler_spectral::{Normalized, Operator, Outermost, SymmetricMap};

use super::MeasuredSpectrum;
use crate::kernel::{ListedPairs, LowRank, MatrixPart, PairKernel, SMALLEST_DEGREE, SeriesPart};
use crate::objective::Evaluation;

/// Chebyshev moments of an operator's spectrum.
#[derive(Debug, Clone)]
pub struct Moments {
    pub(super) map: Arc<Normalized<'static>>,
    pub(super) moments: Vec<f64>,
    /// Moments that distances are taken from.
    pub(super) compared: usize,
    pub(super) source: Source,
}

/// Where the entries of a polynomial come from.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// Columns, of which these pairs were kept: all of the support's, or those that are asked for one by one.
    Columns { polynomials: Polynomials, pairs: Arc<UpperPairs>, all: bool },
    /// Random signs; with the support's pairs, if there are not too many.
    Signs { panels: usize, pairs: Option<Arc<UpperPairs>>, degree: usize },
}

impl Moments {
    /// The transport from this spectrum to another, seen as finely as the moments of both allow.
    pub(super) fn transport(&self, other: &MeasuredSpectrum) -> Transport {
        let bounds = self.map.bounds();
        Transport::between(&self.moments, &other.moments(self.moments.len(), bounds), bounds)
    }

    /// The quantiles of this spectrum that stand beside known eigenvalues.
    pub(super) fn matched(&self, values: &[f64]) -> Vec<f64> {
        let bounds = self.map.bounds();
        let own = moments_of(values, bounds, self.moments.len());
        let transport = Transport::between(&own, &self.moments, bounds);
        values.iter().map(|&value| value - transport.offset(value, bounds)).collect()
    }

    pub(super) fn distance(&self, other: &MeasuredSpectrum, seed: u64) -> Evaluation {
        let transport = self.transport(other);
        let coarse = |moments: &[f64]| moments[..moments.len().min(self.compared)].to_vec();
        let bounds = self.map.bounds();
        let (own, others) = (coarse(&self.moments), coarse(&other.moments(self.moments.len(), bounds)));
        let squared_norm = Transport::between(&own, &others, bounds).squared_distance();
        Evaluation { squared_norm, kernel: self.kernel(|degree| transport.slope_series(degree), 0.0, seed) }
    }

    pub(super) fn outermost(&self, k: usize, seed: u64) -> Evaluation {
        let bounds = self.map.bounds();
        let compared = &self.moments[..self.moments.len().min(self.compared)];
        let squared_norm = Outermost::of(compared, k, bounds).squared_norm();
        let outermost = Outermost::of(&self.moments, k, bounds);
        let kernel = self.kernel(|degree| outermost.slope_series(degree), SMALLEST_DEGREE, seed);
        Evaluation { squared_norm, kernel: PairKernel { bends: Some(self.bends()), ..kernel } }
    }

    /// What a node has in a bound of how fast the derivative of the norm of all eigenvalues changes with the weight of a pair, which
    /// that of the outermost does not exceed by much: as in the closed form of that norm, and of `4 B_ij / (d_i d_j)` at most half.
    fn bends(&self) -> Vec<f64> {
        let of_node = |(node, &degree): (usize, &f64)| {
            if degree < SMALLEST_DEGREE {
                return 0.0;
            }
            let squares = self.map.row(node).1.iter().map(|value| value * value).sum::<f64>();
            (4.0 * squares + 2.0) / (degree * degree)
        };
        self.map.degrees().iter().enumerate().map(of_node).collect()
    }

    /// The derivative for every pair of an objective whose derivative by eigenvalues has the series that is given by its degree. Nodes of
    /// at most the least degree have the derivatives of those without edges.
    fn kernel(&self, slope_series: impl Fn(usize) -> Vec<f64>, least_degree: f64, seed: u64) -> PairKernel {
        // With x in [-1, 1] for the scaled operator, D^-1/2 B D^-1/2 is x or -x: the sign is that of the pairs' part.
        let sign = match self.map.operator() {
            Operator::Propagation => 1.0,
            Operator::Laplacian => -1.0,
        };
        let root = |&degree: &f64| if degree > least_degree { 1.0 / degree.sqrt() } else { 0.0 };
        let roots: Vec<f64> = self.map.degrees().iter().map(root).collect();
        let on_pairs = |pairs: &Arc<UpperPairs>, mut values: Vec<f32>| {
            for (value, (low, high)) in values.iter_mut().zip(pairs.iter()) {
                *value *= (2.0 * sign * roots[low as usize] * roots[high as usize]) as f32;
            }
            ListedPairs { pairs: pairs.clone(), values }
        };
        let (diagonal, matrix) = match &self.source {
            Source::Columns { polynomials, pairs, all } => {
                let series = slope_series(polynomials.degree());
                let diagonal = polynomials.diagonal(&times_argument(&series));
                let known = on_pairs(pairs, polynomials.entries(&series));
                if *all {
                    (diagonal, MatrixPart::Listed(known))
                } else {
                    let series = series.iter().map(|c| 2.0 * sign * c).collect();
                    let scale = roots.iter().map(|&root| root as f32).collect();
                    (diagonal, MatrixPart::Series(SeriesPart { map: self.map.clone(), series, scale, known }))
                }
            }
            Source::Signs { panels, pairs, degree } => {
                let series = slope_series(*degree);
                let by_argument = times_argument(&series);
                let probes = SignProbes { panels: *panels, seed };
                match pairs {
                    Some(pairs) => {
                        let (entries, diagonal) = probes.entries(&self.map, &series, &by_argument, pairs);
                        (diagonal, MatrixPart::Listed(on_pairs(pairs, entries)))
                    }
                    None => {
                        let low_rank = self.low_rank(&probes, &series, sign, &roots);
                        (probes.diagonal(&self.map, &by_argument), MatrixPart::LowRank(low_rank))
                    }
                }
            }
        };
        let pull = diagonal.iter().zip(&roots).map(|(value, root)| value * root * root).collect();
        PairKernel::with_matrix(matrix, pull)
    }

    /// `(p(M) z zᵀ + z zᵀ p(M)) / 2` over all signs `z`, as a difference of squares.
    fn low_rank(&self, probes: &SignProbes, series: &[f64], sign: f64, roots: &[f64]) -> LowRank {
        let (nodes, half) = (roots.len(), probes.panels * PANEL);
        let mut vectors = vec![0.0f32; nodes * 2 * half];
        let mut first = 0;
        let mut coefficients = vec![0.0; 2 * half];
        probes.apply(&self.map, series, |signs, images| {
            let square: f64 = images.iter().map(|&value| f64::from(value).powi(2)).sum();
            // Both terms of the sum are of about the same size: the difference loses no digits.
            let size = (square / images.len().max(1) as f64).sqrt().max(1e-30) as f32;
            for (node, root) in roots.iter().enumerate() {
                let row = &mut vectors[node * 2 * half..][..2 * half];
                for column in 0..PANEL {
                    let (image, z) = (images[node * PANEL + column], size * signs[node * PANEL + column]);
                    row[first + column] = *root as f32 * (image + z);
                    row[half + first + column] = *root as f32 * (image - z);
                }
            }
            let coefficient = (2.0 * sign / (4.0 * half as f64 * f64::from(size))) as f32;
            coefficients[first..first + PANEL].fill(coefficient);
            coefficients[half + first..half + first + PANEL].fill(-coefficient);
            first += PANEL;
        });
        LowRank { vectors, coefficients }
    }
}
