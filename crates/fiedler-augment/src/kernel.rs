//! The derivative of a spectral objective with respect to every node pair.

use std::sync::{Arc, OnceLock};

use fiedler_spectral::Normalized;
use fiedler_spectral::polynomial::{PANEL, UpperPairs, series_columns};

use crate::objective::SampledKernel;

/// A node of a smaller degree has the derivatives of one without edges: those at its own degree hold for no step worth making, and are
/// differences of large numbers.
pub(crate) const SMALLEST_DEGREE: f64 = 1e-3;

/// What an objective hands to the optimizer: `∂F/∂B_ij` for any pair, in closed form.
///
/// `g(i, j) = (slope · B_ij + level) / (d_i d_j) + K_ij - pull_i - pull_j`, with `K` a symmetric matrix; where the objective is about
/// drawn graphs, with more that depends on `B_ij`.
#[derive(Debug, Clone)]
pub struct PairKernel {
    /// Factor of `B_ij`.
    pub slope: f64,
    /// Constant beside it.
    pub level: f64,
    /// `1 / d_i`, zero for a node of degree zero. Of drawn graphs, the mean of `1 / (1 + d_i)`.
    pub inverse: Vec<f64>,
    /// The part that belongs to a node alone, `q_i`.
    pub pull: Vec<f64>,
    /// The part that is a function of the operator, `K`.
    pub low_rank: Option<MatrixPart>,
    /// The part of the expected norm of drawn graphs.
    pub sampled: Option<Box<SampledKernel>>,
    /// `2 q_i / d_i`, or a bound, where it is known: with it, [`PairKernel::stiffness`] tells how fast the derivative of a pair changes.
    pub(crate) bends: Option<Vec<f64>>,
    /// The derivatives themselves, once a support has computed them.
    pub(crate) computed: OnceLock<Computed>,
}

/// The derivatives of a support's values, in the support's order.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    /// Which values of which support they are for.
    pub(crate) state: u64,
    pub(crate) derivatives: Vec<f32>,
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
    /// `(slope · B_ij + level) / (d_i d_j) - pull_i - pull_j`
    pub(crate) fn plain(slope: f64, level: f64, inverse: Vec<f64>, pull: Vec<f64>) -> PairKernel {
        PairKernel {
            slope,
            level,
            inverse,
            pull,
            low_rank: None,
            sampled: None,
            bends: None,
            computed: OnceLock::new(),
        }
    }

    /// `K_ij - pull_i - pull_j`
    pub(crate) fn with_matrix(matrix: MatrixPart, pull: Vec<f64>) -> PairKernel {
        PairKernel { low_rank: Some(matrix), ..PairKernel::plain(0.0, 0.0, vec![0.0; pull.len()], pull) }
    }

    /// The derivative of the expected norm of drawn graphs.
    pub(crate) fn sampled(inverse: Vec<f64>, pull: Vec<f64>, sampled: SampledKernel) -> PairKernel {
        PairKernel { sampled: Some(Box::new(sampled)), ..PairKernel::plain(0.0, 2.0, inverse, pull) }
    }

    /// The derivative for one pair whose expected weight is `weight`.
    pub fn at(&self, i: usize, j: usize, weight: f64) -> f64 {
        self.without_matrix(i, j, weight) + self.low_rank.as_ref().map_or(0.0, |part| part.at(i, j))
    }

    /// The derivative for an edge whose expected weight is `weight`: as for any pair, but where all edges of an end are gone.
    ///
    /// A node of degree zero has no part in the sum that an objective is. As its edge comes back, its degree is the edge's weight B, and
    /// `B² / (B d_j)` rises in proportion to B: what [`PairKernel::at`] leaves out, and what would have edges come back in vain.
    pub(crate) fn at_edge(&self, i: usize, j: usize, weight: f64) -> f64 {
        self.at(i, j, weight) + returning(self.slope, self.inverse[i], self.inverse[j])
    }

    /// A bound of how fast the derivative of a pair changes with its own weight, where the objective has one.
    pub(crate) fn stiffness(&self, i: usize, j: usize) -> Option<f64> {
        let bends = self.bends.as_deref()?;
        Some(self.slope * self.inverse[i] * self.inverse[j] + bends[i] + bends[j])
    }

    /// The derivative for one pair but for the part that is a matrix.
    pub(crate) fn without_matrix(&self, i: usize, j: usize, weight: f64) -> f64 {
        if let Some(sampled) = &self.sampled {
            return sampled.at(i, j, weight);
        }
        (self.level + self.slope * weight) * self.inverse[i] * self.inverse[j] - self.pull[i] - self.pull[j]
    }

    /// Whether pairs that are no edges are to be looked at one by one once they are not light.
    pub(crate) fn has_middle(&self) -> bool {
        self.sampled.is_some()
    }

    /// The part of one row in the derivative of its light pairs, times a rate. A light weight is multiplied by
    /// `slope · inverse_j + own · second_j − bend − bend_j`.
    pub(crate) fn row(&self, row: usize, rate: f64) -> RowFactors {
        let single = |number: f64| (rate * number) as f32;
        let level = single(self.level * self.inverse[row]);
        let pull = single(self.pull[row]);
        match &self.sampled {
            None => RowFactors { slope: single(self.slope * self.inverse[row]), level, pull, own: 0.0, bend: 0.0 },
            Some(sampled) => {
                let terms = &sampled.terms()[row];
                let (slope, bend) = (single(4.0 * terms.second), single(terms.bend));
                RowFactors { slope, level, pull, own: single(4.0 * self.inverse[row]), bend }
            }
        }
    }
}

/// What the derivative of a pair has more where an end has a degree of zero, from `1 / d` of both ends.
///
/// Where both have, the sum jumps by 2 as the pair comes back, however little of it: what is given is the slope from there to the whole
/// pair.
pub(crate) fn returning(slope: f64, inverse: f64, other: f64) -> f64 {
    match (inverse == 0.0, other == 0.0) {
        (false, false) => 0.0,
        (true, true) => 0.5 * slope,
        _ => 0.5 * slope * (inverse + other),
    }
}

/// The numbers of a row's node in the derivative of its light pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowFactors {
    pub(crate) slope: f32,
    pub(crate) level: f32,
    pub(crate) pull: f32,
    pub(crate) own: f32,
    pub(crate) bend: f32,
}

/// The numbers of all columns' nodes in the derivative of light pairs, in single precision.
#[derive(Debug, Clone)]
pub(crate) struct ColumnFactors {
    pub(crate) inverses: Vec<f32>,
    pub(crate) pulls: Vec<f32>,
    pub(crate) seconds: Vec<f32>,
    pub(crate) bends: Vec<f32>,
}

impl ColumnFactors {
    pub(crate) fn new(kernel: &PairKernel, rate: f64) -> ColumnFactors {
        let plain = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect::<Vec<f32>>();
        let rated = |numbers: &[f64]| numbers.iter().map(|&number| (rate * number) as f32).collect::<Vec<f32>>();
        let terms = kernel.sampled.as_deref().map_or(&[][..], |sampled| sampled.terms());
        ColumnFactors {
            inverses: plain(&kernel.inverse),
            pulls: rated(&kernel.pull),
            seconds: terms.iter().map(|terms| terms.second as f32).collect(),
            bends: terms.iter().map(|terms| (rate * terms.bend) as f32).collect(),
        }
    }
}
