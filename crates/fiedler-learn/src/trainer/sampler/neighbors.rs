//! Neighbor sampling (GraphSAGE; PyTorch Geometric's `NeighborLoader` with induced subgraphs).

use std::sync::{Mutex, PoisonError};

use fiedler_graph::{Graph, NodeMarks};
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockInput, BlockSampler, BlockSettings, Seeds};
use crate::error::{Error, Result};

/// Some nodes count in each step, every node once an epoch; some of their neighbors come along, some neighbors of these, and so on, with all edges
/// among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Neighbors {
    /// Fan-out: neighbors that are drawn for each node, hop after hop; all where there are not more. As many hops as the encoder has layers.
    pub fan_out: Vec<usize>,
}

impl Default for Neighbors {
    fn default() -> Self {
        Neighbors { fan_out: vec![10, 10] }
    }
}

impl BlockSettings for Neighbors {
    fn check(&self) -> Result<()> {
        if self.fan_out.is_empty() || self.fan_out.len() > 100 || self.fan_out.contains(&0) {
            let expected = "1 to 100 numbers, each at least 1, such as [10, 10]";
            return Err(Error::setting("training.sampler.fan_out", format!("{:?}", self.fan_out), expected));
        }
        Ok(())
    }

    fn block_nodes(&self, _: usize, batch_nodes: usize) -> usize {
        let each = self.fan_out.iter().rev().fold(1usize, |nodes, &fan| nodes.saturating_mul(fan).saturating_add(1));
        batch_nodes.saturating_mul(each)
    }

    fn open<'a>(&self, input: BlockInput<'a>) -> Box<dyn BlockSampler + 'a> {
        let marks = Mutex::new(NodeMarks::new(input.graph.num_nodes()));
        Box::new(Opened { graph: input.graph, fan_out: self.fan_out.clone(), seeds: Seeds::of(&input), marks })
    }
}

struct Opened<'a> {
    graph: &'a Graph,
    fan_out: Vec<usize>,
    seeds: Seeds,
    marks: Mutex<NodeMarks>,
}

impl BlockSampler for Opened<'_> {
    fn seeds(&self, epoch: usize) -> Vec<Vec<u32>> {
        self.seeds.shuffled(epoch)
    }

    fn block(&self, seeds: &[u32], random: &mut ChaCha8Rng) -> Block {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        for &node in seeds {
            marks.insert(node);
        }
        let mut hop = 0..marks.len();
        for &fan in &self.fan_out {
            for at in hop.clone() {
                let row = self.graph.neighbors(marks.in_order()[at]);
                if row.len() <= fan {
                    for &other in row {
                        marks.insert(other);
                    }
                } else {
                    for at in index::sample(random, row.len(), fan) {
                        marks.insert(row[at]);
                    }
                }
            }
            hop = hop.end..marks.len();
        }
        Block::counting(marks.take(), seeds)
    }
}
