//! How far training is.

/// How far training is, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clock {
    /// Whole epochs done.
    pub epoch: usize,
    /// Epochs there are to be.
    pub epochs: usize,
    /// Steps done since the start.
    pub step: u64,
    /// Steps of an epoch.
    pub steps_per_epoch: usize,
    /// Steps there are to be.
    pub total_steps: u64,
}

impl Clock {
    /// The share of training that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.total_steps == 0 { 0.0 } else { self.step as f64 / self.total_steps as f64 }
    }
}
