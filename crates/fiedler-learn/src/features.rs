//! Features as an encoder takes them.

use std::sync::Arc;

use burn::Tensor;
use burn::tensor::{Device, TensorData};
use fiedler_graph::{Categorical, Features, Sparse};

use crate::error::{Result, check_size};
use crate::ops::{self, kernel::SparseRows};

/// Share of values that are not zero above which writing them all out is faster.
const DENSE_FROM: f64 = 0.3;

/// A sparse matrix of features, in compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseFeatures {
    columns: usize,
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl SparseFeatures {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn rows_of_entries(&self) -> SparseRows<'_> {
        SparseRows { offsets: &self.offsets, columns: &self.indices, values: &self.values }
    }
}

impl From<&Sparse> for SparseFeatures {
    fn from(sparse: &Sparse) -> SparseFeatures {
        SparseFeatures {
            columns: sparse.columns(),
            offsets: sparse.indptr().to_vec(),
            indices: sparse.indices().to_vec(),
            values: sparse.values().to_vec(),
        }
    }
}

/// A row of codes becomes a row of as many ones, in columns of their own for each column of codes.
///
/// Multiplied by a matrix this is the sum of one embedding for each code.
impl From<&Categorical> for SparseFeatures {
    fn from(categorical: &Categorical) -> SparseFeatures {
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
        SparseFeatures {
            columns: columns as usize,
            offsets: (0..=rows).map(|row| row * width).collect(),
            indices: codes.map(|(&code, first)| first + u32::from(code)).collect(),
            values: vec![1.0; rows * width],
        }
    }
}

/// The features of a graph's nodes or edges, with the columns that a view leaves out. Clones share the features.
#[derive(Debug, Clone)]
pub struct Input {
    matrix: Matrix,
    kept: Option<Arc<[bool]>>,
}

#[derive(Debug, Clone)]
enum Matrix {
    Sparse(Arc<SparseFeatures>),
    Dense(Tensor<2>),
}

impl Input {
    /// Features in the form that is fastest to multiply, on the given device.
    pub fn new(features: &Features, device: &Device) -> Input {
        let matrix = match features {
            Features::Sparse(sparse) if features.density() < DENSE_FROM => {
                Matrix::Sparse(Arc::new(SparseFeatures::from(sparse)))
            }
            Features::Categorical(categorical) => Matrix::Sparse(Arc::new(SparseFeatures::from(categorical))),
            Features::Dense(_) | Features::Sparse(_) => {
                let data =
                    TensorData::new(features.to_dense().values().to_vec(), [features.rows(), features.columns()]);
                Matrix::Dense(Tensor::from_data(data, device))
            }
        };
        Input { matrix, kept: None }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.matrix {
            Matrix::Sparse(sparse) => sparse.rows(),
            Matrix::Dense(dense) => dense.dims()[0],
        }
    }

    /// Number of columns an encoder sees: codes of categories have one column for each code.
    pub fn columns(&self) -> usize {
        match &self.matrix {
            Matrix::Sparse(sparse) => sparse.columns(),
            Matrix::Dense(dense) => dense.dims()[1],
        }
    }

    /// The same features without the columns for which `kept` is false.
    ///
    /// # Errors
    /// When there is not one choice for each column.
    pub fn with_columns(&self, kept: Arc<[bool]>) -> Result<Input> {
        check_size("choice of columns", kept.len(), self.columns())?;
        Ok(Input { matrix: self.matrix.clone(), kept: Some(kept) })
    }

    /// All values written out, those of left-out columns as well.
    pub fn to_dense(&self) -> Tensor<2> {
        let sparse = match &self.matrix {
            Matrix::Dense(dense) => return dense.clone(),
            Matrix::Sparse(sparse) => sparse,
        };
        let (rows, columns) = (sparse.rows(), sparse.columns());
        let mut values = vec![0.0; rows * columns];
        for row in 0..rows {
            for place in sparse.offsets[row]..sparse.offsets[row + 1] {
                values[row * columns + sparse.indices[place] as usize] = sparse.values[place];
            }
        }
        Tensor::from_data(TensorData::new(values, [rows, columns]), &Device::flex())
    }

    /// `features · weight`.
    pub fn times(&self, weight: Tensor<2>) -> Tensor<2> {
        match &self.matrix {
            Matrix::Sparse(sparse) => ops::project(sparse, self.kept.as_ref(), weight),
            Matrix::Dense(dense) => dense.clone().matmul(match &self.kept {
                None => weight,
                // Leaving out a column of the features is leaving out a row of the weight, which is smaller.
                Some(kept) => {
                    let kept: Vec<f32> = kept.iter().map(|&kept| f32::from(kept)).collect();
                    let rows = kept.len();
                    let kept = Tensor::<2>::from_data(TensorData::new(kept, [rows, 1]), &weight.device());
                    weight * kept
                }
            }),
        }
    }
}
