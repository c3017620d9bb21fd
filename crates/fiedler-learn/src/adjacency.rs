//! The matrix a graph's nodes pass messages by.

use fiedler_graph::Graph;
use serde::{Deserialize, Serialize};

use crate::error::{Result, check_size};

/// How messages are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// `D~^-1/2 (A + I) D~^-1/2` with `D~ = D + I`: graph convolutions.
    #[default]
    Convolution,
    /// `A`: the plain sum over neighbors; what a node keeps of itself is the layer's business.
    Sum,
}

/// A symmetric sparse matrix over the nodes of a graph, in compressed rows with sorted columns.
///
/// Symmetric, so that a backward pass walks the same rows. Edge weights, where the graph has them, are respected.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_learn::{Adjacency, Weighting};
///
/// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
/// let adjacency = Adjacency::new(&path, Weighting::Convolution);
/// assert_eq!(adjacency.row(0), (&[0, 1][..], &[1.0 / 2.0, 1.0 / 6f32.sqrt()][..]));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Adjacency {
    indptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Adjacency {
    /// The matrix of a graph.
    pub fn new(graph: &Graph, weighting: Weighting) -> Adjacency {
        match weighting {
            Weighting::Convolution => convolution(graph),
            Weighting::Sum => Adjacency {
                indptr: graph.indptr().to_vec(),
                columns: graph.indices().to_vec(),
                values: graph.weights().map_or_else(|| vec![1.0; graph.indices().len()], <[f32]>::to_vec),
            },
        }
    }

    /// The matrix whose entries are a graph's weights as they stand, with what every node gives to itself on the diagonal: for a view
    /// that is a propagation matrix already, such as a diffusion.
    ///
    /// # Errors
    /// When there is not one own weight for each node.
    pub fn with_own_weights(graph: &Graph, own: &[f32]) -> Result<Adjacency> {
        check_size("list of own weights", own.len(), graph.num_nodes())?;
        Ok(with_diagonal(graph, |node, other, weight| if node == other { own[node as usize] } else { weight }))
    }

    /// The same matrix with node `i` called `names[i]`; `names` is a permutation.
    ///
    /// Shuffling the rows of the features and relabelling the graph give the same rows in another order. Relabelling leaves the features
    /// alone, so that a view and its corrupted twin share whatever is computed from them.
    pub fn relabelled(&self, names: &[u32]) -> Adjacency {
        self.relabelled_with_origins(names).0
    }

    /// The relabelled matrix, and for each of its entries the place it had before.
    pub(crate) fn relabelled_with_origins(&self, names: &[u32]) -> (Adjacency, Vec<usize>) {
        debug_assert_eq!(names.len(), self.num_nodes());
        let mut node_of = vec![0; names.len()];
        for (node, &name) in names.iter().enumerate() {
            node_of[name as usize] = node;
        }
        let mut relabelled = Adjacency::with_capacity(self.num_nodes(), self.columns.len());
        let mut origins = Vec::with_capacity(self.columns.len());
        let mut row: Vec<(u32, usize)> = Vec::new();
        for &node in &node_of {
            row.clear();
            let places = self.indptr[node]..self.indptr[node + 1];
            row.extend(places.map(|place| (names[self.columns[place] as usize], place)));
            row.sort_unstable();
            relabelled.columns.extend(row.iter().map(|entry| entry.0));
            relabelled.values.extend(row.iter().map(|entry| self.values[entry.1]));
            relabelled.indptr.push(relabelled.columns.len());
            origins.extend(row.iter().map(|entry| entry.1));
        }
        (relabelled, origins)
    }

    fn with_capacity(nodes: usize, entries: usize) -> Adjacency {
        let mut indptr = Vec::with_capacity(nodes + 1);
        indptr.push(0);
        Adjacency { indptr, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Columns and values of one row.
    pub fn row(&self, node: usize) -> (&[u32], &[f32]) {
        let range = self.indptr[node]..self.indptr[node + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Where each row starts, and the end of the last.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Columns, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

fn convolution(graph: &Graph) -> Adjacency {
    let degrees: Vec<f32> = (0..graph.num_nodes() as u32)
        .map(|node| {
            1.0 + match graph.neighbor_weights(node) {
                Some(weights) => weights.iter().sum(),
                None => graph.degree(node) as f32,
            }
        })
        .collect();
    // One root of the product, so that the matrix is symmetric to the last bit.
    with_diagonal(graph, |node, other, weight| weight / (degrees[node as usize] * degrees[other as usize]).sqrt())
}

/// The rows of a graph with an entry for the node itself, whose weight is one until `value` says what becomes of it.
fn with_diagonal(graph: &Graph, value: impl Fn(u32, u32, f32) -> f32) -> Adjacency {
    let mut adjacency = Adjacency::with_capacity(graph.num_nodes(), graph.indices().len() + graph.num_nodes());
    for node in 0..graph.num_nodes() as u32 {
        let row = graph.neighbors(node);
        let weights = graph.neighbor_weights(node);
        let below = row.partition_point(|&other| other < node);
        let entry = |place: usize| (row[place], weights.map_or(1.0, |weights| weights[place]));
        let entries = (0..below).map(entry).chain([(node, 1.0)]).chain((below..row.len()).map(entry));
        for (other, weight) in entries {
            adjacency.columns.push(other);
            adjacency.values.push(value(node, other, weight));
        }
        adjacency.indptr.push(adjacency.columns.len());
    }
    adjacency
}
