//! Personalised PageRank from each node by pushing: only what matters is ever looked at (Andersen, Chung, Lang 2006).

use std::collections::VecDeque;

use fiedler_spectral::{Normalized, SymmetricMap};
use rayon::prelude::*;

/// Approximates rows of `α (I - (1 - α) M)^-1`, M being symmetric.
///
/// Of what is still to be spread, every node holds less than `tolerance · √(d_start d_node)` in the end. So all values are too
/// low, and by no more than that. A start costs at most about `1 / (α · tolerance)` steps, whatever the size of the graph.
pub(super) struct Push<'a> {
    pub(super) map: &'a Normalized<'a>,
    pub(super) teleport: f64,
    pub(super) tolerance: f64,
}

/// The largest entries of a row.
pub(super) struct Row {
    /// On the diagonal.
    pub(super) own: f64,
    /// Elsewhere, by ascending column.
    pub(super) others: Vec<(u32, f32)>,
}

/// What is known of the nodes met so far; cleared after each start.
struct Scratch {
    reached: Vec<f64>,
    waiting: Vec<f64>,
    is_queued: Vec<bool>,
    is_met: Vec<bool>,
    met: Vec<u32>,
    queue: VecDeque<u32>,
}

impl Push<'_> {
    /// The rows of all nodes, each with at most `most` entries above `least` beside the diagonal.
    pub(super) fn rows(&self, most: usize, least: f64) -> Vec<Row> {
        let nodes = self.map.size();
        (0..nodes as u32)
            .into_par_iter()
            .map_init(|| Scratch::new(nodes), |scratch, start| self.row(start, most, least, scratch))
            .collect()
    }

    fn row(&self, start: u32, most: usize, least: f64, scratch: &mut Scratch) -> Row {
        self.spread(start, scratch);
        let own = scratch.reached[start as usize];
        let worth = |&node: &u32| (node, scratch.reached[node as usize]);
        let kept = |&(node, value): &(u32, f64)| node != start && value > least && value as f32 > 0.0;
        let mut others: Vec<(u32, f64)> = scratch.met.iter().map(worth).filter(kept).collect();
        if others.len() > most {
            others.select_nth_unstable_by(most, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            others.truncate(most);
        }
        others.sort_unstable_by_key(|&(node, _)| node);
        scratch.clear();
        Row { own, others: others.into_iter().map(|(node, value)| (node, value as f32)).collect() }
    }

    fn spread(&self, start: u32, scratch: &mut Scratch) {
        let degrees = self.map.degrees();
        let scale = self.tolerance * degrees[start as usize].sqrt();
        scratch.meet(start);
        scratch.waiting[start as usize] = 1.0;
        scratch.queue.push_back(start);
        while let Some(node) = scratch.queue.pop_front() {
            let at = node as usize;
            scratch.is_queued[at] = false;
            // What a node passes to itself time and again is summed at once.
            let amount = scratch.waiting[at] / (1.0 - (1.0 - self.teleport) * self.map.diagonal()[at]);
            scratch.waiting[at] = 0.0;
            scratch.reached[at] += self.teleport * amount;
            let (neighbors, entries) = self.map.row(at);
            for (&other, &entry) in neighbors.iter().zip(entries) {
                scratch.meet(other);
                let to = other as usize;
                scratch.waiting[to] += (1.0 - self.teleport) * entry * amount;
                if !scratch.is_queued[to] && scratch.waiting[to] >= scale * degrees[to].sqrt() {
                    scratch.is_queued[to] = true;
                    scratch.queue.push_back(other);
                }
            }
        }
    }
}

impl Scratch {
    fn new(nodes: usize) -> Scratch {
        Scratch {
            reached: vec![0.0; nodes],
            waiting: vec![0.0; nodes],
            is_queued: vec![false; nodes],
            is_met: vec![false; nodes],
            met: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    fn meet(&mut self, node: u32) {
        if !self.is_met[node as usize] {
            self.is_met[node as usize] = true;
            self.met.push(node);
        }
    }

    fn clear(&mut self) {
        for node in self.met.drain(..) {
            self.reached[node as usize] = 0.0;
            self.waiting[node as usize] = 0.0;
            self.is_met[node as usize] = false;
        }
    }
}
