//! From ids as a file has them to nodes numbered 0, 1, 2 ….

use rayon::prelude::*;

use fiedler_graph::{Names, PairChunk};

use super::Edges;
use super::plain::{Id, Lines, Plain};

impl<I: Id> Plain<I> {
    /// Numbers the nodes in the order of their ids, or as declared, when every node is.
    pub(super) fn number(self) -> Edges {
        let ids = Ids::of(&self.chunks);
        let nodes = ids.len();
        let declared: Vec<u32> = self.chunks.iter().flat_map(|chunk| &chunk.declared).map(|id| ids.rank(*id)).collect();
        let place = declared_places(nodes, &declared);
        let counting = place.is_none() && ids.are_counting();
        let names = match &place {
            Some(place) => Some(arranged(&ids.all(), place)),
            None => (!counting).then(|| ids.all()),
        };
        let names = names.and_then(|names| Names::Integers(names).unless_counting());
        let number = (!counting).then_some(|id: I| {
            let rank = ids.rank(id);
            place.as_ref().map_or(rank, |place| place[rank as usize])
        });
        let chunks = self.chunks.into_par_iter().map(|lines| {
            let pairs = I::numbered(lines.pairs, number.as_ref());
            PairChunk { pairs, weights: lines.weights }
        });
        Edges { nodes, names, weighted: self.weighted, chunks: chunks.collect() }
    }
}

/// Where each node goes when the file declares all of them: the order of first declaration. `None` when it does not.
pub(super) fn declared_places(nodes: usize, declared: &[u32]) -> Option<Vec<u32>> {
    if declared.len() < nodes {
        return None;
    }
    let mut place = vec![u32::MAX; nodes];
    let mut next = 0;
    for &node in declared {
        if place[node as usize] == u32::MAX {
            place[node as usize] = next;
            next += 1;
        }
    }
    (next as usize == nodes).then_some(place)
}

/// The values, each moved to its place.
pub(super) fn arranged<T: Clone>(values: &[T], place: &[u32]) -> Vec<T> {
    let mut arranged = values.to_vec();
    for (value, &place) in values.iter().zip(place) {
        arranged[place as usize] = value.clone();
    }
    arranged
}

/// The distinct ids of a file, in ascending order.
enum Ids<I> {
    /// One bit for each number from zero, and how many bits are set before each word.
    Bits {
        words: Vec<u64>,
        before: Vec<u32>,
    },
    Sorted(Vec<I>),
}

impl<I: Id> Ids<I> {
    fn of(chunks: &[Lines<I>]) -> Ids<I> {
        let ranges = || chunks.iter().filter_map(|chunk| chunk.range);
        let Some(lowest) = ranges().map(|range| range.0).min() else { return Ids::Sorted(Vec::new()) };
        let highest = ranges().map(|range| range.1).max().unwrap_or(lowest);
        // A bit for each number takes less memory than the pairs while ids are not too far apart.
        let words = highest.into() / 64 + 1;
        let pairs: usize = chunks.iter().map(|chunk| chunk.pairs.len()).sum();
        if lowest.into() >= 0 && words <= pairs as i64 {
            return Ids::bits(words as usize, chunks);
        }
        let mut ids: Vec<I> = Vec::with_capacity(2 * pairs);
        chunks.iter().for_each(|chunk| chunk.for_each_id(|id| ids.push(id)));
        ids.par_sort_unstable();
        ids.dedup();
        Ids::Sorted(ids)
    }

    fn bits(length: usize, chunks: &[Lines<I>]) -> Ids<I> {
        let share = chunks.len().div_ceil(rayon::current_num_threads()).max(1);
        let words = chunks
            .par_chunks(share)
            .map(|chunks| {
                let mut words = vec![0u64; length];
                for chunk in chunks {
                    chunk.for_each_id(|id| {
                        let id = id.into() as usize;
                        words[id / 64] |= 1 << (id % 64);
                    });
                }
                words
            })
            .reduce_with(|mut all, some| {
                all.iter_mut().zip(some).for_each(|(all, some)| *all |= some);
                all
            })
            .unwrap_or_default();
        let before = words
            .iter()
            .scan(0, |total, word| {
                let before = *total;
                *total += word.count_ones();
                Some(before)
            })
            .collect();
        Ids::Bits { words, before }
    }

    fn len(&self) -> usize {
        match self {
            Ids::Bits { words, before } => {
                before.last().map_or(0, |before| *before as usize)
                    + words.last().map_or(0, |word| word.count_ones() as usize)
            }
            Ids::Sorted(ids) => ids.len(),
        }
    }

    /// Whether the ids are exactly 0, 1, 2 ….
    fn are_counting(&self) -> bool {
        let nodes = self.len();
        match self {
            Ids::Bits { words, .. } => {
                words.last().is_some_and(|word| (words.len() - 1) * 64 + (64 - word.leading_zeros() as usize) == nodes)
            }
            Ids::Sorted(ids) => {
                ids.first().is_some_and(|id| (*id).into() == 0)
                    && ids.last().is_some_and(|id| (*id).into() == nodes as i64 - 1)
            }
        }
    }

    /// How many ids are lower.
    fn rank(&self, id: I) -> u32 {
        match self {
            Ids::Bits { words, before } => {
                let id = id.into() as usize;
                before[id / 64] + (words[id / 64] & ((1 << (id % 64)) - 1)).count_ones()
            }
            Ids::Sorted(ids) => ids.partition_point(|other| *other < id) as u32,
        }
    }

    fn all(&self) -> Vec<i64> {
        match self {
            Ids::Bits { words, .. } => {
                (0..words.len() as i64 * 64).filter(|id| words[*id as usize / 64] >> (id % 64) & 1 == 1).collect()
            }
            Ids::Sorted(ids) => ids.iter().map(|id| (*id).into()).collect(),
        }
    }
}
