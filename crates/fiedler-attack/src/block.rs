//! Random blocks of pairs, each flipped in part.

use fiedler_graph::random::stream;
use rayon::prelude::*;

use crate::error::Result;
use crate::gf_relaxed::draw_pairs;
use crate::state::{BlockState, unusable};

/// A part that counts as none when a block is drawn anew.
const NONE: f64 = 1e-7;

/// Pairs, ascending, and the part of each that is flipped.
#[derive(Clone)]
pub(crate) struct Block {
    pub pairs: Vec<(u32, u32)>,
    pub parts: Vec<f64>,
    /// Which draw it is, and the pairs that were kept then.
    drawn: u64,
    kept: Vec<(u32, u32)>,
}

/// Whose blocks they are: the number of nodes, how many pairs, the seed.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub nodes: usize,
    pub size: usize,
    pub seed: u64,
}

impl Blocks {
    /// The first block.
    pub fn first(self) -> Block {
        let pairs = self.draw(0, self.size);
        Block { parts: vec![0.0; pairs.len()], pairs, drawn: 0, kept: Vec::new() }
    }

    /// Keeps pairs that are flipped in part, at most half of the block, and draws others for the rest.
    pub fn resample(self, block: &mut Block, epoch: u64) {
        if self.nodes * self.nodes.saturating_sub(1) / 2 <= self.size {
            return;
        }
        let mut kept: Vec<(f64, (u32, u32))> = block.parts.iter().copied().zip(block.pairs.iter().copied()).collect();
        kept.retain(|(part, _)| *part > NONE);
        kept.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        kept.truncate(self.size / 2);
        let mut all: Vec<((u32, u32), f64)> = kept.iter().map(|&(part, pair)| (pair, part)).collect();
        all.extend(self.draw(epoch, self.size - kept.len()).into_iter().map(|pair| (pair, 0.0)));
        // Kept pairs come first among equals, and stay.
        all.par_sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        all.dedup_by_key(|(pair, _)| *pair);
        (block.pairs, block.parts) = all.into_iter().unzip();
        (block.drawn, block.kept) = (epoch, kept.into_iter().map(|(_, pair)| pair).collect());
    }

    /// A block as it was kept.
    pub fn restore(self, state: &BlockState) -> Result<Block> {
        let is_pair = |&(low, high): &(u32, u32)| low < high && (high as usize) < self.nodes;
        if state.kept.len() > self.size || !state.kept.iter().all(is_pair) {
            return Err(unusable());
        }
        let mut pairs = self.draw(state.drawn, self.size - state.kept.len());
        pairs.extend(&state.kept);
        pairs.par_sort_unstable();
        pairs.dedup();
        Ok(Block { parts: state.parts(pairs.len())?, pairs, drawn: state.drawn, kept: state.kept.clone() })
    }

    fn draw(self, epoch: u64, pairs: usize) -> Vec<(u32, u32)> {
        draw_pairs(self.nodes, pairs, &mut stream(self.seed, "block", epoch))
    }
}

impl Block {
    pub fn state(&self) -> BlockState {
        BlockState::new(self.drawn, &self.kept, &self.parts)
    }
}
