//! Drawing flips: one Bernoulli draw a pair, at a cost proportional to the flips.
//!
//! Pairs are kept in classes by an upper bound of their probability: 1, ½, ¼ …. A class is walked by geometric skips at its
//! bound `b`, and what is met is accepted with `p / b`: exact, and at most about two candidates are met for each flip.
//! Of a packed triangle, whole blocks form a class, and the few pairs above their block's bound are listed by themselves.

use fiedler_graph::random::stream;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use crate::support::row_start;

/// Classes go down to 2^-31; smaller probabilities share the last.
const CLASSES: usize = 32;
/// Consecutive pairs of a triangle that share a bound.
const BLOCK: usize = 4096;

/// Probabilities of flipping node pairs, arranged for drawing.
#[derive(Debug, Clone)]
pub struct Flips {
    nodes: usize,
    listed: Vec<Listed>,
    triangle: Vec<f32>,
    /// For each class the blocks of the triangle in it.
    blocks: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Default)]
struct Listed {
    pairs: Vec<(u32, u32)>,
    probabilities: Vec<f32>,
}

impl Listed {
    fn push(&mut self, pair: (u32, u32), probability: f32) {
        self.pairs.push(pair);
        self.probabilities.push(probability);
    }
}

impl Flips {
    /// Chosen pairs `(low, high)` with their probabilities; all others never flip.
    pub fn of_pairs(nodes: usize, pairs: impl IntoIterator<Item = ((u32, u32), f32)>) -> Flips {
        let mut listed = vec![Listed::default(); CLASSES];
        for (pair, probability) in pairs {
            if probability > 0.0 {
                listed[class(probability)].push(pair, probability);
            }
        }
        Flips { nodes, listed, triangle: Vec::new(), blocks: Vec::new() }
    }

    /// All pairs, packed row after row.
    pub fn of_triangle(nodes: usize, triangle: Vec<f32>) -> Flips {
        let arranged: Vec<Arranged> =
            triangle.par_chunks(BLOCK).enumerate().map(|(block, all)| Arranged::new(nodes, block, all)).collect();
        let mut listed = vec![Listed::default(); CLASSES];
        let mut blocks = vec![Vec::new(); CLASSES];
        for (block, arranged) in arranged.into_iter().enumerate() {
            if let Some(bound) = arranged.bound {
                blocks[bound].push(block as u32);
            }
            for (pair, probability) in arranged.above {
                listed[class(probability)].push(pair, probability);
            }
        }
        Flips { nodes, listed, triangle, blocks }
    }

    /// Draws the pairs to flip in one view. The same seed, epoch and view give the same pairs.
    pub fn draw(&self, seed: u64, epoch: u64, view: u64) -> Vec<(u32, u32)> {
        let mut random = stream(seed, "flips", epoch << 8 | view & 0xff);
        let mut flips = Vec::new();
        for (class, listed) in self.listed.iter().enumerate() {
            let bound = bound(class);
            walk(listed.pairs.len(), bound, &mut random, |at, draw| {
                if draw < listed.probabilities[at] / bound {
                    flips.push(listed.pairs[at]);
                }
            });
        }
        let mut met = Vec::new();
        for (exponent, blocks) in self.blocks.iter().enumerate() {
            let bound = bound(exponent);
            met.clear();
            walk(blocks.len() * BLOCK, bound, &mut random, |at, draw| {
                met.push((blocks[at / BLOCK] as usize * BLOCK + at % BLOCK, draw));
            });
            // Looked up only now that all are known: the processor then waits for many of them at once.
            for &(at, draw) in &met {
                // The last block may be short; pairs above the bound are listed elsewhere.
                let Some(&probability) = self.triangle.get(at) else { continue };
                if draw < probability / bound && class(probability) >= exponent {
                    flips.push(pair_at(self.nodes, at));
                }
            }
        }
        flips
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
        let is_above =
            |probability: f32| probability > 0.0 && bound.is_none_or(|bound| class(probability) < bound);
        let above = probabilities.iter().enumerate().filter(|(_, probability)| is_above(**probability));
        let above = above.map(|(at, &probability)| (pair_at(nodes, block * BLOCK + at), probability)).collect();
        Arranged { bound, above }
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

/// The class for a block that leaves the least to draw: candidates met in the block, and pairs above it in the list.
fn cheapest_class(probabilities: &[f32]) -> Option<usize> {
    let mut counts = [0usize; CLASSES];
    for &probability in probabilities.iter().filter(|probability| **probability > 0.0) {
        counts[class(probability)] += 1;
    }
    let mut above = 0.0;
    let mut best = None;
    for (exponent, &count) in counts.iter().enumerate() {
        let cost = probabilities.len() as f64 * f64::from(bound(exponent)) + above;
        if count > 0 && best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, exponent));
        }
        above += count as f64 * f64::from(bound(exponent));
    }
    // Listing every pair may be cheaper still, as when a block holds only a few.
    best.filter(|(cost, _)| *cost < above).map(|(_, exponent)| exponent)
}

/// Visits each of `count` items with probability `bound`, handing over a uniform number for its acceptance.
fn walk(count: usize, bound: f32, random: &mut impl Rng, mut visit: impl FnMut(usize, f32)) {
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
fn pair_at(nodes: usize, at: usize) -> (u32, u32) {
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

#[cfg(test)]
mod tests {
    use super::pair_at;

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
