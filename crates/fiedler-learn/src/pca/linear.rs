//! Products and factorizations of row-major matrices with many rows and few columns.
//!
//! Rows are taken in chunks of a fixed number, each worked on by one thread and added up in their order in double precision: the result
//! is the same to the last bit however many threads there are. What is small is factorized by one thread.

use std::convert::Infallible;

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Rows that one product looks at.
pub(crate) const CHUNK: usize = 1024;
/// Products of chunks that are held at once.
const CHUNKS_AT_ONCE: usize = 16;
/// A direction whose square is a smaller share of the largest is rounding: inner products are sums of 32-bit products.
pub(crate) const NOISE: f64 = 1e-6;

/// Means of the columns.
pub(crate) fn column_means(values: &[f32], width: usize) -> Vec<f32> {
    let rows = values.len() / width.max(1);
    let sums: Vec<Vec<f64>> = values
        .par_chunks(CHUNK * width.max(1))
        .map(|chunk| {
            let mut sums = vec![0.0; width];
            for row in chunk.chunks_exact(width) {
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
            }
            sums
        })
        .collect();
    (0..width).map(|column| (sums.iter().map(|sums| sums[column]).sum::<f64>() / rows.max(1) as f64) as f32).collect()
}

/// Inner products of the columns of a matrix with so many rows; `fill` writes the rows from the given one on, row-major.
///
/// # Errors
/// When `fill` fails.
pub(crate) fn gram<E: Send>(
    rows: usize,
    width: usize,
    fill: impl Fn(usize, &mut [f32]) -> Result<(), E> + Sync,
) -> Result<Mat<f64>, E> {
    let mut sum = Mat::<f64>::zeros(width, width);
    let firsts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
    for firsts in firsts.chunks(CHUNKS_AT_ONCE) {
        let parts: Vec<Mat<f32>> = firsts
            .par_iter()
            .map(|&first| {
                let count = CHUNK.min(rows - first);
                let mut chunk = vec![0.0; count * width];
                fill(first, &mut chunk)?;
                let chunk = MatRef::from_row_major_slice(&chunk, count, width);
                let mut part = Mat::<f32>::zeros(width, width);
                triangular::matmul(
                    part.as_mut(),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    chunk.transpose(),
                    BlockStructure::Rectangular,
                    chunk,
                    BlockStructure::Rectangular,
                    1.0f32,
                    Par::Seq,
                );
                Ok(part)
            })
            .collect::<Result<_, E>>()?;
        for part in parts {
            for column in 0..width {
                let below = sum.col_as_slice_mut(column)[column..].iter_mut().zip(&part.col_as_slice(column)[column..]);
                below.for_each(|(sum, &part)| *sum += f64::from(part));
            }
        }
    }
    for column in 0..width {
        for row in 0..column {
            sum[(row, column)] = sum[(column, row)];
        }
    }
    Ok(sum)
}

/// Inner products of the columns of a matrix that lies in memory, less `mean`.
pub(crate) fn centered_gram(values: &[f32], width: usize, mean: &[f32]) -> Mat<f64> {
    let Ok(products) = gram::<Infallible>(values.len() / width.max(1), width, |first, chunk| {
        chunk.copy_from_slice(&values[first * width..first * width + chunk.len()]);
        for row in chunk.chunks_exact_mut(width) {
            row.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        }
        Ok(())
    });
    products
}

/// The product of a matrix of so many rows with one of `width × columns`, row-major; `fill` as for [`gram`].
///
/// # Errors
/// When `fill` fails.
pub(crate) fn times<E: Send>(
    rows: usize,
    width: usize,
    weight: &[f32],
    columns: usize,
    fill: impl Fn(usize, &mut [f32]) -> Result<(), E> + Sync,
) -> Result<Vec<f32>, E> {
    let mut product = vec![0.0; rows * columns];
    if columns == 0 || width == 0 {
        return Ok(product);
    }
    let weight = MatRef::from_row_major_slice(weight, width, columns);
    product.par_chunks_mut(CHUNK * columns).enumerate().try_for_each(|(at, product)| {
        let count = product.len() / columns;
        let mut chunk = vec![0.0; count * width];
        fill(at * CHUNK, &mut chunk)?;
        let chunk = MatRef::from_row_major_slice(&chunk, count, width);
        let product = MatMut::from_row_major_slice_mut(product, count, columns);
        matmul(product, Accum::Replace, chunk, weight, 1.0f32, Par::Seq);
        Ok(())
    })?;
    Ok(product)
}

