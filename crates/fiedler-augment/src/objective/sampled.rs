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
//! norm of the expected graph. What is left, the *middle* pairs, is listed and costs one quadrature each.

// Nodes of a rule are the subject here, and several arrays have an entry for each.
#![allow(clippy::needless_range_loop)]

use fiedler_spectral::Operator;
use rayon::prelude::*;

use super::quadrature::{AtNodes, NODES, Rule, class, rules};
use super::{Evaluation, own_loop};
use crate::kernel::PairKernel;
use crate::support::{MiddlePair, Split, Support};

/// The part of a derivative that belongs to drawn graphs: `∂/∂B_kl` for any pair from numbers of its two nodes.
#[derive(Debug, Clone)]
pub struct SampledKernel {
    rules: &'static [Rule],
    /// `Σ_q w s P`, beside the `inverse` of the kernel, which is `Σ_q w P`.
    pub(crate) second: Vec<f64>,
    /// `2 Σ_q w s² P C`, beside the `pull` of the kernel, which is `2 Σ_q w s P C`.
    pub(crate) bend: Vec<f64>,
    whole: Vec<WholeTerms>,
    classes: Vec<u8>,
    /// `w P` and `C` at the nodes of a node's rule.
    products: Vec<[f32; NODES]>,
    partners: Vec<[f32; NODES]>,
}

/// A node's part in the derivative of pairs of weight one, where `1 − B s` is `t`.
#[derive(Debug, Clone, Copy, Default)]
struct WholeTerms {
    /// `Σ_q w P / t`: the mean of 1 / degree.
    inverse: f64,
    /// `Σ_q w s P C / t`
    pull: f64,
    /// `Σ_q w s P / t²`
    own: f64,
}

impl SampledKernel {
    /// The derivative for a pair of a weight that is not light.
    pub(crate) fn at(&self, k: usize, l: usize, weight: f64) -> f64 {
        if weight == 1.0 {
            let (k, l) = (self.whole[k], self.whole[l]);
            return 2.0 * (k.inverse * l.inverse - k.pull - l.pull + l.inverse * k.own + k.inverse * l.own);
        }
        let ends = [k, l].map(|node| self.end(node, weight as f32));
        let [own, other] = [&ends[0], &ends[1]].map(|end| f64::from(end.inverse));
        let pulls = [(&ends[0], k, other), (&ends[1], l, own)].map(|(end, node, other)| {
            let (s, products, partners) = (&self.rule(node).s, &self.products[node], &self.partners[node]);
            let from_other = (weight * other) as f32;
            let mut pull = 0.0f32;
            for q in 0..NODES {
                let held = end.held[q];
                pull += s[q] as f32 * products[q] * held * (partners[q] - from_other * held);
            }
            f64::from(pull)
        });
        2.0 * (own * other - pulls[0] - pulls[1])
    }

    fn end(&self, node: usize, weight: f32) -> End {
        let (s, products) = (&self.rule(node).s, &self.products[node]);
        let mut held = [0.0f32; NODES];
        let mut inverse = 0.0f32;
        for q in 0..NODES {
            held[q] = 1.0 / (1.0 - weight * s[q] as f32);
            inverse += products[q] * held[q];
        }
        End { held, inverse }
    }

    fn rule(&self, node: usize) -> &Rule {
        &self.rules[self.classes[node] as usize]
    }
}

/// One end of a middle pair.
struct End {
    /// `1 / (1 − B s)` at the nodes.
    held: [f32; NODES],
    /// `r`: the mean of 1 / degree, given the pair.
    inverse: f32,
}

/// What is known of a node once the pairs around it are.
#[derive(Debug, Clone, Default)]
struct Node {
    class: u8,
    /// `w P`
    products: AtNodes,
    /// `Σ w P` and `Σ w s P`
    first: f64,
    second: f64,
    /// The self-loop's part of the norm.
    own_loop: f64,
    whole: WholeTerms,
}

