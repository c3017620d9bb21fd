//! A graph made ready for message passing.

use std::sync::Arc;

use burn::tensor::Device;
use fiedler_graph::{Features, Graph};
use rand::Rng;
use rand::seq::SliceRandom;

use crate::error::{Result, check_size};
use crate::{Adjacency, Input, Segments, Weighting};

/// A graph, or a batch of graphs, as an encoder walks it. Clones share the memory.
#[derive(Debug, Clone)]
pub struct Structure {
    pub(crate) adjacency: Arc<Adjacency>,
    pub(crate) edges: Option<EdgeInput>,
}

/// What is known of the edges.
#[derive(Debug, Clone)]
pub(crate) struct EdgeInput {
    pub input: Input,
    /// For each entry of the adjacency the row of its edge.
    pub places: Arc<[u32]>,
}

impl Structure {
    /// A graph without features of edges.
    pub fn new(graph: &Graph, weighting: Weighting) -> Structure {
        Structure { adjacency: Arc::new(Adjacency::new(graph, weighting)), edges: None }
    }

    /// A graph whose weights, and what every node gives to itself, are to be taken as they are.
    ///
    /// # Errors
    /// When there is not one own weight for each node.
    pub fn with_own_weights(graph: &Graph, own: &[f32]) -> Result<Structure> {
        Ok(Structure { adjacency: Arc::new(Adjacency::with_own_weights(graph, own)?), edges: None })
    }

    /// A graph with one row of features for each edge, in the order of [`Graph::edge_pairs`].
    ///
    /// # Errors
    /// When there is not one row for each edge.
    pub fn with_edges(graph: &Graph, features: &Features, device: &Device) -> Result<Structure> {
        check_size("table of edge features", features.rows(), graph.num_edges())?;
        let places = graph.spread_to_entries(&(0..graph.num_edges() as u32).collect::<Vec<u32>>());
        let edges = EdgeInput { input: Input::new(features, device), places: places.into() };
        Ok(Structure { adjacency: Arc::new(Adjacency::new(graph, Weighting::Sum)), edges: Some(edges) })
    }

    /// The same graph with node `i` called `names[i]`, a permutation: see [`Adjacency::relabelled`].
    ///
    /// # Errors
    /// When the names are not as many as the nodes.
    pub fn relabelled(&self, names: &[u32]) -> Result<Structure> {
        check_size("list of new names", names.len(), self.num_nodes())?;
        let (adjacency, origins) = self.adjacency.relabelled_with_origins(names);
        let edges = self.edges.as_ref().map(|edges| EdgeInput {
            input: edges.input.clone(),
            places: origins.iter().map(|&origin| edges.places[origin]).collect(),
        });
        Ok(Structure { adjacency: Arc::new(adjacency), edges })
    }

    /// A corrupted twin, in which nodes keep their neighborhoods and exchange their features within each graph: the rows that
    /// shuffling the features would give, in another order.
    ///
    /// # Errors
    /// When the segments do not have as many rows as there are nodes.
    pub fn shuffled(&self, segments: &Segments, random: &mut impl Rng) -> Result<Structure> {
        check_size("sum of the graphs' sizes", segments.rows(), self.num_nodes())?;
        let mut names: Vec<u32> = (0..self.num_nodes() as u32).collect();
        for segment in 0..segments.len() {
            names[segments.range(segment)].shuffle(random);
        }
        self.relabelled(&names)
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.adjacency.num_nodes()
    }
}
