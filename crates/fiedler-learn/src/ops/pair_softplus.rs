//! The sum over all pairs of rows of the softplus of their products: what pairs without an edge bring to a cross-entropy between products
//! and an adjacency matrix.

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use fiedler_spectral::simd::Arch;

use super::all_pairs::{Block, Rows, for_all_pairs};
use super::operation::{self, Operation, width};
use super::{kernel, scalar};

/// `Σ_ij log(1 + exp(x_i·x_j))` over all ordered pairs of rows, each with itself among them: a single number.
///
/// Products are never held: memory grows with the rows, not with their pairs.
pub fn pair_softplus(rows: Tensor<2>) -> Tensor<1> {
    if !operation::is_on_cpu(&rows) {
        return super::plain::pair_softplus(rows);
    }
    operation::apply(PairSoftplus, [rows.into_dispatch()])
}

#[derive(Debug, Clone)]
struct PairSoftplus;

impl Operation<1> for PairSoftplus {
    type Saved = FlexTensor;

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, FlexTensor) {
        let rows = Rows { values: input.storage(), width: width(&input) };
        let sums = for_all_pairs(
            rows.count(),
            |_| 0.0f64,
            Vec::new,
            |tile, Block { rows: block, state }| *state += sum(rows.products(block, block, 1.0, tile)),
            // Every pair of different blocks stands for both orders.
            |tile, one, other| one.state += 2.0 * sum(rows.products(&one.rows, &other.rows, 1.0, tile)),
        );
        (operation::tensor(vec![sums.iter().sum::<f64>() as f32], [1]), input)
    }

    fn backward(&self, input: FlexTensor, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let rows = Rows { values: input.storage(), width: width(&input) };
        let factor = 2.0 * gradient.storage::<f32>()[0];
        let of_rows = for_all_pairs(
            rows.count(),
            |block| vec![0.0; block.len() * rows.width],
            Vec::new,
            |tile, Block { rows: block, state }| {
                let tile = rows.products(block, block, 1.0, tile);
                to_sigmoid(tile);
                rows.add_sums(state, block, tile, block, factor);
            },
            |tile, one, other| {
                let tile = rows.products(&one.rows, &other.rows, 1.0, tile);
                to_sigmoid(tile);
                rows.add_sums(&mut one.state, &one.rows, tile, &other.rows, factor);
                rows.add_transposed_sums(&mut other.state, &one.rows, tile, &other.rows, factor);
            },
        );
        [Some(operation::tensor(of_rows.concat(), [rows.count(), rows.width]))]
    }
}

/// The sum of the softplus of all values: in lanes, and of parts in 64 bits.
fn sum(tile: &[f32]) -> f64 {
    const PART: usize = 256;
    let of_part = |part: &[f32]| {
        let mut lanes = [0.0; kernel::LANES];
        for chunk in part.chunks(kernel::LANES) {
            lanes.iter_mut().zip(chunk).for_each(|(lane, &value)| *lane += scalar::softplus(value));
        }
        f64::from(lanes.iter().sum::<f32>())
    };
    kernel::vectorised(
        Arch::new(),
        #[inline(always)]
        || tile.chunks(PART).map(of_part).sum(),
    )
}

fn to_sigmoid(tile: &mut [f32]) {
    kernel::vectorised(
        Arch::new(),
        #[inline(always)]
        || tile.iter_mut().for_each(|value| *value = scalar::sigmoid(*value)),
    );
}
