//! Objectives that look at single eigenvalues: the norm of the outermost, the distance between two spectra.

use faer::Mat;
use fiedler_spectral::{Normalized, Operator, Partial, PartialSettings, partial, spectrum};

use crate::error::Result;
use crate::expected::Expected;
use crate::kernel::{LowRank, MatrixPart, PairKernel};
use crate::objective::Evaluation;
use crate::support::Support;

/// The residual that eigenpairs of a step are computed to when those of the step before are known: an eigenvalue is off by
/// about its square, and only what mixes across the cut between wanted and other pairs turns the derivative.
const WARM_TOLERANCE: f64 = 1e-3;

/// Computes the eigenpairs of expected graphs, each solve starting from the one before.
#[derive(Debug, Clone)]
pub struct Eigensolver {
    /// Whose eigenvalues.
    pub operator: Operator,
    /// How many of the lowest and of the highest, K in the paper; `None` takes all.
    pub k: Option<usize>,
    /// Size of the symmetric noise on the support's pairs that keeps eigenvalues apart, ε in the paper.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// Bytes a dense spectrum may take.
    pub memory: u64,
    /// The largest residual of an eigenpair, where no earlier solve is at hand; later ones follow it less closely.
    pub tolerance: f64,
    /// The pairs found last.
    pub warm: Option<Partial>,
}

/// Eigenpairs of one expected graph.
#[derive(Debug, Clone)]
pub struct Eigenpairs {
    /// The eigenvalues: the lowest ascending, then the highest descending.
    pub values: Vec<f64>,
    /// Beside each value its eigenvector as a column, divided by the roots of the degrees.
    scaled: Mat<f64>,
    pub(crate) operator: Operator,
}

impl Eigensolver {
    /// The eigenpairs of a support's expected graph.
    ///
    /// # Errors
    /// When a dense spectrum exceeds the memory, or an iteration does not converge.
    pub fn solve(&mut self, support: &impl Support) -> Result<Eigenpairs> {
        let expected = Expected::of(support, self.noise, self.seed);
        let map = Normalized::from_rows(expected.rows(), self.operator)?;
        let (values, mut vectors) = match self.k.filter(|k| 2 * k < support.num_nodes()) {
            None => {
                let whole = spectrum(&map, self.memory)?;
                (whole.values, whole.vectors)
            }
            Some(k) => {
                let tolerance = match self.warm {
                    Some(_) => self.tolerance.max(WARM_TOLERANCE),
                    None => self.tolerance,
                };
                let settings = PartialSettings {
                    lowest: k,
                    highest: k,
                    tolerance,
                    seed: self.seed,
                    dense_limit: self.memory,
                    ..Default::default()
                };
                let found = partial(&map, &settings, self.warm.as_ref())?;
                let (low, high) = (&found.lowest, &found.highest);
                let values = low.values.iter().chain(&high.values).copied().collect();
                let vectors = Mat::from_fn(support.num_nodes(), low.len() + high.len(), |row, column| {
                    if column < low.len() {
                        low.vectors[(row, column)]
                    } else {
                        high.vectors[(row, column - low.len())]
                    }
                });
                self.warm = Some(found);
                (values, vectors)
            }
        };
        for column in 0..vectors.ncols() {
            for (value, &degree) in vectors.col_as_slice_mut(column).iter_mut().zip(map.degrees()) {
                *value = if degree > 0.0 { *value / degree.sqrt() } else { 0.0 };
            }
        }
        Ok(Eigenpairs { values, scaled: vectors, operator: self.operator })
    }
}

impl Eigenpairs {
    /// The squared norm of these eigenvalues, and its derivative.
    pub fn norm(&self) -> Evaluation {
        self.evaluate(&vec![0.0; self.values.len()])
    }

    /// The squared distance of these eigenvalues from others in the same order, and its derivative.
    pub fn distance(&self, others: &[f64]) -> Evaluation {
        self.evaluate(others)
    }

    fn evaluate(&self, others: &[f64]) -> Evaluation {
        let slopes: Vec<f64> = self.values.iter().zip(others).map(|(own, other)| 2.0 * (own - other)).collect();
        let squared_norm = slopes.iter().map(|slope| slope * slope / 4.0).sum();
        Evaluation { squared_norm, kernel: self.kernel(&slopes) }
    }

    /// The derivative of `Σ_k φ(λ_k)` for every pair, from the slopes `φ'(λ_k)`.
    fn kernel(&self, slopes: &[f64]) -> PairKernel {
        let nodes = self.scaled.nrows();
        // μ is the eigenvalue of D^-1/2 B D^-1/2; that of the Laplacian is 1 - μ and falls where μ rises.
        let (sign, share): (f64, fn(f64) -> f64) = match self.operator {
            Operator::Propagation => (1.0, |value| value),
            Operator::Laplacian => (-1.0, |value| 1.0 - value),
        };
        let mut pull = vec![0.0; nodes];
        for (column, (&slope, &value)) in slopes.iter().zip(&self.values).enumerate() {
            let factor = sign * slope * share(value);
            for (pull, entry) in pull.iter_mut().zip(self.scaled.col_as_slice(column)) {
                *pull += factor * entry * entry;
            }
        }
        let rank = slopes.len();
        let mut vectors = vec![0.0f32; nodes * rank];
        for (node, row) in vectors.chunks_exact_mut(rank.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(column, entry)| *entry = self.scaled[(node, column)] as f32);
        }
        let coefficients = slopes.iter().map(|slope| (2.0 * sign * slope) as f32).collect();
        PairKernel::with_matrix(MatrixPart::LowRank(LowRank { vectors, coefficients }), pull)
    }
}
