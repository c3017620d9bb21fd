//! All pairs or chosen ones, decided at run time.

use fiedler_graph::Graph;
use rayon::prelude::*;

use super::{From, Mass, MetricStep, Moved, Pairs, PairsAround, Power, Rise, Split, Support, Triangle};
use crate::kernel::PairKernel;
use crate::sample::EdgeFlips;
use crate::scheme::pack::rounded;

/// A support of pairs of either kind.
#[derive(Debug, Clone)]
pub enum PairSupport<'g> {
    /// Every pair.
    All(Triangle<'g>),
    /// Edges, perhaps with candidates for addition.
    Chosen(Pairs),
}

impl<'g> PairSupport<'g> {
    /// Every pair of a graph's nodes, all values zero.
    pub fn all(graph: &'g Graph) -> PairSupport<'g> {
        let nodes = graph.num_nodes();
        PairSupport::All(Triangle::new(graph, vec![0.0; nodes * nodes.saturating_sub(1) / 2]))
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.places()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The probabilities, ready to draw from, as precise as they are stored: at most one part in 512 below what they are here.
    pub fn into_flips(self) -> EdgeFlips {
        let nodes = self.num_nodes();
        match self {
            PairSupport::All(triangle) => {
                let mut probabilities = triangle.into_probabilities();
                probabilities.par_iter_mut().for_each(|probability| *probability = rounded(*probability));
                EdgeFlips::of_triangle(nodes, probabilities)
            }
            PairSupport::Chosen(pairs) => {
                let of_pair = |(low, high, _, probability)| ((low, high), rounded(probability));
                EdgeFlips::of_pairs(nodes, pairs.iter().map(of_pair))
            }
        }
    }
}

/// Calls the method of the same name on whichever kind it is.
macro_rules! either {
    ($self:ident, $support:ident => $call:expr) => {
        match $self {
            PairSupport::All($support) => $call,
            PairSupport::Chosen($support) => $call,
        }
    };
}

impl Support for PairSupport<'_> {
    fn num_nodes(&self) -> usize {
        either!(self, support => support.num_nodes())
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        either!(self, support => support.sums(power, factor))
    }

    fn pairs_around(&self) -> Option<PairsAround> {
        either!(self, support => support.pairs_around())
    }

    fn split(&self) -> Split {
        either!(self, support => support.split())
    }

    fn light_sums(&self, linear: &[f64], square: [&[f64]; 2]) -> [Vec<f64>; 3] {
        either!(self, support => support.light_sums(linear, square))
    }

    fn whole_sums(&self, factor: &[f64]) -> Vec<f64> {
        either!(self, support => support.whole_sums(factor))
    }

    fn places(&self) -> usize {
        either!(self, support => support.places())
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        either!(self, support => support.advance(kernel, rate))
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, guess: f64) {
        either!(self, support => support.attempt(from, kernel, rate, guess))
    }

    fn steepest_in_metric(&self, kernel: &PairKernel, sign: f64) -> Option<f64> {
        either!(self, support => support.steepest_in_metric(kernel, sign))
    }

    fn attempt_in_metric(
        &mut self,
        from: From,
        kernel: &PairKernel,
        step: (f64, f64),
        budget: f64,
        guess: f64,
    ) -> Option<MetricStep> {
        either!(self, support => support.attempt_in_metric(from, kernel, step, budget, guess))
    }

    fn blend(&mut self, share: f64) {
        either!(self, support => support.blend(share))
    }

    fn restore(&mut self) {
        either!(self, support => support.restore())
    }

    fn release(&mut self) {
        either!(self, support => support.release())
    }

    fn moved(&self) -> Moved {
        either!(self, support => support.moved())
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        either!(self, support => support.rise(kernel, sign, threshold))
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        either!(self, support => support.fill(value))
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        either!(self, support => support.mass_at(shift))
    }

    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        either!(self, support => support.project(budget, guess))
    }

    fn shift(&self) -> f64 {
        either!(self, support => support.shift())
    }

    fn set_shift(&mut self, shift: f64) {
        either!(self, support => support.set_shift(shift))
    }

    fn most(&self) -> f64 {
        either!(self, support => support.most())
    }

    fn set_most(&mut self, most: f64) {
        either!(self, support => support.set_most(most))
    }

    fn mass(&self) -> Mass {
        either!(self, support => support.mass())
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        either!(self, support => support.visit(visit))
    }

    fn bytes(&self) -> u64 {
        either!(self, support => support.bytes())
    }
}
