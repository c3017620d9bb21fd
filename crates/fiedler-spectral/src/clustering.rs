//! Spectral clustering: nodes that lie close in the lowest eigenvectors.

use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::operator::{Normalized, Operator};
use crate::partial::{Pairs, PartialSettings, partial};
use crate::properties::clusters_by_gap;

/// How nodes are clustered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClusterSettings {
    /// Number of clusters; without it, the largest gap among the lowest eigenvalues decides.
    pub clusters: Option<usize>,
    /// The most clusters the gap may choose.
    pub most: usize,
    /// Starts of k-means, the best of which counts.
    pub starts: usize,
    /// Steps of k-means.
    pub steps: usize,
    /// The largest residual of an eigenpair.
    pub tolerance: f64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        ClusterSettings { clusters: None, most: 30, starts: 10, steps: 300, tolerance: 1e-6, seed: 0 }
    }
}

/// A division of the nodes into clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    /// The cluster of every node, numbered in the order of their lowest node.
    pub of_node: Vec<u32>,
    /// Number of clusters.
    pub clusters: usize,
    /// The lowest eigenvalues of the normalized Laplacian that were looked at.
    pub eigenvalues: Vec<f64>,
    /// The sum of squared distances to the cluster centres.
    pub spread: f64,
}

/// Clusters the nodes of a graph by its lowest eigenvectors: rows of length one, k-means with careful seeding (Ng,
/// Jordan, Weiss).
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_spectral::{ClusterSettings, cluster};
///
/// let triangles = vec![(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)];
/// let (graph, _) = Graph::from_pairs(6, triangles)?;
/// let found = cluster(&graph, &ClusterSettings { clusters: Some(2), ..Default::default() })?;
/// assert_eq!(found.of_node, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When more clusters than nodes are wanted, or none, or the eigenvectors do not converge.
pub fn cluster(graph: &Graph, settings: &ClusterSettings) -> Result<Clustering> {
    let nodes = graph.num_nodes();
    let wanted = settings.clusters.unwrap_or(settings.most.saturating_add(1)).min(nodes.max(1));
    if let Some(clusters) = settings.clusters.filter(|&clusters| clusters == 0 || clusters > nodes) {
        return Err(Error::setting("number of clusters", clusters, format!("from 1 to {nodes}, the number of nodes")));
    }
    let lowest = PartialSettings {
        lowest: wanted,
        highest: 0,
        tolerance: settings.tolerance,
        seed: settings.seed,
        ..Default::default()
    };
    let pairs = partial(&Normalized::of(graph, Operator::Laplacian), &lowest, None)?.lowest;
    let clusters = settings.clusters.or_else(|| clusters_by_gap(&pairs.values)).unwrap_or(1).min(pairs.len().max(1));
    let points = Points::of(&pairs, clusters.min(pairs.len()));
    let (of_node, spread) = k_means(&points, clusters, settings);
    let (of_node, clusters) = renumber(of_node);
    Ok(Clustering { of_node, clusters, eigenvalues: pairs.values, spread })
}

/// Rows of coordinates, one a node.
struct Points {
    coordinates: Vec<f64>,
    width: usize,
}

impl Points {
    /// The rows of the first eigenvectors, each scaled to length one; a row of zeros stays.
    fn of(pairs: &Pairs, width: usize) -> Points {
        let nodes = pairs.vectors.nrows();
        let mut coordinates = vec![0.0; nodes * width];
        for (node, row) in coordinates.chunks_exact_mut(width.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(column, value)| *value = pairs.vectors[(node, column)]);
            let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            if length > 1e-12 {
                row.iter_mut().for_each(|value| *value /= length);
            }
        }
        Points { coordinates, width }
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.coordinates.chunks_exact(self.width.max(1))
    }
}

