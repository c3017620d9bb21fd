//! Polynomials of a map that raise one end of its spectrum above the rest.

use std::ops::Range;

use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

use crate::linear::Precision;
use crate::operator::SymmetricMap;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Rows brought from columns into rows at a time.
const ROWS: usize = 128;

/// How far above the cut the filter begins to grow, as a share of what lies above.
const MARGIN: f64 = 5e-3;

/// A Chebyshev polynomial of a map: at most 1 in size from `cut` to the upper bound of the spectrum, and growing as
/// fast as
/// any polynomial can below.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter {
    cut: f64,
    high: f64,
    degree: usize,
}

impl Filter {
    /// The filter that grows `growth`-fold, and no more, from a little above `cut` to the lower bound.
    ///
    /// A little above, so that copies of an eigenvalue at the cut itself are raised as well.
    pub(super) fn new((low, high): (f64, f64), cut: f64, growth: f64) -> Filter {
        let cut = cut.clamp(low, high - 1e-3 * (high - low));
        let cut = cut + MARGIN * (high - cut);
        let degree = ((2.0 * growth).ln() / rate(low, cut, high)).ceil() as usize;
        Filter { cut, high, degree: degree.clamp(1, 100) }
    }

    /// The degree at which the filter grows `growth`-fold at `value`.
    pub(super) fn degree_for(&self, value: f64, growth: f64) -> f64 {
        (2.0 * growth).ln() / rate(value.min(self.cut), self.cut, self.high).max(1e-9)
    }

    /// How fast the logarithm of the filter grows with its degree at `value`.
    pub(super) fn rate(&self, value: f64) -> f64 {
        rate(value, self.cut, self.high)
    }

    /// The same filter of at most this degree: it grows less.
    pub(super) fn limited(self, degree: usize) -> Filter {
        Filter { degree: self.degree.min(degree), ..self }
    }

    /// Filters every column. Whether to go on is asked before every product: where not, columns are filtered less.
    pub(super) fn apply(
        &self,
        map: &dyn SymmetricMap,
        vectors: MatRef<'_, f64>,
        goes_on: &dyn Fn() -> bool,
    ) -> Mat<f64> {
        let mut result = Mat::zeros(map.size(), vectors.ncols());
        self.apply_each_while::<f64, f64>(map, vectors, &vec![self.degree; vectors.ncols()], result.as_mut(), goes_on);
        result
    }

    /// The degree at which it grows as far as it was asked to.
    pub(super) fn degree(&self) -> usize {
        self.degree
    }

    /// Filters every column with at least the degree given for it; where none of a panel needs any, it stays as it is.
    pub(super) fn apply_each<S: Precision, T: Precision>(
        &self,
        map: &dyn SymmetricMap,
        vectors: MatRef<'_, S>,
        degrees: &[usize],
        result: MatMut<'_, T>,
    ) {
        self.apply_each_while(map, vectors, degrees, result, &|| true);
    }

    fn apply_each_while<S: Precision, T: Precision>(
        &self,
        map: &dyn SymmetricMap,
        vectors: MatRef<'_, S>,
        degrees: &[usize],
        result: MatMut<'_, T>,
        goes_on: &dyn Fn() -> bool,
    ) {
        let (scale, shift) = (2.0 / (self.high - self.cut), -(self.high + self.cut) / (self.high - self.cut));
        by_panels(vectors, result, |now, columns, next| {
            let degree = degrees[columns.clone()].iter().copied().max().unwrap_or(0);
            if degree == 0 {
                std::mem::swap(now, next);
                return;
            }
            T::recur(map, now, columns.len(), scale, shift, 0.0, next);
            for _ in 1..degree {
                if !goes_on() {
                    break;
                }
                T::recur(map, next, columns.len(), 2.0 * scale, 2.0 * shift, -1.0, now);
                std::mem::swap(now, next);
            }
        })
    }
}

/// The map times every column.
pub(super) fn multiply(map: &dyn SymmetricMap, vectors: MatRef<'_, f64>) -> Mat<f64> {
    let mut result = Mat::zeros(map.size(), vectors.ncols());
    by_panels(vectors, result.as_mut(), |now, columns, next| map.apply_block(now, columns.len(), next));
    result
}

