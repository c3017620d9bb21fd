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
//! Most pairs have a weight of nearly zero or of exactly one. In the former case `1 / (1 − B s)` is a short series in B, in the
//! latter a constant of the rule, and both leave numbers of single nodes only: a pair of these kinds costs as much as it does in the
//! norm of the expected graph. What is left, the *middle* pairs, is listed and costs one quadrature each. The nodes of a rule are the
//! lanes of a vector, and every node of the graph gathers what its partners have, so that nothing depends on the number of threads.

// Nodes of a rule are the subject here, and several arrays have an entry for each.
#![allow(clippy::needless_range_loop)]

use fiedler_spectral::Operator;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Evaluation;
use super::quadrature::{AtNodes, NODES, Rule, class, rules};
use crate::kernel::PairKernel;
use crate::support::{LIGHT, Split, Support};

/// Nodes that a thread takes at a time: enough to be worth the handing over.
const PIECE: usize = 1 << 12;

/// The part of a derivative that belongs to drawn graphs: `∂/∂B_kl` for any pair from numbers of its two nodes.
#[derive(Debug, Clone)]
pub struct SampledKernel {
    /// `Σ_q w s P`, beside the `inverse` of the kernel, which is `Σ_q w P`.
    pub(crate) second: Vec<f64>,
    /// `2 Σ_q w s² P C`, beside the `pull` of the kernel, which is `2 Σ_q w s P C`.
    pub(crate) bend: Vec<f64>,
    nodes: Vec<Terms>,
    quadrature: Vec<Quadrature>,
}

/// A node's part in the derivative of pairs that are light or whole.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Terms {
    /// `Σ_q w P` and `2 Σ_q w s P C`
    inverse: f64,
    pull: f64,
    /// `Σ_q w s P` and `2 Σ_q w s² P C`
    second: f64,
    bend: f64,
    /// Where `1 − B s` is `t`: `Σ_q w P / t`, the mean of 1 / degree; `Σ_q w s P C / t`; `Σ_q w s P / t²`.
    whole_inverse: f64,
    whole_pull: f64,
    whole_own: f64,
}

/// A node's part in the derivative of middle pairs: `s`, `w P` and `C` at the nodes of its rule.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Quadrature {
    s: [f32; NODES],
    products: [f32; NODES],
    partners: [f32; NODES],
}

impl SampledKernel {
    /// The derivative for a pair of any weight.
    #[inline(always)]
    pub(crate) fn at(&self, k: usize, l: usize, weight: f64) -> f64 {
        if weight <= f64::from(LIGHT) {
            let (k, l) = (&self.nodes[k], &self.nodes[l]);
            let factor = 4.0 * (k.second * l.inverse + k.inverse * l.second) - k.bend - l.bend;
            return 2.0 * k.inverse * l.inverse - k.pull - l.pull + weight * factor;
        }
        if weight == 1.0 {
            let (k, l) = (&self.nodes[k], &self.nodes[l]);
            let inverses = k.whole_inverse * l.whole_inverse;
            let own = l.whole_inverse * k.whole_own + k.whole_inverse * l.whole_own;
            return 2.0 * (inverses - k.whole_pull - l.whole_pull + own);
        }
        f64::from(middle(&self.quadrature[k], &self.quadrature[l], weight as f32))
    }
}

#[inline(always)]
fn middle(k: &Quadrature, l: &Quadrature, weight: f32) -> f32 {
    let held = |end: &Quadrature| end.s.map(|s| 1.0 / (1.0 - weight * s));
    let (held_k, held_l) = (held(k), held(l));
    let own = sum(std::array::from_fn(|q| k.products[q] * held_k[q]));
    let other = sum(std::array::from_fn(|q| l.products[q] * held_l[q]));
    let (from_k, from_l) = (weight * own, weight * other);
    let pulls = std::array::from_fn(|q| {
        let of_k = k.s[q] * k.products[q] * held_k[q] * (k.partners[q] - from_l * held_k[q]);
        let of_l = l.s[q] * l.products[q] * held_l[q] * (l.partners[q] - from_k * held_l[q]);
        of_k + of_l
    });
    2.0 * (own * other - sum(pulls))
}

/// The sum of all lanes, halves first, as vectors are added.
#[inline(always)]
fn sum<T: Copy + std::ops::Add<Output = T>>(lanes: [T; NODES]) -> T {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// What is known of a node once the pairs around it are.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// `w P`
    products: AtNodes,
    class: usize,
    /// The self-loop's part of the norm.
    own_loop: f64,
    /// `Σ w P` and `Σ w s P`
    first: f64,
    second: f64,
    /// `Σ w P / t`
    whole_inverse: f64,
    /// `Σ w s P / t²`
    whole_own: f64,
}

