//! Protocols: what a probe learns from, what its setting is chosen on, what it is tested on.

mod divide;

use std::fmt;
use std::str::FromStr;

use fiedler_graph::{Labels, Split};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::target::Target;

/// Which divisions are used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Protocol {
    /// The splits that came with the data, all of them.
    Public,
    /// The split by scaffold that came with the data.
    Scaffold,
    /// Random divisions: a share to learn from, a share to choose on, the rest to test.
    Random {
        /// How many.
        splits: usize,
        /// Share to learn from.
        train: f64,
        /// Share to choose on.
        validation: f64,
        /// Whether every class is divided in these shares.
        stratified: bool,
    },
    /// Cross-validation: every fold is tested by what the others teach.
    Kfold {
        /// How many.
        folds: usize,
        /// Whether every class is divided evenly over folds.
        stratified: bool,
    },
    /// What the program behind the paper's printed numbers does: one fixed random split and a probe trained by Adam. Of nodes 10 % to
    /// learn from, 80 % to choose on, 10 % to test; of graphs 80, 10 and 10 %.
    Reference,
}

impl Protocol {
    /// Names of all protocols.
    pub const NAMES: [&'static str; 5] = ["public", "scaffold", "random", "kfold", "reference"];

    /// Ten random divisions of 10, 10 and 80 %.
    pub const RANDOM: Protocol = Protocol::Random { splits: 10, train: 0.1, validation: 0.1, stratified: false };
    /// Ten folds, even over classes.
    pub const KFOLD: Protocol = Protocol::Kfold { folds: 10, stratified: true };

    /// What the field does with data of this kind: the splits that came with it; else ten folds for graphs, random divisions for nodes.
    pub fn usual(target: &Target) -> Protocol {
        match (target.splits.is_empty(), target.graphs) {
            (false, _) => Protocol::Public,
            (true, true) => Protocol::KFOLD,
            (true, false) => Protocol::RANDOM,
        }
    }

    /// Name for the command line and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Public => "public",
            Protocol::Scaffold => "scaffold",
            Protocol::Random { .. } => "random",
            Protocol::Kfold { .. } => "kfold",
            Protocol::Reference => "reference",
        }
    }

    /// The same protocol with another number of splits or folds.
    ///
    /// # Errors
    /// When the number of splits is not ours to choose.
    pub fn with_splits(self, splits: usize) -> Result<Protocol> {
        match self {
            Protocol::Random { train, validation, stratified, .. } => {
                Ok(Protocol::Random { splits, train, validation, stratified })
            }
            Protocol::Kfold { stratified, .. } => Ok(Protocol::Kfold { folds: splits, stratified }),
            _ => Err(Error::setting("number of splits", splits, format!("none with the protocol {self}"))
                .advise("only random and kfold make splits; the others take those there are")),
        }
    }

    /// The same protocol, dividing every class alike or not.
    ///
    /// # Errors
    /// When the division is not ours to make.
    pub fn with_stratified(self, stratified: bool) -> Result<Protocol> {
        match self {
            Protocol::Random { splits, train, validation, .. } => {
                Ok(Protocol::Random { splits, train, validation, stratified })
            }
            Protocol::Kfold { folds, .. } => Ok(Protocol::Kfold { folds, stratified }),
            _ => Err(Error::setting("stratified", stratified, format!("not to be set with the protocol {self}"))
                .advise("only random and kfold make splits; the others take those there are")),
        }
    }

    /// The splits to evaluate, of items that have labels.
    ///
    /// # Errors
    /// When settings are out of range, no split came with the data, or there are too few items.
    pub fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>> {
        self.check()?;
        let items = target.labelled();
        let even_over = |stratified: bool| Some(&target.labels).filter(|_| stratified);
        match *self {
            Protocol::Public => target.given(|_| true, "no splits came with the labels"),
            Protocol::Scaffold => {
                target.given(|split| split.name == "scaffold", "no split by scaffold came with the labels")
            }
            Protocol::Random { splits, train, validation, stratified } => Ok((0..splits as u64)
                .map(|index| {
                    divide::divide(&items, [train, validation], even_over(stratified), (seed, "random", index))
                })
                .collect()),
            Protocol::Kfold { folds, stratified } => {
                if folds > items.len() {
                    let problem = format!("{} labelled items cannot be divided into {folds} folds", items.len());
                    return Err(Error::data(problem).advise("ask for fewer with --splits"));
                }
                Ok(divide::folds(&items, folds, even_over(stratified), (seed, "fold", 0)))
            }
            Protocol::Reference => {
                let shares = if target.graphs { [0.8, 0.1] } else { [0.1, 0.8] };
                Ok(vec![divide::divide(&items, shares, None, (seed, "reference", 0))])
            }
        }
    }

    fn check(&self) -> Result<()> {
        match *self {
            Protocol::Random { splits: 0, .. } => Err(Error::setting("number of splits", 0, "at least 1")),
            Protocol::Random { train, validation, .. } => {
                let inside = |share: f64| share > 0.0 && share < 1.0;
                if inside(train) && inside(validation) && train + validation < 1.0 {
                    return Ok(());
                }
                let found = format!("{train} and {validation}");
                Err(Error::setting("shares to learn from and to choose on", found, "two above 0 whose sum is below 1"))
            }
            Protocol::Kfold { folds: folds @ 0..2, .. } => Err(Error::setting("number of folds", folds, "at least 2")),
            _ => Ok(()),
        }
    }

    /// The protocol in words.
    pub fn describe(&self, target: &Target) -> String {
        let evenly = |stratified: bool| if stratified { ", even over classes" } else { "" };
        let percent = |share: f64| format!("{}", (1000.0 * share).round() / 10.0);
        match *self {
            Protocol::Public if target.splits.len() == 1 => "the split that came with the data".into(),
            Protocol::Public => format!("the {} splits that came with the data", target.splits.len()),
            Protocol::Scaffold => "the split by scaffold that came with the data".into(),
            Protocol::Random { splits, train, validation, stratified } => format!(
                "{}: {} % to learn from, {} % to choose on, {} % to test{}",
                if splits == 1 { "one random split".into() } else { format!("{splits} random splits") },
                percent(train),
                percent(validation),
                percent(1.0 - train - validation),
                evenly(stratified)
            ),
            Protocol::Kfold { folds, stratified } => format!("{folds}-fold cross-validation{}", evenly(stratified)),
            Protocol::Reference => {
                let shares = if target.graphs {
                    "80 % to learn from, 10 % to choose on"
                } else {
                    "10 % to learn from, 80 % to choose on"
                };
                format!("the reference program's: one random split, {shares}, 10 % to test")
            }
        }
    }
}

/// Folds of what may be learnt from, over classes evenly, to choose a setting by.
pub(crate) fn inner_folds(train: &[u32], folds: usize, labels: &Labels, seed: u64, index: u64) -> Vec<Split> {
    divide::folds(train, folds, Some(labels), (seed, "inner", index))
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Protocol {
    type Err = Error;

    /// A protocol by its name, with its usual settings.
    fn from_str(name: &str) -> Result<Protocol> {
        match name {
            "public" => Ok(Protocol::Public),
            "scaffold" => Ok(Protocol::Scaffold),
            "random" => Ok(Protocol::RANDOM),
            "kfold" => Ok(Protocol::KFOLD),
            "reference" => Ok(Protocol::Reference),
            _ => Err(fiedler_graph::Error::unknown_name("protocol", name, Protocol::NAMES).into()),
        }
    }
}
