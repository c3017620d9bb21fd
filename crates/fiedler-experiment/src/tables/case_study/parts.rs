//! The parts of a graph that a scheme may tell apart: clusters, or a molecule's groups of atoms.

use fiedler_graph::{Dataset, Graph, Labels};
use fiedler_report::drawing::Groups;
use fiedler_spectral::{ClusterSettings, cluster};

use crate::error::Result;

/// The part of each node.
pub struct Parts {
    of: Vec<u32>,
}

impl Parts {
    /// Nitro groups and the rest of a molecule; else classes of nodes; else clusters of the spectrum.
    pub fn of(dataset: &Dataset, place: usize, graph: &Graph) -> Result<Parts> {
        if let Some(atoms) = Groups::of_dataset(dataset, place).filter(Groups::are_atoms) {
            return Ok(Parts { of: nitro_groups(graph, &atoms) });
        }
        if let Some(Labels::Classes(classes)) = &dataset.node_labels {
            let range = dataset.graphs.node_range(place);
            let own = classes.of().iter().skip(range.start as usize).take(range.len());
            return Ok(Parts { of: own.map(|class| class.unwrap_or(u32::MAX)).collect() });
        }
        Ok(Parts { of: cluster(graph, &ClusterSettings::default())?.of_node })
    }

    /// Whether two nodes lie in different parts.
    pub fn differ(&self, a: u32, b: u32) -> bool {
        self.of.get(a as usize) != self.of.get(b as usize)
    }
}

/// The graphs that the paper speaks of: all, but of molecules the mutagenic ones with a nitro group where there are any.
pub fn of_interest(dataset: &Dataset) -> Vec<usize> {
    let all = 0..dataset.graphs.len();
    let some: Vec<usize> = all.clone().filter(|&place| is_of_interest(dataset, place)).collect();
    if some.is_empty() { all.collect() } else { some }
}

fn is_of_interest(dataset: &Dataset, place: usize) -> bool {
    let Some(atoms) = Groups::of_dataset(dataset, place).filter(Groups::are_atoms) else { return true };
    let mutagenic = match &dataset.graph_labels {
        Some(Labels::Classes(classes)) => {
            let class = classes.of().get(place).copied().flatten();
            class.and_then(|class| classes.names().get(class as usize)).is_some_and(|name| name == "1")
        }
        _ => true,
    };
    mutagenic && nitro_groups(&dataset.graphs.graph(place), &atoms).iter().any(|&part| part > 0)
}

/// Nitro groups numbered from one, zero for all other atoms: a nitrogen and the two oxygens that have no other bond.
fn nitro_groups(graph: &Graph, atoms: &Groups) -> Vec<u32> {
    let is = |node: u32, symbol: &str| atoms.name_of(node) == Some(symbol);
    let mut part_of = vec![0; graph.num_nodes()];
    let mut groups = 0;
    for nitrogen in (0..graph.num_nodes() as u32).filter(|&node| is(node, "N")) {
        let ends = |&&node: &&u32| is(node, "O") && graph.degree(node) == 1;
        let oxygens: Vec<u32> = graph.neighbors(nitrogen).iter().filter(ends).copied().collect();
        if oxygens.len() >= 2 {
            groups += 1;
            oxygens.iter().chain([&nitrogen]).for_each(|&node| part_of[node as usize] = groups);
        }
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nitro_group_is_a_nitrogen_with_two_oxygens() {
        // Nitrobenzene's ring is cut short: C C N O O, and a nitroso group N O beside it.
        let (graph, _) = Graph::from_pairs(7, vec![(0, 1), (1, 2), (2, 3), (2, 4), (0, 5), (5, 6)]).unwrap();
        let atoms = Groups::atoms(&["C", "C", "N", "O", "O", "N", "O"]);
        assert_eq!(nitro_groups(&graph, &atoms), [0, 0, 1, 1, 1, 0, 0]);
    }
}
