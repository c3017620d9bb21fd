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

/// Reads every row's SMILES, in parallel; the order is that of the rows.
pub(super) fn assemble(rows: &Rows) -> Result<Molecules> {
    let mut arena = Arena { offsets: vec![0], ..Arena::default() };
    for wave in (0..rows.len()).step_by(WAVE) {
        let end = rows.len().min(wave + WAVE);
        let starts: Vec<usize> = (wave..end).step_by(BLOCK).collect();
        let blocks: Vec<Block> =
            starts.into_par_iter().map(|start| Block::read(rows, start..end.min(start + BLOCK))).collect();
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
    fn read(rows: &Rows, range: std::ops::Range<usize>) -> Block {
        let mut block = Block::default();
        for row in range {
            match Molecule::from_smiles(rows.smiles(row)) {
                Ok(molecule) => {
                    block.kept.push(row as u32);
                    block.push(molecule);
                }
                Err(why) => {
                    block.refusals.count += 1;
                    if block.refusals.first.len() < NAMED_REFUSALS {
                        block.refusals.first.push((row, why));
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
