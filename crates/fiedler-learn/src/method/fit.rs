//! What a method is fitted to without gradients.

use burn::tensor::Device;
use fiedler_graph::{Event, Features, GraphSet, Observer};

use crate::Normalization;
use crate::data::Data;
use crate::encoder::Encoder;
use crate::error::{Error, Result};
use crate::pass::Pass;
use crate::sample::Sample;
use crate::task::Task;

/// The name of the stage that an [`Observer`] hears while a model is fitted without gradients.
const STAGE: &str = "fitting";

/// The whole dataset, as [`Method::fit`](super::Method::fit) sees it: one graph, or all graphs of a set.
pub struct FitData<'a> {
    /// What there is to learn from.
    pub task: &'a Task,
    /// Graphs and features.
    pub data: &'a Data<'a>,
    /// Seed of the run.
    pub seed: u64,
    /// Where the model's tensors lie; it records gradients.
    pub device: &'a Device,
    /// Nodes of a step, at most: all, or those of a block.
    pub step_nodes: usize,
    /// Who hears of progress, and may stop.
    pub observer: &'a dyn Observer,
}

impl FitData<'_> {
    /// The graphs.
    pub fn graphs(&self) -> &GraphSet {
        self.data.graphs()
    }

    /// The features of nodes as they are stored: sparse ones are not written out.
    pub fn features(&self) -> &Features {
        self.data.features()
    }

    /// All graphs as one block-diagonal sample, as [`Method::embed`](super::Method::embed) sees them, with messages weighted in these
    /// ways.
    ///
    /// # Errors
    /// When a column of categories has no code left for what is hidden.
    pub fn sample(&self, operators: &[Normalization]) -> Result<Sample> {
        self.data.load_all(&self.device.clone().inner())?.clean(self.data, operators)
    }

    /// Replaces the running statistics of an encoder's batch normalizations by those of all graphs as they are. The encoder is one that
    /// records no gradients (`valid()`).
    ///
    /// # Errors
    /// As [`FitData::sample`], and when the graphs do not fit the encoder.
    pub fn calibrate(&self, encoder: &Encoder, normalization: Normalization) -> Result<()> {
        let sample = self.sample(&[normalization])?;
        encoder.forward(sample.graph(normalization)?, &sample.features, &Pass::calibrate()).map(drop)
    }

    /// Tells that so many of all parts are done; fails where the observer wants to stop.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn progress(&self, part: &str, done: usize, total: usize) -> Result<()> {
        let event = Event::Progress { stage: STAGE, item: part, done, total: Some(total), value: None };
        match self.observer.goes_on(&event) {
            true => Ok(()),
            false => Err(Error::Stopped { epoch: 0, epochs: 0, saved: false }),
        }
    }

    /// Tells the user something.
    pub fn note(&self, text: &str) {
        // A note is no step: whether to stop is asked at the next one.
        let _ = self.observer.event(&Event::Note(text));
    }
}
