//! What can go wrong with a scheme.

use std::fmt;

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a scheme could not be computed, saved or loaded.
#[derive(Debug, thiserror::Error)]
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
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// A scheme that was computed for another graph.
    #[error("the scheme belongs to another graph: its fingerprint is {scheme}, this graph's is {graph}")]
    OtherGraph {
        /// Fingerprint that the scheme carries.
        scheme: String,
        /// Fingerprint of the graph at hand.
        graph: String,
    },
    /// A file that is no scheme, or a damaged one.
    #[error("not a scheme: {problem}")]
    NotAScheme {
        /// What is wrong with it.
        problem: String,
    },
    /// What is held elsewhere, in parts, cannot be worked on.
    #[error("the parts of a graph cannot be worked on: {problem}")]
    Parts {
        /// What went wrong.
        problem: String,
    },
    /// Whoever watched asked to stop.
    #[error("stopped before the scheme was finished")]
    Stopped,
    /// A graph or a file could not be handled.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
    /// A spectrum could not be computed.
    #[error(transparent)]
    Spectral(#[from] fiedler_spectral::Error),
}

impl Error {
    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into(), hint: None }
    }

    /// A name that is none of those there are.
    pub fn unknown_name<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        let known: Vec<&str> = known.collect();
        let nearest = known.iter().min_by_key(|other| strsim::levenshtein(other, name));
        let hint = nearest.map(|nearest| format!("did you mean {nearest}?"));
        let expected = format!("one of {}", known.join(", "));
        Error::Setting { name: what.into(), value: name.into(), expected, hint }
    }

    /// Something that went wrong with parts that are held elsewhere.
    pub fn parts(problem: impl fmt::Display) -> Error {
        Error::Parts { problem: problem.to_string() }
    }

    /// The same, with advice.
    pub fn advise(self, advice: impl Into<String>) -> Error {
        match self {
            Error::Setting { name, value, expected, .. } => {
                Error::Setting { name, value, expected, hint: Some(advice.into()) }
            }
            other => other,
        }
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Setting { hint, .. } => hint.clone(),
            Error::OtherGraph { .. } => {
                Some("compute the scheme again for this graph, or name the graph it was made for".into())
            }
            Error::NotAScheme { .. } => Some("give the scheme.safetensors that `fiedler augment` wrote".into()),
            Error::Graph(error) => error.hint(),
            Error::Spectral(error) => error.hint(),
            Error::Parts { .. } | Error::Stopped => None,
        }
    }
}

/// Checks that a share of something lies in [0, 1].
pub(crate) fn check_share(name: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(Error::setting(name, value, "a number from 0 to 1")) }
}
