//! Features with rows of length one, as principal components are found of them: sparse ones are never written out.

use std::borrow::Cow;

use crate::feature_matrix::{FeatureMatrix, MatrixRef};
use crate::ops::kernel::{SparseRows, as_it_is};

use super::linear::{self, CHUNK, unit_scale};

/// A matrix of features whose rows have been scaled to length one; rows of zeros stay.
pub(crate) enum UnitRows<'a> {
    Sparse {
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f32>,
        columns: usize,
    },
    Dense {
        values: Cow<'a, [f32]>,
        /// What each row is multiplied by.
        scales: Vec<f32>,
        columns: usize,
    },
}

impl<'a> UnitRows<'a> {
    /// Features less the columns that are not `used`: all in order where every column is.
    pub(crate) fn new(features: &'a FeatureMatrix, used: &[bool]) -> UnitRows<'a> {
        match features.matrix_ref() {
            MatrixRef::Sparse(rows) => {
                let mut place = Vec::with_capacity(used.len());
                let mut columns = 0u32;
                for &used in used {
                    place.push(if used { columns } else { u32::MAX });
                    columns += u32::from(used);
                }
                let mut indptr = Vec::with_capacity(rows.offsets.len());
                indptr.push(0);
                let (mut indices, mut values) =
                    (Vec::with_capacity(rows.columns.len()), Vec::with_capacity(rows.columns.len()));
                for bounds in rows.offsets.windows(2) {
                    // The length is that of the whole row: what an earlier graph did not have is no reason to stretch the rest.
                    let of_row = &rows.values[bounds[0]..bounds[1]];
                    let scale = unit_scale(of_row);
                    for (&column, &value) in rows.columns[bounds[0]..bounds[1]].iter().zip(of_row) {
                        let place = place[column as usize];
                        if place != u32::MAX {
                            indices.push(place);
                            values.push(value * scale);
                        }
                    }
                    indptr.push(indices.len());
                }
                UnitRows::Sparse { indptr, indices, values, columns: columns as usize }
            }
            MatrixRef::Dense(values, columns) => {
                let rows = values.chunks(columns.max(1));
                let scales: Vec<f32> = rows.clone().map(unit_scale).collect();
                if used.iter().all(|&used| used) {
                    return UnitRows::Dense { values, scales, columns };
                }
                // Columns that the sparse features of an earlier graph did not have.
                let kept = used.iter().filter(|&&used| used).count();
                let of_row =
                    |row| std::iter::zip(row, used).filter(|(_, used)| **used).map(|(value, _): (&f32, _)| *value);
                UnitRows::Dense { values: rows.flat_map(of_row).collect(), scales, columns: kept }
            }
        }
    }

    /// A dense matrix whose rows are taken as they are, whatever their length.
    pub(crate) fn dense(values: Vec<f32>, columns: usize) -> UnitRows<'static> {
        let rows = values.len() / columns.max(1);
        UnitRows::Dense { values: values.into(), scales: vec![1.0; rows], columns }
    }

