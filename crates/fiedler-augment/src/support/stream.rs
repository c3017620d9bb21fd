//! What is done with one row of a packed triangle, in the processor's widest vectors.
//!
//! Each is a type of its own, and its loop is written out. Closures would not do: what surrounds a closure is compiled for
//! the processor that all share, and what is inside it with it. The end of a row that fills no vector is filled up with
//! zeros, which have no mass and add nothing to any sum.

use pulp::{Simd, WithSimd};

use super::{Clamp, LIGHT, Rise};
use crate::kernel::RowFactors;

/// A clamp in every place of a vector.
#[derive(Clone, Copy)]
struct Clamps<V> {
    shift: V,
    most: V,
}

impl<V: Copy> Clamps<V> {
    #[inline(always)]
    fn new<S: Simd<f32s = V>>(simd: S, clamp: Clamp) -> Clamps<V> {
        Clamps { shift: simd.splat_f32s(clamp.shift), most: simd.splat_f32s(clamp.most) }
    }

    /// `clamp(value - shift, 0, most)`
    #[inline(always)]
    fn of<S: Simd<f32s = V>>(self, simd: S, value: V) -> V {
        let moved = simd.sub_f32s(value, self.shift);
        simd.min_f32s(simd.max_f32s(moved, simd.splat_f32s(0.0)), self.most)
    }

    /// One where `0 < x < most`, otherwise zero.
    #[inline(always)]
    fn inside<S: Simd<f32s = V>>(self, simd: S, x: V) -> V {
        let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
        let is_inside = simd.and_m32s(simd.less_than_f32s(zero, x), simd.less_than_f32s(x, self.most));
        simd.select_f32s(is_inside, one, zero)
    }
}

#[inline(always)]
fn total<S: Simd>(simd: S, vector: S::f32s) -> f64 {
    simd.reduce_sum_f32s(vector).into()
}

/// What the derivative of a stretch of a row's pairs that are no edges is made of, times a rate.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) row: RowFactors,
    /// `1 / d_j` and `rate · q_j` of the columns.
    pub(super) inverses: &'a [f32],
    pub(super) pulls: &'a [f32],
    /// What goes with the square of a weight in the norm of drawn graphs; empty for other objectives.
    pub(super) seconds: &'a [f32],
    pub(super) bends: &'a [f32],
}

/// The numbers of [`Terms`] that belong to the row, in every place of a vector.
struct Row<V> {
    slope: V,
    level: V,
    pull: V,
    own: V,
    bend: V,
}

/// Those that belong to the columns.
#[derive(Clone, Copy)]
struct Column<V> {
    inverse: V,
    pull: V,
    second: V,
    bend: V,
}

impl<V: Copy> Row<V> {
    #[inline(always)]
    fn new<S: Simd<f32s = V>>(simd: S, row: &RowFactors) -> Row<V> {
        Row {
            slope: simd.splat_f32s(row.slope),
            level: simd.splat_f32s(row.level),
            pull: simd.splat_f32s(row.pull),
            own: simd.splat_f32s(row.own),
            bend: simd.splat_f32s(row.bend),
        }
    }

    #[inline(always)]
    fn derivative<S: Simd<f32s = V>, const BEND: bool>(&self, simd: S, x: V, column: Column<V>) -> V {
        let of_weight = simd.mul_f32s(simd.add_f32s(simd.mul_f32s(self.slope, x), self.level), column.inverse);
        let derivative = simd.sub_f32s(simd.sub_f32s(of_weight, self.pull), column.pull);
        if !BEND {
            return derivative;
        }
        let own = simd.sub_f32s(simd.mul_f32s(self.own, column.second), self.bend);
        simd.add_f32s(derivative, simd.mul_f32s(x, simd.sub_f32s(own, column.bend)))
    }
}

impl Terms<'_> {
    /// The derivative for one pair of the stretch.
    #[inline(always)]
    fn at(&self, place: usize, x: f32) -> f32 {
        let row = &self.row;
        let derivative = (row.slope * x + row.level) * self.inverses[place] - row.pull - self.pulls[place];
        match self.seconds.get(place) {
            None => derivative,
            Some(second) => derivative + x * (row.own * second - row.bend - self.bends[place]),
        }
    }
}

/// Moves the values of a row by the derivative of pairs that are no edges.
pub(super) struct Advance<'a, const BEND: bool> {
    /// Where the values are taken from, and where they go.
    pub(super) from: &'a [f32],
    pub(super) values: &'a mut [f32],
    pub(super) clamp: Clamp,
    pub(super) terms: Terms<'a>,
}

