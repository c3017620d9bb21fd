//! From pairs in any order to sorted, symmetric rows without repeats.
//!
//! Scattering pairs straight into their rows would miss the cache on every write. So the entries of each chunk of pairs
//! are first distributed to buckets of neighboring nodes; then each bucket, small enough for the cache, is gathered
//! from all chunks into rows, which are sorted and merged. Both steps run in parallel; since every row is sorted, the
//! order in which they run leaves no trace.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::graph::BuildReport;

/// Pairs that one task should distribute: their entries fit the cache.
const CHUNK_PAIRS: usize = 1 << 15;
/// Entries that a bucket should hold.
const BUCKET_ENTRIES: usize = 1 << 16;
const MAX_BUCKETS: usize = 1 << 12;

/// Some of a graph's pairs, for [`Graph::from_chunks`](crate::Graph::from_chunks).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairChunk {
    /// Pairs of node ids, in any order and direction.
    pub pairs: Vec<(u32, u32)>,
    /// One weight for each pair; empty when the graph is unweighted.
    pub weights: Vec<f32>,
}

/// Some of the pairs; all ids must be below the number of nodes.
pub(crate) struct Chunk<'a> {
    pub(crate) pairs: Cow<'a, [(u32, u32)]>,
    /// One for each pair, positive; empty when there are none.
    pub(crate) weights: Cow<'a, [f32]>,
}

impl From<PairChunk> for Chunk<'static> {
    fn from(chunk: PairChunk) -> Self {
        Chunk { pairs: Cow::Owned(chunk.pairs), weights: Cow::Owned(chunk.weights) }
    }
}

/// Sorted rows, as a graph has them.
pub(crate) struct Rows {
    pub(crate) indptr: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) report: BuildReport,
}

/// Cuts pairs into chunks.
pub(crate) fn chunks<'a>(
    pairs: &'a [(u32, u32)],
    weights: Option<&'a [f32]>,
) -> impl ParallelIterator<Item = Chunk<'a>> {
    pairs.par_chunks(CHUNK_PAIRS).enumerate().map(move |(at, pairs)| {
        let start = at * CHUNK_PAIRS;
        let weights = weights.map_or([].as_slice(), |weights| &weights[start..start + pairs.len()]);
        Chunk { pairs: Cow::Borrowed(pairs), weights: Cow::Borrowed(weights) }
    })
}

/// Builds the rows of `pairs` pairs.
pub(crate) fn rows<'a>(nodes: usize, pairs: usize, chunks: impl ParallelIterator<Item = Chunk<'a>>) -> Rows {
    build::<u64>(nodes, pairs, chunks)
}

/// As [`rows`], with weights; of an edge's weights the largest stays.
pub(crate) fn weighted_rows<'a>(nodes: usize, pairs: usize, chunks: impl ParallelIterator<Item = Chunk<'a>>) -> Rows {
    build::<(u64, u32)>(nodes, pairs, chunks)
}

/// One end of an edge: its node, and what goes into the node's row.
trait Entry: Copy + Default + Send + Sync {
    /// What a row is made of, such that one edge's values sort side by side.
    type Value: Value;

    fn new(node: u32, neighbor: u32, reversed: bool, weight: f32) -> Self;
    fn node(self) -> usize;
    fn value(self) -> Self::Value;
}

/// A neighbor, and whether the pair was given from it to the node, and perhaps a weight.
trait Value: Copy + Default + Ord + Send + Sync {
    const WEIGHTED: bool;

    /// The neighbor, and in the last bit whether it was given first.
    fn directed(self) -> u32;
    fn weight(self) -> f32;
}

fn directed(neighbor: u32, reversed: bool) -> u32 {
    neighbor << 1 | u32::from(reversed)
}

impl Entry for u64 {
    type Value = u32;

    fn new(node: u32, neighbor: u32, reversed: bool, _weight: f32) -> u64 {
        u64::from(node) << 32 | u64::from(directed(neighbor, reversed))
    }

    fn node(self) -> usize {
        (self >> 32) as usize
    }

    fn value(self) -> u32 {
        self as u32
    }
}

