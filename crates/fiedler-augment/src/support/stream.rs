//! What is done with one row of a packed triangle, in the processor's widest vectors.
//!
//! Each is a type of its own, and its loop is written out. Closures would not do: what surrounds a closure is compiled for
//! the processor that all share, and what is inside it with it. The end of a row that fills no vector is filled up with
//! zeros, which have no mass and add nothing to any sum.

use pulp::{Simd, WithSimd};

use super::Rise;

/// `clamp(value - shift, 0, 1)`
#[inline(always)]
fn projected<S: Simd>(simd: S, value: S::f32s, shift: S::f32s) -> S::f32s {
    let moved = simd.sub_f32s(value, shift);
    simd.min_f32s(simd.max_f32s(moved, simd.splat_f32s(0.0)), simd.splat_f32s(1.0))
}

/// One where `0 < x < 1`, otherwise zero.
#[inline(always)]
fn inside<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let is_inside = simd.and_m32s(simd.less_than_f32s(zero, x), simd.less_than_f32s(x, one));
    simd.select_f32s(is_inside, one, zero)
}

#[inline(always)]
fn total<S: Simd>(simd: S, vector: S::f32s) -> f64 {
    simd.reduce_sum_f32s(vector).into()
}

/// Moves the values of a row by the derivative of pairs that are no edges.
pub(super) struct Advance<'a> {
    pub(super) values: &'a mut [f32],
    pub(super) shift: f32,
    /// The row's `rate · slope / d_i`, `rate · level / d_i` and `rate · q_i`.
    pub(super) slope: f32,
    pub(super) level: f32,
    pub(super) pull: f32,
    /// `1 / d_j` and `rate · q_j` of the columns.
    pub(super) inverses: &'a [f32],
    pub(super) pulls: &'a [f32],
    /// Values are not left below.
    pub(super) floor: f32,
}

impl WithSimd for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [shift, slope, level, pull, floor] =
            [self.shift, self.slope, self.level, self.pull, self.floor].map(|number| simd.splat_f32s(number));
        let step = Step { shift, slope, level, pull, floor };
        let (values, last_values) = S::as_mut_simd_f32s(self.values);
        let (inverses, last_inverses) = S::as_simd_f32s(self.inverses);
        let (pulls, last_pulls) = S::as_simd_f32s(self.pulls);
        for ((value, &inverse), &other) in values.iter_mut().zip(inverses).zip(pulls) {
            *value = step.of(simd, *value, inverse, other);
        }
        let [inverse, other] = [last_inverses, last_pulls].map(|last| simd.partial_load_f32s(last));
        let moved = step.of(simd, simd.partial_load_f32s(last_values), inverse, other);
        simd.partial_store_f32s(last_values, moved);
    }
}

/// The numbers of [`Advance`] and [`Pull`] that belong to the row.
struct Step<V> {
    shift: V,
    slope: V,
    level: V,
    pull: V,
    floor: V,
}

impl<V: Copy> Step<V> {
    #[inline(always)]
    fn of<S: Simd<f32s = V>>(&self, simd: S, value: V, inverse: V, other: V) -> V {
        let x = projected(simd, value, self.shift);
        simd.max_f32s(simd.add_f32s(x, self.derivative(simd, x, inverse, other)), self.floor)
    }

    #[inline(always)]
    fn derivative<S: Simd<f32s = V>>(&self, simd: S, x: V, inverse: V, other: V) -> V {
        let of_weight = simd.mul_f32s(simd.add_f32s(simd.mul_f32s(self.slope, x), self.level), inverse);
        simd.sub_f32s(simd.sub_f32s(of_weight, self.pull), other)
    }
}

/// Sums of a row: `Σ x` or `Σ x²` times the factors of the columns, and for every column the same times the row's own.
pub(super) struct Sums<'a, const SQUARE: bool> {
    pub(super) values: &'a [f32],
    pub(super) shift: f32,
    pub(super) own: f32,
    pub(super) factors: &'a [f32],
    pub(super) columns: &'a mut [f32],
}

impl<const SQUARE: bool> WithSimd for Sums<'_, SQUARE> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (shift, own) = (simd.splat_f32s(self.shift), simd.splat_f32s(self.own));
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (factors, last_factors) = S::as_simd_f32s(self.factors);
        let (columns, last_columns) = S::as_mut_simd_f32s(self.columns);
        let mut sum = simd.splat_f32s(0.0);
        for ((&value, &factor), column) in values.iter().zip(factors).zip(columns) {
            let term = term::<S, SQUARE>(simd, value, shift);
            sum = simd.add_f32s(sum, simd.mul_f32s(term, factor));
            *column = simd.add_f32s(*column, simd.mul_f32s(term, own));
        }
        let [value, factor] = [last_values, last_factors].map(|last| simd.partial_load_f32s(last));
        let term = term::<S, SQUARE>(simd, value, shift);
        sum = simd.add_f32s(sum, simd.mul_f32s(term, factor));
        let column = simd.add_f32s(simd.partial_load_f32s(last_columns), simd.mul_f32s(term, own));
        simd.partial_store_f32s(last_columns, column);
        total(simd, sum)
    }
}

#[inline(always)]
fn term<S: Simd, const SQUARE: bool>(simd: S, value: S::f32s, shift: S::f32s) -> S::f32s {
    let x = projected(simd, value, shift);
    if SQUARE { simd.mul_f32s(x, x) } else { x }
}

