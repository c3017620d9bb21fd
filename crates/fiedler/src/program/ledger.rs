//! Ledgers: ways of judging that the literature mixes and that are kept apart here.

use clap::ValueEnum;
use fiedler_evaluate::{Metric, Protocol, Settings, Target};
use serde::{Deserialize, Serialize};

/// How runs are judged; tables of different ledgers are never put into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ledger {
    /// 10 % to learn from, 10 % to choose on, 80 % to test; every seed has a split of its own
    Random,
    /// The split that was published with the data, the same for all seeds
    Public,
    /// As the paper's program: its settings, one fixed split, embeddings of two drawn views, a probe trained by Adam
    Reference,
    /// Ten folds, even over classes; every seed has folds of its own
    Folds,
}

impl Ledger {
    /// Name for the command line, files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Ledger::Random => "random",
            Ledger::Public => "public",
            Ledger::Reference => "reference",
            Ledger::Folds => "folds",
        }
    }

    /// Which divisions a run is judged on.
    pub fn protocol(self) -> Protocol {
        match self {
            Ledger::Random => Protocol::Random { splits: 1, train: 0.1, validation: 0.1, stratified: false },
            Ledger::Public => Protocol::Public,
            Ledger::Reference => Protocol::Reference,
            Ledger::Folds => Protocol::KFOLD,
        }
    }

    /// Whether the division changes with the seed.
    pub fn divides_by_seed(self) -> bool {
        matches!(self, Ledger::Random | Ledger::Folds)
    }

    /// How the run of a seed is judged.
    pub fn evaluation(self, seed: u64, metric: Option<Metric>) -> Settings {
        let seed = if self.divides_by_seed() { seed } else { 0 };
        Settings { protocol: Some(self.protocol()), metric, seed, ..Settings::default() }
    }

    /// The ledger in words.
    pub fn describe(self, target: &Target) -> String {
        let protocol = match self {
            Ledger::Random => {
                "a random split for each seed: 10 % to learn from, 10 % to choose on, 80 % to test".into()
            }
            Ledger::Folds => "10-fold cross-validation, even over classes, folds of its own for each seed".into(),
            _ => self.protocol().describe(target),
        };
        let embeddings = match self {
            Ledger::Reference => "embeddings of two drawn views, side by side",
            _ => "embeddings of the graph as it is",
        };
        format!("{protocol}; {embeddings}")
    }
}
