//! Probabilities of pairs in few bytes.
//!
//! Optimized probabilities are rounded before a first view is drawn ([`rounded`]), so that 16 bits hold all that draws depend
//! on; others are kept as they are. Values are written in blocks that are compressed one by one, their bytes sorted by
//! significance, and read block by block: no array of the uncompressed size stands beside the probabilities themselves.
//!
//! All pairs of a graph are written as the difference from what one number a node foretells, `a_i + a_j`: minimising moves
//! the probability of a pair by the sum of what pulls at its ends, so that little is left.

use std::io::{BufReader, Bytes, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::sample::pair_at;
use crate::support::row_start;

/// Values compressed together.
const BLOCK: usize = 1 << 17;
/// Bits of a number in single precision that rounding drops.
const DROPPED: u32 = 14;
/// The smallest probability that is told from zero, 2^-31, without the dropped bits.
const LEAST: u32 = (127 - 31) << (23 - DROPPED);
/// Sweeps over pairs that fit what nodes foretell; each halves what is left of the error.
const SWEEPS: usize = 16;
/// Partners of a node that the fit looks at, of all there are.
const PARTNERS: usize = 2048;

/// A probability as it is stored: at most one part in 512 below, and zero below 2^-31. Rounding down keeps the budget.
pub(crate) fn rounded(probability: f32) -> f32 {
    f32::from_bits(if probability.to_bits() >> DROPPED < LEAST {
        0
    } else {
        probability.to_bits() >> DROPPED << DROPPED
    })
}

/// The 16 bits of a rounded probability.
fn code(rounded: f32) -> u16 {
    ((rounded.to_bits() >> DROPPED).saturating_sub(LEAST - 1)).min(u32::from(u16::MAX)) as u16
}

/// The probability of 16 bits, if it is one.
fn decoded(code: u16) -> Option<f32> {
    let bits = if code == 0 { 0 } else { (u32::from(code) + LEAST - 1) << DROPPED };
    Some(f32::from_bits(bits)).filter(|probability| *probability <= 1.0)
}

/// How many bits a probability has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Bits {
    /// 16: all are rounded.
    Rounded,
    /// 32.
    Single,
}

impl Bits {
    /// As many as it takes to lose nothing.
    pub(super) fn for_all(values: &[f32]) -> Bits {
        if values.par_iter().all(|&p| p == rounded(p)) { Bits::Rounded } else { Bits::Single }
    }

    fn bytes(self) -> usize {
        match self {
            Bits::Rounded => 2,
            Bits::Single => 4,
        }
    }

    /// A value as it is written, where `foretold` is expected.
    fn residual(self, value: f32, foretold: f32) -> u32 {
        match self {
            Bits::Rounded => {
                let difference = code(value).wrapping_sub(code(rounded(foretold))) as i16;
                // Small differences of either sign become small numbers.
                u32::from(((difference << 1) ^ (difference >> 15)) as u16)
            }
            Bits::Single => value.to_bits() ^ foretold.to_bits(),
        }
    }

    fn value(self, residual: u32, foretold: f32) -> Option<f32> {
        match self {
            Bits::Rounded => {
                let residual = residual as u16;
                let difference = (residual >> 1) ^ (residual & 1).wrapping_neg();
                decoded(code(rounded(foretold)).wrapping_add(difference))
            }
            Bits::Single => Some(f32::from_bits(residual ^ foretold.to_bits())).filter(|p| (0.0..=1.0).contains(p)),
        }
    }
}

