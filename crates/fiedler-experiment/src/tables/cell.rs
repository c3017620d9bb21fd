//! One place in a table: a row's settings on a dataset.

use fiedler_evaluate::Metric;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;

use super::paper::PrintedFigure;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;

/// A row of a table, for one dataset.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which dataset, by its place among those that were loaded.
    pub data: usize,
    /// The row.
    pub row: String,
    /// The recipe its settings came from, and what that says of itself.
    pub recipe: String,
    pub about: String,
    pub settings: Settings,
    /// How its encoder is trained without labels before, on other data, where it is.
    pub start: Option<Settings>,
    pub measure: Measure,
    /// What the paper prints.
    pub paper: Option<PrintedFigure>,
    /// The row that it is compared with, seed by seed.
    pub against: Option<String>,
}

/// What is told of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// How well labels are predicted, in per cent; without a metric, what the field reports for such labels.
    Score(Option<Metric>),
    /// Seconds that computing the scheme took.
    SchemeSeconds,
    /// Seconds that so many epochs of training took, or would have taken.
    TrainingSeconds { epochs: usize },
    /// Seconds that fitting without gradients took.
    FitSeconds,
    /// Distance between the spectrum of the graph and of a drawn second view.
    SpectralChange,
    /// The norm of the original spectrum.
    Norm,
    /// The norm of a view's expected spectrum, relative to that of the original.
    RelativeNorm { view: usize },
}

impl Measure {
    /// Whether it is a scheme that is measured, and nothing is learned.
    pub fn is_of_scheme(self) -> bool {
        matches!(self, Measure::SchemeSeconds | Measure::SpectralChange | Measure::Norm | Measure::RelativeNorm { .. })
    }
}

impl Cell {
    /// How much work a run is: epochs times nodes and entries of the adjacency matrix.
    pub fn work(&self, data: &Task) -> u64 {
        let epochs = match self.settings.method.as_any().untrained() {
            Some(_) if !self.measure.is_of_scheme() => self.settings.training.epochs,
            _ => 1,
        };
        epochs as u64 * (data.record.nodes + 2 * data.record.edges) as u64
    }

    /// The seeds that make a difference: what depends on none is computed once.
    pub fn seeds(&self, preset: ProtocolPreset, first: u64, count: usize) -> Vec<u64> {
        let varies = match self.measure {
            Measure::Score(_) => preset.divides_by_seed() || !matches!(self.settings.method, MethodSettings::Raw(_)),
            Measure::TrainingSeconds { .. } | Measure::SpectralChange => true,
            Measure::FitSeconds => true,
            Measure::SchemeSeconds | Measure::Norm | Measure::RelativeNorm { .. } => false,
        };
        (first..first.saturating_add(if varies { count as u64 } else { 1 })).collect()
    }
}
