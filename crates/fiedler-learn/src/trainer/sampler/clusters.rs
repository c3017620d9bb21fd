//! Clusters (Cluster-GCN): the graph is cut into parts that few edges cross, and each step looks at a few of them.

use std::sync::OnceLock;

use fiedler_graph::random::stream;
use fiedler_graph::{Event, partition};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockInput, BlockSampler, BlockSettings, steps};
use crate::error::{Error, Result};

/// Some parts of the graph, drawn anew in every epoch, with all edges among their nodes. Every node counts once an epoch, so that an epoch costs as
/// much as one of the whole graph; edges between parts that do not meet are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clusters {
    /// Parts that a step looks at: the more, the smaller they are, and the more steps differ between epochs.
    pub parts_per_batch: usize,
}

impl Default for Clusters {
    fn default() -> Self {
        Clusters { parts_per_batch: 8 }
    }
}

impl BlockSettings for Clusters {
    fn check(&self) -> Result<()> {
        if !(1..=100_000).contains(&self.parts_per_batch) {
            return Err(Error::setting("training.sampler.parts_per_batch", self.parts_per_batch, "1 to 100,000"));
        }
        Ok(())
    }

    fn block_nodes(&self, _: usize, batch_nodes: usize) -> usize {
        // Parts may be a little larger than their mean, and a step may meet the larger ones.
        batch_nodes.saturating_add(batch_nodes / 8)
    }

    fn open<'a>(&self, input: BlockInput<'a>) -> Box<dyn BlockSampler + 'a> {
        Box::new(Opened { input, parts_per_batch: self.parts_per_batch, parts: OnceLock::new() })
    }
}

struct Opened<'a> {
    input: BlockInput<'a>,
    parts_per_batch: usize,
    /// The nodes of each part, ascending.
    parts: OnceLock<Vec<Vec<u32>>>,
}

impl Opened<'_> {
    /// Cuts the graph. It does not depend on the seed.
    fn cut(&self) -> Vec<Vec<u32>> {
        let BlockInput { graph, batch_nodes, observer, .. } = self.input;
        let nodes = graph.num_nodes();
        let count = (steps(nodes, batch_nodes) * self.parts_per_batch).clamp(1, (nodes / 2).max(1));
        // Where the user wants to stop, training will hear of it; half a partition would give other results.
        let part_of = partition(graph, count, &mut |done, total| {
            let item = "cutting the graph into parts";
            observer.goes_on(&Event::Progress { stage: "clusters", item, done, total: Some(total), value: None });
            true
        });
        let mut parts = vec![Vec::new(); count];
        (0..).zip(&part_of).for_each(|(node, &part)| parts[part as usize].push(node));
        // A node alone has nothing to be told apart from.
        let mut kept: Vec<Vec<u32>> = Vec::with_capacity(count);
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            match kept.last_mut() {
                Some(last) if part.len() == 1 || last.len() == 1 => last.extend(part),
                _ => kept.push(part),
            }
        }
        kept
    }
}

impl BlockSampler for Opened<'_> {
    fn seeds(&self, epoch: usize) -> Vec<Vec<u32>> {
        let parts = self.parts.get_or_init(|| self.cut());
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.shuffle(&mut stream(self.input.seed, "order of parts", epoch as u64));
        let steps = steps(self.input.graph.num_nodes(), self.input.batch_nodes).min(order.len());
        let of_step = |step: usize| {
            let places = step * order.len() / steps..(step + 1) * order.len() / steps;
            let mut nodes: Vec<u32> = order[places].iter().flat_map(|&part| parts[part].iter().copied()).collect();
            nodes.sort_unstable();
            nodes
        };
        (0..steps).map(of_step).collect()
    }

    fn block(&self, seeds: &[u32], _: &mut ChaCha8Rng) -> Block {
        Block { nodes: seeds.to_vec(), rows: None }
    }
}
