//! The norm of the spectrum without an eigensolver: of the expected graph, and of the graphs that are drawn.

mod quadrature;
pub(crate) mod sampled;

use fiedler_graph::Graph;
use fiedler_spectral::Operator;

pub use sampled::SampledKernel;

use crate::kernel::{PairKernel, SMALLEST_DEGREE};
use crate::support::{Power, Support};

/// Which norm is optimized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpectralObjective {
    /// The norm of the expected graph, as in the paper.
    #[default]
    Expected,
    /// The expected norm of the graphs that are drawn, in which a pair is either there or not: the root of the mean of the squared
    /// norm, exact up to quadrature.
    Sampled,
}

/// An objective's value at the current values of a support, and its derivative there.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Squared norm, `L_GS` in the paper.
    pub squared_norm: f64,
    /// Derivative of the squared norm with respect to every pair.
    pub kernel: PairKernel,
}

/// Evaluates the full-spectrum norm, which is a Frobenius norm, and its derivative.
pub fn full_spectrum(support: &impl Support, operator: Operator, objective: SpectralObjective) -> Evaluation {
    match objective {
        SpectralObjective::Expected => expected(support, operator),
        SpectralObjective::Sampled => sampled::evaluate(support, operator),
    }
}

/// What a node has of itself in an operator: 1 with a self-loop, otherwise 0.
fn own_loop(operator: Operator) -> f64 {
    match operator {
        Operator::Laplacian => 0.0,
        Operator::Propagation => 1.0,
    }
}

/// `Σ_ij B_ij² / (d_i d_j)` and its derivative.
fn expected(support: &impl Support, operator: Operator) -> Evaluation {
    let nodes = support.num_nodes();
    let own_loop = own_loop(operator);
    let mut inverse = support.sums(Power::One, &vec![1.0; nodes]);
    for degree in &mut inverse {
        let whole = *degree + own_loop;
        *degree = if whole > 0.0 { 1.0 / whole } else { 0.0 };
    }
    let mut pull = support.sums(Power::Two, &inverse);
    let mut squared_norm = match operator {
        Operator::Laplacian => nodes as f64,
        Operator::Propagation => 0.0,
    };
    for (row, inverse) in pull.iter_mut().zip(&mut inverse) {
        let squares = *inverse * (*row + own_loop * *inverse);
        squared_norm += squares;
        if *inverse > 1.0 / SMALLEST_DEGREE {
            *inverse = 0.0;
        }
        *row = 2.0 * squares * *inverse;
    }
    let bends = pull.iter().zip(&inverse).map(|(pull, inverse)| 2.0 * pull * inverse).collect();
    let kernel = PairKernel { bends: Some(bends), ..PairKernel::plain(4.0, 0.0, inverse, pull) };
    Evaluation { squared_norm, kernel }
}

/// The squared norm of a graph as it is, every edge of weight one: one pass over its edges.
///
/// ```
/// use fiedler_augment::objective::squared_norm;
/// use fiedler_graph::Graph;
/// use fiedler_spectral::Operator;
/// // The eigenvalues of a triangle's normalized Laplacian are 0, 1.5 and 1.5.
/// let (triangle, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (0, 2)])?;
/// assert!((squared_norm(&triangle, Operator::Laplacian) - 4.5).abs() < 1e-12);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn squared_norm(graph: &Graph, operator: Operator) -> f64 {
    let own_loop = own_loop(operator);
    let inverse = |node: u32| 1.0 / (graph.degree(node) as f64 + own_loop);
    let loops: f64 = match operator {
        Operator::Laplacian => graph.num_nodes() as f64,
        Operator::Propagation => (0..graph.num_nodes() as u32).map(|node| inverse(node).powi(2)).sum(),
    };
    loops + 2.0 * graph.edge_pairs().map(|(low, high)| inverse(low) * inverse(high)).sum::<f64>()
}
