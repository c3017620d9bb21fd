//! Features as an encoder takes them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use burn::Tensor;
use burn::tensor::{Device, Int, TensorData};
use fiedler_graph::{Categorical, Dense, Features, Sparse};

use crate::device::DeviceRows;
use crate::error::{Error, Result, check_size};
use crate::ops::{self, kernel::SparseRows, operation};

/// Share of values that are not zero above which writing them all out is faster.
pub(crate) const DENSE_FROM: f64 = 0.3;
/// Rows that are multiplied at once where nothing is recorded: features of large graphs need no second copy then.
const ROWS_AT_ONCE: usize = 1 << 16;

/// A sparse matrix of features, in compressed rows.
#[derive(Debug, Clone)]
pub struct SparseMatrix {
    columns: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    on_device: OnceLock<DeviceRows>,
}

impl SparseMatrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entries as tensors of a device; they are brought there once.
    pub(crate) fn on_device(&self, device: &Device) -> DeviceRows {
        DeviceRows::cached(&self.on_device, self.rows_of_entries(), device)
    }

    pub(crate) fn rows_of_entries(&self) -> SparseRows<'_> {
        SparseRows { offsets: &self.indptr, columns: &self.indices, values: &self.values }
    }
}

impl From<&Sparse> for SparseMatrix {
    fn from(sparse: &Sparse) -> SparseMatrix {
        SparseMatrix {
            columns: sparse.columns(),
            on_device: OnceLock::new(),
            indptr: sparse.indptr().to_vec(),
            indices: sparse.indices().to_vec(),
            values: sparse.values().to_vec(),
        }
    }
}

/// A row of codes becomes a row of as many ones, in columns of their own for each column of codes.
///
/// Multiplied by a matrix this is the sum of one embedding for each code.
impl From<&Categorical> for SparseMatrix {
    fn from(categorical: &Categorical) -> SparseMatrix {
        let width = categorical.cardinalities().len();
        let rows = categorical.codes().len() / width;
        let mut columns = 0;
        let firsts: Vec<u32> = categorical
            .cardinalities()
            .iter()
            .map(|&cardinality| {
                columns += u32::from(cardinality);
                columns - u32::from(cardinality)
            })
            .collect();
        let codes = categorical.codes().iter().zip(firsts.iter().cycle());
        SparseMatrix {
            columns: columns as usize,
            on_device: OnceLock::new(),
            indptr: (0..=rows).map(|row| row * width).collect(),
            indices: codes.map(|(&code, first)| first + u32::from(code)).collect(),
            values: vec![1.0; rows * width],
        }
    }
}

/// The features of a graph's nodes or edges, with the columns that a view leaves out. Clones share the features.
#[derive(Debug, Clone)]
pub struct FeatureMatrix {
    matrix: Matrix,
    kept: Option<Arc<[bool]>>,
    masked: Option<MaskedRows>,
    device: Device,
}

/// Rows that are not what the features say.
#[derive(Debug, Clone)]
struct MaskedRows {
    /// For each row the one it is taken from, where some are taken from others.
    from: Option<Tensor<1, Int>>,
    /// One column: 1 for a row that stays, 0 for one that becomes the token.
    stays: Tensor<2>,
    /// One row.
    token: Tensor<2>,
}