/// The best of several starts: the cluster of every point and the sum of squared distances.
fn k_means(points: &Points, clusters: usize, settings: &ClusterSettings) -> (Vec<u32>, f64) {
    let run = |start: usize| {
        let mut numbers = stream(settings.seed, "k-means", start as u64);
        let mut centres = seed_centres(points, clusters, &mut numbers);
        let mut nearest = assign(points, &centres);
        for _ in 0..settings.steps {
            move_centres(points, &nearest, &mut centres);
            let next = assign(points, &centres);
            let settled = next.iter().zip(&nearest).all(|(next, before)| next.0 == before.0);
            nearest = next;
            if settled {
                break;
            }
        }
        let spread: f64 = nearest.iter().map(|(_, distance)| distance).sum();
        (nearest.into_iter().map(|(cluster, _)| cluster).collect::<Vec<u32>>(), spread)
    };
    // Of equal starts the first, whatever order they end in.
    let runs: Vec<(Vec<u32>, f64)> = (0..settings.starts.max(1)).into_par_iter().map(run).collect();
    runs.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best }).unwrap_or_default()
}

/// Centres drawn one by one, each point in proportion to its squared distance from those before: k-means++.
fn seed_centres(points: &Points, clusters: usize, numbers: &mut impl Rng) -> Vec<f64> {
    let rows: Vec<&[f64]> = points.rows().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut centres = rows[numbers.random_range(0..rows.len())].to_vec();
    let mut nearest = vec![f64::INFINITY; rows.len()];
    while centres.len() < clusters * points.width {
        let newest = &centres[centres.len() - points.width..];
        nearest.iter_mut().zip(&rows).for_each(|(nearest, row)| *nearest = nearest.min(squared_distance(row, newest)));
        let mut left = numbers.random::<f64>() * nearest.iter().sum::<f64>();
        let place = nearest.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        centres.extend_from_slice(rows[place.unwrap_or(rows.len() - 1)]);
    }
    centres
}

/// The nearest centre of every point and its squared distance.
fn assign(points: &Points, centres: &[f64]) -> Vec<(u32, f64)> {
    let width = points.width.max(1);
    let nearest = |row: &[f64]| {
        let distances = (0..).zip(centres.chunks_exact(width).map(|centre| squared_distance(row, centre)));
        distances.reduce(|best, next| if next.1 < best.1 { next } else { best }).unwrap_or((0, 0.0))
    };
    points.coordinates.par_chunks_exact(width).map(nearest).collect()
}

/// Moves every centre to the mean of its points; one without points goes to the point farthest from its own.
fn move_centres(points: &Points, nearest: &[(u32, f64)], centres: &mut [f64]) {
    let width = points.width.max(1);
    let mut counts = vec![0usize; centres.len() / width];
    let mut sums = vec![0.0; centres.len()];
    for (row, &(cluster, _)) in points.rows().zip(nearest) {
        counts[cluster as usize] += 1;
        let sum = &mut sums[cluster as usize * width..][..width];
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let mut far: Vec<usize> = (0..nearest.len()).collect();
    if counts.contains(&0) {
        far.sort_by(|&a, &b| nearest[a].1.total_cmp(&nearest[b].1).then(b.cmp(&a)));
    }
    for (cluster, centre) in centres.chunks_exact_mut(width).enumerate() {
        if counts[cluster] > 0 {
            let sum = &sums[cluster * width..][..width];
            centre.iter_mut().zip(sum).for_each(|(centre, sum)| *centre = sum / counts[cluster] as f64);
        } else if let Some(point) = far.pop() {
            centre.copy_from_slice(&points.coordinates[point * width..][..width]);
        }
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Numbers clusters in the order of their lowest node, so that equal divisions compare equal; and counts them.
fn renumber(mut of_node: Vec<u32>) -> (Vec<u32>, usize) {
    let highest = of_node.iter().max().map_or(0, |&cluster| cluster as usize + 1);
    let mut number = vec![u32::MAX; highest];
    let mut next = 0;
    for cluster in &mut of_node {
        let number = &mut number[*cluster as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *cluster = *number;
    }
    (of_node, next as usize)
}
