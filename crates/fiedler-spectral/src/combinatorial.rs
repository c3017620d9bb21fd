//! The Laplacian that is not normalized.

use fiedler_graph::Graph;
use rayon::prelude::*;

use crate::operator::SymmetricMap;

/// `D - B`, the combinatorial Laplacian, the matrix Fiedler's algebraic connectivity was first defined on.
#[derive(Debug, Clone)]
pub struct Combinatorial<'a> {
    graph: &'a Graph,
    degrees: Vec<f64>,
    /// The largest sum of the degrees of two neighbors, which no eigenvalue exceeds.
    highest: f64,
}

impl<'a> Combinatorial<'a> {
    /// The combinatorial Laplacian of a graph, its weights honoured.
    pub fn of(graph: &'a Graph) -> Combinatorial<'a> {
        let nodes = 0..graph.num_nodes() as u32;
        let degree = |node: u32| match graph.neighbor_weights(node) {
            Some(weights) => weights.iter().map(|&weight| f64::from(weight)).sum(),
            None => graph.degree(node) as f64,
        };
        let degrees: Vec<f64> = nodes.map(degree).collect();
        let of_edge = |(low, high): (u32, u32)| degrees[low as usize] + degrees[high as usize];
        // Without edges the spectrum is a single 0; any interval around it will do.
        let highest = graph.edge_pairs().map(of_edge).fold(0.0, f64::max);
        Combinatorial { graph, degrees, highest: if highest > 0.0 { highest } else { 1.0 } }
    }
}

impl SymmetricMap for Combinatorial<'_> {
    fn size(&self) -> usize {
        self.degrees.len()
    }

    fn bounds(&self) -> (f64, f64) {
        (0.0, self.highest)
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        if columns == 0 {
            return;
        }
        y.par_chunks_mut(columns).enumerate().with_min_len(256).for_each(|(node, image)| {
            let own = &x[node * columns..][..columns];
            let stay = scale * self.degrees[node] + shift;
            for (sum, &value) in image.iter_mut().zip(own) {
                *sum = stay * value + if keep == 0.0 { 0.0 } else { keep * *sum };
            }
            let weights = self.graph.neighbor_weights(node as u32);
            for (place, &other) in self.graph.neighbors(node as u32).iter().enumerate() {
                let entry = scale * weights.map_or(1.0, |weights| f64::from(weights[place]));
                let theirs = &x[other as usize * columns..][..columns];
                image.iter_mut().zip(theirs).for_each(|(sum, &value)| *sum -= entry * value);
            }
        });
    }
}
