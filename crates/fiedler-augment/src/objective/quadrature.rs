//! Gauss–Jacobi rules for the means of `1 / (1 + K)`, where K counts independent draws.
//!
//! Such a mean is `∫₀¹ Π_k (1 − p_k s) ds`. The product falls like `exp(−d s)`, where d is the expected number: a rule of the weight
//! `(1 − s)^m`, with m somewhat below d, leaves little but a polynomial to integrate. Up to an expected number of fourteen the plain
//! rule, m = 0, is as good, and exact for as many draws.

use std::sync::LazyLock;

use faer::Mat;
use faer::linalg::solvers::SolveLstsq;
use fiedler_spectral::Operator;

/// Nodes of a rule.
pub(crate) const NODES: usize = 8;
/// Rules for ever larger degrees, each for degrees larger by the root of two.
const CLASSES: usize = 56;
/// Below, the plain rule is taken.
const PLAIN_BELOW: f64 = 14.0;

/// Numbers at the nodes of a rule.
pub(crate) type AtNodes = [f64; NODES];

/// One rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// `s`, and in single precision.
    pub(crate) s: AtNodes,
    pub(crate) single: [f32; NODES],
    /// `1 − s`, and its inverse.
    pub(crate) t: AtNodes,
    pub(crate) inverse_t: AtNodes,
    /// Weights of the mean of `1 / d`, given an edge: d is one more than the others, two more with a self-loop.
    pub(crate) weight: AtNodes,
    /// Weights of the mean of `1 / d²` with the self-loop; zero where there is none.
    pub(crate) own_loop: AtNodes,
    /// Half of these weights by those above.
    pub(crate) own_share: AtNodes,
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
#[inline(always)]
pub(crate) fn class(degree: f64) -> usize {
    if degree < PLAIN_BELOW { 0 } else { (1 + (2.0 * (degree / PLAIN_BELOW).log2()) as usize).min(CLASSES - 1) }
}

fn all(own_loop: bool) -> Vec<Rule> {
    (0..CLASSES).map(|class| rule(class, own_loop)).collect()
}

fn rule(class: usize, own_loop: bool) -> Rule {
    let least = PLAIN_BELOW * 2f64.powf((class as f64 - 1.0) / 2.0);
    let exponent = if class == 0 { 0.0 } else { (0.7 * least - 4.0).round() };
    let (s, weights) = jacobi(exponent);
    let t = s.map(|s| 1.0 - s);
    let plain: AtNodes = std::array::from_fn(|q| weights[q] * (-exponent * (-s[q]).ln_1p()).exp());
    let weight: AtNodes = std::array::from_fn(|q| plain[q] * if own_loop { t[q] } else { 1.0 });
    let own_loop: AtNodes = match (own_loop, class) {
        (false, _) => [0.0; NODES],
        (true, 0) => logarithmic_weights(&t),
        // 1 / (1 + k)² = ∫ −ln t · t^k dt; the logarithm is singular only where the weight of the rule vanishes.
        (true, _) => std::array::from_fn(|q| -plain[q] * (-s[q]).ln_1p()),
    };
    let own_share = std::array::from_fn(|q| own_loop[q] / (2.0 * weight[q]));
    Rule { s, single: s.map(|s| s as f32), t, inverse_t: t.map(|t| 1.0 / t), weight, own_loop, own_share }
}

/// Weights for `∫₀¹ −ln t f(t) dt` at the nodes of the plain rule: those whose relative errors for all powers of t that the rule meets
/// have the least squares.
fn logarithmic_weights(t: &AtNodes) -> AtNodes {
    const POWERS: usize = 2 * NODES;
    let scale = |power: usize| (1.0 + power as f64).powi(2);
    let powers = Mat::from_fn(POWERS, NODES, |power, q| scale(power) * t[q].powi(power as i32));
    let ones = Mat::from_fn(POWERS, 1, |_, _| 1.0);
    let weights = powers.qr().solve_lstsq(&ones);
    std::array::from_fn(|q| weights[(q, 0)])
}

