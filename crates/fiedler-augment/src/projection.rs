//! Projection onto {0 ≤ x ≤ 1, Σ x ≤ budget}.

/// Finds the shift `μ ≥ 0` for which `mass(μ) = Σ clamp(v - μ, 0, 1)` meets the budget; zero when it does so already.
///
/// `mass` gives the sum and the number of values strictly inside, its negative slope. It falls monotonically and is
/// piecewise linear, so that Newton's method, kept inside a bracket, ends on the exact piece after a few evaluations.
///
/// ```
/// use fiedler_augment::projection::shift_to_budget;
/// let values = [0.9, 0.5, 1.7];
/// let shift = shift_to_budget(1.0, 0.0, |shift| {
///     let x = values.map(|v: f64| (v - shift).clamp(0.0, 1.0));
///     (x.iter().sum(), x.iter().filter(|x| 0.0 < **x && **x < 1.0).count() as f64)
/// });
/// assert!((shift - 0.8).abs() < 1e-9);
/// ```
pub fn shift_to_budget(budget: f64, guess: f64, mut mass: impl FnMut(f64) -> (f64, f64)) -> f64 {
    let (at_zero, inside) = mass(0.0);
    if at_zero <= budget {
        return 0.0;
    }
    // The sum exceeds the budget at `low`, and meets it at `high` once that is known.
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let newton =
        |shift: f64, sum: f64, inside: f64| if inside > 0.0 { shift + (sum - budget) / inside } else { f64::NAN };
    let mut next = if guess > 0.0 { guess } else { newton(0.0, at_zero, inside) };
    for _ in 0..200 {
        if !(next > low && next < high) {
            next = if high.is_finite() { low + (high - low) / 2.0 } else { 2.0 * low + 1.0 };
            if next <= low || next >= high {
                break;
            }
        }
        let (sum, inside) = mass(next);
        // Sums of values in single precision are not known any better.
        if (sum - budget).abs() <= 3e-7 * budget {
            return next;
        }
        if sum > budget {
            low = next
        } else {
            high = next
        }
        let step = newton(next, sum, inside);
        // A step too small to be seen in single precision has arrived.
        if (step - next).abs() <= 6e-8 * next {
            return if sum > budget { step } else { next };
        }
        next = step;
    }
    if high.is_finite() { high } else { low }
}
