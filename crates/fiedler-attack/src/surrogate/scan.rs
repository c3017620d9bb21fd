//! The best pairs of all, found tile by tile: nothing of the size of all pairs is kept.

use std::cmp::Ordering;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use fiedler_graph::Graph;
use rayon::prelude::*;

use super::gradient::PairGradient;
use crate::flips::PoisonedGraph;

/// Rows and columns of a tile: its numbers and those it is made from stay in the cache.
const TILE_ROWS: usize = 64;
const TILE_COLUMNS: usize = 256;

/// A pair and what flipping it promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub score: f64,
    pub low: u32,
    pub high: u32,
}

impl Candidate {
    /// Better first; of equal ones the smaller pair.
    pub fn order(&self, other: &Candidate) -> Ordering {
        other.score.total_cmp(&self.score).then((self.low, self.high).cmp(&(other.low, other.high)))
    }
}

/// The best candidates, better first, at most a fixed number.
pub(crate) struct Best {
    room: usize,
    found: Vec<Candidate>,
}

impl Best {
    pub fn new(room: usize) -> Best {
        Best { room, found: Vec::new() }
    }

    /// A score that a candidate must reach to be taken.
    pub fn threshold(&self) -> f64 {
        match self.found.last().filter(|_| self.found.len() >= self.room) {
            Some(last) => last.score,
            None => f64::NEG_INFINITY,
        }
    }

    pub fn offer(&mut self, candidate: Candidate) {
        let place = self.found.partition_point(|known| known.order(&candidate).is_lt());
        if place < self.room {
            self.found.truncate(self.room - 1);
            self.found.insert(place, candidate);
        }
    }

    pub fn merge(mut self, other: Best) -> Best {
        other.found.into_iter().for_each(|candidate| self.offer(candidate));
        self
    }

    pub fn into_candidates(self) -> Vec<Candidate> {
        self.found
    }
}

/// The `count` pairs whose flip promises most, of those that may be flipped. `graph` is the poisoned graph as it is now.
pub(crate) fn best_pairs(
    gradient: &PairGradient<'_>,
    graph: &Graph,
    poisoned: &PoisonedGraph<'_>,
    count: usize,
) -> Vec<Candidate> {
    let nodes = graph.num_nodes();
    let blocks: Vec<usize> = (0..nodes).step_by(TILE_ROWS).collect();
    let scan = Scan { gradient, graph, poisoned };
    let found = blocks.par_iter().map(|&first| scan.rows(first, TILE_ROWS.min(nodes - first), count));
    found.reduce(|| Best::new(count), Best::merge).into_candidates()
}

struct Scan<'a> {
    gradient: &'a PairGradient<'a>,
    graph: &'a Graph,
    poisoned: &'a PoisonedGraph<'a>,
}

impl Scan<'_> {
    /// Pairs whose lower node is one of some rows.
    fn rows(&self, first: usize, rows: usize, count: usize) -> Best {
        let nodes = self.graph.num_nodes();
        let mut best = Best::new(count);
        let mut tile = Mat::<f64>::zeros(rows, TILE_COLUMNS);
        for left in (first..nodes).step_by(TILE_COLUMNS) {
            let columns = TILE_COLUMNS.min(nodes - left);
            self.fill(&mut tile, (first, rows), (left, columns));
            self.score(&mut tile, (first, rows), (left, columns));
            self.choose(&tile, (first, rows), (left, columns), &mut best);
        }
        best
    }

    /// Entries of Γ.
    fn fill(&self, tile: &mut Mat<f64>, (first, rows): (usize, usize), (left, columns): (usize, usize)) {
        let own = self.gradient.factors.view().subrows(first, rows);
        let others = self.gradient.mirrored.view().subrows(left, columns);
        matmul(tile.as_mut().subcols_mut(0, columns), Accum::Replace, own, others.transpose(), 1.0, Par::Seq);
        let Some(part) = &self.gradient.part else { return };
        for row in 0..rows {
            part.add_row(first + row, left, |weight, values| {
                for (column, value) in values[..columns].iter().enumerate() {
                    tile[(row, column)] += weight * value;
                }
            });
        }
        for column in 0..columns {
            let to = tile.col_as_slice_mut(column);
            part.add_row(left + column, first, |weight, values| {
                to.iter_mut().zip(values).for_each(|(to, value)| *to += weight * value);
            });
        }
    }

    /// Turns entries of Γ into what a flip promises: the derivative, with the other sign for edges.
    fn score(&self, tile: &mut Mat<f64>, (first, rows): (usize, usize), (left, columns): (usize, usize)) {
        let PairGradient { roots, pull, .. } = self.gradient;
        let (own_roots, own_pull) = (&roots[first..first + rows], &pull[first..first + rows]);
        for column in 0..columns {
            let (root, pull) = (roots[left + column], pull[left + column]);
            let values = tile.col_as_slice_mut(column).iter_mut();
            for ((value, own_root), own_pull) in values.zip(own_roots).zip(own_pull) {
                *value = *value * own_root * root - own_pull - pull;
            }
        }
        for row in 0..rows {
            let neighbors = self.graph.higher((first + row) as u32);
            let start = neighbors.partition_point(|&other| (other as usize) < left);
            for &other in neighbors[start..].iter().take_while(|other| (**other as usize) < left + columns) {
                let value = &mut tile[(row, other as usize - left)];
                *value = -*value;
            }
        }
    }

    fn choose(&self, tile: &Mat<f64>, (first, rows): (usize, usize), (left, columns): (usize, usize), best: &mut Best) {
        let mut threshold = best.threshold();
        for column in 0..columns {
            let other = left + column;
            // Pairs are looked at from their lower node only.
            let below = rows.min(other.saturating_sub(first));
            for (row, &score) in tile.col_as_slice(column)[..below].iter().enumerate() {
                if score < threshold || score.is_nan() {
                    continue;
                }
                let candidate = Candidate { score, low: (first + row) as u32, high: other as u32 };
                if self.poisoned.allows(candidate.low, candidate.high) {
                    best.offer(candidate);
                    threshold = best.threshold();
                }
            }
        }
    }
}
