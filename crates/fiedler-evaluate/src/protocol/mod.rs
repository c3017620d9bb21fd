//! Protocols: which items are train, validation and test.
//!
//! A protocol is one file with its settings, and one line in the list below. [`ProtocolPreset`] names the protocols by which the
//! literature reports results over several seeds.

mod divide;
mod kfold;
mod preset;
mod public;
mod random;
mod reference;
mod scaffold;

use fiedler_graph::{Classes, Labels, Split};

pub use kfold::KFold;
pub use preset::ProtocolPreset;
pub use public::PublicSplits;
pub use random::RandomSplits;
pub use reference::ReferenceSplit;
pub use scaffold::ScaffoldSplit;

use crate::error::{Error, Result};
use crate::list::listed_settings;
use crate::probe::Probe;
use crate::target::Target;

listed_settings! {
    /// Protocol: which items are train, validation and test.
    ///
    /// In settings it is a name, which stands for default settings, or a table:
    ///
    /// ```
    /// use fiedler_evaluate::Protocol;
    ///
    /// let protocol: Protocol = serde_json::from_str(r#"{"name": "random", "splits": 20}"#)?;
    /// assert_eq!(protocol, Protocol::RANDOM.with_splits(20)?);
    /// assert_eq!(serde_json::from_str::<Protocol>("\"kfold\"")?, Protocol::KFOLD);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Copy)]
    pub enum Protocol as "protocol", dyn Division {
        "public" => Public(PublicSplits),
        "scaffold" => Scaffold(ScaffoldSplit),
        "random" => Random(RandomSplits),
        "kfold" | "folds" => Kfold(KFold),
        "reference" => Reference(ReferenceSplit),
    }
}

/// What a protocol has to tell.
trait Division {
    /// # Errors
    /// When a setting is out of its range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The splits, of items that have labels.
    fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>>;

    /// The protocol in words.
    fn describe(&self, target: &Target) -> String;

    /// With another number of splits, where that is free.
    fn with_splits(&self, _: usize) -> Option<Protocol> {
        None
    }

    /// Dividing every class alike or not, where that is free.
    fn with_stratified(&self, _: bool) -> Option<Protocol> {
        None
    }

    /// Whether every split must have a validation set.
    fn needs_validation(&self) -> bool {
        false
    }

    /// The probe that belongs to the protocol, where it has its own.
    fn probe(&self) -> Option<Probe> {
        None
    }

    /// # Errors
    /// When classes are too small for it.
    fn check_classes(&self, _: &Classes) -> Result<()> {
        Ok(())
    }

    /// What a reader of the score should know about classes.
    fn note(&self, _: &Classes) -> Option<String> {
        None
    }
}

const MAKES_NO_SPLITS: &str = "only random and kfold make splits; the others take those there are";

impl Protocol {
    /// What the field does with data of this kind: the splits that came with it; else ten folds for graphs, random splits for nodes.
    pub fn usual(target: &Target) -> Protocol {
        match (target.splits.is_empty(), target.graphs) {
            (false, _) => Protocol::PUBLIC,
            (true, true) => Protocol::KFOLD,
            (true, false) => Protocol::RANDOM,
        }
    }

    /// The protocol of a name, or the usual one, with what is said of its splits.
    ///
    /// # Errors
    /// When there is no such protocol, or it makes no splits of its own and something is said of them.
    pub fn asked(
        name: Option<&str>,
        splits: Option<usize>,
        stratified: Option<bool>,
        target: &Target,
    ) -> Result<Protocol> {
        let mut protocol = name.map_or_else(|| Ok(Protocol::usual(target)), str::parse)?;
        if let Some(splits) = splits {
            protocol = protocol.with_splits(splits)?;
        }
        if let Some(stratified) = stratified {
            protocol = protocol.with_stratified(stratified)?;
        }
        Ok(protocol)
    }

    /// The same protocol with another number of splits or folds.
    ///
    /// # Errors
    /// When the protocol makes no splits of its own.
    pub fn with_splits(self, splits: usize) -> Result<Protocol> {
        self.settings().with_splits(splits).ok_or_else(|| {
            let expected = format!("none with the protocol {self}");
            Error::setting("number of splits", splits, expected).advise(MAKES_NO_SPLITS)
        })
    }

    /// The same protocol, stratified (every class divided in the same shares) or not.
    ///
    /// # Errors
    /// When the protocol makes no splits of its own.
    pub fn with_stratified(self, stratified: bool) -> Result<Protocol> {
        self.settings().with_stratified(stratified).ok_or_else(|| {
            let expected = format!("not to be set with the protocol {self}");
            Error::setting("stratified", stratified, expected).advise(MAKES_NO_SPLITS)
        })
    }

    /// The splits to evaluate, of items that have labels.
    ///
    /// # Errors
    /// When settings are out of range, no split came with the data, or there are too few items.
    pub fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>> {
        self.check()?;
        self.settings().splits(target, seed)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<()> {
        self.settings().check()
    }

    /// The protocol in words.
    pub fn describe(&self, target: &Target) -> String {
        self.settings().describe(target)
    }

    /// The probe that belongs to the protocol, where it has its own: that of the reference program.
    pub fn probe(&self) -> Option<Probe> {
        self.settings().probe()
    }

    pub(crate) fn needs_validation(&self) -> bool {
        self.settings().needs_validation()
    }

    pub(crate) fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.settings().check_classes(classes)
    }

    pub(crate) fn note(&self, classes: &Classes) -> Option<String> {
        self.settings().note(classes)
    }
}

/// Stratified folds of a training set, to choose a hyperparameter by.
pub(crate) fn inner_folds(train: &[u32], folds: usize, labels: &Labels, seed: u64, index: u64) -> Vec<Split> {
    divide::folds(train, folds, Some(labels), (seed, "inner", index))
}

/// A share of a training set, stratified.
pub(crate) fn share(train: &[u32], fraction: f64, labels: &Labels, key: (u64, &str, u64)) -> Vec<u32> {
    divide::share(train, fraction, labels, key)
}

/// `, stratified` or nothing, at the end of a description.
fn stratified_note(stratified: bool, target: &Target) -> &'static str {
    // Only classes can be divided alike.
    if stratified && target.labels.classes().is_some() { ", stratified" } else { "" }
}
