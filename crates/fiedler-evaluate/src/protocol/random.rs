//! Random splits into train, validation and test.

use fiedler_graph::Split;
use serde::{Deserialize, Serialize};

use super::{Division, Protocol, divide, stratified_note};
use crate::error::{Error, Result};
use crate::target::Target;

/// Random splits: a share of the items to train, one for validation, the rest to test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomSplits {
    /// Number of splits.
    pub splits: usize,
    /// Share of training items.
    pub train: f64,
    /// Share of validation items; with none, hyperparameters are chosen by folds inside the training set.
    pub validation: f64,
    /// Stratified: every class is divided in these shares.
    pub stratified: bool,
}

impl Protocol {
    /// Ten random splits of 10 % train, 10 % validation and 80 % test.
    pub const RANDOM: Protocol = Protocol::Random(RandomSplits::DEFAULT);
}

impl RandomSplits {
    pub(super) const HELP: &str = "Ten random splits: 10 % train, 10 % validation, 80 % test";
    const DEFAULT: RandomSplits = RandomSplits { splits: 10, train: 0.1, validation: 0.1, stratified: false };
}

impl Default for RandomSplits {
    fn default() -> Self {
        RandomSplits::DEFAULT
    }
}

impl Division for RandomSplits {
    fn check(&self) -> Result<()> {
        if self.splits == 0 {
            return Err(Error::setting("number of splits", 0, "at least 1"));
        }
        if self.train > 0.0 && self.validation >= 0.0 && self.train + self.validation < 1.0 {
            return Ok(());
        }
        let found = format!("{} and {}", self.train, self.validation);
        let expected = "one above 0 and one that is not negative, whose sum is below 1";
        Err(Error::setting("share of train and validation", found, expected))
    }

    fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>> {
        let (items, labels) = (target.labelled(), Some(&target.labels).filter(|_| self.stratified));
        let shares = [self.train, self.validation];
        Ok((0..self.splits as u64)
            .map(|index| divide::divide(&items, shares, labels, (seed, "random", index)))
            .collect())
    }

    fn describe(&self, target: &Target) -> String {
        let percent = |share: f64| format!("{}", (1000.0 * share).round() / 10.0);
        let validation = match self.validation {
            0.0 => String::new(),
            share => format!("{} % validation, ", percent(share)),
        };
        format!(
            "{}: {} % train, {validation}{} % test{}",
            if self.splits == 1 { "one random split".into() } else { format!("{} random splits", self.splits) },
            percent(self.train),
            percent(1.0 - self.train - self.validation),
            stratified_note(self.stratified, target)
        )
    }

    fn with_splits(&self, splits: usize) -> Option<Protocol> {
        Some(RandomSplits { splits, ..*self }.into())
    }

    fn with_stratified(&self, stratified: bool) -> Option<Protocol> {
        Some(RandomSplits { stratified, ..*self }.into())
    }

    fn needs_validation(&self) -> bool {
        self.validation > 0.0
    }
}
