//! One part of a graph's pairs, where it is held.

use std::ops::Range;
use std::sync::Arc;

use fiedler_spectral::Operator;
use fiedler_spectral::simd::Arch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::pairs::{PIECE, PIECES, RiseOf};
use super::super::stream::Weigh;
use super::super::{Clamp, Moved, Pairs, PairsAround, Rise, Support};
use super::question::{self, Answer, Ask, Question, Told};
use crate::error::{Error, Result};
use crate::objective::SampledKernel;
use crate::objective::sampled::listed::{gather, products};
use crate::objective::sampled::{self, Quadrature};

/// A stretch of the nodes with the pairs around them, and a stretch of the pairs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    operator: Operator,
    most: f32,
    /// The nodes that it gathers for.
    nodes: Range<usize>,
    /// Lower and higher node of the pairs around these nodes and of those that it adds up over; and which of them are edges.
    ends: Vec<(u32, u32)>,
    edges: Vec<bool>,
    /// Those that it adds up over, all beside each other.
    own: Range<usize>,
    /// For every node where its pairs start, and the end of the last; and the pairs.
    starts: Vec<usize>,
    around: Vec<u32>,
    values: Vec<f32>,
    held: Option<Vec<f32>>,
}

impl Part {
    /// All parts of some pairs, as many as are asked for; of a small graph some are empty.
    pub(super) fn all(pairs: &Pairs, operator: Operator, count: usize) -> Vec<Part> {
        (0..count).map(|part| Part::new(pairs, operator, part, count)).collect()
    }

    fn new(pairs: &Pairs, operator: Operator, part: usize, count: usize) -> Part {
        let nodes = stretch(pairs.num_nodes(), sampled::PIECE, part, count);
        let places = stretch(pairs.len(), PIECE, part, count);
        let (all, clamp) = pairs.raw();
        let (mut ends, mut edges, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut own = 0..0;
        let mut starts = vec![0usize; nodes.len() + 1];
        pairs.in_place(|place, low, high, edge| {
            let is_own = places.contains(&place);
            let around = [low, high].map(|node| nodes.contains(&(node as usize)));
            if !is_own && !around[0] && !around[1] {
                return;
            }
            if is_own {
                own = if own.is_empty() { ends.len()..ends.len() + 1 } else { own.start..ends.len() + 1 };
            }
            for (node, _) in [low, high].into_iter().zip(around).filter(|(_, is_around)| *is_around) {
                starts[node as usize - nodes.start + 1] += 1;
            }
            ends.push((low, high));
            edges.push(edge);
            values.push(all[place]);
        });
        for node in 0..nodes.len() {
            starts[node + 1] += starts[node];
        }
        let mut around = vec![0u32; starts[nodes.len()]];
        let mut next = starts.clone();
        for (at, &(low, high)) in ends.iter().enumerate() {
            for node in [low as usize, high as usize].into_iter().filter(|node| nodes.contains(node)) {
                let next = &mut next[node - nodes.start];
                around[*next] = at as u32;
                *next += 1;
            }
        }
        Part { operator, most: clamp.most, nodes, ends, edges, own, starts, around, values, held: None }
    }

    /// Answers, and changes where that is asked for.
    ///
    /// # Errors
    /// When there is nothing held to go back to, or the question is about another graph.
    pub fn ask(&mut self, question: &Question) -> Result<Answer> {
        let clamp = Clamp { shift: question.shift, most: self.most };
        let before = clamp.at(question.held_shift);
        Ok(Answer(match &question.ask {
            Ask::Products => Told::Products(products(&self.weighed(clamp), self.operator)),
            Ask::Gather { nodes } => {
                self.check(nodes.len())?;
                Told::Gathered(gather(&self.weighed(clamp), self.nodes.start, nodes, self.operator))
            }
            Ask::Advance { quadrature, rate } => {
                let derivatives = self.derivatives(&self.values, clamp, quadrature)?;
                move_along(&mut self.values, None, &derivatives, clamp, *rate as f32);
                Told::Done
            }
            Ask::Attempt { is_current, quadrature, rate } => {
                if *is_current {
                    let other = self.held.take().unwrap_or_else(|| vec![0.0; self.values.len()]);
                    self.held = Some(std::mem::replace(&mut self.values, other));
                }
                let held = self.held.take().ok_or_else(nothing_held)?;
                let derivatives = self.derivatives(&held, before, quadrature)?;
                move_along(&mut self.values, Some(&held), &derivatives, before, *rate as f32);
                self.held = Some(held);
                Told::Done
            }
            Ask::Blend { share } => {
                let held = self.held.as_ref().ok_or_else(nothing_held)?;
                let values = self.values.iter_mut().zip(held);
                values.for_each(|(value, &held)| *value = clamp.blended(*value, before.of(held), *share));
                Told::Done
            }
            Ask::Restore => {
                let held = self.held.as_ref().ok_or_else(nothing_held)?;
                self.values.copy_from_slice(held);
                Told::Done
            }
            Ask::Release => {
                self.held = None;
                Told::Done
            }
            Ask::Moved => {
                let held = &self.held.as_ref().ok_or_else(nothing_held)?[self.own.clone()];
                let blocks = self.own_values().par_chunks(PIECE).zip(held.par_chunks(PIECE)).with_min_len(PIECES);
                Told::Moved(blocks.map(|(values, held)| Moved::of(values, held, clamp, before)).collect())
            }
            Ask::Rise { quadrature, sign, threshold } => {
                let derivatives = self.derivatives(&self.values, clamp, quadrature)?;
                let (arch, own) = (Arch::new(), &derivatives[self.own.clone()]);
                let pieces = self.own_values().par_chunks(PIECE).zip(own.par_chunks(PIECE)).with_min_len(PIECES);
                let of_piece = |(values, derivatives)| {
                    arch.dispatch(RiseOf { values, derivatives, clamp, sign: *sign, threshold: *threshold })
                };
                Told::Rises(pieces.map(of_piece).collect::<Vec<Rise>>())
            }
            Ask::Weigh { shift } => {
                let (arch, clamp) = (Arch::new(), clamp.at(*shift));
                let pieces = self.own_values().par_chunks(PIECE).with_min_len(PIECES);
                Told::Masses(pieces.map(|values| arch.dispatch(Weigh { values, clamp })).collect())
            }
            Ask::Values => Told::Values(self.own_values().to_vec()),
        }))
    }

    /// As it travels and is kept.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        question::to_bytes(self)
    }

