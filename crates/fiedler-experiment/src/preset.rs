//! Named protocols: ways of evaluating that the literature mixes and that are kept apart here.

use fiedler_evaluate::{Metric, Protocol, Settings, Target};

use crate::named::{Named, named};

named! {
    /// How runs are evaluated; tables of different protocols are never put into one.
    "protocol" ProtocolPreset {
        Random = "random": "10 % train, 10 % validation, 80 % test; every seed has a split of its own",
        Public = "public": "The split that was published with the data, the same for all seeds",
        Reference = "reference": "As the paper's program: its settings, one fixed split, embeddings of two drawn views, a probe trained by Adam",
        Folds = "folds": "Ten folds, even over classes; every seed has folds of its own",
    }
}

impl ProtocolPreset {
    /// Which splits a run is evaluated on.
    pub fn protocol(self) -> Protocol {
        match self {
            ProtocolPreset::Random => Protocol::Random { splits: 1, train: 0.1, validation: 0.1, stratified: false },
            ProtocolPreset::Public => Protocol::Public,
            ProtocolPreset::Reference => Protocol::Reference,
            ProtocolPreset::Folds => Protocol::KFOLD,
        }
    }

    /// Whether the split changes with the seed.
    pub fn divides_by_seed(self) -> bool {
        matches!(self, ProtocolPreset::Random | ProtocolPreset::Folds)
    }

    /// How the run of a seed is evaluated.
    pub fn evaluation(self, seed: u64, metric: Option<Metric>) -> Settings {
        let seed = if self.divides_by_seed() { seed } else { 0 };
        Settings { protocol: Some(self.protocol()), metric, seed, ..Settings::default() }
    }

    /// The protocol in words.
    pub fn describe(self, target: &Target) -> String {
        let protocol = match self {
            ProtocolPreset::Random => "a random split for each seed: 10 % train, 10 % validation, 80 % test".into(),
            ProtocolPreset::Folds => {
                "10-fold cross-validation, even over classes, folds of its own for each seed".into()
            }
            _ => self.protocol().describe(target),
        };
        let embeddings = match self {
            ProtocolPreset::Reference => "embeddings of two drawn views, side by side",
            _ => "embeddings of the graph as it is",
        };
        format!("{protocol}; {embeddings}")
    }

    /// The name, for files and reports.
    pub fn name(self) -> &'static str {
        Named::name(self)
    }
}
