//! The rows a probe learns from, in the coordinates that are cheapest for it.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::{llt, llt_pivoting};
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, MatMut, Par};

use super::Linear;
use crate::matrix::Matrix;

/// Training rows, centred; with fewer rows than columns, turned into the space that the rows span.
///
/// An intercept without penalty makes centring free, and a penalty on the length of the weights does not notice a rotation: the
/// best weights are the same combination of the rows in either space.
#[derive(Debug)]
pub struct Design {
    means: Vec<f64>,
    centred: Matrix,
    reduced: Option<Reduced>,
}

/// Rows in an orthonormal basis of their own span, by Cholesky decomposition of their inner products.
#[derive(Debug)]
struct Reduced {
    coordinates: Matrix,
    /// Rows of the centred matrix that the basis is made of.
    pivots: Vec<usize>,
    /// Their coordinates: lower triangular.
    triangle: Mat<f64>,
}

impl Design {
    /// Prepares training rows.
    pub fn new(mut rows: Matrix) -> Design {
        let means = rows.column_means();
        rows.subtract(&means);
        let reduced = (rows.rows() < rows.columns()).then(|| Reduced::of(&rows));
        Design { means, centred: rows, reduced }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.centred.rows()
    }

    /// Number of columns of the embeddings.
    pub fn columns(&self) -> usize {
        self.centred.columns()
    }

    /// The rows in the coordinates to work in.
    pub(super) fn coordinates(&self) -> &Matrix {
        self.reduced.as_ref().map_or(&self.centred, |reduced| &reduced.coordinates)
    }

    /// Weights in those coordinates and intercepts at the mean, told for rows as they were given.
    pub(super) fn model(&self, weights: &[f64], intercepts: &[f64]) -> Linear {
        let outputs = intercepts.len();
        let weights = match &self.reduced {
            Some(reduced) => reduced.expand(&self.centred, weights, outputs),
            None => weights.to_vec(),
        };
        let mut intercepts = intercepts.to_vec();
        for (mean, weights) in self.means.iter().zip(weights.chunks_exact(outputs)) {
            intercepts.iter_mut().zip(weights).for_each(|(intercept, weight)| *intercept -= mean * weight);
        }
        Linear { weights, intercepts }
    }
}

impl Reduced {
    fn of(rows: &Matrix) -> Reduced {
        let mut products = rows.outer_gram();
        let count = rows.rows();
        let largest = (0..count).map(|row| products[(row, row)]).fold(0.0, f64::max);
        if largest <= 0.0 {
            // Rows that are all alike span nothing.
            return Reduced {
                coordinates: Matrix::from_values(count, 0, Vec::new()),
                pivots: Vec::new(),
                triangle: Mat::new(),
            };
        }
        let (mut order, mut place) = (vec![0usize; count], vec![0usize; count]);
        let scratch =
            llt_pivoting::factor::cholesky_in_place_scratch::<usize, f64>(count, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let decomposed = llt_pivoting::factor::cholesky_in_place(
            products.as_mut(),
            &mut order,
            &mut place,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        // Inner products of finite rows have no negative diagonal, the only thing the decomposition refuses.
        let rank = decomposed.map_or(0, |(found, _)| found.rank);
        let lower = |row: usize, column: usize| if column <= row { products[(row, column)] } else { 0.0 };
        Reduced {
            coordinates: Matrix::from_fn(count, rank, |row, column| lower(place[row], column)),
            pivots: order[..rank].to_vec(),
            triangle: Mat::from_fn(rank, rank, lower),
        }
    }

    /// Weights of the columns, out of weights in the basis.
    fn expand(&self, centred: &Matrix, weights: &[f64], outputs: usize) -> Vec<f64> {
        if self.pivots.is_empty() {
            return vec![0.0; centred.columns() * outputs];
        }
        let mut of_pivots = weights.to_vec();
        let right = MatMut::from_row_major_slice_mut(&mut of_pivots, self.pivots.len(), outputs);
        solve_upper_triangular_in_place(self.triangle.transpose(), right, Par::Seq);
        let mut of_rows = vec![0.0; centred.rows() * outputs];
        for (&row, weights) in self.pivots.iter().zip(of_pivots.chunks_exact(outputs)) {
            of_rows[row * outputs..(row + 1) * outputs].copy_from_slice(weights);
        }
        centred.transposed_times(&of_rows, outputs)
    }
}

/// A symmetric positive matrix, decomposed so that equations with it are solved quickly.
#[derive(Debug)]
pub(super) struct Factor(Mat<f64>);

impl Factor {
    /// Decomposes `factor · gram + penalty · I`, reading the lower triangle; `None` where that is not positive.
    pub(super) fn of(gram: &Mat<f64>, factor: f64, penalty: f64) -> Option<Factor> {
        let size = gram.nrows();
        let mut lower = Mat::from_fn(size, size, |row, column| match row.cmp(&column) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => factor * gram[(row, column)] + penalty,
            std::cmp::Ordering::Greater => factor * gram[(row, column)],
        });
        if size == 0 {
            return Some(Factor(lower));
        }
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        llt::factor::cholesky_in_place(lower.as_mut(), Default::default(), Par::Seq, stack, Default::default()).ok()?;
        Some(Factor(lower))
    }

    /// Replaces `right`, of `width` columns, row after row, by the solution.
    pub(super) fn solve(&self, right: &mut [f64], width: usize) {
        if right.is_empty() {
            return;
        }
        let right = MatMut::from_row_major_slice_mut(right, self.0.nrows(), width);
        llt::solve::solve_in_place(self.0.as_ref(), right, Par::Seq, MemStack::new(&mut []));
    }
}
