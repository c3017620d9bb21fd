//! How many clusters a graph has, by what stands above a random graph of the same degrees.
//!
//! The Bethe Hessian `H(r) = (r² - 1) I - r A + D` has as many negative eigenvalues as the graph has groups that can be told
//! from chance (Saade, Krzakala, Zdeborová 2014), the first of them for the graph itself. Two choices of `r` are common (Le and
//! Levina 2015): the root of the mean excess degree, and that of the mean degree. Where they differ, so do the answers.

use fiedler_graph::Graph;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dense::{dense_bytes, eigenvalues};
use crate::error::Result;
use crate::operator::SymmetricMap;
use crate::partial::{Limits, PartialSettings, partial_within};

/// Eigenvalues above this are not negative but for rounding.
const NEGATIVE: f64 = -1e-6;
/// Graphs of up to this many nodes have all eigenvalues counted.
const WHOLE: usize = 1_000;
/// The most clusters that are counted in larger graphs.
const MOST: usize = 30;
/// The residual of an eigenpair that counts as known, and rounds after which no more are looked for.
const TOLERANCE: f64 = 1e-3;
const ROUNDS: usize = 20;

/// A number of clusters, or a range of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterCount {
    /// The lower of two counts.
    pub at_least: usize,
    /// The higher of two counts.
    pub at_most: usize,
    /// Whether counting ended before all were counted: there may be more.
    pub or_more: bool,
}

impl ClusterCount {
    /// Counts the clusters of a connected graph. Weights are not looked at.
    ///
    /// # Errors
    /// When the eigenvalues of a small graph cannot be computed.
    pub fn of(graph: &Graph, seed: u64) -> Result<ClusterCount> {
        ClusterCount::within(graph, seed, &Limits { products: usize::MAX, goes_on: &|_| true })
    }

    /// As [`ClusterCount::of`], within limits for each of the two counts: there may be more clusters than were counted when they were reached.
    ///
    /// # Errors
    /// As there.
    pub fn within(graph: &Graph, seed: u64, limits: &Limits<'_>) -> Result<ClusterCount> {
        let degrees = || (0..graph.num_nodes() as u32).map(|node| graph.degree(node) as f64);
        let (sum, squares): (f64, f64) = (degrees().sum(), degrees().map(|degree| degree * degree).sum());
        if sum == 0.0 {
            return Ok(ClusterCount {
                at_least: graph.num_nodes().min(1),
                at_most: graph.num_nodes().min(1),
                or_more: false,
            });
        }
        let mean = (sum / graph.num_nodes() as f64).sqrt();
        let excess = (squares / sum - 1.0).max(0.0).sqrt();
        let (one, more) = negative(&BetheHessian::of(graph, excess), seed, limits)?;
        let (other, more_others) = match (mean - excess).abs() < 1e-9 {
            true => (one, more),
            false => negative(&BetheHessian::of(graph, mean), seed, limits)?,
        };
        let (low, high) = (one.min(other).max(1), one.max(other).max(1));
        Ok(ClusterCount { at_least: low, at_most: high, or_more: more || more_others })
    }

    /// The number, where both counts agree.
    pub fn exact(&self) -> Option<usize> {
        (self.at_least == self.at_most && !self.or_more).then_some(self.at_least)
    }
}

impl std::fmt::Display for ClusterCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at_least == self.at_most {
            true => write!(f, "{}", self.at_least)?,
            false => write!(f, "{} to {}", self.at_least, self.at_most)?,
        }
        if self.or_more { f.write_str(" or more") } else { Ok(()) }
    }
}

/// The number of negative eigenvalues, and whether there may be more.
fn negative(map: &BetheHessian<'_>, seed: u64, limits: &Limits<'_>) -> Result<(usize, bool)> {
    let count = |values: &[f64]| values.iter().filter(|value| **value < NEGATIVE).count();
    if map.size() <= WHOLE {
        return Ok((count(&eigenvalues(map, dense_bytes(map.size(), false))?), false));
    }
    let tolerance = TOLERANCE * (map.bounds.1 - map.bounds.0);
    let settings = PartialSettings { lowest: MOST, highest: 0, tolerance, seed, rounds: ROUNDS, ..Default::default() };
    let found = partial_within(map, &settings, limits)?.lowest;
    let counted = count(&found.values);
    // No eigenvalue is above the value in its place: what is negative stays so, and what is not may become so as long as it is not known.
    let more = counted == found.len() || found.residuals.iter().any(|&residual| residual > tolerance);
    Ok((counted, more))
}

/// `(r² - 1) I - r A + D`.
struct BetheHessian<'a> {
    graph: &'a Graph,
    r: f64,
    bounds: (f64, f64),
}

impl<'a> BetheHessian<'a> {
    /// With `r` of at least 1: below, no group can be told from chance.
    fn of(graph: &'a Graph, r: f64) -> BetheHessian<'a> {
        let r = r.max(1.0);
        let most = (0..graph.num_nodes() as u32).map(|node| graph.degree(node)).max().unwrap_or(0) as f64;
        // Gershgorin's discs, of which the largest degree has the widest.
        let (low, high) = (r * r - 1.0 - (r - 1.0) * most, r * r - 1.0 + (r + 1.0) * most);
        BetheHessian { graph, r, bounds: (low - 1e-9, high + 1e-9) }
    }
}

impl SymmetricMap for BetheHessian<'_> {
    fn size(&self) -> usize {
        self.graph.num_nodes()
    }

    fn bounds(&self) -> (f64, f64) {
        self.bounds
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        if columns == 0 {
            return;
        }
        y.par_chunks_mut(columns).enumerate().with_min_len(256).for_each(|(node, image)| {
            let own = &x[node * columns..][..columns];
            let stay = scale * (self.r * self.r - 1.0 + self.graph.degree(node as u32) as f64) + shift;
            for (sum, &value) in image.iter_mut().zip(own) {
                *sum = stay * value + if keep == 0.0 { 0.0 } else { keep * *sum };
            }
            for &other in self.graph.neighbors(node as u32) {
                let theirs = &x[other as usize * columns..][..columns];
                image.iter_mut().zip(theirs).for_each(|(sum, &value)| *sum -= scale * self.r * value);
            }
        });
    }
}
