//! How much memory a run will take, before it starts.

use fiedler_graph::{Features, GraphSet};

use super::Training;
use crate::data::Data;

const FLOAT: u64 = 4;
/// A weight, its gradient, two moments, and their copies while a checkpoint is written.
const COPIES_OF_WEIGHTS: u64 = 8;
/// Row, column and value of an entry of a sparse matrix that is held by row and by column.
const SPARSE_ENTRY: u64 = 16;
/// Matrices of similarities between the nodes and the graphs of a batch, and their gradients.
const SIMILARITIES: u64 = 12;

/// Bytes that training holds at once, by an estimate; data that are loaded already are not counted.
pub fn estimate(data: &Data<'_>, training: &Training, values_per_node: usize, weights: usize) -> u64 {
    let graphs = data.graphs();
    let batch = largest_batch(graphs, training.batch_size);
    let similarities = if graphs.len() > 1 { batch.nodes * training.batch_size as u64 * SIMILARITIES } else { 0 };
    let features = data.features();
    let of_features = match features {
        Features::Sparse(sparse) => sparse.values().len() as u64 * SPARSE_ENTRY,
        Features::Categorical(categorical) => categorical.codes().len() as u64 * SPARSE_ENTRY,
        Features::Dense(dense) => dense.values().len() as u64 * FLOAT,
    };
    let of_features = of_features * batch.nodes / graphs.nodes().max(1) as u64;
    // Two views and their twins, each with its entries and those of the loops.
    let of_structures = 4 * (batch.entries + batch.nodes) * 3 * FLOAT;
    (batch.nodes * values_per_node as u64 + similarities + weights as u64 * COPIES_OF_WEIGHTS) * FLOAT
        + of_features
        + of_structures
}

struct Size {
    nodes: u64,
    entries: u64,
}

fn largest_batch(graphs: &GraphSet, batch_size: usize) -> Size {
    let largest = |mut sizes: Vec<u64>| {
        sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
        sizes.iter().take(batch_size).sum()
    };
    Size {
        nodes: largest((0..graphs.len()).map(|graph| graphs.node_range(graph).len() as u64).collect()),
        entries: largest((0..graphs.len()).map(|graph| 2 * graphs.graph_edges(graph) as u64).collect()),
    }
}