/// Nodes and weights for `∫₀¹ (1 − s)^m f(s) ds`, ascending: roots of the orthogonal polynomial by Newton's method, each divided out
/// once it is found.
fn jacobi(exponent: f64) -> (AtNodes, AtNodes) {
    let center = |k: f64| match k + exponent == 0.0 {
        true => 0.5,
        false => {
            let even = 2.0 * k + exponent;
            (2.0 * k * (k + exponent + 1.0) + exponent) / (even * (even + 2.0))
        }
    };
    let spread = |k: f64| {
        let even = 2.0 * k + exponent;
        k * (k + exponent) / (even * (even * even - 1.0).sqrt())
    };
    // Orthonormal polynomials and the slope of the last.
    let values = |s: f64| {
        let (mut all, mut slopes) = ([0.0; NODES + 1], [0.0; NODES + 1]);
        all[0] = (exponent + 1.0).sqrt();
        for k in 0..NODES {
            let (before, slope_before) = if k == 0 { (0.0, 0.0) } else { (all[k - 1], slopes[k - 1]) };
            let (off, below) = (s - center(k as f64), if k == 0 { 0.0 } else { spread(k as f64) });
            let above = spread(k as f64 + 1.0);
            all[k + 1] = (off * all[k] - below * before) / above;
            slopes[k + 1] = (all[k] + off * slopes[k] - below * slope_before) / above;
        }
        (all, slopes[NODES])
    };
    let (mut nodes, mut weights) = ([0.0; NODES], [0.0; NODES]);
    for found in 0..NODES {
        let mut s: f64 = if found == 0 { 0.0 } else { nodes[found - 1] * (1.0 + 1e-9) };
        for _ in 0..200 {
            let (all, slope) = values(s);
            let others: f64 = nodes[..found].iter().map(|node| 1.0 / (s - node)).sum();
            let step = all[NODES] / (slope - all[NODES] * others);
            s -= step;
            if step.abs() <= 1e-15 * s {
                break;
            }
        }
        nodes[found] = s;
        weights[found] = 1.0 / values(s).0[..NODES].iter().map(|value| value * value).sum::<f64>();
    }
    (nodes, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(weights: &AtNodes, at: impl Fn(usize) -> f64) -> f64 {
        (0..NODES).map(|q| weights[q] * at(q)).sum()
    }

    fn off(found: f64, expected: f64) -> f64 {
        (found / expected - 1.0).abs()
    }

    #[test]
    fn means_of_inverse_degrees_are_right_for_every_degree() {
        for others in [0usize, 1, 2, 5, 10, 13, 14, 15, 19, 20, 27, 28, 40, 55, 57, 100, 1_000, 100_000] {
            let class = class(others as f64);
            let power = |rule: &Rule, q: usize| (others as f64 * (-rule.s[q]).ln_1p()).exp();
            let others = others as f64;
            let rule = &rules(Operator::Laplacian)[class];
            assert!(off(integral(&rule.weight, |q| power(rule, q)), 1.0 / (1.0 + others)) < 1e-7, "{others}");
            let rule = &rules(Operator::Propagation)[class];
            assert!(off(integral(&rule.weight, |q| power(rule, q)), 1.0 / (2.0 + others)) < 1e-7, "{others}");
            let expected = 1.0 / (1.0 + others).powi(2);
            assert!(off(integral(&rule.own_loop, |q| power(rule, q)), expected) < 2e-5, "{others}");
        }
    }

    /// Draws of few sure ones and many unlikely ones, and of even ones: against the midpoint rule with very many points.
    #[test]
    fn means_are_right_for_mixed_probabilities() {
        const POINTS: usize = 200_000;
        for degree in [0.5f64, 2.0, 6.0, 9.0, 12.0, 13.9, 14.0, 17.0, 19.9, 30.0, 70.0, 500.0] {
            let sure = (degree / 3.0).floor();
            let products: [Box<dyn Fn(f64) -> f64>; 3] = [
                Box::new(move |s: f64| (-degree * s * (1.0 + s / 200.0)).exp()),
                Box::new(move |s: f64| (1.0 - s).powf(sure) * (-(degree - sure) * s).exp()),
                Box::new(move |s: f64| (1.0 - s / 2.0).powf(2.0 * degree)),
            ];
            for (operator, extra) in [(Operator::Laplacian, 0.0), (Operator::Propagation, 1.0)] {
                let rule = &rules(operator)[class(degree)];
                for (kind, product) in products.iter().enumerate() {
                    let middle = |point: usize| (point as f64 + 0.5) / POINTS as f64;
                    let exact = |density: &dyn Fn(f64) -> f64| {
                        (0..POINTS).map(|point| density(middle(point)) * product(middle(point))).sum::<f64>()
                            / POINTS as f64
                    };
                    let found = integral(&rule.weight, |q| product(rule.s[q]));
                    let error = off(found, exact(&|s| (1.0 - s).powf(extra)));
                    assert!(error < 4e-6, "{degree} {kind}: {error:e}");
                    if operator == Operator::Propagation {
                        let found = integral(&rule.own_loop, |q| product(rule.s[q]));
                        let error = off(found, exact(&|s| -(-s).ln_1p()));
                        assert!(error < 2e-4, "{degree} {kind} self-loop: {error:e}");
                    }
                }
            }
        }
    }
}