pub(super) fn evaluate(support: &impl Support, operator: Operator) -> Evaluation {
    let count = support.num_nodes();
    let rules = rules(operator);
    let split = support.split();
    let arch = Arch::new();
    let mut nodes = vec![Node::default(); count];
    nodes.par_chunks_mut(PIECE).enumerate().for_each(|(piece, nodes)| {
        arch.dispatch(Nodes { rules, split: &split, first: piece * PIECE, nodes });
    });
    let sums = match split.others {
        Some(_) => None,
        None => {
            let of = |number: fn(&Node) -> f64| nodes.iter().map(number).collect::<Vec<f64>>();
            let (first, second) = (of(|node| node.first), of(|node| node.second));
            let light = support.light_sums(&first, [&second, &first]);
            Some((light, support.whole_sums(&of(|node| node.whole_inverse))))
        }
    };
    let mut kernel = SampledKernel {
        second: vec![0.0; count],
        bend: vec![0.0; count],
        nodes: vec![Terms::default(); count],
        quadrature: vec![Quadrature::default(); count],
    };
    let pieces = kernel.nodes.par_chunks_mut(PIECE).zip(kernel.quadrature.par_chunks_mut(PIECE)).enumerate();
    let norms: Vec<f64> = pieces
        .map(|(piece, (terms, quadrature))| {
            let (first, sums) = (piece * PIECE, sums.as_ref());
            arch.dispatch(Gather { rules, split: &split, nodes: &nodes, sums, first, terms, quadrature })
        })
        .collect();
    let own = match operator {
        Operator::Laplacian => count as f64,
        Operator::Propagation => nodes.iter().map(|node| node.own_loop).sum(),
    };
    let (mut inverse, mut pull) = (vec![0.0; count], vec![0.0; count]);
    for (at, terms) in kernel.nodes.iter().enumerate() {
        (inverse[at], pull[at]) = (terms.inverse, terms.pull);
        (kernel.second[at], kernel.bend[at]) = (terms.second, terms.bend);
    }
    let sampled = Some(Box::new(kernel));
    let kernel = PairKernel { slope: 0.0, level: 2.0, inverse, pull, low_rank: None, sampled };
    Evaluation { squared_norm: own + norms.iter().sum::<f64>(), kernel }
}

/// Fills nodes from the pairs around them.
struct Nodes<'a> {
    rules: &'a [Rule],
    split: &'a Split,
    first: usize,
    nodes: &'a mut [Node],
}

impl WithSimd for Nodes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (at, node) in (self.first..).zip(self.nodes) {
            *node = Node::new(self.rules, self.split, at);
        }
    }
}

impl Node {
    #[inline(always)]
    fn new(rules: &[Rule], split: &Split, at: usize) -> Node {
        let (linear, square, whole) = (split.linear[at], split.square[at], split.whole[at]);
        let middle = split.middle.of(at);
        let mut degree = linear + whole;
        for &(_, weight) in middle {
            degree += f64::from(weight);
        }
        let class = class(degree);
        let rule = &rules[class];
        let mut product = power(rule.t, whole as u32);
        if linear > 0.0 {
            // log (1 − B s) = −B s − B² s² / 2 − …
            let decay = exponential(rule.s.map(|s| s * (linear + s * square / 2.0)));
            for q in 0..NODES {
                product[q] *= decay[q];
            }
        }
        for &(_, weight) in middle {
            let weight = f64::from(weight);
            for q in 0..NODES {
                product[q] *= 1.0 - weight * rule.s[q];
            }
        }
        let products: AtNodes = std::array::from_fn(|q| rule.weight[q] * product[q]);
        let whole: AtNodes = std::array::from_fn(|q| products[q] * rule.inverse_t[q]);
        Node {
            products,
            class,
            own_loop: sum(std::array::from_fn(|q| rule.own_loop[q] * product[q])),
            first: sum(products),
            second: sum(std::array::from_fn(|q| rule.s[q] * products[q])),
            whole_inverse: sum(whole),
            whole_own: sum(std::array::from_fn(|q| rule.s[q] * rule.inverse_t[q] * whole[q])),
        }
    }
}

/// `t^exponent` by squaring.
#[inline(always)]
fn power(mut base: AtNodes, mut exponent: u32) -> AtNodes {
    let mut result = [1.0; NODES];
    while exponent > 0 {
        if exponent % 2 == 1 {
            for q in 0..NODES {
                result[q] *= base[q];
            }
        }
        for q in 0..NODES {
            base[q] *= base[q];
        }
        exponent /= 2;
    }
    result
}

/// `exp(−z)` for z ≥ 0, to about 10⁻¹¹: the series at a small part of z, squared often. Beyond 60 it stays as small as there.
#[inline(always)]
fn exponential(z: AtNodes) -> AtNodes {
    const SQUARINGS: i32 = 6;
    const TERMS: usize = 14;
    let z = z.map(|z| -z.min(60.0) * 0.5f64.powi(SQUARINGS));
    let mut result = [1.0; NODES];
    for term in (1..=TERMS).rev() {
        let inverse = 1.0 / term as f64;
        for q in 0..NODES {
            result[q] = 1.0 + result[q] * z[q] * inverse;
        }
    }
    for _ in 0..SQUARINGS {
        for q in 0..NODES {
            result[q] *= result[q];
        }
    }
    result
}

