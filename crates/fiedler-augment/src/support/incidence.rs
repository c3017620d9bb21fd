//! Chosen pairs from both of their ends, for passes in which every node gathers what its partners have.

use std::sync::Arc;

use rayon::prelude::*;

use super::Clamp;
use super::split::PairsAround;
use super::tiles::Tiles;

/// Set in the place of a pair that is an edge.
const EDGE: u32 = 1 << 31;
/// Pairs that a thread takes at a time: enough to be worth the handing over.
const PIECE: usize = 1 << 16;

/// For every node its pairs: the other node, and where the pair's value is.
#[derive(Debug, Clone)]
pub(super) struct Incidence {
    starts: Arc<Vec<usize>>,
    pairs: Vec<(u32, u32)>,
}

impl Incidence {
    pub(super) fn new(tiles: &Tiles) -> Incidence {
        assert!(tiles.keys().len() < EDGE as usize, "fewer than 2³¹ pairs");
        let mut starts = vec![0usize; tiles.num_nodes() + 1];
        tiles.for_each(|_, low, high| {
            starts[low + 1] += 1;
            starts[high + 1] += 1;
        });
        for node in 0..tiles.num_nodes() {
            starts[node + 1] += starts[node];
        }
        let mut pairs = vec![(0, 0); starts[tiles.num_nodes()]];
        let mut next = starts.clone();
        tiles.for_each(|place, low, high| {
            let edge = if tiles.keys()[place].is_edge() { EDGE } else { 0 };
            for (node, other) in [(low, high), (high, low)] {
                let next = &mut next[node];
                pairs[*next] = (other as u32, place as u32 | edge);
                *next += 1;
            }
        });
        Incidence { starts: Arc::new(starts), pairs }
    }

    /// Bytes that it takes for so many nodes and pairs.
    pub(super) fn bytes_for(nodes: usize, pairs: usize) -> u64 {
        (size_of::<usize>() * (nodes + 1) + 2 * size_of::<(u32, u32)>() * pairs) as u64
    }

    /// The pairs with their expected weights.
    pub(super) fn weighed(&self, values: &[f32], clamp: Clamp) -> PairsAround {
        let weighed = |&(other, place): &(u32, u32)| {
            let x = clamp.of(values[(place & !EDGE) as usize]);
            (other, ((place >> 31) as f32 - x).abs())
        };
        let pairs = match self.pairs.len() {
            0..PIECE => self.pairs.iter().map(weighed).collect(),
            _ => self.pairs.par_iter().with_min_len(PIECE / 2).map(weighed).collect(),
        };
        PairsAround::of_starts(self.starts.clone(), pairs)
    }
}
