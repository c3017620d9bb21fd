//! The leading eigenpairs of a symmetric matrix, where few of them are wanted.
//!
//! The matrix is made tridiagonal by reflections. The largest eigenvalues of that are found by bisection, which counts eigenvalues on
//! either side of a number, and their eigenvectors by inverse iteration; only the wanted ones are reflected back. It is the work of one
//! thread, and the same on any number of them.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Mat, Par};
use fiedler_graph::random::stream;
use fiedler_spectral::simd::Arch;
use rand::RngExt;

use super::linear::eigen;
use crate::error::Result;
use crate::ops::kernel::vectorised;

/// Size up to which all eigenpairs are computed, whatever is wanted of them.
const SMALL: usize = 96;
/// Where more than this share is wanted, all are computed.
const SHARE: usize = 3;
/// Eigenvalues that bisection follows at once.
const LANES: usize = 16;
/// Halvings of an interval, after which it is as short as the precision allows.
const HALVINGS: usize = 64;
/// Steps of inverse iteration.
const INVERSE_STEPS: usize = 2;
/// Eigenvectors whose eigenvalues differ by less than this share of the norm are made orthogonal to each other.
const NEAR: f64 = 1e-3;
/// Where less than this is left of a vector that was made orthogonal to others, rounding is much of it, and it is done again.
const LEFT: f64 = 0.5;
/// Residual of an eigenpair that is accepted, as a share of the norm.
const RESIDUAL: f64 = 1e-11;

/// The largest eigenvalues, at most so many, and their eigenvectors as columns.
pub(crate) fn leading(matrix: &Mat<f64>, wanted: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let size = matrix.nrows();
    if size > SMALL
        && wanted * SHARE <= size
        && let Some(found) = Tridiagonal::new(matrix).leading(wanted)
    {
        return Ok(found);
    }
    let (mut values, vectors) = eigen(matrix)?;
    values.truncate(wanted);
    let vectors = vectors.subcols(0, values.len()).to_owned();
    Ok((values, vectors))
}

/// A matrix as `Q T Qᵀ` with a tridiagonal matrix `T`.
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// What the reflections of `Q` are made of.
    reflections: Mat<f64>,
    factors: Mat<f64>,
}

