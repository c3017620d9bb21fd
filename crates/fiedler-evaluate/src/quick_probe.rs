//! Quick probe: a first look at embeddings by the protocol that is usual for their labels, within a bound of time.

use fiedler_graph::{Classes, Dataset, Dense, Observer, Split};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::evaluate::evaluate;
use crate::metric::{Metric, top1_accuracy};
use crate::probe::{DEFAULT_CS, SCORED_AT_ONCE};
use crate::protocol::{Protocol, RandomSplits};
use crate::scaling::DEFAULT_SCALING;
use crate::settings::EvaluationSettings;
use crate::target::Target;

/// Training items that the probes of one score are fitted to at most, over splits and folds.
const MAX_TRAIN_ITEMS: usize = 100_000;
/// Values of these items at most, where features, which embeddings are compared with, have many columns.
const MAX_TRAIN_VALUES: usize = 60_000_000;
/// Copies of the training rows: as gathered, scaled, and centred for the solver.
const COPIES_OF_TRAIN: f64 = 3.0;
/// Matrices of inner products, and their decompositions.
const COPIES_OF_GRAM: f64 = 4.0;
/// Labels of which a share of 10 % is too small to say anything.
const FEW_LABELS: usize = 20;

/// Quick probe of embeddings: what [`evaluate`] does with labels of this kind, as long as that does not take long.
///
/// ```
/// use fiedler_evaluate::QuickProbe;
/// use fiedler_graph::{NoObserver, generate};
///
/// let dataset = generate::citation(0);
/// let probe = QuickProbe::new(&dataset, 0).expect("labels");
/// let score = probe.score("raw features", &dataset.features.as_ref().expect("features").to_dense(), &NoObserver)?;
/// assert!(score.value > 0.3 && score.splits == 1, "the split that came with the data");
/// # Ok::<(), fiedler_evaluate::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuickProbe {
    target: Target,
    protocol: Protocol,
    /// The one split of a probe that shares it with a supervised encoder.
    split: Option<Split>,
    max_train_items: usize,
    seed: u64,
}

/// Score of a quick probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuickScore {
    /// What was embedded.
    pub of: String,
    /// What is measured.
    pub metric: Metric,
    /// The metric on the test set, in the mean over splits.
    pub value: f64,
    /// Sample standard deviation over splits, where there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub std: Option<f64>,
    /// Number of splits.
    #[serde(default = "one")]
    pub splits: usize,
    /// Protocol and probe in words.
    pub protocol: String,
    /// Number of test items, where there is one split.
    #[serde(alias = "tested", skip_serializing_if = "Option::is_none", default)]
    pub test_items: Option<usize>,
}

/// The number of splits of scores that say nothing of it.
fn one() -> usize {
    1
}

impl QuickProbe {
    /// The quick probe of a dataset, by the protocol that is usual for its labels; `None` where what is embedded has no labels.
    ///
    /// Nodes are embedded of a single graph with labels of nodes, else graphs.
    pub fn new(dataset: &Dataset, seed: u64) -> Option<QuickProbe> {
        let target = target(dataset)?;
        let protocol = Protocol::usual(&target);
        let columns = dataset.feature_columns().map_or(1, |columns| columns.max(1));
        // The same splits for all that is compared, whatever its columns.
        let max_train_items = MAX_TRAIN_ITEMS.min(MAX_TRAIN_VALUES / columns);
        Some(QuickProbe { target, protocol, split: None, max_train_items, seed })
    }

    /// The quick probe that shares one split with an encoder which is trained with labels; `None` where what is embedded has no labels,
    /// or too few for a split.
    pub fn one_split(dataset: &Dataset, seed: u64) -> Option<QuickProbe> {
        QuickProbe::of_target(target(dataset)?, seed).ok()
    }

    /// The quick probe of labels by one stratified split. Of nodes 10 % train, of graphs 80 %, since sets have few of them; 10 % are
    /// validation.
    ///
    /// # Errors
    /// When there is no split.
    pub fn of_target(target: Target, seed: u64) -> Result<QuickProbe> {
        let train = if target.graphs { 0.8 } else { 0.1 };
        let protocol: Protocol = RandomSplits { splits: 1, train, validation: 0.1, stratified: true }.into();
        let split = protocol.splits(&target, seed)?.pop();
        let split = split.ok_or_else(|| Error::data("quick probe", "no split", "one"))?;
        Ok(QuickProbe { target, protocol, split: Some(split), max_train_items: MAX_TRAIN_ITEMS, seed })
    }

    /// The labels that are predicted.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The split that an encoder trained with labels shares, where there is one.
    pub fn split(&self) -> Option<&Split> {
        self.split.as_ref()
    }

