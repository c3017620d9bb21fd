//! How much a dataset holds, as its publisher says.

use fiedler_graph::{Dataset, Labels};

use serde::{Deserialize, Serialize};

/// Published means are rounded, and some count self-loops: a mean may differ by this share of itself.
const MEAN_TOLERANCE: f64 = 0.01;

/// How much a dataset holds, as published; `None` where nothing is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Number of graphs.
    pub graphs: Option<u64>,
    /// Number of nodes, of a single graph.
    pub nodes: Option<u64>,
    /// Number of undirected edges, of a single graph.
    pub edges: Option<u64>,
    /// Mean number of nodes of the graphs of a set.
    pub mean_nodes: Option<f64>,
    /// Mean number of undirected edges of the graphs of a set.
    pub mean_edges: Option<f64>,
    /// Number of feature columns.
    pub features: Option<u64>,
    /// Number of classes.
    pub classes: Option<u64>,
    /// Number of yes-or-no questions or real values to predict.
    pub tasks: Option<u64>,
}

impl Counts {
    /// Where a dataset differs from the published numbers, one sentence each.
    pub fn differences(&self, dataset: &Dataset) -> Vec<String> {
        let graphs = &dataset.graphs;
        let edges = graphs.num_edges() as u64;
        // Publishers who count self-loops are met by adding those that were dropped.
        let with_loops = edges + dataset.report.edges.self_loops;
        let features = dataset.features.as_ref().map(|features| features.columns() as u64);
        let (classes, tasks) = match dataset.labels() {
            Some(Labels::Classes(classes)) => (Some(classes.count() as u64), None),
            Some(Labels::MultiLabel(tasks)) => (None, Some(tasks.names().len() as u64)),
            Some(Labels::Regression(values)) => (None, Some(values.names().len() as u64)),
            None => (None, None),
        };
        let whole = [
            ("graphs", self.graphs, Some(graphs.len() as u64)),
            ("nodes", self.nodes, Some(graphs.num_nodes() as u64)),
            ("edges", self.edges.filter(|published| *published != with_loops), Some(edges)),
            ("features", self.features, features),
            ("classes", self.classes, classes),
            ("tasks", self.tasks, tasks),
        ];
        let mean = |total: u64| total as f64 / graphs.len().max(1) as f64;
        let means =
            [("nodes", self.mean_nodes, mean(graphs.num_nodes() as u64)), ("edges", self.mean_edges, mean(edges))];
        let whole = whole.into_iter().filter_map(|(of, published, found)| match (published, found) {
            (Some(published), Some(found)) if published != found => {
                Some(format!("read {found} {of}; published are {published}"))
            }
            _ => None,
        });
        let means = means.into_iter().filter_map(|(of, published, found)| {
            let published = published?;
            let differs = (found - published).abs() > MEAN_TOLERANCE * published;
            differs.then(|| format!("read {found:.2} {of} a graph on average; published are {published}"))
        });
        whole.chain(means).collect()
    }
}
