//! From ids as a file has them to nodes numbered 0, 1, 2 ….

use rayon::prelude::*;

use super::Edges;
use super::plain::{Id, Plain};
use crate::names::Names;

impl<I: Id> Plain<I> {
    /// Numbers the nodes in the order of their ids, or as declared, when every node is.
    pub(super) fn number(self) -> Edges {
        let Plain { pairs, weights, declared } = self;
        let ids = Ids::of(&pairs, &declared);
        let nodes = ids.len();
        let place = declared_places(nodes, declared.iter().map(|id| ids.rank(*id)));
        if place.is_none() && ids.are_counting() {
            let pairs = I::numbered(pairs, |id| id.into() as u32);
            return Edges { nodes, names: None, pairs, weights };
        }
        let mut names = ids.all();
        if let Some(place) = &place {
            names = arranged(&names, place);
        }
        let number = |id: I| {
            let rank = ids.rank(id);
            place.as_ref().map_or(rank, |place| place[rank as usize])
        };
        Edges { nodes, pairs: I::numbered(pairs, number), names: Names::Integers(names).unless_counting(), weights }
    }
}

/// Where each node goes when the file declares all of them: the order of first declaration. `None` when it does not.
pub(super) fn declared_places(nodes: usize, declared: impl ExactSizeIterator<Item = u32>) -> Option<Vec<u32>> {
    if declared.len() < nodes {
        return None;
    }
    let mut place = vec![u32::MAX; nodes];
    let mut next = 0;
    for node in declared {
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
    Bits { words: Vec<u64>, before: Vec<u32> },
    Sorted(Vec<I>),
}

impl<I: Id> Ids<I> {
    fn of(pairs: &[(I, I)], declared: &[I]) -> Ids<I> {
        let highest = pairs.par_iter().map(|&(a, b)| a.max(b)).max().max(declared.iter().copied().max());
        let lowest = pairs.par_iter().map(|&(a, b)| a.min(b)).min().into_iter().chain(declared.iter().copied()).min();
        let (Some(highest), Some(lowest)) = (highest, lowest) else { return Ids::Sorted(Vec::new()) };
        // A bit for each number takes less memory than the pairs while ids are not too far apart.
        let words = highest.into() / 64 + 1;
        if lowest.into() >= 0 && words <= (pairs.len() + declared.len()) as i64 {
            return Ids::bits(words as usize, pairs, declared);
        }
        let mut ids: Vec<I> = Vec::with_capacity(2 * pairs.len() + declared.len());
        ids.extend(pairs.iter().flat_map(|&(a, b)| [a, b]).chain(declared.iter().copied()));
        ids.par_sort_unstable();
        ids.dedup();
        Ids::Sorted(ids)
    }

    fn bits(length: usize, pairs: &[(I, I)], declared: &[I]) -> Ids<I> {
        let set = |words: &mut [u64], id: I| {
            let id = id.into() as usize;
            words[id / 64] |= 1 << (id % 64);
        };
        let share = pairs.len().div_ceil(rayon::current_num_threads()).max(1);
        let mut words = pairs
            .par_chunks(share)
            .map(|pairs| {
                let mut words = vec![0; length];
                for &(a, b) in pairs {
                    set(&mut words, a);
                    set(&mut words, b);
                }
                words
            })
            .reduce_with(|mut all, some| {
                all.iter_mut().zip(some).for_each(|(all, some)| *all |= some);
                all
            })
            .unwrap_or_else(|| vec![0; length]);
        declared.iter().for_each(|id| set(&mut words, *id));
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
                before.last().map_or(0, |before| *before as usize) + words.last().map_or(0, |word| word.count_ones() as usize)
            }
            Ids::Sorted(ids) => ids.len(),
        }
    }

    /// Whether the ids are exactly 0, 1, 2 ….
    fn are_counting(&self) -> bool {
        let nodes = self.len();
        match self {
            Ids::Bits { words, .. } => words.last().is_some_and(|word| {
                (words.len() - 1) * 64 + (64 - word.leading_zeros() as usize) == nodes
            }),
            Ids::Sorted(ids) => ids.first().is_some_and(|id| (*id).into() == 0) && ids.last().is_some_and(|id| (*id).into() == nodes as i64 - 1),
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
            Ids::Bits { words, .. } => (0..words.len() as i64 * 64)
                .filter(|id| words[*id as usize / 64] >> (id % 64) & 1 == 1)
                .collect(),
            Ids::Sorted(ids) => ids.iter().map(|id| (*id).into()).collect(),
        }
    }
}
