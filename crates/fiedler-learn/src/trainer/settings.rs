//! How long and how fast to train.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Clock;
use super::sampler::SamplerSettings;
use crate::error::{Error, Result};
use crate::optimizer::AdamSettings;

/// How a method is trained. The defaults are the paper's for one graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingSettings {
    /// Epochs: how often training goes through all graphs, N in the paper.
    pub epochs: usize,
    /// Batch size: graphs that a step looks at, of a set.
    pub batch_size: usize,
    /// Sampler: how an epoch is divided into steps.
    #[serde(skip_serializing_if = "SamplerSettings::is_auto")]
    pub sampler: SamplerSettings,
    /// Nodes of a step, where it looks at a part of one graph: those that count, or, of the samplers `walk` and `clusters`, all. Without it, 1,024
    /// for a sampler of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_nodes: Option<usize>,
    /// Optimizer of all weights, where a method has none of its own.
    pub optimizer: Optimizer,
    /// Learning rate, β in the paper, at its highest.
    pub learning_rate: f64,
    /// Weight decay (L2, as in torch.optim.Adam; decoupled with AdamW).
    pub weight_decay: f64,
    /// Schedule: how the learning rate changes.
    pub schedule: Schedule,
    /// Patience: epochs without a smaller loss after which training ends, and goes back to the weights that had the smallest.
    pub patience: Option<usize>,
    /// Epochs between two checkpoints, at most.
    pub checkpoint_every: usize,
    /// Embeddings whose relative standard deviation is less have collapsed; looked at with every checkpoint.
    pub min_relative_std: f64,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        TrainingSettings {
            epochs: 1000,
            batch_size: 32,
            sampler: SamplerSettings::Auto,
            batch_nodes: None,
            optimizer: Optimizer::Adam,
            learning_rate: 1e-3,
            weight_decay: 1e-5,
            schedule: Schedule::Constant,
            patience: None,
            checkpoint_every: 50,
            min_relative_std: 1e-4,
        }
    }
}

/// Which optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// Adam, with weight decay as L2.
    #[default]
    Adam,
    /// Adam with decoupled weight decay.
    AdamW,
}

/// An optimizer with its learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizerSettings {
    /// Which.
    pub optimizer: Optimizer,
    /// Learning rate at its highest.
    pub learning_rate: f64,
    /// Weight decay.
    pub weight_decay: f64,
}

impl OptimizerSettings {
    pub(crate) fn adam(&self) -> AdamSettings {
        AdamSettings {
            learning_rate: self.learning_rate,
            weight_decay: self.weight_decay,
            decoupled: self.optimizer == Optimizer::AdamW,
            ..AdamSettings::default()
        }
    }
}

/// What a schedule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleUnit {
    /// Epochs.
    #[default]
    Epoch,
    /// Steps.
    Step,
    /// Hundredths of all steps: a schedule that stays the same however long training is.
    Percent,
}

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
pub enum Schedule {
    /// Always the same.
    #[default]
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    Constant,
    /// Up in a straight line, then down to zero along half a cosine.
    Cosine {
        /// Epochs, steps, or hundredths of all steps on the way up.
        #[serde(default)]
        warmup: usize,
        /// Whether the first step of the warm-up has a learning rate of zero, as in BGRL's program; otherwise it is the first above zero.
        #[serde(default)]
        from_zero: bool,
        /// What is counted.
        #[serde(default)]
        unit: ScheduleUnit,
    },
}

impl Schedule {
    /// The factor of the highest learning rate.
    ///
    /// ```
    /// use fiedler_learn::trainer::{Clock, Schedule, ScheduleUnit};
    /// let schedule = Schedule::Cosine { warmup: 2, from_zero: false, unit: ScheduleUnit::Epoch };
    /// let factor = |epoch| schedule.factor(&Clock { epoch, epochs: 6, ..Clock::default() });
    /// let factors: Vec<f64> = (0..6).map(factor).collect();
    /// assert_eq!(factors[..3], [0.5, 1.0, 1.0]);
    /// assert!((factors[4] - 0.5).abs() < 1e-12 && factors[5] > 0.0);
    /// ```
    pub fn factor(&self, clock: &Clock) -> f64 {
        let Schedule::Cosine { warmup, from_zero, unit } = *self else { return 1.0 };
        let (step, total_steps) = (clock.step as usize, clock.total_steps as usize);
        let (at, total, warmup) = match unit {
            ScheduleUnit::Epoch => (clock.epoch, clock.epochs, warmup),
            ScheduleUnit::Step => (step, total_steps, warmup),
            ScheduleUnit::Percent => (step, total_steps, (total_steps * warmup).div_ceil(100)),
        };
        if at < warmup {
            return (at + usize::from(!from_zero)) as f64 / warmup as f64;
        }
        let done = (at - warmup) as f64 / total.saturating_sub(warmup).max(1) as f64;
        0.5 * (1.0 + (std::f64::consts::PI * done.min(1.0)).cos())
    }
}

impl TrainingSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("batch_size", self.batch_size),
            ("checkpoint_every", self.checkpoint_every),
            ("patience", self.patience.unwrap_or(1)),
        ] {
            if value == 0 {
                return Err(Error::setting(name, value, "at least 1"));
            }
        }
        if self.epochs > u32::MAX as usize - 1 {
            return Err(Error::setting("epochs", self.epochs, "at most 4,294,967,294"));
        }
        if !(0.0..1.0).contains(&self.min_relative_std) {
            return Err(Error::setting("min_relative_std", self.min_relative_std, "a number from 0 to less than 1"));
        }
        match self.schedule {
            Schedule::Cosine { warmup, unit: ScheduleUnit::Epoch, .. } if warmup > self.epochs => {
                return Err(Error::setting("warmup", warmup, format!("at most {}, the number of epochs", self.epochs)));
            }
            Schedule::Cosine { warmup, unit: ScheduleUnit::Percent, .. } if warmup > 100 => {
                return Err(Error::setting("warmup", warmup, "at most 100, in percent"));
            }
            _ => {}
        }
        self.optimizer().adam().check()
    }

    /// Refuses a warm-up that is longer than training, which has so many steps at most.
    pub(crate) fn check_steps(&self, steps_per_epoch: usize) -> Result<()> {
        let steps = self.epochs.saturating_mul(steps_per_epoch);
        match self.schedule {
            Schedule::Cosine { warmup, unit: ScheduleUnit::Step, .. } if warmup > steps => {
                Err(Error::setting("warmup", warmup, format!("at most {steps}, the number of steps")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn optimizer(&self) -> OptimizerSettings {
        let TrainingSettings { optimizer, learning_rate, weight_decay, .. } = *self;
        OptimizerSettings { optimizer, learning_rate, weight_decay }
    }
}
