//! The derivative of a spectral objective with respect to every node pair.

use std::sync::Arc;

use fiedler_spectral::Normalized;
use fiedler_spectral::polynomial::{PANEL, UpperPairs, series_columns};

/// What an objective hands to the optimizer: `∂F/∂B_ij` for any pair, in closed form.
///
/// `g(i, j) = (slope · B_ij + level) / (d_i d_j) + K_ij - pull_i - pull_j`, with `K` a symmetric matrix
#[derive(Debug, Clone)]
pub struct PairKernel {
    /// Factor of `B_ij`.
    pub slope: f64,
    /// Constant beside it.
    pub level: f64,
    /// `1 / d_i`, zero for a node of degree zero.
    pub inverse: Vec<f64>,
    /// The part that belongs to a node alone, `q_i`.
    pub pull: Vec<f64>,
    /// The part that is a function of the operator, `K`.
    pub low_rank: Option<MatrixPart>,
}

/// A symmetric matrix `K_ij = 2 [φ'(M)]_ij / √(d_i d_j)`, in a form that does without all of its entries.
#[derive(Debug, Clone)]
pub enum MatrixPart {
    /// From eigenpairs.
    LowRank(LowRank),
    /// Its values on the pairs of a support.
    Listed(ListedPairs),
    /// A polynomial of the operator, of which rows are computed as they are asked for.
    Series(SeriesPart),
}

impl MatrixPart {
    /// The value for one pair.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        match self {
            MatrixPart::LowRank(part) => part.at(i, j),
            MatrixPart::Listed(part) => part.at(i, j).unwrap_or(0.0),
            MatrixPart::Series(part) => part.at(i, j),
        }
    }
}

/// Values on listed pairs; zero elsewhere.
#[derive(Debug, Clone)]
pub struct ListedPairs {
    /// The pairs.
    pub pairs: Arc<UpperPairs>,
    /// One value for each.
    pub values: Vec<f32>,
}

impl ListedPairs {
    /// The value for one pair, if it is listed.
    pub fn at(&self, i: usize, j: usize) -> Option<f64> {
        self.pairs.place(i, j).map(|place| f64::from(self.values[place]))
    }
}

/// `s_i s_j Σ_k c_k [T_k(M)]_ij` of an operator scaled to [-1, 1].
#[derive(Debug, Clone)]
pub struct SeriesPart {
    /// The operator.
    pub map: Arc<Normalized<'static>>,
    /// `c`, Chebyshev coefficients.
    pub series: Vec<f64>,
    /// `s`, one number a node.
    pub scale: Vec<f32>,
    /// The values on a few pairs that are asked for one by one.
    pub known: ListedPairs,
}

impl SeriesPart {
    /// The value for one pair: at once where it is known, otherwise at the cost of a column.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.known.at(i, j).unwrap_or_else(|| {
            let column = series_columns(&self.map, &self.series, j);
            f64::from(self.scale[i] * self.scale[j] * column[i * PANEL])
        })
    }
}

/// `Σ_k c_k û_ki û_kj`, with `û = D^-1/2 u`.
#[derive(Debug, Clone)]
pub struct LowRank {
    /// `û`, one row of `coefficients.len()` numbers a node.
    pub vectors: Vec<f32>,
    /// `c`.
    pub coefficients: Vec<f32>,
}

impl LowRank {
    /// The row of a node.
    pub fn row(&self, node: usize) -> &[f32] {
        let rank = self.coefficients.len();
        &self.vectors[node * rank..(node + 1) * rank]
    }

    /// The value for one pair.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let terms = self.row(i).iter().zip(self.row(j)).zip(&self.coefficients);
        terms.map(|((&a, &b), &c)| f64::from(a) * f64::from(b) * f64::from(c)).sum()
    }
}

impl PairKernel {
    /// The derivative for one pair whose expected weight is `weight`.
    pub fn at(&self, i: usize, j: usize, weight: f64) -> f64 {
        self.without_matrix(i, j, weight) + self.low_rank.as_ref().map_or(0.0, |part| part.at(i, j))
    }

    /// The derivative for one pair but for the part that is a matrix.
    pub(crate) fn without_matrix(&self, i: usize, j: usize, weight: f64) -> f64 {
        (self.slope * weight + self.level) * self.inverse[i] * self.inverse[j] - self.pull[i] - self.pull[j]
    }
}
