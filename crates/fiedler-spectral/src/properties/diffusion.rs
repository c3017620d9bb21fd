//! How signals spread over a graph, and how far apart that puts its nodes.

use faer::{Mat, MatRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dense::spectrum;
use crate::error::{Error, Result};
use crate::operator::{Normalized, Operator, SymmetricMap};
use crate::series::ChebyshevSeries;

/// Precision of the series that diffusion is applied by.
const PRECISION: f64 = 1e-10;

/// A way signals spread, as a function of the graph's operator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
pub enum Diffusion {
    /// `exp(-t L)`: heat after time t.
    Heat {
        /// How long heat spreads.
        time: f64,
    },
    /// `α (I - (1 - α) M)^-1`: random walks that end with probability α at each step, personalised PageRank.
    PageRank {
        /// α, the probability to end at each step.
        teleport: f64,
    },
}

impl Diffusion {
    /// Checks that the time is not negative and the teleport probability lies in (0, 1].
    ///
    /// # Errors
    /// Names the setting that is out of its range.
    pub fn check(&self) -> Result<()> {
        match *self {
            Diffusion::Heat { time } if !(time.is_finite() && time >= 0.0) => {
                Err(Error::setting("diffusion time", time, "a finite number that is not negative"))
            }
            Diffusion::PageRank { teleport } if !(teleport > 0.0 && teleport <= 1.0) => {
                Err(Error::setting("teleport probability", teleport, "a number above 0 and at most 1"))
            }
            _ => Ok(()),
        }
    }

    /// What diffusion multiplies an eigenvector by, given the operator and its eigenvalue.
    pub fn factor(&self, operator: Operator, eigenvalue: f64) -> f64 {
        let frequency = match operator {
            Operator::Laplacian => eigenvalue,
            Operator::Propagation => 1.0 - eigenvalue,
        };
        match *self {
            Diffusion::Heat { time } => (-time * frequency).exp(),
            Diffusion::PageRank { teleport } => teleport / (1.0 - (1.0 - teleport) * (1.0 - frequency)),
        }
    }

    /// Spreads `columns` signals, row by row as in [`SymmetricMap`], by a series of products.
    ///
    /// # Errors
    /// As [`Diffusion::check`], and when the series would take thousands of terms, as for a teleport probability near
    /// 0.
    pub fn apply(&self, map: &Normalized, signals: &[f64], columns: usize) -> Result<Vec<f64>> {
        self.check()?;
        let factor = |eigenvalue: f64| self.factor(map.operator(), eigenvalue);
        Ok(ChebyshevSeries::of(factor, map.bounds(), PRECISION)?.apply(map, signals, columns))
    }

    /// The diffusion matrix with all its entries, from the whole spectrum.
    ///
    /// # Errors
    /// As [`Diffusion::check`], and when the spectrum needs more than `limit` bytes.
    pub fn matrix(&self, map: &Normalized, limit: u64) -> Result<Mat<f64>> {
        self.check()?;
        let whole = spectrum(map, limit)?;
        let scaled = Mat::from_fn(map.size(), map.size(), |row, column| {
            whole.vectors[(row, column)] * self.factor(map.operator(), whole.values[column])
        });
        Ok(&scaled * whole.vectors.transpose())
    }

    /// The squared diffusion distance of two nodes: how differently they spread what starts at them.
    ///
    /// # Errors
    /// As [`Diffusion::apply`], and when a node is not in the graph.
    pub fn distance(&self, map: &Normalized, a: usize, b: usize) -> Result<f64> {
        if let Some(node) = [a, b].into_iter().find(|&node| node >= map.size()) {
            return Err(Error::setting("node", node, format!("a number below {}, the number of nodes", map.size())));
        }
        let mut difference = vec![0.0; map.size()];
        difference[a] += 1.0;
        difference[b] -= 1.0;
        Ok(self.apply(map, &difference, 1)?.iter().map(|value| value * value).sum())
    }

    /// The squared diffusion distance from eigenpairs: `Σ φ(λ_l)² (u_l[a] - u_l[b])²`. Some of the pairs give a lower
    /// bound.
    ///
    /// # Panics
    /// When a node is not in the graph, or there are fewer vectors than values.
    pub fn distance_by_spectrum(
        &self,
        operator: Operator,
        values: &[f64],
        vectors: MatRef<'_, f64>,
        a: usize,
        b: usize,
    ) -> f64 {
        let term = |(place, &value): (usize, &f64)| {
            (self.factor(operator, value) * (vectors[(a, place)] - vectors[(b, place)])).powi(2)
        };
        values.iter().enumerate().map(term).sum()
    }
}