/// Fills in what the partners of nodes add up to, and gives the part of these nodes in the norm.
struct Gather<'a> {
    rules: &'a [Rule],
    split: &'a Split,
    nodes: &'a [Node],
    /// Sums over light and whole pairs, where these are not listed.
    sums: Option<&'a ([Vec<f64>; 3], Vec<f64>)>,
    first: usize,
    terms: &'a mut [Terms],
    quadrature: &'a mut [Quadrature],
}

impl WithSimd for Gather<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> f64 {
        let (terms, quadrature) = (std::mem::take(&mut self.terms), std::mem::take(&mut self.quadrature));
        let mut norm = 0.0;
        for ((at, terms), quadrature) in (self.first..).zip(terms).zip(quadrature) {
            norm += self.fill(at, terms, quadrature);
        }
        norm
    }
}

impl Gather<'_> {
    /// The node's part in the norm is `Σ w P C`.
    #[inline(always)]
    fn fill(&self, at: usize, terms: &mut Terms, quadrature: &mut Quadrature) -> f64 {
        let node = &self.nodes[at];
        let rule = &self.rules[node.class];
        let ([linear, square, bent], whole) = self.plain(at);
        let mut partners: AtNodes =
            std::array::from_fn(|q| linear + square + rule.s[q] * bent + whole * rule.inverse_t[q]);
        for &(other, weight) in self.split.middle.of(at) {
            let (other, weight) = (&self.nodes[other as usize], f64::from(weight));
            let held: AtNodes = rule.s.map(|s| 1.0 / (1.0 - weight * s));
            // The mean of 1 / degree of the other node, given the pair.
            let inverse = if other.class == node.class {
                sum(std::array::from_fn(|q| other.products[q] * held[q]))
            } else {
                let s = &self.rules[other.class].s;
                sum(std::array::from_fn(|q| other.products[q] / (1.0 - weight * s[q])))
            };
            for q in 0..NODES {
                partners[q] += weight * inverse * held[q];
            }
        }
        let norm = sum(std::array::from_fn(|q| node.products[q] * partners[q]));
        for q in 0..NODES {
            // The self-loop's part has the same derivative, were half its density among the partners.
            partners[q] += rule.own_share[q];
        }
        let pulls: AtNodes = std::array::from_fn(|q| rule.s[q] * node.products[q] * partners[q]);
        *terms = Terms {
            inverse: node.first,
            pull: 2.0 * sum(pulls),
            second: node.second,
            bend: 2.0 * sum(std::array::from_fn(|q| rule.s[q] * pulls[q])),
            whole_inverse: node.whole_inverse,
            whole_pull: sum(std::array::from_fn(|q| rule.inverse_t[q] * pulls[q])),
            whole_own: node.whole_own,
        };
        let single = |numbers: &AtNodes| numbers.map(|number| number as f32);
        *quadrature = Quadrature { s: single(&rule.s), products: single(&node.products), partners: single(&partners) };
        norm
    }

    /// Sums over the light pairs of a node and over its whole ones.
    #[inline(always)]
    fn plain(&self, at: usize) -> ([f64; 3], f64) {
        if let Some((light, whole)) = self.sums {
            return ([light[0][at], light[1][at], light[2][at]], whole[at]);
        }
        let (mut light, mut whole) = ([0.0; 3], 0.0);
        for &(other, weight) in self.split.others.as_ref().map_or(&[][..], |others| others.of(at)) {
            let other = &self.nodes[other as usize];
            let is_whole = weight == 1.0;
            let weight = if is_whole { 0.0 } else { f64::from(weight) };
            whole += if is_whole { other.whole_inverse } else { 0.0 };
            light[0] += weight * other.first;
            light[1] += weight * weight * other.second;
            light[2] += weight * weight * other.first;
        }
        (light, whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_exponentials_are_those_of_the_library() {
        let z = [0.0, 1e-9, 0.3, 1.0, 7.5, 20.0, 45.0, 60.0];
        for (found, z) in exponential(z).into_iter().zip(z) {
            assert!((found / (-z).exp() - 1.0).abs() < 1e-10, "{z}: {found}");
        }
        assert!(exponential([1e6; NODES])[0] < 1e-25);
        let base = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0];
        for exponent in [0, 1, 2, 3, 7, 13, 100] {
            for (found, base) in power(base, exponent).into_iter().zip(base) {
                assert!((found - base.powi(exponent as i32)).abs() < 1e-14, "{base} {exponent}");
            }
        }
    }
}