impl<const BEND: bool> WithSimd for Advance<'_, BEND> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (clamp, row) = (Clamps::new(simd, self.clamp), Row::new(simd, &self.terms.row));
        let (from, last_from) = S::as_simd_f32s(self.from);
        let (values, last_values) = S::as_mut_simd_f32s(self.values);
        let (inverses, last_inverses) = S::as_simd_f32s(self.terms.inverses);
        let (pulls, last_pulls) = S::as_simd_f32s(self.terms.pulls);
        let (seconds, last_seconds) = S::as_simd_f32s(self.terms.seconds);
        let (bends, last_bends) = S::as_simd_f32s(self.terms.bends);
        let zero = simd.splat_f32s(0.0);
        let step = Moved { clamp, row };
        if BEND {
            let columns = inverses.iter().zip(pulls).zip(seconds).zip(bends);
            for ((to, &value), (((&inverse, &pull), &second), &bend)) in values.iter_mut().zip(from).zip(columns) {
                *to = step.of::<S, BEND>(simd, value, Column { inverse, pull, second, bend });
            }
        } else {
            let columns = inverses.iter().zip(pulls);
            for ((to, &value), (&inverse, &pull)) in values.iter_mut().zip(from).zip(columns) {
                *to = step.of::<S, BEND>(simd, value, Column { inverse, pull, second: zero, bend: zero });
            }
        }
        let column = Column {
            inverse: simd.partial_load_f32s(last_inverses),
            pull: simd.partial_load_f32s(last_pulls),
            second: simd.partial_load_f32s(last_seconds),
            bend: simd.partial_load_f32s(last_bends),
        };
        let last = step.of::<S, BEND>(simd, simd.partial_load_f32s(last_from), column);
        simd.partial_store_f32s(last_values, last);
    }
}

/// What a row's values are moved by.
struct Moved<V> {
    clamp: Clamps<V>,
    row: Row<V>,
}

impl<V: Copy> Moved<V> {
    #[inline(always)]
    fn of<S: Simd<f32s = V>, const BEND: bool>(&self, simd: S, value: V, column: Column<V>) -> V {
        let x = self.clamp.of(simd, value);
        simd.add_f32s(x, self.row.derivative::<S, BEND>(simd, x, column))
    }
}

/// Sums of a row over its pairs of light weight: `Σ x · f`, `Σ x² · g` and `Σ x² · h` with the factors of the columns, and for every
/// column the same with the row's own.
pub(super) struct LightSums<'a> {
    pub(super) values: &'a [f32],
    pub(super) clamp: Clamp,
    pub(super) own: [f32; 3],
    pub(super) factors: [&'a [f32]; 3],
    pub(super) columns: [&'a mut [f32]; 3],
}

/// What [`LightSums`] finds.
pub(super) struct RowLight {
    pub(super) sums: [f64; 3],
    /// The largest weight, light or not.
    pub(super) largest: f32,
}

impl WithSimd for LightSums<'_> {
    type Output = RowLight;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> RowLight {
        let clamp = Clamps::new(simd, self.clamp);
        let (zero, light) = (simd.splat_f32s(0.0), simd.splat_f32s(LIGHT));
        let own = [simd.splat_f32s(self.own[0]), simd.splat_f32s(self.own[1]), simd.splat_f32s(self.own[2])];
        let [first_column, second_column, third_column] = self.columns;
        let (values, last_values) = S::as_simd_f32s(self.values);
        let [(first, last_first), (second, last_second), (third, last_third)] =
            self.factors.map(|factors| S::as_simd_f32s(factors));
        let (first_columns, last_first_column) = S::as_mut_simd_f32s(first_column);
        let (second_columns, last_second_column) = S::as_mut_simd_f32s(second_column);
        let (third_columns, last_third_column) = S::as_mut_simd_f32s(third_column);
        let mut light = Light { clamp, light, own, sums: [zero; 3], largest: zero };
        let factors = first.iter().zip(second).zip(third);
        let columns = first_columns.iter_mut().zip(second_columns).zip(third_columns);
        for ((&value, ((&first, &second), &third)), ((a, b), c)) in values.iter().zip(factors).zip(columns) {
            [*a, *b, *c] = light.add(simd, value, [first, second, third], [*a, *b, *c]);
        }
        let factors = [
            simd.partial_load_f32s(last_first),
            simd.partial_load_f32s(last_second),
            simd.partial_load_f32s(last_third),
        ];
        let columns = [
            simd.partial_load_f32s(last_first_column),
            simd.partial_load_f32s(last_second_column),
            simd.partial_load_f32s(last_third_column),
        ];
        let [a, b, c] = light.add(simd, simd.partial_load_f32s(last_values), factors, columns);
        simd.partial_store_f32s(last_first_column, a);
        simd.partial_store_f32s(last_second_column, b);
        simd.partial_store_f32s(last_third_column, c);
        RowLight {
            sums: [total(simd, light.sums[0]), total(simd, light.sums[1]), total(simd, light.sums[2])],
            largest: simd.reduce_max_f32s(light.largest),
        }
    }
}

