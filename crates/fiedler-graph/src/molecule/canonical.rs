//! Which molecules are the same, however their atoms are numbered.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{ATOM_CARDINALITIES, BOND_CARDINALITIES};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::features::{Categorical, Features};

/// Columns of an atom that make it what it is; the others follow from these and the bonds, or are stereochemistry.
pub(super) const ELEMENT: usize = 0;
pub(super) const CHARGE: usize = 3;
const HYDROGENS: usize = 4;
/// The column of a bond's kind.
pub(super) const KIND: usize = 0;

/// A hash of each molecule of a set that does not depend on how its atoms are numbered: of elements, charges, hydrogens and kinds of
/// bonds, but neither of stereochemistry nor of isotopes. Two molecules are taken for the same if their hashes are equal, which is when
/// RDKit writes them as the same SMILES without stereochemistry.
///
/// Colors of atoms are refined by those of their neighbors until nothing changes; where atoms are left that have the same color, each of
/// them is singled out in turn and colors are refined again. The first pass alone would take decalin for bicyclopentyl. The hashes are for
/// comparisons within one process; later versions may have others.
///
/// # Errors
/// When atoms and bonds are not described by the codes of [`ATOM_CARDINALITIES`] and [`BOND_CARDINALITIES`].
pub fn canonical_hashes(dataset: &Dataset) -> Result<Vec<u64>> {
    hash_each(dataset, |molecule, atoms, bonds| {
        for codes in atoms {
            molecule.atom(&[codes[ELEMENT], codes[CHARGE], codes[HYDROGENS]]);
        }
        molecule.bonds.extend(bonds.iter().map(|&(low, high, codes)| (low, high, codes[KIND])));
    })
}

/// The codes of each atom of a molecule.
pub(super) type Atoms<'a> = Vec<&'a [u8]>;
/// The ends of each bond of a molecule, and its codes.
pub(super) type Bonds<'a> = Vec<(u32, u32, &'a [u8])>;

/// A hash of what is made of the atoms and bonds of each molecule.
pub(super) fn hash_each(
    dataset: &Dataset,
    make: impl Fn(&mut Molecule, &Atoms<'_>, &Bonds<'_>) + Sync,
) -> Result<Vec<u64>> {
    let atom_codes = codes(dataset.features.as_ref(), &ATOM_CARDINALITIES, "atoms", &dataset.name)?;
    let bond_codes = codes(dataset.edge_features.as_ref(), &BOND_CARDINALITIES, "bonds", &dataset.name)?;
    let (graphs, all) = (&dataset.graphs, dataset.graphs.block_diagonal());
    let mut first_bond = Vec::with_capacity(graphs.len());
    let mut bond = 0;
    for graph in 0..graphs.len() {
        first_bond.push(bond);
        bond += graphs.graph_edges(graph);
    }
    let memory = || (Molecule::default(), Atoms::new(), Bonds::new());
    let hashes = (0..graphs.len()).into_par_iter().map_init(memory, |(molecule, atoms, bonds), graph| {
        molecule.clear();
        atoms.clear();
        bonds.clear();
        let nodes = graphs.node_range(graph);
        let mut bond = first_bond[graph];
        for node in nodes.clone() {
            atoms.push(atom_codes.row(node as usize));
            for &other in all.neighbors(node).iter().filter(|&&other| other > node) {
                bonds.push((node - nodes.start, other - nodes.start, bond_codes.row(bond)));
                bond += 1;
            }
        }
        make(molecule, atoms, bonds);
        molecule.hash()
    });
    Ok(hashes.collect())
}

/// Leaves out the molecules whose hash is among those given, and says how many there were.
///
/// # Errors
/// As [`canonical_hashes`], and when no molecule is left.
pub fn without(dataset: Dataset, hashes: &HashSet<u64>) -> Result<(Dataset, usize)> {
    let own = canonical_hashes(&dataset)?;
    let kept: Vec<u32> = (0..).zip(&own).filter(|(_, hash)| !hashes.contains(hash)).map(|(graph, _)| graph).collect();
    let removed = own.len() - kept.len();
    match kept.len() {
        0 => Err(Error::setting("number of molecules that are left", 0, "at least 1")),
        _ if removed == 0 => Ok((dataset, 0)),
        _ => Ok((dataset.select(&kept)?, removed)),
    }
}

fn codes<'a>(features: Option<&'a Features>, cardinalities: &[u16], of: &str, data: &str) -> Result<&'a Categorical> {
    match features {
        Some(Features::Categorical(codes)) if codes.cardinalities() == cardinalities => Ok(codes),
        _ => {
            let expected = "a set of molecules: SMILES, or a dataset of the Open Graph Benchmark";
            Err(Error::setting(format!("features of {of}"), format!("not those of molecules in {data}"), expected))
        }
    }
}

/// One molecule, with memory that the next can use.
#[derive(Default)]
pub(super) struct Molecule {
    colors: Vec<u64>,
    pub(super) bonds: Vec<(u32, u32, u8)>,
    single: Vec<u64>,
    sums: Vec<u64>,
    sorted: Vec<u64>,
}

impl Molecule {
    fn clear(&mut self) {
        self.colors.clear();
        self.bonds.clear();
    }

    pub(super) fn atom(&mut self, codes: &[u8]) {
        let packed = codes.iter().fold(1u64, |packed, &code| packed << 8 | u64::from(code));
        self.colors.push(mix(packed));
    }

    fn hash(&mut self) -> u64 {
        let mut colors = std::mem::take(&mut self.colors);
        let classes = self.refine(&mut colors, 0);
        let mut hash = sum(&colors);
        if classes < colors.len() {
            self.sorted.clear();
            self.sorted.extend_from_slice(&colors);
            self.sorted.sort_unstable();
            let shared: Vec<u64> =
                self.sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
            let mut single = std::mem::take(&mut self.single);
            for atom in (0..colors.len()).filter(|&atom| shared.binary_search(&colors[atom]).is_ok()) {
                single.clear();
                single.extend_from_slice(&colors);
                single[atom] = mix(!single[atom]);
                self.refine(&mut single, classes);
                hash = hash.wrapping_add(mix(sum(&single)));
            }
            self.single = single;
        }
        self.colors = colors;
        mix(hash ^ mix((self.colors.len() as u64) << 32 | self.bonds.len() as u64))
    }

    /// Refines colors until there are no more different ones than before, and gives their number.
    fn refine(&mut self, colors: &mut [u64], mut classes: usize) -> usize {
        loop {
            self.sums.clear();
            self.sums.resize(colors.len(), 0);
            for &(low, high, kind) in &self.bonds {
                let (low, high, kind) = (low as usize, high as usize, u64::from(kind) + 1);
                // Sums do not depend on the order of neighbors.
                self.sums[low] = self.sums[low].wrapping_add(mix(colors[high] ^ kind.rotate_left(40)));
                self.sums[high] = self.sums[high].wrapping_add(mix(colors[low] ^ kind.rotate_left(40)));
            }
            for (color, sum) in colors.iter_mut().zip(&self.sums) {
                *color = mix(color.rotate_left(17) ^ mix(*sum));
            }
            self.sorted.clear();
            self.sorted.extend_from_slice(colors);
            self.sorted.sort_unstable();
            self.sorted.dedup();
            if self.sorted.len() <= classes {
                return classes;
            }
            classes = self.sorted.len();
        }
    }
}

/// A sum over all atoms, whatever their order.
fn sum(colors: &[u64]) -> u64 {
    colors.iter().fold(0u64, |sum, &color| sum.wrapping_add(mix(color)))
}

/// The finalizer of SplitMix64: every bit of the input moves about half of the output's.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
