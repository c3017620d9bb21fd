//! How much memory a run will take, before it starts.

use fiedler_graph::{Features, GraphSet};

use super::TrainingSettings;
use crate::data::Data;
use crate::method::{Compared, Footprint};

/// Bytes of a number.
const FLOAT: f64 = 4.0;
/// A weight, its gradient, two moments, and their copies while a checkpoint is written.
const COPIES_OF_WEIGHTS: f64 = 8.0;
/// Column and value of an entry of a sparse matrix that is held by row and by column.
const SPARSE_ENTRY: f64 = 16.0;
/// Two views and their corruptions.
const STRUCTURES: f64 = 4.0;
/// Column, value and, for its way through a view, origin of an entry of a structure.
const STRUCTURE_ENTRY: f64 = 12.0;
/// What is held of the whole graph while it is embedded, in shares of a product and a gradient of the widest layer.
const LAYERS_HELD: f64 = 1.5;
/// Matrices of similarities between the nodes and the graphs of a batch, and their gradients.
const SIMILARITIES: f64 = 12.0;
/// Matrices of similarities between all nodes that are compared with each other, and their gradients.
const MATRICES_OF_PAIRS: f64 = 12.0;

/// Bytes that training holds at once, by an estimate; data that are loaded already are not counted.
pub fn estimate(data: &Data<'_>, training: &TrainingSettings, footprint: Footprint) -> u64 {
    let graphs = data.graphs();
    let block_nodes = training.block_nodes(graphs.len(), graphs.num_nodes());
    let (nodes, entries) = match block_nodes {
        // The next block is made while a step is taken.
        Some(nodes) => {
            let share = nodes as f64 / graphs.num_nodes().max(1) as f64;
            (nodes as f64, 2.0 * share * graphs.num_edges() as f64)
        }
        None => largest_batch(graphs, training.batch_size),
    };
    let similarities = match footprint.compared {
        // With one graph, its similarities are one value a node.
        Compared::NodesWithGraphs if graphs.len() > 1 => nodes * training.batch_size as f64 * SIMILARITIES,
        Compared::Nodes(anchors) => nodes.min(anchors as f64).powi(2) * MATRICES_OF_PAIRS,
        Compared::Nothing | Compared::NodesWithGraphs => 0.0,
    };
    let of_features = match data.features() {
        Features::Sparse(sparse) => sparse.values().len() as f64 * SPARSE_ENTRY,
        Features::Categorical(categorical) => categorical.codes().len() as f64 * SPARSE_ENTRY,
        Features::Dense(dense) => dense.values().len() as f64 * FLOAT,
    };
    let bytes = (nodes * (footprint.values_per_node + footprint.transient_per_node) + similarities) * FLOAT
        + footprint.weights * COPIES_OF_WEIGHTS * FLOAT
        + of_features * nodes / graphs.num_nodes().max(1) as f64
        + STRUCTURES * (entries + nodes) * STRUCTURE_ENTRY;
    if block_nodes.is_none() {
        return bytes as u64;
    }
    // In the end the whole graph is embedded: two layers at a time, and what comes of them.
    let all = graphs.num_nodes() as f64;
    let whole = all * footprint.transient_per_node * LAYERS_HELD * FLOAT
        + footprint.weights * FLOAT
        + (2.0 * graphs.num_edges() as f64 + all) * STRUCTURE_ENTRY;
    bytes.max(whole) as u64
}

/// Nodes and entries of the largest graphs that could meet in one batch.
fn largest_batch(graphs: &GraphSet, batch_size: usize) -> (f64, f64) {
    let largest = |size: &dyn Fn(usize) -> usize| {
        let mut sizes: Vec<usize> = (0..graphs.len()).map(size).collect();
        sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        sizes.iter().take(batch_size).sum::<usize>() as f64
    };
    (largest(&|graph| graphs.node_range(graph).len()), largest(&|graph| 2 * graphs.graph_edges(graph)))
}
