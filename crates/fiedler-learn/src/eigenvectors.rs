//! Eigenvectors of a graph's operator as features.

use std::sync::atomic::{AtomicBool, Ordering};

use faer::Mat;
use fiedler_graph::measure::components;
use fiedler_graph::{Dense, Event, Graph, NoObserver, Observer};
use fiedler_spectral::{Limits, Normalized, Operator, PartialSettings, SolverProgress, SymmetricMap, partial_within};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::pca::linear;

/// Nodes up to which all eigenvectors are computed, by one thread.
const SMALL: usize = 400;
/// The residual of eigenvectors that ends the search for better ones.
const TOLERANCE: f64 = 1e-6;
/// The residual above which users are told: eigenvalues of paths and roads lie so close that their eigenvectors can hardly be told apart,
/// and any mixture of them will do.
const ROUGH: f64 = 1e-2;
/// Rounds of the eigensolver, at most.
const ROUNDS: usize = 60;
/// Products of an entry of the matrix and a number that the eigensolver may take: minutes.
const WORK: f64 = 1e11;
/// Products of the matrix and a vector that it may take at least, for each eigenvector.
const FEWEST_PRODUCTS: usize = 24;
/// Seconds from which on it is told beforehand how long it will take, and entries from which on that is timed.
const WORTH_TELLING: f64 = 10.0;
const TIMED: usize = 1_000_000;
/// The name of the stage that an [`Observer`] hears.
const STAGE: &str = "eigenvectors";
/// How a note begins that belongs beside the result it is about.
pub const WARNING: &str = "warning: ";
/// Bytes of a dense matrix where the eigensolver does not converge.
const DENSE_LIMIT: u64 = 256 << 20;
/// Eigenvalues that are this near have one eigenspace, as far as the solver can tell.
const SAME: f64 = 1e-5;
/// Rows of an eigenspace whose squared lengths differ by less count as equally long, as those of symmetric nodes are but for what the
/// solver leaves: the first of them is the pivot.
const TIE: f64 = 1e-2;

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
/// The eigenvalue 1 has one eigenvector for each component, which only says who belongs to it. Components with at least `n / K` of the
/// `n` nodes have theirs, the largest first; those of smaller ones, of which there may be hundreds, are left out, and what varies within
/// components takes their place.
///
/// Signs are fixed: the entry of the largest size is positive. Of other eigenvalues that repeat only the eigenspace is determined; its
/// basis is chosen by the nodes that it holds most of, one after the other, whatever basis the solver found. Where the last one wanted is
/// among eigenvalues that repeat, which of its eigenvectors are there depends on the solver's seed, which is fixed, and nothing else.
/// Eigenvectors of two graphs have nothing in common but their order.
///
/// The work is bounded by the size of the graph, not by the clock: the same graph has the same eigenvectors on any machine. Where they have
/// not converged when the bound is reached, as on random graphs with millions of edges, whose eigenvalues crowd, the nearest that there are
/// serve; [`eigenvectors_watched`] tells their residual.
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
/// When a setting is out of its range.
pub fn eigenvectors(graph: &Graph, settings: &EigenvectorSettings) -> Result<Dense> {
    eigenvectors_watched(graph, settings, &NoObserver)
}

