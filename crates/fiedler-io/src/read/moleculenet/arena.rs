//! Many molecules read at once, their atoms and bonds laid straight into one graph.

use rayon::prelude::*;

use fiedler_graph::{BuildReport, Categorical, Features, Graph, GraphSet, MAX_NODES};

use super::rows::Rows;
use crate::error::{Error, Result};
use crate::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES, InvalidSmiles, Molecule};

/// Rows that one thread reads at a time.
const BLOCK: usize = 256;
/// Rows whose blocks are in memory at a time, beside the arena they go to.
const WAVE: usize = 1 << 16;
/// How many rows that hold no molecule are named.
const NAMED_REFUSALS: usize = 5;

/// All molecules of a file as one set of graphs.
pub(super) struct Molecules {
    pub(super) graphs: GraphSet,
    pub(super) atoms: Features,
    pub(super) bonds: Features,
    /// The row of each molecule.
    pub(super) kept: Vec<u32>,
    pub(super) refusals: Refusals,
    pub(super) report: BuildReport,
}

/// Rows that hold no molecule.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    pub(super) count: u64,
    /// The first few, and why.
    pub(super) first: Vec<(usize, InvalidSmiles)>,
}

/// Reads the SMILES of the chosen rows, in parallel; the order is that of the rows.
pub(super) fn assemble(rows: &Rows, chosen: &[u32]) -> Result<Molecules> {
    let mut arena = Arena::with_room_for(rows, chosen);
    for wave in chosen.chunks(WAVE) {
        let blocks: Vec<Block> = wave.par_chunks(BLOCK).map(|block| Block::read(rows, block)).collect();
        for block in blocks {
            arena.append(block)?;
        }
    }
    arena.finish()
}

/// A few molecules side by side; atoms are counted from the first of the block.
#[derive(Default)]
struct Block {
    sizes: Vec<u32>,
    /// Where each atom's neighbors end.
    ends: Vec<u32>,
    neighbors: Vec<u32>,
    atoms: Vec<u8>,
    bonds: Vec<u8>,
    kept: Vec<u32>,
    refusals: Refusals,
}

impl Block {
    fn read(rows: &Rows, chosen: &[u32]) -> Block {
        let mut block = Block::default();
        for &row in chosen {
            match Molecule::from_smiles(rows.smiles(row as usize)) {
                Ok(molecule) => {
                    block.kept.push(row);
                    block.push(molecule);
                }
                Err(why) => {
                    block.refusals.count += 1;
                    if block.refusals.first.len() < NAMED_REFUSALS {
                        block.refusals.first.push((row as usize, why));
                    }
                }
            }
        }
        block
    }

    fn push(&mut self, molecule: Molecule) {
        let Molecule { atoms, mut bonds } = molecule;
        // The order of edges in a graph.
        bonds.iter_mut().for_each(|bond| bond.ends = (bond.ends.0.min(bond.ends.1), bond.ends.0.max(bond.ends.1)));
        bonds.sort_unstable_by_key(|bond| bond.ends);
        bonds.dedup_by_key(|bond| bond.ends);

        let first = self.ends.len() as u32;
        let mut next = vec![0u32; atoms.len() + 1];
        for (low, high) in bonds.iter().map(|bond| bond.ends) {
            next[low as usize + 1] += 1;
            next[high as usize + 1] += 1;
        }
        next[0] = self.neighbors.len() as u32;
        for atom in 0..atoms.len() {
            next[atom + 1] += next[atom];
        }
        self.ends.extend_from_slice(&next[1..]);
        self.neighbors.resize(self.neighbors.len() + 2 * bonds.len(), 0);
        // In this order every atom meets its neighbors in ascending order.
        for (low, high) in bonds.iter().map(|bond| bond.ends) {
            for (atom, other) in [(low, high), (high, low)] {
                let slot = &mut next[atom as usize];
                self.neighbors[*slot as usize] = first + other;
                *slot += 1;
            }
        }
        self.sizes.push(atoms.len() as u32);
        self.atoms.extend(atoms.as_flattened());
        self.bonds.extend(bonds.iter().flat_map(|bond| bond.codes));
    }
}

/// All blocks so far, one behind the other.
#[derive(Default)]
struct Arena {
    sizes: Vec<u32>,
    offsets: Vec<usize>,
    neighbors: Vec<u32>,
    atoms: Vec<u8>,
    bonds: Vec<u8>,
    kept: Vec<u32>,
    refusals: Refusals,
}

