//! What can go wrong in a spectral computation.

use std::fmt;

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a spectrum could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value handed to a function or set by the user is out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// Name of the setting, as the user knows it.
        name: String,
        /// The value it has.
        value: String,
        /// The values it may have.
        expected: String,
    },
    /// A dense computation would need more memory than it may use.
    #[error("a dense spectrum of {nodes} nodes needs {} GB of memory; at most {} GB are allowed", gigabytes(*bytes), gigabytes(*limit))]
    TooLarge {
        /// Size of the matrix.
        nodes: usize,
        /// Bytes it would take.
        bytes: u64,
        /// Bytes it may take.
        limit: u64,
    },
    /// The dense eigensolver gave up, which happens only to matrices with infinite or undefined entries.
    #[error("the eigensolver found no decomposition of a matrix of {nodes} nodes; its entries must be finite")]
    NoDecomposition {
        /// Size of the matrix.
        nodes: usize,
    },
    /// The partial eigensolver ran out of iterations.
    #[error(
        "{converged} of {wanted} eigenpairs converged after {rounds} rounds; the largest residual is {residual:.1e}, wanted {tolerance:.1e}"
    )]
    NotConverged {
        /// Eigenpairs within the tolerance.
        converged: usize,
        /// Eigenpairs that were asked for.
        wanted: usize,
        /// Rounds that were run.
        rounds: usize,
        /// The largest residual.
        residual: f64,
        /// The residual that was asked for.
        tolerance: f64,
    },
}

impl Error {
    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::TooLarge { .. } => {
                Some("ask for the lowest and highest eigenvalues only, for the density, or raise the limit".into())
            }
            Error::NotConverged { .. } => {
                Some("allow more rounds, a larger residual, or ask for other eigenvalues".into())
            }
            Error::Setting { .. } | Error::NoDecomposition { .. } => None,
        }
    }

    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into() }
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e9)
}
