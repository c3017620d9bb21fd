//! Building graphs, against sets of pairs.

use std::collections::{BTreeMap, BTreeSet};

use fiedler_graph::{BuildReport, Error, Graph, MAX_NODES, Names, PairChunk};
use proptest::prelude::*;

use crate::common::{checked_edges, graph, pairs, weighted_graph};

fn undirected((a, b): (u32, u32)) -> (u32, u32) {
    (a.min(b), a.max(b))
}

proptest! {
    #[test]
    fn pairs_become_a_simple_graph((nodes, pairs) in pairs(12)) {
        let directed: BTreeSet<_> = pairs.iter().copied().filter(|(a, b)| a != b).collect();
        let edges: BTreeSet<_> = directed.iter().copied().map(undirected).collect();
        let loops = pairs.iter().filter(|(a, b)| a == b).count();

        let (graph, report) = Graph::from_pairs(nodes, pairs.clone()).unwrap();
        prop_assert_eq!(graph.num_nodes(), nodes);
        prop_assert_eq!(&checked_edges(&graph), &edges);
        prop_assert_eq!(report.pairs, pairs.len() as u64);
        prop_assert_eq!(report.edges, edges.len() as u64);
        prop_assert_eq!(report.self_loops, loops as u64);
        prop_assert_eq!(report.mirrored, (directed.len() - edges.len()) as u64);
        prop_assert_eq!(report.pairs, report.edges + report.mirrored + report.repeated + report.self_loops);
    }

    #[test]
    fn the_largest_weight_of_merged_pairs_stays(
        (nodes, weighted) in pairs(8).prop_flat_map(|(nodes, pairs)| {
            let weights = proptest::collection::vec(0.1f32..9.0, pairs.len());
            (Just(nodes), weights.prop_map(move |weights| pairs.iter().copied().zip(weights).collect::<Vec<_>>()))
        })
    ) {
        let mut largest = BTreeMap::new();
        for &(pair, weight) in weighted.iter().filter(|((a, b), _)| a != b) {
            let kept: &mut f32 = largest.entry(undirected(pair)).or_insert(weight);
            *kept = kept.max(weight);
        }
        let (pairs, weights): (Vec<_>, Vec<_>) = weighted.into_iter().unzip();
        let (plain, plain_report) = Graph::from_pairs(nodes, pairs.clone()).unwrap();
        let (graph, report) = Graph::from_weighted_pairs(nodes, pairs, weights).unwrap();
        prop_assert!(report.reweighted <= report.mirrored + report.repeated);
        prop_assert_eq!(BuildReport { reweighted: 0, ..report }, plain_report);
        prop_assert_eq!(graph.indices(), plain.indices());
        prop_assert_eq!(graph.edge_weights().unwrap(), largest.values().copied().collect::<Vec<_>>());
        for node in 0..nodes as u32 {
            for (&other, &weight) in graph.neighbors(node).iter().zip(graph.neighbor_weights(node).unwrap()) {
                prop_assert_eq!(weight, largest[&undirected((node, other))]);
            }
        }
    }

    #[test]
    fn edges_have_one_order(graph in graph(12)) {
        let pairs: Vec<_> = graph.edge_pairs().collect();
        prop_assert!(pairs.is_sorted_by(|a, b| a < b));
        prop_assert!(pairs.iter().all(|(low, high)| low < high));
        let index = graph.edge_lookup();
        for a in 0..graph.num_nodes() as u32 {
            for b in 0..graph.num_nodes() as u32 {
                let place = pairs.iter().position(|&pair| pair == undirected((a, b)));
                prop_assert_eq!(index.get(a, b), place);
                prop_assert_eq!(graph.has_edge(a, b), place.is_some());
            }
        }
        let places: Vec<usize> = (0..pairs.len()).collect();
        let spread = graph.spread_to_entries(&places);
        for node in 0..graph.num_nodes() as u32 {
            let row = graph.indptr()[node as usize]..graph.indptr()[node as usize + 1];
            for (&other, &place) in graph.neighbors(node).iter().zip(&spread[row]) {
                prop_assert_eq!(index.get(node, other), Some(place));
            }
        }
    }

    #[test]
    fn a_graph_is_rebuilt_from_its_edges(graph in weighted_graph(12)) {
        let mut pairs: Vec<_> = graph.edge_pairs().map(|(low, high)| (high, low)).collect();
        let mut weights = graph.edge_weights().unwrap();
        pairs.reverse();
        weights.reverse();
        let (rebuilt, report) = Graph::from_weighted_pairs(graph.num_nodes(), pairs, weights).unwrap();
        prop_assert_eq!(report.pairs, report.edges);
        prop_assert_eq!(rebuilt, graph);
    }
}