/// The product of a matrix that lies in memory with one of `width × columns`.
pub(crate) fn dense_times(values: &[f32], width: usize, weight: &[f32], columns: usize) -> Vec<f32> {
    let Ok(product) = times::<Infallible>(values.len() / width.max(1), width, weight, columns, |first, chunk| {
        chunk.copy_from_slice(&values[first * width..first * width + chunk.len()]);
        Ok(())
    });
    product
}

/// Eigenvalues and eigenvectors of a symmetric matrix, the largest first.
pub(crate) fn eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let size = matrix.nrows();
    if size == 0 {
        return Ok((Vec::new(), Mat::new()));
    }
    let mut values = Diag::<f64>::zeros(size);
    let mut vectors = Mat::<f64>::zeros(size, size);
    let scratch = self_adjoint_evd_scratch::<f64>(size, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut room = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut room);
    self_adjoint_evd(matrix.as_ref(), values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Default::default())
        .map_err(|_| {
            Error::setting("features", "a matrix without a decomposition", "finite values of moderate size")
        })?;
    let ascending: Vec<f64> = values.column_vector().iter().copied().collect();
    let last = size - 1;
    let descending = Mat::from_fn(size, size, |row, column| vectors[(row, last - column)]);
    Ok((ascending.into_iter().rev().collect(), descending))
}

/// An orthonormal basis of what the columns span: fewer columns than given where they are not independent.
///
/// By the inverse of the Cholesky factor of their inner products, or by the eigenvectors where columns are nearly dependent.
pub(crate) fn orthonormal(values: Vec<f32>, width: usize) -> Result<(Vec<f32>, usize)> {
    if width == 0 {
        return Ok((values, 0));
    }
    let zero = vec![0.0; width];
    let inner = centered_gram(&values, width, &zero);
    if let Some(inverse) = inverse_cholesky(&inner) {
        return Ok((dense_times(&values, width, &inverse, width), width));
    }
    let (squares, vectors) = eigen(&inner)?;
    let rank = rank(&squares);
    let weight = row_major(width, rank, |row, column| (vectors[(row, column)] / squares[column].sqrt()) as f32);
    Ok((dense_times(&values, width, &weight, rank), rank))
}

/// How many of the eigenvalues, the largest first, are more than rounding.
pub(crate) fn rank(squares: &[f64]) -> usize {
    let largest = squares.first().copied().unwrap_or(0.0);
    squares.iter().take_while(|&&square| square > NOISE * largest && square > f64::from(f32::MIN_POSITIVE)).count()
}

/// `L⁻ᵀ` of `L Lᵀ`, row-major; `None` where the matrix is nearly singular.
fn inverse_cholesky(matrix: &Mat<f64>) -> Option<Vec<f32>> {
    let size = matrix.nrows();
    let mut factor = matrix.clone();
    let mut room = MemBuffer::new(cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut room);
    cholesky_in_place(factor.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
    let diagonal = (0..size).map(|at| factor[(at, at)] * factor[(at, at)]);
    let (least, most) = diagonal.fold((f64::INFINITY, 0.0f64), |(least, most), at| (least.min(at), most.max(at)));
    // Columns that are this far from dependent stay orthogonal in 32 bits.
    if !(least > 1e-4 * most && most.is_finite()) {
        return None;
    }
    let mut inverse = Mat::<f64>::zeros(size, size);
    invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
    Some(row_major(size, size, |row, column| if column >= row { inverse[(column, row)] as f32 } else { 0.0 }))
}

/// A row-major matrix by its entries.
pub(crate) fn row_major(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f32) -> Vec<f32> {
    (0..rows * columns).map(|at| entry(at / columns, at % columns)).collect()
}

/// Scales every row to length one; rows of zeros stay.
pub(crate) fn unit_rows(values: &mut [f32], width: usize) {
    if width == 0 {
        return;
    }
    values.par_chunks_mut(width).with_min_len(64).for_each(|row| {
        let scale = unit_scale(row);
        row.iter_mut().for_each(|value| *value *= scale);
    });
}

/// What a row is multiplied by to have length one; 0 for a row of zeros.
pub(crate) fn unit_scale(row: &[f32]) -> f32 {
    let square: f64 = row.iter().map(|&value| f64::from(value).powi(2)).sum();
    if square > 0.0 { square.sqrt().recip() as f32 } else { 0.0 }
}
