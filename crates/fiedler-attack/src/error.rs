//! What can go wrong with an attack.

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an attack could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An attack lacks what it must know.
    #[error("the attack {attack} must know {what}")]
    Knowledge {
        /// Name of the attack.
        attack: &'static str,
        /// What it lacks.
        what: &'static str,
        /// What the user can do about it.
        hint: &'static str,
    },
    /// A graph or data that an attack is not made for.
    #[error("{message}")]
    Unsuitable {
        /// What is wrong with it.
        message: String,
        /// What the user can do about it.
        hint: String,
    },
    /// A setting, a name or a graph that cannot be used.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
    /// A spectrum could not be computed.
    #[error(transparent)]
    Spectral(#[from] fiedler_spectral::Error),
}

impl Error {
    /// A setting that is out of its range.
    pub(crate) fn setting(name: &str, value: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        fiedler_graph::Error::setting(name, value, expected).into()
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Knowledge { hint, .. } => Some((*hint).to_owned()),
            Error::Unsuitable { hint, .. } => Some(hint.clone()),
            Error::Graph(error) => error.hint(),
            Error::Spectral(error) => error.hint(),
        }
    }
}
