//! Warm starts: vectors of an earlier solve, filtered until they converge.
//!
//! Vectors that are nearly right need no Krylov space: a filter of the degree that their residuals still ask for, and one
//! projection onto their span. The filter also raises the lowest eigenvectors above those near the cut, so a vector near
//! the cut takes its degrees in two parts, between which it is cleared of the lower ones. Where the tolerance allows, the
//! filter works in single precision: it damps rounding errors like any other.

use faer::reborrow::IntoConst;
use faer::{Accum, Mat};

use super::filter::{multiply, quotients, residuals};
use super::lowest::{Solver, guard};
use super::space::{unit_columns, unit_length, whitening};
use crate::dense::Spectrum;
use crate::error::Result;
use crate::linear::{Precision, copy, decompose, inner, product, symmetric_inner, times};

/// Products with every vector of a warm start, on average, that cost as much as Krylov spaces from nothing.
const WARM_DEGREES: usize = 100;
/// The median residual beyond which a graph is no longer much the same, and Krylov spaces are the quicker way; and the rounds
/// after which they are.
const FAR: f64 = 1e-2;
const MOST_ROUNDS: usize = 8;
/// The highest degree a vector is filtered with before it is cleared of the lower ones.
const MOST_DEGREES: f64 = 60.0;
/// The residual that vectors in single precision reach with ease.
const SINGLE: f64 = 5e-7;
/// The share of the tolerance that a round aims at, as the degree it needs is an estimate. Vectors near the cut suffer
/// from the guard beyond it, which does not converge, so they get more.
const AIM: f64 = 0.3;
const AIM_NEAR_CUT: f64 = 0.03;
/// How far a filter may raise the lowest eigenvector above the one a vector stands for.
const SPREAD: f64 = 1e4;
/// Directions whose squared strength is a smaller share of the strongest are the same in single precision.
const SAME: f64 = 1e-6;

/// What a round does.
struct Plan {
    /// The lowest vectors, which have converged and stay as they are.
    locked: usize,
    /// The filter's degree for every vector after these.
    degrees: Vec<usize>,
    /// How many of them, from the lowest, then have all they need.
    settled: usize,
    /// Degrees for the vectors that follow, once they are cleared of the settled.
    more: Vec<usize>,
    /// Whether single precision is enough.
    single: bool,
}

