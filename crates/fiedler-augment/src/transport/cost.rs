//! Which way of looking at a spectrum is the quickest, by what each costs.

use fiedler_spectral::dense_bytes;

use super::{DEGREE, SpectrumMethod};
use crate::eigen::Eigensolver;

/// Graphs up to this size have an eigensolver: it is exact, and takes no time.
const SMALL: usize = 300;
/// Seconds on two cores for a product of one entry with one column, for one cubed node of a whole decomposition, and for
/// its eigenvalues alone; measured, see `bench/compare/span.py`.
const SECONDS_A_PRODUCT: f64 = 1.2e-10;
const SECONDS_A_DECOMPOSITION: f64 = 3.0e-10;
const SECONDS_OF_VALUES: f64 = 4.0e-11;
/// Seconds that a step may take before random signs are used, and that exact eigenvalues may take at the end.
const LONG: f64 = 5.0;

/// The quickest way to compare the spectra of a support's expected graphs, of which all pairs may have a weight.
pub(super) fn choose(asked: SpectrumMethod, eigensolver: &Eigensolver, nodes: usize, pairs: usize) -> SpectrumMethod {
    let truncated = eigensolver.k.is_some_and(|k| 2 * k < nodes);
    if truncated || nodes < 2 || asked == SpectrumMethod::Auto && nodes <= SMALL {
        return SpectrumMethod::Exact;
    }
    if asked != SpectrumMethod::Auto {
        return asked;
    }
    let (size, entries) = (nodes as f64, 2.0 * pairs as f64);
    let fits = dense_bytes(nodes, true) <= eigensolver.memory;
    let exact = if fits { SECONDS_A_DECOMPOSITION * size.powi(3) } else { f64::INFINITY };
    let columns = SECONDS_A_PRODUCT * size * entries * DEGREE as f64;
    if exact.min(columns) > LONG {
        SpectrumMethod::Probes
    } else if exact < columns {
        SpectrumMethod::Exact
    } else {
        SpectrumMethod::Chebyshev
    }
}

/// The quickest way to moments of a support's expected graphs.
pub(crate) fn quickest_moments(nodes: usize, pairs: usize, degree: usize) -> SpectrumMethod {
    let columns = SECONDS_A_PRODUCT * nodes as f64 * 2.0 * pairs as f64 * degree as f64;
    if columns > LONG { SpectrumMethod::Probes } else { SpectrumMethod::Chebyshev }
}

/// Whether all eigenvalues, without vectors, are known within seconds.
pub(super) fn has_values_soon(nodes: usize, memory: u64) -> bool {
    SECONDS_OF_VALUES * (nodes as f64).powi(3) <= LONG && dense_bytes(nodes, false) <= memory
}
