//! Presets: the protocols by which results over several seeds are reported.

use super::{Protocol, RandomSplits};
use crate::list::named_enum;
use crate::metric::Metric;
use crate::probe::{LinearSvmSettings, LogisticSettings, Probe, SvmSettings};
use crate::scaling::Scaling;
use crate::settings::EvaluationSettings;
use crate::target::Target;

/// Random splits of each seed. A single split moves the accuracy on Cora by 0.6 to 0.9 points.
const RANDOM_SPLITS: usize = 20;
/// Resamples of test molecules.
const BOOTSTRAP: usize = 1000;

named_enum! {
    /// Preset of a protocol for results over several seeds, each with a run of its own. The literature mixes them; a table here never
    /// does.
    ///
    /// ```
    /// use fiedler_evaluate::{Protocol, ProtocolPreset};
    ///
    /// let preset: ProtocolPreset = "folds".parse()?;
    /// assert_eq!((preset.name(), preset.protocol()), ("kfold", Protocol::KFOLD));
    /// assert_eq!(preset.evaluation(7, None).seed, 7);
    /// assert_eq!(ProtocolPreset::Public.evaluation(7, None).seed, 0);
    /// # Ok::<(), fiedler_evaluate::Error>(())
    /// ```
    pub enum ProtocolPreset as "protocol preset" {
        /// 20 random splits for each seed, the same for all methods: 10 % train, 10 % validation, 80 % test
        "random" => Random,
        /// As GRACE and GBT: 20 random splits for each seed, 10 % train, 90 % test; rows of length one, C by folds inside the training set
        "random-10-90" => Random1090,
        /// As BGRL: 20 random splits for each seed, 20 % train, 80 % test; rows of length one, C by folds inside the training set
        "random-20-80" => Random2080,
        /// The split that was published with the data, the same for all seeds
        "public" => Public,
        /// As the paper's program: its settings, one fixed split, embeddings of two drawn views, a probe trained by Adam
        "reference" => Reference,
        /// Ten stratified folds; every seed has folds of its own
        "kfold" | "folds" => Kfold,
        /// As kfold, with a support vector machine with a Gaussian kernel on embeddings as they are: InfoGraph, GraphCL, JOAO, GraphMAE
        "kfold-svm" => KfoldSvm,
        /// As kfold, with a linear support vector machine on standardized embeddings: MVGRL, AD-GCL
        "kfold-linear-svm" => KfoldLinearSvm,
        /// The split by scaffolds that came with molecules, with intervals by the bootstrap over test molecules
        "scaffold" => Scaffold,
    }
}

impl ProtocolPreset {
    /// The protocol that a run is evaluated by.
    pub fn protocol(self) -> Protocol {
        match self {
            ProtocolPreset::Random => random(RandomSplits::default()),
            ProtocolPreset::Random1090 => random(RandomSplits { validation: 0.0, ..Default::default() }),
            ProtocolPreset::Random2080 => random(RandomSplits { train: 0.2, validation: 0.0, ..Default::default() }),
            ProtocolPreset::Public => Protocol::PUBLIC,
            ProtocolPreset::Reference => Protocol::REFERENCE,
            ProtocolPreset::Kfold | ProtocolPreset::KfoldSvm | ProtocolPreset::KfoldLinearSvm => Protocol::KFOLD,
            ProtocolPreset::Scaffold => Protocol::SCAFFOLD,
        }
    }

    /// The probe that belongs to it, where that is not what is usual for the labels.
    fn probe(self) -> Option<Probe> {
        match self {
            ProtocolPreset::KfoldSvm => Some(SvmSettings::default().into()),
            ProtocolPreset::KfoldLinearSvm => Some(LinearSvmSettings::default().into()),
            _ => self.largest_c().map(powers_of_two),
        }
    }

    /// The largest power of two among the values of C, where the preset has its own; rows have length one then.
    fn largest_c(self) -> Option<i32> {
        match self {
            ProtocolPreset::Random1090 => Some(9),
            ProtocolPreset::Random2080 => Some(10),
            _ => None,
        }
    }

    /// Test items over training items of a split, where all splits have the same.
    pub fn test_to_train(self) -> Option<f64> {
        match self {
            ProtocolPreset::Kfold | ProtocolPreset::KfoldSvm | ProtocolPreset::KfoldLinearSvm => Some(1.0 / 9.0),
            ProtocolPreset::Random => Some(8.0),
            ProtocolPreset::Random1090 => Some(9.0),
            ProtocolPreset::Random2080 => Some(4.0),
            ProtocolPreset::Public | ProtocolPreset::Reference | ProtocolPreset::Scaffold => None,
        }
    }

    /// Whether every split of a seed counts by itself, or only their mean, as that of the folds of a cross-validation.
    pub fn counts_splits(self) -> bool {
        matches!(self, ProtocolPreset::Random | ProtocolPreset::Random1090 | ProtocolPreset::Random2080)
    }

    /// Whether the splits change with the seed.
    pub fn divides_by_seed(self) -> bool {
        self.test_to_train().is_some()
    }

    /// Settings by which the run of a seed is evaluated.
    pub fn evaluation(self, seed: u64, metric: Option<Metric>) -> EvaluationSettings {
        let seed = if self.divides_by_seed() { seed } else { 0 };
        let bootstrap = if self == ProtocolPreset::Scaffold { BOOTSTRAP } else { 0 };
        EvaluationSettings {
            protocol: Some(self.protocol()),
            probe: self.probe(),
            scaling: self.largest_c().map(|_| vec![Scaling::L2Rows]),
            metric,
            bootstrap,
            seed,
            ..Default::default()
        }
    }

    /// The preset in words.
    pub fn describe(self, target: &Target) -> String {
        let protocol = match self {
            _ if self.counts_splits() => {
                self.protocol().describe(target).replace("random splits", "random splits for each seed")
            }
            ProtocolPreset::Kfold | ProtocolPreset::KfoldSvm | ProtocolPreset::KfoldLinearSvm => {
                "10-fold cross-validation, stratified, folds of its own for each seed".into()
            }
            _ => self.protocol().describe(target),
        };
        let embeddings = match self {
            ProtocolPreset::Reference => "embeddings of two drawn views, side by side",
            _ => "embeddings of the graph as it is",
        };
        match (self.largest_c(), self.probe()) {
            (Some(largest), _) => format!("{protocol}; {embeddings}; rows of length one, C from 2^-10 to 2^{largest}"),
            (None, Some(probe)) => format!("{protocol}; {embeddings}; {}", probe.describe(target)),
            (None, None) => format!("{protocol}; {embeddings}"),
        }
    }
}

fn random(splits: RandomSplits) -> Protocol {
    RandomSplits { splits: RANDOM_SPLITS, ..splits }.into()
}

/// Logistic regression with C from 2⁻¹⁰ to a power of two: multinomial, where the programs have one model for each class.
fn powers_of_two(largest: i32) -> Probe {
    LogisticSettings { cs: (-10..=largest).map(|power| 2f64.powi(power)).collect(), ..Default::default() }.into()
}
