//! Objectives that compare two whole spectra: the squared distance between sorted eigenvalues, and its derivative.
//!
//! Small graphs have an eigensolver. Beyond, the distance is taken for what it is, optimal transport between two spectral
//! measures ([`fiedler_spectral::transport`]): moments tell the monotone map between the spectra, and a polynomial of the
//! operator, known on the support's pairs only, tells the derivative. No eigenpair is computed, and no n × n array.

mod cost;
mod moments;

pub(crate) use cost::quickest_moments;
pub use moments::Moments;

use std::sync::Arc;

use fiedler_spectral::polynomial::{Polynomials, SignProbes, UpperPairs};
use fiedler_spectral::transport::moments_of;
use fiedler_spectral::{Normalized, SymmetricMap, eigenvalues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eigen::{Eigenpairs, Eigensolver};
use crate::error::Result;
use crate::expected::Expected;
use crate::objective::Evaluation;
use crate::support::Support;
use moments::Source;

/// Degree of the polynomials at first; once the distance rises slowly it is so many times that.
const DEGREE: usize = 20;
const FINER: usize = 2;
/// Where it is asked for, graphs of few entries have a higher degree: as high as so many products of an entry with a column allow, up to
/// a bound.
const CHEAP: usize = 200_000_000;
const HIGHEST_DEGREE: usize = 80;
/// The distance rises slowly when a step adds less than this share to it.
const SLOW: f64 = 0.001;
/// Bytes that polynomials on the pairs of a support may take; beyond, rows are computed as they are asked for.
const TABLE: usize = 256 << 20;
/// Panels of random signs, where columns are too many.
const PANELS: usize = 8;

/// How two spectra are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpectrumMethod {
    /// Whichever is the quickest: an eigensolver for small graphs, Chebyshev moments beyond, random signs for large ones.
    #[default]
    Auto,
    /// All eigenpairs.
    Exact,
    /// Chebyshev moments, from all columns of the operator's polynomials.
    Chebyshev,
    /// Chebyshev moments, estimated by random signs.
    Probes,
}

impl SpectrumMethod {
    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            SpectrumMethod::Auto => "auto",
            SpectrumMethod::Exact => "exact",
            SpectrumMethod::Chebyshev => "chebyshev",
            SpectrumMethod::Probes => "probes",
        }
    }

    pub(crate) fn is_auto(&self) -> bool {
        *self == SpectrumMethod::Auto
    }
}

/// Compares the spectra of expected graphs.
#[derive(Debug, Clone)]
pub struct SpectrumSolver {
    /// Which way.
    pub method: SpectrumMethod,
    /// Whose spectra, and how eigenpairs are computed where they are.
    pub eigensolver: Eigensolver,
    /// Degree of the polynomials at first, once it is known, and now.
    first_degree: Option<usize>,
    affordable: bool,
    degree: usize,
    /// The last distance, and how often the derivative was estimated.
    last: Option<f64>,
    estimates: u64,
    /// The pairs whose entries are asked for, and whether they are all of the support's.
    pairs: Option<(Arc<UpperPairs>, bool)>,
    /// Bytes that polynomials on pairs may take.
    table_bytes: usize,
    /// What was chosen at first. Later steps keep to it, so that their distances can be compared.
    chosen: Option<SpectrumMethod>,
}

/// What is known of a spectrum.
#[derive(Debug, Clone)]
pub enum MeasuredSpectrum {
    /// Eigenpairs, all or the outermost.
    Eigenpairs(Eigenpairs),
    /// Moments, with what the derivative is computed from.
    Moments(Moments),
}

impl SpectrumSolver {
    /// A solver that has not looked at any graph.
    pub fn new(method: SpectrumMethod, eigensolver: Eigensolver) -> SpectrumSolver {
        SpectrumSolver {
            method,
            eigensolver,
            first_degree: None,
            affordable: false,
            degree: DEGREE,
            last: None,
            estimates: 0,
            pairs: None,
            table_bytes: TABLE,
            chosen: None,
        }
    }

    /// Sets the degree of the polynomials at first; it doubles once the distance rises slowly.
    pub fn with_degree(self, degree: usize) -> SpectrumSolver {
        SpectrumSolver { first_degree: Some(degree.max(1)), ..self }
    }

    /// Takes polynomials of as high a degree as costs little. Dropping a node moves many eigenvalues by little, of which a low degree
    /// shows less than of the moves of single pairs.
    pub fn with_affordable_degree(self) -> SpectrumSolver {
        SpectrumSolver { affordable: true, ..self }
    }

    /// Bounds the memory of polynomials on the pairs of a support; where it does not suffice, rows are computed as they are
    /// asked for.
    pub fn with_table_bytes(self, table_bytes: usize) -> SpectrumSolver {
        SpectrumSolver { table_bytes, ..self }
    }

