//! Samplers: how an epoch is divided into steps, what each step looks at, and which of its rows count.
//!
//! A sampler of blocks, parts of one large graph, is one file here and one line in the list below; from the line follow its name in settings and on
//! the command line, its checks and its help. A block has all edges of the graph among its nodes. Messages in it are normalized by the degrees that
//! nodes have within the block, as in PyTorch Geometric: a node that has lost neighbors keeps the scale of what it hears.

mod blocks;
mod clusters;
mod ego;
mod neighbors;
mod walk;
mod whole;

use fiedler_graph::{Graph, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use blocks::Block;
use blocks::{BlockInput, BlockSettings, Blocks};
pub use clusters::Clusters;
pub use ego::Ego;
pub use neighbors::Neighbors;
pub use walk::Walk;
use whole::{WholeGraph, WholeGraphs};

use super::TrainingSettings;
use crate::error::{Error, Result};

/// Nodes of a step, where nothing is said of them.
const BATCH_NODES: usize = 1024;

/// What one step looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampledBatch {
    /// Places of the graphs in their set.
    pub(crate) graphs: Vec<usize>,
    /// What its block starts from, where it is one.
    pub(crate) seeds: Option<Vec<u32>>,
}

impl SampledBatch {
    fn of_graphs(graphs: Vec<usize>) -> SampledBatch {
        SampledBatch { graphs, seeds: None }
    }
}

/// Divides epochs into steps. What it gives depends on the epoch and on nothing that happened before.
pub(crate) trait Sampler: Send + Sync {
    /// What each step of an epoch looks at.
    fn batches(&self, epoch: usize) -> Vec<SampledBatch>;

    /// The nodes of a step; `None` where it looks at whole graphs.
    fn block(&self, batch: &SampledBatch, epoch: usize, step: usize) -> Option<Block> {
        let _ = (batch, epoch, step);
        None
    }
}

/// What a sampler may draw from.
pub(crate) struct SamplerInput<'a> {
    /// The graphs that there are to learn from, by their places in the set.
    pub(crate) graphs: Vec<usize>,
    /// Graphs of a step, where there are several.
    pub(crate) batch_size: usize,
    /// Nodes that count in a step, where it looks at a part of a graph.
    pub(crate) batch_nodes: Option<usize>,
    /// All graphs as one.
    pub(crate) graph: &'a Graph,
    /// Seed of the run.
    pub(crate) seed: u64,
    /// Hears of what takes long.
    pub(crate) observer: &'a dyn Observer,
}

