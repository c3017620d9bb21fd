//! Features with rows of length one, as principal components are found of them: sparse ones are never written out, and those that stay in
//! their file are read some rows at a time.

use std::borrow::Cow;

use fiedler_graph::{Features, StoredFeatures};

use crate::error::Result;
use crate::feature_matrix::{DENSE_FROM, MatrixRef};
use crate::ops::kernel::{SparseRows, TransposedProduct, as_it_is};
use crate::sample::Sample;

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
    /// Rows that are read when they are needed, as one of the others.
    Stored {
        source: &'a StoredFeatures,
        used: &'a [bool],
        columns: usize,
        /// Asked before rows are read: whether to go on.
        watch: Watch<'a>,
    },
}

/// Fails where reading rows is to stop.
pub(crate) type Watch<'a> = &'a (dyn Fn() -> Result<()> + Sync);

impl<'a> UnitRows<'a> {
    /// The features of a graph less the columns that are not `used`: all in order where every column is.
    pub(crate) fn new(sample: &'a Sample, used: &'a [bool], watch: Watch<'a>) -> UnitRows<'a> {
        if let Some(source) = &sample.stored_features {
            let columns = used.iter().filter(|&&used| used).count();
            return UnitRows::Stored { source, used, columns, watch };
        }
        match sample.features.matrix_ref() {
            MatrixRef::Sparse(rows) => UnitRows::of_sparse(&rows, used),
            MatrixRef::Dense(values, columns) => UnitRows::of_dense(values, columns, used),
        }
    }

    fn of_sparse(rows: &SparseRows<'_>, used: &[bool]) -> UnitRows<'static> {
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

    fn of_dense(values: Cow<'a, [f32]>, columns: usize, used: &[bool]) -> UnitRows<'a> {
        let rows = values.chunks(columns.max(1));
        let scales: Vec<f32> = rows.clone().map(unit_scale).collect();
        if used.iter().all(|&used| used) {
            return UnitRows::Dense { values, scales, columns };
        }
        // Columns that the sparse features of an earlier graph did not have.
        let kept = used.iter().filter(|&&used| used).count();
        let of_row = |row| std::iter::zip(row, used).filter(|(_, used)| **used).map(|(value, _): (&f32, _)| *value);
        UnitRows::Dense { values: rows.flat_map(of_row).collect(), scales, columns: kept }
    }

    /// Some rows of stored features, as they would be in memory.
    fn block(source: &StoredFeatures, used: &[bool], rows: std::ops::Range<usize>) -> Result<UnitRows<'static>> {
        Ok(match source.read(rows)? {
            Features::Sparse(sparse) if source.density() < DENSE_FROM => {
                let (offsets, columns, values) = (sparse.indptr(), sparse.indices(), sparse.values());
                UnitRows::of_sparse(&SparseRows { offsets, columns, values }, used)
            }
            features => {
                let dense = features.to_dense();
                UnitRows::of_dense(Cow::Owned(dense.values().to_vec()), dense.columns(), used)
            }
        })
    }

    /// Hands over the rows that are in memory at once, with the number of the first.
    fn for_each_block(&self, mut work: impl FnMut(usize, &UnitRows<'_>) -> Result<()>) -> Result<()> {
        let UnitRows::Stored { source, used, watch, .. } = self else { return work(0, self) };
        for rows in source.blocks() {
            watch()?;
            work(rows.start, &UnitRows::block(source, used, rows)?)?;
        }
        Ok(())
    }

    /// Whether zeros are left out.
    fn is_sparse(&self) -> bool {
        match self {
            UnitRows::Sparse { .. } => true,
            UnitRows::Dense { .. } => false,
            UnitRows::Stored { source, .. } => source.is_sparse() && source.density() < DENSE_FROM,
        }
    }

    /// A dense matrix whose rows are taken as they are, whatever their length.
    pub(crate) fn dense(values: Vec<f32>, columns: usize) -> UnitRows<'static> {
        let rows = values.len() / columns.max(1);
        UnitRows::Dense { values: values.into(), scales: vec![1.0; rows], columns }
    }

    /// Which columns have an entry; of dense features all.
    pub(crate) fn used_columns(sample: &Sample, watch: Watch<'_>) -> Result<Vec<bool>> {
        if let Some(stored) = &sample.stored_features {
            let all = UnitRows::Stored { source: stored, used: &[], columns: 0, watch };
            let mut used = vec![!all.is_sparse(); stored.columns()];
            for rows in stored.blocks().filter(|_| all.is_sparse()) {
                watch()?;
                if let Features::Sparse(sparse) = stored.read(rows)? {
                    sparse.indices().iter().for_each(|&column| used[column as usize] = true);
                }
            }
            return Ok(used);
        }
        Ok(match sample.features.matrix_ref() {
            MatrixRef::Sparse(rows) => {
                let mut used = vec![false; sample.features.columns()];
                rows.columns.iter().for_each(|&column| used[column as usize] = true);
                used
            }
            MatrixRef::Dense(..) => vec![true; sample.features.columns()],
        })
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            UnitRows::Sparse { indptr, .. } => indptr.len() - 1,
            UnitRows::Dense { scales, .. } => scales.len(),
            UnitRows::Stored { source, .. } => source.rows(),
        }
    }

    pub(crate) fn columns(&self) -> usize {
        match self {
            UnitRows::Sparse { columns, .. } | UnitRows::Dense { columns, .. } | UnitRows::Stored { columns, .. } => {
                *columns
            }
        }
    }

    /// Means of the columns.
    pub(crate) fn means(&self) -> Result<Vec<f32>> {
        let mut sums = vec![0.0f64; self.columns()];
        self.for_each_block(|_, block| {
            block.add_to(&mut sums);
            Ok(())
        })?;
        Ok(sums.into_iter().map(|sum| (sum / self.rows().max(1) as f64) as f32).collect())
    }

    /// Adds the rows, which are in memory, to the sums of the columns.
    fn add_to(&self, sums: &mut [f64]) {
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
            UnitRows::Stored { .. } => {}
        }
    }

    /// Writes the rows from `first` on, less `mean`.
    pub(crate) fn fill_centered(&self, first: usize, chunk: &mut [f32], mean: &[f32]) -> Result<()> {
        let width = self.columns();
        if let UnitRows::Stored { source, used, watch, .. } = self {
            watch()?;
            let rows = first..first + chunk.len() / width.max(1);
            return UnitRows::block(source, used, rows)?.fill_centered(0, chunk, mean);
        }
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
                UnitRows::Stored { .. } => {}
            }
        }
        Ok(())
    }

    /// `(X - 1 meanᵀ) · weight`, where the weight has `width` columns.
    pub(crate) fn centered_times(&self, mean: &[f32], weight: &[f32], width: usize) -> Result<Vec<f32>> {
        if !self.is_sparse() {
            return linear::times(self.rows(), self.columns(), weight, width, |first, chunk| {
                self.fill_centered(first, chunk, mean)
            });
        }
        let shift = self.shift(mean, weight, width);
        if let Some(rows) = self.sparse_rows() {
            return Ok(rows.times(
                weight,
                width,
                #[inline(always)]
                |first, piece| subtract(&shift[first..], piece),
            ));
        }
        let mut product = vec![0.0; self.rows() * width];
        self.for_each_block(|first, block| {
            if let Some(rows) = block.sparse_rows() {
                let part = &mut product[first * width..(first + block.rows()) * width];
                rows.times_into(
                    weight,
                    width,
                    part,
                    #[inline(always)]
                    |first, piece| subtract(&shift[first..], piece),
                );
            }
            Ok(())
        })?;
        Ok(product)
    }

    /// The rows where they are sparse and in memory.
    fn sparse_rows(&self) -> Option<SparseRows<'_>> {
        match self {
            UnitRows::Sparse { indptr, indices, values, .. } => {
                Some(SparseRows { offsets: indptr, columns: indices, values })
            }
            UnitRows::Dense { .. } | UnitRows::Stored { .. } => None,
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
    pub(crate) fn centered_transposed_times(&self, mean: &[f32], dense: &[f32], width: usize) -> Result<Vec<f32>> {
        if !self.is_sparse() {
            return self.dense_transposed(mean, dense, width);
        }
        let mut product = TransposedProduct::new(self.columns(), width);
        self.for_each_block(|first, block| {
            if let Some(rows) = block.sparse_rows() {
                product.add(&rows, &dense[first * width..(first + block.rows()) * width]);
            }
            Ok(())
        })?;
        let mut product = product.finish();
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
        Ok(product)
    }

    /// The same for dense features: columns are divided among threads, and rows summed in their order.
    fn dense_transposed(&self, mean: &[f32], dense: &[f32], width: usize) -> Result<Vec<f32>> {
        let (columns, rows) = (self.columns(), self.rows());
        let mut sum = vec![0.0f64; columns * width];
        for first in (0..rows).step_by(CHUNK) {
            let count = CHUNK.min(rows - first);
            let mut chunk = vec![0.0; count * columns];
            self.fill_centered(first, &mut chunk, mean)?;
            let transposed = linear::row_major(columns, count, |row, column| chunk[column * columns + row]);
            let part = linear::dense_times(&transposed, count, &dense[first * width..(first + count) * width], width);
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
        }
        Ok(sum.into_iter().map(|value| value as f32).collect())
    }
}

#[inline(always)]
fn subtract(shift: &[f32], from: &mut [f32]) {
    from.iter_mut().zip(shift).for_each(|(value, shift)| *value -= shift);
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
