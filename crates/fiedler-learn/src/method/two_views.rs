//! What methods share that compare the nodes of two views, each with itself.

use burn::Tensor;

use super::Step;
use crate::encoder::{Encoder, EncoderSettings};
use crate::error::{Error, Result};
use crate::pass::Pass;
use crate::sample::Sample;
use crate::task::Task;

/// Refuses another number of views than two, and a node that has nothing to differ from.
pub(super) fn check(method: &str, task: &Task) -> Result<()> {
    if task.num_views != 2 {
        return Err(Error::setting("number of views", task.num_views, format!("2, which is what {method} compares")));
    }
    if task.num_nodes < 2 {
        return Err(Error::setting("number of nodes", task.num_nodes, "at least 2, for columns to have a deviation"));
    }
    Ok(())
}

/// The nodes of a view after the last layer.
pub(super) fn encode(encoder: &Encoder, settings: &EncoderSettings, sample: &Sample, pass: &Pass) -> Result<Tensor<2>> {
    encoder.last(sample.graph(settings.normalization())?, &sample.features, pass)
}

/// The nodes of both views of a step after the last layer: those that neither view has dropped.
pub(super) fn encode_both(encoder: &Encoder, settings: &EncoderSettings, step: &Step<'_>) -> Result<[Tensor<2>; 2]> {
    let rows = step.rows_in_all_views();
    let nodes = |view: usize| -> Result<Tensor<2>> {
        let sample = &step.views[view];
        let layers = encoder.forward(sample.graph(settings.normalization())?, &sample.features, &step.pass)?;
        Ok(rows.as_ref().map_or_else(|| layers.last(), |rows| layers.select(rows).last()))
    };
    Ok([nodes(0)?, nodes(1)?])
}
