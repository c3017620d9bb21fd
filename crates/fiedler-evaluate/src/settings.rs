//! Settings of an evaluation, and what they come to for given labels.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::evaluate::checks;
use crate::metric::Metric;
use crate::probe::Probe;
use crate::protocol::Protocol;
use crate::scaling::Scaling;
use crate::target::Target;

/// Settings of an evaluation. What is left out is what the field does with such labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Protocol: which items are train, validation and test. Without it [`Protocol::usual`].
    pub protocol: Option<Protocol>,
    /// Probe with its settings. Without it [`Probe::usual`].
    pub probe: Option<Probe>,
    /// Metric. Without it [`Metric::usual`].
    pub metric: Option<Metric>,
    /// Scalings to choose from on validation. Without them those of the probe: [`DEFAULT_SCALING`](crate::DEFAULT_SCALING), and none at
    /// all for the probe `adam`.
    pub scaling: Option<Vec<Scaling>>,
    /// Folds inside the training set to choose hyperparameters by, where a split has no validation set.
    pub inner_folds: usize,
    /// Training items that probes are fitted to at most, over all splits and inner folds: of more splits than that, the first ones are
    /// evaluated, at least one. Without it, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_train_items: Option<usize>,
    /// Resamples of the bootstrap over test items, by which every split has an interval; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub bootstrap: usize,
    /// Seed of random splits.
    pub seed: u64,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        EvaluationSettings {
            protocol: None,
            probe: None,
            metric: None,
            scaling: None,
            inner_folds: 5,
            max_train_items: None,
            bootstrap: 0,
            seed: 0,
        }
    }
}

/// Settings that are complete and checked.
pub(crate) struct Plan {
    pub(crate) protocol: Protocol,
    pub(crate) probe: Probe,
    pub(crate) metric: Metric,
    pub(crate) scaling: Vec<Scaling>,
}

impl EvaluationSettings {
    /// Checks the settings against labels, before anything is computed.
    ///
    /// # Errors
    /// When a setting is out of its range, or metric or probe do not fit the labels.
    pub fn check(&self, target: &Target) -> Result<()> {
        self.plan(target).map(drop)
    }

    /// Checks also that the labels suffice for every split, before there are embeddings.
    ///
    /// # Errors
    /// As [`EvaluationSettings::check`]; and when there is nothing to tell apart in the training set of a split, or a part is empty.
    pub fn check_splits(&self, target: &Target) -> Result<()> {
        let plan = self.plan(target)?;
        let splits = plan.protocol.splits(target, self.seed)?;
        checks::check_labels(target)?;
        checks::check_splits(&plan, &splits, target)
    }

    pub(crate) fn plan(&self, target: &Target) -> Result<Plan> {
        if self.inner_folds < 2 {
            return Err(Error::setting("inner_folds", self.inner_folds, "at least 2"));
        }
        let metric = self.metric.unwrap_or_else(|| Metric::usual(&target.labels));
        metric.check(&target.labels)?;
        let protocol = self.protocol.unwrap_or_else(|| Protocol::usual(target));
        protocol.check()?;
        let probe = self.probe.clone().unwrap_or_else(|| Probe::usual(&protocol, &target.labels));
        probe.check(&target.labels)?;
        let scaling = self.scaling.clone().unwrap_or_else(|| probe.scaling().to_vec());
        if scaling.is_empty() {
            let expected = format!("at least one of {}", Scaling::NAMES.join(", "));
            return Err(Error::setting("scaling", "empty", expected));
        }
        Ok(Plan { protocol, probe, metric, scaling })
    }
}
