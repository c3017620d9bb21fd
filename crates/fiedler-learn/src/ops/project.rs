//! The first product of an encoder: sparse features times weights, without ever writing the features out.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel::SparseRows;
use super::operation::{self, Operation, width};
use crate::features::SparseFeatures;

/// `(features ∘ kept) · weight`, where `kept` says for each column whether this view has it.
///
/// Gradients flow to the weight only.
pub fn project(features: &Arc<SparseFeatures>, kept: Option<&Arc<[bool]>>, weight: Tensor<2>) -> Tensor<2> {
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
    features: Arc<SparseFeatures>,
    kept: Option<Arc<[bool]>>,
}

impl Operation<1> for Project {
    type Saved = ();

    fn forward(&self, [weight]: [FlexTensor; 1]) -> (FlexTensor, ()) {
        let width = width(&weight);
        let product = match &self.kept {
            None => self.features.by_row().times(weight.storage(), width, |_, _| ()),
            // Leaving entries out beforehand is cheaper than asking again for every tile of columns.
            Some(kept) => {
                let (offsets, columns, values) = leave_out(self.features.by_row(), kept);
                let rows = SparseRows { offsets: &offsets, columns: &columns, values: &values, kept: None };
                rows.times(weight.storage(), width, |_, _| ())
            }
        };
        (operation::tensor(product, [self.features.rows(), width]), ())
    }

    fn backward(&self, (): (), gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let width = width(&gradient);
        let rows = SparseRows { kept: self.kept.as_deref(), ..self.features.by_column() };
        let product = rows.times(gradient.storage(), width, |_, _| ());
        [Some(operation::tensor(product, [self.features.columns(), width]))]
    }
}

fn leave_out(rows: SparseRows, kept: &[bool]) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
    let mut offsets = Vec::with_capacity(rows.offsets.len());
    let mut columns = Vec::with_capacity(rows.columns.len());
    let mut values = Vec::with_capacity(rows.values.len());
    offsets.push(0);
    for bounds in rows.offsets.windows(2) {
        for place in bounds[0]..bounds[1] {
            if kept[rows.columns[place] as usize] {
                columns.push(rows.columns[place]);
                values.push(rows.values[place]);
            }
        }
        offsets.push(columns.len());
    }
    (offsets, columns, values)
}
