//! The expected squared norm of the graphs that are drawn, and its derivative: exact up to quadrature.
//!
//! Given that a pair is joined, the degrees of its two ends hang on disjoint pairs and are independent, so that
//!
//! ```text
//! E‖·‖² = n or the self-loops' part + Σ_{i≠j} B_ij r_i^(j) r_j^(i)
//! r_i^(j) = E[1 / degree of i, given the edge ij] = Σ_q w_q P_i(q) / (1 − B_ij s_q),   P_i(q) = Π_k (1 − B_ik s_q)
//! ```
//!
//! over the nodes q of a quadrature rule. With `C_k(q) = Σ_j B_kj r_j^(k) / (1 − B_kj s_q)` the derivative is
//!
//! ```text
//! ∂/∂B_kl = 2 (r_k^(l) r_l^(k) + H_kl + H_lk)
//! H_kl = − Σ_q w_q s_q P_k(q) / (1 − B_kl s_q) · (C_k(q) − B_kl r_l^(k) / (1 − B_kl s_q))
//! ```
//!
//! The nodes of a rule are the lanes of a vector, and every node of the graph gathers what its partners have, so that nothing depends
//! on the number of threads. Chosen pairs are all treated alike ([`listed`]); of all pairs most have a weight of nearly zero or of
//! exactly one, which costs less ([`streamed`]).

// Nodes of a rule are the subject here, and several arrays have an entry for each.
#![allow(clippy::needless_range_loop)]

pub(crate) mod listed;
mod streamed;

use std::sync::OnceLock;

use fiedler_spectral::Operator;
use pulp::{Scalar, Simd};
use serde::{Deserialize, Serialize};

use super::Evaluation;
use super::quadrature::NODES;
use crate::support::{LIGHT, Support};

/// Nodes that a thread takes at a time: enough to be worth the handing over.
pub(crate) const PIECE: usize = 1 << 12;

pub(super) fn evaluate(support: &impl Support, operator: Operator) -> Evaluation {
    match support.pairs_around() {
        Some(around) => listed::evaluate(&around, operator),
        None => streamed::evaluate(support, operator),
    }
}

/// The part of a derivative that belongs to drawn graphs: `∂/∂B_kl` for any pair from numbers of its two nodes.
#[derive(Debug, Clone)]
pub struct SampledKernel {
    quadrature: Vec<Quadrature>,
    /// The same for light and whole pairs, once it is asked for.
    terms: OnceLock<Vec<Terms>>,
}

/// A node's part in the derivative of pairs that are light or whole.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Terms {
    /// `Σ_q w P` and `2 Σ_q w s P C`
    inverse: f64,
    pull: f64,
    /// `Σ_q w s P` and `2 Σ_q w s² P C`
    pub(crate) second: f64,
    pub(crate) bend: f64,
    /// Where `1 − B s` is `t`: `Σ_q w P / t`, the mean of 1 / degree; `Σ_q w s P C / t`; `Σ_q w s P / t²`.
    whole_inverse: f64,
    whole_pull: f64,
    whole_own: f64,
}

/// A node's part in the derivative of any pair: `s`, `w P` and `w s P C` at the nodes of its rule.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Quadrature {
    s: Lanes,
    products: Lanes,
    pulls: Lanes,
}

/// Numbers at the nodes of a rule, in single precision.
type Lanes = [f32; NODES];

impl SampledKernel {
    /// The derivative of these nodes' pairs.
    pub(crate) fn of_quadrature(quadrature: Vec<Quadrature>) -> SampledKernel {
        SampledKernel { quadrature, terms: OnceLock::new() }
    }

    /// What it is made of, a node each.
    pub(crate) fn quadrature(&self) -> &[Quadrature] {
        &self.quadrature
    }

    /// The derivative for a pair of any weight.
    #[inline(always)]
    pub(crate) fn at(&self, k: usize, l: usize, weight: f64) -> f64 {
        if weight <= f64::from(LIGHT) {
            let (k, l) = (&self.terms()[k], &self.terms()[l]);
            let factor = 4.0 * (k.second * l.inverse + k.inverse * l.second) - k.bend - l.bend;
            return 2.0 * k.inverse * l.inverse - k.pull - l.pull + weight * factor;
        }
        if weight == 1.0 {
            let (k, l) = (&self.terms()[k], &self.terms()[l]);
            let inverses = k.whole_inverse * l.whole_inverse;
            let own = l.whole_inverse * k.whole_own + k.whole_inverse * l.whole_own;
            return 2.0 * (inverses - k.whole_pull - l.whole_pull + own);
        }
        f64::from(self.by_quadrature(Scalar::new(), k, l, weight as f32))
    }

