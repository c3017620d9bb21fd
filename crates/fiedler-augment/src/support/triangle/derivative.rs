//! What the derivative of an objective does to the triangle: how strongly it pulls at the values, and where it moves them.
//!
//! Most of a row streams, as if all of its pairs were light non-edges; edges, and pairs that are not light where the objective asks for
//! it, come after.

use std::ops::Range;

use fiedler_graph::Graph;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;

use super::super::low_rank::LowRankRows;
use super::super::measure::PartMeasure;
use super::super::stream::{Advance, Pull, Terms};
use super::super::{Clamp, LIGHT, Rise, Support};
use super::{Triangle, row_start, split_parts};
use crate::kernel::{ColumnFactors, PairKernel};

impl Triangle<'_> {
    /// Moves values from where they are taken (in place, when that is nowhere) and measures the result at the shift that its
    /// projection may need.
    pub(super) fn advance_from(&mut self, held: Option<(&[f32], f32)>, kernel: &PairKernel, rate: f64, guess: f64) {
        let nodes = self.num_nodes();
        let columns = ColumnFactors::new(kernel, rate);
        let clamp = self.clamp.at(held.map_or(self.clamp.shift, |(_, shift)| shift));
        let expected = guess as f32;
        let (graph, arch) = (self.graph, Arch::new());
        let measures = split_parts(&mut self.values, &self.parts, nodes).into_par_iter().map(|(part, mut rest)| {
            let mut measure = PartMeasure::new(graph, part.start, clamp.at(expected), true);
            let mut low_rank = kernel.low_rank.as_ref().map(|low_rank| LowRankRows::new(low_rank, nodes));
            let (mut scratch, mut specials) = (Vec::new(), Vec::new());
            for row in part.clone() {
                let (values, after) = rest.split_at_mut(nodes - row - 1);
                rest = after;
                let from: &[f32] = match held {
                    Some((held, _)) => &held[row_start(nodes, row)..][..values.len()],
                    None => {
                        scratch.clear();
                        scratch.extend_from_slice(values);
                        &scratch
                    }
                };
                let terms = terms(kernel, &columns, row, row + 1..nodes, rate);
                if kernel.has_middle() {
                    arch.dispatch(Advance::<true> { from, values, clamp, terms });
                } else {
                    arch.dispatch(Advance::<false> { from, values, clamp, terms });
                }
                if let Some(low_rank) = &mut low_rank {
                    for (value, term) in values.iter_mut().zip(low_rank.row(row, part.end)) {
                        *value += rate as f32 * term;
                    }
                }
                find_specials(graph, kernel, row, from, clamp, &mut specials);
                for &Special { place, edge, x } in &specials {
                    let other = row + 1 + place;
                    let derivative = match edge {
                        true => -kernel.at_edge(row, other, f64::from(1.0 - x)),
                        false => kernel.at(row, other, f64::from(x)),
                    };
                    values[place] = (f64::from(x) + rate * derivative) as f32;
                }
                measure.add(row, values);
            }
            measure
        });
        let measured = PartMeasure::join(measures.collect(), expected);
        self.clamp.shift = 0.0;
        self.measured = Some(measured);
    }

    /// As [`Support::rise`].
    pub(super) fn rise_of(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        let columns = ColumnFactors::new(kernel, sign);
        let (nodes, clamp, arch) = (self.num_nodes(), self.clamp, Arch::new());
        let of_pair = |rise: Rise, row: usize, special: Special| {
            let Special { place, edge, x } = special;
            let (x, other) = (f64::from(x), row + 1 + place);
            let derivative = if edge { -kernel.at_edge(row, other, 1.0 - x) } else { kernel.at(row, other, x) };
            rise.with(sign * derivative, x, threshold)
        };
        let of_stretch = |row: usize, places: Range<usize>| {
            let values = &self.row(row)[places.clone()];
            let terms = terms(kernel, &columns, row, places.start + row + 1..places.end + row + 1, sign);
            let threshold = threshold as f32;
            if kernel.has_middle() {
                arch.dispatch(Pull::<true> { values, clamp, terms, threshold })
            } else {
                arch.dispatch(Pull::<false> { values, clamp, terms, threshold })
            }
        };
        let of_row = |row: usize, matrix: Option<&[f32]>, specials: &mut Vec<Special>| -> Rise {
            let values = self.row(row);
            if let Some(matrix) = matrix {
                let mut edges = self.graph.higher(row as u32).iter().copied().peekable();
                return (row + 1..nodes).zip(matrix).zip(values).fold(
                    Rise::default(),
                    |rise, ((other, &term), &value)| {
                        let edge = edges.next_if_eq(&(other as u32)).is_some();
                        let x = f64::from(clamp.of(value));
                        let (weight, side) = if edge { (1.0 - x, -sign) } else { (x, sign) };
                        let derivative = kernel.without_matrix(row, other, weight) + f64::from(term);
                        rise.with(side * derivative, x, threshold)
                    },
                );
            }
            find_specials(self.graph, kernel, row, values, clamp, specials);
            let mut rise = Rise::default();
            let mut next = 0;
            for &special in specials.iter() {
                rise = of_pair(rise.and(of_stretch(row, next..special.place)), row, special);
                next = special.place + 1;
            }
            rise.and(of_stretch(row, next..nodes - row - 1))
        };
        let of_part = |part: &Range<usize>| {
            let mut matrix = kernel.low_rank.as_ref().map(|matrix| LowRankRows::new(matrix, nodes));
            let mut specials = Vec::new();
            part.clone().fold(Rise::default(), |rise, row| {
                let matrix = matrix.as_mut().map(|matrix| matrix.row(row, part.end));
                rise.and(of_row(row, matrix, &mut specials))
            })
        };
        let of_parts: Vec<Rise> = self.parts.par_iter().map(of_part).collect();
        of_parts.into_iter().fold(Rise::default(), Rise::and)
    }
}

