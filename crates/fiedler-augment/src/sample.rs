//! Drawing flips: one Bernoulli draw a pair, at a cost proportional to the flips.
//!
//! Pairs are kept in classes by an upper bound of their probability: 1, ½, ¼ …. A class is walked by geometric skips at its
//! bound `b`, and what is met is accepted with `p / b`: exact, and at most about two candidates are met for each flip.
//! Of a packed triangle, whole blocks form a class, and the few pairs above their block's bound are listed by themselves.

mod by_node;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::support::row_start;
use by_node::PairsByNode;

/// Classes go down to 2^-31; smaller probabilities share the last.
const CLASSES: usize = 32;
/// Consecutive pairs of a triangle that share a bound.
const BLOCK: usize = 4096;
/// Pairs that one thread looks up at a time.
const LOOKED_UP_TOGETHER: usize = 2048;
/// Of a block, pairs listed by themselves at most: a list takes three times the memory.
const MOST_LISTED: usize = BLOCK / 32;

/// Probabilities of flipping node pairs, arranged for drawing.
#[derive(Debug, Clone)]
pub struct EdgeFlips {
    nodes: usize,
    /// Pairs by themselves, class after class, in ascending order within a class.
    pairs: Vec<(u32, u32)>,
    probabilities: Vec<f32>,
    pair_classes: Classes,
    /// All pairs row after row, where they are held.
    triangle: Option<Vec<f32>>,
    /// Blocks of the triangle, class after class.
    blocks: Vec<u32>,
    block_classes: Classes,
    /// Made when a block is first drawn from.
    by_node: OnceLock<Arc<PairsByNode>>,
}

impl EdgeFlips {
    /// Chosen pairs `(low, high)` with their probabilities, in ascending order; all others never flip.
    pub fn of_pairs(nodes: usize, pairs: impl IntoIterator<Item = ((u32, u32), f32)>) -> EdgeFlips {
        EdgeFlips::arrange(
            nodes,
            pairs.into_iter().filter(|(_, probability)| *probability > 0.0).collect(),
            None,
            Vec::new(),
        )
    }

    /// All pairs, packed row after row.
    pub fn of_triangle(nodes: usize, triangle: Vec<f32>) -> EdgeFlips {
        let arranged: Vec<Arranged> =
            triangle.par_chunks(BLOCK).enumerate().map(|(block, all)| Arranged::new(nodes, block, all)).collect();
        let mut listed = Vec::new();
        let mut blocks = Vec::new();
        for (block, arranged) in arranged.into_iter().enumerate() {
            blocks.extend(arranged.bound.map(|bound| (bound, block as u32)));
            listed.extend(arranged.above);
        }
        EdgeFlips::arrange(nodes, listed, Some(triangle), blocks)
    }

    fn arrange(
        nodes: usize,
        mut listed: Vec<((u32, u32), f32)>,
        triangle: Option<Vec<f32>>,
        mut blocks: Vec<(usize, u32)>,
    ) -> EdgeFlips {
        // Stable, so that pairs and blocks stay in their order within a class.
        listed.sort_by_key(|&(_, probability)| class(probability));
        blocks.sort_by_key(|&(class, _)| class);
        let pair_classes = Classes::of(listed.iter().map(|&(_, probability)| class(probability)));
        let block_classes = Classes::of(blocks.iter().map(|&(class, _)| class));
        let (pairs, probabilities) = listed.into_iter().unzip();
        let blocks = blocks.into_iter().map(|(_, block)| block).collect();
        let by_node = OnceLock::new();
        EdgeFlips { nodes, pairs, probabilities, pair_classes, triangle, blocks, block_classes, by_node }
    }

    /// Number of nodes of the graph.
    pub fn num_nodes(&self) -> usize {
        self.nodes
    }

    /// The probabilities of all pairs row after row, where they are held so.
    pub fn triangle(&self) -> Option<&[f32]> {
        self.triangle.as_deref()
    }

