//! The derivatives of all pairs at once.

use pulp::{Simd, WithSimd};

use super::super::Clamp;
use super::super::tiles::{Key, Tile};
use crate::kernel::{MatrixPart, PairKernel, returning};
use crate::objective::SampledKernel;

/// The derivative for any pair, `g(i, j)`, from numbers that lie beside each other for a node.
pub(super) struct Derivative<'k> {
    slope: f32,
    level: f32,
    /// `1 / d_i` and `q_i`
    nodes: Vec<[f32; 2]>,
    /// The part that is a matrix.
    matrix: Option<&'k MatrixPart>,
    /// The kernel where it is that of drawn graphs.
    sampled: Option<&'k SampledKernel>,
}

impl<'k> Derivative<'k> {
    pub(super) fn new(kernel: &'k PairKernel) -> Derivative<'k> {
        let of_node = |(&inverse, &pull): (&f64, &f64)| [inverse as f32, pull as f32];
        Derivative {
            slope: kernel.slope as f32,
            level: kernel.level as f32,
            nodes: kernel.inverse.iter().zip(&kernel.pull).map(of_node).collect(),
            matrix: kernel.low_rank.as_ref(),
            sampled: kernel.sampled.as_deref(),
        }
    }

    #[inline(always)]
    fn at(&self, low: usize, high: usize, weight: f32) -> f32 {
        let ([inverse, pull], [other_inverse, other_pull]) = (self.nodes[low], self.nodes[high]);
        let inverses = inverse * other_inverse;
        let mut derivative = (self.slope * weight + self.level) * inverses - pull - other_pull;
        if inverses == 0.0 {
            derivative += returning(self.slope.into(), inverse.into(), other_inverse.into()) as f32;
        }
        derivative
    }
}

/// The derivatives with respect to the probabilities of a tile's pairs.
pub(super) struct OfTile<'a, 'k> {
    pub(super) derivatives: &'a mut [f32],
    pub(super) values: &'a [f32],
    pub(super) keys: &'a [Key],
    pub(super) clamp: Clamp,
    pub(super) derivative: &'a Derivative<'k>,
    pub(super) tile: Tile,
}

impl OfTile<'_, '_> {
    #[inline(always)]
    fn fill(self, at: impl Fn(usize, usize, f32) -> f32) {
        let Tile { low, high, .. } = self.tile;
        for ((to, &value), &key) in self.derivatives.iter_mut().zip(self.values).zip(self.keys) {
            let (weight, edge) = (key.weight(self.clamp.of(value)), key.is_edge());
            let of_weight = at(low + key.low(), high + key.high(), weight);
            *to = if edge { -of_weight } else { of_weight };
        }
    }
}

impl WithSimd for OfTile<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let derivative = self.derivative;
        match (derivative.sampled, derivative.matrix) {
            (Some(sampled), _) => self.fill(
                #[inline(always)]
                |low, high, weight| sampled.by_quadrature(simd, low, high, weight),
            ),
            (None, Some(matrix)) => self.fill(
                #[inline(always)]
                |low, high, weight| derivative.at(low, high, weight) + matrix.at(low, high) as f32,
            ),
            (None, None) => self.fill(
                #[inline(always)]
                |low, high, weight| derivative.at(low, high, weight),
            ),
        }
    }
}