/// As [`eigenvectors`]; the observer hears how long a large graph will take, how far the work is, and the residual where it stayed above
/// 0.01.
///
/// # Errors
/// As there, and [`Error::Stopped`] when the observer wants to stop.
pub fn eigenvectors_watched(graph: &Graph, settings: &EigenvectorSettings, observer: &dyn Observer) -> Result<Dense> {
    settings.check()?;
    let (nodes, columns) = (graph.num_nodes(), settings.eigenvectors);
    let wanted = columns.min(nodes);
    let (eigenvalues, vectors) = leading(graph, settings.operator, wanted, observer)?;
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

/// The largest eigenvalues of the normalized adjacency matrix, without or with self-loops, and their eigenvectors: those of large
/// components first, then what is not constant on components.
fn leading(graph: &Graph, operator: Operator, wanted: usize, observer: &dyn Observer) -> Result<(Vec<f64>, Mat<f64>)> {
    let map = Normalized::of(graph, operator);
    let nodes = graph.num_nodes();
    let constant = Constants::new(graph, &map);
    let own = constant.large(nodes.div_ceil(wanted.max(1)), wanted);
    let others = wanted - own.len();
    let (values, vectors) = if nodes <= SMALL {
        let sign = if operator == Operator::Laplacian { -1.0 } else { 1.0 };
        let dense = Deflated { map: &map, constant: &constant, operator }.to_dense();
        let shift = |row, column| if operator == Operator::Laplacian && row == column { 1.0 } else { 0.0 };
        linear::eigen(&Mat::from_fn(nodes, nodes, |row, column| shift(row, column) + sign * dense[(row, column)]))?
    } else {
        let entries = nodes + graph.indices().len();
        solve(&Deflated { map: &map, constant: &constant, operator }, entries, others, observer)?
    };
    let entry = |row: usize, column: usize| match own.get(column) {
        Some(&component) if constant.of[row] == component => constant.roots[row],
        Some(_) => 0.0,
        None if column - own.len() < vectors.ncols() => vectors[(row, column - own.len())],
        None => 0.0,
    };
    let values = own.iter().map(|_| 1.0).chain(values.into_iter().take(others)).collect();
    Ok((values, Mat::from_fn(nodes, wanted, entry)))
}

/// The leading eigenpairs of a map with so many entries by iteration, within the work that it may take.
fn solve(map: &Deflated<'_>, entries: usize, wanted: usize, observer: &dyn Observer) -> Result<(Vec<f64>, Mat<f64>)> {
    let (lowest, highest) = match map.operator {
        Operator::Laplacian => (wanted, 0),
        Operator::Propagation => (0, wanted),
    };
    let products = ((WORK / entries as f64) as usize).max(FEWEST_PRODUCTS * wanted);
    let seconds = if entries < TIMED { 0.0 } else { Limits::seconds(map, products as f64) };
    if seconds >= WORTH_TELLING {
        let _ = observer.event(&Event::Note(&format!(
            "{wanted} eigenvectors of {} nodes: expected to take about {seconds:.0} seconds, at most",
            map.size()
        )));
    }
    let stopped = AtomicBool::new(false);
    let goes_on = |progress: &SolverProgress| {
        let SolverProgress { products, most, .. } = *progress;
        let done = 100 * products.min(most) / most.max(1);
        let event = Event::Progress { stage: STAGE, item: STAGE, done, total: Some(100), value: None };
        if !observer.goes_on(&event) {
            stopped.store(true, Ordering::Relaxed);
        }
        !stopped.load(Ordering::Relaxed)
    };
    let settings = PartialSettings {
        lowest,
        highest,
        tolerance: TOLERANCE,
        rounds: ROUNDS,
        dense_limit: DENSE_LIMIT,
        ..PartialSettings::default()
    };
    let _ = observer.event(&Event::Begin { stage: STAGE, total: Some(100) });
    let found = partial_within(map, &settings, &Limits { products, goes_on: &goes_on });
    let _ = observer.event(&Event::End { stage: STAGE });
    let found = found.map_err(fiedler_augment::Error::from)?;
    if stopped.load(Ordering::Relaxed) {
        return Err(Error::Stopped { epoch: 0, epochs: 0, saved: false });
    }
    let pairs = if highest == 0 { found.lowest } else { found.highest };
    if pairs.worst_residual() > ROUGH {
        let rough = pairs.residuals.iter().filter(|&&residual| residual > ROUGH).count();
        let _ = observer.event(&Event::Note(&format!(
            "{WARNING}{rough} of {wanted} eigenvectors are rough after the work that such a graph may take: the largest residual is {:.1e}",
            pairs.worst_residual()
        )));
    }
    let values = match map.operator {
        Operator::Laplacian => pairs.values.iter().map(|value| 1.0 - value).collect(),
        Operator::Propagation => pairs.values,
    };
    Ok((values, pairs.vectors))
}

/// The eigenvectors of eigenvalue 1 of the normalized adjacency matrix, which are known: on every component the roots of the degrees.
struct Constants {
    /// The component of each node; [`NO_COMPONENT`] where it has no edges and no part in them.
    of: Vec<u32>,
    /// Nodes of each component.
    sizes: Vec<usize>,
    /// The entry of each node, of length one over its component.
    roots: Vec<f64>,
}

const NO_COMPONENT: u32 = u32::MAX;

impl Constants {
    fn new(graph: &Graph, map: &Normalized<'_>) -> Constants {
        let (mut of, count) = components(graph);
        let degrees = map.degrees();
        let (mut sizes, mut sums) = (vec![0; count], vec![0.0; count]);
        for (node, component) in of.iter_mut().enumerate() {
            sizes[*component as usize] += 1;
            sums[*component as usize] += degrees[node];
            if degrees[node] == 0.0 {
                *component = NO_COMPONENT;
            }
        }
        let root = |(node, &component): (usize, &u32)| match component {
            NO_COMPONENT => 0.0,
            component => (degrees[node] / sums[component as usize]).sqrt(),
        };
        let roots = of.iter().enumerate().map(root).collect();
        Constants { of, sizes, roots }
    }

    /// The components with at least so many nodes, the largest first, at most so many.
    fn large(&self, least: usize, most: usize) -> Vec<u32> {
        let mut found: Vec<u32> = (0..self.sizes.len() as u32).collect();
        let has_edges = |component: u32| self.of.contains(&component);
        found.retain(|&component| self.sizes[component as usize] >= least.max(1));
        found.sort_by_key(|&component| std::cmp::Reverse(self.sizes[component as usize]));
        found.truncate(most);
        found.retain(|&component| has_edges(component));
        found
    }
}

/// An operator whose eigenvectors of eigenvalue 1, in the adjacency matrix, are moved to the other end of the spectrum.
struct Deflated<'a> {
    map: &'a Normalized<'a>,
    constant: &'a Constants,
    operator: Operator,
}

