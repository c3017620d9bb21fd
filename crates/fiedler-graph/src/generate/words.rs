//! Bags of words that tell something of a node's class.

use rand::RngExt;
use rayon::prelude::*;

use super::draw::poisson;
use crate::error::Result;
use crate::features::{Features, Sparse};
use crate::random::stream;

/// Ranks begin here: a vocabulary without the few words that every text has (Mandelbrot's form of Zipf's law).
const FIRST_RANK: usize = 10;

/// The words of a language in which every class has a topic.
///
/// Words come in the order of how common they are (Zipf's law); the topic of class `c` is every word whose place in that order
/// leaves `c` when divided by the number of classes, so that all topics are equally common.
pub(super) struct Language {
    /// Number of words there are.
    pub vocabulary: usize,
    /// Mean number of words drawn for a node.
    pub words: f64,
    /// Share of a node's words that are drawn from the topic of its class.
    pub topic: f64,
}

impl Language {
    /// One binary row of words for each node. A word drawn twice counts once.
    pub(super) fn write(&self, class_of: &[u32], classes: usize, seed: u64) -> Result<Features> {
        let everything = cumulative(FIRST_RANK..FIRST_RANK + self.vocabulary);
        // All topics share the table of the first, which is at least as long as the others.
        let within_topic = cumulative((FIRST_RANK..FIRST_RANK + self.vocabulary).step_by(classes));
        let rows: Vec<Vec<u32>> = class_of
            .par_iter()
            .enumerate()
            .map(|(node, &class)| {
                let mut random = stream(seed, "words", node as u64);
                let drawn = poisson(&mut random, self.words);
                let mut words: Vec<u32> = (0..drawn)
                    .map(|_| {
                        if random.random_bool(self.topic) {
                            let longest = (self.vocabulary - class as usize).div_ceil(classes);
                            draw(&within_topic[..longest], random.random()) * classes as u32 + class
                        } else {
                            draw(&everything, random.random())
                        }
                    })
                    .collect();
                words.sort_unstable();
                words.dedup();
                words
            })
            .collect();
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let indices = rows.concat();
        let ones = vec![1.0; indices.len()];
        Ok(Features::Sparse(Sparse::new(self.vocabulary, offsets, indices, ones)?))
    }
}

/// Cumulative weights of words of the given ranks, each in proportion to one over its rank.
fn cumulative(ranks: impl Iterator<Item = usize>) -> Vec<f64> {
    ranks
        .scan(0.0, |total, rank| {
            *total += 1.0 / rank as f64;
            Some(*total)
        })
        .collect()
}

/// The place that a number from 0 to 1 falls on in cumulative weights.
fn draw(cumulative: &[f64], at: f64) -> u32 {
    let total = cumulative.last().copied().unwrap_or(0.0);
    cumulative.partition_point(|&weight| weight <= at * total).min(cumulative.len() - 1) as u32
}
