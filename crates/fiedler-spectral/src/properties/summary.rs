//! All that the spectrum tells of a graph, in one record.

use std::sync::atomic::{AtomicBool, Ordering};

use fiedler_graph::measure::components;
use fiedler_graph::{Event, Graph, NoObserver, Observer};
use serde::{Deserialize, Serialize};

use super::bounds::{Cheeger, DiameterBounds, Known, SAME, column, sweep_conductance};
use super::clusters::ClusterCount;
use super::distance::{Diameter, diameter_while, largest_component};
use crate::combinatorial::Combinatorial;
use crate::density::{Density, DensitySettings};
use crate::error::Result;
use crate::operator::{Normalized, Operator};
use crate::partial::{Limits, Partial, PartialSettings, SolverProgress, partial_within};

/// How much of a graph's spectrum is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SummarySettings {
    /// Which operator's eigenvalues, norm and density are reported. Bounds always come from the Laplacian.
    pub operator: Operator,
    /// Eigenvalues at each end.
    pub pairs: usize,
    /// The largest residual of an eigenpair.
    pub tolerance: f64,
    /// Graphs of up to this many nodes are described by their whole spectrum.
    pub whole_up_to: usize,
    /// Breadth-first searches the diameter may take.
    pub searches: usize,
    /// Parts of the interval that eigenvalues are counted in.
    pub bins: usize,
    /// How the counts of larger graphs are estimated.
    pub density: DensitySettings,
    /// Seed of all random vectors.
    pub seed: u64,
}

impl Default for SummarySettings {
    fn default() -> Self {
        SummarySettings {
            operator: Operator::Laplacian,
            pairs: 20,
            tolerance: 1e-6,
            whole_up_to: 2_000,
            searches: 5_000,
            bins: 40,
            density: DensitySettings::default(),
            seed: 0,
        }
    }
}

/// The ends of a spectrum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// The lowest eigenvalues, ascending.
    pub lowest: Vec<f64>,
    /// The highest eigenvalues, descending.
    pub highest: Vec<f64>,
    /// The largest residual among them.
    pub residual: f64,
    /// The residual of each of the lowest: so near to it lies an eigenvalue.
    #[serde(default)]
    pub lowest_errors: Vec<f64>,
    /// The residual of each of the highest.
    #[serde(default)]
    pub highest_errors: Vec<f64>,
}

/// What the spectrum tells of a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The operator of `norm`, `extremes` and `histogram`.
    pub operator: Operator,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// The norm of the whole spectrum, `√Σ λ²`; exact.
    pub norm: f64,
    /// Components, counted by search.
    pub components: usize,
    /// Zero eigenvalues of the normalized Laplacian: one for each component that has an edge, however many were computed.
    pub zero_eigenvalues: usize,
    /// Components, counted by the Laplacian's zeros among the eigenvalues that were computed, isolated nodes added:
    /// a lower bound when all of these are zero.
    pub components_by_spectrum: usize,
    /// Nodes without edges. The Laplacian of the paper gives each the eigenvalue 1, not 0.
    pub isolated_nodes: usize,
    /// Nodes of the largest component, which all that follows is about up to `clusters`.
    pub largest_component: usize,
    /// The second lowest eigenvalue of the whole graph's normalized Laplacian; 0 unless the graph is connected.
    pub algebraic_connectivity: f64,
    /// Likewise of the Laplacian that is not normalized, as Fiedler defined it.
    pub algebraic_connectivity_unnormalized: f64,
    /// The second lowest eigenvalue of the largest component: the gap above its only 0.
    pub spectral_gap: Option<f64>,
    /// The residual of that value: so near to it lies an eigenvalue; the gap is no larger than the value.
    #[serde(default)]
    pub spectral_gap_error: Option<f64>,
    /// The residual of the second lowest eigenvalue of the largest component's Laplacian that is not normalized.
    #[serde(default)]
    pub unnormalized_error: Option<f64>,
    /// Bounds on the conductance of its best cut.
    pub cheeger: Option<Cheeger>,
    /// Its diameter, by search.
    pub diameter: Diameter,
    /// Its diameter's bounds, by eigenvalues.
    pub diameter_bounds: Option<DiameterBounds>,
    /// The number of its clusters that stand above a random graph of the same degrees.
    pub clusters: Option<ClusterCount>,
    /// The ends of the spectrum.
    pub extremes: Extremes,
    /// Eigenvalues in each of equal parts of the operator's interval: counted, or estimated when `histogram_estimated`.
    pub histogram: Vec<f64>,
    /// Whether the histogram is an estimate.
    pub histogram_estimated: bool,
    /// Standard error of each of these counts, where they are an estimate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram_errors: Vec<f64>,
    /// What was left out, and why, one sentence each.
    pub notes: Vec<String>,
}

