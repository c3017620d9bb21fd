//! Functions of single numbers that compile to whole vectors inside [`vectorised`](super::kernel::vectorised) loops, unlike those of the
//! standard library. All are right to a few units in the last place.

/// `exp(x)`; what is below -87 is taken for -87, where the exponential is as good as zero, and what is above 88 for 88.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding it leaves no room for digits after the point: the sum is rounded to a whole number, which stands in its last bits.
    const WHOLE: f32 = 12_582_912.0;
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.0, 88.0);
    let shifted = x.mul_add(std::f32::consts::LOG2_E, WHOLE);
    let power = shifted - WHOLE;
    let rest = power.mul_add(-LN_2[1], power.mul_add(-LN_2[0], x));
    let series = [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1];
    let sum = series.iter().fold(1.987_569_1e-4, |sum: f32, &term| sum.mul_add(rest, term));
    let mantissa = (sum * rest).mul_add(rest, rest + 1.0);
    mantissa * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1f32.to_bits()))
}

/// `log(1 + exp(x))`.
#[inline(always)]
pub(super) fn softplus(x: f32) -> f32 {
    let small = exp(-x.abs());
    // `log(1 + e) = 2 artanh(e / (2 + e))`, whose argument is at most 1/3.
    let ratio = small / (2.0 + small);
    let square = ratio * ratio;
    let terms = [1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0];
    let sum = terms.iter().fold(1.0 / 15.0, |sum: f32, &term| sum.mul_add(square, term));
    (2.0 * ratio).mul_add(sum, x.max(0.0))
}

/// `1 / (1 + exp(-x))`, the derivative of [`softplus`].
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(function: fn(f32) -> f32, definition: fn(f64) -> f64, what: &str) {
        for step in -87_000..=87_000 {
            let x = step as f32 / 1000.0;
            let (found, expected) = (f64::from(function(x)), definition(f64::from(x)));
            assert!((found - expected).abs() <= 3e-7 * expected, "{what} of {x}: {found}, expected {expected}");
        }
    }

    #[test]
    fn functions_are_near_those_of_64_bits() {
        assert_near(exp, f64::exp, "exp");
        assert_near(softplus, |x| x.max(0.0) + (-x.abs()).exp().ln_1p(), "softplus");
        assert_near(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), "sigmoid");
    }

    #[test]
    fn far_out_they_are_what_they_tend_to() {
        assert!(exp(-1e30) < 1e-37 && exp(0.0) == 1.0);
        assert_eq!((softplus(1e30), sigmoid(1e30)), (1e30, 1.0));
        assert!(softplus(-1e30) < 1e-37 && sigmoid(-1e30) < 1e-37);
    }
}
