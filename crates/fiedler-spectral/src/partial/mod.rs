//! The lowest and highest eigenpairs of a map too large for its whole spectrum.

mod filter;
mod lowest;
mod space;
mod warm;

use std::time::Instant;

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::dense::{Spectrum, dense_bytes, spectrum};
use crate::error::{Error, Result};
use crate::operator::SymmetricMap;
use filter::residuals;

/// Below this many nodes the whole spectrum is the quickest way to any part of it.
const SMALL: usize = 400;

/// Which eigenpairs are wanted, and how precisely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PartialSettings {
    /// Number of lowest eigenpairs, K in the paper.
    pub lowest: usize,
    /// Number of highest eigenpairs, K in the paper.
    pub highest: usize,
    /// The largest residual `‖M u - λ u‖` of a pair. An eigenvalue is off by at most this much, mostly by its square.
    pub tolerance: f64,
    /// Seed of the random starting vectors.
    pub seed: u64,
    /// Rounds after which an end of the spectrum is given up.
    pub rounds: usize,
    /// Bytes a dense spectrum may take where it would be the quicker way.
    pub dense_limit: u64,
}

/// The work that each end of a spectrum may take, and who hears of it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Products of the map with a vector.
    pub products: usize,
    /// Hears of the work of either end, and says whether to go on.
    pub goes_on: &'a (dyn Fn(&SolverProgress) -> bool + Sync),
}

impl Limits<'_> {
    /// Seconds that so many products with a vector take on this machine now, by timing a few.
    pub fn seconds(map: &dyn SymmetricMap, products: f64) -> f64 {
        const COLUMNS: usize = 4;
        let (x, mut y) = (vec![1.0; map.size() * COLUMNS], vec![0.0; map.size() * COLUMNS]);
        let started = Instant::now();
        map.recur(&x, COLUMNS, 1.0, 0.0, 0.0, &mut y);
        started.elapsed().as_secs_f64() / COLUMNS as f64 * products
    }
}

/// How far one end of a spectrum is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverProgress {
    /// Products of the map with a vector so far.
    pub products: usize,
    /// The most there will be.
    pub most: usize,
    /// The largest residual that was seen last.
    pub residual: Option<f64>,
}

impl Default for PartialSettings {
    fn default() -> Self {
        PartialSettings { lowest: 100, highest: 100, tolerance: 1e-6, seed: 0, rounds: 200, dense_limit: 4 << 30 }
    }
}

impl PartialSettings {
    /// Whether the whole spectrum of a map of so many rows is the quickest way to what is wanted of it.
    pub fn takes_whole(&self, size: usize) -> bool {
        let lowest = self.lowest.min(size);
        let highest = self.highest.min(size - lowest);
        let fits = dense_bytes(size, true) <= self.dense_limit;
        self.takes_much(size) && (fits || 2 * lowest.max(highest) >= size)
    }

    /// Whether so many pairs are wanted of a map of so many rows that iterating takes longer than the whole spectrum.
    pub fn takes_much(&self, size: usize) -> bool {
        let lowest = self.lowest.min(size);
        size <= SMALL || 3 * (lowest + self.highest.min(size - lowest)) >= size
    }

    fn check(&self) -> Result<()> {
        if self.tolerance >= 1e-13 && self.tolerance.is_finite() {
            return Ok(());
        }
        Err(Error::setting("tolerance", self.tolerance, "a number from 1e-13 up"))
    }
}

/// Eigenpairs at one end of the spectrum, the outermost first.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// The eigenvalues, the outermost first.
    pub values: Vec<f64>,
    /// The eigenvectors as columns beside the values; orthonormal.
    pub vectors: Mat<f64>,
    /// `‖M u - λ u‖` of every pair, as it is, not as it is estimated.
    pub residuals: Vec<f64>,
    /// Rounds the solver took; 0 where the whole spectrum was computed.
    pub rounds: usize,
    /// Vectors further inward, less precise: they help the next solve.
    guard: Mat<f64>,
}

impl Pairs {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The largest residual.
    pub fn worst_residual(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }

    pub(crate) fn none(size: usize) -> Pairs {
        Pairs {
            values: Vec::new(),
            vectors: Mat::zeros(size, 0),
            residuals: Vec::new(),
            rounds: 0,
            guard: Mat::zeros(size, 0),
        }
    }

