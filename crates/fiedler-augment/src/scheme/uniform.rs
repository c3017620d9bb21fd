//! Edges removed and added at the same rate everywhere.

use fiedler_graph::{Batch, GraphSet, Observer};
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::RATIOS;
use super::{Augmentation, Report, View, ViewKey, ViewReport};
use crate::axis::Axis;
use crate::error::{Error, Result, check_share};
use crate::sample::{pair_at, walk};
use crate::support::Mass;

/// Settings of uniform perturbation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {
    /// Rates of the first view.
    pub first: Rates,
    /// Rates of the second view.
    pub second: Rates,
}

impl Default for Uniform {
    fn default() -> Self {
        Uniform { first: Rates::removing(0.3), second: Rates::removing(0.3) }
    }
}

/// Settings of uniform perturbation that is the same for both views.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformRatio {
    /// Changed pairs in expectation, as a share of the edges.
    pub ratio: f64,
}

impl Default for UniformRatio {
    fn default() -> Self {
        UniformRatio { ratio: 0.3 }
    }
}

/// Expected numbers of changed pairs, as shares of a graph's number of edges.
///
/// One draw is made for each pair, but at a cost proportional to the edges and the flips.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Edges removed: the probability of each.
    pub remove: f64,
    /// Edges added, relative to those there are. Where that exceeds the pairs left to join, all of them are joined.
    pub add: f64,
}

impl Rates {
    /// A share of the edges is removed, none is added.
    pub fn removing(ratio: f64) -> Rates {
        Rates { remove: ratio, add: 0.0 }
    }

    /// As many pairs flip as that share of the edges, half of them removals and half additions.
    pub fn flipping(ratio: f64) -> Rates {
        Rates { remove: ratio / 2.0, add: ratio / 2.0 }
    }

    /// A share of the edges is removed, and as many are added: the edge perturbation of GraphCL.
    pub fn perturbing(ratio: f64) -> Rates {
        Rates { remove: ratio, add: ratio }
    }

    /// The probabilities of removing each edge and of adding each other pair, in a graph of this size.
    pub fn probabilities(&self, nodes: usize, edges: usize) -> (f64, f64) {
        let others = pairs(nodes) - edges;
        let add = if others > 0 { (self.add * edges as f64 / others as f64).min(1.0) } else { 0.0 };
        (self.remove, add)
    }

    pub(super) fn check(&self, view: &str) -> Result<()> {
        check_share(&format!("share of edges removed from the {view} view"), self.remove)?;
        if !(self.add.is_finite() && self.add >= 0.0) {
            let name = format!("share of edges added to the {view} view");
            return Err(Error::setting(name, self.add, "a number that is not negative"));
        }
        Ok(())
    }

    /// The augmentation, and what is known of it.
    pub(super) fn compute(&self, set: &GraphSet, view: &str) -> Result<(Augmentation, ViewReport)> {
        self.check(view)?;
        let mut report = ViewReport { name: view.into(), ..ViewReport::default() };
        report.support = if self.add > 0.0 { "all" } else { "edges" }.into();
        for graph in 0..set.len() {
            let (nodes, edges) = (set.node_range(graph).len(), set.graph_edges(graph));
            let (remove, add) = self.probabilities(nodes, edges);
            let others = pairs(nodes) - edges;
            let mass = Mass { added: add * others as f64, removed: remove * edges as f64 };
            report.places += if self.add > 0.0 { pairs(nodes) } else { edges } as u64;
            report.mass.added += mass.added;
            report.mass.removed += mass.removed;
            report.budget += (self.remove + self.add) * edges as f64;
        }
        let unchanged = *self == Rates::default();
        Ok((if unchanged { Augmentation::Unchanged } else { Augmentation::Uniform(*self) }, report))
    }

    pub(super) fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let mut flips = Vec::new();
        for (block, &graph) in batch.graphs.iter().enumerate() {
            self.draw_block(batch, block, &mut key.numbers(graph), &mut flips);
        }
        Ok(View::of(batch.graph.flipped(&flips)?))
    }

    fn draw_block(&self, batch: &Batch, block: usize, random: &mut impl Rng, flips: &mut Vec<(u32, u32)>) {
        let (graph, nodes) = (&batch.graph, batch.node_range(block));
        let entries = graph.indptr()[nodes.start as usize]..graph.indptr()[nodes.end as usize];
        let (remove, add) = self.probabilities(nodes.len(), entries.len() / 2);
        if remove > 0.0 {
            let higher = |node| graph.higher(node).iter().map(move |&other| (node, other));
            let mut edges = nodes.clone().flat_map(higher);
            let mut passed = 0;
            walk(entries.len() / 2, remove as f32, random, |at, _| {
                flips.extend(edges.nth(at - passed));
                passed = at + 1;
            });
        }
        if add > 0.0 {
            walk(pairs(nodes.len()), add as f32, random, |at, _| {
                let (low, high) = pair_at(nodes.len(), at);
                let (low, high) = (low + nodes.start, high + nodes.start);
                if !graph.has_edge(low, high) {
                    flips.push((low, high));
                }
            });
        }
    }
}

impl Uniform {
    /// The same rates for both views.
    fn both(rates: Rates) -> Uniform {
        Uniform { first: rates, second: rates }
    }

    pub(super) fn search_axes(&self) -> Vec<Axis> {
        vec![Axis::tied(["scheme.first.remove", "scheme.second.remove"], RATIOS)]
    }

    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        self.first.check("first")?;
        self.second.check("second")
    }

    pub(super) fn compute(&self, set: &GraphSet, _: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (first, of_first) = self.first.compute(set, "first")?;
        let (second, of_second) = self.second.compute(set, "second")?;
        let notes = shortage(&of_first, &of_second);
        Ok((vec![first, second], Report { notes, views: vec![of_first, of_second], ..Report::default() }))
    }
}

impl UniformRatio {
    pub(super) fn check_removal(&self, _: &GraphSet) -> Result<()> {
        check_share("ratio", self.ratio)
    }

    pub(super) fn check_addition(&self, _: &GraphSet) -> Result<()> {
        match self.ratio.is_finite() && self.ratio >= 0.0 {
            true => Ok(()),
            false => Err(Error::setting("ratio", self.ratio, "a number that is not negative")),
        }
    }

    pub(super) fn check_flipping(&self, _: &GraphSet) -> Result<()> {
        match (0.0..=2.0).contains(&self.ratio) {
            true => Ok(()),
            false => Err(Error::setting("ratio", self.ratio, "a number from 0 to 2, where every edge is removed")),
        }
    }

    pub(super) fn removal(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        Uniform::both(Rates::removing(self.ratio)).compute(set, observer)
    }

    pub(super) fn addition(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        Uniform::both(Rates { remove: 0.0, add: self.ratio }).compute(set, observer)
    }

    pub(super) fn flipping(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        Uniform::both(Rates::flipping(self.ratio)).compute(set, observer)
    }
}

/// What to say where graphs have too few pairs left to join.
pub(super) fn shortage(first: &ViewReport, second: &ViewReport) -> Vec<String> {
    let short = |report: &&ViewReport| report.mass.total() < report.budget * (1.0 - 1e-9);
    let note = |report: &ViewReport| {
        let (budget, expected) = (report.budget, report.mass.total());
        format!(
            "the {} view changes {expected:.1} pairs in expectation, not {budget:.1}: graphs that are nearly complete have \
             too few pairs left to join",
            report.name
        )
    };
    [first, second].iter().copied().filter(short).map(note).collect()
}

/// Number of node pairs.
fn pairs(nodes: usize) -> usize {
    nodes * nodes.saturating_sub(1) / 2
}
