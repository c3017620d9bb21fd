//! The derivative of a spectral objective with respect to every node pair.

/// What an objective hands to the optimizer: `∂F/∂B_ij` for any pair, in closed form.
///
/// `g(i, j) = (slope · B_ij + level) / (d_i d_j) + Σ_k c_k û_ki û_kj - pull_i - pull_j`
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
    /// The part that comes from single eigenpairs.
    pub low_rank: Option<LowRank>,
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
        let low_rank = self.low_rank.as_ref().map_or(0.0, |part| part.at(i, j));
        (self.slope * weight + self.level) * self.inverse[i] * self.inverse[j] + low_rank - self.pull[i] - self.pull[j]
    }
}
