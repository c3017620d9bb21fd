//! Samplers of blocks: some nodes of the one graph that there is, with all edges among them.

use fiedler_graph::random::stream;
use fiedler_graph::{Graph, Observer};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{SampledBatch, Sampler};
use crate::error::Result;

/// Nodes of a step, and which of them count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Ascending.
    pub(crate) nodes: Vec<u32>,
    /// Places of those that count among them, ascending; `None` where all do.
    pub(crate) rows: Option<Vec<u32>>,
}

impl Block {
    /// A block in which the seeds count. Both ascend, and the seeds are among the nodes.
    pub(super) fn counting(nodes: Vec<u32>, seeds: &[u32]) -> Block {
        let mut rows = Vec::with_capacity(seeds.len());
        let mut at = 0;
        for (place, node) in nodes.iter().enumerate() {
            if seeds.get(at) == Some(node) {
                rows.push(place as u32);
                at += 1;
            }
        }
        let rows = (rows.len() < nodes.len()).then_some(rows);
        Block { nodes, rows }
    }
}

/// What a sampler of blocks is opened with.
#[derive(Clone, Copy)]
pub(super) struct BlockInput<'a> {
    pub(super) graph: &'a Graph,
    /// Nodes that count in a step.
    pub(super) batch_nodes: usize,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

/// Settings of a sampler of blocks: one file each, and one line in the list of [`super`].
pub(super) trait BlockSettings {
    /// Refuses settings that are out of their range.
    fn check(&self) -> Result<()>;

    /// The most nodes that a block may have, by an estimate.
    fn block_nodes(&self, num_nodes: usize, batch_nodes: usize) -> usize;

    /// The sampler for a graph.
    fn open<'a>(&self, input: BlockInput<'a>) -> Box<dyn BlockSampler + 'a>;
}

/// Cuts blocks out of a graph.
pub(super) trait BlockSampler: Send + Sync {
    /// The nodes that each step of an epoch starts from, ascending.
    fn seeds(&self, epoch: usize) -> Vec<Vec<u32>>;

    /// The block of a step; `random` belongs to the step alone.
    fn block(&self, seeds: &[u32], random: &mut ChaCha8Rng) -> Block;
}

/// Every node once an epoch, in an order that is shuffled anew.
pub(super) struct Seeds {
    pub(super) num_nodes: usize,
    pub(super) batch_nodes: usize,
    pub(super) seed: u64,
    /// The most seeds of a step, where not all nodes are seeds of one.
    pub(super) most: Option<usize>,
}

impl Seeds {
    pub(super) fn of(input: &BlockInput<'_>) -> Seeds {
        let BlockInput { graph, batch_nodes, seed, .. } = *input;
        Seeds { num_nodes: graph.num_nodes(), batch_nodes, seed, most: None }
    }

    /// Steps of about the same size.
    pub(super) fn shuffled(&self, epoch: usize) -> Vec<Vec<u32>> {
        let nodes = self.num_nodes;
        let mut order: Vec<u32> = (0..nodes as u32).collect();
        order.shuffle(&mut stream(self.seed, "order of nodes", epoch as u64));
        let steps = steps(nodes, self.batch_nodes);
        let of_step = |step: usize| {
            let mut seeds = order[step * nodes / steps..(step + 1) * nodes / steps].to_vec();
            seeds.truncate(self.most.unwrap_or(usize::MAX));
            seeds.sort_unstable();
            seeds
        };
        (0..steps).map(of_step).collect()
    }
}

/// Steps of an epoch: no step has a single node, which would have nothing to be told apart from.
pub(super) fn steps(num_nodes: usize, batch_nodes: usize) -> usize {
    num_nodes.div_ceil(batch_nodes).min(num_nodes / 2).max(1)
}

/// A sampler of blocks as the trainer uses it.
pub(super) struct Blocks<'a> {
    pub(super) sampler: Box<dyn BlockSampler + 'a>,
    pub(super) seed: u64,
}

impl Sampler for Blocks<'_> {
    fn batches(&self, epoch: usize) -> Vec<SampledBatch> {
        let of_graph = |seeds| SampledBatch { graphs: vec![0], seeds: Some(seeds) };
        self.sampler.seeds(epoch).into_iter().map(of_graph).collect()
    }

    fn block(&self, batch: &SampledBatch, epoch: usize, step: usize) -> Option<Block> {
        let index = (epoch as u64) << 32 | step as u64;
        Some(self.sampler.block(batch.seeds.as_deref()?, &mut stream(self.seed, "block", index)))
    }
}