    /// The probability of flipping the pair of two nodes, given in either order; zero for a node with itself.
    ///
    /// ```
    /// use fiedler_augment::sample::EdgeFlips;
    /// let flips = EdgeFlips::of_pairs(4, [((0, 2), 0.5), ((1, 3), 0.125)]);
    /// assert_eq!((flips.probability(2, 0), flips.probability(1, 3), flips.probability(0, 1)), (0.5, 0.125, 0.0));
    /// ```
    ///
    /// # Panics
    /// When a node does not exist and the probabilities of all pairs are held.
    pub fn probability(&self, a: u32, b: u32) -> f32 {
        let pair = (a.min(b), a.max(b));
        if a == b {
            return 0.0;
        }
        if let Some(triangle) = &self.triangle {
            let (low, high) = (pair.0 as usize, pair.1 as usize);
            return triangle[row_start(self.nodes, low) + high - low - 1];
        }
        let of_class =
            |(_, range): (usize, Range<usize>)| Some(range.start + self.pairs[range].binary_search(&pair).ok()?);
        self.pair_classes.iter().find_map(of_class).map_or(0.0, |at| self.probabilities[at])
    }

    /// Every pair that may flip with its probability, in ascending order.
    pub fn pairs(&self) -> Vec<((u32, u32), f32)> {
        let mut pairs = Vec::with_capacity(self.pairs.len());
        self.visit(|pair, probability| pairs.push((pair, probability)));
        pairs.sort_unstable_by_key(|&(pair, _)| pair);
        pairs
    }

    /// Hands over every pair that may flip with its probability, in no particular order.
    pub fn visit(&self, mut visit: impl FnMut((u32, u32), f32)) {
        let Some(triangle) = &self.triangle else {
            return self
                .pairs
                .iter()
                .zip(&self.probabilities)
                .for_each(|(&pair, &probability)| visit(pair, probability));
        };
        let mut rest = triangle.as_slice();
        for low in 0..self.nodes {
            let (row, after) = rest.split_at(self.nodes - low - 1);
            rest = after;
            for (at, &probability) in row.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
                visit((low as u32, (low + 1 + at) as u32), probability);
            }
        }
    }

    /// As [`EdgeFlips::visit`] for a graph that lies in an arena from node `first` on: pairs are by the arena's ids, and come with
    /// whether they are edges.
    pub fn visit_in(&self, arena: &Graph, first: u32, mut visit: impl FnMut((u32, u32), bool, f32)) {
        if self.triangle.is_none() {
            return self.visit(|(low, high), probability| {
                let (low, high) = (low + first, high + first);
                visit((low, high), arena.has_edge(low, high), probability);
            });
        }
        // Rows come in order, and so do a row's edges: no search for each of all pairs.
        let (mut row, mut edges) = (first, arena.higher(first).iter().copied().peekable());
        self.visit(|(low, high), probability| {
            let (low, high) = (low + first, high + first);
            if low != row {
                (row, edges) = (low, arena.higher(low).iter().copied().peekable());
            }
            while edges.next_if(|&edge| edge < high).is_some() {}
            visit((low, high), edges.peek() == Some(&high), probability);
        });
    }

    /// The sum of all probabilities, and that of their squares.
    pub fn moments(&self) -> (f64, f64) {
        let probabilities = self.triangle.as_deref().unwrap_or(&self.probabilities);
        let of_block = |block: &[f32]| {
            block.iter().map(|&p| f64::from(p)).fold((0.0, 0.0), |(sum, squares), p| (sum + p, squares + p * p))
        };
        let of_blocks: Vec<(f64, f64)> = probabilities.par_chunks(BLOCK).map(of_block).collect();
        of_blocks.into_iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let triangle = self.triangle.as_ref().map_or(0, Vec::len);
        (12 * self.pairs.len() + 4 * triangle + 4 * self.blocks.len()) as u64
    }

    /// Draws the pairs to flip in one view. The same seed, epoch and view give the same pairs.
    pub fn draw(&self, seed: u64, epoch: u64, view: u64) -> Vec<(u32, u32)> {
        let mut flips = Vec::new();
        self.draw_into(&mut stream(seed, "flips", epoch << 8 | view & 0xff), &mut flips);
        flips
    }

    /// Draws the pairs to flip from the given random numbers, after what `flips` holds already.
    pub fn draw_into(&self, random: &mut impl Rng, flips: &mut Vec<(u32, u32)>) {
        for (class, range) in self.pair_classes.iter() {
            let bound = bound(class);
            walk(range.len(), bound, random, |at, draw| {
                let at = range.start + at;
                if draw < self.probabilities[at] / bound {
                    flips.push(self.pairs[at]);
                }
            });
        }
        let triangle = self.triangle.as_deref().unwrap_or_default();
        let mut met = Vec::new();
        for (exponent, range) in self.block_classes.iter() {
            let (blocks, bound) = (&self.blocks[range], bound(exponent));
            met.clear();
            walk(blocks.len() * BLOCK, bound, random, |at, draw| {
                met.push((blocks[at / BLOCK] as usize * BLOCK + at % BLOCK, draw));
            });
            // Looked up only now that all are known, so that many wait for the memory at once.
            let flipped = |&(at, draw): &(usize, f32)| {
                // The last block may be short; pairs above the bound are listed elsewhere.
                let probability = *triangle.get(at)?;
                (draw < probability / bound && class(probability) >= exponent).then(|| pair_at(self.nodes, at))
            };
            if met.len() < LOOKED_UP_TOGETHER {
                flips.extend(met.iter().filter_map(flipped));
            } else {
                let pieces = met.par_chunks(LOOKED_UP_TOGETHER);
                let found: Vec<Vec<(u32, u32)>> =
                    pieces.map(|piece| piece.iter().filter_map(flipped).collect()).collect();
                found.iter().for_each(|found| flips.extend_from_slice(found));
            }
        }
    }
}