impl Value for u32 {
    const WEIGHTED: bool = false;

    fn directed(self) -> u32 {
        self
    }

    fn weight(self) -> f32 {
        1.0
    }
}

impl Entry for (u64, u32) {
    type Value = (u32, u32);

    fn new(node: u32, neighbor: u32, reversed: bool, weight: f32) -> (u64, u32) {
        // The bits of positive numbers ascend as the numbers do.
        (Entry::new(node, neighbor, reversed, weight), weight.to_bits())
    }

    fn node(self) -> usize {
        self.0.node()
    }

    fn value(self) -> (u32, u32) {
        (self.0.value(), self.1)
    }
}

impl Value for (u32, u32) {
    const WEIGHTED: bool = true;

    fn directed(self) -> u32 {
        self.0
    }

    fn weight(self) -> f32 {
        f32::from_bits(self.1)
    }
}

fn build<'a, E: Entry>(nodes: usize, pairs: usize, chunks: impl ParallelIterator<Item = Chunk<'a>>) -> Rows {
    let buckets = Buckets::new(nodes, pairs);
    let parts: Vec<Part<E>> = chunks.map(|chunk| Part::new(&chunk, &buckets)).collect();
    let lengths: Vec<usize> = (0..buckets.count)
        .into_par_iter()
        .map(|bucket| parts.iter().map(|part| part.bucket(bucket).len()).sum())
        .collect();
    let entries: usize = lengths.iter().sum();
    let mut indices = vec![0u32; entries];
    let mut weights = vec![0f32; if E::Value::WEIGHTED { entries } else { 0 }];
    // One place further on, so that the degrees can become the indptr.
    let mut indptr = vec![0usize; nodes + 1];
    let targets = indptr[1..]
        .par_chunks_mut(1 << buckets.shift)
        .zip(split(&mut indices, &lengths))
        .zip(split(&mut weights, &lengths));
    let merged: Vec<BuildReport> = targets
        .enumerate()
        .map_init(Scratch::default, |scratch, (bucket, ((degrees, indices), weights))| {
            let first_node = bucket << buckets.shift;
            scratch.gather(&parts, bucket, first_node, degrees.len());
            scratch.merge(first_node, degrees, indices, weights)
        })
        .collect();
    drop(parts);

    let kept: Vec<usize> = indptr[1..].chunks(1 << buckets.shift).map(|degrees| degrees.iter().sum()).collect();
    close_gaps(&mut indices, &lengths, &kept);
    if E::Value::WEIGHTED {
        close_gaps(&mut weights, &lengths, &kept);
    }
    for node in 1..indptr.len() {
        indptr[node] += indptr[node - 1];
    }
    let mut report = merged.into_iter().fold(BuildReport::default(), BuildReport::plus);
    report.pairs = pairs as u64;
    report.edges = (indices.len() / 2) as u64;
    report.self_loops = (pairs - entries / 2) as u64;
    Rows { indptr, indices, weights: E::Value::WEIGHTED.then_some(weights), report }
}

/// Runs of neighboring nodes, all equally long.
struct Buckets {
    count: usize,
    /// A node's bucket is its id shifted by this.
    shift: u32,
}

impl Buckets {
    fn new(nodes: usize, pairs: usize) -> Buckets {
        let wanted = (2 * pairs / BUCKET_ENTRIES).clamp(1, MAX_BUCKETS);
        let shift = (nodes / wanted).max(1).next_power_of_two().trailing_zeros();
        Buckets { count: nodes.div_ceil(1 << shift), shift }
    }
}

/// The entries of one chunk of pairs, bucket after bucket.
struct Part<E> {
    entries: Vec<E>,
    /// Where each bucket starts, and the end of the last.
    starts: Vec<usize>,
}

