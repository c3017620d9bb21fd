//! Dropping nodes: one number for each node, which weakens all of its edges.

use fiedler_graph::Graph;

use super::{Mass, Power, Rise, Support};
use crate::kernel::PairKernel;

/// The nodes of a graph. An edge is weakened by the mean of what its ends hold: `B = A ∘ (1 - P)`, `P_ij = (p_i + p_j) / 2`.
///
/// Masses are counted in nodes.
#[derive(Debug, Clone)]
pub struct Nodes<'g> {
    graph: &'g Graph,
    values: Vec<f32>,
    shift: f32,
}

impl<'g> Nodes<'g> {
    /// All nodes of a graph, with starting values.
    ///
    /// # Panics
    /// When there is not one value for each node.
    pub fn new(graph: &'g Graph, values: Vec<f32>) -> Nodes<'g> {
        assert_eq!(values.len(), graph.num_nodes(), "one value for each node");
        Nodes { graph, values, shift: 0.0 }
    }

    /// The projected values.
    pub fn into_probabilities(self) -> Vec<f32> {
        (0..self.values.len()).map(|node| self.p(node)).collect()
    }

    fn p(&self, node: usize) -> f32 {
        (self.values[node] - self.shift).clamp(0.0, 1.0)
    }

    fn weakened(&self, low: u32, high: u32) -> f32 {
        (self.p(low as usize) + self.p(high as usize)) / 2.0
    }

    /// `∂F/∂p_i = -½ Σ_j A_ij ∂F/∂B_ij` for every node.
    fn derivatives(&self, kernel: &PairKernel) -> Vec<f64> {
        let mut derivatives = vec![0.0; self.values.len()];
        for (low, high) in self.graph.edge_pairs() {
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
        self.shift = 0.0;
    }

    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise {
        self.derivatives(kernel).into_iter().fold(Rise::default(), |rise, derivative| rise.with(sign * derivative))
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        self.values.iter().fold((0.0, 0.0), |(sum, inside), value| {
            let p = (value - shift as f32).clamp(0.0, 1.0);
            (sum + f64::from(p), inside + f64::from(u8::from(p > 0.0 && p < 1.0)))
        })
    }

    fn shift(&self) -> f64 {
        f64::from(self.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.shift = shift as f32;
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