/// Features as they lie in memory.
pub(crate) enum MatrixRef<'a> {
    Sparse(SparseRows<'a>),
    /// All values, and the number of columns.
    Dense(Cow<'a, [f32]>, usize),
}

#[derive(Debug, Clone)]
enum Matrix {
    Sparse(Arc<SparseMatrix>),
    Dense(Arc<DenseMatrix>),
    /// Rows that another network gives.
    Rows(Tensor<2>),
}

/// A dense matrix of features, shared with the dataset. It is brought to the device when the whole of it is first multiplied there: what
/// looks at the features alone never holds them twice.
#[derive(Debug)]
struct DenseMatrix {
    held: Dense,
    on_device: OnceLock<Tensor<2>>,
}

impl DenseMatrix {
    fn new(held: Dense) -> Arc<DenseMatrix> {
        Arc::new(DenseMatrix { held, on_device: OnceLock::new() })
    }

    fn tensor(&self, device: &Device) -> Tensor<2> {
        let bring = || {
            let data = TensorData::new(self.held.values().to_vec(), [self.held.rows(), self.held.columns()]);
            Tensor::from_data(data, device)
        };
        self.on_device.get_or_init(bring).clone()
    }

    /// `values · weight`, some rows after the other.
    fn times_in_parts(&self, weight: &Tensor<2>, rows_at_once: usize) -> Tensor<2> {
        let (rows, columns, width) = (self.held.rows(), self.held.columns(), weight.dims()[1]);
        let mut product: Vec<f32> = Vec::with_capacity(rows * width);
        for part in self.held.values().chunks(rows_at_once * columns.max(1)) {
            let part = TensorData::new(part.to_vec(), [part.len() / columns.max(1), columns]);
            let part = Tensor::<2>::from_data(part, &weight.device()).matmul(weight.clone());
            product.extend(part.into_data().try_into_vec::<f32>().unwrap_or_default());
        }
        Tensor::from_data(TensorData::new(product, [rows, width]), &weight.device())
    }

    fn times(&self, weight: Tensor<2>, device: &Device) -> Tensor<2> {
        let is_large = self.held.rows() > ROWS_AT_ONCE && self.held.columns() > 0;
        if is_large && self.on_device.get().is_none() && !weight.is_autodiff() {
            return self.times_in_parts(&weight, ROWS_AT_ONCE);
        }
        self.tensor(device).matmul(weight)
    }
}

impl FeatureMatrix {
    /// Features in the form that is fastest to multiply, on the given device.
    pub fn new(features: &Features, device: &Device) -> FeatureMatrix {
        let matrix = match features {
            Features::Sparse(sparse) if features.density() < DENSE_FROM => {
                Matrix::Sparse(Arc::new(SparseMatrix::from(sparse)))
            }
            Features::Categorical(categorical) => Matrix::Sparse(Arc::new(SparseMatrix::from(categorical))),
            Features::Dense(_) | Features::Sparse(_) => Matrix::Dense(DenseMatrix::new(features.to_dense())),
        };
        FeatureMatrix { matrix, kept: None, masked: None, device: device.clone() }
    }

    /// The same features for another device; what lies in memory is shared.
    pub(crate) fn to_device(&self, device: &Device) -> FeatureMatrix {
        let matrix = match &self.matrix {
            Matrix::Dense(dense) => Matrix::Dense(DenseMatrix::new(dense.held.clone())),
            other => other.clone(),
        };
        FeatureMatrix { matrix, device: device.clone(), ..self.clone() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.matrix {
            Matrix::Sparse(sparse) => sparse.rows(),
            Matrix::Dense(dense) => dense.held.rows(),
            Matrix::Rows(rows) => rows.dims()[0],
        }
    }

    /// Number of columns an encoder sees: codes of categories have one column for each code.
    pub fn columns(&self) -> usize {
        match &self.matrix {
            Matrix::Sparse(sparse) => sparse.columns(),
            Matrix::Dense(dense) => dense.held.columns(),
            Matrix::Rows(rows) => rows.dims()[1],
        }
    }

    /// Where the features lie.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The features as they lie in memory, whatever columns a view leaves out.
    pub(crate) fn matrix_ref(&self) -> MatrixRef<'_> {
        match &self.matrix {
            Matrix::Sparse(sparse) => MatrixRef::Sparse(sparse.rows_of_entries()),
            Matrix::Dense(dense) => MatrixRef::Dense(Cow::Borrowed(dense.held.values()), dense.held.columns()),
            Matrix::Rows(rows) => {
                let values = operation::to_cpu(rows.clone()).storage::<f32>().to_vec();
                MatrixRef::Dense(Cow::Owned(values), rows.dims()[1])
            }
        }
    }

    /// The same features without the columns for which `kept` is false.
    ///
    /// # Errors
    /// When there is not one choice for each column.
    pub fn with_columns(&self, kept: Arc<[bool]>) -> Result<FeatureMatrix> {
        check_size("choice of columns", kept.len(), self.columns())?;
        Ok(FeatureMatrix { kept: Some(kept), ..self.clone() })
    }

    /// The same features with a token, one row that may be learned, in place of the rows `masked`; those that are `replaced` (row, other row)
    /// have the features of another row instead.
    ///
    /// # Errors
    /// When the token has another width, or a row is none of these.
    pub fn with_masked_rows(&self, masked: &[u32], replaced: &[(u32, u32)], token: Tensor<2>) -> Result<FeatureMatrix> {
        check_size("token", token.dims()[1], self.columns())?;
        let rows = self.rows();
        let largest = masked.iter().chain(replaced.iter().flat_map(|(row, other)| [row, other])).max();
        if let Some(&row) = largest.filter(|row| **row as usize >= rows) {
            return Err(Error::setting("masked row", row, format!("a number below {rows}")));
        }
        let mut stays = vec![1f32; rows];
        masked.iter().for_each(|&row| stays[row as usize] = 0.0);
        replaced.iter().for_each(|(row, _)| stays[*row as usize] = 1.0);
        let stays = Tensor::from_data(TensorData::new(stays, [rows, 1]), &token.device());
        let from = (!replaced.is_empty()).then(|| {
            let mut from: Vec<i64> = (0..rows as i64).collect();
            replaced.iter().for_each(|&(row, other)| from[row as usize] = other.into());
            Tensor::from_data(TensorData::new(from, [rows]), &token.device())
        });
        Ok(FeatureMatrix { masked: Some(MaskedRows { from, stays, token }), ..self.clone() })
    }

    /// All values written out, those of left-out columns and masked rows as well.
    pub fn to_dense(&self) -> Tensor<2> {
        let sparse = match &self.matrix {
            Matrix::Dense(dense) => return dense.tensor(&self.device),
            Matrix::Rows(rows) => return rows.clone(),
            Matrix::Sparse(sparse) => sparse,
        };
        let (rows, columns) = (sparse.rows(), sparse.columns());
        let mut values = vec![0.0; rows * columns];
        for row in 0..rows {
            for place in sparse.indptr[row]..sparse.indptr[row + 1] {
                values[row * columns + sparse.indices[place] as usize] = sparse.values[place];
            }
        }
        Tensor::from_data(TensorData::new(values, [rows, columns]), &self.device)
    }

    /// `features · weight`.
    pub fn times(&self, weight: Tensor<2>) -> Tensor<2> {
        let product = self.unmasked_times(weight.clone());
        match &self.masked {
            None => product,
            Some(MaskedRows { from, stays, token }) => {
                let product = match from {
                    Some(from) => product.select(0, from.clone()),
                    None => product,
                };
                // The product of the token is taken once, not for each of its rows.
                product * stays.clone() + (stays.clone().neg() + 1.0).matmul(token.clone().matmul(weight))
            }
        }
    }

    fn unmasked_times(&self, weight: Tensor<2>) -> Tensor<2> {
        let of_kept = |weight: Tensor<2>| match &self.kept {
            None => weight,
            // Leaving out a column of the features is leaving out a row of the weight, which is smaller.
            Some(kept) => {
                let kept: Vec<f32> = kept.iter().map(|&kept| f32::from(kept)).collect();
                let rows = kept.len();
                let kept = Tensor::<2>::from_data(TensorData::new(kept, [rows, 1]), &weight.device());
                weight * kept
            }
        };
        match &self.matrix {
            Matrix::Sparse(sparse) => ops::project(sparse, self.kept.as_ref(), weight),
            Matrix::Dense(dense) => dense.times(of_kept(weight), &self.device),
            Matrix::Rows(rows) => rows.clone().matmul(of_kept(weight)),
        }
    }
}

/// Rows that another network gives; gradients flow to them.
impl From<Tensor<2>> for FeatureMatrix {
    fn from(rows: Tensor<2>) -> FeatureMatrix {
        let device = rows.device();
        FeatureMatrix { matrix: Matrix::Rows(rows), kept: None, masked: None, device }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::device::DeviceSettings;

    #[test]
    fn parts_of_the_rows_give_what_all_rows_give() {
        let device = DeviceSettings::default().open();
        let number = |at: usize| ((at * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let dense = Dense::new(103, 9, (0..103 * 9).map(number).collect()).unwrap();
        let weight = Tensor::<2>::from_data(TensorData::new((0..45).map(number).collect(), [9, 5]), &device);
        let features = FeatureMatrix::new(&Features::Dense(dense), &device);
        let whole = features.times(weight.clone()).into_data().try_into_vec::<f32>().unwrap();
        let Matrix::Dense(matrix) = &features.matrix else { panic!("dense features stay dense") };
        for rows_at_once in [1, 7, 102, 103, 500] {
            let parts = matrix.times_in_parts(&weight, rows_at_once).into_data().try_into_vec::<f32>().unwrap();
            let apart = whole.iter().zip(&parts).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            assert!(parts.len() == whole.len() && apart <= 1e-6, "{rows_at_once}: {apart}");
        }
    }
}
