//! The matrix a graph's nodes pass messages by.

use std::sync::{Arc, OnceLock};

use burn::tensor::Device;
use fiedler_graph::Graph;
use serde::{Deserialize, Serialize};

use crate::device::DeviceRows;
use crate::error::{Result, check_size};
use crate::ops::kernel::SparseRows;

/// Normalization: how messages are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// `D~^-1/2 (A + I) D~^-1/2` with `D~ = D + I`: graph convolutions.
    #[default]
    Symmetric,
    /// `D^-1 A`: the mean over neighbors. Not symmetric.
    RowMean,
    /// `A`: the plain sum over neighbors; what a node keeps of itself is the layer's business.
    None,
}

/// A sparse matrix over the nodes of a graph, in compressed rows (CSR) with sorted columns.
///
/// Most are symmetric, so that a backward pass walks the same rows; one that is not holds its transpose as well. Edge weights, where
/// the graph has them, are respected.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_learn::{Normalization, Operator};
///
/// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
/// let operator = Operator::new(&path, Normalization::Symmetric);
/// assert_eq!(operator.row(0), (&[0, 1][..], &[1.0 / 2.0, 1.0 / 6f32.sqrt()][..]));
/// assert_eq!(Operator::new(&path, Normalization::RowMean).row(1), (&[0, 2][..], &[0.5, 0.5][..]));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Operator {
    rows: Csr,
    /// Of a matrix that is not symmetric.
    transposed: Option<Csr>,
    edge_places: OnceLock<Arc<[u32]>>,
    on_device: OnceLock<DeviceRows>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Csr {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl PartialEq for Operator {
    fn eq(&self, other: &Operator) -> bool {
        self.rows == other.rows
    }
}

impl Operator {
    /// The matrix of a graph.
    pub fn new(graph: &Graph, normalization: Normalization) -> Operator {
        match normalization {
            Normalization::Symmetric => Operator::symmetric(convolution(graph)),
            Normalization::None => Operator::symmetric(adjacency(graph)),
            Normalization::RowMean => {
                let plain = adjacency(graph);
                let mut rows = plain.clone();
                let mut transposed = plain.clone();
                let sums: Vec<f32> =
                    plain.indptr.windows(2).map(|row| plain.values[row[0]..row[1]].iter().sum()).collect();
                for (node, row) in plain.indptr.windows(2).enumerate() {
                    for place in row[0]..row[1] {
                        rows.values[place] /= sums[node];
                        // The graph is undirected: its transpose has the same entries, divided by the other end's sum.
                        transposed.values[place] /= sums[plain.indices[place] as usize];
                    }
                }
                Operator { transposed: Some(transposed), ..Operator::symmetric(rows) }
            }
        }
    }

    fn symmetric(rows: Csr) -> Operator {
        Operator { rows, transposed: None, edge_places: OnceLock::new(), on_device: OnceLock::new() }
    }

    /// The matrix whose entries are a graph's weights as they stand, with what every node gives to itself on the diagonal: for a view
    /// that is a propagation matrix already, such as a diffusion.
    ///
    /// # Errors
    /// When there is not one weight for each node.
    pub fn with_self_loop_weights(graph: &Graph, weights: &[f32]) -> Result<Operator> {
        check_size("list of self-loop weights", weights.len(), graph.num_nodes())?;
        let value = |node, other, weight| if node == other { weights[node as usize] } else { weight };
        Ok(Operator::symmetric(with_diagonal(graph, value)))
    }

    /// The same matrix with node `i` called `names[i]`; `names` is a permutation.
    ///
    /// Shuffling the rows of the features and relabelling the graph give the same rows in another order. Relabelling leaves the features
    /// alone, so that a view and its corruption share whatever is computed from them.
    pub fn relabelled(&self, names: &[u32]) -> Operator {
        self.relabelled_with_origins(names).0
    }

    /// The relabelled matrix, and for each of its entries the place it had before.
    pub(crate) fn relabelled_with_origins(&self, names: &[u32]) -> (Operator, Vec<usize>) {
        let (rows, origins) = self.rows.relabelled(names);
        let transposed = self.transposed.as_ref().map(|transposed| transposed.relabelled(names).0);
        (Operator { transposed, ..Operator::symmetric(rows) }, origins)
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.rows.indptr.len() - 1
    }

    /// Columns and values of one row.
    pub fn row(&self, node: usize) -> (&[u32], &[f32]) {
        let range = self.rows.indptr[node]..self.rows.indptr[node + 1];
        (&self.rows.indices[range.clone()], &self.rows.values[range])
    }

    /// Where each row starts, and the end of the last.
    pub fn indptr(&self) -> &[usize] {
        &self.rows.indptr
    }

    /// Columns, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.rows.indices
    }

    /// Values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.rows.values
    }

    /// For each entry the number of its undirected edge: edges are counted by their lower end, then by their higher one. Entries on the
    /// diagonal have [`u32::MAX`].
    pub fn edge_places(&self) -> &Arc<[u32]> {
        self.edge_places.get_or_init(|| self.rows.edge_places().into())
    }

    /// For each entry the place of the entry of the way back; that of an entry on the diagonal is its own.
    pub(crate) fn mirrors(&self) -> Vec<u32> {
        let mut mirrors: Vec<u32> = (0..self.rows.indices.len() as u32).collect();
        let mut first = vec![u32::MAX; self.rows.indices.len() / 2];
        for (place, &edge) in self.edge_places().iter().enumerate().filter(|(_, edge)| **edge != u32::MAX) {
            match std::mem::replace(&mut first[edge as usize], place as u32) {
                u32::MAX => {}
                other => (mirrors[place], mirrors[other as usize]) = (other, place as u32),
            }
        }
        mirrors
    }

    pub(crate) fn sparse_rows(&self) -> SparseRows<'_> {
        self.rows.sparse_rows()
    }

    /// The rows of the transpose.
    pub(crate) fn transposed_rows(&self) -> SparseRows<'_> {
        self.transposed.as_ref().unwrap_or(&self.rows).sparse_rows()
    }

    /// The entries as tensors of a device; they are brought there once.
    pub(crate) fn on_device(&self, device: &Device) -> DeviceRows {
        DeviceRows::cached(&self.on_device, self.sparse_rows(), device)
    }
}

