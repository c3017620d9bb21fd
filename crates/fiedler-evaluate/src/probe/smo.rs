//! The dual of a support vector machine for two classes, solved by sequential minimal optimization as libsvm does.
//!
//! What is minimized over `α` is `½ αᵀQα - Σα` with `Q_ij = y_i y_j K_ij`, `0 ≤ α ≤ C` and `Σ y α = 0`. Two variables change at a time: the
//! one that violates the conditions of an optimum most, and the one with which that gains most (Fan, Chen and Lin, 2005).

/// What is added to a curvature that is not positive.
const LEAST_CURVATURE: f64 = 1e-12;

/// A kernel matrix of training rows, row after row.
pub(super) struct Kernel {
    size: usize,
    values: Vec<f32>,
}

impl Kernel {
    pub(super) fn new(size: usize, values: Vec<f32>) -> Kernel {
        debug_assert_eq!(values.len(), size * size);
        Kernel { size, values }
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.size..(row + 1) * self.size]
    }
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    /// Violation of the conditions of an optimum that is left, libsvm's `eps`.
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

/// Two classes of some rows of a kernel, and how far their dual is solved.
pub(super) struct Dual<'k> {
    kernel: &'k Kernel,
    /// The rows that belong to either class.
    rows: Vec<u32>,
    /// 1 for the first class, -1 for the second.
    signs: Vec<f64>,
    /// α.
    coefficients: Vec<f64>,
    /// Derivative of what is minimized by α.
    gradient: Vec<f64>,
    /// Kernel values of rows with themselves, side by side.
    diagonal: Vec<f64>,
}

/// A solution: decision values are `Σ_i weights_i K(x_i, x) - offset` over the rows of the dual.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// `y α`.
    pub(super) weights: Vec<f64>,
    pub(super) offset: f64,
    pub(super) converged: bool,
}

impl<'k> Dual<'k> {
    pub(super) fn new(kernel: &'k Kernel, rows: Vec<u32>, signs: Vec<f64>) -> Dual<'k> {
        let size = rows.len();
        let diagonal = rows.iter().map(|&row| f64::from(kernel.row(row as usize)[row as usize])).collect();
        Dual { kernel, rows, signs, coefficients: vec![0.0; size], gradient: vec![-1.0; size], diagonal }
    }

    /// Solves for a bound C. Where it was solved for a smaller C before, it goes on from there.
    pub(super) fn solve(&mut self, c: f64, stop: Stop) -> Solution {
        let mut converged = false;
        for _ in 0..stop.max_iterations {
            let Some((i, j)) = self.working_set(c, stop.tolerance) else {
                converged = true;
                break;
            };
            self.step(i, j, c);
        }
        let weights = self.coefficients.iter().zip(&self.signs).map(|(a, y)| a * y).collect();
        Solution { weights, offset: self.offset(c), converged }
    }

    /// Whether α may grow in the direction of its sign.
    fn is_up(&self, at: usize, c: f64) -> bool {
        if self.signs[at] > 0.0 { self.coefficients[at] < c } else { self.coefficients[at] > 0.0 }
    }

    /// Whether α may shrink in the direction of its sign.
    fn is_low(&self, at: usize, c: f64) -> bool {
        if self.signs[at] > 0.0 { self.coefficients[at] > 0.0 } else { self.coefficients[at] < c }
    }

    fn entry(&self, row: &[f32], at: usize) -> f64 {
        f64::from(row[self.rows[at] as usize])
    }

    /// The two variables to change, or `None` where an optimum is near enough.
    fn working_set(&self, c: f64, tolerance: f64) -> Option<(usize, usize)> {
        let (mut i, mut largest) = (usize::MAX, f64::NEG_INFINITY);
        for at in 0..self.rows.len() {
            let value = -self.signs[at] * self.gradient[at];
            if value > largest && self.is_up(at, c) {
                (i, largest) = (at, value);
            }
        }
        if i == usize::MAX {
            return None;
        }
        let row = self.kernel.row(self.rows[i] as usize);
        let own = self.diagonal[i];
        let (mut j, mut smallest, mut best) = (usize::MAX, f64::INFINITY, f64::INFINITY);
        for at in 0..self.rows.len() {
            if !self.is_low(at, c) {
                continue;
            }
            let value = -self.signs[at] * self.gradient[at];
            smallest = smallest.min(value);
            let violation = largest - value;
            if violation > 0.0 {
                let curvature = (own + self.diagonal[at] - 2.0 * self.entry(row, at)).max(LEAST_CURVATURE);
                let gain = -violation * violation / curvature;
                if gain < best {
                    (j, best) = (at, gain);
                }
            }
        }
        (j != usize::MAX && largest - smallest >= tolerance).then_some((i, j))
    }

    /// The best change of two variables within their bounds.
    fn step(&mut self, i: usize, j: usize, c: f64) {
        let kernel = self.kernel;
        let (row_i, row_j) = (kernel.row(self.rows[i] as usize), kernel.row(self.rows[j] as usize));
        let (yi, yj) = (self.signs[i], self.signs[j]);
        let curvature = (self.entry(row_i, i) + self.entry(row_j, j) - 2.0 * self.entry(row_i, j)).max(LEAST_CURVATURE);
        // Along this direction, y_i α_i grows and y_j α_j shrinks by the same.
        let wanted = (-yi * self.gradient[i] + yj * self.gradient[j]) / curvature;
        let room = |at: usize, grows: bool| if grows { c - self.coefficients[at] } else { self.coefficients[at] };
        let length = wanted.min(room(i, yi > 0.0)).min(room(j, yj < 0.0));
        for (at, change) in [(i, yi * length), (j, -yj * length)] {
            let moved = self.coefficients[at] + change;
            // What ends at a bound ends there exactly.
            self.coefficients[at] = if c - moved < 1e-15 * c { c } else { moved.max(0.0) };
        }
        for (at, gradient) in self.gradient.iter_mut().enumerate() {
            let row = self.rows[at] as usize;
            *gradient += self.signs[at] * length * (f64::from(row_i[row]) - f64::from(row_j[row]));
        }
    }

    /// What decision values are shifted by: the mean over free variables, or the middle of what is allowed.
    fn offset(&self, c: f64) -> f64 {
        let (mut sum, mut free) = (0.0, 0usize);
        let (mut upper, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
        for at in 0..self.rows.len() {
            let value = self.signs[at] * self.gradient[at];
            if self.coefficients[at] > 0.0 && self.coefficients[at] < c {
                (sum, free) = (sum + value, free + 1);
            } else if (self.coefficients[at] >= c) == (self.signs[at] > 0.0) {
                lower = lower.max(value);
            } else {
                upper = upper.min(value);
            }
        }
        match free {
            0 if upper.is_finite() && lower.is_finite() => (upper + lower) / 2.0,
            0 => 0.0,
            free => sum / free as f64,
        }
    }
}
