//! Rows in another order: what makes nodes of a corruption (DGI, MVGRL) out of a product with their features.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};

/// The rows of `input` in another order: row `i` of the result is row `order[i]`. `order` is a permutation.
pub fn permute(input: Tensor<2>, order: &Arc<[u32]>) -> Tensor<2> {
    assert_eq!(input.dims()[0], order.len(), "one place for each row");
    if !operation::is_on_cpu(&input) {
        return super::plain::permute(input, order);
    }
    operation::apply(Permute { order: Arc::clone(order) }, [input.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Permute {
    order: Arc<[u32]>,
}

impl Operation<1> for Permute {
    type Saved = ();

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, ()) {
        (gather(&input, &self.order), ())
    }

    fn backward(&self, (): (), gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let mut inverse = vec![0; self.order.len()];
        for (place, &from) in (0..).zip(&*self.order) {
            inverse[from as usize] = place;
        }
        [Some(gather(&gradient, &inverse))]
    }
}

fn gather(input: &FlexTensor, order: &[u32]) -> FlexTensor {
    let width = width(input);
    let values: &[f32] = input.storage();
    let mut output = vec![0.0; values.len()];
    kernel::for_each_part(
        &mut output,
        width,
        #[inline(always)]
        |first, part| {
            for (row, &from) in part.chunks_exact_mut(width).zip(&order[first..]) {
                row.copy_from_slice(&values[from as usize * width..(from as usize + 1) * width]);
            }
        },
    );
    operation::tensor(output, [order.len(), width])
}
