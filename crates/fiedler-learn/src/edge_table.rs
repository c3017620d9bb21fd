//! Features of edges through views that add and remove some.

use fiedler_augment::mask::neutral_code;
use fiedler_graph::{Batch, Categorical, Dense, Features, Graph, GraphSet, Sparse};

use crate::error::{Result, check_size};

/// What is known of every edge of a set, and one row more, for edges that a view adds and nothing is known of.
#[derive(Debug)]
pub(crate) struct EdgeTable {
    features: Features,
    /// The first row of each graph, and the end of the last.
    firsts: Vec<u32>,
}

impl EdgeTable {
    pub(crate) fn new(graphs: &GraphSet, features: &Features) -> Result<EdgeTable> {
        check_size("table of edge features", features.rows(), graphs.num_edges())?;
        let mut firsts = vec![0];
        for graph in 0..graphs.len() {
            firsts.push(firsts[graph] + graphs.graph_edges(graph) as u32);
        }
        Ok(EdgeTable { features: with_unknown(features)?, firsts })
    }

    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Number of columns that an encoder sees.
    pub(crate) fn columns(&self) -> usize {
        match &self.features {
            Features::Categorical(codes) => codes.cardinalities().iter().map(|&count| usize::from(count)).sum(),
            numbers => numbers.columns(),
        }
    }

    /// The row of each edge of a view of a batch.
    pub(crate) fn rows_of(&self, batch: &Batch, view: &Graph) -> Vec<u32> {
        let unknown = self.firsts[self.firsts.len() - 1];
        let of_batch: Vec<u32> =
            batch.graphs.iter().flat_map(|&graph| self.firsts[graph]..self.firsts[graph + 1]).collect();
        let edges = batch.graph.edge_lookup();
        view.edge_pairs().map(|(low, high)| edges.get(low, high).map_or(unknown, |edge| of_batch[edge])).collect()
    }
}

/// The features with one more row: zeros, or for each column of categories a code that no edge has.
fn with_unknown(features: &Features) -> Result<Features> {
    Ok(match features {
        Features::Dense(dense) => {
            let mut values = dense.values().to_vec();
            values.resize(values.len() + features.columns(), 0.0);
            Features::Dense(Dense::new(features.rows() + 1, features.columns(), values)?)
        }
        Features::Sparse(sparse) => {
            let mut offsets = sparse.indptr().to_vec();
            offsets.push(sparse.indices().len());
            let (indices, values) = (sparse.indices().to_vec(), sparse.values().to_vec());
            Features::Sparse(Sparse::new(features.columns(), offsets, indices, values)?)
        }
        Features::Categorical(categorical) => {
            let mut codes = categorical.codes().to_vec();
            for &categories in categorical.cardinalities() {
                codes.push(neutral_code(categories)?);
            }
            Features::Categorical(Categorical::new(
                categorical.cardinalities().iter().map(|categories| categories + 1).collect(),
                codes,
            )?)
        }
    })
}
