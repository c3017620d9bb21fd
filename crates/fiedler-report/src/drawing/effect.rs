//! What a flipped pair does to the spectrum, to first order.

use fiedler_augment::objective::{Evaluation, SpectralObjective, full_spectrum};
use fiedler_augment::support::Pairs;
use fiedler_graph::Graph;
use fiedler_spectral::Operator;

/// The derivative of the norm of a graph's spectrum with respect to every pair.
#[derive(Debug)]
pub struct Effects<'a> {
    graph: &'a Graph,
    evaluation: Evaluation,
}

impl<'a> Effects<'a> {
    /// Of the graph as it is: one pass over its edges.
    pub fn of(graph: &'a Graph, operator: Operator) -> Effects<'a> {
        Effects { graph, evaluation: full_spectrum(&Pairs::new(graph, &[]), operator, SpectralObjective::Expected) }
    }

    /// The norm of all eigenvalues together.
    pub fn norm(&self) -> f64 {
        self.evaluation.squared_norm.sqrt()
    }

    /// By how much the norm changes, to first order, when the pair alone is flipped: an edge removed, anything else joined.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// use fiedler_report::drawing::Effects;
    /// use fiedler_spectral::Operator;
    /// let (path, _) = Graph::from_pairs(4, vec![(0, 1), (1, 2), (2, 3)])?;
    /// let effects = Effects::of(&path, Operator::Laplacian);
    /// // Joining the ends makes a ring, whose spectrum has a smaller norm.
    /// assert!(effects.of_flip(0, 3) < 0.0);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn of_flip(&self, a: u32, b: u32) -> f64 {
        let (weight, change) = if self.graph.has_edge(a, b) { (1.0, -1.0) } else { (0.0, 1.0) };
        let norm = self.norm();
        if norm == 0.0 {
            return 0.0;
        }
        change * self.evaluation.kernel.at(a as usize, b as usize, weight) / (2.0 * norm)
    }
}
