//! What the paper shows of its schemes: where on a graph the probabilities fall, and what hard graphs are answered.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::ops::ControlFlow;

use fiedler_augment::scheme::{
    Augmentation, NodeDropping, Scheme, SchemeSettings, Spectral, Start, SupportChoice, ViewKey,
};
use fiedler_graph::generate::{Geometric, random_geometric};
use fiedler_graph::{Dataset, Event, Features, Graph, GraphSet, NoObserver};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::Operator;

fn opposite(set: &GraphSet, spectral: Spectral) -> Scheme {
    SchemeSettings::Opposite(spectral).compute(set, &NoObserver).unwrap()
}

/// Sums over the pairs of a view of one graph: for each kind that `kind` names, how many pairs there are and their mass.
fn mass_by<const KINDS: usize>(
    scheme: &Scheme,
    view: usize,
    graph: usize,
    mut kind: impl FnMut(u32, u32) -> Option<usize>,
) -> [f64; KINDS] {
    let Augmentation::Pairs(pairs) = &scheme.views()[view] else { panic!("a view of pairs") };
    let mut mass = [0.0; KINDS];
    pairs.graphs()[graph].visit(|(low, high), probability| {
        if let Some(kind) = kind(low, high) {
            mass[kind] += f64::from(probability);
        }
    });
    mass
}

/// Pooled over several graphs. What is asserted of additions is that most of them join clusters; a single pair is about as
/// likely to be joined between clusters as within, there are only more of them.
#[test]
fn maximising_removes_and_minimising_adds_between_clusters() {
    let (mut edges, mut removed, mut free, mut added) = ([0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]);
    for seed in 0..6 {
        let settings = Geometric { nodes: 200, radius: 0.12, clusters: 3, spread: 0.1 };
        let dataset = random_geometric(&settings, seed).unwrap();
        let graph = dataset.graph().unwrap();
        let classes = dataset.node_labels.as_ref().unwrap().classes().unwrap().of();
        let between = |low: u32, high: u32| usize::from(classes[low as usize] != classes[high as usize]);
        let scheme = opposite(&dataset.graphs, Spectral::default());
        for low in 0..graph.num_nodes() as u32 {
            for high in low + 1..graph.num_nodes() as u32 {
                let counts = if graph.has_edge(low, high) { &mut edges } else { &mut free };
                counts[between(low, high)] += 1.0;
            }
        }
        let of_edges = mass_by::<2>(&scheme, 0, 0, |low, high| graph.has_edge(low, high).then(|| between(low, high)));
        let of_free = mass_by::<2>(&scheme, 1, 0, |low, high| (!graph.has_edge(low, high)).then(|| between(low, high)));
        for kind in 0..2 {
            removed[kind] += of_edges[kind];
            added[kind] += of_free[kind];
        }
    }
    let removal = [0, 1].map(|kind| removed[kind] / edges[kind]);
    println!("removal within {:.3}, between {:.3}", removal[0], removal[1]);
    println!("addition within {:.5}, between {:.5}; {added:.0?} in all", added[0] / free[0], added[1] / free[1]);
    assert!(removal[1] > 2.0 * removal[0], "{removal:?}");
    assert!(added[1] > 2.0 * added[0], "{added:?}");
}

fn published(name: &str) -> Option<Dataset> {
    if std::env::var_os("FIEDLER_DATA").is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: {name} (FIEDLER_DATA is not set)");
        return None;
    }
    Some(catalogue::open(name, &ReadOptions::default()).unwrap())
}

#[test]
fn on_molecules_the_nitro_group_is_cut_off_and_joined_to_the_rest() {
    let Some(mutag) = published("mutag") else { return };
    let atoms = atom_types(mutag.features.as_ref().unwrap());
    let scheme = opposite(&mutag.graphs, Spectral { ratio: 0.1, ..Spectral::default() });
    // Edges: across the boundary of a nitro group, within one, elsewhere.
    let (mut edges, mut removed) = ([0.0; 3], [0.0; 3]);
    // Pairs that are no edges: across the boundary, elsewhere.
    let (mut free, mut added) = ([0.0; 2], [0.0; 2]);
    for at in 0..mutag.graphs.len() {
        let graph = mutag.graphs.graph(at);
        let first = mutag.graphs.node_range(at).start as usize;
        let nitro = nitro_groups(&graph, &atoms[first..]);
        let kind = |low: u32, high: u32| match (nitro[low as usize], nitro[high as usize]) {
            (false, false) => 2,
            (true, true) => 1,
            _ => 0,
        };
        graph.edge_pairs().for_each(|(low, high)| edges[kind(low, high)] += 1.0);
        let mass = mass_by::<3>(&scheme, 0, at, |low, high| graph.has_edge(low, high).then(|| kind(low, high)));
        (0..3).for_each(|kind| removed[kind] += mass[kind]);
        let mass =
            mass_by::<2>(&scheme, 1, at, |low, high| (!graph.has_edge(low, high)).then(|| kind(low, high).min(1)));
        for low in 0..graph.num_nodes() as u32 {
            for high in low + 1..graph.num_nodes() as u32 {
                free[kind(low, high).min(1)] += f64::from(u8::from(!graph.has_edge(low, high)));
            }
        }
        (0..2).for_each(|kind| added[kind] += mass[kind]);
    }
    let removal = [0, 1, 2].map(|kind| removed[kind] / edges[kind]);
    let addition = [0, 1].map(|kind| added[kind] / free[kind]);
    println!("removal across {:.3}, within {:.3}, elsewhere {:.3}", removal[0], removal[1], removal[2]);
    println!("addition across {:.5}, elsewhere {:.5}", addition[0], addition[1]);
    assert!(removal[0] > 1.5 * removal[1].max(removal[2]), "{removal:?}");
    assert!(addition[0] > addition[1], "{addition:?}");
}

