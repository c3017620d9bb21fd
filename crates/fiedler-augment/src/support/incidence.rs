//! Chosen pairs from both of their ends, for passes in which every node gathers what its partners have.

use rayon::prelude::*;

use super::split::PairsAround;
use super::tiles::{Key, Tiles};
use super::{Clamp, LIGHT, Split};

/// Stands for the weight of an edge that never flips.
const WHOLE: f32 = 2.0;
/// Nodes that a thread takes at a time.
const PIECE: usize = 1 << 12;
/// Pieces of pairs that a thread takes at a time.
const PIECES: usize = 16;

/// For every node its pairs: the other node, and where the pair's value is.
#[derive(Debug, Clone)]
pub(super) struct Incidence {
    starts: Vec<usize>,
    pairs: Vec<(u32, u32)>,
}

/// The pairs of a part of the nodes by their weight.
struct Part {
    sums: [Vec<f64>; 3],
    middle: PairsAround,
    others: PairsAround,
}

impl Incidence {
    pub(super) fn new(tiles: &Tiles) -> Incidence {
        assert!(u32::try_from(tiles.keys().len()).is_ok(), "fewer than 2³² pairs");
        let mut starts = vec![0usize; tiles.num_nodes() + 1];
        for (_, low, high) in tiles.ascending() {
            starts[low as usize + 1] += 1;
            starts[high as usize + 1] += 1;
        }
        for node in 0..tiles.num_nodes() {
            starts[node + 1] += starts[node];
        }
        let mut pairs = vec![(0, 0); starts[tiles.num_nodes()]];
        let mut next = starts.clone();
        for (place, low, high) in tiles.ascending() {
            for (node, other) in [(low, high), (high, low)] {
                let next = &mut next[node as usize];
                pairs[*next] = (other, place as u32);
                *next += 1;
            }
        }
        Incidence { starts, pairs }
    }

    /// Bytes that it takes for so many nodes and pairs.
    pub(super) fn bytes_for(nodes: usize, pairs: usize) -> u64 {
        (size_of::<usize>() * (nodes + 1) + 2 * size_of::<(u32, u32)>() * pairs) as u64
    }

    /// The pairs by their weight.
    pub(super) fn split(&self, keys: &[Key], values: &[f32], clamp: Clamp) -> Split {
        let nodes = self.starts.len() - 1;
        let mut weights = vec![0.0; values.len()];
        let pieces = weights.par_chunks_mut(PIECE).zip(keys.par_chunks(PIECE)).zip(values.par_chunks(PIECE));
        pieces.with_min_len(PIECES).for_each(|((weights, keys), values)| {
            for ((weight, key), &value) in weights.iter_mut().zip(keys).zip(values) {
                let x = clamp.of(value);
                *weight = if key.is_edge() && x == 0.0 { WHOLE } else { key.weight(x) };
            }
        });
        let pieces = (0..nodes.div_ceil(PIECE)).into_par_iter();
        let parts: Vec<Part> =
            pieces.map(|piece| self.part(piece * PIECE..nodes.min((piece + 1) * PIECE), &weights)).collect();
        let mut sums = [(); 3].map(|()| Vec::with_capacity(nodes));
        let (mut middle, mut others) = (Vec::new(), Vec::new());
        for part in parts {
            sums.iter_mut().zip(part.sums).for_each(|(sums, part)| sums.extend(part));
            middle.push(part.middle);
            others.push(part.others);
        }
        let [linear, square, whole] = sums;
        Split { linear, square, whole, middle: PairsAround::join(middle), others: Some(PairsAround::join(others)) }
    }

    fn part(&self, nodes: std::ops::Range<usize>, weights: &[f32]) -> Part {
        let count = self.starts[nodes.end] - self.starts[nodes.start];
        let mut sums = [(); 3].map(|()| Vec::with_capacity(nodes.len()));
        let mut starts = [(); 2].map(|()| {
            let mut starts = Vec::with_capacity(nodes.len() + 1);
            starts.push(0);
            starts
        });
        // Which list a pair goes to cannot be foretold: it is written to both, and counts in one of them or none.
        let (mut middle, mut others) = (vec![(0, 0.0); count + 1], vec![(0, 0.0); count + 1]);
        let (mut in_middle, mut in_others) = (0, 0);
        for node in nodes {
            let mut of_node = [0.0; 3];
            for &(other, place) in &self.pairs[self.starts[node]..self.starts[node + 1]] {
                let weight = weights[place as usize];
                let (is_light, is_whole) = (weight <= LIGHT, weight == WHOLE);
                let light = if is_light { weight } else { 0.0 };
                of_node[0] += f64::from(light);
                of_node[1] += f64::from(light * light);
                of_node[2] += if is_whole { 1.0 } else { 0.0 };
                let weight = weight.min(1.0);
                middle[in_middle] = (other, weight);
                others[in_others] = (other, weight);
                in_middle += usize::from(!is_light & !is_whole);
                in_others += usize::from((light > 0.0) | is_whole);
            }
            sums.iter_mut().zip(of_node).for_each(|(sums, sum)| sums.push(sum));
            starts[0].push(in_middle);
            starts[1].push(in_others);
        }
        middle.truncate(in_middle);
        others.truncate(in_others);
        let [starts_middle, starts_others] = starts;
        Part {
            sums,
            middle: PairsAround::of_part(starts_middle, middle),
            others: PairsAround::of_part(starts_others, others),
        }
    }
}
