//! Category codes of atoms and bonds, as the Open Graph Benchmark has them: what [`Categorical`](crate::Categorical) features of
//! molecules hold. `fiedler-io` makes such features from SMILES. [`canonical_hashes`] tells which molecules are the same,
//! [`scaffold_split`] divides them by their scaffolds.

mod canonical;
mod scaffold;

pub use canonical::{canonical_hashes, without};
pub use scaffold::{scaffold_hashes, scaffold_split};

/// How many codes each column of an atom has: atomic number, chirality, degree, formal charge, hydrogens, radical electrons,
/// hybridisation, aromatic, in a ring.
///
/// The last code of a column with an open end means "anything else".
pub const ATOM_CARDINALITIES: [u16; 9] = [119, 5, 12, 12, 10, 6, 6, 2, 2];

/// How many codes each column of a bond has: kind, stereochemistry, conjugated.
pub const BOND_CARDINALITIES: [u16; 3] = [5, 6, 2];
