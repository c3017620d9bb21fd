//! Eigenvectors of a graph's operator as features.

use faer::Mat;
use fiedler_graph::{Dense, Graph};
use fiedler_spectral::{Normalized, Operator, PartialSettings, SymmetricMap, partial};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pca::linear;

/// Nodes up to which all eigenvectors are computed, by one thread.
const SMALL: usize = 400;
/// Eigenvalues that are this near have one eigenspace, as far as the solver can tell.
const SAME: f64 = 1e-5;
/// Rows of an eigenspace whose lengths differ by less count as equally long: the first of them is the pivot.
const TIE: f64 = 1e-6;

/// Which eigenvectors, and how they are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EigenvectorSettings {
    /// The number of eigenvectors: columns beyond the number of nodes are zeros.
    pub eigenvectors: usize,
    /// Whose: the lowest of the normalized Laplacian, which are the highest of `D^-1/2 A D^-1/2`, or the highest of the propagation
    /// matrix with self-loops. With self-loops every isolated node is an eigenvector of eigenvalue 1.
    pub operator: Operator,
    /// An eigenvector is multiplied by this power of its eigenvalue, negative ones counting as 0. 0 leaves all as they are.
    pub power: f64,
}

impl Default for EigenvectorSettings {
    fn default() -> Self {
        EigenvectorSettings { eigenvectors: 64, operator: Operator::Laplacian, power: 4.0 }
    }
}

impl EigenvectorSettings {
    pub(crate) fn check(&self) -> Result<()> {
        if !(1..=4096).contains(&self.eigenvectors) {
            return Err(Error::setting("eigenvectors", self.eigenvectors, "1 to 4,096"));
        }
        if !(0.0..=1000.0).contains(&self.power) {
            return Err(Error::setting("power", self.power, "0 to 1,000"));
        }
        Ok(())
    }
}

/// Leading eigenvectors of a graph, one row a node and one column each, weighted by a power of their eigenvalues; all together are
/// scaled so that rows have length one on average.
///
/// Signs are fixed: the entry of the largest size is positive. Of eigenvalues that repeat only the eigenspace is determined; its basis
/// is chosen by the nodes that it holds most of, one after the other, whatever basis the solver found. Where so many eigenvalues repeat
/// that the last one wanted is among them (more components than columns, say), which of its eigenvectors are among the wanted depends on
/// the solver's seed, which is fixed, and nothing else. Eigenvectors of two graphs have nothing in common but their order.
///
/// ```
/// use fiedler_graph::generate;
/// use fiedler_learn::{EigenvectorSettings, eigenvectors};
///
/// let karate = generate::karate_club();
/// let graph = karate.graph().expect("one graph");
/// let found = eigenvectors(graph, &EigenvectorSettings { eigenvectors: 8, ..Default::default() })?;
/// assert_eq!((found.rows(), found.columns()), (34, 8));
/// # Ok::<(), fiedler_learn::Error>(())
/// ```
///
/// # Errors
/// When a setting is out of its range, or the eigensolver does not converge.
pub fn eigenvectors(graph: &Graph, settings: &EigenvectorSettings) -> Result<Dense> {
    settings.check()?;
    let (nodes, columns) = (graph.num_nodes(), settings.eigenvectors);
    let wanted = columns.min(nodes);
    let (eigenvalues, vectors) = leading(graph, settings.operator, wanted)?;
    let vectors = canonical(&eigenvalues, vectors);
    let weights: Vec<f64> = eigenvalues.iter().map(|value| value.max(0.0).powf(settings.power)).collect();
    let mut values = vec![0.0; nodes * columns];
    let mut lengths = 0.0;
    for (node, row) in values.chunks_exact_mut(columns).enumerate() {
        let mut square = 0.0;
        for (column, (value, weight)) in row.iter_mut().zip(&weights).enumerate() {
            *value = vectors[(node, column)] * weight;
            square += *value * *value;
        }
        lengths += square.sqrt();
    }
    let scale = if lengths > 0.0 { nodes as f64 / lengths } else { 0.0 };
    Ok(Dense::new(nodes, columns, values.into_iter().map(|value| (value * scale) as f32).collect())?)
}

/// The largest eigenvalues of the normalized adjacency matrix, without or with self-loops, and their eigenvectors.
fn leading(graph: &Graph, operator: Operator, wanted: usize) -> Result<(Vec<f64>, Mat<f64>)> {
    let map = Normalized::of(graph, operator);
    let nodes = graph.num_nodes();
    if nodes <= SMALL {
        // The largest of `I - L`, or of the operator itself.
        let mut dense = map.to_dense();
        if operator == Operator::Laplacian {
            dense = Mat::from_fn(nodes, nodes, |row, column| f64::from(u8::from(row == column)) - dense[(row, column)]);
        }
        let (values, vectors) = linear::eigen(&dense)?;
        let vectors = Mat::from_fn(nodes, wanted, |row, column| vectors[(row, column)]);
        return Ok((values[..wanted].to_vec(), vectors));
    }
    let solve = |lowest, highest| {
        let settings = PartialSettings { lowest, highest, ..PartialSettings::default() };
        partial(&map, &settings, None)
    };
    let problem = |error: fiedler_spectral::Error| Error::setting("eigenvectors", wanted, format!("fewer: {error}"));
    match operator {
        Operator::Laplacian => {
            let found = solve(wanted, 0).map_err(problem)?.lowest;
            Ok((found.values.iter().map(|value| 1.0 - value).collect(), found.vectors))
        }
        Operator::Propagation => {
            let found = solve(0, wanted).map_err(problem)?.highest;
            Ok((found.values, found.vectors))
        }
    }
}

/// The same eigenspaces, each with a basis that does not depend on the one given.
fn canonical(values: &[f64], mut vectors: Mat<f64>) -> Mat<f64> {
    let mut first = 0;
    while first < values.len() {
        let mut end = first + 1;
        while end < values.len() && (values[end - 1] - values[end]).abs() <= SAME {
            end += 1;
        }
        fix_basis(&mut vectors, first, end - first);
        first = end;
    }
    vectors
}

/// Replaces so many columns from `first` on by another basis of what they span: projections of single nodes, the one that the space holds
/// most of first, each cleared of those before. Of a single column this makes the largest entry positive.
fn fix_basis(vectors: &mut Mat<f64>, first: usize, size: usize) {
    let nodes = vectors.nrows();
    let mut rest = Mat::from_fn(nodes, size, |row, column| vectors[(row, first + column)]);
    for step in 0..size {
        let squares: Vec<f64> = (0..nodes).map(|row| (0..size).map(|at| rest[(row, at)].powi(2)).sum()).collect();
        let most = squares.iter().copied().fold(0.0, f64::max);
        let Some(pivot) = squares.iter().position(|&square| square > 0.0 && square >= most * (1.0 - TIE)) else { return };
        let length = squares[pivot].sqrt();
        let direction: Vec<f64> = (0..size).map(|at| rest[(pivot, at)] / length).collect();
        for row in 0..nodes {
            let share: f64 = direction.iter().enumerate().map(|(at, value)| rest[(row, at)] * value).sum();
            for (at, value) in direction.iter().enumerate() {
                rest[(row, at)] -= share * value;
            }
            vectors[(row, first + step)] = share;
        }
    }
}
