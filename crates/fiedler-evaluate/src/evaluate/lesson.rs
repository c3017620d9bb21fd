//! What a choice is made from, and what comes of it.

use std::sync::Arc;

use fiedler_graph::{Dense, Labels};

use super::Settings;
use super::progress::Progress;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::metric::Metric;
use crate::preparation::{Preparation, Prepared};
use crate::probe::Linear;

/// All that a model and its setting may be chosen from: of the test part neither which items it has nor their labels.
pub(super) struct Lesson<'a> {
    pub(super) embeddings: &'a Dense,
    /// Without those of the test part.
    pub(super) labels: &'a Labels,
    pub(super) train: &'a [u32],
    /// May be empty.
    pub(super) validation: &'a [u32],
    /// Name of the split.
    pub(super) name: &'a str,
    /// Place of the split.
    pub(super) index: u64,
    pub(super) metric: Metric,
    /// Whether items are graphs.
    pub(super) graphs: bool,
    pub(super) settings: &'a Settings,
    pub(super) progress: &'a Progress<'a>,
}

/// A model whose every setting has been chosen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    pub(super) model: Linear,
    pub(super) prepared: Arc<Prepared>,
    pub(super) preparation: Preparation,
    pub(super) weight: f64,
    /// The metric on what was chosen on.
    pub(super) validation: f64,
    pub(super) validation_items: usize,
}

impl Lesson<'_> {
    /// Place and value of the best; the first of equals.
    ///
    /// # Errors
    /// When none has meaning.
    pub(super) fn best(&self, values: &[Option<f64>]) -> Result<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (at, value) in values.iter().enumerate() {
            if let Some(value) = value
                && best.is_none_or(|(_, than)| self.metric.is_better(*value, than))
            {
                best = Some((at, *value));
            }
        }
        best.ok_or_else(|| meaningless(self.metric, "validation", self.name))
    }
}

impl Chosen {
    /// Scores of the given items.
    pub(super) fn scores(&self, embeddings: &Dense, items: &[u32]) -> Matrix {
        self.model.scores(&self.prepared.apply(Matrix::gather(embeddings, items)))
    }
}

/// The metric has no meaning on a part of a split.
pub(super) fn meaningless(metric: Metric, part: &str, split: &str) -> Error {
    let problem = format!("{metric} cannot be told on the {part} part of split {split}");
    Error::data(problem).advise("it has too few labels of more than one kind; choose another metric or protocol")
}