/// Describes a graph by its spectrum.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_spectral::properties::{SummarySettings, summarize};
///
/// let (square, _) = Graph::from_pairs(4, vec![(0, 1), (1, 2), (2, 3), (3, 0)])?;
/// let summary = summarize(&square, &SummarySettings::default())?;
/// assert_eq!((summary.components, summary.zero_eigenvalues), (1, 1));
/// assert!((summary.algebraic_connectivity - 1.0).abs() < 1e-12);
/// assert_eq!(summary.diameter.exact(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The work is bounded. Eigenvalues that have not converged when the bound is reached are given with their residuals, within which an
/// eigenvalue lies.
///
/// # Errors
/// When a setting is out of its range.
pub fn summarize(graph: &Graph, settings: &SummarySettings) -> Result<Summary> {
    summarize_watched(graph, settings, &NoObserver)
}

/// As [`summarize`]; the observer hears what is worked on, and of a large graph how long that will take. Where it wants to stop, what has been found by
/// then is kept, and the rest is left out, with a note that says so.
///
/// A graph of millions of edges has less of its spectrum computed, so that minutes suffice: two eigenvalues at each end, to a residual that is told, no clusters, a
/// density by fewer random vectors with its errors, a diameter between bounds.
///
/// # Errors
/// As there.
pub fn summarize_watched(graph: &Graph, settings: &SummarySettings, observer: &dyn Observer) -> Result<Summary> {
    let effort = Effort::of(graph, settings);
    let settings = &effort.settings;
    let watch = Watch { observer, stopped: AtomicBool::new(false) };
    let map = Normalized::of(graph, settings.operator);
    if effort.entries >= TIMED {
        let seconds = effort.seconds(&map);
        if seconds >= WORTH_TELLING {
            let _ = observer.event(&Event::Note(&format!(
                "the spectrum of {} nodes and {} edges: expected to take about {seconds:.0} seconds, at most",
                graph.num_nodes(),
                graph.num_edges()
            )));
        }
    }
    let whole = graph.num_nodes() <= settings.whole_up_to;
    let found = solve(&map, &effort, whole, &|done| watch.tell_solver(0, "eigenvalues at both ends", done))?;
    let laplacian = match settings.operator {
        Operator::Laplacian => found.clone(),
        Operator::Propagation => {
            let goes_on = |done: &SolverProgress| watch.tell_solver(0, "eigenvalues of the Laplacian", done);
            solve(&Normalized::of(graph, Operator::Laplacian), &effort, whole, &goes_on)?
        }
    };
    let (_, count) = components(graph);
    let isolated = (0..graph.num_nodes() as u32).filter(|&node| graph.degree(node) == 0).count();
    let largest = Component::of(graph, count, laplacian.clone(), &effort, &watch)?;
    let mut notes = Vec::new();
    let clusters = match (watch.tell(2, "clusters"), effort.is_large) {
        (true, false) => {
            let goes_on = |done: &SolverProgress| watch.tell_solver(2, "clusters", done);
            Some(ClusterCount::within(&largest.graph, settings.seed, &effort.limits(&goes_on))?)
        }
        (true, true) => {
            notes.push("clusters were not counted: the graph is large".to_owned());
            None
        }
        (false, _) => None,
    };
    let connected = count == 1 && graph.num_nodes() > 1;
    let gap = largest.laplacian.lowest.values.get(1).copied();
    let mut goes_on = |done: usize, total: usize| watch.tell(3, &format!("density, {done} of {total} moments"));
    let (histogram, histogram_errors) = match whole || watch.tell(3, "density") {
        true => histogram(&map, &found, whole, settings, &mut goes_on)?,
        false => (Vec::new(), Vec::new()),
    };
    let histogram_estimated = !whole;
    let cheeger = largest.cheeger(!watch.is_stopped());
    let diameter = largest.diameter(settings.searches, &mut || watch.tell(4, "diameter"));
    if watch.is_stopped() {
        notes.push("stopped: what had not been found by then is left out".to_owned());
    }
    let zeros = laplacian.lowest.values.iter().filter(|value| value.abs() <= zero(settings)).count();
    Ok(Summary {
        operator: settings.operator,
        nodes: graph.num_nodes(),
        edges: graph.num_edges(),
        norm: map.spectral_norm(),
        components: count,
        zero_eigenvalues: count - isolated,
        components_by_spectrum: zeros + isolated,
        isolated_nodes: isolated,
        largest_component: largest.graph.num_nodes(),
        algebraic_connectivity: gap.filter(|_| connected).unwrap_or(0.0),
        algebraic_connectivity_unnormalized: largest.unnormalized_second.filter(|_| connected).unwrap_or(0.0),
        spectral_gap: gap,
        spectral_gap_error: largest.laplacian.lowest.residuals.get(1).copied(),
        unnormalized_error: largest.unnormalized_error,
        cheeger,
        diameter,
        diameter_bounds: largest.diameter_bounds(),
        clusters,
        extremes: extremes(&found, settings.pairs),
        histogram,
        histogram_estimated,
        histogram_errors,
        notes,
    })
}

