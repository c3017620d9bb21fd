//! A graph some of whose pairs are flipped in part.

use fiedler_graph::Graph;
use fiedler_spectral::{Normalized, Operator, Rows};

use crate::error::Result;

/// Rows of `A + (1 − 2A) ∘ p`.
pub(crate) struct ExpectedGraph {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl ExpectedGraph {
    /// `flips` are pairs, each at most once, with the part of them that is flipped.
    pub fn new(graph: &Graph, flips: &[(u32, u32, f64)]) -> ExpectedGraph {
        let mut weights = vec![1.0; graph.indices().len()];
        let mut added: Vec<Vec<(u32, f64)>> = vec![Vec::new(); graph.num_nodes()];
        for &(low, high, part) in flips {
            for (node, other) in [(low, high), (high, low)] {
                match graph.neighbors(node).binary_search(&other) {
                    Ok(at) => weights[graph.indptr()[node as usize] + at] = 1.0 - part,
                    Err(_) => added[node as usize].push((other, part)),
                }
            }
        }
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (node, added) in added.iter().enumerate() {
            indices.extend_from_slice(graph.neighbors(node as u32));
            values.extend_from_slice(&weights[graph.indptr()[node]..graph.indptr()[node + 1]]);
            indices.extend(added.iter().map(|(other, _)| other));
            values.extend(added.iter().map(|(_, part)| part));
            indptr.push(indices.len());
        }
        ExpectedGraph { indptr, indices, values }
    }

    /// What a graph convolution multiplies by.
    pub fn propagation(&self) -> Result<Normalized<'_>> {
        let rows = Rows { offsets: &self.indptr, neighbors: &self.indices, values: &self.values, self_loops: None };
        Ok(Normalized::from_rows(rows, Operator::Propagation)?)
    }
}
