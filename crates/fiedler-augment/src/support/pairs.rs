//! Chosen node pairs: the edges, or the edges and candidates for addition. Cost and memory grow with their number.

use std::ops::Range;

use fiedler_graph::Graph;
use rayon::prelude::*;

use super::{Mass, Power, Rise, Support, parts};
use crate::kernel::PairKernel;

/// Set in an entry of `others` when the pair is an edge; ids use the other 31 bits.
const EDGE: u32 = 1 << 31;

/// A sorted list of pairs `(low, high)`, in rows by their lower node.
#[derive(Debug, Clone)]
pub struct Pairs {
    offsets: Vec<usize>,
    others: Vec<u32>,
    values: Vec<f32>,
    shift: f32,
    parts: Vec<Range<usize>>,
}

impl Pairs {
    /// The edges of a graph and further pairs that are no edges, all values zero. Candidates are `(low, high)`, sorted.
    pub fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Pairs {
        let mut offsets = Vec::with_capacity(graph.nodes() + 1);
        let mut others = Vec::with_capacity(graph.edges() + candidates.len());
        let mut rest = candidates;
        offsets.push(0);
        for node in 0..graph.nodes() as u32 {
            let (mine, after) = rest.split_at(rest.partition_point(|pair| pair.0 == node));
            rest = after;
            let mut edges = graph.higher(node).iter().copied().peekable();
            for &(_, candidate) in mine {
                while let Some(edge) = edges.next_if(|&edge| edge < candidate) {
                    others.push(edge | EDGE);
                }
                debug_assert!(edges.peek() != Some(&candidate), "a candidate is no edge");
                others.push(candidate);
            }
            others.extend(edges.map(|edge| edge | EDGE));
            offsets.push(others.len());
        }
        let parts = parts(graph.nodes(), others.len(), |row| offsets[row + 1] - offsets[row]);
        let values = vec![0.0; others.len()];
        Pairs { offsets, others, values, shift: 0.0, parts }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.others.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// Sets every value, in the order of pairs.
    pub fn fill(&mut self, mut value: impl FnMut() -> f32) {
        self.values.iter_mut().for_each(|slot| *slot = value());
        self.shift = 0.0;
    }

    /// Every pair `(low, high, whether it is an edge, probability)`, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, bool, f32)> + '_ {
        (0..self.nodes()).flat_map(move |row| {
            let range = self.offsets[row]..self.offsets[row + 1];
            range.map(move |at| (row as u32, self.others[at] & !EDGE, self.others[at] & EDGE != 0, self.x(at)))
        })
    }

    fn x(&self, at: usize) -> f32 {
        (self.values[at] - self.shift).clamp(0.0, 1.0)
    }

    fn entries(&self, part: &Range<usize>) -> Range<usize> {
        self.offsets[part.start]..self.offsets[part.end]
    }
}

impl Support for Pairs {
    fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        let nodes = self.nodes();
        let partial: Vec<Vec<f64>> = self
            .parts
            .par_iter()
            .map(|part| {
                // Partners are higher than the row, so nothing falls before the part.
                let mut sums = vec![0.0f64; nodes - part.start];
                for row in part.clone() {
                    let (own, mut total) = (factor[row], 0.0);
                    for at in self.offsets[row]..self.offsets[row + 1] {
                        let x = f64::from(self.x(at));
                        let other = (self.others[at] & !EDGE) as usize;
                        let weight = if self.others[at] & EDGE != 0 { 1.0 - x } else { x };
                        let term = if power == Power::Two { weight * weight } else { weight };
                        total += term * factor[other];
                        sums[other - part.start] += term * own;
                    }
                    sums[row - part.start] += total;
                }
                sums
            })
            .collect();
        let mut sums = vec![0.0; nodes];
        for (part, partial) in self.parts.iter().zip(partial) {
            for (sum, value) in sums[part.start..].iter_mut().zip(partial) {
                *sum += value;
            }
        }
        sums
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let (offsets, others, shift) = (&self.offsets, &self.others, self.shift);
        let mut rest = self.values.as_mut_slice();
        let mut split = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (mine, after) = rest.split_at_mut(offsets[part.end] - offsets[part.start]);
            rest = after;
            split.push((part.clone(), mine));
        }
        split.into_par_iter().for_each(|(part, values)| {
            let first = offsets[part.start];
            for row in part {
                for at in offsets[row]..offsets[row + 1] {
                    let value = &mut values[at - first];
                    let x = f64::from((*value - shift).clamp(0.0, 1.0));
                    let other = (others[at] & !EDGE) as usize;
                    let moved = if others[at] & EDGE != 0 {
                        x - rate * kernel.at(row, other, 1.0 - x)
                    } else {
                        x + rate * kernel.at(row, other, x)
                    };
                    *value = moved.max(0.0) as f32;
                }
            }
        });
        self.shift = 0.0;
    }

    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise {
        self.iter().fold(Rise::default(), |rise, (low, high, edge, x)| {
            let (low, high, x) = (low as usize, high as usize, f64::from(x));
            let derivative = if edge { -kernel.at(low, high, 1.0 - x) } else { kernel.at(low, high, x) };
            rise.with(sign * derivative)
        })
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let shift = shift as f32;
        let partial: Vec<(f64, f64)> = self
            .parts
            .par_iter()
            .map(|part| {
                self.values[self.entries(part)].iter().fold((0.0, 0.0), |(sum, inside), value| {
                    let x = (value - shift).clamp(0.0, 1.0);
                    (sum + f64::from(x), inside + f64::from(u8::from(x > 0.0 && x < 1.0)))
                })
            })
            .collect();
        partial.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn shift(&self) -> f64 {
        f64::from(self.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.shift = shift as f32;
    }

    fn mass(&self) -> Mass {
        let mut mass = Mass::default();
        for (_, _, edge, x) in self.iter() {
            if edge { mass.removed += f64::from(x) } else { mass.added += f64::from(x) }
        }
        mass
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        self.iter().for_each(|(low, high, edge, x)| visit(low, high, edge, x));
    }

    fn bytes(&self) -> u64 {
        (self.offsets.len() * size_of::<usize>() + self.others.len() * 8) as u64
    }
}