/// Sums of a row's light pairs under way.
struct Light<V> {
    clamp: Clamps<V>,
    light: V,
    own: [V; 3],
    sums: [V; 3],
    largest: V,
}

impl<V: Copy> Light<V> {
    /// Adds values to the row's sums, and gives the columns' with them.
    #[inline(always)]
    fn add<S: Simd<f32s = V>>(&mut self, simd: S, value: V, factors: [V; 3], columns: [V; 3]) -> [V; 3] {
        let x = self.clamp.of(simd, value);
        self.largest = simd.max_f32s(self.largest, x);
        let is_light = simd.less_than_or_equal_f32s(x, self.light);
        let x = simd.select_f32s(is_light, x, simd.splat_f32s(0.0));
        let square = simd.mul_f32s(x, x);
        self.sums = [
            simd.add_f32s(self.sums[0], simd.mul_f32s(x, factors[0])),
            simd.add_f32s(self.sums[1], simd.mul_f32s(square, factors[1])),
            simd.add_f32s(self.sums[2], simd.mul_f32s(square, factors[2])),
        ];
        [
            simd.add_f32s(columns[0], simd.mul_f32s(x, self.own[0])),
            simd.add_f32s(columns[1], simd.mul_f32s(square, self.own[1])),
            simd.add_f32s(columns[2], simd.mul_f32s(square, self.own[2])),
        ]
    }
}

/// Sums of a row: `Σ x` or `Σ x²` times the factors of the columns, and for every column the same times the row's own.
pub(super) struct Sums<'a, const SQUARE: bool> {
    pub(super) values: &'a [f32],
    pub(super) clamp: Clamp,
    pub(super) own: f32,
    pub(super) factors: &'a [f32],
    pub(super) columns: &'a mut [f32],
}

impl<const SQUARE: bool> WithSimd for Sums<'_, SQUARE> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (clamp, own) = (Clamps::new(simd, self.clamp), simd.splat_f32s(self.own));
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (factors, last_factors) = S::as_simd_f32s(self.factors);
        let (columns, last_columns) = S::as_mut_simd_f32s(self.columns);
        let mut sum = simd.splat_f32s(0.0);
        for ((&value, &factor), column) in values.iter().zip(factors).zip(columns) {
            let term = term::<S, SQUARE>(simd, clamp.of(simd, value));
            sum = simd.add_f32s(sum, simd.mul_f32s(term, factor));
            *column = simd.add_f32s(*column, simd.mul_f32s(term, own));
        }
        let [value, factor] = [last_values, last_factors].map(|last| simd.partial_load_f32s(last));
        let term = term::<S, SQUARE>(simd, clamp.of(simd, value));
        sum = simd.add_f32s(sum, simd.mul_f32s(term, factor));
        let column = simd.add_f32s(simd.partial_load_f32s(last_columns), simd.mul_f32s(term, own));
        simd.partial_store_f32s(last_columns, column);
        total(simd, sum)
    }
}

#[inline(always)]
fn term<S: Simd, const SQUARE: bool>(simd: S, x: S::f32s) -> S::f32s {
    if SQUARE { simd.mul_f32s(x, x) } else { x }
}

/// The mass of a row and its slope, as the projection asks for them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowMass {
    /// `Σ x` at the shift and without.
    pub(super) sum: f64,
    pub(super) sum_unshifted: f64,
    /// Values strictly inside their bounds, at the shift and without.
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
    pub(super) clamp: Clamp,
    pub(super) columns: &'a mut [f32],
}

