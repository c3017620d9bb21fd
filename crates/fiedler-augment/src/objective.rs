//! The spectral norm of the expected augmented graph, without an eigensolver.

use fiedler_spectral::Operator;

use crate::kernel::PairKernel;
use crate::support::{Power, Support};

/// Which norm is optimized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpectralObjective {
    /// The norm of the expected graph, as in the paper.
    #[default]
    Expected,
    /// The mean-field norm of a sampled graph, in which a pair is either there or not.
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

/// Evaluates the full-spectrum norm: `Σ_ij B_ij² / (d_i d_j)`, a Frobenius norm, and its derivative.
pub fn full_spectrum(support: &impl Support, operator: Operator, objective: SpectralObjective) -> Evaluation {
    let nodes = support.num_nodes();
    let own_loop = match operator {
        Operator::Laplacian => 0.0,
        Operator::Propagation => 1.0,
    };
    let mut inverse = support.sums(Power::One, &vec![1.0; nodes]);
    for degree in &mut inverse {
        let whole = *degree + own_loop;
        *degree = if whole > 0.0 { 1.0 / whole } else { 0.0 };
    }
    let (power, slope, level) = match objective {
        SpectralObjective::Expected => (Power::Two, 4.0, 0.0),
        SpectralObjective::Sampled => (Power::One, 0.0, 2.0),
    };
    let mut pull = support.sums(power, &inverse);
    let mut squared_norm = match operator {
        Operator::Laplacian => nodes as f64,
        Operator::Propagation => 0.0,
    };
    for (row, &inverse) in pull.iter_mut().zip(&inverse) {
        let squares = inverse * (*row + own_loop * inverse);
        squared_norm += squares;
        *row = 2.0 * squares * inverse;
    }
    Evaluation { squared_norm, kernel: PairKernel { slope, level, inverse, pull, low_rank: None } }
}