impl Tridiagonal {
    fn new(matrix: &Mat<f64>) -> Tridiagonal {
        let size = matrix.nrows();
        let mut reflections = matrix.clone();
        let mut factors = Mat::<f64>::zeros(recommended_block_size::<f64>(size, size), size - 1);
        let mut room = MemBuffer::new(tridiag_in_place_scratch::<f64>(size, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut room);
        tridiag_in_place(reflections.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
        let diagonal = (0..size).map(|at| reflections[(at, at)]).collect();
        let beside = (0..size - 1).map(|at| reflections[(at + 1, at)]).collect();
        Tridiagonal { diagonal, beside, reflections, factors }
    }

    /// `None` where inverse iteration does not reach the precision.
    fn leading(&self, wanted: usize) -> Option<(Vec<f64>, Mat<f64>)> {
        let norm = self.norm();
        if norm == 0.0 || !norm.is_finite() {
            return None;
        }
        let values = self.largest(wanted, norm);
        let vectors = self.vectors(&values, norm)?;
        Some((values, self.reflect(vectors)))
    }

    /// A bound of all eigenvalues, by Gershgorin's circles.
    fn norm(&self) -> f64 {
        let beside = |at: usize| self.beside.get(at).copied().unwrap_or(0.0).abs();
        let radius = |at: usize| beside(at) + if at > 0 { beside(at - 1) } else { 0.0 };
        self.diagonal.iter().enumerate().map(|(at, value)| value.abs() + radius(at)).fold(0.0, f64::max)
    }

    /// So many eigenvalues, the largest first.
    fn largest(&self, wanted: usize, norm: f64) -> Vec<f64> {
        let size = self.diagonal.len();
        let squares: Vec<f64> = self.beside.iter().map(|value| value * value).collect();
        let least = f64::MIN_POSITIVE.max(f64::EPSILON * f64::EPSILON * norm);
        let arch = Arch::new();
        let mut values = Vec::with_capacity(wanted);
        for first in (0..wanted).step_by(LANES) {
            let (mut low, mut high) = ([-norm; LANES], [norm; LANES]);
            for _ in 0..HALVINGS {
                let middle: [f64; LANES] = std::array::from_fn(|lane| 0.5 * (low[lane] + high[lane]));
                let below = vectorised(
                    arch,
                    #[inline(always)]
                    || count_below(&self.diagonal, &squares, &middle, least),
                );
                for lane in 0..LANES {
                    // So many eigenvalues are below the one that this lane follows.
                    let place = size.saturating_sub(1 + first + lane);
                    if below[lane] > place as f64 { high[lane] = middle[lane] } else { low[lane] = middle[lane] }
                }
            }
            let found = low.iter().zip(&high).map(|(low, high)| 0.5 * (low + high));
            values.extend(found.take(wanted - first));
        }
        values
    }

    /// Eigenvectors of the tridiagonal matrix.
    fn vectors(&self, values: &[f64], norm: f64) -> Option<Mat<f64>> {
        let size = self.diagonal.len();
        let arch = Arch::new();
        let mut random = stream(0, "inverse iteration", 0);
        let mut found: Vec<Vec<f64>> = Vec::with_capacity(values.len());
        let mut shift = f64::INFINITY;
        for (at, &value) in values.iter().enumerate() {
            // Equal eigenvalues are told apart by as little as lets the iteration find another vector.
            shift = value.min(shift - 4.0 * f64::EPSILON * norm);
            let factor = Factor::new(&self.diagonal, &self.beside, shift, f64::EPSILON * norm);
            let near = values[..at].iter().position(|other| other - value <= NEAR * norm).unwrap_or(at);
            let mut vector: Vec<f64> = (0..size).map(|_| random.random::<f64>() - 0.5).collect();
            for _ in 0..INVERSE_STEPS {
                factor.solve(&mut vector);
                scale(&mut vector)?;
                let mut left = 0.0;
                while left < LEFT {
                    left = vectorised(
                        arch,
                        #[inline(always)]
                        || clear(&mut vector, &found[near..]),
                    );
                    scale(&mut vector)?;
                }
            }
            if self.residual(&vector, value) > RESIDUAL * norm {
                return None;
            }
            found.push(vector);
        }
        Some(Mat::from_fn(size, values.len(), |row, column| found[column][row]))
    }

    /// Length of `T x - value x`.
    fn residual(&self, x: &[f64], value: f64) -> f64 {
        let entry = |at: usize| {
            let mut sum = (self.diagonal[at] - value) * x[at];
            if at > 0 {
                sum += self.beside[at - 1] * x[at - 1];
            }
            if at + 1 < x.len() {
                sum += self.beside[at] * x[at + 1];
            }
            sum * sum
        };
        (0..x.len()).map(entry).sum::<f64>().sqrt()
    }

    /// `Q` times some vectors.
    fn reflect(&self, mut vectors: Mat<f64>) -> Mat<f64> {
        let (rest, block) = (self.diagonal.len() - 1, self.factors.nrows());
        let scratch =
            apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(rest, block, vectors.ncols());
        let mut room = MemBuffer::new(scratch);
        apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.reflections.submatrix(1, 0, rest, rest),
            self.factors.as_ref(),
            Conj::No,
            vectors.as_mut().subrows_mut(1, rest),
            Par::Seq,
            MemStack::new(&mut room),
        );
        vectors
    }
}

/// For each number how many eigenvalues are below it: as many as pivots of the shifted matrix are negative.
#[inline(always)]
fn count_below(diagonal: &[f64], squares: &[f64], shifts: &[f64; LANES], least: f64) -> [f64; LANES] {
    let mut counts = [0.0; LANES];
    let mut pivots = [1.0; LANES];
    let mut square = 0.0;
    for (at, &value) in diagonal.iter().enumerate() {
        for ((pivot, shift), count) in pivots.iter_mut().zip(shifts).zip(&mut counts) {
            let next = value - shift - square / *pivot;
            // A pivot of zero is taken for a small negative one.
            let next = if next.abs() < least { -least } else { next };
            *count += if next < 0.0 { 1.0 } else { 0.0 };
            *pivot = next;
        }
        square = squares.get(at).copied().unwrap_or(0.0);
    }
    counts
}

/// `T - shift` as triangular matrices, with rows that have changed places where that keeps numbers small.
struct Factor {
    /// Diagonal and the two above it.
    upper: Vec<[f64; 3]>,
    /// What is taken off the next row, and whether the two rows have changed places before.
    lower: Vec<(f64, bool)>,
}

impl Factor {
    fn new(diagonal: &[f64], beside: &[f64], shift: f64, least: f64) -> Factor {
        let off_zero = |value: f64| if value.abs() < least { least.copysign(value) } else { value };
        let (mut upper, mut lower) = (Vec::with_capacity(diagonal.len()), Vec::with_capacity(beside.len()));
        let mut pivot = diagonal[0] - shift;
        let mut above = beside.first().copied().unwrap_or(0.0);
        for (at, &below) in beside.iter().enumerate() {
            let next = diagonal[at + 1] - shift;
            let beyond = beside.get(at + 1).copied().unwrap_or(0.0);
            if pivot.abs() >= below.abs() {
                pivot = off_zero(pivot);
                let share = below / pivot;
                upper.push([pivot, above, 0.0]);
                lower.push((share, false));
                (pivot, above) = (next - share * above, beyond);
            } else {
                let share = pivot / below;
                upper.push([below, next, beyond]);
                lower.push((share, true));
                (pivot, above) = (above - share * next, -share * beyond);
            }
        }
        upper.push([off_zero(pivot), 0.0, 0.0]);
        Factor { upper, lower }
    }