impl Arena {
    /// An arena that need not grow: one that does holds everything twice while it is moved, which for millions of molecules is most of
    /// the memory that reading takes.
    fn with_room_for(rows: &Rows, chosen: &[u32]) -> Arena {
        let bounds = chosen.par_iter().map(|&row| bounds(rows.smiles(row as usize)));
        let (atoms, bonds) = bounds.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let mut offsets = Vec::with_capacity(atoms + 1);
        offsets.push(0);
        Arena {
            sizes: Vec::with_capacity(chosen.len()),
            offsets,
            neighbors: Vec::with_capacity(2 * bonds),
            atoms: Vec::with_capacity(ATOM_CARDINALITIES.len() * atoms),
            bonds: Vec::with_capacity(BOND_CARDINALITIES.len() * bonds),
            kept: Vec::with_capacity(chosen.len()),
            refusals: Refusals::default(),
        }
    }

    fn append(&mut self, block: Block) -> Result<()> {
        let first = self.offsets.len() - 1;
        if first + block.ends.len() > MAX_NODES {
            return Err(Error::setting("number of atoms", first + block.ends.len(), format!("at most {MAX_NODES}")));
        }
        let entries = self.neighbors.len();
        self.offsets.extend(block.ends.iter().map(|&end| entries + end as usize));
        self.neighbors.extend(block.neighbors.iter().map(|&neighbor| first as u32 + neighbor));
        self.sizes.extend(block.sizes);
        self.atoms.extend(block.atoms);
        self.bonds.extend(block.bonds);
        self.kept.extend(block.kept);
        self.refusals.count += block.refusals.count;
        let room = NAMED_REFUSALS - self.refusals.first.len();
        self.refusals.first.extend(block.refusals.first.into_iter().take(room));
        Ok(())
    }

    fn finish(self) -> Result<Molecules> {
        let edges = (self.neighbors.len() / 2) as u64;
        let graph = Graph::from_csr(self.offsets, self.neighbors, None)?;
        Ok(Molecules {
            graphs: GraphSet::from_block_diagonal(graph, self.sizes)?,
            atoms: Features::Categorical(Categorical::new(ATOM_CARDINALITIES.to_vec(), self.atoms)?),
            bonds: Features::Categorical(Categorical::new(BOND_CARDINALITIES.to_vec(), self.bonds)?),
            kept: self.kept,
            refusals: self.refusals,
            report: BuildReport { pairs: edges, edges, ..BuildReport::default() },
        })
    }
}

/// How many atoms and bonds a SMILES has at most, by its letters and the digits of its rings; exact for most texts.
fn bounds(smiles: &str) -> (usize, usize) {
    let (mut atoms, mut rings, mut bracketed) = (0usize, 0usize, false);
    for byte in smiles.bytes() {
        match byte {
            b'[' => {
                bracketed = true;
                atoms += 1;
            }
            b']' => bracketed = false,
            _ if bracketed => {}
            b'0'..=b'9' => rings += 1,
            // The second letters of Cl and Br are none of those that atoms begin with.
            b'A'..=b'Z' | b'b' | b'c' | b'n' | b'o' | b'p' | b's' | b'*' => atoms += 1,
            _ => {}
        }
    }
    (atoms, atoms.saturating_sub(1) + rings / 2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bounds_hold_and_are_exact_for_usual_molecules() {
        let exact = [
            "CCO",
            "c1ccc(Br)cc1Cl",
            "C[C@@H](N)C(=O)[O-]",
            "O=C(C1CCCCC1)N1CC(=O)N2CCCc3ccccc3C2C1",
            "*C",
            "[nH]1cccc1",
        ];
        for smiles in exact {
            let molecule = Molecule::from_smiles(smiles).unwrap();
            assert_eq!(bounds(smiles), (molecule.atoms.len(), molecule.bonds.len()), "{smiles}");
        }
        for smiles in ["[Na+].[Cl-]", "[H]C([H])([H])O", "C%10CCCC%10", "C%(7)CCCC%(7)", "[13CH4]"] {
            let molecule = Molecule::from_smiles(smiles).unwrap();
            let (atoms, bonds) = bounds(smiles);
            assert!(molecule.atoms.len() <= atoms && molecule.bonds.len() <= bonds, "{smiles}");
        }
    }
}