impl Csr {
    fn with_capacity(nodes: usize, entries: usize) -> Csr {
        let mut indptr = Vec::with_capacity(nodes + 1);
        indptr.push(0);
        Csr { indptr, indices: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    fn sparse_rows(&self) -> SparseRows<'_> {
        SparseRows { offsets: &self.indptr, columns: &self.indices, values: &self.values }
    }

    fn relabelled(&self, names: &[u32]) -> (Csr, Vec<usize>) {
        let nodes = self.indptr.len() - 1;
        debug_assert_eq!(names.len(), nodes);
        let mut node_of = vec![0; names.len()];
        for (node, &name) in names.iter().enumerate() {
            node_of[name as usize] = node;
        }
        let mut relabelled = Csr::with_capacity(nodes, self.indices.len());
        let mut origins = Vec::with_capacity(self.indices.len());
        let mut row: Vec<(u32, usize)> = Vec::new();
        for &node in &node_of {
            row.clear();
            let places = self.indptr[node]..self.indptr[node + 1];
            row.extend(places.map(|place| (names[self.indices[place] as usize], place)));
            row.sort_unstable();
            relabelled.indices.extend(row.iter().map(|entry| entry.0));
            relabelled.values.extend(row.iter().map(|entry| self.values[entry.1]));
            relabelled.indptr.push(relabelled.indices.len());
            origins.extend(row.iter().map(|entry| entry.1));
        }
        (relabelled, origins)
    }

    fn edge_places(&self) -> Vec<u32> {
        let mut places = vec![u32::MAX; self.indices.len()];
        // Where the next entry of each row below the diagonal lies: its lower ends come in ascending order.
        let mut next: Vec<usize> = self.indptr[..self.indptr.len() - 1].to_vec();
        let mut edge = 0;
        for node in 0..self.indptr.len() - 1 {
            for place in self.indptr[node]..self.indptr[node + 1] {
                let other = self.indices[place] as usize;
                if other > node {
                    places[place] = edge;
                    places[next[other]] = edge;
                    next[other] += 1;
                    edge += 1;
                }
            }
        }
        places
    }
}

fn adjacency(graph: &Graph) -> Csr {
    Csr {
        indptr: graph.indptr().to_vec(),
        indices: graph.indices().to_vec(),
        values: graph.weights().map_or_else(|| vec![1.0; graph.indices().len()], <[f32]>::to_vec),
    }
}

fn convolution(graph: &Graph) -> Csr {
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
fn with_diagonal(graph: &Graph, value: impl Fn(u32, u32, f32) -> f32) -> Csr {
    let mut rows = Csr::with_capacity(graph.num_nodes(), graph.indices().len() + graph.num_nodes());
    for node in 0..graph.num_nodes() as u32 {
        let row = graph.neighbors(node);
        let weights = graph.neighbor_weights(node);
        let below = row.partition_point(|&other| other < node);
        let entry = |place: usize| (row[place], weights.map_or(1.0, |weights| weights[place]));
        let entries = (0..below).map(entry).chain([(node, 1.0)]).chain((below..row.len()).map(entry));
        for (other, weight) in entries {
            rows.indices.push(other);
            rows.values.push(value(node, other, weight));
        }
        rows.indptr.push(rows.indices.len());
    }
    rows
}
