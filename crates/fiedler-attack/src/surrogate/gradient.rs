//! The derivative of an attack loss by the weight of any pair.
//!
//! The derivative F̄ of the loss by `F = Â² X` has rank one for each class, `F̄ = R Θᵀ`, but for the rows of training nodes, which have a
//! part E that comes through the training. With `C = F̄ Xᵀ + X F̄ᵀ` and `Γ = Â C + C Â` the derivative by the pair {i, j} is
//! `Γ_ij / √(d̃_i d̃_j) − s_i − s_j`, where `s_i = Σ_l Γ_il Â_il / 2 d̃_i`.

use fiedler_spectral::{Normalized, SymmetricMap};
use rayon::prelude::*;

use super::self_training::propagate;
use super::visit_row;
use crate::feature_rows::FeatureRows;
use crate::matrix::{Matrix, add_scaled, dot};

/// Training nodes whose products are computed together.
const TOGETHER: usize = 16;

/// The derivative by pairs, ready to be asked for any of them.
pub(crate) struct PairGradient<'a> {
    /// `[ÂR, ÂY, Y, R]` with `Y = XΘ`, a row a node; its product with `mirrored` is the low-rank part of Γ.
    pub factors: Matrix,
    /// `[Y, R, ÂR, ÂY]`.
    pub mirrored: Matrix,
    pub part: Option<TrainingPart<'a>>,
    /// `1 / √d̃`.
    pub roots: Vec<f64>,
    /// s.
    pub pull: Vec<f64>,
}

/// What comes through the training.
pub(crate) struct TrainingPart<'a> {
    map: &'a Normalized<'a>,
    features: &'a FeatureRows,
    /// E: a row a training node.
    rows: Matrix,
    /// The place of a node among the training nodes.
    pub place: Vec<Option<u32>>,
    /// For each node, which training nodes are next to it or the node itself, with the entries of Â.
    near_start: Vec<usize>,
    near: Vec<(u32, f64)>,
    tables: Option<Tables>,
}

/// Products for all nodes at once.
struct Tables {
    /// `E Xᵀ`.
    plain: Matrix,
    /// `E Xᵀ Â`.
    propagated: Matrix,
}

impl<'a> TrainingPart<'a> {
    pub fn new(
        map: &'a Normalized<'a>,
        features: &'a FeatureRows,
        nodes: &[u32],
        rows: Matrix,
        tables: bool,
    ) -> TrainingPart<'a> {
        let mut place = vec![None; map.size()];
        nodes.iter().enumerate().for_each(|(at, &node)| place[node as usize] = Some(at as u32));
        let (mut near_start, mut near) = (vec![0], Vec::new());
        for node in 0..map.size() {
            visit_row(map, node, |other, value| near.extend(place[other].map(|at| (at, value))));
            near_start.push(near.len());
        }
        let tables = tables.then(|| Tables::new(map, features, &rows));
        TrainingPart { map, features, rows, place, near_start, near, tables }
    }

    /// Training nodes next to a node.
    fn near(&self, node: usize) -> &[(u32, f64)] {
        &self.near[self.near_start[node]..self.near_start[node + 1]]
    }

    /// Entry of `Â E Xᵀ + E Xᵀ Â`, E being zero but in the rows of training nodes.
    fn at(&self, i: usize, j: usize) -> f64 {
        let mut sum = 0.0;
        match &self.tables {
            Some(Tables { plain, propagated }) => {
                self.near(i).iter().for_each(|&(at, weight)| sum += weight * plain.row(at as usize)[j]);
                self.place[i].iter().for_each(|&at| sum += propagated.row(at as usize)[j]);
            }
            None => {
                for &(at, weight) in self.near(i) {
                    sum += weight * self.features.dot(j, self.rows.row(at as usize));
                }
                if let Some(at) = self.place[i] {
                    let row = self.rows.row(at as usize);
                    visit_row(self.map, j, |other, value| sum += value * self.features.dot(other, row));
                }
            }
        }
        sum
    }

    /// Adds the entries of row `i` in the columns from `first`; only with tables.
    pub fn add_row(&self, i: usize, first: usize, mut add: impl FnMut(f64, &[f64])) {
        if let Some(Tables { plain, propagated }) = &self.tables {
            self.near(i).iter().for_each(|&(at, weight)| add(weight, &plain.row(at as usize)[first..]));
            self.place[i].iter().for_each(|&at| add(1.0, &propagated.row(at as usize)[first..]));
        }
    }
}

impl Tables {
    fn new(map: &Normalized<'_>, features: &FeatureRows, rows: &Matrix) -> Tables {
        let (nodes, columns) = (map.size(), features.columns());
        let mut plain = Matrix::zeros(rows.rows(), nodes);
        plain.values_mut().par_chunks_mut(TOGETHER * nodes).enumerate().for_each(|(tile, to)| {
            let here = to.len() / nodes;
            let mut turned = vec![0.0; columns * TOGETHER];
            for at in 0..here {
                for (column, &value) in rows.row(tile * TOGETHER + at).iter().enumerate() {
                    turned[column * TOGETHER + at] = value;
                }
            }
            for node in 0..nodes {
                let mut sums = [0.0; TOGETHER];
                let (indices, values) = features.row(node);
                for (&column, &value) in indices.iter().zip(values) {
                    let start = column as usize * TOGETHER;
                    add_scaled(&mut sums, value, &turned[start..start + TOGETHER]);
                }
                (0..here).for_each(|at| to[at * nodes + node] = sums[at]);
            }
        });
        let mut propagated = Matrix::zeros(rows.rows(), nodes);
        propagated.values_mut().par_chunks_mut(nodes).enumerate().for_each(|(at, to)| {
            let row = plain.row(at);
            for (node, to) in to.iter_mut().enumerate() {
                visit_row(map, node, |other, value| *to += value * row[other]);
            }
        });
        Tables { plain, propagated }
    }
}

impl<'a> PairGradient<'a> {
    /// `residual` is R and `scores` is Y, a row a node each.
    pub fn new(
        map: &Normalized<'_>,
        residual: Matrix,
        scores: Matrix,
        part: Option<TrainingPart<'a>>,
    ) -> PairGradient<'a> {
        let (residual_image, scores_image) = (propagate(map, &residual), propagate(map, &scores));
        let factors = Matrix::beside(&[&residual_image, &scores_image, &scores, &residual]);
        let mirrored = Matrix::beside(&[&scores, &residual, &residual_image, &scores_image]);
        let roots = map.degrees().iter().map(|degree| 1.0 / degree.sqrt()).collect();
        let mut gradient = PairGradient { factors, mirrored, part, roots, pull: Vec::new() };
        let pull = |node: usize| {
            let mut sum = 0.0;
            visit_row(map, node, |other, value| sum += value * gradient.gamma(node, other));
            sum / (2.0 * map.degrees()[node])
        };
        gradient.pull = (0..map.size()).into_par_iter().map(pull).collect();
        gradient
    }

    /// An entry of Γ.
    fn gamma(&self, i: usize, j: usize) -> f64 {
        let low_rank = dot(self.factors.row(i), self.mirrored.row(j));
        low_rank + self.part.as_ref().map_or(0.0, |part| part.at(i, j) + part.at(j, i))
    }

    /// The derivative by the weight of a pair, both directions moving together.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.gamma(i, j) * self.roots[i] * self.roots[j] - self.pull[i] - self.pull[j]
    }
}
