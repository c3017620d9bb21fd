//! Removing edges between clusters more often than those within (Appendix C.1 of the paper).

use std::cmp::Reverse;

use fiedler_graph::measure::components;
use fiedler_graph::{Graph, GraphSet, Observer};
use fiedler_spectral::{ClusterSettings, cluster};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::each_graph::each_graph;
use super::{Augmentation, PairProbabilities, Report, ViewReport};
use crate::error::{Error, Result, check_share};
use crate::sample::EdgeFlips;
use crate::support::Mass;

/// Settings of clustered removal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clustered {
    /// Share of the edges removed in expectation, σ in the paper.
    pub ratio: f64,
    /// How many times more often than on average an edge between clusters is removed.
    pub boost: f64,
    /// Number of clusters of a graph's largest component, at most its nodes. Without it, the largest gap among the lowest
    /// eigenvalues decides. Other components have as many in proportion to their nodes, and at least one.
    pub clusters: Option<usize>,
    /// Whether both views are drawn so. Otherwise the first is the graph itself, as in the paper's pre-analysis.
    pub both: bool,
    /// Seed of the clustering.
    pub seed: u64,
}

impl Default for Clustered {
    fn default() -> Self {
        Clustered { ratio: 0.3, boost: 1.2, clusters: None, both: false, seed: 0 }
    }
}

/// The edges of one graph with their probabilities.
struct Removal {
    flips: EdgeFlips,
    mass: f64,
    between: usize,
    clusters: usize,
}

impl Clustered {
    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        check_share("ratio", self.ratio)?;
        if !(self.boost.is_finite() && self.boost >= 1.0) {
            return Err(Error::setting("boost", self.boost, "a number of at least 1"));
        }
        if self.clusters == Some(0) {
            return Err(Error::setting("number of clusters", 0, "at least 1, or what the spectrum tells"));
        }
        Ok(())
    }

    pub(super) fn compute(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let removals = each_graph(set, "clustered", observer, |graph| self.removal(graph))?;
        let between: usize = removals.iter().map(|removal| removal.between).sum();
        let clusters: usize = removals.iter().map(|removal| removal.clusters).sum();
        let report = ViewReport {
            name: "clustered".into(),
            support: "edges".into(),
            reason: Some(format!("{between} of {} edges lie between {clusters} clusters", set.num_edges())),
            places: set.num_edges() as u64,
            mass: Mass { added: 0.0, removed: removals.iter().map(|removal| removal.mass).sum() },
            budget: self.ratio * set.num_edges() as f64,
            ..ViewReport::default()
        };
        let flips = removals.into_iter().map(|removal| removal.flips).collect();
        let second = Augmentation::Pairs(PairProbabilities::new(flips));
        let (first, of_first) = match self.both {
            true => (second.clone(), ViewReport { name: "first".into(), ..report.clone() }),
            false => (Augmentation::Unchanged, ViewReport::unchanged()),
        };
        let notes = match between {
            0 if set.num_edges() > 0 => vec!["no edge lies between clusters: all are removed alike".into()],
            _ => Vec::new(),
        };
        Ok((vec![first, second], Report { views: vec![of_first, report], notes, ..Report::default() }))
    }

    fn removal(&self, graph: &Graph) -> Result<Removal> {
        if graph.num_edges() == 0 {
            return Ok(Removal {
                flips: EdgeFlips::of_pairs(graph.num_nodes(), []),
                mass: 0.0,
                between: 0,
                clusters: 0,
            });
        }
        let (of_node, clusters) = self.clusters_of(graph)?;
        let crosses = |&(low, high): &(u32, u32)| of_node[low as usize] != of_node[high as usize];
        let between = graph.edge_pairs().filter(crosses).count();
        let (inter, intra) = self.probabilities(graph.num_edges(), between);
        let probability = |pair: &(u32, u32)| if crosses(pair) { inter } else { intra };
        let flips = graph.edge_pairs().map(|pair| (pair, probability(&pair) as f32));
        let mass = inter * between as f64 + intra * (graph.num_edges() - between) as f64;
        Ok(Removal { flips: EdgeFlips::of_pairs(graph.num_nodes(), flips), mass, between, clusters })
    }

    /// The cluster of every node, and how many there are.
    ///
    /// Components are clustered one by one: the lowest eigenvectors of the whole would only tell them apart, and no edge lies
    /// between them.
    fn clusters_of(&self, graph: &Graph) -> Result<(Vec<u32>, usize)> {
        let (of_node, count) = components(graph);
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); count];
        of_node.iter().zip(0..).for_each(|(&component, node)| parts[component as usize].push(node));
        parts.sort_by_key(|nodes| Reverse(nodes.len()));
        let largest = parts.first().map_or(0, Vec::len);
        let mut wanted = self.clusters.map(|clusters| clusters.min(largest));
        let mut of_node = vec![0; graph.num_nodes()];
        let mut found = 0;
        for nodes in &parts {
            // Rounded to the nearest.
            let share = wanted.map(|wanted| ((2 * wanted * nodes.len() + largest) / (2 * largest)).max(1));
            if share == Some(1) {
                nodes.iter().for_each(|&node| of_node[node as usize] = found as u32);
                found += 1;
                continue;
            }
            let settings = ClusterSettings { clusters: share, seed: self.seed, ..ClusterSettings::default() };
            let clustering = cluster(&part(graph, nodes)?, &settings)?;
            for (&node, cluster) in nodes.iter().zip(&clustering.of_node) {
                of_node[node as usize] = found as u32 + cluster;
            }
            found += clustering.clusters;
            wanted.get_or_insert(clustering.clusters);
        }
        Ok((of_node, found))
    }

    /// σ_inter and σ_intra: the probabilities of removing an edge between clusters and one within, for a graph of which
    /// `between` of `edges` edges lie between. In expectation σ of all edges are removed, whatever the clusters.
    pub fn probabilities(&self, edges: usize, between: usize) -> (f64, f64) {
        let total = self.ratio * edges as f64;
        if between == 0 {
            return (0.0, self.ratio);
        }
        // The paper's σ_inter exceeds 1 for a large σ; what it cannot take is left to the edges within.
        let inter = (self.boost * self.ratio).min(total / between as f64).min(1.0);
        let within = edges - between;
        let intra = if within > 0 { (total - inter * between as f64) / within as f64 } else { 0.0 };
        (inter, intra.clamp(0.0, 1.0))
    }
}

/// A component by itself; its nodes are given in ascending order.
fn part(graph: &Graph, nodes: &[u32]) -> Result<Graph> {
    if nodes.len() == graph.num_nodes() {
        return Ok(graph.clone());
    }
    let place = |node: u32| nodes.partition_point(|&other| other < node) as u32;
    let higher = nodes.iter().flat_map(|&node| graph.higher(node).iter().map(move |&other| (node, other)));
    let pairs = higher.map(|(low, high)| (place(low), place(high))).collect();
    let weights = |node: &u32| {
        let row = graph.neighbor_weights(*node)?;
        Some(row[row.len() - graph.higher(*node).len()..].to_vec())
    };
    let weights: Option<Vec<Vec<f32>>> = nodes.iter().map(weights).collect();
    let (part, _) = match weights {
        Some(weights) => Graph::from_weighted_pairs(nodes.len(), pairs, weights.concat())?,
        None => Graph::from_pairs(nodes.len(), pairs)?,
    };
    Ok(part)
}
