//! How sure a score and a difference of scores are: intervals by the bootstrap over test items, and a paired test for splits that overlap.

use fiedler_graph::Labels;
use fiedler_graph::random::stream;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::matrix::Matrix;
use crate::metric::Metric;
use crate::score::mean_and_deviation;

/// Share of resamples outside of an interval, on each side.
const OUTSIDE: f64 = 0.025;

/// An interval that a metric lies in with 95 % confidence, where other test items of the same kind had been drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The percentile bootstrap of a metric: test items are drawn with replacement so many times. `None` where fewer than half of the resamples
/// have a metric at all.
///
/// Scores have one row for each of `items`, as [`Metric::measure`] takes them. What several seeds of a method differ by does not show this
/// error, which has nothing to do with training.
pub fn bootstrap_interval(
    metric: Metric,
    labels: &Labels,
    items: &[u32],
    scores: &Matrix,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let draw = |resample: usize| -> Option<f64> {
        let mut random = stream(seed, "bootstrap", resample as u64);
        let places: Vec<u32> = (0..items.len()).map(|_| random.random_range(0..items.len() as u32)).collect();
        let chosen: Vec<u32> = places.iter().map(|&place| items[place as usize]).collect();
        metric.measure(labels, &chosen, &scores.choose(&places))
    };
    let found: Vec<Option<f64>> = (0..resamples).into_par_iter().map(draw).collect();
    let mut found: Vec<f64> = found.into_iter().flatten().collect();
    if items.is_empty() || found.is_empty() || 2 * found.len() < resamples {
        return None;
    }
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[((share * found.len() as f64) as usize).min(found.len() - 1)];
    Some(Interval { low: at(OUTSIDE), high: at(1.0 - OUTSIDE) })
}

/// A paired difference of two methods on the same splits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// The mean of the differences.
    pub mean: f64,
    /// Its standard error, corrected for training sets that overlap.
    pub error: f64,
    /// The mean over its error: Student's t with one degree of freedom less than there are differences.
    pub t: f64,
}

/// The corrected resampled t-test (Nadeau and Bengio, 2003): the variance of the mean of `n` differences is `s² (1/n + test/train)`, because
/// training sets of different splits have most items in common. `test_to_train` is the number of test items over that of training items,
/// 1/9 for ten folds. `None` for fewer than two differences, or where all are alike.
///
/// ```
/// use fiedler_evaluate::paired_test;
/// let test = paired_test(&[1.0, 2.0, 3.0], 0.5).expect("differences that differ");
/// assert_eq!(test.mean, 2.0);
/// assert!((test.error - (1.0 / 3.0 + 0.5f64).sqrt()).abs() < 1e-12);
/// ```
pub fn paired_test(differences: &[f64], test_to_train: f64) -> Option<PairedTest> {
    if differences.len() < 2 {
        return None;
    }
    let (mean, deviation) = mean_and_deviation(differences);
    let error = deviation * (1.0 / differences.len() as f64 + test_to_train).sqrt();
    (error > 0.0).then(|| PairedTest { mean, error, t: mean / error })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_graph::Classes;

    use super::*;

    #[test]
    fn intervals_are_as_wide_as_a_binomial_says() {
        let count = 400u32;
        let labels = Labels::Classes(Classes::from_integers((0..count).map(|_| Some(1)).chain([Some(0)])));
        // Three in four are right.
        let scores = Matrix::from_fn(count as usize, 2, |row, class| f64::from((row % 4 == 0) == (class == 0)));
        let items: Vec<u32> = (0..count).collect();
        let interval = |seed| bootstrap_interval(Metric::Accuracy, &labels, &items, &scores, 2000, seed).unwrap();
        let Interval { low, high } = interval(1);
        let error = (0.75f64 * 0.25 / f64::from(count)).sqrt();
        assert!((low - (0.75 - 1.96 * error)).abs() < 0.006 && (high - (0.75 + 1.96 * error)).abs() < 0.006);
        assert_eq!(interval(1), Interval { low, high });
        assert_eq!(bootstrap_interval(Metric::RocAuc, &labels, &items, &scores, 100, 1), None);
    }

    #[test]
    fn one_difference_or_none_tells_nothing() {
        assert_eq!(paired_test(&[1.0], 0.1), None);
        assert_eq!(paired_test(&[1.0, 1.0], 0.1), None);
        // Without overlap it is the usual paired test.
        let test = paired_test(&[0.0, 2.0], 0.0).unwrap();
        assert!(test.mean == 1.0 && (test.error - 1.0).abs() < 1e-12 && (test.t - 1.0).abs() < 1e-12);
    }
}