    /// The derivative for a pair of any weight, which is treated as one in the middle.
    #[inline(always)]
    pub(crate) fn by_quadrature<S: Simd>(&self, simd: S, k: usize, l: usize, weight: f32) -> f32 {
        let (k, l) = (&self.quadrature[k], &self.quadrature[l]);
        let held_k = held(&k.s, weight);
        // Nodes of about the same degree have the same rule.
        let held_l = if k.s[0] == l.s[0] { held_k } else { held(&l.s, weight) };
        let [mut own, mut other, mut pulls, mut own_slope, mut other_slope] = [simd.splat_f32s(0.0); 5];
        for at in 0..vectors::<S>() {
            let (held_k, held_l) = (vector::<S>(&held_k, at), vector::<S>(&held_l, at));
            let of_k = simd.mul_f32s(vector::<S>(&k.products, at), held_k);
            let of_l = simd.mul_f32s(vector::<S>(&l.products, at), held_l);
            (own, other) = (simd.add_f32s(own, of_k), simd.add_f32s(other, of_l));
            pulls = simd.mul_add_e_f32s(vector::<S>(&k.pulls, at), held_k, pulls);
            pulls = simd.mul_add_e_f32s(vector::<S>(&l.pulls, at), held_l, pulls);
            own_slope = simd.mul_add_e_f32s(simd.mul_f32s(vector::<S>(&k.s, at), of_k), held_k, own_slope);
            other_slope = simd.mul_add_e_f32s(simd.mul_f32s(vector::<S>(&l.s, at), of_l), held_l, other_slope);
        }
        let (own, other, pulls) = (simd.reduce_sum_f32s(own), simd.reduce_sum_f32s(other), simd.reduce_sum_f32s(pulls));
        let (own_slope, other_slope) = (simd.reduce_sum_f32s(own_slope), simd.reduce_sum_f32s(other_slope));
        2.0 * (own * other - pulls + weight * (other * own_slope + own * other_slope))
    }

    /// What light and whole pairs are made of, a node each.
    pub(crate) fn terms(&self) -> &[Terms] {
        self.terms.get_or_init(|| self.quadrature.iter().map(Terms::of).collect())
    }
}

impl Terms {
    fn of(node: &Quadrature) -> Terms {
        let Quadrature { s, products, pulls } = node;
        let inverse_t = s.map(|s| 1.0 / (1.0 - s));
        let total = |at: &dyn Fn(usize) -> f32| f64::from(sum(std::array::from_fn(at)));
        Terms {
            inverse: total(&|q| products[q]),
            pull: 2.0 * total(&|q| pulls[q]),
            second: total(&|q| s[q] * products[q]),
            bend: 2.0 * total(&|q| s[q] * pulls[q]),
            whole_inverse: total(&|q| products[q] * inverse_t[q]),
            whole_pull: total(&|q| pulls[q] * inverse_t[q]),
            whole_own: total(&|q| s[q] * products[q] * inverse_t[q] * inverse_t[q]),
        }
    }
}

/// `1 / (1 − B s)`
#[inline(always)]
fn held(s: &Lanes, weight: f32) -> Lanes {
    s.map(|s| 1.0 / (1.0 - weight * s))
}

/// Vectors that hold all lanes: compilers make poor ones of arrays whose lanes are summed.
#[inline(always)]
fn vectors<S: Simd>() -> usize {
    const { assert!(NODES.is_multiple_of(S::F32_LANES), "vectors are no wider than the lanes of a rule") };
    NODES / S::F32_LANES
}

#[inline(always)]
fn vector<S: Simd>(lanes: &Lanes, at: usize) -> S::f32s {
    S::as_simd_f32s(lanes).0[at]
}

/// The sum of all lanes.
#[inline(always)]
fn total<S: Simd>(simd: S, lanes: &Lanes) -> f32 {
    let first = vector::<S>(lanes, 0);
    simd.reduce_sum_f32s((1..vectors::<S>()).fold(first, |sum, at| simd.add_f32s(sum, vector::<S>(lanes, at))))
}

/// The sum of all lanes, halves first, as vectors are added.
#[inline(always)]
fn sum<T: Copy + std::ops::Add<Output = T>>(lanes: [T; NODES]) -> T {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