    /// From what [`Part::to_bytes`] gave.
    ///
    /// # Errors
    /// When the bytes are no part.
    pub fn from_bytes(bytes: &[u8]) -> Result<Part> {
        question::from_bytes(bytes)
    }

    fn own_values(&self) -> &[f32] {
        &self.values[self.own.clone()]
    }

    fn check(&self, nodes: usize) -> Result<()> {
        let known = self.ends.iter().all(|&(_, high)| (high as usize) < nodes);
        if known { Ok(()) } else { Err(Error::parts(format!("a part has pairs beyond {nodes} nodes"))) }
    }

    /// The pairs around its nodes, with their expected weights.
    fn weighed(&self, clamp: Clamp) -> PairsAround {
        let mut around = vec![(0, 0.0); self.around.len()];
        let starts = &self.starts;
        let mut rest = around.as_mut_slice();
        let mut of_nodes = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let (mine, after) = rest.split_at_mut(starts[node + 1] - starts[node]);
            rest = after;
            of_nodes.push(mine);
        }
        let pieces = of_nodes.into_par_iter().enumerate().with_min_len(PIECE / 2);
        pieces.for_each(|(node, pairs)| {
            let own = (self.nodes.start + node) as u32;
            for (pair, &at) in pairs.iter_mut().zip(&self.around[starts[node]..starts[node + 1]]) {
                let (low, high) = self.ends[at as usize];
                *pair = (if low == own { high } else { low }, self.weight(at as usize, &self.values, clamp));
            }
        });
        PairsAround::of_starts(Arc::new(self.starts.clone()), around)
    }

    /// The expected weight of a pair.
    #[inline(always)]
    fn weight(&self, at: usize, values: &[f32], clamp: Clamp) -> f32 {
        (f32::from(u8::from(self.edges[at])) - clamp.of(values[at])).abs()
    }

    /// The derivative with respect to the probability of every pair.
    fn derivatives(&self, values: &[f32], clamp: Clamp, quadrature: &[Quadrature]) -> Result<Vec<f32>> {
        self.check(quadrature.len())?;
        let kernel = SampledKernel::of_quadrature(quadrature.to_vec());
        let (mut derivatives, arch) = (vec![0.0; values.len()], Arch::new());
        derivatives.par_chunks_mut(PIECE).enumerate().for_each(|(piece, derivatives)| {
            arch.dispatch(Derivatives {
                part: self,
                derivatives,
                first: piece * PIECE,
                values,
                clamp,
                kernel: &kernel,
            });
        });
        Ok(derivatives)
    }
}

/// The stretch of a part, which begins and ends with a piece.
fn stretch(all: usize, piece: usize, part: usize, count: usize) -> Range<usize> {
    let pieces = all.div_ceil(piece);
    let edge = |part: usize| (pieces * part / count * piece).min(all);
    edge(part)..edge(part + 1)
}

fn nothing_held() -> Error {
    Error::parts("no values are held")
}

/// Moves values along the derivative, from where they are or from others.
fn move_along(values: &mut [f32], from: Option<&[f32]>, derivatives: &[f32], clamp: Clamp, rate: f32) {
    match from {
        None => values.iter_mut().zip(derivatives).for_each(|(value, derivative)| {
            *value = clamp.of(*value) + rate * derivative;
        }),
        Some(from) => values.iter_mut().zip(from).zip(derivatives).for_each(|((value, &from), derivative)| {
            *value = clamp.of(from) + rate * derivative;
        }),
    }
}

/// The derivatives of some pairs, one after the other.
struct Derivatives<'a> {
    part: &'a Part,
    derivatives: &'a mut [f32],
    first: usize,
    values: &'a [f32],
    clamp: Clamp,
    kernel: &'a SampledKernel,
}

impl WithSimd for Derivatives<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let part = self.part;
        for (at, to) in (self.first..).zip(self.derivatives) {
            let ((low, high), weight) = (part.ends[at], part.weight(at, self.values, self.clamp));
            let of_weight = self.kernel.by_quadrature(simd, low as usize, high as usize, weight);
            *to = if part.edges[at] { -of_weight } else { of_weight };
        }
    }
}
