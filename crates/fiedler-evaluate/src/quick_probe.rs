//! Quick probe: one split and one probe, for a first look at embeddings. It is no benchmark: protocols have several splits.

use fiedler_graph::{Classes, Dataset, Dense, Observer, Split};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::evaluate::evaluate;
use crate::metric::{Metric, top1_accuracy};
use crate::protocol::{Protocol, RandomSplits};
use crate::score::Score;
use crate::settings::EvaluationSettings;
use crate::target::Target;

/// Quick probe of embeddings: labels with one stratified random split of them.
///
/// ```
/// use fiedler_evaluate::QuickProbe;
/// use fiedler_graph::{NoObserver, generate};
///
/// let dataset = generate::citation(0);
/// let probe = QuickProbe::new(&dataset, 0).expect("labels");
/// let score = probe.score("raw features", &dataset.features.as_ref().expect("features").to_dense(), &NoObserver)?;
/// assert!(score.value > 0.3 && score.test_items == Some(probe.split().test.len()));
/// # Ok::<(), fiedler_evaluate::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QuickProbe {
    target: Target,
    protocol: Protocol,
    split: Split,
    seed: u64,
}

/// Score of a quick probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuickScore {
    /// What was embedded.
    pub of: String,
    /// What is measured.
    pub metric: Metric,
    /// The metric on the test part.
    pub value: f64,
    /// Protocol and probe in words.
    pub protocol: String,
    /// Number of test items.
    #[serde(alias = "tested", skip_serializing_if = "Option::is_none", default)]
    pub test_items: Option<usize>,
}

impl QuickProbe {
    /// The quick probe of a dataset; `None` where what is embedded has no labels, or too few for a split.
    ///
    /// Nodes are embedded of a single graph with labels of nodes, else graphs.
    pub fn new(dataset: &Dataset, seed: u64) -> Option<QuickProbe> {
        let of_nodes = dataset.graphs.len() == 1 && dataset.node_labels.is_some();
        if !of_nodes && dataset.graph_labels.is_none() {
            return None;
        }
        QuickProbe::of_target(Target::of(dataset).ok()?, seed).ok()
    }

    /// The quick probe of labels. Of nodes 10 % train, of graphs 80 %, since sets have few of them; 10 % are validation.
    ///
    /// # Errors
    /// When there is no split.
    pub fn of_target(target: Target, seed: u64) -> Result<QuickProbe> {
        let train = if target.graphs { 0.8 } else { 0.1 };
        let protocol: Protocol = RandomSplits { splits: 1, train, validation: 0.1, stratified: true }.into();
        let split = protocol.splits(&target, seed)?.pop();
        let split = split.ok_or_else(|| Error::data("quick probe", "no split", "one"))?;
        Ok(QuickProbe { target, protocol, split, seed })
    }

    /// The labels that are predicted.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The split, which is also that of an encoder trained with labels.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// Supervision: classes and split for an encoder that is trained with labels, the same that a probe is fitted to. `None` where
    /// labels are not classes.
    pub fn supervision(&self) -> Option<(&Classes, &Split)> {
        Some((self.target.labels.classes()?, &self.split))
    }

    /// Settings of the evaluation.
    pub fn settings(&self) -> EvaluationSettings {
        EvaluationSettings { protocol: Some(self.protocol), seed: self.seed, ..Default::default() }
    }

    /// What a probe makes of embeddings.
    ///
    /// # Errors
    /// Those of [`evaluate`].
    pub fn score(&self, of: &str, embeddings: &Dense, observer: &dyn Observer) -> Result<QuickScore> {
        let Score { metric, mean, description, .. } = evaluate(embeddings, &self.target, &self.settings(), observer)?;
        Ok(self.quick_score(of, metric, mean, description))
    }

    /// Top-1 accuracy of an encoder's own scores, one a class, on the same test part. `None` where labels are not classes, or the
    /// scores do not have a row for each of them.
    pub fn score_predictions(&self, of: &str, scores: &Dense) -> Option<QuickScore> {
        let classes = self.target.labels.classes().filter(|classes| classes.of().len() == scores.rows())?;
        let value = top1_accuracy(classes, &self.split.test, scores)?;
        Some(self.quick_score(of, Metric::Accuracy, value, self.protocol.describe(&self.target)))
    }

    fn quick_score(&self, of: &str, metric: Metric, value: f64, protocol: String) -> QuickScore {
        QuickScore { of: of.into(), metric, value, protocol, test_items: Some(self.split.test.len()) }
    }
}