/// How a block of a triangle is drawn from.
struct Arranged {
    /// The class of the block, if it is walked at all.
    bound: Option<usize>,
    /// Pairs that are listed by themselves.
    above: Vec<((u32, u32), f32)>,
}

impl Arranged {
    fn new(nodes: usize, block: usize, probabilities: &[f32]) -> Arranged {
        let bound = cheapest_class(probabilities);
        let is_above = |probability: f32| probability > 0.0 && bound.is_none_or(|bound| class(probability) < bound);
        let above = probabilities.iter().enumerate().filter(|(_, probability)| is_above(**probability));
        let above = above.map(|(at, &probability)| (pair_at(nodes, block * BLOCK + at), probability)).collect();
        Arranged { bound, above }
    }
}

/// The runs of equal class in a list that is sorted by class.
#[derive(Debug, Clone)]
struct Classes(Vec<(usize, usize)>);

impl Classes {
    fn of(sorted: impl Iterator<Item = usize>) -> Classes {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, class) in sorted.enumerate() {
            match runs.last_mut() {
                Some((last, end)) if *last == class => *end = at + 1,
                _ => runs.push((class, at + 1)),
            }
        }
        Classes(runs)
    }

    /// Every class that occurs, with its range.
    fn iter(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let starts = std::iter::once(0).chain(self.0.iter().map(|&(_, end)| end));
        self.0.iter().zip(starts).map(|(&(class, end), start)| (class, start..end))
    }
}

/// The class whose bound is the smallest power of a half not below the probability.
fn class(probability: f32) -> usize {
    if probability >= 1.0 {
        return 0;
    }
    // The exponent of the number itself: 0.3 lies in (¼, ½], so its bound is 2^-1.
    let exponent = 127 - (probability.to_bits() >> 23) as i32;
    let exact = probability.to_bits() & 0x7f_ffff == 0;
    (exponent - i32::from(!exact)).clamp(0, CLASSES as i32 - 1) as usize
}

fn bound(class: usize) -> f32 {
    0.5f32.powi(class as i32)
}

