//! A dataset in figures.

use rayon::prelude::*;
use serde::Serialize;

use super::{Triangles, components, edge_homophily, is_bipartite, triangles};
use crate::dataset::Dataset;
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;
use crate::set::GraphSet;

/// A dataset in figures. What has no meaning for it is `None`.
///
/// In a set, counts are totals over all graphs and coefficients are means over the graphs, as one would get by measuring each
/// graph by itself; [`PerGraph`] has their ranges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the dataset.
    pub name: String,
    /// Number of graphs.
    pub graphs: usize,
    /// Number of nodes of all graphs.
    pub nodes: usize,
    /// Number of undirected edges of all graphs.
    pub edges: usize,
    /// Mean number of nodes of a graph, in a set.
    pub mean_nodes: Option<f64>,
    /// Mean number of edges of a graph, in a set.
    pub mean_edges: Option<f64>,
    /// Number of connected components of all graphs.
    pub components: usize,
    /// Number of nodes without neighbors.
    pub isolated: usize,
    /// Numbers of neighbors; `None` without nodes.
    pub degree: Option<DegreeSummary>,
    /// Share of pairs of nodes that are joined; `None` when no graph has two nodes.
    pub density: Option<f64>,
    /// Whether every edge joins two sides, as buyers and goods are; `None` for sets and without edges.
    pub bipartite: Option<bool>,
    /// Number of triangles of all graphs.
    pub triangles: u64,
    /// Average local clustering coefficient; nodes with fewer than two neighbors count as zero.
    pub clustering: Option<f64>,
    /// Share of pairs of edges with a common node that a third edge closes.
    pub transitivity: Option<f64>,
    /// Number of feature columns of a node.
    pub features: Option<usize>,
    /// `dense`, `sparse` or `categorical`.
    pub feature_kind: Option<&'static str>,
    /// Share of feature values that are not zero.
    pub feature_density: Option<f64>,
    /// Number of feature columns of an edge.
    pub edge_features: Option<usize>,
    /// `nodes` or `graphs`: what the labels to be predicted belong to.
    pub labels_of: Option<&'static str>,
    /// `classes`, `tasks` or `values`.
    pub label_kind: Option<&'static str>,
    /// Number of nodes or graphs that have at least one label.
    pub labelled: Option<usize>,
    /// Number of classes.
    pub classes: Option<usize>,
    /// Names of the classes.
    pub class_names: Option<Vec<String>>,
    /// How many nodes or graphs each class has.
    pub class_counts: Option<Vec<usize>>,
    /// Number of yes-or-no tasks, or of columns of values.
    pub tasks: Option<usize>,
    /// Share of edges between labelled nodes that join two of one class.
    pub homophily: Option<f64>,
    /// Names of the splits that came with the data.
    pub splits: Vec<String>,
    /// Ranges over the graphs of a set.
    pub per_graph: Option<PerGraph>,
}

/// Numbers of neighbors over all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DegreeSummary {
    /// The fewest.
    pub min: usize,
    /// On average.
    pub mean: f64,
    /// In the middle.
    pub median: f64,
    /// The most.
    pub max: usize,
}

/// Least, mean and greatest over the graphs of a set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
}

/// Ranges over the graphs of a set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerGraph {
    /// Of the number of nodes.
    pub nodes: Range,
    /// Of the number of edges.
    pub edges: Range,
    /// Of the number of connected components.
    pub components: Range,
    /// Of the share of pairs that are joined, over graphs of at least two nodes.
    pub density: Option<Range>,
    /// Of the average local clustering coefficient, over graphs with nodes.
    pub clustering: Option<Range>,
}

/// What one graph contributes.
struct Figures {
    nodes: usize,
    edges: usize,
    components: usize,
    density: Option<f64>,
    clustering: Option<f64>,
    transitivity: Option<f64>,
}

