//! Flips within a budget, and the graph as they change it.

use std::collections::HashSet;

use fiedler_graph::Graph;

use crate::degree_test::DegreeTest;
use crate::error::{Error, Result};
use crate::settings::Outcome;

/// A flipped pair.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Flip {
    /// The node with the lower id.
    pub low: u32,
    /// The node with the higher id.
    pub high: u32,
    /// Whether the edge was added; otherwise it was removed.
    pub added: bool,
    /// What the attack expected of it, in the unit of its own score; none where pairs are drawn.
    pub gain: Option<f64>,
}

impl Flip {
    /// The two nodes, the lower id first.
    pub fn pair(&self) -> (u32, u32) {
        (self.low, self.high)
    }
}

/// Budget of an attack, Δ: `⌊ratio · edges⌋` undirected pairs.
///
/// ```
/// use fiedler_attack::budget;
/// assert_eq!((budget(0.05, 5069), budget(0.2, 5069), budget(0.01, 5278)), (253, 1013, 52));
/// // 0.29 · 100 is a little less than 29 in floating point.
/// assert_eq!(budget(0.29, 100), 29);
/// ```
pub fn budget(ratio: f64, edges: usize) -> usize {
    (ratio * edges as f64 + 1e-9).floor() as usize
}

pub(crate) fn check_ratio(ratio: f64) -> Result<()> {
    match (0.0..=1.0).contains(&ratio) {
        true => Ok(()),
        false => Err(Error::setting("ratio", ratio, "a number from 0 to 1, a share of the edges")),
    }
}

/// A graph under attack: which pairs were flipped, and which may be.
#[derive(Debug, Clone)]
pub(crate) struct PoisonedGraph<'g> {
    original: &'g Graph,
    degrees: Vec<usize>,
    flipped: HashSet<(u32, u32)>,
    flips: Vec<Flip>,
    budget: usize,
    degree_test: Option<DegreeTest>,
}

impl<'g> PoisonedGraph<'g> {
    pub fn new(original: &'g Graph, ratio: f64, degree_test: bool) -> PoisonedGraph<'g> {
        let degrees: Vec<usize> = (0..original.num_nodes() as u32).map(|node| original.degree(node)).collect();
        PoisonedGraph {
            original,
            degree_test: degree_test.then(|| DegreeTest::new(&degrees)),
            degrees,
            flipped: HashSet::new(),
            flips: Vec::new(),
            budget: budget(ratio, original.num_edges()),
        }
    }

    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Flips that may still be made.
    pub fn left(&self) -> usize {
        self.budget - self.flips.len()
    }

    pub fn flips(&self) -> &[Flip] {
        &self.flips
    }

    pub fn into_flips(self) -> Vec<Flip> {
        self.flips
    }

    pub fn degree(&self, node: u32) -> usize {
        self.degrees[node as usize]
    }

    /// Whether two nodes are joined now.
    pub fn has_edge(&self, low: u32, high: u32) -> bool {
        self.original.has_edge(low, high) != self.flipped.contains(&(low, high))
    }

    /// Whether a pair may be flipped: it was not before, no node loses its last edge, and the degree distribution stays what it was
    /// where that is asked for.
    pub fn allows(&self, low: u32, high: u32) -> bool {
        debug_assert!(low < high);
        if self.flipped.contains(&(low, high)) {
            return false;
        }
        let edge = self.original.has_edge(low, high);
        let (a, b) = (self.degree(low), self.degree(high));
        (!edge || (a > 1 && b > 1)) && self.degree_test.as_ref().is_none_or(|test| test.allows(a, b, !edge))
    }

    /// Flips a pair that may be flipped; says whether it did.
    pub fn flip(&mut self, low: u32, high: u32, gain: Option<f64>) -> bool {
        if self.left() == 0 || !self.allows(low, high) {
            return false;
        }
        let added = !self.original.has_edge(low, high);
        for node in [low, high] {
            let degree = &mut self.degrees[node as usize];
            let before = *degree;
            *degree = if added { before + 1 } else { before - 1 };
            let after = *degree;
            self.degree_test.iter_mut().for_each(|test| test.change(before, after));
        }
        self.flipped.insert((low, high));
        self.flips.push(Flip { low, high, added, gain });
        true
    }

    /// Makes flips of an earlier, unfinished attack again.
    pub fn resume(&mut self, flips: &[Flip]) -> Result<()> {
        for flip in flips {
            let edge = flip.low < flip.high
                && (flip.high as usize) < self.original.num_nodes()
                && self.original.has_edge(flip.low, flip.high);
            let fits = flip.low < flip.high && (flip.high as usize) < self.original.num_nodes() && edge != flip.added;
            if !fits || !self.flip(flip.low, flip.high, flip.gain) {
                let message = format!("the flip of {} and {} cannot be made again", flip.low, flip.high);
                let hint = "the earlier attack was on another graph or with other settings; begin anew".into();
                return Err(Error::Unsuitable { message, hint });
            }
        }
        Ok(())
    }

    /// The graph with all flips made.
    pub fn graph(&self) -> Result<Graph> {
        let pairs: Vec<(u32, u32)> = self.flips.iter().map(Flip::pair).collect();
        Ok(self.original.flipped(&pairs)?)
    }

    /// What the attack did. Where it came to its end, and the budget could not be spent, `why` is noted.
    pub fn into_outcome(self, complete: bool, why: &str) -> Outcome {
        let PoisonedGraph { budget, flips, .. } = self;
        let note = format!("{} of {budget} flips were made: {why}", flips.len());
        let notes = if complete && flips.len() < budget { vec![note] } else { Vec::new() };
        Outcome { budget, flips, complete, notes, relaxed: None }
    }
}