/// The class for a block that leaves the least to draw: candidates met in the block, and pairs above it in the list. `None`
/// where listing every pair is cheaper still, as when a block holds only a few.
fn cheapest_class(probabilities: &[f32]) -> Option<usize> {
    let mut counts = [0usize; CLASSES];
    for &probability in probabilities.iter().filter(|probability| **probability > 0.0) {
        counts[class(probability)] += 1;
    }
    let (mut listed, mut above) = (0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (exponent, &count) in counts.iter().enumerate() {
        let cost = probabilities.len() as f64 * f64::from(bound(exponent)) + above;
        if count > 0 && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, exponent));
        }
        listed += count;
        above += count as f64 * f64::from(bound(exponent));
        if listed > MOST_LISTED {
            break;
        }
    }
    best.filter(|(cost, _)| listed > MOST_LISTED || *cost < above).map(|(_, exponent)| exponent)
}

/// Visits each of `count` items with probability `bound`, handing over a uniform number for its acceptance.
pub(crate) fn walk(count: usize, bound: f32, random: &mut impl Rng, mut visit: impl FnMut(usize, f32)) {
    if bound >= 1.0 {
        (0..count).for_each(|at| visit(at, random.random()));
        return;
    }
    let scale = 1.0 / (-f64::from(bound)).ln_1p();
    let mut at = 0usize;
    loop {
        let uniform: f64 = 1.0 - random.random::<f64>();
        let skip = uniform.ln() * scale;
        if skip >= (count - at) as f64 {
            return;
        }
        at += skip as usize;
        visit(at, random.random());
        at += 1;
    }
}

/// The pair at a place of the packed triangle.
pub fn pair_at(nodes: usize, at: usize) -> (u32, u32) {
    // Row i starts at i (2n - 1 - i) / 2; the root is close, and whole numbers have the last word.
    let twice = (2 * nodes - 1) as f64;
    let root = 0.5 * (twice - (twice * twice - 8.0 * at as f64).max(0.0).sqrt());
    let mut low = (root as usize).min(nodes - 2);
    while row_start(nodes, low) > at {
        low -= 1;
    }
    while row_start(nodes, low + 1) <= at {
        low += 1;
    }
    (low as u32, (low + 1 + at - row_start(nodes, low)) as u32)
}

/// Marks `chosen` of `total` items, every such choice alike.
pub(crate) fn choose(total: usize, chosen: usize, random: &mut impl Rng) -> Vec<bool> {
    let mut missing = chosen.min(total);
    let mark = |at: usize| {
        let taken = random.random_range(0..total - at) < missing;
        missing -= usize::from(taken);
        taken
    };
    (0..total).map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::{EdgeFlips, pair_at};

    #[test]
    fn a_pair_has_the_same_probability_however_it_is_held() {
        let nodes = 40;
        let triangle: Vec<f32> = (0..nodes * (nodes - 1) / 2).map(|at| (at * at % 97) as f32 / 96.0).collect();
        let whole = EdgeFlips::of_triangle(nodes, triangle);
        let listed = EdgeFlips::of_pairs(nodes, whole.pairs());
        for (low, high) in (0..nodes as u32).flat_map(|low| (low..nodes as u32).map(move |high| (low, high))) {
            assert_eq!(whole.probability(low, high), listed.probability(high, low), "{low} {high}");
        }
        assert!(whole.pairs().iter().all(|&((low, high), probability)| whole.probability(low, high) == probability));
    }

    #[test]
    fn places_of_a_triangle_follow_each_other() {
        for nodes in [2, 3, 7, 50] {
            let pairs = (0..nodes).flat_map(|low| (low + 1..nodes).map(move |high| (low as u32, high as u32)));
            for (at, pair) in pairs.enumerate() {
                assert_eq!(pair_at(nodes, at), pair);
            }
        }
        let nodes = 3_000_000;
        for low in [0, 1, 1_499_999, nodes - 3, nodes - 2] {
            let first = super::row_start(nodes, low);
            assert_eq!(pair_at(nodes, first), (low as u32, low as u32 + 1));
            let last = super::row_start(nodes, low + 1) - 1;
            assert_eq!(pair_at(nodes, last), (low as u32, nodes as u32 - 1));
        }
    }
}