    /// Found and guarding vectors side by side.
    fn all_vectors(&self) -> Mat<f64> {
        let (own, guard) = (self.vectors.ncols(), self.guard.ncols());
        let mut all = Mat::zeros(self.vectors.nrows(), own + guard);
        all.subcols_mut(0, own).copy_from(&self.vectors);
        all.subcols_mut(own, guard).copy_from(&self.guard);
        all
    }
}

/// Eigenpairs at both ends of a spectrum; no pair is in both.
#[derive(Debug, Clone)]
pub struct Partial {
    /// The lowest, ascending.
    pub lowest: Pairs,
    /// The highest, descending.
    pub highest: Pairs,
}

/// Computes the lowest and highest eigenpairs of a map.
///
/// `warm` are the pairs of a map that differs little, such as the same graph one step of an ascent ago. Where a large
/// share of the spectrum is
/// wanted, or the graph is small, the whole is computed. Wanting more pairs than there are gives all, the lowest first
/// served.
/// Where it iterates, the result depends on the seed, not on the number of threads; a whole spectrum may differ in its
/// last digits.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_spectral::{Normalized, Operator, PartialSettings, partial};
///
/// // A ring of n nodes has the eigenvalues 1 - cos(2πk/n): all but 0 and 2 twice.
/// let (ring, _) = Graph::from_pairs(1000, (0..1000).map(|node| (node, (node + 1) % 1000)).collect())?;
/// let settings = PartialSettings { lowest: 3, highest: 1, ..Default::default() };
/// let found = partial(&Normalized::of(&ring, Operator::Laplacian), &settings, None)?;
/// let second = 1.0 - (std::f64::consts::TAU / 1000.0).cos();
/// assert!((found.lowest.values[1] - second).abs() < 1e-6 && (found.lowest.values[2] - second).abs() < 1e-6);
/// assert!((found.highest.values[0] - 2.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the tolerance is out of its range, the iteration does not converge, or only a dense spectrum larger than its
/// limit would do.
pub fn partial(map: &dyn SymmetricMap, settings: &PartialSettings, warm: Option<&Partial>) -> Result<Partial> {
    settings.check()?;
    let size = map.size();
    let lowest = settings.lowest.min(size);
    let highest = settings.highest.min(size - lowest);
    let fits = dense_bytes(size, true) <= settings.dense_limit;
    if settings.takes_whole(size) {
        return Ok(ends(map, spectrum(map, settings.dense_limit)?, lowest, highest));
    }
    match iterate(map, lowest, highest, settings, warm, None) {
        Err(Error::NotConverged { .. }) if fits => Ok(ends(map, spectrum(map, settings.dense_limit)?, lowest, highest)),
        result => result,
    }
}

/// As [`partial`], within limits: what has not converged when they are reached, or when whoever watches wants to stop, is given as it is.
///
/// Within the residual of each value lies an eigenvalue. The value in place `k` from the lowest is not below the `k`-th lowest eigenvalue,
/// that in place `k` from the highest not above the `k`-th highest. There may be fewer pairs than wanted. The result depends on the limit
/// of products and the seed, not on the number of threads.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_spectral::{Limits, Normalized, Operator, PartialSettings, partial_within};
///
/// let (ring, _) = Graph::from_pairs(1000, (0..1000).map(|node| (node, (node + 1) % 1000)).collect())?;
/// let settings = PartialSettings { lowest: 3, highest: 0, dense_limit: 0, ..Default::default() };
/// let limits = Limits { products: 500, goes_on: &|_| true };
/// let found = partial_within(&Normalized::of(&ring, Operator::Laplacian), &settings, &limits)?.lowest;
/// for (value, residual) in found.values.iter().zip(&found.residuals) {
///     let eigenvalues = (0..1000).map(|k| 1.0 - (std::f64::consts::TAU * f64::from(k) / 1000.0).cos());
///     let nearest = eigenvalues.map(|eigenvalue| (eigenvalue - value).abs()).fold(f64::INFINITY, f64::min);
///     assert!(nearest <= *residual + 1e-12);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the tolerance is out of its range, or a small problem cannot be decomposed.
pub fn partial_within(map: &dyn SymmetricMap, settings: &PartialSettings, limits: &Limits<'_>) -> Result<Partial> {
    settings.check()?;
    let size = map.size();
    let lowest = settings.lowest.min(size);
    let highest = settings.highest.min(size - lowest);
    if settings.takes_whole(size) {
        return Ok(ends(map, spectrum(map, settings.dense_limit)?, lowest, highest));
    }
    let found = iterate(map, lowest, highest, settings, None, Some(limits))?;
    let is_done = |pairs: &Pairs, wanted: usize| pairs.len() == wanted && pairs.worst_residual() <= settings.tolerance;
    if is_done(&found.lowest, lowest) && is_done(&found.highest, highest) {
        return Ok(found);
    }
    let worst = found.lowest.worst_residual().max(found.highest.worst_residual());
    let now = SolverProgress { products: limits.products, most: limits.products, residual: Some(worst) };
    if dense_bytes(size, true) <= settings.dense_limit && (limits.goes_on)(&now) {
        return Ok(ends(map, spectrum(map, settings.dense_limit)?, lowest, highest));
    }
    Ok(found)
}