impl Deflated<'_> {
    /// What `N Nᵀ` is multiplied by, where the columns of `N` are the constant eigenvectors.
    fn lift(&self) -> f64 {
        match self.operator {
            Operator::Laplacian => 2.0,
            Operator::Propagation => -2.0,
        }
    }

    /// Adds `scale · lift · N Nᵀ x`.
    fn add_lifted<T: Copy + Into<f64>>(
        &self,
        x: &[T],
        columns: usize,
        scale: f64,
        y: &mut [T],
        narrow: impl Fn(f64) -> T,
    ) {
        if columns == 0 {
            return;
        }
        let Constants { of, sizes, roots } = self.constant;
        // Nodes in their order: sums do not depend on the number of threads.
        let mut shares = vec![0.0; sizes.len() * columns];
        for ((&component, &root), row) in of.iter().zip(roots).zip(x.chunks_exact(columns)) {
            if component != NO_COMPONENT {
                let shares = &mut shares[component as usize * columns..][..columns];
                shares.iter_mut().zip(row).for_each(|(share, &value)| *share += root * value.into());
            }
        }
        let factor = scale * self.lift();
        for ((&component, &root), row) in of.iter().zip(roots).zip(y.chunks_exact_mut(columns)) {
            if component != NO_COMPONENT {
                let shares = &shares[component as usize * columns..][..columns];
                for (value, share) in row.iter_mut().zip(shares) {
                    *value = narrow((*value).into() + factor * root * share);
                }
            }
        }
    }
}

impl SymmetricMap for Deflated<'_> {
    fn size(&self) -> usize {
        self.map.size()
    }

    fn bounds(&self) -> (f64, f64) {
        self.map.bounds()
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        self.map.recur(x, columns, scale, shift, keep, y);
        self.add_lifted(x, columns, scale, y, |value| value);
    }

    fn recur_single(&self, x: &[f32], columns: usize, scale: f32, shift: f32, keep: f32, y: &mut [f32]) {
        self.map.recur_single(x, columns, scale, shift, keep, y);
        self.add_lifted(x, columns, scale.into(), y, |value| value as f32);
    }
}

/// The same eigenspaces, each with a basis that does not depend on the one given.
fn canonical(values: &[f64], mut vectors: Mat<f64>) -> Mat<f64> {
    let mut first = 0;
    while first < values.len() {
        // The constant eigenvectors of components are what they are, and positive.
        if values[first] == 1.0 {
            first += 1;
            continue;
        }
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
        let Some(pivot) = squares.iter().position(|&square| square > 0.0 && square >= most * (1.0 - TIE)) else {
            return;
        };
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
