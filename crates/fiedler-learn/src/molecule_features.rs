//! What encoders see of molecules: all that the Open Graph Benchmark describes, or what Hu et al. do.

use std::borrow::Cow;

use fiedler_graph::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES};
use fiedler_graph::{Categorical, Features};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Molecule features: which codes of atoms and bonds count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoleculeFeatures {
    /// All: nine of atoms and three of bonds, as the Open Graph Benchmark has them.
    #[default]
    Ogb,
    /// Type and chirality of atoms, kind and direction of bonds: those of Hu et al., and of encoders that were published with theirs. The
    /// benchmark's codes know no direction, so it is none for every bond.
    Hu,
}

/// Types of atoms: the atomic numbers, and one for others.
const ATOM_TYPES: u16 = ATOM_CARDINALITIES[0];
/// Unspecified, clockwise and counter-clockwise; others count as unspecified.
const CHIRALITIES: u16 = 3;
/// Single, double, triple, aromatic, other.
const BOND_KINDS: u16 = BOND_CARDINALITIES[0];
/// None, up and down.
const BOND_DIRECTIONS: u16 = 3;

/// Columns of Hu's features of atoms and bonds, without those of what is hidden or unknown.
pub(crate) const HU_ATOMS: [u16; 2] = [ATOM_TYPES, CHIRALITIES];
pub(crate) const HU_BONDS: [u16; 2] = [BOND_KINDS, BOND_DIRECTIONS];

impl MoleculeFeatures {
    pub(crate) fn is_usual(&self) -> bool {
        *self == MoleculeFeatures::default()
    }

    /// What counts of the features of atoms.
    pub(crate) fn of_atoms(self, features: Cow<'_, Features>) -> Result<Cow<'_, Features>> {
        match self {
            MoleculeFeatures::Ogb => Ok(features),
            MoleculeFeatures::Hu => {
                let codes = codes(&features, &ATOM_CARDINALITIES)?;
                let chirality = |code: u8| if u16::from(code) < CHIRALITIES { code } else { 0 };
                let kept = rows(codes).flat_map(|row| [row[0], chirality(row[1])]).collect();
                Ok(Cow::Owned(Features::Categorical(Categorical::new(HU_ATOMS.to_vec(), kept)?)))
            }
        }
    }

    /// What counts of the features of bonds.
    pub(crate) fn of_bonds(self, features: &Features) -> Result<Cow<'_, Features>> {
        match self {
            MoleculeFeatures::Ogb => Ok(Cow::Borrowed(features)),
            MoleculeFeatures::Hu => {
                let codes = codes(features, &BOND_CARDINALITIES)?;
                let kept = rows(codes).flat_map(|row| [row[0], 0]).collect();
                Ok(Cow::Owned(Features::Categorical(Categorical::new(HU_BONDS.to_vec(), kept)?)))
            }
        }
    }
}

fn rows(codes: &Categorical) -> impl Iterator<Item = &[u8]> {
    codes.codes().chunks_exact(codes.cardinalities().len())
}

/// The codes, where they are those of molecules.
fn codes<'a>(features: &'a Features, cardinalities: &[u16]) -> Result<&'a Categorical> {
    match features {
        Features::Categorical(codes) if codes.cardinalities() == cardinalities => Ok(codes),
        _ => Err(not_molecules()),
    }
}

/// The error for data that are no molecules.
pub(crate) fn not_molecules() -> Error {
    let expected = "ogb, for data that are no molecules: SMILES, or a set of the Open Graph Benchmark";
    Error::setting("features.molecules", "hu", expected)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn type_and_chirality_are_kept_and_the_rest_is_not() {
        let codes = |cardinalities: &[u16], codes: Vec<u8>| {
            Features::Categorical(Categorical::new(cardinalities.to_vec(), codes).unwrap())
        };
        let atoms = codes(&ATOM_CARDINALITIES, vec![5, 2, 4, 5, 1, 0, 2, 0, 0, 118, 4, 1, 5, 1, 0, 2, 1, 1]);
        let kept = MoleculeFeatures::Hu.of_atoms(Cow::Borrowed(&atoms)).unwrap();
        assert_eq!(*kept, codes(&HU_ATOMS, vec![5, 2, 118, 0]));
        let bonds = codes(&BOND_CARDINALITIES, vec![3, 2, 1, 0, 0, 0]);
        assert_eq!(*MoleculeFeatures::Hu.of_bonds(&bonds).unwrap(), codes(&HU_BONDS, vec![3, 0, 0, 0]));
        assert_eq!(*MoleculeFeatures::Ogb.of_bonds(&bonds).unwrap(), bonds);
        let error = MoleculeFeatures::Hu.of_bonds(&atoms).unwrap_err().to_string();
        assert!(error.starts_with("features.molecules is hu; expected ogb"), "{error}");
    }
}
