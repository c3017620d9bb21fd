//! The quick probe: one split, one linear probe, to see how well labels can be predicted from embeddings.
//!
//! It is no benchmark: `fiedler evaluate` has the protocols with several splits.

use fiedler_evaluate::{Metric, Protocol, Settings, Target, evaluate};
use fiedler_graph::{Classes, Dense, Split};
use fiedler_learn::Embeddings;
use fiedler_learn::data::Supervision;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::task::Task;

/// One split, even over classes; sets have few graphs, so most of them are trained on.
fn protocol(target: &Target) -> Protocol {
    let train = if target.graphs { 0.8 } else { 0.1 };
    Protocol::Random { splits: 1, train, validation: 0.1, stratified: true }
}

/// How well labels can be predicted from an embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeScore {
    /// What was embedded.
    pub of: String,
    /// What is measured.
    pub metric: Metric,
    /// The metric on the test part.
    pub value: f64,
    /// How it was come by.
    pub protocol: String,
    /// How many items the test part has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tested: Option<usize>,
}

/// Labels with a split of them.
pub struct QuickProbe<'a> {
    target: &'a Target,
    split: Split,
    settings: Settings,
}

impl<'a> QuickProbe<'a> {
    /// None where there are no labels of what is embedded, or too few for a split.
    pub fn new(task: &'a Task, seed: u64) -> Option<QuickProbe<'a>> {
        let dataset = &task.dataset;
        let of_nodes = dataset.graphs.len() == 1 && dataset.node_labels.is_some();
        if !of_nodes && dataset.graph_labels.is_none() {
            return None;
        }
        let target = task.labelled()?;
        let protocol = protocol(target);
        let split = protocol.splits(target, seed).ok()?.pop()?;
        Some(QuickProbe { target, split, settings: Settings { protocol: Some(protocol), seed, ..Settings::default() } })
    }

    /// The labels for an encoder that learns from them: the same that a probe is trained on.
    pub fn supervision(&self) -> Option<Supervision<'_>> {
        Some(Supervision { classes: self.target.labels.classes()?, split: &self.split })
    }

    /// What a linear probe makes of embeddings.
    ///
    /// # Errors
    /// When the rows are not those of the labels.
    pub fn score(&self, of: &str, embeddings: &Embeddings) -> Result<ProbeScore> {
        let score = evaluate(&dense(embeddings)?, self.target, &self.settings, &|_| true)?;
        let tested = Some(self.split.test.len());
        Ok(ProbeScore { of: of.into(), metric: score.metric, value: score.mean, protocol: score.description, tested })
    }

    /// Accuracy of class scores, one column a class, on the same test part.
    pub fn score_of_classes(&self, of: &str, scores: &Embeddings) -> Option<ProbeScore> {
        let value = accuracy(self.target.labels.classes()?, &self.split.test, scores);
        let protocol = protocol(self.target).describe(self.target);
        let tested = Some(self.split.test.len());
        Some(ProbeScore { of: of.into(), metric: Metric::Accuracy, value, protocol, tested })
    }
}

/// Accuracy: the share of the items for which the class of the highest score is the right one.
pub(crate) fn accuracy(classes: &Classes, items: &[u32], scores: &Embeddings) -> f64 {
    let answer = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
    let right =
        |&&item: &&u32| answer(scores.row(item as usize)) == classes.of()[item as usize].map(|class| class as usize);
    items.iter().filter(right).count() as f64 / items.len() as f64
}

/// Embeddings as the evaluation takes them.
pub(crate) fn dense(embeddings: &Embeddings) -> Result<Dense> {
    Ok(Dense::new(embeddings.rows(), embeddings.columns(), embeddings.values().to_vec())?)
}