    /// Which columns have an entry; of dense features all.
    pub(crate) fn used_columns(features: &FeatureMatrix) -> Vec<bool> {
        match features.matrix_ref() {
            MatrixRef::Sparse(rows) => {
                let mut used = vec![false; features.columns()];
                rows.columns.iter().for_each(|&column| used[column as usize] = true);
                used
            }
            MatrixRef::Dense(..) => vec![true; features.columns()],
        }
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            UnitRows::Sparse { indptr, .. } => indptr.len() - 1,
            UnitRows::Dense { scales, .. } => scales.len(),
        }
    }

    pub(crate) fn columns(&self) -> usize {
        match self {
            UnitRows::Sparse { columns, .. } | UnitRows::Dense { columns, .. } => *columns,
        }
    }

    /// Means of the columns.
    pub(crate) fn means(&self) -> Vec<f32> {
        let mut sums = vec![0.0f64; self.columns()];
        match self {
            UnitRows::Sparse { indices, values, .. } => {
                for (&column, &value) in indices.iter().zip(values) {
                    sums[column as usize] += f64::from(value);
                }
            }
            UnitRows::Dense { values, scales, columns } => {
                for (row, &scale) in values.chunks_exact((*columns).max(1)).zip(scales) {
                    sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value * scale));
                }
            }
        }
        sums.into_iter().map(|sum| (sum / self.rows().max(1) as f64) as f32).collect()
    }

    /// Writes the rows from `first` on, less `mean`.
    pub(crate) fn fill_centered(&self, first: usize, chunk: &mut [f32], mean: &[f32]) {
        let width = self.columns();
        for (row, image) in (first..).zip(chunk.chunks_exact_mut(width)) {
            match self {
                UnitRows::Sparse { indptr, indices, values, .. } => {
                    image.iter_mut().zip(mean).for_each(|(image, mean)| *image = -mean);
                    for place in indptr[row]..indptr[row + 1] {
                        image[indices[place] as usize] += values[place];
                    }
                }
                UnitRows::Dense { values, scales, .. } => {
                    let source = &values[row * width..(row + 1) * width];
                    for ((image, &value), mean) in image.iter_mut().zip(source).zip(mean) {
                        *image = value * scales[row] - mean;
                    }
                }
            }
        }
    }

    /// `(X - 1 meanᵀ) · weight`, where the weight has `width` columns.
    pub(crate) fn centered_times(&self, mean: &[f32], weight: &[f32], width: usize) -> Vec<f32> {
        match self {
            UnitRows::Sparse { indptr, indices, values, .. } => {
                let shift = self.shift(mean, weight, width);
                let rows = SparseRows { offsets: indptr, columns: indices, values };
                rows.times(
                    weight,
                    width,
                    #[inline(always)]
                    |first, piece| {
                        let shift = &shift[first..first + piece.len()];
                        piece.iter_mut().zip(shift).for_each(|(value, shift)| *value -= shift);
                    },
                )
            }
            UnitRows::Dense { columns, .. } => linear::times(self.rows(), *columns, weight, width, |first, chunk| {
                self.fill_centered(first, chunk, mean);
            }),
        }
    }

    /// `meanᵀ · weight`.
    fn shift(&self, mean: &[f32], weight: &[f32], width: usize) -> Vec<f32> {
        let mut shift = vec![0.0f64; width];
        for (&mean, row) in mean.iter().zip(weight.chunks_exact(width.max(1))) {
            shift.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(mean) * f64::from(value));
        }
        shift.into_iter().map(|value| value as f32).collect()
    }

    /// `(X - 1 meanᵀ)ᵀ · dense`, where the dense matrix has `width` columns.
    pub(crate) fn centered_transposed_times(&self, mean: &[f32], dense: &[f32], width: usize) -> Vec<f32> {
        let columns = self.columns();
        let mut product = match self {
            UnitRows::Sparse { indptr, indices, values, .. } => {
                let rows = SparseRows { offsets: indptr, columns: indices, values };
                rows.transposed_times(columns, dense, width)
            }
            UnitRows::Dense { .. } => return self.dense_transposed(mean, dense, width),
        };
        let sums: Vec<f32> = {
            let mut sums = vec![0.0f64; width];
            for row in dense.chunks_exact(width.max(1)) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
            }
            sums.into_iter().map(|sum| sum as f32).collect()
        };
        for (row, &mean) in product.chunks_exact_mut(width.max(1)).zip(mean) {
            row.iter_mut().zip(&sums).for_each(|(value, sum)| *value -= mean * sum);
        }
        product
    }

    /// The same for dense features: columns are divided among threads, and rows summed in their order.
    fn dense_transposed(&self, mean: &[f32], dense: &[f32], width: usize) -> Vec<f32> {
        let (columns, rows) = (self.columns(), self.rows());
        let mut sum = vec![0.0f64; columns * width];
        for first in (0..rows).step_by(CHUNK) {
            let count = CHUNK.min(rows - first);
            let mut chunk = vec![0.0; count * columns];
            self.fill_centered(first, &mut chunk, mean);
            let transposed = linear::row_major(columns, count, |row, column| chunk[column * columns + row]);
            let part = linear::dense_times(&transposed, count, &dense[first * width..(first + count) * width], width);
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
        }
        sum.into_iter().map(|value| value as f32).collect()
    }
}

/// `operator · dense`, so many times.
pub(crate) fn propagate(operator: &crate::Operator, mut dense: Vec<f32>, width: usize, times: usize) -> Vec<f32> {
    let mut image = vec![0.0; if times > 0 { dense.len() } else { 0 }];
    for _ in 0..times {
        operator.sparse_rows().times_into(&dense, width, &mut image, as_it_is);
        std::mem::swap(&mut dense, &mut image);
    }
    dense
}