#[test]
fn bad_pairs_and_weights_are_refused() {
    let message = |result: Result<_, Error>| result.map(|_: (Graph, _)| ()).unwrap_err().to_string();
    assert_eq!(
        message(Graph::from_pairs(3, vec![(0, 1), (3, 1)])),
        "node id is 3; expected an id below 3, the number of nodes"
    );
    assert!(message(Graph::from_pairs(MAX_NODES + 1, vec![])).starts_with("number of nodes is"));
    assert!(message(Graph::from_pairs(0, vec![(0, 0)])).starts_with("node id is 0"));
    assert!(message(Graph::from_weighted_pairs(2, vec![(0, 1)], vec![])).starts_with("number of weights is 0"));
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(message(Graph::from_weighted_pairs(2, vec![(0, 1)], vec![bad])).starts_with("edge weight is"), "{bad}");
    }
}

#[test]
fn a_graph_may_be_empty() {
    let (graph, _) = Graph::from_pairs(0, vec![]).unwrap();
    assert_eq!(graph, Graph::empty(0));
    assert_eq!((graph.num_nodes(), graph.num_edges(), graph.edge_pairs().count()), (0, 0, 0));
    assert_eq!(Graph::empty(3).neighbors(2), [0u32; 0]);
}

#[test]
fn names_must_be_one_a_node() {
    let names = Names::Strings(vec!["a".into(), "b".into()]);
    let graph = Graph::empty(2).with_names(names.clone()).unwrap();
    assert_eq!((graph.name(1), Graph::empty(2).name(1)), ("b".into(), "1".into()));
    assert!(Graph::empty(3).with_names(names).is_err());
    assert_eq!(Names::Integers(vec![0, 1, 2]).unless_counting(), None);
    assert_eq!(Names::Integers(vec![1, 2]).unless_counting(), Some(Names::Integers(vec![1, 2])));
}

proptest! {
    #[test]
    fn rows_taken_over_make_the_same_graph(graph in weighted_graph(30)) {
        let (indptr, indices) = (graph.indptr().to_vec(), graph.indices().to_vec());
        let weights = graph.weights().map(<[f32]>::to_vec);
        prop_assert_eq!(&Graph::from_csr(indptr.clone(), indices.clone(), weights).unwrap(), &graph);

        let [sources, targets] = graph.edge_index();
        prop_assert_eq!(&targets, &indices);
        let pairs = sources.into_iter().zip(targets).collect();
        let (again, report) = Graph::from_pairs(graph.num_nodes(), pairs).unwrap();
        prop_assert_eq!(again.indices(), graph.indices());
        prop_assert_eq!(report.mirrored as usize, graph.num_edges());
    }

    #[test]
    fn rows_that_lack_an_entry_are_refused(graph in graph(30), at in any::<prop::sample::Index>()) {
        prop_assume!(graph.num_edges() > 0);
        let at = at.index(graph.indices().len());
        let mut indices = graph.indices().to_vec();
        indices.remove(at);
        let indptr = graph.indptr().iter().map(|&start| start - usize::from(start > at)).collect();
        prop_assert!(Graph::from_csr(indptr, indices, None).is_err());
    }

    #[test]
    fn chunks_make_the_graph_of_their_pairs((nodes, pairs) in pairs(30), size in 1usize..7) {
        let chunk = |pairs: &[(u32, u32)]| PairChunk { pairs: pairs.to_vec(), weights: vec![2.0; pairs.len()] };
        let chunks: Vec<_> = pairs.chunks(size).map(chunk).collect();
        let expected = Graph::from_pairs(nodes, pairs.clone()).unwrap();
        prop_assert_eq!(Graph::from_chunks(nodes, false, chunks.clone()).unwrap(), expected);
        let expected = Graph::from_weighted_pairs(nodes, pairs.clone(), vec![2.0; pairs.len()]).unwrap();
        prop_assert_eq!(Graph::from_chunks(nodes, true, chunks).unwrap(), expected);
    }
}

#[test]
fn chunks_are_checked() {
    let chunk = |weights: &[f32]| vec![PairChunk { pairs: vec![(0, 1)], weights: weights.to_vec() }];
    assert!(Graph::from_chunks(2, true, chunk(&[1.0])).is_ok());
    assert!(Graph::from_chunks(1, false, chunk(&[])).is_err(), "an id out of range");
    for weights in [[].as_slice(), &[0.0], &[f32::NAN], &[1.0, 1.0]] {
        assert!(Graph::from_chunks(2, true, chunk(weights)).is_err(), "{weights:?}");
    }
}

proptest! {
    #[test]
    fn places_are_those_of_the_same_edges(graph in graph(12), other in graph(12)) {
        let ends = |graph: &Graph| {
            let [sources, targets] = graph.edge_index();
            sources.into_iter().zip(targets).collect::<Vec<_>>()
        };
        let (of_graph, of_other) = (ends(&graph), ends(&other));
        let places = graph.places_in(&other);
        prop_assert_eq!(places.len(), of_graph.len());
        for (edge, place) in of_graph.iter().zip(places) {
            prop_assert_eq!(place, of_other.iter().position(|found| found == edge));
        }
    }
}
