//! The first product of an encoder: sparse features times weights, without ever writing the features out.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel::{self, SparseRows};
use super::operation::{self, Operation, width};
use crate::feature_matrix::SparseMatrix;

/// `(features ∘ kept) · weight`, where `kept` says for each column whether this view has it.
///
/// Gradients flow to the weight only.
pub fn project(features: &Arc<SparseMatrix>, kept: Option<&Arc<[bool]>>, weight: Tensor<2>) -> Tensor<2> {
    assert_eq!(weight.dims()[0], features.columns(), "the weight has one row for each feature");
    assert!(kept.is_none_or(|kept| kept.len() == features.columns()), "one choice for each feature");
    if !operation::is_on_cpu(&weight) {
        return super::plain::project(features, kept.map(AsRef::as_ref), weight);
    }
    let project = Project { features: Arc::clone(features), kept: kept.cloned() };
    operation::apply(project, [weight.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Project {
    features: Arc<SparseMatrix>,
    kept: Option<Arc<[bool]>>,
}

/// The entries that a view has left, where it does not have all.
#[derive(Debug, Clone)]
struct Entries {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Entries {
    fn rows(&self) -> SparseRows<'_> {
        SparseRows { offsets: &self.offsets, columns: &self.columns, values: &self.values }
    }
}

impl Operation<1> for Project {
    type Saved = Option<Arc<Entries>>;

    fn forward(&self, [weight]: [FlexTensor; 1]) -> (FlexTensor, Self::Saved) {
        let width = width(&weight);
        // Leaving entries out beforehand is cheaper than asking again for every tile of columns.
        let left = self.kept.as_ref().map(|kept| Arc::new(leave_out(self.features.rows_of_entries(), kept)));
        let rows = left.as_ref().map_or_else(|| self.features.rows_of_entries(), |left| left.rows());
        let product = rows.times(weight.storage(), width, kernel::as_it_is);
        (operation::tensor(product, [self.features.rows(), width]), left)
    }

    fn backward(&self, left: Self::Saved, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let width = width(&gradient);
        let rows = left.as_ref().map_or_else(|| self.features.rows_of_entries(), |left| left.rows());
        let product = rows.transposed_times(self.features.columns(), gradient.storage(), width);
        [Some(operation::tensor(product, [self.features.columns(), width]))]
    }
}

fn leave_out(rows: SparseRows, kept: &[bool]) -> Entries {
    let mut left = Entries {
        offsets: Vec::with_capacity(rows.offsets.len()),
        columns: Vec::with_capacity(rows.columns.len()),
        values: Vec::with_capacity(rows.values.len()),
    };
    left.offsets.push(0);
    for bounds in rows.offsets.windows(2) {
        for place in bounds[0]..bounds[1] {
            if kept[rows.columns[place] as usize] {
                left.columns.push(rows.columns[place]);
                left.values.push(rows.values[place]);
            }
        }
        left.offsets.push(left.columns.len());
    }
    left
}
