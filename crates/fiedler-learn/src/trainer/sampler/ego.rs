//! Ego-nets: all that lies within a few hops of the nodes that count, so that nothing of their neighborhoods is missing.

use std::sync::{Mutex, PoisonError};

use fiedler_graph::{Graph, NodeMarks};
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockInput, BlockSampler, BlockSettings, Seeds};
use crate::error::{Error, Result};

/// Some nodes count in each step, every node once an epoch; all nodes within some hops of them come along. With one hop more than the encoder has
/// layers, what is computed for the nodes that count is what the whole graph gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ego {
    /// Hops from the nodes that count.
    pub hops: usize,
    /// The most nodes that come along for each node that counts, on average over a step: of the hop that would exceed it, nodes are drawn. Without it,
    /// all come along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<usize>,
}

impl Default for Ego {
    fn default() -> Self {
        Ego { hops: 3, cap: None }
    }
}

impl BlockSettings for Ego {
    fn check(&self) -> Result<()> {
        if self.hops > 100 {
            return Err(Error::setting("training.sampler.hops", self.hops, "at most 100"));
        }
        match self.cap {
            Some(0) => Err(Error::setting("training.sampler.cap", 0, "at least 1, or none")),
            _ => Ok(()),
        }
    }

    fn block_nodes(&self, num_nodes: usize, batch_nodes: usize) -> usize {
        self.cap.map_or(num_nodes, |cap| batch_nodes.saturating_mul(cap.saturating_add(1)))
    }

    fn open<'a>(&self, input: BlockInput<'a>) -> Box<dyn BlockSampler + 'a> {
        let marks = Mutex::new(NodeMarks::new(input.graph.num_nodes()));
        Box::new(Opened { graph: input.graph, ego: self.clone(), seeds: Seeds::of(&input), marks })
    }
}

struct Opened<'a> {
    graph: &'a Graph,
    ego: Ego,
    seeds: Seeds,
    marks: Mutex<NodeMarks>,
}

impl BlockSampler for Opened<'_> {
    fn seeds(&self, epoch: usize) -> Vec<Vec<u32>> {
        self.seeds.shuffled(epoch)
    }

    fn block(&self, seeds: &[u32], random: &mut ChaCha8Rng) -> Block {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let most = self.ego.cap.map_or(usize::MAX, |cap| seeds.len().saturating_mul(cap.saturating_add(1)));
        for &node in seeds {
            marks.insert(node);
        }
        let mut hop = 0..marks.len();
        for _ in 0..self.ego.hops {
            for at in hop.clone() {
                for &other in self.graph.neighbors(marks.in_order()[at]) {
                    marks.insert(other);
                }
            }
            if marks.len() > most {
                let met = marks.in_order()[hop.end..].to_vec();
                let kept: Vec<u32> = marks.in_order()[..hop.end].to_vec();
                let drawn = index::sample(random, met.len(), most - hop.end);
                let nodes: Vec<u32> = kept.into_iter().chain(drawn.iter().map(|at| met[at])).collect();
                marks.take();
                for node in nodes {
                    marks.insert(node);
                }
                break;
            }
            hop = hop.end..marks.len();
        }
        Block::counting(marks.take(), seeds)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_graph::{NoObserver, generate};

    use crate::data::{Data, FeatureSettings};
    use crate::device::DeviceSettings;
    use crate::encoder::{EncoderSettings, GcnSettings};
    use crate::pass::Pass;
    use crate::trainer::{Ego, SamplerInput, SamplerSettings};
    use crate::{Initializer, Normalization};

    #[test]
    fn one_hop_more_than_layers_gives_what_the_whole_graph_gives() {
        let dataset = generate::from_spec("citation:nodes=400", 3).unwrap();
        let data = Data::new(&dataset, &FeatureSettings::default()).unwrap();
        let device = DeviceSettings::default().open();
        let gcn = GcnSettings { hidden_channels: 16, num_layers: 2, ..GcnSettings::default() };
        let encoder = EncoderSettings::Gcn(gcn).build(data.dims(), &mut Initializer::new(3, &device)).unwrap();
        let rows_of = |loaded: crate::sample::Loaded<'_>| {
            let sample = loaded.clean(&data, &[Normalization::Symmetric]).unwrap();
            let graph = sample.graph(Normalization::Symmetric).unwrap();
            let rows = encoder.last(graph, &sample.features, &Pass::eval()).unwrap();
            let all = encoder.forward(graph, &sample.features, &Pass::eval()).unwrap().last();
            let values = rows.into_data().try_into_vec::<f32>().unwrap();
            assert_eq!(values, all.into_data().try_into_vec::<f32>().unwrap(), "layer by layer or all layers");
            values
        };
        let whole = rows_of(data.load_all(&device).unwrap());
        for (hops, exact) in [(3, true), (1, false)] {
            let graph = dataset.graph().unwrap();
            let (graphs, batch_nodes) = (vec![0], Some(20));
            let input = SamplerInput { graphs, batch_size: 1, batch_nodes, graph, seed: 1, observer: &NoObserver };
            let sampler = SamplerSettings::Ego(Ego { hops, cap: None }).build(1, input);
            let mut apart = 0f32;
            for (step, batch) in sampler.batches(0).iter().enumerate() {
                let block = sampler.block(batch, 0, step).unwrap();
                assert!(block.nodes.len() < 400);
                let (nodes, counted) = (block.nodes.clone(), block.rows.clone().unwrap());
                let found = rows_of(data.load_block(block, &device).unwrap());
                for row in counted {
                    let node = nodes[row as usize] as usize;
                    let (one, other) = (&found[row as usize * 16..][..16], &whole[node * 16..][..16]);
                    apart = one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(apart, f32::max);
                }
            }
            // With fewer hops, degrees within the block are smaller.
            assert_eq!(apart <= 1e-6, exact, "{hops} hops: {apart}");
        }
    }
}
