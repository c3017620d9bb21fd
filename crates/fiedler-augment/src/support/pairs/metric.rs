//! Steps in a metric: where degrees are small the derivative changes fast, and a step that is short enough for those pairs would be too
//! short for all others.

use rayon::prelude::*;

use super::super::tiles::Tiles;
use super::super::{Clamp, From, MetricStep};
use super::{PIECE, PIECES, Pairs, Values};
use crate::kernel::PairKernel;
use crate::projection::shift_to_budget;

/// Pairs are taken for at least this share as stiff as all are on average.
const SOFTEST: f64 = 0.05;

impl Pairs {
    /// As [`Support::steepest_in_metric`](super::Support::steepest_in_metric).
    pub(super) fn steepest(&self, kernel: &PairKernel, sign: f64) -> Option<f64> {
        let lengths = lengths(&self.tiles, kernel)?;
        let derivatives = self.now().derivatives(&self.tiles, kernel);
        let each = derivatives.iter().zip(&lengths).map(|(derivative, length)| sign as f32 * derivative * length);
        Some(f64::from(each.fold(0.0, f32::max)))
    }

    /// As [`Support::attempt_in_metric`](super::Support::attempt_in_metric).
    pub(super) fn step_in_metric(
        &mut self,
        from: From,
        kernel: &PairKernel,
        (sign, rate): (f64, f64),
        budget: f64,
        guess: f64,
    ) -> Option<MetricStep> {
        kernel.bends.as_ref()?;
        let mut held = self.hold(from);
        let lengths = held.lengths.take().or_else(|| lengths(&self.tiles, kernel))?;
        let clamp = self.clamp.at(held.shift);
        let derivatives = Values { values: &held.values, clamp, state: held.state }.derivatives(&self.tiles, kernel);
        let step = Step { held: &held.values, derivatives: &derivatives, lengths: &lengths, clamp, sign, rate };
        let threshold = shift_to_budget(budget, guess, |threshold| step.mass(threshold));
        let (squared, promised) = step.take(threshold, &mut self.values);
        drop(derivatives);
        held.lengths = Some(lengths);
        self.held = Some(held);
        self.changed(0.0);
        Some(MetricStep { threshold, squared, promised })
    }
}

/// One over the stiffness of every pair.
fn lengths(tiles: &Tiles, kernel: &PairKernel) -> Option<Vec<f32>> {
    kernel.bends.as_ref()?;
    let mut lengths = vec![0.0f32; tiles.keys().len()];
    tiles.for_each(|place, low, high| lengths[place] = kernel.stiffness(low, high).unwrap_or(0.0) as f32);
    let total: f64 = lengths.iter().map(|&stiffness| f64::from(stiffness)).sum();
    let softest = (SOFTEST * total / lengths.len().max(1) as f64) as f32;
    // Pairs without any are those of nodes without edges: nothing is known of them, and all go by the derivative.
    let softest = if softest > 0.0 { softest } else { 1.0 };
    lengths.par_iter_mut().for_each(|length| *length = 1.0 / length.max(softest));
    Some(lengths)
}

/// Where a step goes from, and how.
struct Step<'a> {
    held: &'a [f32],
    derivatives: &'a [f32],
    lengths: &'a [f32],
    clamp: Clamp,
    sign: f64,
    rate: f64,
}

impl Step<'_> {
    /// Held values, derivatives along the sign and lengths of pieces of pairs.
    fn pieces(&self) -> impl IndexedParallelIterator<Item = ((&[f32], &[f32]), &[f32])> {
        let derivatives = self.derivatives.par_chunks(PIECE);
        self.held.par_chunks(PIECE).zip(derivatives).zip(self.lengths.par_chunks(PIECE)).with_min_len(PIECES)
    }

    /// Where a value goes.
    #[inline(always)]
    fn to(&self, held: f32, derivative: f32, length: f32, threshold: f32) -> f32 {
        let moved = self.clamp.of(held) + self.rate as f32 * length * (self.sign as f32 * derivative - threshold);
        moved.clamp(0.0, self.clamp.most)
    }

    /// The sum of values at a threshold, and how fast it falls with the threshold.
    fn mass(&self, threshold: f64) -> (f64, f64) {
        let (threshold, rate) = (threshold as f32, self.rate as f32);
        let of_piece = |((held, derivatives), lengths): ((&[f32], &[f32]), &[f32])| {
            let (mut sum, mut falls) = (0.0, 0.0);
            for ((&held, &derivative), &length) in held.iter().zip(derivatives).zip(lengths) {
                let x = self.to(held, derivative, length, threshold);
                sum += f64::from(x);
                falls += f64::from(if 0.0 < x && x < self.clamp.most { rate * length } else { 0.0 });
            }
            (sum, falls)
        };
        let of_pieces: Vec<(f64, f64)> = self.pieces().map(of_piece).collect();
        of_pieces.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }

    /// Takes the step, and tells its squared length and what the derivative promises of it.
    fn take(&self, threshold: f64, values: &mut [f32]) -> (f64, f64) {
        let threshold = threshold as f32;
        let pieces = values.par_chunks_mut(PIECE).zip(self.pieces());
        let of_pieces: Vec<(f64, f64)> = pieces
            .map(|(values, ((held, derivatives), lengths))| {
                let (mut squared, mut promised) = (0.0, 0.0);
                for (((value, &held), &derivative), &length) in
                    values.iter_mut().zip(held).zip(derivatives).zip(lengths)
                {
                    *value = self.to(held, derivative, length, threshold);
                    let moved = *value - self.clamp.of(held);
                    squared += f64::from(moved * moved / length);
                    promised += f64::from(moved) * self.sign * f64::from(derivative);
                }
                (squared, promised)
            })
            .collect();
        of_pieces.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }
}
