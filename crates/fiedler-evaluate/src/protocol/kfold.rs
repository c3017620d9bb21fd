//! K-fold cross-validation.

use fiedler_graph::{Classes, Split};
use serde::{Deserialize, Serialize};

use super::{Division, Protocol, divide, stratified_note};
use crate::error::{Error, Result};
use crate::target::Target;

/// K-fold cross-validation: every fold is the test set once, and the others train; hyperparameters are chosen by folds inside the
/// training set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KFold {
    /// Number of folds.
    pub folds: usize,
    /// Stratified: every class is spread evenly over folds.
    pub stratified: bool,
}

impl Protocol {
    /// Ten stratified folds.
    pub const KFOLD: Protocol = Protocol::Kfold(KFold::DEFAULT);
}

impl KFold {
    pub(super) const HELP: &str =
        "Ten-fold cross-validation, stratified; hyperparameters are chosen by folds inside the training set";
    const DEFAULT: KFold = KFold { folds: 10, stratified: true };
}

impl Default for KFold {
    fn default() -> Self {
        KFold::DEFAULT
    }
}

impl Division for KFold {
    fn check(&self) -> Result<()> {
        match self.folds {
            0..2 => Err(Error::setting("number of folds", self.folds, "at least 2")),
            _ => Ok(()),
        }
    }

    fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>> {
        let items = target.labelled();
        if self.folds > items.len() {
            let found = format!("{} {}s with a label", items.len(), target.items());
            let error = Error::data("labels", found, format!("at least {}, one for each fold", self.folds));
            return Err(error.advise("ask for fewer folds"));
        }
        let labels = Some(&target.labels).filter(|_| self.stratified);
        Ok(divide::folds(&items, self.folds, labels, (seed, "fold", 0)))
    }

    fn describe(&self, target: &Target) -> String {
        format!("{}-fold cross-validation{}", self.folds, stratified_note(self.stratified, target))
    }

    fn with_splits(&self, splits: usize) -> Option<Protocol> {
        Some(KFold { folds: splits, ..*self }.into())
    }

    fn with_stratified(&self, stratified: bool) -> Option<Protocol> {
        Some(KFold { stratified, ..*self }.into())
    }

    /// As scikit-learn has it: some class must have a member for every fold.
    fn check_classes(&self, classes: &Classes) -> Result<()> {
        let largest = sizes(classes).into_iter().max().unwrap_or(0);
        if self.stratified && largest < self.folds {
            let found = format!("at most {largest} members a class");
            let error = Error::data("labels", found, format!("a class with a member for each of {} folds", self.folds));
            return Err(error.advise("ask for fewer folds"));
        }
        Ok(())
    }

    fn note(&self, classes: &Classes) -> Option<String> {
        let small = sizes(classes).into_iter().filter(|&size| size > 0 && size < self.folds).count();
        (self.stratified && small > 0).then(|| format!("{small} classes have fewer members than there are folds"))
    }
}

fn sizes(classes: &Classes) -> Vec<usize> {
    let mut sizes = vec![0; classes.count()];
    classes.of().iter().flatten().for_each(|&class| sizes[class as usize] += 1);
    sizes
}