/// Eigenvalues below this are zeros. An eigenvalue is off by the square of its residual, a little more where many lie
/// close.
fn zero(settings: &SummarySettings) -> f64 {
    settings.tolerance.max(SAME)
}

/// Rounds after which eigenvalues of a graph that is only described are taken as they are: a long path has so many near zero that no
/// number of rounds would do.
const ROUNDS: usize = 20;

/// The name of the stage that an [`Observer`] hears.
const STAGE: &str = "spectrum";
/// Eigenvalues, connectivity, clusters, density, diameter.
const PARTS: usize = 5;
/// Nodes and entries from which on a graph is large.
const LARGE: usize = 10_000_000;
/// Products of an entry and a number that each end of a spectrum may take.
const WORK: f64 = 4e10;
/// Products of the map with a vector that each end may take at least.
const FEWEST_PRODUCTS: f64 = 400.0;
/// Entries from which on a product is timed, and seconds from which on what all will take is told.
const TIMED: usize = 500_000;
const WORTH_TELLING: f64 = 10.0;
/// The residual above which eigenvalues say nothing of a diameter.
const ROUGH: f64 = 1e-3;
/// Nodes and entries that all searches for a diameter may meet.
const SEARCHED: usize = 1_000_000_000;

/// How much of the spectrum is looked at, by the size of the graph.
struct Effort {
    settings: SummarySettings,
    is_large: bool,
    entries: usize,
    /// Products of the map with a vector, for each end of a spectrum.
    products: usize,
}

/// Who watches, and whether they have asked to stop.
struct Watch<'a> {
    observer: &'a dyn Observer,
    stopped: AtomicBool,
}

