//! What a reader returns: graphs and all that is known of them.

use crate::error::{Error, Result};
use crate::features::Features;
use crate::graph::{BuildReport, Graph};
use crate::labels::Labels;
use crate::set::GraphSet;
use crate::split::Split;
use crate::stored::StoredFeatures;

/// One graph or many, with features, labels and splits, as read from a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Short name, from the file or the catalogue.
    pub name: String,
    /// The graphs; one graph is a set of one.
    pub graphs: GraphSet,
    /// One row for each node of the arena.
    pub features: Option<Features>,
    /// The same, where they stay in their file: there are no `features` then. Only what says so can do with
    /// them; parts of a dataset have none.
    pub stored_features: Option<StoredFeatures>,
    /// Names of the feature columns, where the source has them.
    pub feature_names: Option<Vec<String>>,
    /// One row for each edge of the arena, in the order of [`Graph::edge_pairs`].
    pub edge_features: Option<Features>,
    /// One label for each node of the arena.
    pub node_labels: Option<Labels>,
    /// One label for each graph.
    pub graph_labels: Option<Labels>,
    /// Divisions that came with the data: of nodes in a single graph, of graphs in a set.
    pub splits: Vec<Split>,
    /// Where each graph of a set stands in its source, where the source is a table.
    pub graph_source: Option<GraphSource>,
    /// What reading made of the source.
    pub report: ReadReport,
}

/// Where graphs come from: rows of a table, some of which may have been left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphSource {
    /// The line of each graph in the source, counted from one.
    pub lines: Vec<u64>,
    /// What the source calls each graph, where it calls them anything.
    pub names: Option<Vec<String>>,
}

/// What reading merged, dropped or noticed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Format the source was read as.
    pub format: &'static str,
    /// Merged and dropped pairs.
    pub edges: BuildReport,
    /// Records that were left out, such as invalid SMILES.
    pub skipped: u64,
    /// Anything else a user should know, one sentence each.
    pub notes: Vec<String>,
}

impl Dataset {
    /// A dataset of one graph, with nothing but its edges yet.
    pub fn single(name: impl Into<String>, graph: Graph) -> Dataset {
        Dataset::set(name, GraphSet::single(graph))
    }

    /// A dataset of many graphs, with nothing but their edges yet.
    pub fn set(name: impl Into<String>, graphs: GraphSet) -> Dataset {
        Dataset {
            name: name.into(),
            graphs,
            features: None,
            stored_features: None,
            feature_names: None,
            edge_features: None,
            node_labels: None,
            graph_labels: None,
            splits: Vec::new(),
            graph_source: None,
            report: ReadReport::default(),
        }
    }

    /// The graph, when there is exactly one.
    pub fn graph(&self) -> Option<&Graph> {
        (self.graphs.len() == 1).then(|| self.graphs.block_diagonal())
    }

    /// The labels that are to be predicted: those of graphs where they exist, else those of nodes.
    pub fn labels(&self) -> Option<&Labels> {
        self.graph_labels.as_ref().or(self.node_labels.as_ref())
    }

    /// Columns of the features of nodes, wherever these are; `None` where nodes have no features.
    pub fn feature_columns(&self) -> Option<usize> {
        let stored = self.stored_features.as_ref().map(StoredFeatures::columns);
        self.features.as_ref().map(Features::columns).or(stored)
    }

    /// Checks that every part has as many rows as there are nodes, edges or graphs.
    ///
    /// # Errors
    /// Names the part that does not fit.
    pub fn check(&self) -> Result<()> {
        let (graphs, nodes, edges) = (self.graphs.len(), self.graphs.num_nodes(), self.graphs.num_edges());
        let columns = self.feature_columns().unwrap_or(0);
        let source = self.graph_source.as_ref();
        let parts = [
            ("feature names", self.feature_names.as_ref().map(Vec::len), columns, "feature columns"),
            ("source lines", source.map(|source| source.lines.len()), graphs, "graphs"),
            ("graph names", source.and_then(|source| source.names.as_ref()).map(Vec::len), graphs, "graphs"),
            ("feature rows", self.features.as_ref().map(Features::rows), nodes, "nodes"),
            ("stored feature rows", self.stored_features.as_ref().map(StoredFeatures::rows), nodes, "nodes"),
            ("edge feature rows", self.edge_features.as_ref().map(Features::rows), edges, "edges"),
            ("node labels", self.node_labels.as_ref().map(Labels::len), nodes, "nodes"),
            ("graph labels", self.graph_labels.as_ref().map(Labels::len), graphs, "graphs"),
        ];
        for (part, rows, expected, of) in parts {
            if let Some(rows) = rows
                && rows != expected
            {
                return Err(Error::setting(
                    format!("number of {part}"),
                    rows,
                    format!("{expected}, the number of {of}"),
                ));
            }
        }
        let items = if graphs == 1 { nodes } else { graphs };
        self.splits.iter().try_for_each(|split| split.check(items))
    }
}