fn iterate(
    map: &dyn SymmetricMap,
    lowest: usize,
    highest: usize,
    settings: &PartialSettings,
    warm: Option<&Partial>,
    limits: Option<&Limits<'_>>,
) -> Result<Partial> {
    let warm =
        warm.filter(|warm| warm.lowest.vectors.nrows() == map.size() && warm.highest.vectors.nrows() == map.size());
    let (lowest, highest) = rayon::join(
        || one_end(map, lowest, warm.map(|warm| &warm.lowest), settings, limits),
        || one_end(&Flipped(map), highest, warm.map(|warm| &warm.highest), settings, limits),
    );
    let (lowest, mut highest) = (lowest?, highest?);
    highest.values.iter_mut().for_each(|value| *value = -*value);
    Ok(Partial { lowest, highest })
}

fn one_end(
    map: &dyn SymmetricMap,
    wanted: usize,
    warm: Option<&Pairs>,
    settings: &PartialSettings,
    limits: Option<&Limits<'_>>,
) -> Result<Pairs> {
    if wanted == 0 {
        return Ok(Pairs::none(map.size()));
    }
    let start = warm.map(Pairs::all_vectors).filter(|start| start.ncols() > wanted);
    lowest::solve(map, wanted, start, settings, limits)
}

/// Both ends of a whole spectrum.
fn ends(map: &dyn SymmetricMap, whole: Spectrum, lowest: usize, highest: usize) -> Partial {
    let size = whole.values.len();
    let guard = |wanted: usize| lowest::guard(wanted).min(size - wanted);
    let low = |place: usize| place;
    let high = |place: usize| size - 1 - place;
    Partial {
        lowest: take(map, &whole, lowest, guard(lowest), low),
        highest: take(map, &whole, highest, guard(highest), high),
    }
}

fn take(
    map: &dyn SymmetricMap,
    whole: &Spectrum,
    wanted: usize,
    guard: usize,
    place: impl Fn(usize) -> usize,
) -> Pairs {
    let size = whole.values.len();
    let columns = |first: usize, count: usize| {
        Mat::from_fn(size, count, |row, column| whole.vectors[(row, place(first + column))])
    };
    let values: Vec<f64> = (0..wanted).map(|rank| whole.values[place(rank)]).collect();
    let vectors = columns(0, wanted);
    let residuals = residuals(map, vectors.as_ref(), &values);
    Pairs { values, vectors, residuals, rounds: 0, guard: columns(wanted, guard) }
}

/// The negative of a map: its lowest eigenpairs are the highest of the map.
struct Flipped<'a>(&'a dyn SymmetricMap);

impl SymmetricMap for Flipped<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn bounds(&self) -> (f64, f64) {
        let (low, high) = self.0.bounds();
        (-high, -low)
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        self.0.recur(x, columns, -scale, shift, keep, y);
    }

    fn recur_single(&self, x: &[f32], columns: usize, scale: f32, shift: f32, keep: f32, y: &mut [f32]) {
        self.0.recur_single(x, columns, -scale, shift, keep, y);
    }
}
