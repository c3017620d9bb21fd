//! What a probe is fitted to and chosen on, and what comes of it.

use std::collections::BTreeMap;

use fiedler_graph::{Dense, Labels};

use super::linear::ProbeModel;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::metric::Metric;
use crate::progress::Progress;
use crate::scaling::{FittedScaling, Scaling};

/// Rows that are scored at once; a multiple of the rows that a product takes at a time, so that their number changes no bit.
pub(crate) const SCORED_AT_ONCE: usize = 2048;

/// All that a model and its hyperparameters may be chosen from: of the test set neither which items it has nor their labels.
pub(crate) struct ProbeTask<'a> {
    pub(crate) embeddings: &'a Dense,
    /// Without those of the test set.
    pub(crate) labels: &'a Labels,
    pub(crate) train: &'a [u32],
    /// May be empty.
    pub(crate) validation: &'a [u32],
    /// Name of the split.
    pub(crate) split: &'a str,
    /// Place of the split.
    pub(crate) index: u64,
    pub(crate) metric: Metric,
    /// Whether items are graphs.
    pub(crate) graphs: bool,
    /// Scalings to choose from.
    pub(crate) scaling: &'a [Scaling],
    /// Folds inside the training set, where there is no validation set.
    pub(crate) inner_folds: usize,
    pub(crate) seed: u64,
    pub(crate) progress: &'a Progress<'a>,
}

/// A model whose every hyperparameter has been chosen.
#[derive(Debug)]
pub(crate) struct ChosenProbe {
    pub(crate) model: Box<dyn ProbeModel>,
    pub(crate) scaling: Scaling,
    pub(crate) fitted_scaling: FittedScaling,
    /// Such as `c`, `alpha` or `weight_decay`.
    pub(crate) hyperparameters: BTreeMap<String, f64>,
    /// The metric on the validation set or on inner folds.
    pub(crate) validation: f64,
    pub(crate) validation_items: usize,
}

impl ProbeTask<'_> {
    /// Place and value of the best; the first of equals.
    ///
    /// # Errors
    /// When none has meaning.
    pub(crate) fn best(&self, values: &[Option<f64>]) -> Result<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (at, value) in values.iter().enumerate() {
            if let Some(value) = value
                && best.is_none_or(|(_, than)| self.metric.is_better(*value, than))
            {
                best = Some((at, *value));
            }
        }
        best.ok_or_else(|| meaningless(self.metric, "validation", self.split))
    }
}

impl ChosenProbe {
    /// Scores of the given items, of some rows after the other: all at once, in double precision, would take far more memory than the
    /// embeddings themselves.
    pub(crate) fn scores(&self, embeddings: &Dense, items: &[u32]) -> Matrix {
        let of_some = |items: &[u32]| self.model.scores(&self.fitted_scaling.apply(Matrix::gather(embeddings, items)));
        Matrix::stack(items.chunks(SCORED_AT_ONCE).map(of_some))
    }
}

/// The metric has no meaning on a part of a split.
pub(crate) fn meaningless(metric: Metric, part: &str, split: &str) -> Error {
    let found = "too few labels of more than one kind";
    let error = Error::data(format!("{part} set of split {split}"), found, format!("enough to measure {metric}"));
    error.advise("choose another metric or protocol")
}
