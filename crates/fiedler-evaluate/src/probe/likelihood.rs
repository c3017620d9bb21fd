//! The likelihood of classes given logits: its value, and its derivatives along a line.

use rayon::prelude::*;

/// Rows that one part of a sum takes.
const ROWS: usize = 512;

/// The classes of all rows. Two classes have one logit a row, more have one each.
#[derive(Debug)]
pub(super) struct Likelihood {
    targets: Vec<u32>,
    outputs: usize,
}

/// What is known of a place on a line.
#[derive(Debug)]
pub(super) struct Along {
    /// Mean loss.
    pub(super) loss: f64,
    /// Its derivative along the line.
    pub(super) slope: f64,
    /// Its second derivative along the line.
    pub(super) curvature: f64,
    /// Probability less truth, for every logit.
    pub(super) residuals: Vec<f64>,
}

impl Likelihood {
    pub(super) fn new(targets: Vec<u32>, classes: usize) -> Likelihood {
        Likelihood { targets, outputs: if classes == 2 { 1 } else { classes } }
    }

    /// Number of logits a row.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// What is known at these logits; slope and curvature are zero.
    pub(super) fn at(&self, logits: &[f64]) -> Along {
        self.along(logits, &vec![0.0; logits.len()], 0.0)
    }

    /// What is known at `logits + step · change`.
    pub(super) fn along(&self, logits: &[f64], change: &[f64], step: f64) -> Along {
        let size = ROWS * self.outputs;
        let mut residuals: Vec<f64> = vec![0.0; logits.len()];
        let parts = residuals.par_chunks_mut(size).zip(self.targets.par_chunks(ROWS));
        let parts = parts.zip(logits.par_chunks(size)).zip(change.par_chunks(size));
        let sums: Vec<[f64; 3]> = parts
            .map(|(((residuals, targets), logits), change)| {
                let place = residuals.iter_mut().zip(logits.iter().zip(change));
                place.for_each(|(to, (logit, change))| *to = logit + step * change);
                let mut sum = [0.0; 3];
                let rows = residuals.chunks_exact_mut(self.outputs).zip(change.chunks_exact(self.outputs));
                for ((row, change), &target) in rows.zip(targets) {
                    let of_row = match self.outputs {
                        1 => binomial(&mut row[0], change[0], target),
                        _ => multinomial(row, change, target as usize),
                    };
                    sum.iter_mut().zip(of_row).for_each(|(sum, value)| *sum += value);
                }
                sum
            })
            .collect();
        let mut total = [0.0; 3];
        for sum in sums {
            total.iter_mut().zip(sum).for_each(|(total, value)| *total += value);
        }
        let [loss, slope, curvature] = total.map(|sum| sum / self.targets.len().max(1) as f64);
        Along { loss, slope, curvature, residuals }
    }

    /// One curvature for each row: the mean of the loss's second derivative over the directions in which it changes.
    pub(super) fn curvatures(&self, residuals: &[f64]) -> Vec<f64> {
        let rows = residuals.chunks_exact(self.outputs).zip(&self.targets);
        let curvature = |(row, &target): (&[f64], &u32)| match self.outputs {
            1 => row[0].abs() * (1.0 - row[0].abs()),
            outputs => {
                let probability = |(class, residual): (usize, &f64)| residual + f64::from(class == target as usize);
                let squares: f64 = row.iter().enumerate().map(probability).map(|share| share * share).sum();
                (1.0 - squares).max(0.0) / (outputs - 1) as f64
            }
        };
        rows.map(curvature).collect()
    }
}

/// Replaces a logit by the residual; loss, slope and curvature.
fn binomial(logit: &mut f64, change: f64, target: u32) -> [f64; 3] {
    let truth = f64::from(target);
    let small = (-logit.abs()).exp();
    let probability = if *logit >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
    let loss = logit.max(0.0) + small.ln_1p() - truth * *logit;
    // Of a truth of one the difference is found without cancellation.
    *logit = match target {
        0 => probability,
        _ if *logit >= 0.0 => -small / (1.0 + small),
        _ => -1.0 / (1.0 + small),
    };
    [loss, *logit * change, small / ((1.0 + small) * (1.0 + small)) * change * change]
}

/// Replaces a row of logits by residuals; loss, slope and curvature.
fn multinomial(row: &mut [f64], change: &[f64], target: usize) -> [f64; 3] {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let of_target = row[target] - largest;
    let mut sum = 0.0;
    for logit in row.iter_mut() {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    let (mut mean, mut square) = (0.0, 0.0);
    for (share, change) in row.iter_mut().zip(change) {
        *share /= sum;
        mean += *share * change;
        square += *share * change * change;
    }
    row[target] -= 1.0;
    [sum.ln() - of_target, mean - change[target], square - mean * mean]
}
