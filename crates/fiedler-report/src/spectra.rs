//! The eigenvalues of a graph, all of them or as they are estimated to lie.

use fiedler_graph::Graph;
use fiedler_spectral::{Density, DensitySettings, Normalized, Operator, Result, eigenvalues};

use crate::plot::Bin;

/// Graphs of more nodes than this have their eigenvalues estimated.
pub(crate) const WHOLE_UP_TO: usize = 2_000;
/// Bytes that a dense spectrum may take.
const MEMORY: u64 = 1 << 30;
/// Places that an estimated spectrum is told at.
const PLACES: usize = 400;

/// Eigenvalues in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigenvalues {
    /// All of them, or, of an estimate, those at evenly spaced places.
    pub values: Vec<f64>,
    /// Whether they are an estimate.
    pub estimated: bool,
    /// How many the graph has.
    pub nodes: usize,
    /// What they lie between.
    pub bounds: (f64, f64),
    density: Option<Density>,
}

impl Eigenvalues {
    /// Of a graph, or of several as one.
    ///
    /// # Errors
    /// When they cannot be computed.
    pub fn of(graph: &Graph, operator: Operator, seed: u64) -> Result<Eigenvalues> {
        let map = Normalized::of(graph, operator);
        let (nodes, bounds) = (graph.num_nodes(), operator.bounds());
        if nodes <= WHOLE_UP_TO {
            let values = eigenvalues(&map, MEMORY)?;
            return Ok(Eigenvalues { values, estimated: false, nodes, bounds, density: None });
        }
        // A page shows forty bars: what a larger estimate would add cannot be seen, and it should take seconds.
        let large = graph.num_edges() > 200_000;
        let settings =
            DensitySettings { moments: if large { 100 } else { 200 }, probes: if large { 4 } else { 12 }, seed };
        let density = Density::estimate(&map, &settings)?;
        let at = |place: usize| density.quantile((place as f64 + 0.5) / PLACES as f64 * nodes as f64);
        let values = (0..PLACES).map(at).collect();
        Ok(Eigenvalues { values, estimated: true, nodes, bounds, density: Some(density) })
    }

    /// How many lie where.
    pub fn bins(&self, bins: usize) -> Vec<Bin> {
        let (low, high) = self.bounds;
        let width = (high - low) / bins as f64;
        let counts = match &self.density {
            Some(density) => density.histogram(bins),
            None => {
                let mut counts = vec![0.0; bins];
                for value in &self.values {
                    let place = ((value - low) / width).max(0.0) as usize;
                    counts[place.min(bins - 1)] += 1.0;
                }
                counts
            }
        };
        let bin =
            |(at, count): (usize, f64)| Bin { from: low + at as f64 * width, to: low + (at + 1) as f64 * width, count };
        counts.into_iter().map(|count: f64| count.max(0.0)).enumerate().map(bin).collect()
    }

    /// The place of each value from 0 to 1, with the value.
    pub fn curve(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let count = self.values.len() as f64;
        self.values.iter().enumerate().map(move |(at, &value)| ((at as f64 + 0.5) / count, value))
    }
}
