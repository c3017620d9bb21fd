//! DICE: delete internally, connect externally (Waniek et al. 2018).

use fiedler_graph::Observer;
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flips::{PoisonedGraph, check_ratio};
use crate::knowledge::Known;
use crate::random::{flip_pairs, remove_edges};
use crate::settings::{Attack, AttackInput, Outcome};

/// Settings of DICE. It reads the classes of all nodes, also of those that are tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dice {
    /// Flips, as a share of the edges.
    pub ratio: f64,
    /// Share of the flips that are additions.
    pub add_ratio: f64,
    /// Whether the number of additions is drawn (binomial) or exactly that share, rounded.
    pub additions: Additions,
    /// Whether the degree distribution must pass a test.
    pub degree_test: bool,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Dice {
    fn default() -> Self {
        Dice { ratio: 0.05, add_ratio: 0.5, additions: Additions::Binomial, degree_test: false, seed: 0 }
    }
}

/// How many of the flips are additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Additions {
    /// Every flip is an addition with the probability `add_ratio`.
    Binomial,
    /// Exactly that share, rounded.
    Fixed,
}

impl Attack for Dice {
    const KNOWN: Known = Known::AllLabels;

    fn check(&self, input: &AttackInput<'_>) -> Result<()> {
        check_ratio(self.ratio)?;
        if !(0.0..=1.0).contains(&self.add_ratio) {
            return Err(Error::setting("add_ratio", self.add_ratio, "a number from 0 to 1"));
        }
        input.knowledge.classes("dice", input.graph.num_nodes()).map(|_| ())
    }

    fn run(&self, input: &AttackInput<'_>, _: &dyn Observer) -> Result<Outcome> {
        let classes = input.knowledge.classes("dice", input.graph.num_nodes())?.of();
        let mut poisoned = PoisonedGraph::new(input.graph, self.ratio, self.degree_test);
        let mut random = stream(self.seed, "dice", 0);
        let budget = poisoned.budget();
        let additions = match self.additions {
            Additions::Binomial => (0..budget).filter(|_| random.random::<f64>() < self.add_ratio).count(),
            Additions::Fixed => (self.add_ratio * budget as f64).round() as usize,
        };
        let same = |low: u32, high: u32| Some(classes[low as usize]? == classes[high as usize]?);
        let internal = |low: u32, high: u32| same(low, high) == Some(true);
        let external = |low: u32, high: u32| same(low, high) == Some(false) && !input.graph.has_edge(low, high);
        remove_edges(&mut poisoned, input.graph, budget - additions, &mut random, internal);
        flip_pairs(&mut poisoned, input.graph, additions, &mut random, external);
        let why = "no other edge within a class may be removed, or no other pair of different classes joined";
        Ok(poisoned.into_outcome(true, why))
    }
}