/// The bytes of values, block after block, each after its length.
pub(super) fn write_values(values: &[f32], bits: Bits, separable: &Separable) -> Vec<u8> {
    let of_block = |(block, values): (usize, &[f32])| {
        let mut planes = vec![0u8; values.len() * bits.bytes()];
        for (at, &value) in values.iter().enumerate() {
            let residual = bits.residual(value, separable.at(block * BLOCK + at));
            for plane in 0..bits.bytes() {
                planes[plane * values.len() + at] = (residual >> (8 * plane)) as u8;
            }
        }
        compressed(&planes)
    };
    let blocks: Vec<Vec<u8>> = values.par_chunks(BLOCK).enumerate().map(of_block).collect();
    let mut bytes = Vec::with_capacity(blocks.iter().map(|block| block.len() + 4).sum());
    for block in blocks {
        bytes.extend_from_slice(&(block.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&block);
    }
    bytes
}

/// Reads so many values, block by block. `None` where the bytes are not those of as many.
pub(super) fn read_values(mut from: &[u8], count: usize, bits: Bits, separable: &Separable) -> Option<Vec<f32>> {
    let (mut values, mut planes) = (Vec::new(), Vec::new());
    while values.len() < count {
        let (length, rest) = from.split_first_chunk::<4>()?;
        let (block, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        from = rest;
        let (first, here) = (values.len(), BLOCK.min(count - values.len()));
        expand(block, here * bits.bytes(), &mut planes)?;
        // Memory is taken as the bytes of blocks are there, never on the count alone.
        if values.capacity() < first + here {
            values.reserve_exact((count - first).min(here.max(first)));
        }
        for at in 0..here {
            let residual =
                (0..bits.bytes()).fold(0, |sum, plane| sum | u32::from(planes[plane * here + at]) << (8 * plane));
            values.push(bits.value(residual, separable.at(first + at))?);
        }
    }
    from.is_empty().then_some(values)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(4));
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// Expands a block of known length into `to`; `None` where it has another.
fn expand(block: &[u8], length: usize, to: &mut Vec<u8>) -> Option<()> {
    to.clear();
    let read = ZlibDecoder::new(block).take(length as u64 + 1).read_to_end(to).ok()?;
    (read == length).then_some(())
}

/// Writes ascending pairs as the distances between their places among all pairs of their graph.
#[derive(Default)]
pub(super) struct PairWriter(Vec<u8>);

impl PairWriter {
    /// Adds the pairs of a graph.
    pub(super) fn add(&mut self, nodes: usize, pairs: impl Iterator<Item = (u32, u32)>) {
        let mut next = 0;
        for (low, high) in pairs {
            let place = row_start(nodes, low as usize) + (high - low) as usize - 1;
            let mut distance = (place - next) as u64;
            while distance >= 0x80 {
                self.0.push(distance as u8 | 0x80);
                distance >>= 7;
            }
            self.0.push(distance as u8);
            next = place + 1;
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        compressed(&self.0)
    }
}

/// Reads what [`PairWriter`] wrote.
pub(super) struct PairReader<'f>(Bytes<BufReader<ZlibDecoder<&'f [u8]>>>);

impl<'f> PairReader<'f> {
    pub(super) fn new(bytes: &'f [u8]) -> PairReader<'f> {
        PairReader(BufReader::new(ZlibDecoder::new(bytes)).bytes())
    }

    /// The next so many pairs, of one graph. `None` where these are not in the bytes.
    pub(super) fn read(&mut self, nodes: usize, count: usize) -> Option<Vec<(u32, u32)>> {
        let all = nodes.checked_mul(nodes.saturating_sub(1))? / 2;
        let mut pairs = Vec::new();
        let mut next = 0usize;
        for _ in 0..count {
            let place = next.checked_add(usize::try_from(self.distance()?).ok()?).filter(|&place| place < all)?;
            pairs.push(pair_at(nodes, place));
            next = place + 1;
        }
        Some(pairs)
    }

    fn distance(&mut self) -> Option<u64> {
        let (mut distance, mut shift) = (0u64, 0);
        while shift < 63 {
            let byte = self.0.next()?.ok()?;
            distance |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(distance);
            }
            shift += 7;
        }
        None
    }

    /// Whether all was read.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.0.next().is_none()
    }
}

/// What one number a node foretells of all pairs of a graph, row after row: the sum of those of its ends, fitted to the pairs
/// that may flip; or nothing where that would not help.
#[derive(Default)]
pub(super) struct Separable {
    of_nodes: Vec<f32>,
}

impl Separable {
    /// Fits all pairs of a graph.
    pub(super) fn fit(nodes: usize, triangle: &[f32]) -> Separable {
        let positive = triangle.par_iter().filter(|p| **p > 0.0).count();
        if 2 * positive < triangle.len() || nodes < 8 {
            return Separable::default();
        }
        let stride = (nodes / PARTNERS).max(1);
        let mut of_nodes = vec![0.0f64; nodes];
        for _ in 0..SWEEPS {
            let (mut sums, mut counts) = (vec![0.0f64; nodes], vec![0.0f64; nodes]);
            for low in 0..nodes {
                let row = &triangle[row_start(nodes, low)..row_start(nodes, low + 1)];
                let (mut sum, mut count) = (0.0, 0.0);
                for (high, &p) in (low + 1..).zip(row).skip(low % stride).step_by(stride) {
                    // A pair that is likely to flip is one of another kind, mostly an edge.
                    if p > 0.0 && p < 0.5 {
                        let p = f64::from(p);
                        sum += p - of_nodes[high];
                        count += 1.0;
                        sums[high] += p - of_nodes[low];
                        counts[high] += 1.0;
                    }
                }
                sums[low] += sum;
                counts[low] += count;
            }
            for ((a, sum), count) in of_nodes.iter_mut().zip(sums).zip(counts) {
                // Half the way: both ends of a pair move at once.
                *a += 0.5 * (sum / f64::max(count, 1.0) - *a);
            }
        }
        Separable { of_nodes: of_nodes.into_iter().map(|a| a as f32).collect() }
    }

    /// As it was written: nothing, or a finite number for each of the nodes.
    pub(super) fn from_nodes(of_nodes: Vec<f32>, nodes: usize) -> Option<Separable> {
        let valid = of_nodes.is_empty() || of_nodes.len() == nodes && of_nodes.iter().all(|a| a.is_finite());
        valid.then_some(Separable { of_nodes })
    }

    pub(super) fn of_nodes(&self) -> &[f32] {
        &self.of_nodes
    }

    /// What is foretold of a pair by its place.
    fn at(&self, place: usize) -> f32 {
        if self.of_nodes.is_empty() {
            return 0.0;
        }
        let (low, high) = pair_at(self.of_nodes.len(), place);
        (self.of_nodes[low as usize] + self.of_nodes[high as usize]).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bits, code, decoded, rounded};

    #[test]
    fn rounding_loses_less_than_one_part_in_five_hundred() {
        for step in 0..200_000u32 {
            let p = f32::from_bits(0x3f80_0000 - step * 1307);
            let near = rounded(p);
            assert!(near <= p && (p < 4.7e-10 || near >= p * (1.0 - 1.0 / 512.0)), "{p} {near}");
            assert_eq!(decoded(code(near)), Some(near));
            assert_eq!(rounded(near), near);
            for foretold in [0.0, 0.3, p, 1.0] {
                for (bits, value) in [(Bits::Rounded, near), (Bits::Single, p)] {
                    assert_eq!(bits.value(bits.residual(value, foretold), foretold), Some(value));
                }
            }
        }
        assert_eq!((rounded(0.0), rounded(1.0), rounded(0.5)), (0.0, 1.0, 0.5));
        assert_eq!(decoded(u16::MAX), None);
    }
}
