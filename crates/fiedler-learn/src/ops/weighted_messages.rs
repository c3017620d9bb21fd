//! Messages whose weights are an input with a gradient of their own, one for each direction of an edge.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};
use crate::Operator;

/// For each node the sum of `weight · neighbor` over its neighbors; where edges have vectors, of `weight · relu(neighbor + edge)`, or
/// without `relu` of `weight · (neighbor + edge)`.
///
/// There is one weight for each entry of the operator, which must be without a diagonal; its values are not used. `edges` has for every
/// entry the row of its edge, and the rows. Gradients flow to weights, nodes and edges.
pub fn weighted_messages(
    operator: &Arc<Operator>,
    weights: Tensor<1>,
    nodes: Tensor<2>,
    edges: Option<(&Arc<[u32]>, Tensor<2>)>,
    relu: bool,
) -> Tensor<2> {
    assert_eq!(nodes.dims()[0], operator.num_nodes(), "one row a node");
    assert_eq!(weights.dims()[0], operator.indices().len(), "one weight for each entry");
    if !operation::is_on_cpu(&nodes) || !operation::is_on_cpu(&weights) {
        let edges = edges.map(|(places, rows)| (&**places, rows));
        return super::plain::weighted_messages(operator, weights, nodes, edges, relu);
    }
    let (places, rows) = match edges {
        Some((places, rows)) => (Some(Arc::clone(places)), rows.into_dispatch()),
        None => (None, operation::absent()),
    };
    let messages = WeightedMessages { operator: Arc::clone(operator), places, relu };
    operation::apply(messages, [weights.into_dispatch(), nodes.into_dispatch(), rows])
}

#[derive(Debug, Clone)]
struct WeightedMessages {
    operator: Arc<Operator>,
    /// For each entry the row of its edge.
    places: Option<Arc<[u32]>>,
    relu: bool,
}

/// An entry of a node's row.
struct Entry {
    place: usize,
    neighbor: usize,
    edge: Option<usize>,
}

impl WeightedMessages {
    fn entries(&self, node: usize) -> impl Iterator<Item = Entry> + '_ {
        let range = self.operator.indptr()[node]..self.operator.indptr()[node + 1];
        range.map(|place| Entry {
            place,
            neighbor: self.operator.indices()[place] as usize,
            edge: self.places.as_ref().map(|places| places[place] as usize),
        })
    }
}

/// Values of a message, handed out one by one.
#[inline(always)]
fn for_each_value(node: &[f32], edge: Option<&[f32]>, relu: bool, mut tell: impl FnMut(usize, f32)) {
    match edge {
        None => node.iter().enumerate().for_each(|(at, &value)| tell(at, value)),
        Some(edge) => {
            let least = if relu { 0.0 } else { f32::NEG_INFINITY };
            node.iter().zip(edge).enumerate().for_each(|(at, (&node, &edge))| tell(at, (node + edge).max(least)));
        }
    }
}

impl Operation<3> for WeightedMessages {
    type Saved = [FlexTensor; 3];

    fn forward(&self, [weights, nodes, edges]: [FlexTensor; 3]) -> (FlexTensor, [FlexTensor; 3]) {
        let width = width(&nodes);
        let (of_nodes, of_edges): (&[f32], &[f32]) = (nodes.storage(), edges.storage());
        let factors: &[f32] = weights.storage();
        let mut sums = vec![0.0; of_nodes.len()];
        kernel::for_each_part(
            &mut sums,
            width,
            #[inline(always)]
            |first, part| {
                for (place, sum) in part.chunks_exact_mut(width).enumerate() {
                    for Entry { place, neighbor, edge } in self.entries(first + place) {
                        let node = &of_nodes[neighbor * width..(neighbor + 1) * width];
                        let edge = edge.map(|edge| &of_edges[edge * width..(edge + 1) * width]);
                        for_each_value(node, edge, self.relu, |at, value| sum[at] += factors[place] * value);
                    }
                }
            },
        );
        (operation::tensor(sums, [self.operator.num_nodes(), width]), [weights, nodes, edges])
    }

    fn backward(&self, saved: [FlexTensor; 3], gradient: FlexTensor, wanted: [bool; 3]) -> [Option<FlexTensor>; 3] {
        let [weights, nodes, edges] = &saved;
        let width = width(nodes);
        let (of_nodes, of_edges): (&[f32], &[f32]) = (nodes.storage(), edges.storage());
        let (factors, gradient): (&[f32], &[f32]) = (weights.storage(), gradient.storage());
        let row = |matrix: &'_ [f32], at: usize| -> std::ops::Range<usize> {
            debug_assert!((at + 1) * width <= matrix.len());
            at * width..(at + 1) * width
        };
        let for_weights = wanted[0].then(|| {
            let mut images = vec![0.0; factors.len()];
            for node in 0..self.operator.num_nodes() {
                let arrived = &gradient[row(gradient, node)];
                for Entry { place, neighbor, edge } in self.entries(node) {
                    let (sent, edge) =
                        (&of_nodes[row(of_nodes, neighbor)], edge.map(|at| &of_edges[row(of_edges, at)]));
                    let image = &mut images[place];
                    for_each_value(sent, edge, self.relu, |at, value| *image += value * arrived[at]);
                }
            }
            operation::tensor(images, [factors.len()])
        });
        let least = if self.relu { 0.0 } else { f32::NEG_INFINITY };
        // What flows back along an entry, from the sum that it adds to, to the value that it takes.
        let flow = |image: &mut [f32], factor: f32, arrived: &[f32], sent: &[f32], edge: Option<&[f32]>| match edge {
            None => kernel::add_multiple(image, factor, arrived),
            Some(edge) => {
                for (((image, &arrived), &sent), &edge) in image.iter_mut().zip(arrived).zip(sent).zip(edge) {
                    *image += if sent + edge > least { factor * arrived } else { 0.0 };
                }
            }
        };
        let for_nodes = wanted[1].then(|| {
            let mirrors = self.operator.mirrors();
            let mut images = vec![0.0; of_nodes.len()];
            kernel::for_each_part(
                &mut images,
                width,
                #[inline(always)]
                |first, part| {
                    for (at, image) in part.chunks_exact_mut(width).enumerate() {
                        let node = first + at;
                        for Entry { place, neighbor, edge } in self.entries(node) {
                            let edge = edge.map(|at| &of_edges[row(of_edges, at)]);
                            let arrived = &gradient[row(gradient, neighbor)];
                            flow(
                                image,
                                factors[mirrors[place] as usize],
                                arrived,
                                &of_nodes[row(of_nodes, node)],
                                edge,
                            );
                        }
                    }
                },
            );
            operation::tensor(images, [self.operator.num_nodes(), width])
        });
        let for_edges = (wanted[2] && self.places.is_some()).then(|| {
            let count = edges.layout().shape()[0];
            let mut images = vec![0.0; of_edges.len()];
            for node in 0..self.operator.num_nodes() {
                let arrived = &gradient[row(gradient, node)];
                for Entry { place, neighbor, edge } in self.entries(node) {
                    let Some(edge) = edge else { continue };
                    let (sent, vector) = (&of_nodes[row(of_nodes, neighbor)], &of_edges[row(of_edges, edge)]);
                    let range = row(of_edges, edge);
                    flow(&mut images[range], factors[place], arrived, sent, Some(vector));
                }
            }
            operation::tensor(images, [count, width])
        });
        [for_weights, for_nodes, for_edges]
    }
}
