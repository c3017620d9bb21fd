//! One vector a graph from the vectors of its nodes.

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use burn::tensor::TensorData;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kernel::{self, Piece};
use super::operation::{self, Operation, width};
use super::similarity::cut;
use crate::GraphOffsets;

/// How the vectors of a graph's nodes become one. A graph without nodes has the vector of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their sum.
    #[default]
    Sum,
    /// Their mean.
    Mean,
    /// The largest value of each column.
    Max,
}

/// One row for each segment of `nodes`. Of several largest values the first gets the gradient.
pub fn pool(nodes: Tensor<2>, offsets: &GraphOffsets, pooling: Pooling) -> Tensor<2> {
    assert_eq!(nodes.dims()[0], offsets.rows(), "one row a node");
    if !operation::is_on_cpu(&nodes) {
        return super::plain::pool(nodes, offsets, pooling);
    }
    operation::apply(Pool { offsets: offsets.clone(), pooling }, [nodes.into_dispatch()])
}

/// For each row the value of its segment.
pub(crate) fn spread(values: Tensor<1>, offsets: &GraphOffsets) -> Tensor<1> {
    let places: Vec<i32> = offsets.of_rows().into_iter().map(|segment| segment as i32).collect();
    let places = Tensor::from_data(TensorData::new(places, [offsets.rows()]), &values.device());
    values.select(0, places)
}

#[derive(Debug, Clone)]
struct Pool {
    offsets: GraphOffsets,
    pooling: Pooling,
}

#[derive(Debug, Clone)]
enum Saved {
    Width(usize),
    /// For each graph and column the row of its largest value.
    Largest(usize, Vec<u32>),
}

impl Pool {
    fn share(&self, segment: usize) -> f32 {
        match self.pooling {
            Pooling::Mean => 1.0 / (self.offsets.range(segment).len().max(1) as f32),
            Pooling::Sum | Pooling::Max => 1.0,
        }
    }

    fn add_up(&self, nodes: &[f32], width: usize) -> Vec<f32> {
        let pieces = kernel::pieces(self.offsets.offsets());
        let arch = Arch::new();
        let parts: Vec<Vec<f32>> = pieces
            .par_iter()
            .with_min_len(kernel::pieces_at_once(&pieces, width))
            .map(|Piece { rows, .. }| {
                let mut sum = vec![0.0; width];
                kernel::vectorised(
                    arch,
                    #[inline(always)]
                    || {
                        let rows = &nodes[rows.start * width..rows.end * width];
                        rows.chunks_exact(width).for_each(|row| kernel::add_to(&mut sum, row));
                    },
                );
                sum
            })
            .collect();
        let mut pooled = vec![0.0; self.offsets.len() * width];
        for (Piece { segment, .. }, part) in pieces.iter().zip(&parts) {
            kernel::add_multiple(&mut pooled[segment * width..(segment + 1) * width], self.share(*segment), part);
        }
        pooled
    }

    fn find_largest(&self, nodes: &[f32], width: usize) -> (Vec<f32>, Vec<u32>) {
        let mut pooled = vec![0.0; self.offsets.len() * width];
        let mut places = vec![0; pooled.len()];
        let of_graphs = pooled.par_chunks_mut(width).zip(places.par_chunks_mut(width)).enumerate();
        of_graphs.for_each(|(segment, (pooled, places))| {
            for (place, row) in self.offsets.range(segment).enumerate() {
                let values = &nodes[row * width..(row + 1) * width];
                for ((largest, at), &value) in pooled.iter_mut().zip(places.iter_mut()).zip(values) {
                    if place == 0 || value > *largest {
                        (*largest, *at) = (value, row as u32);
                    }
                }
            }
        });
        (pooled, places)
    }
}

impl Operation<1> for Pool {
    type Saved = Saved;

    fn forward(&self, [nodes]: [FlexTensor; 1]) -> (FlexTensor, Saved) {
        let width = width(&nodes);
        let shape = [self.offsets.len(), width];
        match self.pooling {
            _ if width == 0 => (operation::tensor(Vec::new(), shape), Saved::Width(0)),
            Pooling::Sum | Pooling::Mean => {
                (operation::tensor(self.add_up(nodes.storage(), width), shape), Saved::Width(width))
            }
            Pooling::Max => {
                let (pooled, places) = self.find_largest(nodes.storage(), width);
                (operation::tensor(pooled, shape), Saved::Largest(width, places))
            }
        }
    }

    fn backward(&self, saved: Saved, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let (Saved::Width(width) | Saved::Largest(width, _)) = saved;
        let gradient: &[f32] = gradient.storage();
        let mut of_nodes = vec![0.0; self.offsets.rows() * width];
        let pieces = kernel::pieces(self.offsets.offsets());
        match saved {
            Saved::Width(0) => {}
            Saved::Width(_) => {
                let images = cut(&mut of_nodes, &pieces, width);
                let anchors = kernel::pieces_at_once(&pieces, width);
                pieces.par_iter().zip(images).with_min_len(anchors).for_each(|(Piece { segment, .. }, image)| {
                    let share = self.share(*segment);
                    let of_graph = &gradient[segment * width..(segment + 1) * width];
                    for row in image.chunks_exact_mut(width) {
                        for (value, &gradient) in row.iter_mut().zip(of_graph) {
                            *value = share * gradient;
                        }
                    }
                });
            }
            Saved::Largest(_, places) => {
                for segment in (0..self.offsets.len()).filter(|&segment| !self.offsets.range(segment).is_empty()) {
                    for column in 0..width {
                        let at = segment * width + column;
                        of_nodes[places[at] as usize * width + column] += gradient[at];
                    }
                }
            }
        }
        [Some(operation::tensor(of_nodes, [self.offsets.rows(), width]))]
    }
}