    /// Measures the spectrum of a support's expected graph.
    ///
    /// # Errors
    /// Those of the eigensolver, where it is used.
    pub fn measure(&mut self, support: &impl Support) -> Result<MeasuredSpectrum> {
        let method = self.choose(support);
        if method == SpectrumMethod::Exact {
            return Ok(MeasuredSpectrum::Eigenpairs(self.eigensolver.solve(support)?));
        }
        let expected = Expected::of(support, 0.0, self.eigensolver.seed);
        let map = Normalized::from_rows(expected.rows(), self.eigensolver.operator)?.into_owned();
        Ok(MeasuredSpectrum::Moments(match method {
            SpectrumMethod::Probes => self.by_signs(map, support),
            _ => self.by_columns(map, support),
        }))
    }

    /// Measures the spectrum that others are compared with, and of which no derivative is asked.
    ///
    /// # Errors
    /// As [`SpectrumSolver::measure`].
    pub fn measure_fixed(&mut self, support: &impl Support) -> Result<MeasuredSpectrum> {
        self.choose(support);
        let degree = self.degree;
        self.degree = self.fine_degree();
        let pairs = self.pairs.replace((Arc::new(UpperPairs::new(support.num_nodes(), [])), false));
        let measured = self.measure(support);
        (self.degree, self.pairs) = (degree, pairs);
        measured
    }

    /// The squared norm of the eigenvalues that are compared; of all of them, it needs no eigensolver.
    ///
    /// # Errors
    /// Those of the eigensolver.
    pub fn squared_norm(&mut self, support: &impl Support) -> Result<f64> {
        if self.eigensolver.k.is_some_and(|k| 2 * k < support.num_nodes()) {
            return Ok(self.eigensolver.solve(support)?.norm().squared_norm);
        }
        let expected = Expected::of(support, 0.0, self.eigensolver.seed);
        Ok(Normalized::from_rows(expected.rows(), self.eigensolver.operator)?.frobenius_squared())
    }

    /// The squared distance of a spectrum from another, and its derivative with respect to the first's pairs.
    pub fn distance(&mut self, own: &MeasuredSpectrum, other: &MeasuredSpectrum) -> Evaluation {
        let evaluation = match own {
            MeasuredSpectrum::Eigenpairs(pairs) => pairs.distance(&other.beside(&pairs.values)),
            MeasuredSpectrum::Moments(moments) => {
                let seed = self.eigensolver.seed ^ self.estimates.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.estimates += 1;
                moments.distance(other, seed)
            }
        };
        self.refine(evaluation.squared_norm);
        evaluation
    }

    /// Takes finer polynomials from now on where the objective moves slowly.
    fn refine(&mut self, squared: f64) {
        if self.last.is_some_and(|last| (squared - last).abs() < SLOW * last) {
            self.degree = self.fine_degree();
        }
        self.last = Some(squared);
    }

    /// The squared norm of the K lowest and K highest eigenvalues by the moments of all, and its derivative; nothing where eigenpairs
    /// were measured, which have a norm of their own.
    pub fn outermost(&mut self, own: &MeasuredSpectrum, k: usize) -> Option<Evaluation> {
        let MeasuredSpectrum::Moments(moments) = own else { return None };
        let evaluation = moments.outermost(k, self.eigensolver.seed);
        self.refine(evaluation.squared_norm);
        Some(evaluation)
    }

    /// The squared norm of the K lowest and K highest eigenvalues of a support's expected graph, from all of its eigenvalues; nothing where
    /// these take more than a few seconds.
    ///
    /// # Errors
    /// Those of the eigensolver.
    pub fn final_outermost(&self, support: &impl Support, k: usize) -> Result<Option<f64>> {
        let Eigensolver { operator, seed, memory, .. } = self.eigensolver;
        if 2 * k >= support.num_nodes() || !cost::has_values_soon(support.num_nodes(), memory) {
            return Ok(None);
        }
        let expected = Expected::of(support, 0.0, seed);
        let values = eigenvalues(&Normalized::from_rows(expected.rows(), operator)?, memory)?;
        let (rest, highest) = values.split_at(values.len() - k);
        Ok(Some(rest[..k].iter().chain(highest).map(|value| value * value).sum()))
    }

    /// The squared distance of two spectra as well as it can be known: from all eigenvalues, where these take a few seconds
    /// at most.
    ///
    /// # Errors
    /// Those of the eigensolver.
    pub fn final_distance(&self, own: &MeasuredSpectrum, other: &MeasuredSpectrum) -> Result<FinalDistance> {
        let memory = self.eigensolver.memory;
        let exact = match (own.values(memory)?, other.values(memory)?) {
            (Some(own), Some(other)) => Some(squared_distance(&own, &other)),
            _ => None,
        };
        Ok(match (exact, own) {
            (Some(squared), _) => FinalDistance { squared, resolution: None },
            (None, MeasuredSpectrum::Moments(moments)) => {
                let transport = moments.transport(other);
                FinalDistance { squared: transport.squared_distance(), resolution: Some(transport.resolution()) }
            }
            (None, MeasuredSpectrum::Eigenpairs(pairs)) => {
                let squared = squared_distance(&pairs.values, &other.beside(&pairs.values));
                FinalDistance { squared, resolution: None }
            }
        })
    }