impl<const BOTH: bool> WithSimd for Measure<'_, BOTH> {
    type Output = RowMass;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> RowMass {
        let (zero, clamp) = (simd.splat_f32s(0.0), Clamps::new(simd, self.clamp));
        let unshifted = Clamps { shift: zero, ..clamp };
        let [mut sum, mut within, mut sum_unshifted, mut within_unshifted] = [zero; 4];
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (columns, last_columns) = S::as_mut_simd_f32s(self.columns);
        for (&value, column) in values.iter().zip(columns) {
            let x = clamp.of(simd, value);
            sum = simd.add_f32s(sum, x);
            within = simd.add_f32s(within, clamp.inside(simd, x));
            *column = simd.add_f32s(*column, x);
            if BOTH {
                let x = unshifted.of(simd, value);
                sum_unshifted = simd.add_f32s(sum_unshifted, x);
                within_unshifted = simd.add_f32s(within_unshifted, clamp.inside(simd, x));
            }
        }
        let value = simd.partial_load_f32s(last_values);
        let x = clamp.of(simd, value);
        sum = simd.add_f32s(sum, x);
        within = simd.add_f32s(within, clamp.inside(simd, x));
        let column = simd.add_f32s(simd.partial_load_f32s(last_columns), x);
        simd.partial_store_f32s(last_columns, column);
        if BOTH {
            let x = unshifted.of(simd, value);
            sum_unshifted = simd.add_f32s(sum_unshifted, x);
            within_unshifted = simd.add_f32s(within_unshifted, clamp.inside(simd, x));
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
    pub(super) clamp: Clamp,
}

impl WithSimd for Weigh<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let clamp = Clamps::new(simd, self.clamp);
        let [mut sum, mut within] = [simd.splat_f32s(0.0); 2];
        let (values, last) = S::as_simd_f32s(self.values);
        for &value in values {
            let x = clamp.of(simd, value);
            sum = simd.add_f32s(sum, x);
            within = simd.add_f32s(within, clamp.inside(simd, x));
        }
        let x = clamp.of(simd, simd.partial_load_f32s(last));
        sum = simd.add_f32s(sum, x);
        within = simd.add_f32s(within, clamp.inside(simd, x));
        (total(simd, sum), total(simd, within))
    }
}

/// How strongly a stretch of a row without edges is pulled up, beyond a threshold.
pub(super) struct Pull<'a, const BEND: bool> {
    pub(super) values: &'a [f32],
    pub(super) clamp: Clamp,
    pub(super) terms: Terms<'a>,
    pub(super) threshold: f32,
}

impl<const BEND: bool> WithSimd for Pull<'_, BEND> {
    type Output = Rise;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Rise {
        let (clamp, row) = (Clamps::new(simd, self.clamp), Row::new(simd, &self.terms.row));
        let (zero, one, threshold) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0), simd.splat_f32s(self.threshold));
        let [mut largest, mut sum, mut count, mut inner] = [zero; 4];
        let (values, last_values) = S::as_simd_f32s(self.values);
        let (inverses, _) = S::as_simd_f32s(self.terms.inverses);
        let (pulls, _) = S::as_simd_f32s(self.terms.pulls);
        let (seconds, _) = S::as_simd_f32s(self.terms.seconds);
        let (bends, _) = S::as_simd_f32s(self.terms.bends);
        for (place, &value) in values.iter().enumerate() {
            let (second, bend) = if BEND { (seconds[place], bends[place]) } else { (zero, zero) };
            let x = clamp.of(simd, value);
            let column = Column { inverse: inverses[place], pull: pulls[place], second, bend };
            let derivative = row.derivative::<S, BEND>(simd, x, column);
            let above = simd.sub_f32s(derivative, threshold);
            largest = simd.max_f32s(largest, derivative);
            sum = simd.add_f32s(sum, simd.max_f32s(above, zero));
            count = simd.add_f32s(count, simd.select_f32s(simd.less_than_f32s(zero, above), one, zero));
            inner = simd.add_f32s(inner, simd.mul_f32s(x, derivative));
        }
        let mut rise = Rise {
            largest: simd.reduce_max_f32s(largest).into(),
            total: total(simd, sum),
            count: total(simd, count),
            inner: total(simd, inner),
        };
        // Zeros that fill up a vector would be pulled by the row.
        let done = self.values.len() - last_values.len();
        for (place, &value) in last_values.iter().enumerate() {
            let x = self.clamp.of(value);
            rise = rise.with(self.terms.at(done + place, x).into(), x.into(), self.threshold.into());
        }
        rise
    }
}