/// `‖M u - λ u‖` of every column.
pub(super) fn residuals(map: &dyn SymmetricMap, vectors: MatRef<'_, f64>, values: &[f64]) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(vectors.ncols());
    each_panel(vectors, |now: &mut &mut [f64], columns, next| {
        map.apply_block(now, columns.len(), next);
        residuals.extend(distances(now, next, &values[columns]));
    });
    residuals
}

/// `uᵀ M u` of every column, of length one, and the distance that leaves: what Ritz values and residuals are.
pub(super) fn quotients(map: &dyn SymmetricMap, vectors: MatRef<'_, f64>) -> (Vec<f64>, Vec<f64>) {
    let (mut values, mut residuals) = (Vec::with_capacity(vectors.ncols()), Vec::with_capacity(vectors.ncols()));
    each_panel(vectors, |now: &mut &mut [f64], columns, next| {
        map.apply_block(now, columns.len(), next);
        values.extend(column_sums(now, next, columns.len(), |_, own, image| own * image));
        residuals.extend(distances(now, next, &values[columns]));
    });
    (values, residuals)
}

fn distances(own: &[f64], image: &[f64], values: &[f64]) -> impl Iterator<Item = f64> {
    column_sums(own, image, values.len(), |column, own, image| (image - values[column] * own).powi(2))
        .into_iter()
        .map(f64::sqrt)
}

/// The sum over every column of a term of two panels.
fn column_sums(own: &[f64], image: &[f64], columns: usize, term: impl Fn(usize, f64, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (own, image) in own.chunks_exact(columns).zip(image.chunks_exact(columns)) {
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum += term(column, own[column], image[column]);
        }
    }
    sums
}

/// How fast the logarithm of the polynomial grows with its degree, at `value` below `cut`.
fn rate(value: f64, cut: f64, high: f64) -> f64 {
    (1.0 + 2.0 * (cut - value) / (high - cut)).max(1.0).acosh()
}

/// Brings columns into rows a panel at a time, lets `work` turn the first array into the second, and brings them back.
fn by_panels<S: Precision, T: Precision>(
    vectors: MatRef<'_, S>,
    mut result: MatMut<'_, T>,
    work: impl for<'p> Fn(&mut &'p mut [T], Range<usize>, &mut &'p mut [T]),
) {
    each_panel(vectors, |now, columns, next| {
        work(now, columns.clone(), next);
        let width = columns.len();
        for (place, rows) in next.chunks(ROWS * width).enumerate() {
            for column in 0..width {
                let to = result.rb_mut().col_mut(columns.start + column);
                let to = to.subrows_mut(place * ROWS, rows.len() / width);
                to.iter_mut().zip(rows.iter().skip(column).step_by(width)).for_each(|(to, from)| *to = *from);
            }
        }
    });
}

/// Brings columns into rows a panel at a time and hands them over with a second array of the same size.
fn each_panel<S: Precision, T: Precision>(
    vectors: MatRef<'_, S>,
    mut work: impl for<'p> FnMut(&mut &'p mut [T], Range<usize>, &mut &'p mut [T]),
) {
    let size = vectors.nrows();
    let room = size * T::PANEL.min(vectors.ncols()) + CACHE_LINE;
    let (mut one, mut other) = (vec![T::of(0.0); room], vec![T::of(0.0); room]);
    // A row of a whole panel fills cache lines: begun at the start of one, it touches no more of them than it must.
    let start = |array: &[T]| array.as_ptr().align_offset(CACHE_LINE).min(CACHE_LINE);
    let (first_start, second_start) = (start(&one), start(&other));
    for first in (0..vectors.ncols()).step_by(T::PANEL) {
        let columns = first..vectors.ncols().min(first + T::PANEL);
        let width = columns.len();
        let mut now = &mut one[first_start..][..size * width];
        let mut next = &mut other[second_start..][..size * width];
        // A few rows at a time, so that they stay in the nearest cache while column after column passes.
        for (place, rows) in now.chunks_mut(ROWS * width).enumerate() {
            for column in 0..width {
                let values = vectors.col(first + column).subrows(place * ROWS, rows.len() / width);
                let to = rows.iter_mut().skip(column).step_by(width);
                to.zip(values.iter()).for_each(|(to, from)| *to = T::of(from.wide()));
            }
        }
        work(&mut now, columns, &mut next);
    }
}
