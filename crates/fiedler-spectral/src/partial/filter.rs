//! Polynomials of a map that raise one end of its spectrum above the rest.

use faer::{Mat, MatRef};

use crate::operator::SymmetricMap;

/// Vectors filtered together: few enough to stay in the cache from one product to the next.
const PANEL: usize = 16;

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

    /// The same filter with another degree.
    pub(super) fn with_degree(self, degree: usize) -> Filter {
        Filter { degree: degree.max(1), ..self }
    }

    /// Filters every column.
    pub(super) fn apply(&self, map: &dyn SymmetricMap, vectors: MatRef<'_, f64>) -> Mat<f64> {
        let (scale, shift) = (2.0 / (self.high - self.cut), -(self.high + self.cut) / (self.high - self.cut));
        by_panels(map.size(), vectors, |now, columns, next| {
            map.recur(now, columns, scale, shift, 0.0, next);
            for _ in 1..self.degree {
                map.recur(next, columns, 2.0 * scale, 2.0 * shift, -1.0, now);
                std::mem::swap(now, next);
            }
        })
    }
}

/// The map times every column.
pub(super) fn multiply(map: &dyn SymmetricMap, vectors: MatRef<'_, f64>) -> Mat<f64> {
    by_panels(map.size(), vectors, |now, columns, next| map.apply_block(now, columns, next))
}

/// How fast the logarithm of the polynomial grows with its degree, at `value` below `cut`.
fn rate(value: f64, cut: f64, high: f64) -> f64 {
    (1.0 + 2.0 * (cut - value) / (high - cut)).max(1.0).acosh()
}

/// Brings columns into rows a panel at a time, lets `work` turn the first array into the second, and brings them back.
fn by_panels(size: usize, vectors: MatRef<'_, f64>, work: impl Fn(&mut Vec<f64>, usize, &mut Vec<f64>)) -> Mat<f64> {
    let mut result = Mat::zeros(size, vectors.ncols());
    let (mut now, mut next) = (Vec::new(), Vec::new());
    for first in (0..vectors.ncols()).step_by(PANEL) {
        let columns = PANEL.min(vectors.ncols() - first);
        now.resize(size * columns, 0.0);
        next.resize(size * columns, 0.0);
        for column in 0..columns {
            let values = vectors.col(first + column);
            now.iter_mut().skip(column).step_by(columns).zip(values.iter()).for_each(|(to, from)| *to = *from);
        }
        work(&mut now, columns, &mut next);
        for column in 0..columns {
            let values = result.col_as_slice_mut(first + column);
            values.iter_mut().zip(next.iter().skip(column).step_by(columns)).for_each(|(to, from)| *to = *from);
        }
    }
    result
}
