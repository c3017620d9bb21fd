//! How long and how fast to train.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::optimizer::AdamSettings;

/// How a method is trained. The defaults are the paper's for one graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Training {
    /// How often training goes through all graphs: N in the paper.
    pub epochs: usize,
    /// Graphs that a step looks at; one graph is always taken whole.
    pub batch_size: usize,
    /// β in the paper, at its highest.
    pub learning_rate: f64,
    /// Multiple of each weight that is added to its gradient.
    pub weight_decay: f64,
    /// How the learning rate goes from epoch to epoch.
    pub schedule: Schedule,
    /// Epochs without a smaller loss after which training ends, and goes back to where the loss was smallest.
    pub patience: Option<usize>,
    /// Epochs between two checkpoints, at most.
    pub checkpoint_every: usize,
    /// Embeddings that spread over less than this share of their length have collapsed; looked at with every checkpoint.
    pub collapse_below: f64,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs: 1000,
            batch_size: 32,
            learning_rate: 1e-3,
            weight_decay: 1e-5,
            schedule: Schedule::Constant,
            patience: None,
            checkpoint_every: 50,
            collapse_below: 1e-4,
        }
    }
}

/// How the learning rate goes from epoch to epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Schedule {
    /// Always the same.
    #[default]
    Constant,
    /// Up from near zero in a straight line, then down to zero along half a cosine.
    Cosine {
        /// Epochs on the way up.
        #[serde(default, rename = "warm-up")]
        warm_up: usize,
    },
}

impl Schedule {
    /// The share of the highest learning rate that an epoch has, counted from zero.
    ///
    /// ```
    /// use fiedler_learn::trainer::Schedule;
    /// let shares: Vec<f64> = (0..6).map(|epoch| Schedule::Cosine { warm_up: 2 }.share(epoch, 6)).collect();
    /// assert_eq!(shares[..3], [0.5, 1.0, 1.0]);
    /// assert!((shares[4] - 0.5).abs() < 1e-12 && shares[5] > 0.0);
    /// ```
    pub fn share(&self, epoch: usize, epochs: usize) -> f64 {
        match *self {
            Schedule::Constant => 1.0,
            Schedule::Cosine { warm_up } if epoch < warm_up => (epoch + 1) as f64 / warm_up as f64,
            Schedule::Cosine { warm_up } => {
                let done = (epoch - warm_up) as f64 / epochs.saturating_sub(warm_up).max(1) as f64;
                0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
        }
    }
}

impl Training {
    /// Checks what [`Adam::new`](crate::optimizer::Adam::new) does not.
    pub(super) fn check(&self) -> Result<()> {
        for (name, value) in [
            ("batch-size", self.batch_size),
            ("checkpoint-every", self.checkpoint_every),
            ("patience", self.patience.unwrap_or(1)),
        ] {
            if value == 0 {
                return Err(Error::setting(name, value, "at least 1"));
            }
        }
        if self.epochs > u32::MAX as usize - 1 {
            return Err(Error::setting("epochs", self.epochs, "fewer than four milliards"));
        }
        if !(0.0..1.0).contains(&self.collapse_below) {
            return Err(Error::setting("collapse-below", self.collapse_below, "a number from 0 to less than 1"));
        }
        Ok(())
    }

    pub(super) fn adam(&self) -> AdamSettings {
        AdamSettings { learning_rate: self.learning_rate, weight_decay: self.weight_decay, ..AdamSettings::default() }
    }
}
