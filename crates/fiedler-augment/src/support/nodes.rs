//! Dropping nodes: one number for each node, which weakens all of its edges.

use fiedler_graph::Graph;

use super::{Clamp, From, Mass, Moved, Power, Rise, Support};
use crate::kernel::{PairKernel, SMALLEST_DEGREE};

/// The nodes of a graph. An edge is weakened by the mean of what its ends hold: `B = A ∘ (1 - P)`, `P_ij = (p_i + p_j) / 2`.
///
/// Masses are counted in nodes.
#[derive(Debug, Clone)]
pub struct Nodes<'g> {
    graph: &'g Graph,
    values: Vec<f32>,
    clamp: Clamp,
    held: Option<(Vec<f32>, f32)>,
}

impl<'g> Nodes<'g> {
    /// All nodes of a graph, with starting values.
    ///
    /// # Panics
    /// When there is not one value for each node.
    pub fn new(graph: &'g Graph, values: Vec<f32>) -> Nodes<'g> {
        assert_eq!(values.len(), graph.num_nodes(), "one value for each node");
        Nodes { graph, values, clamp: Clamp::default(), held: None }
    }

    /// The projected values.
    pub fn into_probabilities(self) -> Vec<f32> {
        (0..self.values.len()).map(|node| self.p(node)).collect()
    }

    fn p(&self, node: usize) -> f32 {
        self.clamp.of(self.values[node])
    }

    fn weakened(&self, low: u32, high: u32) -> f32 {
        (self.p(low as usize) + self.p(high as usize)) / 2.0
    }

    /// `∂F/∂p_i = -½ Σ_j A_ij ∂F/∂B_ij` for every node, over edges whose ends have any others left: where a node and all around it are
    /// dropped, what is left of its degree makes derivatives so large, and for so short a step, that no other node would move.
    fn derivatives(&self, kernel: &PairKernel) -> Vec<f64> {
        let degrees = self.sums(Power::One, &vec![1.0; self.values.len()]);
        let mut derivatives = vec![0.0; self.values.len()];
        for (low, high) in self.graph.edge_pairs() {
            if degrees[low as usize].min(degrees[high as usize]) < SMALLEST_DEGREE {
                continue;
            }
            let weight = 1.0 - f64::from(self.weakened(low, high));
            let half = kernel.at(low as usize, high as usize, weight) / 2.0;
            derivatives[low as usize] -= half;
            derivatives[high as usize] -= half;
        }
        derivatives
    }
}

impl Support for Nodes<'_> {
    fn num_nodes(&self) -> usize {
        self.values.len()
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.values.len()];
        for (low, high) in self.graph.edge_pairs() {
            let weight = 1.0 - f64::from(self.weakened(low, high));
            let term = if power == Power::Two { weight * weight } else { weight };
            sums[low as usize] += term * factor[high as usize];
            sums[high as usize] += term * factor[low as usize];
        }
        sums
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let derivatives = self.derivatives(kernel);
        for (node, derivative) in derivatives.into_iter().enumerate() {
            self.values[node] = (f64::from(self.p(node)) + rate * derivative) as f32;
        }
        self.clamp.shift = 0.0;
    }

    fn places(&self) -> usize {
        self.values.len()
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, _guess: f64) {
        match from {
            From::Current => self.held = Some((self.values.clone(), self.clamp.shift)),
            From::Held => self.restore(),
        }
        self.advance(kernel, rate);
    }

    fn blend(&mut self, share: f64) {
        let Some((held, shift)) = &self.held else { return };
        let (now, before) = (self.clamp, self.clamp.at(*shift));
        self.values
            .iter_mut()
            .zip(held)
            .for_each(|(value, &held)| *value = now.blended(*value, before.of(held), share));
        self.clamp.shift = 0.0;
    }

    fn restore(&mut self) {
        if let Some((values, shift)) = &self.held {
            self.values.clone_from(values);
            self.clamp.shift = *shift;
        }
    }

    fn release(&mut self) {
        self.held = None;
    }

    fn moved(&self) -> Moved {
        let Some((held, shift)) = &self.held else { return Moved::default() };
        Moved::of(&self.values, held, self.clamp, self.clamp.at(*shift))
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        let derivatives = self.derivatives(kernel).into_iter().enumerate();
        derivatives.fold(Rise::default(), |rise, (node, derivative)| {
            rise.with(sign * derivative, self.p(node).into(), threshold)
        })
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        self.values.iter_mut().for_each(|slot| *slot = value());
        (self.clamp.shift, self.held) = (0.0, None);
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let clamp = self.clamp.at(shift as f32);
        self.values.iter().fold((0.0, 0.0), |(sum, inside), &value| {
            let p = clamp.of(value);
            (sum + f64::from(p), inside + f64::from(u8::from(p > 0.0 && p < clamp.most)))
        })
    }

    fn shift(&self) -> f64 {
        f64::from(self.clamp.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.clamp.shift = shift as f32;
    }

    fn most(&self) -> f64 {
        f64::from(self.clamp.most)
    }

    fn set_most(&mut self, most: f64) {
        self.clamp.most = most as f32;
    }

    fn mass(&self) -> Mass {
        Mass { added: 0.0, removed: self.mass_at(self.shift()).0 }
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        self.graph.edge_pairs().for_each(|(low, high)| visit(low, high, true, self.weakened(low, high)));
    }

    fn bytes(&self) -> u64 {
        4 * self.values.len() as u64
    }
}