    /// Supervision: classes and split for an encoder that is trained with labels, the same that a probe is fitted to. `None` where
    /// labels are not classes, or the probe has no split to share.
    pub fn supervision(&self) -> Option<(&Classes, &Split)> {
        Some((self.target.labels.classes()?, self.split()?))
    }

    /// Settings of the evaluation.
    pub fn settings(&self) -> EvaluationSettings {
        EvaluationSettings {
            protocol: Some(self.protocol),
            max_train_items: Some(self.max_train_items),
            seed: self.seed,
            ..Default::default()
        }
    }

    /// Bytes that judging embeddings of so many rows and columns holds at once, by an estimate; the embeddings themselves are among them.
    pub fn memory(&self, rows: usize, columns: usize) -> u64 {
        let splits = self.protocol.splits(&self.target, self.seed).unwrap_or_default();
        let train = splits.iter().map(|split| split.train.len()).max().unwrap_or(rows) as f64;
        let parallel = match splits.iter().any(|split| split.validation.is_empty()) {
            true => splits.len() * self.settings().inner_folds,
            false => splits.len(),
        };
        let threads = rayon::current_num_threads().min(parallel).max(1) as f64;
        let outputs = self.target.labels.classes().map_or(1, Classes::count);
        let models = (DEFAULT_SCALING.len() * DEFAULT_CS.len() * outputs) as f64;
        let (rows, columns) = (rows as f64, columns as f64);
        let of_thread = COPIES_OF_TRAIN * train * columns
            + COPIES_OF_GRAM * train.min(columns).powi(2)
            + (SCORED_AT_ONCE as f64).min(rows) * columns
            + models * columns;
        let (single, double) = (4.0, 8.0);
        (single * rows * columns + double * threads * of_thread) as u64
    }

    /// What a probe makes of embeddings.
    ///
    /// # Errors
    /// Those of [`evaluate`].
    pub fn score(&self, of: &str, embeddings: &Dense, observer: &dyn Observer) -> Result<QuickScore> {
        let score = evaluate(embeddings, &self.target, &self.settings(), observer)?;
        let only = match score.splits.as_slice() {
            [only] => Some(only.test_items),
            _ => None,
        };
        Ok(QuickScore {
            of: of.into(),
            metric: score.metric,
            value: score.mean,
            std: only.is_none().then_some(score.std),
            splits: score.splits.len(),
            protocol: score.description,
            test_items: only,
        })
    }

    /// Top-1 accuracy of an encoder's own scores, one a class, on the test set of the split that it shares. `None` where labels are not
    /// classes, the scores do not have a row for each of them, or no split is shared.
    pub fn score_predictions(&self, of: &str, scores: &Dense) -> Option<QuickScore> {
        let classes = self.target.labels.classes().filter(|classes| classes.of().len() == scores.rows())?;
        let test = &self.split()?.test;
        Some(QuickScore {
            of: of.into(),
            metric: Metric::Accuracy,
            value: top1_accuracy(classes, test, scores)?,
            std: None,
            splits: 1,
            protocol: self.protocol.describe(&self.target),
            test_items: Some(test.len()),
        })
    }

    /// Why embeddings could not be judged, in a sentence: too few labels, where that is what the error comes from.
    pub fn why_not(&self, error: &Error) -> String {
        let items = self.target.items();
        let labelled = self.target.labelled().len();
        let mut smallest = None;
        if let Some(classes) = self.target.labels.classes() {
            let mut sizes = vec![0usize; classes.count()];
            classes.of().iter().flatten().for_each(|&class| sizes[class as usize] += 1);
            let present = sizes.into_iter().zip(classes.names()).filter(|(size, _)| *size > 0);
            let present: Vec<_> = present.collect();
            if let [(size, name)] = present.as_slice() {
                return format!("too few labels to judge by: all {size} are of class {name:?}");
            }
            smallest = present.into_iter().min_by_key(|(size, _)| *size);
        }
        match smallest {
            Some((1, name)) => format!("too few labels to judge by: class {name:?} has 1 member"),
            _ if labelled < FEW_LABELS => {
                format!(
                    "too few labels to judge by: {labelled} {items}{} a label",
                    if labelled == 1 { " has" } else { "s have" }
                )
            }
            _ => format!("not judged: {}", error.in_one_line()),
        }
    }
}

fn target(dataset: &Dataset) -> Option<Target> {
    let of_nodes = dataset.graphs.len() == 1 && dataset.node_labels.is_some();
    if !of_nodes && dataset.graph_labels.is_none() {
        return None;
    }
    Target::of(dataset).ok()
}
