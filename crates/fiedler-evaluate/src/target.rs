//! Targets: the labels that a probe predicts from embeddings, and the splits that came with them.

use fiedler_graph::{Dataset, Labels, Split};

use crate::error::{Error, Result};
use crate::list::named_enum;

named_enum! {
    /// Kind of labels: what decides which metrics and probes make sense.
    pub enum LabelKind as "kind of labels" {
        /// Classes: one for each item.
        "classes" => Classes,
        /// Multi-label: several yes-or-no tasks for each item, some of them unknown.
        "multi-label" => MultiLabel,
        /// Regression: one or more real values for each item.
        "regression" => Regression,
    }
}

impl LabelKind {
    /// Kind of the given labels.
    pub fn of(labels: &Labels) -> LabelKind {
        match labels {
            Labels::Classes(_) => LabelKind::Classes,
            Labels::MultiLabel(_) => LabelKind::MultiLabel,
            Labels::Regression(_) => LabelKind::Regression,
        }
    }
}

/// Target: labels of nodes or of graphs, and the splits that came with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// One label for each node or graph.
    pub labels: Labels,
    /// Splits that came with the data; may be empty.
    pub splits: Vec<Split>,
    /// Whether labels are of graphs.
    pub graphs: bool,
    /// Names of the items, where they are called other than 0, 1, 2 ….
    pub names: Option<Vec<String>>,
    /// Whether items without names are called 0, 1, 2 …, as those of a dataset are; rows of a table without ids are called nothing.
    pub counted: bool,
    /// Names of the columns of labels, where they come from a table that has them.
    pub columns: Vec<String>,
    /// Names that items are sorted by before splits are drawn, where those are others than `names`: what a table calls its graphs.
    pub sort_names: Option<Vec<String>>,
}

impl Target {
    /// Labels of nodes, without splits.
    pub fn of_labels(labels: Labels) -> Target {
        let (splits, columns) = (Vec::new(), Vec::new());
        Target { labels, splits, graphs: false, names: None, counted: false, columns, sort_names: None }
    }

    /// The labels of a dataset: those of graphs where they exist, else those of nodes.
    ///
    /// # Errors
    /// When the dataset has no labels.
    pub fn of(dataset: &Dataset) -> Result<Target> {
        let Some(labels) = dataset.labels() else {
            let error = Error::data(format!("dataset {}", dataset.name), "no labels", "labels of nodes or of graphs");
            return Err(error.advise("give a file of labels"));
        };
        let graphs = dataset.graph_labels.is_some();
        let splits = if !graphs && dataset.graphs.len() > 1 {
            dataset.splits.iter().map(|split| of_nodes(split, dataset)).collect()
        } else {
            dataset.splits.clone()
        };
        let names = dataset.graphs.block_diagonal().names().filter(|_| !graphs);
        let names = names.map(|names| names.iter().map(|name| name.to_string()).collect());
        let sort_names = dataset.graph_source.as_ref().filter(|_| graphs).and_then(|source| source.names.clone());
        let (labels, columns) = (labels.clone(), Vec::new());
        Ok(Target { labels, splits, graphs, names, counted: true, columns, sort_names })
    }

    /// Kind of the labels.
    pub fn kind(&self) -> LabelKind {
        LabelKind::of(&self.labels)
    }

    /// What an item is called: `node` or `graph`.
    pub fn items(&self) -> &'static str {
        if self.graphs { "graph" } else { "node" }
    }

    /// Items with at least one known label, in the order of their names: splits that are drawn from them do not depend on the order of rows.
    pub(crate) fn labelled(&self) -> Vec<u32> {
        let mut items: Vec<u32> = (0..self.labels.len() as u32).filter(|&item| self.is_labelled(item)).collect();
        if let Some(names) = self.sort_names.as_ref().or(self.names.as_ref()) {
            items.sort_by_cached_key(|&item| names.get(item as usize).map(|name| sort_key(name)));
        }
        items
    }

    /// The splits that came with the data and that are wanted, without items that have no label.
    pub(crate) fn given(&self, wanted: impl Fn(&Split) -> bool, expected: &str) -> Result<Vec<Split>> {
        let mut splits: Vec<Split> = self.splits.iter().filter(|split| wanted(split)).cloned().collect();
        if splits.is_empty() {
            let names: Vec<&str> = self.splits.iter().map(|split| split.name.as_str()).collect();
            let found = if names.is_empty() { "none".into() } else { names.join(", ") };
            let error = Error::data("splits that came with the labels", found, expected);
            return Err(error.advise("choose the protocol random or kfold, or give a dataset that has splits"));
        }
        for split in &mut splits {
            split.check(self.labels.len())?;
            for part in [&mut split.train, &mut split.validation, &mut split.test] {
                part.retain(|&item| self.is_labelled(item));
            }
        }
        Ok(splits)
    }

    fn is_labelled(&self, item: u32) -> bool {
        match &self.labels {
            Labels::Classes(classes) => classes.of()[item as usize].is_some(),
            Labels::MultiLabel(tasks) => tasks.row(item as usize).iter().any(Option::is_some),
            Labels::Regression(values) => values.row(item as usize).iter().any(Option::is_some),
        }
    }
}

/// Names that are whole numbers stand in the order of these, before all others: what is called 0, 1, 2 … stays as it is.
fn sort_key(name: &str) -> (bool, u64, String) {
    match name.parse::<u64>() {
        Ok(number) => (false, number, name.to_owned()),
        Err(_) => (true, 0, name.to_owned()),
    }
}

/// A split of graphs, as one of their nodes.
fn of_nodes(split: &Split, dataset: &Dataset) -> Split {
    let nodes = |graphs: &[u32]| graphs.iter().flat_map(|&graph| dataset.graphs.node_range(graph as usize)).collect();
    Split {
        name: split.name.clone(),
        train: nodes(&split.train),
        validation: nodes(&split.validation),
        test: nodes(&split.test),
        stopping: nodes(&split.stopping),
    }
}