    fn solve(&self, x: &mut [f64]) {
        for (at, &(share, swapped)) in self.lower.iter().enumerate() {
            if swapped {
                x.swap(at, at + 1);
            }
            x[at + 1] -= share * x[at];
        }
        let (mut one, mut two) = (0.0, 0.0);
        for (value, [pivot, above, beyond]) in x.iter_mut().zip(&self.upper).rev() {
            *value = (*value - above * one - beyond * two) / pivot;
            (one, two) = (*value, one);
        }
    }
}

/// Makes a vector of length one orthogonal to others, and tells the length of what is left of it.
#[inline(always)]
fn clear(vector: &mut [f64], others: &[Vec<f64>]) -> f64 {
    for other in others {
        let share = dot(vector, other);
        vector.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
    }
    dot(vector, vector).sqrt()
}

/// Scales a vector to length one; `None` where it has no length.
fn scale(vector: &mut [f64]) -> Option<()> {
    // By the largest entry first: squares of what inverse iteration blows up would overflow.
    let largest = vector.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= largest);
    let length = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    Some(())
}

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    // In lanes, which a plain sum may not be.
    let mut lanes = [0.0; 8];
    let (a_lanes, a_rest) = a.as_chunks::<8>();
    let (b_lanes, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        lanes.iter_mut().zip(a).zip(b).for_each(|((lane, a), b)| *lane += a * b);
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A symmetric matrix with these eigenvalues, and others eigenvectors than unit vectors.
    fn with_eigenvalues(values: &[f64]) -> Mat<f64> {
        let size = values.len();
        let mut random = stream(3, "test matrix", 0);
        let random = Mat::from_fn(size, size, |_, _| random.random::<f64>() - 0.5);
        let q = random.qr().compute_thin_Q();
        let scaled = Mat::from_fn(size, size, |row, column| q[(row, column)] * values[column]);
        let product = &scaled * q.transpose();
        Mat::from_fn(size, size, |row, column| 0.5 * (product[(row, column)] + product[(column, row)]))
    }

    /// The largest entry of the difference of projections onto what the columns span.
    fn spans_apart(one: &Mat<f64>, other: &Mat<f64>) -> f64 {
        let difference = one * one.transpose() - other * other.transpose();
        difference.norm_max()
    }

    #[test]
    fn leading_pairs_are_those_of_the_whole_decomposition() {
        let size = 240;
        let spectra: [fn(usize) -> f64; 5] = [
            |at| 1.0 / (1.0 + at as f64),
            // Over twelve orders of magnitude.
            |at| 10f64.powf(-0.05 * at as f64),
            // Each of five times over.
            |at| 1.0 / (1.0 + (at / 5) as f64),
            // Of low rank.
            |at| if at < 30 { 2.0 + at as f64 } else { 0.0 },
            // Of both signs.
            |at| 1.0 - 0.02 * at as f64,
        ];
        for (case, spectrum) in spectra.iter().enumerate() {
            let values: Vec<f64> = (0..size).map(spectrum).collect();
            let matrix = with_eigenvalues(&values);
            let (all, vectors) = eigen(&matrix).unwrap();
            for wanted in [1, 7, 60, 80] {
                let (found, leading) = Tridiagonal::new(&matrix).leading(wanted).unwrap();
                let largest = all[0].abs();
                assert_eq!((found.len(), leading.ncols()), (wanted, wanted));
                for (found, expected) in found.iter().zip(&all) {
                    assert!((found - expected).abs() < 1e-13 * largest, "case {case}: {found}, expected {expected}");
                }
                let inner = leading.transpose() * &leading;
                let apart = (&inner - Mat::<f64>::identity(wanted, wanted)).norm_max();
                assert!(apart < 1e-11, "case {case}, {wanted} wanted: not orthonormal by {apart}");
                // Where the next eigenvalue is another, there is but one span.
                if (all[wanted - 1] - all[wanted]).abs() > 1e-6 * largest {
                    let exact = vectors.subcols(0, wanted).to_owned();
                    let apart = spans_apart(&leading, &exact);
                    assert!(apart < 1e-8, "case {case}, {wanted} wanted: spans differ by {apart}");
                }
            }
        }
    }

    #[test]
    fn matrices_that_fall_into_parts_are_decomposed() {
        // Diagonal with repeated entries, all zeros, and one block among zeros.
        let size = 150;
        let diagonal = Mat::from_fn(size, size, |row, column| if row == column { (row / 40) as f64 } else { 0.0 });
        let block = Mat::from_fn(size, size, |row, column| if row < 20 && column < 20 { 1.0 } else { 0.0 });
        for matrix in [diagonal, Mat::zeros(size, size), block] {
            let (all, _) = eigen(&matrix).unwrap();
            let (values, vectors) = leading(&matrix, 30).unwrap();
            let image = &matrix * &vectors;
            for (column, value) in values.iter().enumerate() {
                assert!((value - all[column]).abs() < 1e-10);
                let off = (0..size).map(|row| (image[(row, column)] - value * vectors[(row, column)]).abs());
                assert!(off.fold(0.0, f64::max) < 1e-9);
            }
            let inner = vectors.transpose() * &vectors;
            assert!((&inner - Mat::<f64>::identity(30, 30)).norm_max() < 1e-9);
        }
    }
}
