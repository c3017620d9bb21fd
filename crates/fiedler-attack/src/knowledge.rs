//! What an attacker knows beside the graph.

use fiedler_graph::{Classes, Features, Labels, Split};

use crate::error::{Error, Result};

/// Knowledge: what an attack may use beside the edges. Nothing else reaches it.
///
/// DICE sees the classes of all nodes, Mettack and its relatives only those of the training nodes, GF-Attack none: attacks are not
/// ranked as if they knew the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct Knowledge<'a> {
    /// Node features; without them, every node has a feature of its own.
    pub features: Option<&'a Features>,
    /// Classes of nodes. What an attack reads of them is told by [`AttackSettings::knows`](crate::AttackSettings::knows).
    pub labels: Option<&'a Labels>,
    /// The split that the victim will be trained on.
    pub split: Option<&'a Split>,
}

/// Which labels an attack reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// None: edges, and features perhaps.
    NoLabels,
    /// Those of training nodes.
    TrainingLabels,
    /// Those of all nodes, also of the ones that are tested.
    AllLabels,
}

impl Known {
    /// In words, for reports.
    pub fn in_words(self) -> &'static str {
        match self {
            Known::NoLabels => "no labels",
            Known::TrainingLabels => "labels of training nodes",
            Known::AllLabels => "labels of all nodes",
        }
    }
}

/// Classes of the training nodes, and nothing of the others.
#[derive(Debug, Clone)]
pub(crate) struct TrainingLabels {
    /// Training nodes, ascending.
    pub nodes: Vec<u32>,
    /// Their classes.
    pub classes: Vec<u32>,
    /// Number of classes.
    pub count: usize,
}

impl Knowledge<'_> {
    /// The classes of all nodes.
    pub(crate) fn classes(&self, attack: &'static str, nodes: usize) -> Result<&Classes> {
        let hint = "give a dataset whose nodes have classes, or the file of them with --labels";
        let classes = self.labels.and_then(Labels::classes);
        let classes = classes.ok_or(Error::Knowledge { attack, what: "the classes of nodes", hint })?;
        match classes.of().len() == nodes {
            true => Ok(classes),
            false => {
                Err(Error::setting("number of labels", classes.of().len(), format!("one for each of {nodes} nodes")))
            }
        }
    }

    /// The classes of training nodes.
    pub(crate) fn training_labels(&self, attack: &'static str, nodes: usize) -> Result<TrainingLabels> {
        let classes = self.classes(attack, nodes)?;
        let hint = "name a split with --split";
        let split = self.split.ok_or(Error::Knowledge { attack, what: "the nodes that train", hint })?;
        split.check(nodes)?;
        let mut labelled: Vec<(u32, u32)> = Vec::with_capacity(split.train.len());
        labelled.extend(split.train.iter().filter_map(|&node| Some((node, classes.of()[node as usize]?))));
        labelled.sort_unstable();
        if labelled.is_empty() || labelled.len() == nodes {
            let message = format!("{} of {nodes} nodes train", labelled.len());
            let hint = "the attack trains on some nodes and attacks the predictions of the others".into();
            return Err(Error::Unsuitable { message, hint });
        }
        let (nodes, classes_of) = labelled.into_iter().unzip();
        Ok(TrainingLabels { nodes, classes: classes_of, count: classes.count() })
    }
}
