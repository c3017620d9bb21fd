//! Supports that list their pairs: every pair with a weight costs one quadrature at each of its ends.

use fiedler_spectral::Operator;
use fiedler_spectral::simd::Arch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Evaluation;
use super::super::quadrature::{AtNodes, NODES, Rule, class, rules};
use super::{Lanes, PIECE, Quadrature, SampledKernel, held, sum, total, vector, vectors};
use crate::kernel::PairKernel;
use crate::support::PairsAround;

/// Pairs that are summed in single precision before they enter a double precision total.
const PAIRS_A_FLUSH: usize = 256;

/// What is known of a node once the pairs around it are.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Node {
    /// `w P`
    products: Lanes,
    class: u32,
    /// The self-loop's part of the norm.
    own_loop: f64,
}

pub(super) fn evaluate(around: &PairsAround, operator: Operator) -> Evaluation {
    let nodes = products(around, operator);
    let gathered = gather(around, 0, &nodes, operator);
    together(&nodes, gathered, operator)
}

/// What some nodes have of the pairs around them: the first half of an evaluation.
pub(crate) fn products(around: &PairsAround, operator: Operator) -> Vec<Node> {
    let (rules, arch) = (rules(operator), Arch::new());
    let mut nodes = vec![Node::default(); around.num_nodes()];
    nodes.par_chunks_mut(PIECE).enumerate().for_each(|(piece, nodes)| {
        arch.dispatch(Products { rules, around, first: piece * PIECE, nodes });
    });
    nodes
}

/// What the partners of some nodes add up to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Gathered {
    inverse: Vec<f64>,
    pull: Vec<f64>,
    quadrature: Vec<Quadrature>,
    /// The parts of the norm, piece by piece.
    norms: Vec<f64>,
}

impl Gathered {
    /// Adds what further nodes have.
    pub(crate) fn extend(&mut self, more: Gathered) {
        self.inverse.extend(more.inverse);
        self.pull.extend(more.pull);
        self.quadrature.extend(more.quadrature);
        self.norms.extend(more.norms);
    }
}

/// The second half: for the nodes from `from` on that the pairs are around, from the first half of all nodes.
pub(crate) fn gather(around: &PairsAround, from: usize, nodes: &[Node], operator: Operator) -> Gathered {
    let (count, rules, arch) = (around.num_nodes(), rules(operator), Arch::new());
    let (mut inverse, mut pull) = (vec![0.0; count], vec![0.0; count]);
    let mut quadrature = vec![Quadrature::default(); count];
    let sums = inverse.par_chunks_mut(PIECE).zip(pull.par_chunks_mut(PIECE));
    let pieces = sums.zip(quadrature.par_chunks_mut(PIECE)).enumerate();
    let norms: Vec<f64> = pieces
        .map(|(piece, ((inverse, pull), quadrature))| {
            arch.dispatch(Gather { rules, around, from, nodes, first: piece * PIECE, inverse, pull, quadrature })
        })
        .collect();
    Gathered { inverse, pull, quadrature, norms }
}

/// The evaluation, from both halves of all nodes.
pub(crate) fn together(nodes: &[Node], gathered: Gathered, operator: Operator) -> Evaluation {
    let own = match operator {
        Operator::Laplacian => nodes.len() as f64,
        Operator::Propagation => nodes.iter().map(|node| node.own_loop).sum(),
    };
    let Gathered { inverse, pull, quadrature, norms } = gathered;
    let kernel = PairKernel::sampled(inverse, pull, SampledKernel::of_quadrature(quadrature));
    Evaluation { squared_norm: own + norms.iter().sum::<f64>(), kernel }
}

/// Fills nodes from the pairs around them.
struct Products<'a> {
    rules: &'a [Rule],
    around: &'a PairsAround,
    first: usize,
    nodes: &'a mut [Node],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (at, node) in (self.first..).zip(self.nodes) {
            let pairs = self.around.of(at);
            // No more than there are pairs.
            let class = if class(pairs.len() as f64) == 0 { 0 } else { class(degree(pairs)) };
            let rule = &self.rules[class];
            // Many factors that are nearly one lose too much in single precision.
            let mut product = [1.0; NODES];
            for &(_, weight) in pairs {
                let weight = f64::from(weight);
                for q in 0..NODES {
                    product[q] *= 1.0 - weight * rule.s[q];
                }
            }
            *node = Node {
                products: std::array::from_fn(|q| (rule.weight[q] * product[q]) as f32),
                class: class as u32,
                own_loop: sum(std::array::from_fn(|q| rule.own_loop[q] * product[q])),
            };
        }
    }
}

/// The expected degree.
#[inline(always)]
fn degree(pairs: &[(u32, f32)]) -> f64 {
    pairs.iter().map(|&(_, weight)| f64::from(weight)).sum()
}

/// Fills in what the partners of nodes add up to, and gives the part of these nodes in the norm.
struct Gather<'a> {
    rules: &'a [Rule],
    around: &'a PairsAround,
    /// The node that the first of those around is, and all nodes.
    from: usize,
    nodes: &'a [Node],
    first: usize,
    inverse: &'a mut [f64],
    pull: &'a mut [f64],
    quadrature: &'a mut [Quadrature],
}

impl WithSimd for Gather<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Gather { rules, around, from, nodes, first, .. } = self;
        let sums = self.inverse.iter_mut().zip(self.pull);
        let mut norm = 0.0;
        for ((at, (inverse, pull)), quadrature) in (first..).zip(sums).zip(self.quadrature) {
            let Node { products, class, .. } = nodes[from + at];
            let rule = &rules[class as usize];
            let s = rule.single;
            let mut partners: AtNodes = [0.0; NODES];
            for pairs in around.of(at).chunks(PAIRS_A_FLUSH) {
                let mut of_pairs = [simd.splat_f32s(0.0); NODES];
                for &(other, weight) in pairs {
                    let other = &nodes[other as usize];
                    let own = held(&s, weight);
                    let others =
                        if other.class == class { own } else { held(&rules[other.class as usize].single, weight) };
                    // The mean of 1 / degree of the other node, given the pair.
                    let mut mean = simd.splat_f32s(0.0);
                    for at in 0..vectors::<S>() {
                        mean = simd.mul_add_e_f32s(vector::<S>(&other.products, at), vector::<S>(&others, at), mean);
                    }
                    let mean = simd.splat_f32s(weight * simd.reduce_sum_f32s(mean));
                    for at in 0..vectors::<S>() {
                        of_pairs[at] = simd.mul_add_e_f32s(mean, vector::<S>(&own, at), of_pairs[at]);
                    }
                }
                for q in 0..NODES {
                    partners[q] += f64::from(bytemuck::cast_slice::<S::f32s, f32>(&of_pairs)[q]);
                }
            }
            let products_wide = products.map(f64::from);
            norm += sum(std::array::from_fn(|q| products_wide[q] * partners[q]));
            // The self-loop's part has the same derivative, were half its density among the partners.
            let pulls: Lanes =
                std::array::from_fn(|q| (rule.s[q] * products_wide[q] * (partners[q] + rule.own_share[q])) as f32);
            (*inverse, *pull) = (total(simd, &products).into(), (2.0 * total(simd, &pulls)).into());
            *quadrature = Quadrature { s, products, pulls };
        }
        norm
    }
}