impl Solver<'_> {
    /// Filters all vectors of an earlier solve until they converge, and tells whether they have. It gives up, the filter
    /// aimed, where that would take longer than Krylov spaces, which need fewer products but a larger basis.
    pub(super) fn warm_up(&mut self, mut start: Mat<f64>) -> Result<bool> {
        start.truncate(self.map.size(), start.ncols().min(self.wanted + guard(self.wanted)));
        // Vectors of an earlier solve are orthonormal: they are taken for Ritz vectors as they are.
        (self.values, self.residuals) = quotients(self.map, start.as_ref());
        self.residuals.truncate(self.wanted);
        self.vectors = start;
        if self.is_done() {
            let vectors = self.vectors.clone();
            self.project(vectors, 0)?;
        }
        let mut products = WARM_DEGREES * self.vectors.ncols();
        while !self.is_done() {
            if self.rounds == MOST_ROUNDS || self.rounds == 0 && median(&self.residuals) > FAR {
                self.aim_by_density()?;
                return Ok(false);
            }
            if self.values.len() <= self.wanted || !self.residuals.iter().all(|residual| residual.is_finite()) {
                self.aim_by_density()?;
                return Ok(false);
            }
            self.aim_by_values();
            let plan = self.plan();
            let Some(left) = products.checked_sub(plan.degrees.iter().chain(&plan.more).sum()) else {
                return Ok(false);
            };
            products = left;
            let filtered = if plan.single { self.filtered::<f32>(&plan)? } else { self.filtered::<f64>(&plan)? };
            self.project(filtered, plan.locked)?;
        }
        Ok(true)
    }

    /// The degrees that bring every wanted vector to the tolerance, as far as one round can.
    fn plan(&self) -> Plan {
        let tolerance = self.settings.tolerance;
        let worst = self.residuals.iter().copied().fold(0.0, f64::max);
        let single = tolerance >= SINGLE || worst > 100.0 * SINGLE;
        let goal = if single { tolerance.max(SINGLE) } else { tolerance };
        let lowest = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let steepest = self.filter.rate(lowest);
        let at_once = |place: usize| {
            let ahead = steepest - self.filter.rate(self.values[place]);
            (SPREAD.ln() / ahead.max(1e-9)).clamp(1.0, MOST_DEGREES) as usize
        };
        let degree = |place: usize, growth: f64| self.filter.degree_for(self.values[place], growth).ceil() as usize;
        let needed = |place: usize| match self.residuals.get(place) {
            Some(&residual) if residual <= goal => 0,
            Some(&residual) => match degree(place, residual / (AIM * goal)) {
                few if few <= at_once(place) && self.rounds == 0 => few,
                _ => degree(place, residual / (AIM_NEAR_CUT * goal)),
            },
            // The guard need not converge, but must follow the graph.
            None => at_once(place).div_ceil(2),
        };
        // The first round is for all, even where few moved: together they are unmixed best.
        let locked =
            if self.rounds == 0 { 0 } else { (0..self.wanted).take_while(|&place| needed(place) == 0).count() };
        let open: Vec<(usize, usize)> =
            (locked..self.values.len()).map(|place| (needed(place), at_once(place))).collect();
        let settled = open.iter().position(|(needed, at_once)| needed > at_once).unwrap_or(open.len());
        let rest = |&(needed, at_once): &(usize, usize)| needed.saturating_sub(at_once).min(at_once);
        Plan {
            locked,
            degrees: open.iter().map(|&(needed, at_once)| needed.min(at_once)).collect(),
            settled,
            more: open[settled..].iter().map(rest).collect(),
            single,
        }
    }

    /// The vectors that are not locked, as the plan filters them, and beside them, the first time, a few random ones.
    fn filtered<T: Precision>(&mut self, plan: &Plan) -> Result<Mat<f64>> {
        let (size, open) = (self.map.size(), self.vectors.ncols() - plan.locked);
        let mut vectors = Mat::<T>::zeros(size, open);
        let before = self.vectors.subcols(plan.locked, open);
        self.filter.apply_each(self.map, before, &plan.degrees, vectors.as_mut());
        // What the earlier solve did not know of can only come from outside.
        let random = if self.rounds == 0 { self.block.div_ceil(4) } else { 0 };
        let mut all = Mat::zeros(size, open + random);
        if random > 0 {
            let mut block = self.space.random(random);
            let shares = inner(self.vectors.as_ref(), block.as_ref());
            product(block.as_mut(), Accum::Add, self.vectors.as_ref(), shares.as_ref(), -1.0);
            let mut strong = Mat::<T>::zeros(size, random);
            self.filter.apply_each(self.map, block.as_ref(), &vec![self.filter.degree(); random], strong.as_mut());
            copy(all.subcols_mut(open, random), strong.as_ref());
        }
        let settled = plan.settled;
        copy(all.subcols_mut(0, settled), vectors.subcols(0, settled));
        if settled < open {
            clear_of_first(&mut vectors, settled)?;
            let mut last = Mat::<T>::zeros(size, open - settled);
            self.filter.apply_each(self.map, vectors.subcols(settled, open - settled), &plan.more, last.as_mut());
            copy(all.subcols_mut(settled, open - settled), last.as_ref());
        }
        Ok(all)
    }

    /// Keeps the lowest Ritz pairs of the span of vectors that need not be orthogonal, beside the `locked` ones.
    fn project(&mut self, mut vectors: Mat<f64>, locked: usize) -> Result<()> {
        self.rounds += 1;
        let known = self.vectors.subcols(0, locked);
        let shares = inner(known, vectors.as_ref());
        product(vectors.as_mut(), Accum::Add, known, shares.as_ref(), -1.0);
        unit_columns(&mut vectors);
        let Some((mut basis, weakest)) = whitening(vectors.as_ref()) else { return Ok(()) };
        if weakest < 1e-4 {
            // Vectors this close to each other come out orthogonal only at the second try.
            vectors = times(vectors.as_ref(), basis.as_ref());
            let Some((again, _)) = whitening(vectors.as_ref()) else { return Ok(()) };
            basis = again;
        }
        let mut seen = symmetric_inner(vectors.as_ref(), multiply(self.map, vectors.as_ref()).as_ref());
        for column in 0..seen.ncols() {
            (0..column).for_each(|row| seen[(row, column)] = seen[(column, row)]);
        }
        let seen = times(seen.as_ref(), basis.as_ref());
        let ritz = decompose(inner(basis.as_ref(), seen.as_ref()).as_ref())?;
        let kept = ritz.values.len().min(self.vectors.ncols() - locked);
        let coefficients = times(basis.as_ref(), ritz.vectors.subcols(0, kept));
        self.vectors.truncate(self.map.size(), locked + kept);
        product(self.vectors.subcols_mut(locked, kept), Accum::Replace, vectors.as_ref(), coefficients.as_ref(), 1.0);
        self.values.truncate(locked);
        self.values.extend_from_slice(&ritz.values[..kept]);
        if !self.values.is_sorted() {
            // Something lower than a locked pair has come up: only together do they take their places.
            let vectors = self.vectors.clone();
            return self.project(vectors, 0);
        }
        let changed = self.wanted.saturating_sub(locked).min(kept);
        self.residuals.truncate(locked);
        let changed = self.vectors.subcols(locked, changed);
        self.residuals.extend(residuals(self.map, changed, &self.values[locked..]));
        Ok(())
    }

    /// A block of random mixtures of what a warm start left: a better beginning than random vectors.
    pub(super) fn mixed(&mut self) -> Mat<f64> {
        let random = self.space.random(self.block);
        let shares = random.subrows(0, self.vectors.ncols().min(random.nrows()));
        times(self.vectors.subcols(0, shares.nrows()), shares)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Takes from the later columns, made of length one, their shares in the first ones, which need not be orthonormal.
fn clear_of_first<T: Precision>(vectors: &mut Mat<T>, first: usize) -> Result<()> {
    (0..vectors.ncols()).for_each(|column| _ = unit_length(vectors.col_as_slice_mut(column)));
    let (known, open) = vectors.as_mut().split_at_col_mut(first);
    let known = known.into_const();
    let Spectrum { values, vectors } = decompose(symmetric_inner(known, known).as_ref())?;
    let mut shares = inner(vectors.as_ref(), inner(known, open.as_ref()).as_ref());
    let least = SAME * values.last().copied().unwrap_or(0.0);
    for (place, &value) in values.iter().enumerate() {
        let factor = if value > least { 1.0 / value } else { 0.0 };
        shares.row_mut(place).iter_mut().for_each(|share| *share *= factor);
    }
    let shares = times(vectors.as_ref(), shares.as_ref());
    let mut single = Mat::zeros(shares.nrows(), shares.ncols());
    copy(single.as_mut(), shares.as_ref());
    product(open, Accum::Add, known, single.as_ref(), -1.0);
    Ok(())
}
