//! Pairs by their weight: light, whole (edges that never flip), and those in the middle.

use std::sync::Arc;

use super::Support;

/// Up to this weight a pair is light: what the norm of drawn graphs has of it is a short series in the weight, which is cut off
/// where a relative error of its square is left.
pub const LIGHT: f32 = 1.0 / 64.0;

/// The pairs of a support by their weight `B`.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// For every node `Σ B` over its light pairs.
    pub linear: Vec<f64>,
    /// For every node `Σ B²` over its light pairs.
    pub square: Vec<f64>,
    /// For every node the number of its whole pairs: edges that never flip.
    pub whole: Vec<f64>,
    /// All others.
    pub middle: PairsAround,
}

/// Pairs from both of their ends.
#[derive(Debug, Clone, PartialEq)]
pub struct PairsAround {
    /// Where the pairs of each node start, and the end of the last.
    starts: Arc<Vec<usize>>,
    /// The other node of each, and `B`.
    pairs: Vec<(u32, f32)>,
}

impl PairsAround {
    /// Pairs that are listed once each.
    pub fn new(nodes: usize, listed: &[MiddlePair]) -> PairsAround {
        let mut starts = vec![0usize; nodes + 1];
        for pair in listed {
            starts[pair.low as usize + 1] += 1;
            starts[pair.high as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut pairs = vec![(0, 0.0); 2 * listed.len()];
        let mut next = starts.clone();
        for &MiddlePair { low, high, weight } in listed {
            for (node, other) in [(low, high), (high, low)] {
                let place = &mut next[node as usize];
                pairs[*place] = (other, weight);
                *place += 1;
            }
        }
        PairsAround { starts: Arc::new(starts), pairs }
    }

    /// The pairs of nodes in order, from where they start and all of them.
    pub(super) fn of_starts(starts: Arc<Vec<usize>>, pairs: Vec<(u32, f32)>) -> PairsAround {
        PairsAround { starts, pairs }
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The pairs of a node: the other node, and `B`.
    #[inline(always)]
    pub fn of(&self, node: usize) -> &[(u32, f32)] {
        &self.pairs[self.starts[node]..self.starts[node + 1]]
    }
}

/// A pair that is neither light nor whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiddlePair {
    /// Its lower node.
    pub low: u32,
    /// Its higher node.
    pub high: u32,
    /// `B`
    pub weight: f32,
}

impl MiddlePair {
    /// The pair that flips with probability `x`, where it is in the middle.
    #[inline(always)]
    pub(super) fn of(low: usize, high: usize, edge: bool, x: f32) -> Option<MiddlePair> {
        let weight = if edge { 1.0 - x } else { x };
        let is_middle = weight > LIGHT && !(edge && x == 0.0);
        is_middle.then_some(MiddlePair { low: low as u32, high: high as u32, weight })
    }
}

impl Split {
    /// By a visit of every pair.
    pub fn by_visiting<S: Support + ?Sized>(support: &S) -> Split {
        let nodes = support.num_nodes();
        let ones = vec![1.0; nodes];
        let [linear, square, _] = light_sums_by_visiting(support, &ones, [&ones, &ones]);
        let mut middle = Vec::new();
        support.visit(&mut |low, high, edge, x| middle.extend(MiddlePair::of(low as usize, high as usize, edge, x)));
        let middle = PairsAround::new(nodes, &middle);
        Split { linear, square, whole: whole_sums_by_visiting(support, &ones), middle }
    }
}

/// [`Support::light_sums`] by a visit of every pair.
pub fn light_sums_by_visiting<S: Support + ?Sized>(support: &S, linear: &[f64], square: [&[f64]; 2]) -> [Vec<f64>; 3] {
    let mut sums = [(); 3].map(|()| vec![0.0; support.num_nodes()]);
    support.visit(&mut |low, high, edge, x| {
        let (low, high, weight) = (low as usize, high as usize, if edge { 1.0 - x } else { x });
        if weight <= LIGHT {
            let weight = f64::from(weight);
            let terms = [(weight, linear), (weight * weight, square[0]), (weight * weight, square[1])];
            for (sums, (term, factor)) in sums.iter_mut().zip(terms) {
                sums[low] += term * factor[high];
                sums[high] += term * factor[low];
            }
        }
    });
    sums
}

/// [`Support::whole_sums`] by a visit of every pair.
pub fn whole_sums_by_visiting<S: Support + ?Sized>(support: &S, factor: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; support.num_nodes()];
    support.visit(&mut |low, high, edge, x| {
        if edge && x == 0.0 {
            sums[low as usize] += factor[high as usize];
            sums[high as usize] += factor[low as usize];
        }
    });
    sums
}
