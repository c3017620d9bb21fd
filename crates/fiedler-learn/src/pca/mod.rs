//! Principal component analysis (PCA) of features, found once and stored, so that it applies to other graphs as it is.
//!
//! Few columns are decomposed exactly, by their covariance. Many columns go through a randomized range finder (Halko, Martinsson and
//! Tropp, 2011) with a seed: sparse features are multiplied as they are, and centering happens inside the products.

mod input;
mod leading;
pub(crate) mod linear;

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::{Device, TensorData};
use faer::Mat;
use fiedler_graph::random::stream;
use rand::RngExt;

pub(crate) use input::{UnitRows, propagate};

use crate::error::{Error, Result};
use crate::state_dict::StateDict;

/// Directions beyond the wanted ones that the range finder follows.
const OVERSAMPLES: usize = 10;
/// Columns that are decomposed exactly, whatever is wanted of them.
const ALWAYS_EXACT: usize = 256;

/// How principal components are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PcaSettings {
    /// Components, at most.
    pub dimensions: usize,
    /// Power iterations of the range finder.
    pub iterations: usize,
    pub seed: u64,
}

/// `(x - mean) · components`, found without gradients; stored like weights.
#[derive(Module, Debug)]
pub struct Projection {
    /// What is taken off every row.
    pub mean: Param<Tensor<1>>,
    /// One column a component.
    pub components: Param<Tensor<2>>,
}

/// A projection in plain memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Components {
    pub mean: Vec<f32>,
    /// Row-major, one column a component.
    pub weight: Vec<f32>,
    pub width: usize,
}

impl Projection {
    pub(crate) fn new(components: Components, device: &Device) -> Projection {
        let Components { mean, weight, width } = components;
        let rows = mean.len();
        Projection { mean: fixed(mean, [rows], device), components: fixed(weight, [rows, width], device) }
    }

    /// A projection with the shapes that stored weights have under a name, to be filled with them.
    pub(crate) fn shaped(weights: &StateDict, name: &str, device: &Device) -> Result<Projection> {
        let mean = shape_of::<1>(weights, &format!("{name}.mean"))?;
        let components = shape_of::<2>(weights, &format!("{name}.components"))?;
        if mean[0] != components[0] || components[1] == 0 {
            let expected = format!("a row for each of {} means, and a column", mean[0]);
            let (name, found) = (format!("{name}.components"), format!("shape {components:?}"));
            return Err(Error::StateDict { name, found, expected });
        }
        Ok(Projection { mean: zeros(mean, device), components: zeros(components, device) })
    }

    pub(crate) fn to_components(&self) -> Components {
        let width = self.components.val().dims()[1];
        Components { mean: values(&self.mean), weight: values(&self.components), width }
    }

    /// Columns that go in, and that come out.
    pub(crate) fn dims(&self) -> [usize; 2] {
        self.components.val().dims()
    }
}

/// A tensor that no optimizer moves.
pub(crate) fn fixed<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    Param::from_data(TensorData::new(values, shape), device).set_require_grad(false)
}

/// A tensor to be filled with stored weights.
pub(crate) fn zeros<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    fixed(vec![0.0; shape.iter().product()], shape, device)
}

/// The values of a tensor.
pub(crate) fn values<const D: usize>(param: &Param<Tensor<D>>) -> Vec<f32> {
    // Models are always made of 32-bit floats here.
    param.val().into_data().try_to_vec().unwrap_or_default()
}

/// The shape of a stored tensor, which must have `D` dimensions.
pub(crate) fn shape_of<const D: usize>(weights: &StateDict, name: &str) -> Result<[usize; D]> {
    let found = weights.shape(name);
    found.and_then(|shape| shape.try_into().ok()).ok_or_else(|| Error::StateDict {
        name: name.into(),
        found: found.map_or("nothing".into(), |shape| format!("shape {shape:?}")),
        expected: format!("a tensor of {D} dimensions"),
    })
}

/// Centered principal components of features with rows of length one. Their number is at most the rank, and zero where all rows are
/// alike. `step` hears before each pass over the rows how many are done and how many there will be, and may end it.
pub(crate) fn of_features(
    rows: &UnitRows<'_>,
    settings: &PcaSettings,
    step: &dyn Fn(usize, usize) -> Result<()>,
) -> Result<Components> {
    of_rows_in_steps(rows, rows.means()?, settings, step)
}

/// The leading right singular vectors of `X - 1 meanᵀ`: principal components where the mean is that of the columns, a truncated singular
/// value decomposition of the matrix as it is where the mean is zero.
pub(crate) fn of_rows(rows: &UnitRows<'_>, mean: Vec<f32>, settings: &PcaSettings) -> Result<Components> {
    of_rows_in_steps(rows, mean, settings, &|_, _| Ok(()))
}

