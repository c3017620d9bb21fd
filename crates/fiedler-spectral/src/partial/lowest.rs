//! The lowest eigenpairs of a map, by filtered block Krylov spaces.
//!
//! Multiplying a sparse graph costs far less than keeping a basis orthogonal, so each new block of the basis is not the
//! last block times the map but times a [`Filter`]: the basis stays small, and all heavy work is products of dense
//! matrices.
//! A block Krylov space sees at most as many copies of a repeated eigenvalue as the block has columns; so after all
//! wanted pairs have converged, fresh random directions are let in, in growing numbers, until they bring nothing new.

use std::cell::Cell;

use faer::{Mat, MatRef};

use super::filter::{Filter, residuals};
use super::space::Space;
use super::{Limits, Pairs, PartialSettings, SolverProgress};
use crate::dense::Spectrum;
use crate::density::{Density, DensitySettings};
use crate::error::{Error, Result};
use crate::operator::SymmetricMap;

/// How far the filter raises the lowest eigenvalue above the cut. More would drown the directions near it in rounding.
const GROWTH: f64 = 1e5;
/// Nodes from which on one random vector tells the density of a spectrum as well as several.
const SELF_AVERAGING: usize = 100_000;
/// The lowest degree that a limit on products leaves a filter.
const LEAST_DEGREE: usize = 8;
/// Times a fresh random block is filtered before it is believed to hold nothing new.
const CHAIN: usize = 3;

/// Pairs beyond the wanted that are kept: they separate the wanted from the rest, and warm up the next solve.
pub(super) fn guard(wanted: usize) -> usize {
    8 + wanted / 5
}

/// The `wanted` lowest eigenpairs.
pub(super) fn solve(
    map: &dyn SymmetricMap,
    wanted: usize,
    start: Option<Mat<f64>>,
    settings: &PartialSettings,
    limits: Option<&Limits<'_>>,
) -> Result<Pairs> {
    let mut solver = Solver::new(map, wanted, settings, limits);
    let block = match start {
        Some(start) => {
            if solver.warm_up(start)? {
                return Ok(solver.finish());
            }
            solver.mixed()
        }
        None => {
            solver.aim_by_density()?;
            if solver.stopped.get() {
                return Ok(Pairs::none(map.size()));
            }
            solver.space.random(solver.block)
        }
    };
    solver.run(block)
}

pub(super) struct Solver<'a> {
    pub(super) map: &'a dyn SymmetricMap,
    pub(super) space: Space<'a>,
    pub(super) settings: &'a PartialSettings,
    limits: Option<&'a Limits<'a>>,
    /// Products of the map with a vector so far.
    products: Cell<usize>,
    /// Whether whoever watches wants to stop.
    stopped: Cell<bool>,
    pub(super) wanted: usize,
    pub(super) block: usize,
    pub(super) filter: Filter,
    /// Ritz values and vectors of the last check, wanted and guard, and the residuals of the wanted.
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) rounds: usize,
}

