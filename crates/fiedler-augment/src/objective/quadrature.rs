//! Gauss–Legendre rules for the means of `1 / (1 + K)`, where K counts independent draws.
//!
//! Such a mean is `∫₀¹ Π_k (1 − p_k s) ds`. The product falls like `exp(−d s)`, where d is the expected number, so that the
//! interval on which anything is left shrinks as degrees grow: a node's rule covers `[0, 2^−c]` with c by its expected degree.

use std::sync::LazyLock;

use fiedler_spectral::Operator;

/// Nodes of a rule.
pub(crate) const NODES: usize = 16;
/// Rules for ever larger degrees.
const CLASSES: usize = 30;
/// Below, the interval is whole; with so many expected neighbors, less than 10⁻⁶ is left at the end of half of it.
const WHOLE_BELOW: f64 = 28.0;

/// Numbers at the nodes of a rule.
pub(crate) type AtNodes = [f64; NODES];

/// One rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// `s`
    pub(crate) s: AtNodes,
    /// `1 − s`
    pub(crate) t: AtNodes,
    /// Weights of the mean of `1 / d`, given an edge: d is one more than the others, two more with a self-loop.
    pub(crate) weight: AtNodes,
    /// Weights of the mean of `1 / d²` with the self-loop; zero where there is none.
    pub(crate) own_loop: AtNodes,
}

/// The rules of an operator, class after class.
pub(crate) fn rules(operator: Operator) -> &'static [Rule] {
    static LAPLACIAN: LazyLock<Vec<Rule>> = LazyLock::new(|| all(false));
    static PROPAGATION: LazyLock<Vec<Rule>> = LazyLock::new(|| all(true));
    match operator {
        Operator::Laplacian => &LAPLACIAN,
        Operator::Propagation => &PROPAGATION,
    }
}

/// The class of a node by its expected degree.
pub(crate) fn class(degree: f64) -> usize {
    if degree < WHOLE_BELOW { 0 } else { ((2.0 * degree / WHOLE_BELOW).log2() as usize).min(CLASSES - 1) }
}

fn all(own_loop: bool) -> Vec<Rule> {
    let (nodes, weights) = legendre();
    (0..CLASSES).map(|class| rule(&nodes, &weights, class, own_loop)).collect()
}

fn rule(nodes: &AtNodes, weights: &AtNodes, class: usize, own_loop: bool) -> Rule {
    let length = 0.5f64.powi(class as i32);
    // Nodes lie symmetrically about a half, so that they serve for s as for t.
    let s = nodes.map(|node| length * node);
    let t = s.map(|s| 1.0 - s);
    let weight = std::array::from_fn(|q| length * weights[q] * if own_loop { t[q] } else { 1.0 });
    // 1 / (1 + k)² = ∫ −ln t · t^k dt; the logarithm is singular at the end of the whole interval only.
    let density = |q: usize| match class {
        0 => logarithmic_weight(t[q], weights[q]),
        _ => -length * weights[q] * t[q].ln(),
    };
    let own_loop = std::array::from_fn(|q| if own_loop { density(q) } else { 0.0 });
    Rule { s, t, weight, own_loop }
}

/// The weight of a node for `∫₀¹ −ln t f(t) dt`, exact for every polynomial that has as many coefficients as there are nodes: the
/// moments of `−ln t` with the shifted Legendre polynomials are 1 and (−1)ⁿ / (n (n + 1)).
fn logarithmic_weight(t: f64, weight: f64) -> f64 {
    let polynomials = legendre_polynomials(2.0 * t - 1.0);
    let moment = |n: usize| match n {
        0 => 1.0,
        _ => (if n.is_multiple_of(2) { 1.0 } else { -1.0 }) / (n * (n + 1)) as f64,
    };
    weight * (0..NODES).map(|n| (2 * n + 1) as f64 * moment(n) * polynomials[n]).sum::<f64>()
}

/// `P_0(z) … P_NODES(z)`
fn legendre_polynomials(z: f64) -> [f64; NODES + 1] {
    let mut values = [1.0; NODES + 1];
    values[1] = z;
    for n in 1..NODES {
        values[n + 1] = ((2 * n + 1) as f64 * z * values[n] - n as f64 * values[n - 1]) / (n + 1) as f64;
    }
    values
}

/// Nodes and weights on [0, 1], ascending: roots of the Legendre polynomial by Newton's method.
fn legendre() -> (AtNodes, AtNodes) {
    let (mut nodes, mut weights) = ([0.0; NODES], [0.0; NODES]);
    let degree = NODES as f64;
    for place in 0..NODES {
        let mut z = -((place as f64 + 0.75) / (degree + 0.5) * std::f64::consts::PI).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let values = legendre_polynomials(z);
            slope = degree * (z * values[NODES] - values[NODES - 1]) / (z * z - 1.0);
            z -= values[NODES] / slope;
        }
        nodes[place] = (1.0 + z) / 2.0;
        weights[place] = 1.0 / ((1.0 - z * z) * slope * slope);
    }
    (nodes, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_inverse_degrees_are_right_for_every_degree() {
        for others in [0usize, 1, 2, 5, 15, 26, 27, 28, 40, 55, 57, 100, 1_000, 100_000] {
            let class = class(others as f64);
            let power = |rule: &Rule| rule.t.map(|t| t.powi(others as i32));
            let integral = |weights: &AtNodes, power: AtNodes| -> f64 {
                weights.iter().zip(power).map(|(weight, power)| weight * power).sum()
            };
            let others = others as f64;
            let off = |found: f64, expected: f64| (found / expected - 1.0).abs();
            let rule = &rules(Operator::Laplacian)[class];
            assert!(off(integral(&rule.weight, power(rule)), 1.0 / (1.0 + others)) < 2e-6, "{others}");
            let rule = &rules(Operator::Propagation)[class];
            let expected = 1.0 / (2.0 + others);
            assert!(off(integral(&rule.weight, power(rule)), expected) < 1e-5, "{others}");
            let expected = 1.0 / (1.0 + others).powi(2);
            assert!(off(integral(&rule.own_loop, power(rule)), expected) < 1e-3, "{others}");
        }
    }
}