impl Watch<'_> {
    fn tell(&self, done: usize, item: &str) -> bool {
        let event = Event::Progress { stage: STAGE, item, done, total: Some(PARTS), value: None };
        if self.is_stopped() || !self.observer.goes_on(&event) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.is_stopped()
    }

    fn tell_solver(&self, done: usize, item: &str, progress: &SolverProgress) -> bool {
        let percent = 100 * progress.products.min(progress.most) / progress.most.max(1);
        self.tell(done, &format!("{item}, {percent} % of the work at most"))
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Effort {
    fn of(graph: &Graph, settings: &SummarySettings) -> Effort {
        let entries = graph.num_nodes() + graph.indices().len();
        let is_large = entries >= LARGE;
        let mut settings =
            SummarySettings { searches: settings.searches.min((SEARCHED / entries.max(1)).max(4)), ..*settings };
        if is_large {
            settings.pairs = settings.pairs.min(2);
            settings.tolerance = settings.tolerance.max(1e-2);
            settings.density.probes = settings.density.probes.min(4);
        }
        let products = (WORK / entries.max(1) as f64).max(FEWEST_PRODUCTS) as usize;
        Effort { settings, is_large, entries, products }
    }

    fn limits<'a>(&self, goes_on: &'a (dyn Fn(&SolverProgress) -> bool + Sync)) -> Limits<'a> {
        Limits { products: self.products, goes_on }
    }

    /// Seconds that all of it takes at most, by the time of one product.
    fn seconds(&self, map: &Normalized) -> f64 {
        let DensitySettings { moments, probes, .. } = self.settings.density;
        // Both ends; the second eigenvalue of the Laplacian that is not normalized; two counts of clusters.
        let ends = if self.is_large { 3.0 } else { 5.0 } * self.products as f64;
        let searches = self.settings.searches as f64 * self.entries as f64 * 5e-9;
        Limits::seconds(map, ends + (moments / 2 * probes) as f64) + searches
    }
}

fn solve(
    map: &Normalized,
    effort: &Effort,
    whole: bool,
    goes_on: &(dyn Fn(&SolverProgress) -> bool + Sync),
) -> Result<Partial> {
    let settings = &effort.settings;
    let pairs = settings.pairs.max(2);
    let (lowest, highest) = if whole { (map.degrees().len(), 0) } else { (pairs, pairs) };
    let wanted = PartialSettings { lowest, highest, dense_limit: DENSE, ..base(settings) };
    partial_within(map, &wanted, &effort.limits(goes_on))
}

/// Bytes of a dense spectrum that is computed instead of a part where that does not converge.
const DENSE: u64 = 1 << 29;

fn base(settings: &SummarySettings) -> PartialSettings {
    PartialSettings { tolerance: settings.tolerance, seed: settings.seed, rounds: ROUNDS, ..Default::default() }
}

fn extremes(found: &Partial, pairs: usize) -> Extremes {
    let residual = found.lowest.worst_residual().max(found.highest.worst_residual());
    let first = |values: &[f64]| values.iter().copied().take(pairs).collect();
    let last = |values: &[f64]| values.iter().rev().copied().take(pairs).collect();
    let (lowest, lowest_errors) = (first(&found.lowest.values), first(&found.lowest.residuals));
    let (highest, highest_errors) = if found.highest.is_empty() {
        (last(&found.lowest.values), last(&found.lowest.residuals))
    } else {
        (found.highest.values.clone(), found.highest.residuals.clone())
    };
    Extremes { lowest, highest, residual, lowest_errors, highest_errors }
}