impl<'a> Solver<'a> {
    fn new(
        map: &'a dyn SymmetricMap,
        wanted: usize,
        settings: &'a PartialSettings,
        limits: Option<&'a Limits<'a>>,
    ) -> Solver<'a> {
        let block = (wanted / 12).clamp(4, 32);
        let room = 5 * wanted / 2 + guard(wanted) + 8 * block;
        Solver {
            map,
            space: Space::new(map, room, settings.seed),
            settings,
            limits,
            products: Cell::new(0),
            stopped: Cell::new(false),
            wanted,
            block,
            filter: Filter::new(map.bounds(), map.bounds().1, GROWTH),
            values: Vec::new(),
            vectors: Mat::new(),
            residuals: Vec::new(),
            rounds: 0,
        }
    }

    /// The Krylov spaces that begin with a block of vectors.
    fn run(mut self, block: Mat<f64>) -> Result<Pairs> {
        let mut last = self.filter_block(block.as_ref());
        let mut next_check = self.columns_of_first_check();
        let mut fresh = self.block;
        loop {
            last = self.grow(last);
            if self.is_exhausted() {
                return self.best();
            }
            if self.space.free() > 0 && self.space.used() < next_check {
                continue;
            }
            self.check()?;
            if self.is_done() {
                if self.space.used() == self.map.size() || !self.finds_more(fresh)? {
                    return Ok(self.finish());
                }
                // Copies were missing: let in more at once next time.
                fresh = (2 * fresh).min((self.wanted / 2).max(self.block));
                last = self.start_over();
            } else if self.space.free() < 2 * self.block {
                last = self.start_over();
            }
            if self.rounds >= self.settings.rounds {
                return if self.limits.is_some() { self.best() } else { Err(self.gave_up()) };
            }
            next_check = self.space.used() + (self.wanted / 8).max(2 * self.block);
        }
    }

    fn columns_of_first_check(&self) -> usize {
        self.wanted + self.wanted / 3 + 2 * self.block
    }

    /// Filters a block, unless whoever watches wants to stop.
    fn filter_block(&self, block: MatRef<'_, f64>) -> Mat<f64> {
        let filtered = self.filter.apply(self.map, block, &|| self.goes_on());
        self.products.set(self.products.get() + self.filter.degree() * block.ncols());
        filtered
    }

    fn goes_on(&self) -> bool {
        let Some(limits) = self.limits else { return true };
        let residual = self.residuals.iter().copied().reduce(f64::max);
        let progress = SolverProgress { products: self.products.get(), most: limits.products, residual };
        if !(limits.goes_on)(&progress) {
            self.stopped.set(true);
        }
        !self.stopped.get()
    }

    /// Whether another block would be more than the limits allow.
    fn is_exhausted(&self) -> bool {
        let next = self.products.get() + self.filter.degree() * self.block;
        self.stopped.get() || self.limits.is_some_and(|limits| next > limits.products)
    }

    /// The pairs as far as they have been found, with the residuals that they have.
    fn best(mut self) -> Result<Pairs> {
        self.check_all()?;
        self.wanted = self.wanted.min(self.values.len());
        Ok(self.finish())
    }

    /// Adds a block to the space and returns the filtered block that follows it.
    fn grow(&mut self, block: Mat<f64>) -> Mat<f64> {
        let first = self.space.used();
        let mut added = self.space.extend(block);
        if added < self.block && self.space.free() > 0 {
            // The space is closed under the map in some direction: go on from random ones.
            let random = self.space.random(self.block - added);
            added += self.space.extend(self.filter_block(random.as_ref()));
            if added == 0 {
                self.space.extend(random);
            }
        }
        self.filter_block(self.space.from(first))
    }

    /// Ritz pairs of the space and their residuals.
    fn check(&mut self) -> Result<()> {
        self.rounds += 1;
        let ritz = self.space.ritz()?;
        let kept = (self.wanted + guard(self.wanted)).min(self.space.used());
        self.values = ritz.values[..kept].to_vec();
        self.residuals.clear();
        if self.space.used() < self.wanted {
            return Ok(());
        }
        // The pairs next to the cut converge last: while they have not, the others need no look.
        let full = self.space.free() < 2 * self.block;
        let last = self.wanted.min(8);
        let edge = self.space.lift(ritz.vectors.subcols(self.wanted - last, last));
        let edge = residuals(self.map, edge.as_ref(), &self.values[self.wanted - last..self.wanted]);
        let worst = edge.into_iter().fold(0.0, f64::max);
        if worst > self.settings.tolerance && !full {
            self.residuals = vec![worst];
            return Ok(());
        }
        self.keep(&ritz, kept);
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.residuals.len() == self.wanted
            && self.residuals.iter().all(|&residual| residual <= self.settings.tolerance)
    }

    /// Whether fresh random directions lower the wanted eigenvalues; if so they are part of the space.
    fn finds_more(&mut self, fresh: usize) -> Result<bool> {
        self.restart();
        self.aim_by_values();
        let mut block = self.space.random(fresh);
        for _ in 0..CHAIN {
            let first = self.space.used();
            let filtered = self.filter_block(block.as_ref());
            if self.stopped.get() || self.space.extend(filtered) == 0 {
                break;
            }
            block = self.space.from(first).to_owned();
        }
        let after = self.space.ritz()?.values;
        // A missing eigenvalue pushes all above it one place on, which shows in the sum even where they lie close.
        let lowered: f64 = self.values.iter().zip(&after).take(self.wanted).map(|(before, after)| before - after).sum();
        if lowered <= 10.0 * self.settings.tolerance {
            return Ok(false);
        }
        self.check_all()?;
        Ok(true)
    }

    /// Ritz pairs of the space and the residuals of all that are wanted.
    fn check_all(&mut self) -> Result<()> {
        let ritz = self.space.ritz()?;
        let kept = (self.wanted + guard(self.wanted)).min(self.space.used());
        self.keep(&ritz, kept);
        Ok(())
    }

    fn keep(&mut self, ritz: &Spectrum, kept: usize) {
        self.values = ritz.values[..kept].to_vec();
        self.vectors = self.space.lift(ritz.vectors.subcols(0, kept));
        self.residuals = residuals(self.map, self.vectors.subcols(0, self.wanted.min(kept)), &self.values);
    }

    /// Shrinks the space to the Ritz vectors of the last check.
    fn restart(&mut self) {
        self.space.restart(self.vectors.as_ref(), &self.values);
    }

    /// Restarts, and returns the next directions to follow: the lowest Ritz vectors that have not converged, filtered.
    ///
    /// Only here may the filter change. Within a Krylov space each block must be the same polynomial of the one before,
    /// or convergence stalls.
    fn start_over(&mut self) -> Mat<f64> {
        self.restart();
        self.aim_by_values();
        let open = (0..self.residuals.len()).filter(|&k| self.residuals[k] > self.settings.tolerance);
        let open: Vec<usize> = open.take(2 * self.block).collect();
        let chosen = Mat::from_fn(self.map.size(), open.len(), |row, column| self.vectors[(row, open[column])]);
        self.filter_block(chosen.as_ref())
    }

    /// Sets the filter's cut where the density says that wanted and guard end.
    pub(super) fn aim_by_density(&mut self) -> Result<()> {
        let one_is_enough = self.limits.is_some() && self.map.size() >= SELF_AVERAGING;
        let probes = if one_is_enough { 1 } else { 8 };
        let settings = DensitySettings { moments: 160, probes, seed: self.settings.seed };
        let density = Density::estimate_watched(self.map, &settings, &mut |_, _| self.goes_on())?;
        self.products.set(self.products.get() + settings.moments / 2 * probes);
        let cut = density.quantile((self.wanted + guard(self.wanted)) as f64);
        self.aim(cut);
        Ok(())
    }

    /// Sets the filter's cut to the highest Ritz value that is kept. It is never below the eigenvalue of its rank.
    pub(super) fn aim_by_values(&mut self) {
        if self.values.len() > self.wanted {
            self.aim(self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
    }

    /// Half of the products that are allowed suffice for the first look at the wanted pairs.
    fn aim(&mut self, cut: f64) {
        let most = self.limits.map_or(usize::MAX, |limits| limits.products / 2 / self.columns_of_first_check());
        self.filter = Filter::new(self.map.bounds(), cut, GROWTH).limited(most.max(LEAST_DEGREE));
    }

    fn finish(mut self) -> Pairs {
        let guard = self.vectors.subcols(self.wanted, self.vectors.ncols() - self.wanted).to_owned();
        self.values.truncate(self.wanted);
        self.vectors.truncate(self.map.size(), self.wanted);
        Pairs { values: self.values, vectors: self.vectors, residuals: self.residuals, guard, rounds: self.rounds }
    }

    fn gave_up(&self) -> Error {
        let tolerance = self.settings.tolerance;
        Error::NotConverged {
            converged: self.residuals.iter().filter(|&&residual| residual <= tolerance).count(),
            wanted: self.wanted,
            rounds: self.rounds,
            residual: self.residuals.iter().copied().fold(0.0, f64::max),
            tolerance,
        }
    }
}
