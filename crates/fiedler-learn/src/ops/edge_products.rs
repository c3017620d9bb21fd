//! The products of the rows that edges join.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;

use super::kernel::{self, SparseRows};
use super::operation::{self, Operation, width};
use crate::Operator;

/// `x_i·x_j` for each undirected edge of an operator, in the order of [`Operator::edge_places`]. Its values do not count, and neither does
/// its diagonal.
pub fn edge_products(operator: &Arc<Operator>, rows: Tensor<2>) -> Tensor<1> {
    assert_eq!(rows.dims()[0], operator.num_nodes(), "one row for each node");
    if !operation::is_on_cpu(&rows) {
        return super::plain::edge_products(operator, rows);
    }
    operation::apply(EdgeProducts { operator: Arc::clone(operator) }, [rows.into_dispatch()])
}

#[derive(Debug, Clone)]
struct EdgeProducts {
    operator: Arc<Operator>,
}

impl Operation<1> for EdgeProducts {
    type Saved = FlexTensor;

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, FlexTensor) {
        let (width, values) = (width(&input), input.storage::<f32>());
        let row = |node: usize| &values[node * width..(node + 1) * width];
        let arch = Arch::new();
        // Edges are counted by their lower end: each node has the products with higher ones.
        let of_node = |node: usize| -> Vec<f32> {
            let others = self.operator.row(node).0.iter().filter(|&&other| other as usize > node);
            kernel::vectorised(
                arch,
                #[inline(always)]
                || others.clone().map(|&other| kernel::dot(row(node), row(other as usize))).collect(),
            )
        };
        let products: Vec<Vec<f32>> = (0..self.operator.num_nodes())
            .into_par_iter()
            .with_min_len(kernel::rows_at_once(width))
            .map(of_node)
            .collect();
        let products = products.concat();
        let count = products.len();
        (operation::tensor(products, [count]), input)
    }

    fn backward(&self, input: FlexTensor, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let width = width(&input);
        let gradients: &[f32] = gradient.storage();
        // Either end moves along the other: a product with the matrix of the edges' gradients, which is symmetric.
        let of_entry = |&place: &u32| gradients.get(place as usize).copied().unwrap_or(0.0);
        let values: Vec<f32> = self.operator.edge_places().iter().map(of_entry).collect();
        let rows = SparseRows { values: &values, ..self.operator.sparse_rows() };
        let product = rows.times(input.storage(), width, kernel::as_it_is);
        [Some(operation::tensor(product, [self.operator.num_nodes(), width]))]
    }
}
