//! Sparse times dense, where the weight of every edge is an input with a gradient of its own: learned edge dropping.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::kernel::{self, SparseRows};
use super::operation::{self, Operation, width};
use crate::Operator;

/// `(operator ∘ weights) · input`, where both entries of an edge have the weight of [`Operator::edge_places`]; the diagonal has one.
///
/// The operator need not be symmetric, as that of [`Normalization::RowMean`](crate::Normalization::RowMean) is not. Gradients flow to the
/// weights and the input.
pub fn propagate_weighted(operator: &Arc<Operator>, edge_weights: Tensor<1>, input: Tensor<2>) -> Tensor<2> {
    assert_eq!(input.dims()[0], operator.num_nodes(), "the input has one row for each node");
    let edges = operator.edge_places().iter().filter(|&&place| place != u32::MAX).count() / 2;
    assert_eq!(edge_weights.dims()[0], edges, "one weight for each edge");
    if !operation::is_on_cpu(&input) || !operation::is_on_cpu(&edge_weights) {
        return super::plain::propagate_weighted(operator, edge_weights, input);
    }
    let weighted = Weighted { operator: Arc::clone(operator) };
    operation::apply(weighted, [edge_weights.into_dispatch(), input.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Weighted {
    operator: Arc<Operator>,
}

impl Weighted {
    /// The product of a weighted matrix with a dense one. `rows` are the operator's or those of its transpose, which have their entries in
    /// the same places.
    fn times(&self, rows: SparseRows<'_>, weights: &[f32], dense: &[f32], width: usize) -> Vec<f32> {
        let places = self.operator.edge_places();
        let weight = |place: u32| weights.get(place as usize).copied().unwrap_or(1.0);
        let values: Vec<f32> =
            rows.values.iter().zip(places.iter()).map(|(value, &place)| value * weight(place)).collect();
        SparseRows { values: &values, ..rows }.times(dense, width, kernel::as_it_is)
    }
}

impl Operation<2> for Weighted {
    type Saved = [FlexTensor; 2];

    fn forward(&self, [weights, input]: [FlexTensor; 2]) -> (FlexTensor, [FlexTensor; 2]) {
        let width = width(&input);
        let product = self.times(self.operator.sparse_rows(), weights.storage(), input.storage(), width);
        (operation::tensor(product, [self.operator.num_nodes(), width]), [weights, input])
    }

    fn backward(&self, saved: [FlexTensor; 2], gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let [weights, input] = &saved;
        let width = width(input);
        let (values, gradients): (&[f32], &[f32]) = (input.storage(), gradient.storage());
        let for_weights = wanted[0].then(|| {
            let row = |matrix: &[f32], node: usize| matrix[node * width..(node + 1) * width].to_vec();
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let (indptr, indices) = (self.operator.indptr(), self.operator.indices());
            // At the place of an entry, the transpose has the value of the way back.
            let (forth, back) = (self.operator.values(), self.operator.transposed_rows().values);
            // Edges are counted by their lower end: each node has the sums of its edges to higher ones.
            let of_node = |node: usize| {
                let (own, own_gradient) = (row(values, node), row(gradients, node));
                let upper = (indptr[node]..indptr[node + 1]).filter(move |&place| indices[place] as usize > node);
                let of_edge = move |place: usize| {
                    let other = indices[place] as usize;
                    let to_node = dot(&own_gradient, &values[other * width..(other + 1) * width]);
                    let to_other = dot(&own, &gradients[other * width..(other + 1) * width]);
                    forth[place] * to_node + back[place] * to_other
                };
                upper.map(of_edge).collect::<Vec<f32>>()
            };
            let sums: Vec<Vec<f32>> = (0..self.operator.num_nodes()).into_par_iter().map(of_node).collect();
            let sums = sums.concat();
            let shape = [sums.len()];
            operation::tensor(sums, shape)
        });
        let for_input = wanted[1].then(|| {
            let product = self.times(self.operator.transposed_rows(), weights.storage(), gradients, width);
            operation::tensor(product, [self.operator.num_nodes(), width])
        });
        [for_weights, for_input]
    }
}
