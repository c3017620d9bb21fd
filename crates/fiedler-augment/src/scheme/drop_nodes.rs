//! Keeping a share of the nodes, chosen anew for every view.

use std::ops::Range;

use fiedler_graph::{Batch, Graph};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{View, ViewKey};
use crate::error::Result;
use crate::sample::choose;

/// Steps without a new node after which a random walk goes on from elsewhere.
const PATIENCE: usize = 100;

/// How many nodes of each graph are kept, and which.
///
/// Of `n` nodes `n - ⌊n · dropped⌋` are kept, and always at least one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropNodes {
    /// Share of the nodes that is dropped.
    pub dropped: f64,
    /// Which nodes are kept.
    pub selection: Selection,
}

/// Which nodes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// Any, all alike.
    Uniform,
    /// Those that a random walk meets first. It starts again at a random node where a component is used up.
    Walk,
    /// A random node and as many of its neighbors as are allowed: fewer nodes than that where it has few.
    Star,
}

impl DropNodes {
    /// How many of a graph's nodes are dropped.
    pub fn dropped_of(&self, nodes: usize) -> usize {
        // A share such as 0.29 of 100 must not lose a node to rounding.
        let dropped = (self.dropped * nodes as f64 + 1e-9).floor() as usize;
        dropped.min(nodes.saturating_sub(1))
    }

    pub(super) fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let mut dropped = Vec::with_capacity(batch.node_rows.len());
        for (block, &graph) in batch.graphs.iter().enumerate() {
            let nodes = batch.node_range(block);
            let (count, mut random) = (self.dropped_of(nodes.len()), key.numbers(graph));
            match self.selection {
                Selection::Uniform => dropped.extend(choose(nodes.len(), count, &mut random)),
                Selection::Star => {
                    let kept = star(&batch.graph, nodes.clone(), nodes.len() - count, &mut random);
                    dropped.extend(nodes.map(|node| !kept.contains(&node)));
                }
                Selection::Walk => {
                    let mut walker = Walker::new(&batch.graph, nodes.clone());
                    walker.keep(nodes.len() - count, &mut random);
                    dropped.extend(walker.kept.iter().map(|kept| !kept));
                }
            }
        }
        View::without_nodes(batch, dropped)
    }
}

/// A random node with up to so many nodes in all, its neighbors.
fn star(graph: &Graph, nodes: Range<u32>, count: usize, random: &mut impl Rng) -> Vec<u32> {
    if nodes.is_empty() {
        return Vec::new();
    }
    let center = random.random_range(nodes);
    let row = graph.neighbors(center);
    let chosen = choose(row.len(), count.saturating_sub(1), random);
    let neighbors = row.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(&node, _)| node);
    std::iter::once(center).chain(neighbors).collect()
}

/// A random walk over one graph of a batch.
struct Walker<'a> {
    graph: &'a Graph,
    nodes: Range<u32>,
    kept: Vec<bool>,
    /// DropNodes nodes that may still have neighbors to be kept.
    open: Vec<u32>,
    at: Option<u32>,
}

impl<'a> Walker<'a> {
    fn new(graph: &'a Graph, nodes: Range<u32>) -> Walker<'a> {
        Walker { graph, kept: vec![false; nodes.len()], nodes, open: Vec::new(), at: None }
    }

    fn is_kept(&self, node: u32) -> bool {
        self.kept[(node - self.nodes.start) as usize]
    }

    /// Walks until so many nodes are kept; there must be as many.
    fn keep(&mut self, count: usize, random: &mut impl Rng) {
        for _ in 0..count {
            let next = self.wander(random).or_else(|| self.resume(random)).unwrap_or_else(|| self.start(random));
            self.kept[(next - self.nodes.start) as usize] = true;
            self.open.push(next);
            self.at = Some(next);
        }
    }

    /// Goes from neighbor to neighbor until a new node is met.
    fn wander(&mut self, random: &mut impl Rng) -> Option<u32> {
        let mut at = self.at?;
        for _ in 0..PATIENCE {
            let row = self.graph.neighbors(at);
            if row.is_empty() {
                return None;
            }
            at = row[random.random_range(0..row.len())];
            if !self.is_kept(at) {
                return Some(at);
            }
        }
        None
    }

    /// Goes on from any kept node that has new neighbors.
    fn resume(&mut self, random: &mut impl Rng) -> Option<u32> {
        while !self.open.is_empty() {
            let pick = random.random_range(0..self.open.len());
            let row = self.graph.neighbors(self.open[pick]);
            let fresh: Vec<u32> = row.iter().copied().filter(|&node| !self.is_kept(node)).collect();
            if !fresh.is_empty() {
                return Some(fresh[random.random_range(0..fresh.len())]);
            }
            self.open.swap_remove(pick);
        }
        None
    }

    /// Starts at any new node.
    fn start(&self, random: &mut impl Rng) -> u32 {
        loop {
            let node = random.random_range(self.nodes.clone());
            if !self.is_kept(node) {
                return node;
            }
        }
    }
}