/// Makes the enum of all samplers and what follows from the list of those of blocks.
macro_rules! samplers {
    ($($(#[doc = $about:literal])+ $variant:ident($settings:ty) = $name:literal,)+) => {
        /// Sampler: how an epoch is divided into steps.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", tag = "name")]
        pub enum SamplerSettings {
            /// `whole` for one graph, or `clusters` where `batch_nodes` is given; `whole-graphs` for a set.
            #[default]
            #[serde(deserialize_with = "crate::strict::nothing_more")]
            Auto,
            /// Full batch: every step looks at the one graph that there is.
            #[serde(alias = "whole-graph", deserialize_with = "crate::strict::nothing_more")]
            Whole,
            /// Minibatches of whole graphs, in an order that is shuffled anew in every epoch.
            #[serde(deserialize_with = "crate::strict::nothing_more")]
            WholeGraphs,
            $($(#[doc = $about])+ #[serde(rename = $name)] $variant($settings),)+
        }

        impl SamplerSettings {
            /// The samplers of one graph by their names, and what they do.
            pub const OF_NODES: &[(&str, &str)] =
                &[("whole", "Every step looks at the whole graph."), $(($name, concat!($($about),+)),)+];

            /// The settings of a sampler of blocks; `None` of others.
            fn of_blocks(&self) -> Option<&dyn BlockSettings> {
                match self {
                    $(SamplerSettings::$variant(settings) => Some(settings),)+
                    SamplerSettings::Auto | SamplerSettings::Whole | SamplerSettings::WholeGraphs => None,
                }
            }

            /// Its name, as it stands in files.
            pub fn name(&self) -> &'static str {
                match self {
                    SamplerSettings::Auto => "auto",
                    SamplerSettings::Whole => "whole",
                    SamplerSettings::WholeGraphs => "whole-graphs",
                    $(SamplerSettings::$variant(_) => $name,)+
                }
            }
        }
    };
}

samplers! {
    /// Some nodes count, each once an epoch; drawn neighbors come along, hop after hop.
    Neighbors(Neighbors) = "neighbors",
    /// Some nodes count, each once an epoch; all nodes within some hops come along.
    Ego(Ego) = "ego",
    /// The nodes that random walks meet (GraphSAINT).
    Walk(Walk) = "walk",
    /// Some parts of the graph that few edges cross (Cluster-GCN); each node once an epoch.
    Clusters(Clusters) = "clusters",
}

impl SamplerSettings {
    /// What `auto` stands for.
    fn resolved(&self, num_graphs: usize, batch_nodes: Option<usize>) -> SamplerSettings {
        match (self, num_graphs, batch_nodes) {
            (SamplerSettings::Auto, 1, None) => SamplerSettings::Whole,
            (SamplerSettings::Auto, 1, Some(_)) => SamplerSettings::Clusters(Clusters::default()),
            (SamplerSettings::Auto, ..) => SamplerSettings::WholeGraphs,
            (given, ..) => given.clone(),
        }
    }

    pub(crate) fn is_auto(&self) -> bool {
        *self == SamplerSettings::Auto
    }
}

impl TrainingSettings {
    /// Refuses a sampler that is out of its range or not for so many graphs.
    pub(crate) fn check_sampler(&self, num_graphs: usize) -> Result<()> {
        let sampler = self.sampler.resolved(num_graphs, self.batch_nodes);
        let blocks = sampler.of_blocks();
        if num_graphs != 1 && (blocks.is_some() || sampler == SamplerSettings::Whole) {
            let expected = format!("whole-graphs or auto, because there are {num_graphs} graphs");
            return Err(Error::setting("training.sampler", sampler.name(), expected));
        }
        match (blocks, self.batch_nodes) {
            (Some(_), Some(nodes @ 0..2)) => Err(Error::setting(
                "training.batch_nodes",
                nodes,
                "at least 2, because a node alone has nothing to differ from",
            )),
            (Some(blocks), _) => blocks.check(),
            (None, Some(nodes)) => {
                let others = SamplerSettings::OF_NODES.iter().map(|(name, _)| *name).filter(|name| *name != "whole");
                let expected = match num_graphs {
                    1 => format!(
                        "none with the sampler {}: only {} have it",
                        sampler.name(),
                        others.collect::<Vec<_>>().join(", ")
                    ),
                    _ => "none for a set of graphs, whose steps have training.batch_size graphs".to_owned(),
                };
                Err(Error::setting("training.batch_nodes", nodes, expected))
            }
            (None, None) => Ok(()),
        }
    }

    /// The name of the sampler where steps look at blocks of one graph.
    pub(crate) fn block_sampler(&self, num_graphs: usize) -> Option<&'static str> {
        let sampler = self.sampler.resolved(num_graphs, self.batch_nodes);
        sampler.of_blocks().map(|_| sampler.name())
    }

    /// The most nodes of a block, by an estimate; `None` where steps look at whole graphs.
    pub(crate) fn block_nodes(&self, num_graphs: usize, num_nodes: usize) -> Option<usize> {
        let sampler = self.sampler.resolved(num_graphs, self.batch_nodes);
        let nodes = sampler.of_blocks()?.block_nodes(num_nodes, self.batch_nodes.unwrap_or(BATCH_NODES));
        Some(nodes.min(num_nodes))
    }

    /// Most steps of an epoch.
    pub(crate) fn steps_per_epoch(&self, num_graphs: usize, num_nodes: usize) -> usize {
        match self.sampler.resolved(num_graphs, self.batch_nodes) {
            SamplerSettings::Whole => 1,
            SamplerSettings::Auto | SamplerSettings::WholeGraphs => num_graphs.div_ceil(self.batch_size),
            _ => blocks::steps(num_nodes, self.batch_nodes.unwrap_or(BATCH_NODES)),
        }
    }
}

impl SamplerSettings {
    /// The sampler for a set of so many graphs. Settings have been checked.
    pub(crate) fn build<'a>(&self, num_graphs: usize, input: SamplerInput<'a>) -> Box<dyn Sampler + 'a> {
        let sampler = self.resolved(num_graphs, input.batch_nodes);
        match sampler.of_blocks() {
            Some(blocks) => {
                let SamplerInput { graph, seed, observer, .. } = input;
                let batch_nodes = input.batch_nodes.unwrap_or(BATCH_NODES);
                let sampler = blocks.open(BlockInput { graph, batch_nodes, seed, observer });
                Box::new(Blocks { sampler, seed })
            }
            None if sampler == SamplerSettings::Whole || num_graphs == 1 => Box::new(WholeGraph),
            None => Box::new(WholeGraphs::new(input)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_graph::{NoObserver, generate};

    use super::*;

    fn input(graph: &Graph, graphs: usize, batch_size: usize, batch_nodes: Option<usize>) -> SamplerInput<'_> {
        SamplerInput { graphs: (0..graphs).collect(), batch_size, batch_nodes, graph, seed: 7, observer: &NoObserver }
    }

    fn batches(sampler: &SamplerSettings, graphs: usize, batch_size: usize, epoch: usize) -> Vec<Vec<usize>> {
        let graph = Graph::empty(3);
        let sampler = sampler.build(graphs, input(&graph, graphs, batch_size, None));
        sampler.batches(epoch).into_iter().map(|batch| batch.graphs).collect()
    }

    fn training(sampler: SamplerSettings, batch_size: usize) -> TrainingSettings {
        TrainingSettings { sampler, batch_size, ..TrainingSettings::default() }
    }

    #[test]
    fn every_graph_is_in_one_step_of_an_epoch_and_none_is_alone() {
        for (graphs, batch_size) in [(1, 4), (2, 1), (9, 4), (10, 4), (12, 4), (3, 100)] {
            let found = batches(&SamplerSettings::Auto, graphs, batch_size, 3);
            assert!(found.len() <= training(SamplerSettings::Auto, batch_size).steps_per_epoch(graphs, 3));
            assert!(graphs == 1 || batch_size == 1 || found.iter().all(|batch| batch.len() > 1), "{found:?}");
            let mut all = found.concat();
            all.sort_unstable();
            assert_eq!(all, (0..graphs).collect::<Vec<_>>());
        }
        let of = |epoch| batches(&SamplerSettings::WholeGraphs, 20, 5, epoch);
        assert_eq!(of(0), of(0));
        assert_ne!(of(0), of(1));
    }

    #[test]
    fn one_graph_is_whole_where_nothing_else_is_said() {
        for sampler in [SamplerSettings::Auto, SamplerSettings::Whole, SamplerSettings::WholeGraphs] {
            assert_eq!(batches(&sampler, 1, 32, 5), [[0]]);
            assert!(training(sampler, 32).check_sampler(1).is_ok());
        }
        assert!(training(SamplerSettings::Whole, 32).check_sampler(2).is_err());
    }

    fn of_blocks() -> Vec<SamplerSettings> {
        let named = |(name, _): &(&str, &str)| serde_json::from_value(serde_json::json!({ "name": name })).unwrap();
        SamplerSettings::OF_NODES[1..].iter().map(named).collect()
    }

    #[test]
    fn blocks_are_drawn_by_seed_epoch_and_step_alone() {
        let dataset = generate::from_spec("sbm:nodes=600,classes=4,degree=8", 3).unwrap();
        let graph = dataset.graph().unwrap();
        for settings in of_blocks() {
            let sampler = settings.build(1, input(graph, 1, 1, Some(50)));
            let again = settings.build(1, input(graph, 1, 1, Some(50)));
            let batches = sampler.batches(2);
            assert_eq!(batches, again.batches(2), "{settings:?}");
            assert!(batches.len() <= training(settings.clone(), 1).steps_per_epoch(1, 600).max(12));
            let mut counted = vec![0usize; 600];
            for (step, batch) in batches.iter().enumerate().rev() {
                let block = sampler.block(batch, 2, step).unwrap();
                assert_eq!(Some(&block), again.block(batch, 2, step).as_ref(), "{settings:?}");
                assert!(block.nodes.is_sorted_by(|one, other| one < other));
                let rows = block.rows.unwrap_or_else(|| (0..block.nodes.len() as u32).collect());
                assert!(rows.len() > 1 && rows.is_sorted_by(|one, other| one < other));
                rows.iter().for_each(|&row| counted[block.nodes[row as usize] as usize] += 1);
            }
            if !matches!(settings, SamplerSettings::Walk(_)) {
                assert!(counted.iter().all(|&count| count == 1), "{settings:?}: every node counts once an epoch");
            }
            assert_ne!(sampler.batches(3), batches, "{settings:?}");
        }
    }

    #[test]
    fn any_graph_has_blocks() {
        for (nodes, edges) in [(2, vec![]), (3, vec![(0, 1)]), (5, vec![(0, 1), (0, 2), (0, 3), (0, 4)])] {
            let (graph, _) = Graph::from_pairs(nodes, edges).unwrap();
            for settings in of_blocks() {
                for batch_nodes in [2, 3, 1000] {
                    let sampler = settings.build(1, input(&graph, 1, 1, Some(batch_nodes)));
                    for (step, batch) in sampler.batches(0).iter().enumerate() {
                        let block = sampler.block(batch, 0, step).unwrap();
                        assert!(block.nodes.len() >= 2, "{settings:?} {nodes} {batch_nodes}");
                    }
                }
            }
        }
    }

    #[test]
    fn samplers_of_blocks_refuse_what_they_cannot_do() {
        for settings in of_blocks() {
            assert!(training(settings.clone(), 32).check_sampler(1).is_ok());
            assert!(training(settings.clone(), 32).check_sampler(3).is_err());
            let one = TrainingSettings { batch_nodes: Some(1), ..training(settings, 32) };
            assert!(one.check_sampler(1).unwrap_err().to_string().contains("batch_nodes is 1"));
        }
        let whole = TrainingSettings { batch_nodes: Some(64), ..training(SamplerSettings::Whole, 32) };
        assert!(whole.check_sampler(1).unwrap_err().to_string().contains("neighbors, ego, walk, clusters"));
        let set = TrainingSettings { batch_nodes: Some(64), ..TrainingSettings::default() };
        assert!(set.check_sampler(5).unwrap_err().to_string().contains("batch_size"));
        assert_eq!(set.block_sampler(1), Some("clusters"));
    }
}