impl<E: Entry> Part<E> {
    fn new(chunk: &Chunk, buckets: &Buckets) -> Part<E> {
        // Counted two places further on, the counts become each bucket's start, then, as buckets fill, its end.
        let mut starts = vec![0; buckets.count + 2];
        for &(a, b) in chunk.pairs.iter().filter(|(a, b)| a != b) {
            starts[(a >> buckets.shift) as usize + 2] += 1;
            starts[(b >> buckets.shift) as usize + 2] += 1;
        }
        for bucket in 2..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        let mut entries = vec![E::default(); starts[buckets.count + 1]];
        for (at, &(a, b)) in chunk.pairs.iter().enumerate().filter(|(_, (a, b))| a != b) {
            let weight = if E::Value::WEIGHTED { chunk.weights[at] } else { 1.0 };
            for (node, neighbor, reversed) in [(a, b, false), (b, a, true)] {
                let slot = &mut starts[(node >> buckets.shift) as usize + 1];
                entries[*slot] = E::new(node, neighbor, reversed, weight);
                *slot += 1;
            }
        }
        starts.pop();
        Part { entries, starts }
    }

    fn bucket(&self, bucket: usize) -> &[E] {
        &self.entries[self.starts[bucket]..self.starts[bucket + 1]]
    }
}

/// The rows of one bucket before they are merged.
#[derive(Default)]
struct Scratch<V> {
    values: Vec<V>,
    /// Where each row starts, and the end of the last.
    starts: Vec<usize>,
}

impl<V: Value> Scratch<V> {
    fn gather<E: Entry<Value = V>>(&mut self, parts: &[Part<E>], bucket: usize, first_node: usize, nodes: usize) {
        self.starts.clear();
        self.starts.resize(nodes + 2, 0);
        for part in parts {
            for entry in part.bucket(bucket) {
                self.starts[entry.node() - first_node + 2] += 1;
            }
        }
        for node in 2..self.starts.len() {
            self.starts[node] += self.starts[node - 1];
        }
        self.values.clear();
        self.values.resize(self.starts[nodes + 1], V::default());
        for part in parts {
            for entry in part.bucket(bucket) {
                let slot = &mut self.starts[entry.node() - first_node + 1];
                self.values[*slot] = entry.value();
                *slot += 1;
            }
        }
        self.starts.pop();
    }

    /// Writes the distinct indices to the front of the bucket's rows; counts them and what is merged.
    fn merge(
        &mut self,
        first_node: usize,
        degrees: &mut [usize],
        indices: &mut [u32],
        weights: &mut [f32],
    ) -> BuildReport {
        let mut report = BuildReport::default();
        let mut end = 0;
        for (node, degree) in degrees.iter_mut().enumerate() {
            let row = &mut self.values[self.starts[node]..self.starts[node + 1]];
            if row.len() > BUCKET_ENTRIES {
                row.par_sort_unstable()
            } else {
                row.sort_unstable()
            }
            let start = end;
            let mut last = 0;
            for value in row {
                let directed = value.directed();
                let neighbor = directed >> 1;
                if end == start || neighbor != last >> 1 {
                    indices[end] = neighbor;
                    if V::WEIGHTED {
                        weights[end] = value.weight();
                    }
                    end += 1;
                } else {
                    // Both ends meet the pair; it is counted at the lower one.
                    if V::WEIGHTED {
                        let differs = weights[end - 1] != value.weight();
                        report.reweighted += u64::from(differs && first_node + node < neighbor as usize);
                        weights[end - 1] = weights[end - 1].max(value.weight());
                    }
                    let merged = if directed == last { &mut report.repeated } else { &mut report.mirrored };
                    *merged += u64::from(first_node + node < neighbor as usize);
                }
                last = directed;
            }
            *degree = end - start;
        }
        report
    }
}

/// One piece of each length; where nothing is left, empty ones.
fn split<'a, T: Send>(mut all: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (piece, rest) = all.split_at_mut(length.min(all.len()));
        pieces.push(piece);
        all = rest;
    }
    pieces
}

/// Moves the values kept at the front of each piece together.
fn close_gaps<T: Copy>(values: &mut Vec<T>, lengths: &[usize], kept: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (length, kept) in lengths.iter().zip(kept) {
        if from != to {
            values.copy_within(from..from + kept, to);
        }
        from += length;
        to += kept;
    }
    values.truncate(to);
    values.shrink_to_fit();
}