fn of_rows_in_steps(
    rows: &UnitRows<'_>,
    mean: Vec<f32>,
    settings: &PcaSettings,
    step: &dyn Fn(usize, usize) -> Result<()>,
) -> Result<Components> {
    let columns = rows.columns();
    if columns == 0 {
        return Ok(Components { mean, weight: Vec::new(), width: 0 });
    }
    let wanted = settings.dimensions.min(columns).min(rows.rows());
    let followed = (wanted + OVERSAMPLES).min(columns).min(rows.rows());
    if columns <= ALWAYS_EXACT || columns <= 2 * followed {
        step(0, 1)?;
        let gram = linear::gram(rows.rows(), columns, |first, chunk| rows.fill_centered(first, chunk, &mean))?;
        let (squares, vectors) = leading::leading(&gram, wanted)?;
        let width = informative(&squares, rows.rows()).min(wanted);
        let weight = linear::row_major(columns, width, |row, column| vectors[(row, column)] as f32);
        return Ok(Components { mean, weight, width });
    }
    let passes = 2 * settings.iterations + 3;
    step(0, passes)?;
    let mut random = stream(settings.seed, "range finder", 0);
    let start: Vec<f32> = (0..columns * followed).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    let (mut left, mut width) = linear::orthonormal(rows.centered_times(&mean, &start, followed)?, followed)?;
    drop(start);
    for iteration in 0..settings.iterations {
        step(2 * iteration + 1, passes)?;
        let right = rows.centered_transposed_times(&mean, &left, width)?;
        let (right, of_right) = linear::orthonormal(right, width)?;
        step(2 * iteration + 2, passes)?;
        (left, width) = linear::orthonormal(rows.centered_times(&mean, &right, of_right)?, of_right)?;
    }
    step(passes - 2, passes)?;
    let right = rows.centered_transposed_times(&mean, &left, width)?;
    drop(left);
    let (right, width) = linear::orthonormal(right, width)?;
    // Once more, because what is left of nearly dependent columns is orthogonal only to the precision of the first time.
    let (right, width) = linear::orthonormal(right, width)?;
    step(passes - 1, passes)?;
    let scores = rows.centered_times(&mean, &right, width)?;
    let gram = linear::centered_gram(&scores, width, &vec![0.0; width]);
    drop(scores);
    let (squares, vectors) = linear::eigen(&gram)?;
    let kept = informative(&squares, rows.rows()).min(wanted);
    let rotation = linear::row_major(width, kept, |row, column| vectors[(row, column)] as f32);
    Ok(Components { mean, weight: linear::dense_times(&right, width, &rotation, kept), width: kept })
}

/// Means of the columns of a dense matrix, and their inner products less the means.
pub(crate) struct CenteredGram {
    mean: Vec<f32>,
    products: Mat<f64>,
}

impl CenteredGram {
    pub(crate) fn of(values: &[f32], columns: usize) -> CenteredGram {
        let mean = linear::column_means(values, columns);
        let products = linear::centered_gram(values, columns, &mean);
        CenteredGram { mean, products }
    }

    /// The leading principal components.
    pub(crate) fn components(self, dimensions: usize) -> Result<Components> {
        let columns = self.mean.len();
        let (squares, vectors) = leading::leading(&self.products, dimensions.min(columns))?;
        let rank = linear::rank(&squares).min(dimensions).max(1).min(columns);
        let weight = linear::row_major(columns, rank, |row, column| vectors[(row, column)] as f32);
        Ok(Components { mean: self.mean, weight, width: rank })
    }
}

/// Centered principal components of a dense matrix with few columns.
pub(crate) fn of_dense(values: &[f32], columns: usize, dimensions: usize) -> Result<Components> {
    CenteredGram::of(values, columns).components(dimensions)
}

impl Components {
    /// The leading ones of so many columns that are principal components already: centered, uncorrelated, the strongest first.
    pub(crate) fn of_components(width: usize, dimensions: usize) -> Components {
        let kept = dimensions.min(width);
        let weight = linear::row_major(width, kept, |row, column| if row == column { 1.0 } else { 0.0 });
        Components { mean: vec![0.0; width], weight, width: kept }
    }

    /// The same components mixed by a random orthogonal matrix: rows keep their lengths and distances, and columns become alike, so that
    /// whoever standardizes them does not blow up the smallest.
    pub(crate) fn rotated(self, seed: u64, index: u64) -> Result<Components> {
        let width = self.width;
        let mut random = stream(seed, "rotation", index);
        // Sums of uniform numbers are near enough to normal for a rotation without a preferred direction.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let start: Vec<f32> = (0..width * width).map(|_| normal() as f32).collect();
        let (once, kept) = linear::orthonormal(start, width)?;
        let (rotation, kept) = linear::orthonormal(once, kept)?;
        if kept < width {
            return Ok(self);
        }
        let weight = linear::dense_times(&self.weight, width, &rotation, width);
        Ok(Components { weight, ..self })
    }
}

/// How many eigenvalues of a covariance of rows of length one are more than rounding.
fn informative(squares: &[f64], rows: usize) -> usize {
    // All rows together have the square `rows`: what is left of equal rows after centering is rounding.
    let most = squares.first().copied().unwrap_or(0.0);
    if most <= 1e-10 * rows as f64 { 0 } else { linear::rank(squares) }
}
