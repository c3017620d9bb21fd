//! Molecules as graphs: atoms are nodes, bonds are edges, both described by the category codes of the Open Graph Benchmark.
//!
//! With the feature `molecules`, a `Molecule` is read from SMILES. It is the graph that RDKit makes of it, as the benchmarks did: atoms
//! in the order of the text, hydrogens counted on the atom that bears them, aromaticity perceived from the rings, and what is no
//! molecule refused.
//! The chemistry is `chematic`'s; this module says where in the text a mistake is, and keeps hostile text within bounds.

#[cfg(feature = "molecules")]
mod chemistry;
#[cfg(feature = "molecules")]
mod former_rules;
mod syntax;

use std::fmt;

#[cfg(feature = "molecules")]
pub use chemistry::{Bond, Molecule};
pub use fiedler_graph::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES};

/// Why a text is not the SMILES of a molecule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSmiles {
    /// The character where it shows, counted from one; `None` where it is not at one place.
    pub position: Option<usize>,
    /// What is wrong.
    pub why: String,
}

impl InvalidSmiles {
    fn at(position: usize, why: impl Into<String>) -> InvalidSmiles {
        InvalidSmiles { position: Some(position + 1), why: why.into() }
    }
}

impl fmt::Display for InvalidSmiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "character {position}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for InvalidSmiles {}

/// Why a text is not the SMILES of a molecule; `None` when it is, as far as this build can tell.
pub(crate) fn refusal(text: &str) -> Option<InvalidSmiles> {
    #[cfg(feature = "molecules")]
    return Molecule::from_smiles(text).err();
    #[cfg(not(feature = "molecules"))]
    return syntax::Layout::of(text).err();
}