    /// The method in use, once something was measured.
    pub fn used(&self) -> SpectrumMethod {
        self.chosen.unwrap_or(self.method)
    }

    /// The method and the degree, at first chosen for a support.
    fn choose(&mut self, support: &impl Support) -> SpectrumMethod {
        if let Some(chosen) = self.chosen {
            return chosen;
        }
        let mut pairs = 0usize;
        support.visit(&mut |_, _, _, _| pairs += 1);
        let products = support.num_nodes() * (support.num_nodes() + 2 * pairs);
        let highest = if self.affordable { HIGHEST_DEGREE } else { DEGREE };
        self.degree = *self.first_degree.get_or_insert((CHEAP / products.max(1)).clamp(DEGREE, highest));
        *self.chosen.insert(cost::choose(self.method, &self.eigensolver, support.num_nodes(), pairs))
    }

    fn fine_degree(&self) -> usize {
        FINER * self.first_degree.unwrap_or(DEGREE)
    }

    /// Values of different steps are compared, so all are taken from as many moments.
    fn compared_moments(&self) -> usize {
        2 * self.first_degree.unwrap_or(DEGREE) + 1
    }

    fn by_columns(&mut self, map: Normalized<'static>, support: &impl Support) -> Moments {
        let (pairs, all) = self.pairs_of(support);
        let polynomials = Polynomials::of(&map, self.degree, &pairs);
        let moments = polynomials.moments().to_vec();
        let source = Source::Columns { polynomials, pairs, all };
        Moments { map: Arc::new(map), moments, compared: self.compared_moments(), source }
    }

    fn by_signs(&mut self, map: Normalized<'static>, support: &impl Support) -> Moments {
        let (pairs, all) = self.pairs_of(support);
        // The same signs at every step: what they miss, they miss of both spectra.
        let probes = SignProbes { panels: PANELS, seed: self.eigensolver.seed };
        let moments = probes.moments(&map, self.degree);
        let source = Source::Signs { panels: PANELS, pairs: all.then_some(pairs), degree: self.degree };
        Moments { map: Arc::new(map), moments, compared: self.compared_moments(), source }
    }

    /// The pairs of the support, or, where they are too many, its edges.
    fn pairs_of(&mut self, support: &impl Support) -> (Arc<UpperPairs>, bool) {
        let fine_degree = self.fine_degree();
        let found = self.pairs.get_or_insert_with(|| {
            let mut count = 0usize;
            support.visit(&mut |_, _, _, _| count += 1);
            let all = count.saturating_mul(4 * fine_degree) <= self.table_bytes;
            let mut pairs = Vec::new();
            support.visit(&mut |low, high, edge, _| {
                if all || edge {
                    pairs.push((low, high));
                }
            });
            (Arc::new(UpperPairs::new(support.num_nodes(), pairs)), all)
        });
        found.clone()
    }
}

/// A distance between two spectra.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinalDistance {
    /// The squared distance of sorted eigenvalues.
    pub squared: f64,
    /// The width below which eigenvalues were not told apart; `None` where they were computed.
    pub resolution: Option<f64>,
}

impl MeasuredSpectrum {
    /// The squared norm of the eigenvalues: of all of them, or of the outermost where only they were asked for.
    pub fn squared_norm(&self) -> f64 {
        match self {
            MeasuredSpectrum::Eigenpairs(pairs) => pairs.values.iter().map(|value| value * value).sum(),
            MeasuredSpectrum::Moments(moments) => moments.map.frobenius_squared(),
        }
    }

    /// The eigenvalues, where they are known or soon computed.
    fn values(&self, memory: u64) -> Result<Option<Vec<f64>>> {
        match self {
            MeasuredSpectrum::Eigenpairs(pairs) => Ok(Some(pairs.values.clone())),
            MeasuredSpectrum::Moments(Moments { map, .. }) => {
                cost::has_values_soon(map.size(), memory).then(|| Ok(eigenvalues(map.as_ref(), memory)?)).transpose()
            }
        }
    }

    /// The eigenvalues that known ones are matched with, or the quantiles that stand in for them.
    fn beside(&self, values: &[f64]) -> Vec<f64> {
        match self {
            MeasuredSpectrum::Eigenpairs(pairs) => pairs.values.clone(),
            MeasuredSpectrum::Moments(moments) => moments.matched(values),
        }
    }

    /// The first moments, and the interval they are taken on.
    fn moments(&self, count: usize, bounds: (f64, f64)) -> Vec<f64> {
        match self {
            MeasuredSpectrum::Eigenpairs(pairs) => moments_of(&pairs.values, bounds, count),
            MeasuredSpectrum::Moments(moments) => moments.moments.clone(),
        }
    }
}

fn squared_distance(own: &[f64], other: &[f64]) -> f64 {
    own.iter().zip(other).map(|(own, other)| (own - other).powi(2)).sum()
}
