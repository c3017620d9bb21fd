//! The expected graph of a support as a sparse matrix.

use fiedler_graph::random::stream;
use fiedler_spectral::Rows;
use rand::RngExt;

use crate::kernel::SMALLEST_DEGREE;
use crate::support::{Power, Support};

/// The expected graph of a support: every pair that has a weight, from both ends.
pub(crate) struct Expected {
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    values: Vec<f64>,
}

impl Expected {
    /// The expected graph, with symmetric noise of the given size on all pairs of the support, but for nodes without edges: normalized by a
    /// degree that is nothing but noise, it would be no longer small.
    pub(crate) fn of(support: &impl Support, noise: f64, seed: u64) -> Expected {
        let weight = |edge: bool, x: f32| if edge { 1.0 - f64::from(x) } else { f64::from(x) };
        let counts = |edge: bool, x: f32| noise > 0.0 || weight(edge, x) > 0.0;
        let degrees = if noise > 0.0 { support.sums(Power::One, &vec![1.0; support.num_nodes()]) } else { Vec::new() };
        let mut offsets = vec![0usize; support.num_nodes() + 1];
        support.visit(&mut |low, high, edge, x| {
            if counts(edge, x) {
                offsets[low as usize + 1] += 1;
                offsets[high as usize + 1] += 1;
            }
        });
        for node in 1..offsets.len() {
            offsets[node] += offsets[node - 1];
        }
        let total = offsets.last().copied().unwrap_or(0);
        let (mut neighbors, mut values) = (vec![0u32; total], vec![0.0; total]);
        let mut next = offsets.clone();
        let mut random = stream(seed, "noise", 0);
        support.visit(&mut |low, high, edge, x| {
            if !counts(edge, x) {
                return;
            }
            let mut weight = weight(edge, x);
            if noise > 0.0 {
                let of_pair = noise * (random.random::<f64>() + random.random::<f64>()) / 2.0;
                if [low, high].iter().all(|&node| degrees[node as usize] > SMALLEST_DEGREE) {
                    weight += of_pair;
                }
            }
            for (node, other) in [(low, high), (high, low)] {
                let place = &mut next[node as usize];
                neighbors[*place] = other;
                values[*place] = weight;
                *place += 1;
            }
        });
        Expected { offsets, neighbors, values }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { offsets: &self.offsets, neighbors: &self.neighbors, values: &self.values, self_loops: None }
    }
}