/// Counts, and the standard errors of counts that are estimates.
fn histogram(
    map: &Normalized,
    found: &Partial,
    whole: bool,
    settings: &SummarySettings,
    goes_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<(Vec<f64>, Vec<f64>)> {
    if !whole {
        let density = DensitySettings { seed: settings.seed, ..settings.density };
        let density = Density::estimate_watched(map, &density, goes_on)?;
        return Ok((density.histogram(settings.bins), density.standard_errors(settings.bins)));
    }
    let (low, high) = map.operator().bounds();
    let mut counts = vec![0.0; settings.bins];
    for value in &found.lowest.values {
        let place = (value - low) / (high - low) * settings.bins as f64;
        if let Some(count) = counts.get_mut((place.max(0.0) as usize).min(settings.bins.saturating_sub(1))) {
            *count += 1.0;
        }
    }
    Ok((counts, Vec::new()))
}

/// The largest component and what is known of it.
struct Component {
    graph: Graph,
    laplacian: Partial,
    unnormalized_second: Option<f64>,
    unnormalized_error: Option<f64>,
}

impl Component {
    /// `laplacian` is the spectrum of the whole graph, which is the component's if there is but one.
    fn of(graph: &Graph, count: usize, laplacian: Partial, effort: &Effort, watch: &Watch<'_>) -> Result<Component> {
        let settings = &effort.settings;
        let (graph, laplacian) = if count <= 1 {
            (graph.clone(), laplacian)
        } else {
            let part = induced(graph, &largest_component(graph));
            let whole = part.num_nodes() <= settings.whole_up_to;
            let goes_on = |done: &SolverProgress| watch.tell_solver(1, "eigenvalues of the largest component", done);
            let laplacian = solve(&Normalized::of(&part, Operator::Laplacian), effort, whole, &goes_on)?;
            (part, laplacian)
        };
        let two = PartialSettings { lowest: 2, highest: 0, dense_limit: DENSE, ..base(settings) };
        let goes_on = |done: &SolverProgress| watch.tell_solver(1, "connectivity", done);
        let unnormalized = match watch.tell(1, "connectivity") {
            true => Some(partial_within(&Combinatorial::of(&graph), &two, &effort.limits(&goes_on))?.lowest),
            false => None,
        };
        let (unnormalized_second, unnormalized_error) = match &unnormalized {
            Some(found) => (found.values.get(1).copied(), found.residuals.get(1).copied()),
            None => (None, None),
        };
        Ok(Component { unnormalized_second, unnormalized_error, graph, laplacian })
    }

    /// `sweep` asks for the best cut along the eigenvector.
    fn cheeger(&self, sweep: bool) -> Option<Cheeger> {
        let lowest = &self.laplacian.lowest;
        let (second, error) = (lowest.values.get(1)?, lowest.residuals.get(1)?);
        let found = sweep.then(|| sweep_conductance(&self.graph, &column(lowest.vectors.as_ref(), 1))).flatten();
        // The value is never too low, but may be too high by as much as the residual.
        let at_least =
            if *error > ROUGH { Cheeger::from_second(second - error) } else { Cheeger::from_second(*second) };
        Some(Cheeger { at_least: at_least.at_least, found, ..Cheeger::from_second(*second) })
    }

    fn diameter(&self, searches: usize, goes_on: &mut dyn FnMut() -> bool) -> Diameter {
        if self.graph.num_nodes() == 0 {
            Diameter { at_least: 0, at_most: 0 }
        } else {
            diameter_while(&self.graph, 0, searches, goes_on)
        }
    }

    fn diameter_bounds(&self) -> Option<DiameterBounds> {
        let worst = self.laplacian.lowest.worst_residual().max(self.laplacian.highest.worst_residual());
        if worst > ROUGH || self.unnormalized_error.is_some_and(|error| error > ROUGH) {
            return None;
        }
        let lowest = &self.laplacian.lowest.values;
        let highest = *self.laplacian.highest.values.first().or(lowest.last())?;
        let known = Known { lowest, highest, unnormalized_second: self.unnormalized_second };
        Some(DiameterBounds::of(&self.graph, known))
    }
}

/// The graph that some nodes, ascending, and the edges between them make.
fn induced(graph: &Graph, nodes: &[u32]) -> Graph {
    let place = |node: u32| nodes.binary_search(&node).ok().map(|place| place as u32);
    let weights = graph.edge_weights();
    let kept =
        graph.edge_pairs().enumerate().filter_map(|(edge, (low, high))| Some((edge, (place(low)?, place(high)?))));
    let (edges, pairs): (Vec<usize>, Vec<(u32, u32)>) = kept.unzip();
    let built = match weights {
        Some(weights) => {
            let weights = edges.iter().map(|&edge| weights[edge]).collect();
            Graph::from_weighted_pairs(nodes.len(), pairs, weights)
        }
        None => Graph::from_pairs(nodes.len(), pairs),
    };
    // Ids and weights come from a graph, so they make one.
    built.map_or_else(|_| Graph::empty(nodes.len()), |(part, _)| part)
}
