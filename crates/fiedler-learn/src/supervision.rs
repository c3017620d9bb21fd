//! Labels to learn from.

use std::sync::Arc;

use fiedler_graph::{Labels, Split};

use crate::data::Data;
use crate::error::{Error, Result, check_size};
use crate::sample::Loaded;
use crate::task::{Target, TaskLevel};

/// Labels to learn from, and which of them may be used for what.
#[derive(Debug, Clone, Copy)]
pub struct Supervision<'a> {
    /// The labels of each node, or of each graph of a set.
    pub labels: &'a Labels,
    /// The training set is learned from, the validation set says when to stop; the test set is never looked at.
    pub split: &'a Split,
}

/// What is known of the rows of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchLabels {
    /// Nodes, or graphs, by their rows in the step.
    pub rows: Vec<u32>,
    /// What is known of each of these rows.
    pub values: LabelValues,
    /// What an item must count so that classes count alike, by the frequencies in the training set: one weight for each class, or two for
    /// each yes-or-no label, of no and of yes; none of real values.
    pub balance: Arc<[f32]>,
}

/// Labels of some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelValues {
    /// One class a row.
    Classes(Vec<u32>),
    /// Row after row of yes-or-no labels; missing ones are `None`.
    MultiLabel(Vec<Option<bool>>),
    /// Row after row of real values; missing ones are `None`.
    Regression(Vec<Option<f32>>),
}

/// A part of the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Train,
    Validation,
}

impl Supervision<'_> {
    /// Checks that labels and parts fit the data.
    ///
    /// # Errors
    /// When they do not, or there is nothing to learn from.
    pub fn check(&self, data: &Data<'_>) -> Result<()> {
        let items = match data.level() {
            TaskLevel::Nodes => data.graphs().num_nodes(),
            TaskLevel::Graphs => data.graphs().len(),
        };
        check_size("list of labels", self.labels.len(), items)?;
        self.split.check(items)?;
        if self.known(Part::Train).is_empty() {
            return Err(Error::setting("labels to learn from", 0, "at least 1"));
        }
        Ok(())
    }

    /// What the labels say.
    pub fn target(&self) -> Target {
        Target::of(self.labels)
    }

    /// Those of a part of which something is known.
    pub(crate) fn known(&self, part: Part) -> Vec<u32> {
        let part = match part {
            Part::Train => &self.split.train,
            Part::Validation => &self.split.validation,
        };
        part.iter().copied().filter(|&item| self.is_known(item)).collect()
    }

    fn is_known(&self, item: u32) -> bool {
        let item = item as usize;
        match self.labels {
            Labels::Classes(classes) => classes.of()[item].is_some(),
            Labels::MultiLabel(tasks) => tasks.row(item).iter().any(Option::is_some),
            Labels::Regression(values) => values.row(item).iter().any(Option::is_some),
        }
    }

    /// What is known of the rows of a step: of one graph all nodes of the part, of a batch each graph.
    pub(crate) fn of_step(
        &self,
        loaded: &Loaded<'_>,
        level: TaskLevel,
        part: Part,
        balance: &Arc<[f32]>,
    ) -> BatchLabels {
        let (rows, items): (Vec<u32>, Vec<u32>) = match level {
            TaskLevel::Nodes => self.known(part).into_iter().map(|node| (node, node)).unzip(),
            TaskLevel::Graphs => {
                let each = loaded.graphs().iter().enumerate().map(|(row, &graph)| (row as u32, graph as u32));
                each.filter(|&(_, graph)| self.is_known(graph)).unzip()
            }
        };
        let items = items.iter().map(|&item| item as usize);
        let values = match self.labels {
            Labels::Classes(classes) => LabelValues::Classes(items.filter_map(|item| classes.of()[item]).collect()),
            Labels::MultiLabel(tasks) => {
                LabelValues::MultiLabel(items.flat_map(|item| tasks.row(item)).copied().collect())
            }
            Labels::Regression(values) => {
                LabelValues::Regression(items.flat_map(|item| values.row(item)).copied().collect())
            }
        };
        BatchLabels { rows, values, balance: Arc::clone(balance) }
    }

    /// `items / (classes · items of the class)`, over the training set; 1 for what does not occur there.
    pub(crate) fn balance(&self) -> Vec<f32> {
        let weights = |counts: &[usize]| -> Vec<f32> {
            let (items, classes) = (counts.iter().sum::<usize>(), counts.iter().filter(|&&count| count > 0).count());
            let weight = |&count: &usize| if count == 0 { 1.0 } else { items as f32 / (classes * count) as f32 };
            counts.iter().map(weight).collect()
        };
        match self.labels {
            Labels::Classes(classes) => {
                let mut counts = vec![0; classes.count()];
                let known = self.split.train.iter().filter_map(|&item| classes.of()[item as usize]);
                known.for_each(|class| counts[class as usize] += 1);
                weights(&counts)
            }
            Labels::MultiLabel(tasks) => {
                let mut counts = vec![[0, 0]; tasks.names().len()];
                for &item in &self.split.train {
                    for (counts, label) in counts.iter_mut().zip(tasks.row(item as usize)) {
                        label.iter().for_each(|&label| counts[usize::from(label)] += 1);
                    }
                }
                counts.iter().flat_map(|counts| weights(counts)).collect()
            }
            Labels::Regression(_) => Vec::new(),
        }
    }
}
