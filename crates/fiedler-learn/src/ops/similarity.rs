//! How similar every node is to the vector of its graph: the contrast between nodes and graphs.

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kernel::{self, Piece};
use super::operation::{self, Operation, width};
use crate::GraphOffsets;

/// How two vectors are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Similarity {
    /// The cosine of the angle between them.
    #[default]
    Cosine,
    /// The plain dot product.
    Dot,
}

impl Similarity {
    /// What a dot product is divided by for this vector.
    #[inline(always)]
    fn length(self, vector: &[f32]) -> f32 {
        match self {
            Similarity::Cosine => kernel::dot(vector, vector).sqrt().max(SHORTEST),
            Similarity::Dot => 1.0,
        }
    }
}

/// The least length a vector is taken to have, as in other programs.
pub(crate) const SHORTEST: f32 = 1e-8;

/// For each node its similarity with the vector of the graph it belongs to.
///
/// `nodes` has one row a node, `graphs` one a segment. Gradients flow to both.
pub fn similarity(nodes: Tensor<2>, graphs: Tensor<2>, offsets: &GraphOffsets, similarity: Similarity) -> Tensor<1> {
    assert_eq!(nodes.dims(), [offsets.rows(), graphs.dims()[1]], "one row a node, as wide as the graphs' vectors");
    assert_eq!(graphs.dims()[0], offsets.len(), "one vector a graph");
    if !operation::is_on_cpu(&nodes) {
        return super::plain::similarity(nodes, graphs, offsets, similarity);
    }
    let compare = Compare { offsets: offsets.clone(), similarity };
    operation::apply(compare, [nodes.into_dispatch(), graphs.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Compare {
    offsets: GraphOffsets,
    similarity: Similarity,
}

#[derive(Debug, Clone)]
struct Saved {
    nodes: FlexTensor,
    graphs: FlexTensor,
    similarities: Vec<f32>,
    node_lengths: Vec<f32>,
    graph_lengths: Vec<f32>,
}

impl Operation<2> for Compare {
    type Saved = Saved;

    fn forward(&self, [nodes, graphs]: [FlexTensor; 2]) -> (FlexTensor, Saved) {
        let width = width(&nodes);
        let (of_nodes, of_graphs): (&[f32], &[f32]) = (nodes.storage(), graphs.storage());
        let row = |row: usize| row * width..(row + 1) * width;
        let graph_lengths: Vec<f32> =
            (0..self.offsets.len()).map(|graph| self.similarity.length(&of_graphs[row(graph)])).collect();
        let arch = Arch::new();
        let pieces = kernel::pieces(self.offsets.offsets());
        let parts: Vec<(Vec<f32>, Vec<f32>)> = pieces
            .par_iter()
            .with_min_len(kernel::pieces_at_once(&pieces, width))
            .map(|Piece { segment, rows }| {
                let graph = &of_graphs[row(*segment)];
                kernel::vectorised(
                    arch,
                    #[inline(always)]
                    || {
                        rows.clone()
                            .map(|node| {
                                let node = &of_nodes[row(node)];
                                let length = self.similarity.length(node);
                                let product = kernel::dot(node, graph);
                                (product / (length * graph_lengths[*segment]), length)
                            })
                            .unzip()
                    },
                )
            })
            .collect();
        let mut similarities = Vec::with_capacity(self.offsets.rows());
        let mut node_lengths = Vec::with_capacity(self.offsets.rows());
        for (part, lengths) in parts {
            similarities.extend(part);
            node_lengths.extend(lengths);
        }
        let output = operation::tensor(similarities.clone(), [self.offsets.rows()]);
        (output, Saved { nodes, graphs, similarities, node_lengths, graph_lengths })
    }

    fn backward(&self, saved: Saved, gradient: FlexTensor, [nodes_wanted, _]: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let width = width(&saved.nodes);
        let (nodes, graphs): (&[f32], &[f32]) = (saved.nodes.storage(), saved.graphs.storage());
        let gradient: &[f32] = gradient.storage();
        // A length that was raised to the shortest allowed does not change with the vector.
        let activations = |length: f32| match self.similarity {
            Similarity::Cosine if length > SHORTEST => 1.0 / (length * length),
            Similarity::Cosine | Similarity::Dot => 0.0,
        };
        let pieces = kernel::pieces(self.offsets.offsets());
        let mut of_nodes = vec![0.0; if nodes_wanted { nodes.len() } else { 0 }];
        let images = cut(&mut of_nodes, &pieces, width);
        let arch = Arch::new();
        let parts: Vec<(Vec<f32>, f32)> = pieces
            .par_iter()
            .zip(images)
            .with_min_len(kernel::pieces_at_once(&pieces, width))
            .map(|(Piece { segment, rows }, image)| {
                let graph = &graphs[segment * width..(segment + 1) * width];
                let mut of_graph = vec![0.0; width];
                let mut along = 0.0;
                kernel::vectorised(
                    arch,
                    #[inline(always)]
                    || {
                        let mut image = image.chunks_exact_mut(width);
                        for node in rows.clone() {
                            let row = &nodes[node * width..(node + 1) * width];
                            let length = saved.node_lengths[node];
                            let scaled = gradient[node] / (length * saved.graph_lengths[*segment]);
                            let pull = gradient[node] * saved.similarities[node];
                            let back = pull * activations(length);
                            along += pull;
                            kernel::add_multiple(&mut of_graph, scaled, row);
                            if let Some(image) = image.next() {
                                for ((image, &graph), &row) in image.iter_mut().zip(graph).zip(row) {
                                    *image = scaled * graph - back * row;
                                }
                            }
                        }
                    },
                );
                (of_graph, along)
            })
            .collect();
        let mut of_graphs = vec![0.0; graphs.len()];
        for (Piece { segment, .. }, (part, along)) in pieces.iter().zip(parts) {
            let range = segment * width..(segment + 1) * width;
            let total = &mut of_graphs[range.clone()];
            kernel::add_to(total, &part);
            kernel::add_multiple(total, -along * activations(saved.graph_lengths[*segment]), &graphs[range]);
        }
        let of_nodes = nodes_wanted.then(|| operation::tensor(of_nodes, [self.offsets.rows(), width]));
        [of_nodes, Some(operation::tensor(of_graphs, [self.offsets.len(), width]))]
    }
}

/// The rows of a matrix, one slice for each piece; empty slices where there is no matrix.
pub(super) fn cut<'a>(matrix: &'a mut [f32], pieces: &[Piece], width: usize) -> Vec<&'a mut [f32]> {
    let mut rest = matrix;
    pieces
        .iter()
        .map(|piece| {
            let length = (piece.rows.len() * width).min(rest.len());
            rest.split_off_mut(..length).unwrap_or_default()
        })
        .collect()
}
