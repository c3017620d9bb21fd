//! How eigenvalues answer to a change of one edge, to first order.

use crate::operator::{Normalized, Operator, SymmetricMap, inverse_root};
use crate::partial::Pairs;

/// The derivative of an eigenvalue in the weight between two different nodes, `∂λ / ∂B_ij`.
///
/// With the generalised eigenvector `u = D^-1/2 v` it is `2 u_i u_j - μ (u_i² + u_j²)` for an eigenvalue μ of the
/// propagation, and for `λ = 1 - μ` of the Laplacian the negative, `(u_i - u_j)² - λ (u_i² + u_j²)`. Exact only where
/// the
/// eigenvalue is not repeated and both nodes have edges.
///
/// # Panics
/// When a node is not in the graph or the vector is shorter than it.
pub fn eigenvalue_derivative(map: &Normalized, value: f64, vector: &[f64], (a, b): (usize, usize)) -> f64 {
    let at = |node: usize| vector[node] * inverse_root(map.degrees()[node]);
    let (a, b) = (at(a), at(b));
    match map.operator() {
        Operator::Propagation => 2.0 * a * b - value * (a * a + b * b),
        Operator::Laplacian => (a - b) * (a - b) - value * (a * a + b * b),
    }
}

/// The first-order change of every eigenvalue when the weight between two different nodes changes by `amount`: 1 adds
/// an edge
/// to an unweighted graph, -1 removes one.
///
/// # Panics
/// When a node is not in the graph, or the pairs are not of this map.
pub fn flip_changes(map: &Normalized, pairs: &Pairs, edge: (usize, usize), amount: f64) -> Vec<f64> {
    assert_eq!(pairs.vectors.nrows(), map.size(), "eigenpairs of the map");
    let change = |(place, &value): (usize, &f64)| {
        amount * eigenvalue_derivative(map, value, pairs.vectors.col_as_slice(place), edge)
    };
    pairs.values.iter().enumerate().map(change).collect()
}
