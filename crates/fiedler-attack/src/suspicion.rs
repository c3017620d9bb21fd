//! Edges that look added: their ends have unlike features, and the spectrum hangs on them.

use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::support::Pairs;
use fiedler_graph::{Features, Graph};
use fiedler_spectral::Operator;
use rayon::prelude::*;

/// An edge with what speaks against it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Suspect {
    /// The node with the lower id.
    pub low: u32,
    /// The node with the higher id.
    pub high: u32,
    /// Likeness of the features of its ends, by Jaccard or cosine; none without features.
    pub similarity: Option<f64>,
    /// Change of the squared norm of the spectrum when it is removed, to first order.
    pub spectral_effect: f64,
    /// From 0 to 1: the mean of the shares of edges that are no less alike, and of those that the spectrum hangs on no more.
    pub score: f64,
}

/// All edges, the most suspicious first; of equal ones the smaller pair.
///
/// ```
/// use fiedler_attack::suspicious_edges;
/// use fiedler_graph::{Dense, Features, Graph};
/// let (graph, _) = Graph::from_pairs(6, vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])?;
/// let features = [[1.0, 0.0]; 3].into_iter().chain([[0.0, 1.0]; 3]).flatten().collect();
/// let features = Features::Dense(Dense::new(6, 2, features)?);
/// let suspects = suspicious_edges(&graph, Some(&features));
/// assert_eq!((suspects[0].low, suspects[0].high, suspects[0].similarity), (2, 3, Some(0.0)));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn suspicious_edges(graph: &Graph, features: Option<&Features>) -> Vec<Suspect> {
    let features = features.filter(|features| features.rows() == graph.num_nodes());
    let objective = full_spectrum(&Pairs::new(graph, &[]), Operator::Laplacian, SpectralObjective::Expected);
    let edges: Vec<(u32, u32)> = graph.edge_pairs().collect();
    let look = |&(low, high): &(u32, u32)| Suspect {
        low,
        high,
        similarity: features.map(|features| features.similarity(low as usize, high as usize)),
        spectral_effect: -objective.kernel.at(low as usize, high as usize, 1.0),
        score: 0.0,
    };
    let mut suspects: Vec<Suspect> = edges.par_iter().map(look).collect();
    let effects = ranks(&suspects, |suspect| suspect.spectral_effect.abs());
    let unlike = ranks(&suspects, |suspect| -suspect.similarity.unwrap_or(0.0));
    for ((suspect, effect), unlike) in suspects.iter_mut().zip(effects).zip(unlike) {
        suspect.score = if suspect.similarity.is_some() { (effect + unlike) / 2.0 } else { effect };
    }
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.low, a.high).cmp(&(b.low, b.high))));
    suspects
}

/// For each item the share of items whose value is not larger.
fn ranks(suspects: &[Suspect], value: impl Fn(&Suspect) -> f64) -> Vec<f64> {
    let mut sorted: Vec<f64> = suspects.iter().map(&value).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let share = |suspect| sorted.partition_point(|&other| other <= value(suspect)) as f64 / sorted.len() as f64;
    suspects.iter().map(share).collect()
}
