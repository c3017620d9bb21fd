//! A graph made ready for message passing.

use std::sync::Arc;

use burn::Tensor;
use burn::tensor::Device;
use fiedler_graph::{Features, Graph};
use rand::Rng;
use rand::seq::SliceRandom;

use crate::error::{Error, Result, check_size};
use crate::{FeatureMatrix, GraphOffsets, Normalization, Operator};

/// A graph, or a batch of graphs, as an encoder walks it. Clones share the memory.
#[derive(Debug, Clone)]
pub struct MessageGraph {
    pub(crate) operator: Arc<Operator>,
    pub(crate) edges: Option<EdgeInput>,
    /// Coefficients of a power series of the operator, by which messages pass instead.
    pub(crate) series: Option<Arc<[f32]>>,
    /// Weights of messages with gradients of their own, one for each entry of the operator, in place of its values.
    pub(crate) entry_weights: Option<Tensor<1>>,
    /// Whether the entries of the operator are the graph's own weights.
    as_given: bool,
}

/// What is known of the edges.
#[derive(Debug, Clone)]
pub(crate) struct EdgeInput {
    pub input: FeatureMatrix,
    /// For each entry of the operator the row of its edge.
    pub places: Arc<[u32]>,
}

impl MessageGraph {
    fn of(operator: Operator) -> MessageGraph {
        MessageGraph { operator: Arc::new(operator), edges: None, series: None, entry_weights: None, as_given: false }
    }

    /// The same graph with messages passed by a power series of its matrix, `Σ_k coefficients[k] · Pᵏ`, such as a diffusion that is cut off.
    /// The series is applied term by term and never written out. Only graph convolutions can walk such a graph.
    ///
    /// # Errors
    /// When there is no coefficient.
    pub fn with_series(&self, coefficients: &[f32]) -> Result<MessageGraph> {
        if coefficients.is_empty() {
            return Err(Error::setting("number of coefficients", 0, "at least 1"));
        }
        Ok(MessageGraph { series: Some(coefficients.into()), ..self.clone() })
    }

    /// The same graph with messages weighted by a tensor, one weight for each entry of the operator: entry `(v, u)` is the message from `u`
    /// to `v`. Gradients flow to the weights. Only graph isomorphism layers can walk such a graph.
    ///
    /// # Errors
    /// When there is not one weight for each entry.
    pub fn with_entry_weights(&self, weights: Tensor<1>) -> Result<MessageGraph> {
        check_size("list of weights of messages", weights.dims()[0], self.operator.indices().len())?;
        Ok(MessageGraph { entry_weights: Some(weights), ..self.clone() })
    }

    /// The same graph without features of edges.
    pub(crate) fn without_edge_features(&self) -> MessageGraph {
        MessageGraph { edges: None, ..self.clone() }
    }

    /// Whether weights of edges and self-loops are those of a propagation matrix and were taken as they are, as those of a diffusion.
    pub fn is_as_given(&self) -> bool {
        self.as_given
    }

    /// A graph without features of edges.
    pub fn new(graph: &Graph, normalization: Normalization) -> MessageGraph {
        MessageGraph::of(Operator::new(graph, normalization))
    }

    /// A graph whose weights, and what every node gives to itself, are to be taken as they are.
    ///
    /// # Errors
    /// When there is not one own weight for each node.
    pub fn with_self_loop_weights(graph: &Graph, own: &[f32]) -> Result<MessageGraph> {
        let operator = Operator::with_self_loop_weights(graph, own)?;
        Ok(MessageGraph { as_given: true, ..MessageGraph::of(operator) })
    }

    /// A graph with one row of features for each edge, in the order of [`Graph::edge_pairs`].
    ///
    /// # Errors
    /// When there is not one row for each edge.
    pub fn with_edges(graph: &Graph, features: &Features, device: &Device) -> Result<MessageGraph> {
        check_size("table of edge features", features.rows(), graph.num_edges())?;
        let places = graph.spread_to_entries(&(0..graph.num_edges() as u32).collect::<Vec<u32>>());
        let edges = EdgeInput { input: FeatureMatrix::new(features, device), places: places.into() };
        Ok(MessageGraph { edges: Some(edges), ..MessageGraph::of(Operator::new(graph, Normalization::None)) })
    }

    /// The same graph with node `i` called `names[i]`, a permutation: see [`Operator::relabelled`].
    ///
    /// # Errors
    /// When the names are not as many as the nodes.
    pub fn relabelled(&self, names: &[u32]) -> Result<MessageGraph> {
        check_size("list of new names", names.len(), self.num_nodes())?;
        let (operator, origins) = self.operator.relabelled_with_origins(names);
        let edges = self.edges.as_ref().map(|edges| EdgeInput {
            input: edges.input.clone(),
            places: origins.iter().map(|&origin| edges.places[origin]).collect(),
        });
        Ok(MessageGraph { operator: Arc::new(operator), edges, ..self.clone() })
    }

    /// Corruption (DGI): a graph in which nodes keep their neighborhoods and exchange their features within each graph: the rows that
    /// shuffling the features would give, in another order.
    ///
    /// # Errors
    /// When the offsets do not have as many rows as there are nodes.
    pub fn corrupted(&self, offsets: &GraphOffsets, random: &mut impl Rng) -> Result<MessageGraph> {
        check_size("sum of the graphs' sizes", offsets.rows(), self.num_nodes())?;
        let mut names: Vec<u32> = (0..self.num_nodes() as u32).collect();
        for segment in 0..offsets.len() {
            names[offsets.range(segment)].shuffle(random);
        }
        self.relabelled(&names)
    }

    /// The matrix that messages pass by.
    pub fn operator(&self) -> &Arc<Operator> {
        &self.operator
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.operator.num_nodes()
    }
}
