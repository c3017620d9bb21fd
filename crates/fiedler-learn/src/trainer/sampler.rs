//! Samplers: which graphs each step of an epoch looks at, and which of their rows count.

use fiedler_graph::random::stream;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Sampler: how an epoch is divided into steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
pub enum SamplerSettings {
    /// `whole-graph` for one graph, `whole-graphs` for a set.
    #[default]
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    Auto,
    /// Full batch: every step looks at the one graph that there is.
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    WholeGraph,
    /// Minibatches of whole graphs, in an order that is shuffled anew in every epoch.
    #[serde(deserialize_with = "crate::strict::nothing_more")]
    WholeGraphs,
}

/// What one step looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampledBatch {
    /// Places of the graphs in their set.
    pub(crate) graphs: Vec<usize>,
    /// The nodes that count, as [`Step::rows`](crate::method::Step::rows) has them; `None` where all do.
    pub(crate) rows: Option<Vec<u32>>,
}

/// Divides epochs into steps. What it gives depends on the epoch and on nothing that happened before.
pub(crate) trait Sampler {
    /// What each step of an epoch looks at.
    fn batches(&self, epoch: usize) -> Vec<SampledBatch>;
}

/// What a sampler may draw from.
#[derive(Debug)]
pub(crate) struct SamplerInput {
    /// The graphs that there are to learn from, by their places in the set.
    pub(crate) graphs: Vec<usize>,
    /// Graphs of a step, where there are several.
    pub(crate) batch_size: usize,
    /// Seed of the run.
    pub(crate) seed: u64,
}

impl SamplerSettings {
    /// Refuses a sampler that is not for so many graphs.
    pub(crate) fn check(&self, num_graphs: usize) -> Result<()> {
        if *self == SamplerSettings::WholeGraph && num_graphs != 1 {
            let expected = format!("whole-graphs or auto, because there are {num_graphs} graphs");
            return Err(Error::setting("sampler", "whole-graph", expected));
        }
        Ok(())
    }

    /// Most steps of an epoch.
    pub(crate) fn steps_per_epoch(&self, num_graphs: usize, batch_size: usize) -> usize {
        match self {
            SamplerSettings::WholeGraph => 1,
            SamplerSettings::Auto | SamplerSettings::WholeGraphs => num_graphs.div_ceil(batch_size),
        }
    }

    /// The sampler for a set of so many graphs. Settings have been checked.
    pub(crate) fn build(&self, num_graphs: usize, input: SamplerInput) -> Box<dyn Sampler> {
        match self {
            SamplerSettings::Auto if num_graphs == 1 => Box::new(WholeGraph),
            SamplerSettings::WholeGraph => Box::new(WholeGraph),
            SamplerSettings::Auto | SamplerSettings::WholeGraphs => Box::new(WholeGraphs(input)),
        }
    }

    pub(crate) fn is_auto(&self) -> bool {
        *self == SamplerSettings::Auto
    }
}

struct WholeGraph;

impl Sampler for WholeGraph {
    fn batches(&self, _: usize) -> Vec<SampledBatch> {
        vec![SampledBatch { graphs: vec![0], rows: None }]
    }
}

struct WholeGraphs(SamplerInput);

impl Sampler for WholeGraphs {
    /// A last graph that would be left alone, without others to be told apart from, joins the step before.
    fn batches(&self, epoch: usize) -> Vec<SampledBatch> {
        let SamplerInput { graphs, batch_size, seed } = &self.0;
        let mut order = graphs.clone();
        order.shuffle(&mut stream(*seed, "order of graphs", epoch as u64));
        let mut batches: Vec<Vec<usize>> = order.chunks(*batch_size).map(<[usize]>::to_vec).collect();
        if *batch_size > 1
            && batches.len() > 1
            && let Some(alone) = batches.pop_if(|batch| batch.len() == 1)
            && let Some(last) = batches.last_mut()
        {
            last.extend(alone);
        }
        batches.into_iter().map(|graphs| SampledBatch { graphs, rows: None }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(sampler: SamplerSettings, graphs: usize, batch_size: usize, epoch: usize) -> Vec<Vec<usize>> {
        let input = SamplerInput { graphs: (0..graphs).collect(), batch_size, seed: 7 };
        sampler.build(graphs, input).batches(epoch).into_iter().map(|batch| batch.graphs).collect()
    }

    #[test]
    fn every_graph_is_in_one_step_of_an_epoch_and_none_is_alone() {
        for (graphs, batch_size) in [(1, 4), (2, 1), (9, 4), (10, 4), (12, 4), (3, 100)] {
            let found = batches(SamplerSettings::Auto, graphs, batch_size, 3);
            assert!(found.len() <= SamplerSettings::Auto.steps_per_epoch(graphs, batch_size));
            assert!(graphs == 1 || batch_size == 1 || found.iter().all(|batch| batch.len() > 1), "{found:?}");
            let mut all = found.concat();
            all.sort_unstable();
            assert_eq!(all, (0..graphs).collect::<Vec<_>>());
        }
        let of = |epoch| batches(SamplerSettings::WholeGraphs, 20, 5, epoch);
        assert_eq!(of(0), of(0));
        assert_ne!(of(0), of(1));
    }

    #[test]
    fn one_graph_is_whole_whatever_the_sampler() {
        for sampler in [SamplerSettings::Auto, SamplerSettings::WholeGraph, SamplerSettings::WholeGraphs] {
            assert!(sampler.check(1).is_ok());
            assert_eq!(batches(sampler, 1, 32, 5), [[0]]);
        }
        assert!(SamplerSettings::WholeGraph.check(2).is_err());
    }
}