/// The part of the derivative that streams over a stretch of a row.
fn terms<'c>(
    kernel: &PairKernel,
    columns: &'c ColumnFactors,
    row: usize,
    others: Range<usize>,
    rate: f64,
) -> Terms<'c> {
    let of = |numbers: &'c [f32]| if numbers.is_empty() { numbers } else { &numbers[others.clone()] };
    Terms {
        row: kernel.row(row, rate),
        inverses: of(&columns.inverses),
        pulls: of(&columns.pulls),
        seconds: of(&columns.seconds),
        bends: of(&columns.bends),
    }
}

/// A pair whose derivative is not what the stream over its row takes it for.
#[derive(Debug, Clone, Copy)]
struct Special {
    /// Its place in the row.
    place: usize,
    edge: bool,
    x: f32,
}

/// The edges of a row and, where the objective asks for it, other pairs that are not light, in ascending order.
fn find_specials(
    graph: &Graph,
    kernel: &PairKernel,
    row: usize,
    values: &[f32],
    clamp: Clamp,
    specials: &mut Vec<Special>,
) {
    const BLOCK: usize = 64;
    specials.clear();
    let mut edges = graph.higher(row as u32).iter().map(|&other| other as usize - row - 1).peekable();
    let special = |place: usize, edge: bool| Special { place, edge, x: clamp.of(values[place]) };
    if kernel.has_middle() {
        let bound = clamp.shift + LIGHT;
        for (block, of_block) in values.chunks(BLOCK).enumerate() {
            if of_block.iter().fold(0.0, |largest: f32, &value| largest.max(value)) <= bound {
                continue;
            }
            for (place, &value) in (block * BLOCK..).zip(of_block) {
                if clamp.of(value) > LIGHT {
                    while let Some(edge) = edges.next_if(|&edge| edge < place) {
                        specials.push(special(edge, true));
                    }
                    specials.push(special(place, edges.next_if_eq(&place).is_some()));
                }
            }
        }
    }
    specials.extend(edges.map(|place| special(place, true)));
}
