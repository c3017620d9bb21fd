//! Full batch: the one graph that there is, or minibatches of whole graphs.

use fiedler_graph::random::stream;
use rand::seq::SliceRandom;

use super::{SampledBatch, Sampler, SamplerInput};

/// Every step looks at the one graph.
pub(super) struct WholeGraph;

impl Sampler for WholeGraph {
    fn batches(&self, _: usize) -> Vec<SampledBatch> {
        vec![SampledBatch::of_graphs(vec![0])]
    }
}

/// Steps look at some graphs of a set.
pub(super) struct WholeGraphs {
    graphs: Vec<usize>,
    batch_size: usize,
    seed: u64,
}

impl WholeGraphs {
    pub(super) fn new(input: SamplerInput<'_>) -> WholeGraphs {
        WholeGraphs { graphs: input.graphs, batch_size: input.batch_size, seed: input.seed }
    }
}

impl Sampler for WholeGraphs {
    /// A last graph that would be left alone, without others to be told apart from, joins the step before.
    fn batches(&self, epoch: usize) -> Vec<SampledBatch> {
        let WholeGraphs { graphs, batch_size, seed } = self;
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
        batches.into_iter().map(SampledBatch::of_graphs).collect()
    }
}
