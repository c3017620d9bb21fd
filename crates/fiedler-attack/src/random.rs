//! Random flips.

use fiedler_augment::sample::pair_at;
use fiedler_graph::random::stream;
use fiedler_graph::{Graph, Observer};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::flips::{PoisonedGraph, check_ratio};
use crate::knowledge::Known;
use crate::settings::{Attack, AttackInput, Outcome};

/// Settings of random flips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RandomFlips {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// What is done to pairs.
    pub mode: RandomMode,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for RandomFlips {
    fn default() -> Self {
        RandomFlips { ratio: 0.05, mode: RandomMode::Flip, degree_test: false, seed: 0 }
    }
}

/// What is done to random pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RandomMode {
    /// Any pairs are flipped; in a sparse graph nearly all of them are additions.
    Flip,
    /// Edges are added.
    Add,
    /// Edges are removed.
    Remove,
}

impl Attack for RandomFlips {
    const KNOWN: Known = Known::NoLabels;

    fn check(&self, _: &AttackInput<'_>) -> Result<()> {
        check_ratio(self.ratio)
    }

    fn run(&self, input: &AttackInput<'_>, _: &dyn Observer) -> Result<Outcome> {
        let mut poisoned = PoisonedGraph::new(input.graph, self.ratio, self.degree_test);
        let mut random = stream(self.seed, "random attack", 0);
        let left = poisoned.left();
        match self.mode {
            RandomMode::Flip => flip_pairs(&mut poisoned, input.graph, left, &mut random, |_, _| true),
            RandomMode::Add => {
                flip_pairs(&mut poisoned, input.graph, left, &mut random, |low, high| !input.graph.has_edge(low, high));
            }
            RandomMode::Remove => remove_edges(&mut poisoned, input.graph, left, &mut random, |_, _| true),
        }
        Ok(poisoned.into_outcome(true, "no other pair may be flipped"))
    }
}

/// Removes up to `count` edges that are eligible, drawn without replacement.
pub(crate) fn remove_edges(
    poisoned: &mut PoisonedGraph<'_>,
    graph: &Graph,
    count: usize,
    random: &mut impl Rng,
    eligible: impl Fn(u32, u32) -> bool,
) {
    let mut edges: Vec<(u32, u32)> = graph.edge_pairs().filter(|&(low, high)| eligible(low, high)).collect();
    edges.shuffle(random);
    flip_first(poisoned, edges, count);
}

/// Flips up to `count` pairs that are eligible, drawn without replacement from all of them.
pub(crate) fn flip_pairs(
    poisoned: &mut PoisonedGraph<'_>,
    graph: &Graph,
    count: usize,
    random: &mut impl Rng,
    eligible: impl Fn(u32, u32) -> bool,
) {
    let nodes = graph.num_nodes();
    let pairs = nodes * nodes.saturating_sub(1) / 2;
    if pairs == 0 {
        return;
    }
    let wanted = poisoned.flips().len() + count;
    // Where most pairs are eligible, the next one is found after few draws.
    let tries = 64 * (count + 16);
    for _ in 0..tries {
        if poisoned.flips().len() >= wanted {
            return;
        }
        let (low, high) = pair_at(nodes, random.random_range(0..pairs));
        if eligible(low, high) {
            poisoned.flip(low, high, None);
        }
    }
    let everyone = (0..nodes as u32).flat_map(|low| (low + 1..nodes as u32).map(move |high| (low, high)));
    let mut rest: Vec<(u32, u32)> =
        everyone.filter(|&(low, high)| eligible(low, high) && poisoned.allows(low, high)).collect();
    rest.shuffle(random);
    let missing = wanted - poisoned.flips().len();
    flip_first(poisoned, rest, missing);
}

fn flip_first(poisoned: &mut PoisonedGraph<'_>, pairs: Vec<(u32, u32)>, count: usize) {
    let mut left = count;
    for (low, high) in pairs {
        if left == 0 {
            return;
        }
        left -= usize::from(poisoned.flip(low, high, None));
    }
}
