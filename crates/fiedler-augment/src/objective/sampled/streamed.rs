//! Supports that are streamed over: light and whole pairs leave numbers of single nodes only, and cost as much as they do in the norm
//! of the expected graph; what is left, the *middle* pairs, is listed and costs one quadrature each.
//!
//! A pair is light when `1 / (1 − B s)` is a short series in B, and whole when it is a constant of the rule.

use std::sync::OnceLock;

use fiedler_spectral::Operator;
use fiedler_spectral::simd::Arch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::Evaluation;
use super::super::quadrature::{AtNodes, NODES, Rule, class, rules};
use super::{PIECE, Quadrature, SampledKernel, Terms, sum};
use crate::kernel::PairKernel;
use crate::support::{Split, Support};

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
    let of = |number: fn(&Node) -> f64| nodes.iter().map(number).collect::<Vec<f64>>();
    let (first, second) = (of(|node| node.first), of(|node| node.second));
    let sums = Sums {
        light: support.light_sums(&first, [&second, &first]),
        whole: support.whole_sums(&of(|node| node.whole_inverse)),
    };
    let (mut terms, mut quadrature) = (vec![Terms::default(); count], vec![Quadrature::default(); count]);
    let pieces = terms.par_chunks_mut(PIECE).zip(quadrature.par_chunks_mut(PIECE)).enumerate();
    let norms: Vec<f64> = pieces
        .map(|(piece, (terms, quadrature))| {
            let first = piece * PIECE;
            arch.dispatch(Gather { rules, split: &split, nodes: &nodes, sums: &sums, first, terms, quadrature })
        })
        .collect();
    let own = match operator {
        Operator::Laplacian => count as f64,
        Operator::Propagation => nodes.iter().map(|node| node.own_loop).sum(),
    };
    let (inverse, pull) = terms.iter().map(|terms| (terms.inverse, terms.pull)).unzip();
    let kernel = PairKernel::sampled(inverse, pull, SampledKernel { quadrature, terms: OnceLock::from(terms) });
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

/// For every node sums over its light pairs and over its whole ones.
struct Sums {
    light: [Vec<f64>; 3],
    whole: Vec<f64>,
}

/// Fills in what the partners of nodes add up to, and gives the part of these nodes in the norm.
struct Gather<'a> {
    rules: &'a [Rule],
    split: &'a Split,
    nodes: &'a [Node],
    sums: &'a Sums,
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
        let ([linear, square, bent], whole) = (self.sums.light.each_ref().map(|sums| sums[at]), self.sums.whole[at]);
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
        *quadrature = Quadrature { s: rule.single, products: single(&node.products), pulls: single(&pulls) };
        norm
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
