//! Random walks (GraphSAINT's random walk sampler).

use std::sync::{Mutex, PoisonError};

use fiedler_graph::{Graph, NodeMarks};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockInput, BlockSampler, BlockSettings, Seeds};
use crate::error::{Error, Result};

/// The nodes that random walks from some roots meet, with all edges among them; all of them count. Nodes of many edges are met more often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Walk {
    /// Steps of a walk. A block has at most `batch_nodes` nodes: one root for each `length + 1` of them, but two in any case.
    pub length: usize,
}

impl Default for Walk {
    fn default() -> Self {
        Walk { length: 3 }
    }
}

impl BlockSettings for Walk {
    fn check(&self) -> Result<()> {
        if !(1..=10_000).contains(&self.length) {
            return Err(Error::setting("training.sampler.length", self.length, "1 to 10,000"));
        }
        Ok(())
    }

    fn block_nodes(&self, _: usize, batch_nodes: usize) -> usize {
        batch_nodes.max(2 * (self.length + 1))
    }

    fn open<'a>(&self, input: BlockInput<'a>) -> Box<dyn BlockSampler + 'a> {
        let roots = (input.batch_nodes / (self.length + 1)).max(2);
        let seeds = Seeds { most: Some(roots), ..Seeds::of(&input) };
        let marks = Mutex::new(NodeMarks::new(input.graph.num_nodes()));
        Box::new(Opened { graph: input.graph, length: self.length, seeds, marks })
    }
}

struct Opened<'a> {
    graph: &'a Graph,
    length: usize,
    seeds: Seeds,
    marks: Mutex<NodeMarks>,
}

impl BlockSampler for Opened<'_> {
    fn seeds(&self, epoch: usize) -> Vec<Vec<u32>> {
        self.seeds.shuffled(epoch)
    }

    fn block(&self, seeds: &[u32], random: &mut ChaCha8Rng) -> Block {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        for &root in seeds {
            let mut at = root;
            marks.insert(at);
            for _ in 0..self.length {
                let row = self.graph.neighbors(at);
                if row.is_empty() {
                    break;
                }
                at = row[random.random_range(0..row.len())];
                marks.insert(at);
            }
        }
        Block { nodes: marks.take(), rows: None }
    }
}
