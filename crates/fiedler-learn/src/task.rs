//! What there is to learn from, decided once when data is opened.

use fiedler_graph::Labels;
use serde::{Deserialize, Serialize};

use crate::encoder::InputDims;

/// What an embedding describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskLevel {
    /// Every node of one graph.
    Nodes,
    /// Every graph of a set.
    Graphs,
}

impl TaskLevel {
    /// That of so many graphs.
    pub fn of(graphs: usize) -> TaskLevel {
        if graphs == 1 { TaskLevel::Nodes } else { TaskLevel::Graphs }
    }
}

/// What labels say of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Target {
    /// One class of several.
    Classes {
        /// Number of classes.
        count: usize,
    },
    /// Several yes-or-no labels, some of which may be missing.
    MultiLabel {
        /// Number of labels.
        count: usize,
    },
    /// One or more real values.
    Regression {
        /// Number of values.
        count: usize,
    },
}

impl Target {
    /// What these labels say.
    pub fn of(labels: &Labels) -> Target {
        match labels {
            Labels::Classes(classes) => Target::Classes { count: classes.count() },
            Labels::MultiLabel(tasks) => Target::MultiLabel { count: tasks.names().len() },
            Labels::Regression(values) => Target::Regression { count: values.names().len() },
        }
    }

    /// Columns that a model has to give: one a class, a label or a value.
    pub fn outputs(self) -> usize {
        match self {
            Target::Classes { count } | Target::MultiLabel { count } | Target::Regression { count } => count,
        }
    }
}

/// What a method is to learn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What embeddings describe.
    pub level: TaskLevel,
    /// Columns of the features.
    pub dims: InputDims,
    /// Number of nodes of all graphs.
    pub num_nodes: usize,
    /// Number of graphs.
    pub num_graphs: usize,
    /// The most graphs that a step looks at.
    pub batch_graphs: usize,
    /// Number of views that a step looks at.
    pub num_views: usize,
    /// What is to be predicted, for methods that learn from labels.
    pub target: Option<Target>,
}
