//! Messages that differ by the edge they come along.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;

use super::kernel;
use super::operation::{self, Operation, width};
use crate::Operator;

/// For each node the sum of `relu(neighbor + edge)` over its neighbors, or of `neighbor + edge` without `relu`.
///
/// `nodes` has one row a node, `edges` one an edge, and `places` says for every entry of the operator which edge it is; an
/// edge has two entries. The operator's values are not used. Gradients flow to the nodes and the edges.
pub fn messages(
    operator: &Arc<Operator>,
    places: &Arc<[u32]>,
    nodes: Tensor<2>,
    edges: Tensor<2>,
    relu: bool,
) -> Tensor<2> {
    assert_eq!(nodes.dims()[0], operator.num_nodes(), "one row a node");
    assert_eq!(nodes.dims()[1], edges.dims()[1], "edges as wide as nodes");
    assert_eq!(places.len(), operator.indices().len(), "an edge for each entry");
    if !operation::is_on_cpu(&nodes) {
        return super::plain::messages(operator, places, nodes, edges, relu);
    }
    let messages = Messages { operator: Arc::clone(operator), places: Arc::clone(places), relu };
    operation::apply(messages, [nodes.into_dispatch(), edges.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Messages {
    operator: Arc<Operator>,
    places: Arc<[u32]>,
    relu: bool,
}

impl Messages {
    /// For each entry of a node's row: the neighbor and the edge.
    fn entries(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.operator.indptr()[node]..self.operator.indptr()[node + 1];
        let columns = &self.operator.indices()[range.clone()];
        columns.iter().zip(&self.places[range]).map(|(&column, &place)| (column as usize, place as usize))
    }

    /// The nodes at both ends of each edge.
    fn ends(&self, edges: usize) -> Vec<(u32, u32)> {
        let mut ends = vec![(u32::MAX, u32::MAX); edges];
        for node in 0..self.operator.num_nodes() {
            for (neighbor, edge) in self.entries(node) {
                ends[edge] = (node as u32, neighbor as u32);
            }
        }
        ends
    }
}

impl Operation<2> for Messages {
    type Saved = [FlexTensor; 2];

    fn forward(&self, [nodes, edges]: [FlexTensor; 2]) -> (FlexTensor, [FlexTensor; 2]) {
        let width = width(&nodes);
        let (of_nodes, of_edges): (&[f32], &[f32]) = (nodes.storage(), edges.storage());
        let least = if self.relu { 0.0 } else { f32::NEG_INFINITY };
        let mut sums = vec![0.0; of_nodes.len()];
        kernel::for_each_part(
            &mut sums,
            width,
            #[inline(always)]
            |first, part| {
                for (place, sum) in part.chunks_exact_mut(width).enumerate() {
                    for (neighbor, edge) in self.entries(first + place) {
                        let node = &of_nodes[neighbor * width..(neighbor + 1) * width];
                        let edge = &of_edges[edge * width..(edge + 1) * width];
                        for ((sum, &node), &edge) in sum.iter_mut().zip(node).zip(edge) {
                            *sum += (node + edge).max(least);
                        }
                    }
                }
            },
        );
        (operation::tensor(sums, [self.operator.num_nodes(), width]), [nodes, edges])
    }

    fn backward(&self, saved: [FlexTensor; 2], gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let [nodes, edges] = &saved;
        let width = width(nodes);
        let (of_nodes, of_edges): (&[f32], &[f32]) = (nodes.storage(), edges.storage());
        let gradient: &[f32] = gradient.storage();
        let least = if self.relu { 0.0 } else { f32::NEG_INFINITY };
        // What flows back along an edge from one end's sum to the other end's value.
        let flow = |image: &mut [f32], from: usize, node: usize, edge: usize| {
            let gradient = &gradient[from * width..(from + 1) * width];
            let node = &of_nodes[node * width..(node + 1) * width];
            let edge = &of_edges[edge * width..(edge + 1) * width];
            for (((image, &gradient), &node), &edge) in image.iter_mut().zip(gradient).zip(node).zip(edge) {
                *image += if node + edge > least { gradient } else { 0.0 };
            }
        };
        let for_nodes = wanted[0].then(|| {
            let mut images = vec![0.0; of_nodes.len()];
            kernel::for_each_part(
                &mut images,
                width,
                #[inline(always)]
                |first, part| {
                    for (place, image) in part.chunks_exact_mut(width).enumerate() {
                        let node = first + place;
                        self.entries(node).for_each(|(neighbor, edge)| flow(image, neighbor, node, edge));
                    }
                },
            );
            operation::tensor(images, [self.operator.num_nodes(), width])
        });
        let for_edges = wanted[1].then(|| {
            let count = edges.layout().shape()[0];
            let ends = self.ends(count);
            let mut images = vec![0.0; of_edges.len()];
            if width > 0 {
                let arch = Arch::new();
                images.par_chunks_mut(width).enumerate().with_min_len(kernel::rows_at_once(width)).for_each(
                    |(edge, image)| {
                        let (a, b) = (ends[edge].0 as usize, ends[edge].1 as usize);
                        // An edge that no entry has is not of this graph.
                        if ends[edge].0 != u32::MAX {
                            kernel::vectorised(
                                arch,
                                #[inline(always)]
                                || {
                                    flow(image, a, b, edge);
                                    flow(image, b, a, edge);
                                },
                            );
                        }
                    },
                );
            }
            operation::tensor(images, [count, width])
        });
        [for_nodes, for_edges]
    }
}
