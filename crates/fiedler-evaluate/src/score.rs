//! Scores: what an evaluation comes to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compare::Interval;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::scaling::Scaling;

/// The score of embeddings: mean and deviation over splits, and all that is needed to know what they mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What is measured.
    pub metric: Metric,
    /// Mean over splits.
    pub mean: f64,
    /// Sample standard deviation over splits (n − 1 below the fraction); 0 where there is only one.
    pub std: f64,
    /// Name of the protocol.
    pub protocol: String,
    /// Name of the probe; empty where a trained encoder predicts by itself.
    #[serde(default)]
    pub probe: String,
    /// The protocol, the scaling, the probe and how its hyperparameters were chosen, in words, parted by `; `.
    pub description: String,
    /// Number of embeddings.
    pub rows: usize,
    /// Their length.
    pub columns: usize,
    /// Every split.
    pub splits: Vec<SplitScore>,
    /// Anything else a reader should know, one sentence each.
    pub notes: Vec<String>,
}

/// The score on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitScore {
    /// Name of the split.
    pub name: String,
    /// The metric on the test set.
    pub value: f64,
    /// Where the metric on the test set lies with 95 % confidence, by the bootstrap over test items; where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The metric on the validation set or, where there is none, on the inner folds.
    pub validation: f64,
    /// Hyperparameters that were chosen, such as `c` of logistic regression, `alpha` of ridge regression or `weight_decay` of Adam.
    #[serde(default)]
    pub hyperparameters: BTreeMap<String, f64>,
    /// Scaling that was chosen.
    #[serde(alias = "preparation")]
    pub scaling: Scaling,
    /// Number of training items.
    pub train_items: usize,
    /// Number of items that hyperparameters were chosen on.
    pub validation_items: usize,
    /// Number of test items.
    pub test_items: usize,
    /// Hash of the split, equal for equal splits.
    pub fingerprint: String,
}

impl Score {
    /// One score out of several that differ in their embeddings only, such as those of several seeds: every split of each counts.
    ///
    /// # Errors
    /// When there are none, or they were not made alike.
    pub fn gather(scores: Vec<Score>) -> Result<Score> {
        let several = scores.len();
        let mut scores = scores.into_iter();
        let Some(mut all) = scores.next() else {
            return Err(Error::setting("number of scores", 0, "at least 1"));
        };
        for score in scores {
            if (score.metric, &score.description, score.rows) != (all.metric, &all.description, all.rows) {
                let told = |score: &Score| format!("{} of {} rows, {}", score.metric, score.rows, score.description);
                return Err(Error::data("scores to gather", told(&score), told(&all)));
            }
            all.splits.extend(score.splits);
            all.notes.extend(score.notes);
        }
        all.notes.dedup();
        if several > 1 {
            all.description += &format!("; {several} sets of embeddings");
        }
        (all.mean, all.std) = mean_and_deviation(&all.values());
        Ok(all)
    }

    /// The metric on the test set of every split.
    pub fn values(&self) -> Vec<f64> {
        self.splits.iter().map(|split| split.value).collect()
    }
}

/// Mean and sample standard deviation; the latter is 0 for a single value.
///
/// ```
/// use fiedler_evaluate::mean_and_deviation;
/// assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
/// ```
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (values.len() - 1) as f64).sqrt())
}