/// Measures a dataset.
///
/// ```
/// use fiedler_graph::{generate, measure};
/// let karate = measure::summarize(&generate::karate_club());
/// assert_eq!((karate.nodes, karate.edges, karate.components, karate.classes), (34, 78, 1, Some(2)));
/// assert!((karate.clustering.unwrap() - 0.5706).abs() < 1e-4);
/// ```
pub fn summarize(dataset: &Dataset) -> Summary {
    let set = &dataset.graphs;
    let graph = set.block_diagonal();
    let is_set = set.len() != 1;
    let triangles = triangles(graph);
    let figures = figures(set, &triangles);
    let range = |figure: fn(&Figures) -> Option<f64>| Range::of(figures.iter().filter_map(figure));
    let mean = |figure: fn(&Figures) -> Option<f64>| range(figure).map(|range| range.mean);
    let nodes = range(|figures| Some(figures.nodes as f64));
    let edges = range(|figures| Some(figures.edges as f64));
    let components = range(|figures| Some(figures.components as f64));
    let per_graph = match (nodes, edges, components) {
        (Some(nodes), Some(edges), Some(components)) if is_set => Some(PerGraph {
            nodes,
            edges,
            components,
            density: range(|figures| figures.density),
            clustering: range(|figures| figures.clustering),
        }),
        _ => None,
    };
    let labels = dataset.labels();
    let classes = labels.and_then(Labels::classes);
    Summary {
        name: dataset.name.clone(),
        graphs: set.len(),
        nodes: set.num_nodes(),
        edges: set.num_edges(),
        mean_nodes: per_graph.map(|ranges| ranges.nodes.mean),
        mean_edges: per_graph.map(|ranges| ranges.edges.mean),
        components: figures.iter().map(|figures| figures.components).sum(),
        isolated: (0..graph.num_nodes() as u32).filter(|&node| graph.degree(node) == 0).count(),
        degree: DegreeSummary::of(graph),
        density: mean(|figures| figures.density),
        bipartite: (!is_set && graph.num_edges() > 0).then(|| is_bipartite(graph)),
        triangles: triangles.count(0..graph.num_nodes() as u32),
        clustering: mean(|figures| figures.clustering),
        transitivity: mean(|figures| figures.transitivity),
        features: dataset.feature_columns(),
        feature_kind: match (&dataset.features, &dataset.stored_features) {
            (Some(features), _) => Some(feature_kind(features)),
            (None, stored) => stored.as_ref().map(|stored| if stored.is_sparse() { "sparse" } else { "dense" }),
        },
        feature_density: dataset.features.as_ref().map(Features::density),
        edge_features: dataset.edge_features.as_ref().map(Features::columns),
        labels_of: labels.map(|_| if dataset.graph_labels.is_some() { "graphs" } else { "nodes" }),
        label_kind: labels.map(label_kind),
        labelled: labels.map(labelled),
        classes: classes.map(|classes| classes.count()),
        class_names: classes.map(|classes| classes.names().to_vec()),
        class_counts: classes.map(|classes| {
            let mut counts = vec![0; classes.count()];
            classes.of().iter().flatten().for_each(|&class| counts[class as usize] += 1);
            counts
        }),
        tasks: labels.and_then(tasks),
        homophily: dataset
            .node_labels
            .as_ref()
            .and_then(Labels::classes)
            .and_then(|classes| edge_homophily(graph, classes)),
        splits: dataset.splits.iter().map(|split| split.name.clone()).collect(),
        per_graph,
    }
}

/// The figures of every graph of the set.
fn figures(set: &GraphSet, triangles: &Triangles) -> Vec<Figures> {
    let graph = set.block_diagonal();
    let (component, _) = components(graph);
    (0..set.len())
        .into_par_iter()
        .map(|at| {
            let range = set.node_range(at);
            let (nodes, edges) = (range.len(), set.graph_edges(at));
            // Components are numbered in the order of nodes, so those of a graph are numbered one after the other.
            let numbers = &component[range.start as usize..range.end as usize];
            let components = match (numbers.iter().min(), numbers.iter().max()) {
                (Some(first), Some(last)) => (last - first) as usize + 1,
                _ => 0,
            };
            Figures {
                nodes,
                edges,
                components,
                density: (nodes > 1).then(|| 2.0 * edges as f64 / (nodes as f64 * (nodes - 1) as f64)),
                clustering: triangles.average_clustering(graph, range.clone()),
                transitivity: (nodes > 0).then(|| triangles.transitivity(graph, range)),
            }
        })
        .collect()
}

impl DegreeSummary {
    fn of(graph: &Graph) -> Option<DegreeSummary> {
        let mut degrees: Vec<usize> = (0..graph.num_nodes() as u32).map(|node| graph.degree(node)).collect();
        degrees.par_sort_unstable();
        let (&min, &max) = (degrees.first()?, degrees.last()?);
        let middle = |at: usize| degrees[at] as f64;
        let median = (middle((degrees.len() - 1) / 2) + middle(degrees.len() / 2)) / 2.0;
        Some(DegreeSummary { min, mean: graph.indices().len() as f64 / degrees.len() as f64, median, max })
    }
}

impl Range {
    fn of(figures: impl Iterator<Item = f64>) -> Option<Range> {
        let mut count = 0usize;
        let mut range = Range { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY };
        for figure in figures {
            count += 1;
            range.min = range.min.min(figure);
            range.max = range.max.max(figure);
            range.mean += figure;
        }
        range.mean /= count.max(1) as f64;
        (count > 0).then_some(range)
    }
}

fn feature_kind(features: &Features) -> &'static str {
    match features {
        Features::Dense(_) => "dense",
        Features::Sparse(_) => "sparse",
        Features::Categorical(_) => "categorical",
    }
}

fn label_kind(labels: &Labels) -> &'static str {
    match labels {
        Labels::Classes(_) => "classes",
        Labels::MultiLabel(_) => "tasks",
        Labels::Regression(_) => "values",
    }
}

fn labelled(labels: &Labels) -> usize {
    let rows = 0..labels.len();
    match labels {
        Labels::Classes(classes) => classes.of().iter().flatten().count(),
        Labels::MultiLabel(tasks) => rows.filter(|&row| tasks.row(row).iter().any(Option::is_some)).count(),
        Labels::Regression(values) => rows.filter(|&row| values.row(row).iter().any(Option::is_some)).count(),
    }
}

fn tasks(labels: &Labels) -> Option<usize> {
    match labels {
        Labels::Classes(_) => None,
        Labels::MultiLabel(tasks) => Some(tasks.names().len()),
        Labels::Regression(values) => Some(values.names().len()),
    }
}