pub(super) fn evaluate(support: &impl Support, operator: Operator) -> Evaluation {
    let count = support.num_nodes();
    let rules = rules(operator);
    let split = support.split();
    let around = Around::new(count, &split.middle);
    let nodes: Vec<Node> = (0..count).into_par_iter().map(|node| Node::new(rules, &split, &around, node)).collect();
    // For each middle pair the mean of 1 / degree at both ends, given the pair.
    let given: Vec<[f64; 2]> = split.middle.par_iter().map(|pair| pair.inverses(rules, &nodes)).collect();

    let first: Vec<f64> = nodes.iter().map(|node| node.first).collect();
    let second: Vec<f64> = nodes.iter().map(|node| node.second).collect();
    let whole: Vec<f64> = nodes.iter().map(|node| node.whole.inverse).collect();
    let light = support.light_sums(&first, [&second, &first]);
    let whole = support.whole_sums(&whole);

    let partners: Vec<Partners> = (0..count)
        .into_par_iter()
        .map(|at| {
            let node = &nodes[at];
            let rule = &rules[node.class as usize];
            let mut partners: AtNodes =
                std::array::from_fn(|q| light[0][at] + light[1][at] + rule.s[q] * light[2][at] + whole[at] / rule.t[q]);
            for &(pair, side) in around.of(at) {
                let weight = f64::from(split.middle[pair as usize].weight);
                let term = weight * given[pair as usize][1 - side as usize];
                for q in 0..NODES {
                    partners[q] += term / (1.0 - weight * rule.s[q]);
                }
            }
            Partners::new(rule, node, partners)
        })
        .collect();

    let mut squared_norm = match operator {
        Operator::Laplacian => count as f64,
        Operator::Propagation => nodes.iter().map(|node| node.own_loop).sum(),
    };
    squared_norm += partners.iter().map(|partners| partners.norm).sum::<f64>();
    debug_assert!(own_loop(operator) == 1.0 || nodes.iter().all(|node| node.own_loop == 0.0));
    let single = |numbers: &AtNodes| numbers.map(|number| number as f32);
    let sampled = SampledKernel {
        rules,
        second,
        bend: partners.iter().map(|partners| 2.0 * partners.bend).collect(),
        whole: nodes.iter().zip(&partners).map(|(node, of)| WholeTerms { pull: of.whole_pull, ..node.whole }).collect(),
        classes: nodes.iter().map(|node| node.class).collect(),
        products: nodes.iter().map(|node| single(&node.products)).collect(),
        partners: partners.iter().map(|partners| partners.at_nodes).collect(),
    };
    let pull = partners.iter().map(|partners| 2.0 * partners.pull).collect();
    let kernel =
        PairKernel { slope: 0.0, level: 2.0, inverse: first, pull, low_rank: None, sampled: Some(Box::new(sampled)) };
    Evaluation { squared_norm, kernel }
}

impl Node {
    fn new(rules: &[Rule], split: &Split, around: &Around, at: usize) -> Node {
        let (linear, square, whole) = (split.linear[at], split.square[at], split.whole[at]);
        let middle = || around.of(at).iter().map(|&(pair, _)| f64::from(split.middle[pair as usize].weight));
        let class = class(linear + whole + middle().sum::<f64>());
        let rule = &rules[class];
        let mut product = rule.t.map(|t| t.powi(whole as i32));
        if linear > 0.0 {
            // log (1 − B s) = −B s − B² s² / 2 − …
            for q in 0..NODES {
                product[q] *= (-rule.s[q] * (linear + rule.s[q] * square / 2.0)).exp();
            }
        }
        for weight in middle() {
            for q in 0..NODES {
                product[q] *= 1.0 - weight * rule.s[q];
            }
        }
        let mut node = Node { class: class as u8, ..Node::default() };
        for q in 0..NODES {
            let (s, t) = (rule.s[q], rule.t[q]);
            let weighted = rule.weight[q] * product[q];
            node.products[q] = weighted;
            node.own_loop += rule.own_loop[q] * product[q];
            node.first += weighted;
            node.second += s * weighted;
            node.whole.inverse += weighted / t;
            node.whole.own += s * weighted / (t * t);
        }
        node
    }
}

impl MiddlePair {
    fn inverses(&self, rules: &[Rule], nodes: &[Node]) -> [f64; 2] {
        let weight = f64::from(self.weight);
        [self.low, self.high].map(|node| {
            let node = &nodes[node as usize];
            let s = &rules[node.class as usize].s;
            (0..NODES).map(|q| node.products[q] / (1.0 - weight * s[q])).sum()
        })
    }
}

/// What the partners of a node add up to.
struct Partners {
    /// `C`, with what a self-loop adds to its derivative.
    at_nodes: [f32; NODES],
    /// `Σ w P C`, the node's part of the norm.
    norm: f64,
    /// `Σ w s P C`, `Σ w s² P C` and `Σ w s P C / t`
    pull: f64,
    bend: f64,
    whole_pull: f64,
}

impl Partners {
    fn new(rule: &Rule, node: &Node, mut at_nodes: AtNodes) -> Partners {
        let mut partners = Partners { at_nodes: [0.0; NODES], norm: 0.0, pull: 0.0, bend: 0.0, whole_pull: 0.0 };
        for q in 0..NODES {
            partners.norm += node.products[q] * at_nodes[q];
            // The self-loop's part has the same derivative, were half its density among the partners.
            at_nodes[q] += rule.own_loop[q] / (2.0 * rule.weight[q]);
            let term = rule.s[q] * node.products[q] * at_nodes[q];
            partners.pull += term;
            partners.bend += rule.s[q] * term;
            partners.whole_pull += term / rule.t[q];
        }
        partners.at_nodes = at_nodes.map(|number| number as f32);
        partners
    }
}

/// The middle pairs around every node.
struct Around {
    starts: Vec<usize>,
    /// Which pair, and which of its ends the node is.
    pairs: Vec<(u32, u8)>,
}

impl Around {
    fn new(nodes: usize, middle: &[MiddlePair]) -> Around {
        let mut starts = vec![0usize; nodes + 1];
        for pair in middle {
            starts[pair.low as usize + 1] += 1;
            starts[pair.high as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut pairs = vec![(0, 0); 2 * middle.len()];
        let mut next = starts.clone();
        for (at, pair) in middle.iter().enumerate() {
            for (side, node) in [pair.low, pair.high].into_iter().enumerate() {
                let place = &mut next[node as usize];
                pairs[*place] = (at as u32, side as u8);
                *place += 1;
            }
        }
        Around { starts, pairs }
    }

    fn of(&self, node: usize) -> &[(u32, u8)] {
        &self.pairs[self.starts[node]..self.starts[node + 1]]
    }
}