/// The mass of a row and its slope, as the projection asks for them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowMass {
    /// `Σ x` at the shift and without.
    pub(super) sum: f64,
    pub(super) sum_unshifted: f64,
    /// Values strictly inside (0, 1), at the shift and without.
    pub(super) inside: f64,
    pub(super) inside_unshifted: f64,
}

impl std::ops::AddAssign for RowMass {
    fn add_assign(&mut self, other: RowMass) {
        self.sum += other.sum;
        self.sum_unshifted += other.sum_unshifted;
        self.inside += other.inside;
        self.inside_unshifted += other.inside_unshifted;
    }
}

/// Measures the mass of a row at a shift, adding every `x` to its column as well. `BOTH` measures without the shift too.
pub(super) struct Measure<'a, const BOTH: bool> {
    pub(super) values: &'a [f32],
    pub(super) shift: f32,
    pub(super) columns: &'a mut [f32],
}

impl<const BOTH: bool> WithSimd for Measure<'_, BOTH> {
    type Output = RowMass;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> RowMass {
        let (zero, shift) = (simd.splat_f32s(0.0), simd.splat_f32s(self.shift));
        let [mut sum, mut within, mut sum_unshifted, mut within_unshifted] = [zero; 4];
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (columns, last_columns) = S::as_mut_simd_f32s(self.columns);
        for (&value, column) in values.iter().zip(columns) {
            let x = projected(simd, value, shift);
            sum = simd.add_f32s(sum, x);
            within = simd.add_f32s(within, inside(simd, x));
            *column = simd.add_f32s(*column, x);
            if BOTH {
                let x = projected(simd, value, zero);
                sum_unshifted = simd.add_f32s(sum_unshifted, x);
                within_unshifted = simd.add_f32s(within_unshifted, inside(simd, x));
            }
        }
        let value = simd.partial_load_f32s(last_values);
        let x = projected(simd, value, shift);
        sum = simd.add_f32s(sum, x);
        within = simd.add_f32s(within, inside(simd, x));
        let column = simd.add_f32s(simd.partial_load_f32s(last_columns), x);
        simd.partial_store_f32s(last_columns, column);
        if BOTH {
            let x = projected(simd, value, zero);
            sum_unshifted = simd.add_f32s(sum_unshifted, x);
            within_unshifted = simd.add_f32s(within_unshifted, inside(simd, x));
        }
        RowMass {
            sum: total(simd, sum),
            sum_unshifted: total(simd, sum_unshifted),
            inside: total(simd, within),
            inside_unshifted: total(simd, within_unshifted),
        }
    }
}

/// The mass of any stretch of values at a shift, and the number strictly inside.
pub(super) struct Weigh<'a> {
    pub(super) values: &'a [f32],
    pub(super) shift: f32,
}

impl WithSimd for Weigh<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let shift = simd.splat_f32s(self.shift);
        let [mut sum, mut within] = [simd.splat_f32s(0.0); 2];
        let (values, last) = S::as_simd_f32s(self.values);
        for &value in values {
            let x = projected(simd, value, shift);
            sum = simd.add_f32s(sum, x);
            within = simd.add_f32s(within, inside(simd, x));
        }
        let x = projected(simd, simd.partial_load_f32s(last), shift);
        sum = simd.add_f32s(sum, x);
        within = simd.add_f32s(within, inside(simd, x));
        (total(simd, sum), total(simd, within))
    }
}

/// How strongly a stretch of a row without edges is pulled up.
pub(super) struct Pull<'a> {
    pub(super) values: &'a [f32],
    pub(super) shift: f32,
    /// The row's `sign · slope / d_i`, `sign · level / d_i` and `sign · q_i`.
    pub(super) slope: f32,
    pub(super) level: f32,
    pub(super) pull: f32,
    /// `1 / d_j` and `sign · q_j` of the columns.
    pub(super) inverses: &'a [f32],
    pub(super) pulls: &'a [f32],
}

impl WithSimd for Pull<'_> {
    type Output = Rise;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Rise {
        let [shift, slope, level, pull, zero] =
            [self.shift, self.slope, self.level, self.pull, 0.0].map(|number| simd.splat_f32s(number));
        let step = Step { shift, slope, level, pull, floor: zero };
        let [mut largest, mut sum] = [zero; 2];
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (inverses, last_inverses) = S::as_simd_f32s(self.inverses);
        let (pulls, last_pulls) = S::as_simd_f32s(self.pulls);
        for ((&value, &inverse), &other) in values.iter().zip(inverses).zip(pulls) {
            let x = projected(simd, value, shift);
            let derivative = simd.max_f32s(step.derivative(simd, x, inverse, other), zero);
            largest = simd.max_f32s(largest, derivative);
            sum = simd.add_f32s(sum, derivative);
        }
        let mut rise = Rise { largest: simd.reduce_max_f32s(largest).into(), total: total(simd, sum) };
        // Zeros that fill up a vector would be pulled by the row.
        for ((&value, &inverse), &other) in last_values.iter().zip(last_inverses).zip(last_pulls) {
            let x = (value - self.shift).clamp(0.0, 1.0);
            rise = rise.with(((self.slope * x + self.level) * inverse - self.pull - other).into());
        }
        rise
    }
}