/// The place of the one in each row of an indicator matrix.
fn atom_types(features: &Features) -> Vec<usize> {
    let dense = features.to_dense();
    let row = |row: &[f32]| row.iter().position(|&value| value == 1.0).unwrap();
    dense.values().chunks(features.columns()).map(row).collect()
}

/// Atoms of NO2: a nitrogen with two oxygens of degree one, and these. Carbon is 0, nitrogen 1, oxygen 2.
fn nitro_groups(graph: &Graph, atoms: &[usize]) -> Vec<bool> {
    let mut nitro = vec![false; graph.num_nodes()];
    for node in 0..graph.num_nodes() as u32 {
        let oxygens: Vec<u32> = graph
            .neighbors(node)
            .iter()
            .copied()
            .filter(|&other| atoms[other as usize] == 2 && graph.degree(other) == 1)
            .collect();
        if atoms[node as usize] == 1 && oxygens.len() == 2 {
            nitro[node as usize] = true;
            oxygens.iter().for_each(|&oxygen| nitro[oxygen as usize] = true);
        }
    }
    nitro
}

#[test]
fn hard_graphs_have_a_right_answer() {
    let complete = |nodes: u32| (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect::<Vec<_>>();
    let graphs = [
        ("nothing", 0, vec![]),
        ("one node", 1, vec![]),
        ("no edges", 5, vec![]),
        ("complete", 6, complete(6)),
        ("star", 7, (1..7).map(|leaf| (0, leaf)).collect()),
        ("two components", 6, vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]),
        ("isolated nodes", 6, vec![(1, 2), (2, 3)]),
    ];
    for (name, nodes, pairs) in graphs {
        let set = GraphSet::single(Graph::from_pairs(nodes, pairs).unwrap().0);
        for ratio in [0.0, 0.3, 1000.0] {
            for eigenvalues in [None, Some(1), Some(100)] {
                for operator in Operator::ALL {
                    for support in
                        [SupportChoice::Auto, SupportChoice::All, SupportChoice::Edges, SupportChoice::Candidates]
                    {
                        for start in [None, Some(Start::Uniform)] {
                            let spectral = Spectral {
                                ratio,
                                k: eigenvalues,
                                operator,
                                support,
                                start,
                                steps: 10,
                                ..Spectral::default()
                            };
                            let place = format!("{name}, {ratio}, {eigenvalues:?}, {operator}, {support:?}, {start:?}");
                            for settings in [
                                SchemeSettings::Opposite(spectral),
                                SchemeSettings::Single(spectral),
                                SchemeSettings::Double(spectral),
                            ] {
                                check(&settings, &set, &place);
                            }
                        }
                    }
                    let dropping =
                        NodeDropping { ratio, k: eigenvalues, operator, steps: 10, ..NodeDropping::default() };
                    check(&SchemeSettings::NodeDropping(dropping), &set, name);
                }
            }
        }
    }
}

fn check(settings: &SchemeSettings, set: &GraphSet, place: &str) {
    let scheme = settings.compute(set, &NoObserver).unwrap_or_else(|error| panic!("{place}: {error}"));
    for view in &scheme.report().views {
        let place = format!("{} {}, {place}", settings.name(), view.name);
        assert!(view.mass.total() <= view.budget + 1e-3, "{place}: {:?} of {}", view.mass, view.budget);
        let Some(norm) = view.norm else {
            assert_eq!(view.name, "unchanged");
            continue;
        };
        assert!(norm.after.is_finite() && norm.before.is_finite(), "{place}: {norm:?}");
    }
    for view in 0..scheme.views().len() as u32 {
        scheme.draw(&set.whole(), ViewKey::new(0, 0, view)).unwrap();
    }
}

#[test]
fn settings_out_of_range_are_refused_with_advice() {
    let set = GraphSet::single(Graph::from_pairs(3, vec![(0, 1), (1, 2)]).unwrap().0);
    let refused = |settings: SchemeSettings| settings.compute(&set, &NoObserver).unwrap_err().to_string();
    let base = Spectral::default();
    assert!(refused(SchemeSettings::Opposite(Spectral { ratio: -0.1, ..base })).contains("ratio"));
    assert!(refused(SchemeSettings::Opposite(Spectral { ratio: f64::NAN, ..base })).contains("ratio"));
    assert!(refused(SchemeSettings::Opposite(Spectral { k: Some(0), ..base })).contains("k is 0"));
    assert!(refused(SchemeSettings::Single(Spectral { start: Some(Start::Zero), ..base })).contains("start"));
    assert!(settings_stop(&set).contains("stopped"));
}

fn settings_stop(set: &GraphSet) -> String {
    SchemeSettings::Opposite(Spectral::default())
        .compute(set, &|_: &Event<'_>| ControlFlow::Break(()))
        .unwrap_err()
        .to_string()
}
