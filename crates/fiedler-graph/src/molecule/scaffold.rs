//! Scaffolds of molecules: what is left without side chains, and the split by them.

use std::collections::HashMap;

use super::canonical::{Atoms, Bonds, CHARGE, ELEMENT, KIND, Molecule, hash_each};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::split::Split;

/// The code of a double bond.
const DOUBLE: u8 = 1;

/// A hash of the Bemis-Murcko scaffold of each molecule of a set: its rings, the chains between them, and what a double bond joins to
/// either. Molecules without rings have one scaffold, which is empty.
///
/// Scaffolds are the same where RDKit's `MurckoScaffoldSmiles` without chirality are. As [`canonical_hashes`](super::canonical_hashes),
/// hashes are for comparisons within one process.
///
/// # Errors
/// When atoms and bonds are not described by the codes of molecules.
pub fn scaffold_hashes(dataset: &Dataset) -> Result<Vec<u64>> {
    hash_each(dataset, keep_scaffold)
}

fn keep_scaffold(molecule: &mut Molecule, atoms: &Atoms<'_>, bonds: &Bonds<'_>) {
    let mut degree = vec![0u32; atoms.len()];
    for &(low, high, _) in bonds {
        degree[low as usize] += 1;
        degree[high as usize] += 1;
    }
    // Ends of chains fall off until only rings and what is between them is left.
    let mut kept = vec![true; atoms.len()];
    loop {
        let ends: Vec<usize> = (0..atoms.len()).filter(|&atom| kept[atom] && degree[atom] < 2).collect();
        if ends.is_empty() {
            break;
        }
        for atom in ends {
            kept[atom] = false;
            for &(low, high, _) in bonds {
                let (low, high) = (low as usize, high as usize);
                if (low == atom && kept[high]) || (high == atom && kept[low]) {
                    degree[low + high - atom] = degree[low + high - atom].saturating_sub(1);
                }
            }
        }
    }
    let core = kept.clone();
    for &(low, high, codes) in bonds {
        if codes[KIND] == DOUBLE && (core[low as usize] || core[high as usize]) {
            (kept[low as usize], kept[high as usize]) = (true, true);
        }
    }
    let mut place = vec![u32::MAX; atoms.len()];
    for (at, atom) in (0..atoms.len()).filter(|&atom| kept[atom]).enumerate() {
        place[atom] = at as u32;
        molecule.atom(&[atoms[atom][ELEMENT], atoms[atom][CHARGE]]);
    }
    let inside = bonds.iter().filter(|(low, high, _)| kept[*low as usize] && kept[*high as usize]);
    molecule.bonds.extend(inside.map(|&(low, high, codes)| (place[low as usize], place[high as usize], codes[KIND])));
}

/// The scaffold split of Hu et al. and of the Open Graph Benchmark: the largest groups of one scaffold first, of equal ones that which comes
/// last in the data; a group is trained on while there is room, else validated on, else tested on. Nothing of it is drawn.
///
/// Unlike there, chirality does not divide a scaffold.
///
/// # Errors
/// When atoms and bonds are not described by the codes of molecules, or a share is out of its range.
pub fn scaffold_split(dataset: &Dataset, train: f64, validation: f64) -> Result<Split> {
    let is_share = |share: f64| share > 0.0 && share < 1.0;
    if !is_share(train) || !(0.0..1.0).contains(&validation) || !is_share(train + validation) {
        let value = format!("{train} and {validation}");
        return Err(Error::setting("shares of train and validation", value, "above 0, and less than 1 together"));
    }
    let mut groups: HashMap<u64, Vec<u32>> = HashMap::new();
    for (graph, hash) in (0..).zip(scaffold_hashes(dataset)?) {
        groups.entry(hash).or_default().push(graph);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
    groups.sort_unstable_by_key(|group| std::cmp::Reverse((group.len(), group[0])));
    let items = dataset.graphs.len() as f64;
    let (most_train, most_both) = (train * items, (train + validation) * items);
    let mut split = Split { name: "scaffold".into(), ..Split::default() };
    for group in groups {
        let part = if (split.train.len() + group.len()) as f64 <= most_train {
            &mut split.train
        } else if (split.train.len() + split.validation.len() + group.len()) as f64 <= most_both {
            &mut split.validation
        } else {
            &mut split.test
        };
        part.extend(group);
    }
    for part in [&mut split.train, &mut split.validation, &mut split.test] {
        part.sort_unstable();
    }
    Ok(split)
}
