//! Ego-nets, against distances found by hand.

use std::collections::BTreeSet;

use fiedler_graph::{Graph, ego_nets, walked_ego_nets};
use proptest::prelude::*;

use crate::common::{checked_edges, on_one_and_two_threads, weighted_graph};

/// Nodes within so many steps, by widening a set.
fn within(graph: &Graph, centre: u32, hops: usize) -> BTreeSet<u32> {
    let mut reached = BTreeSet::from([centre]);
    for _ in 0..hops {
        let next: Vec<u32> = reached.iter().flat_map(|&node| graph.neighbors(node)).copied().collect();
        reached.extend(next);
    }
    reached
}

proptest! {
    #[test]
    fn nets_are_what_lies_near(graph in weighted_graph(12), hops in 0..4usize, picks in proptest::collection::vec(0..12u32, 0..5)) {
        let centres: Vec<u32> = picks.into_iter().filter(|&centre| (centre as usize) < graph.num_nodes()).collect();
        let nets = ego_nets(&graph, &centres, hops, None, 0).unwrap();
        checked_edges(nets.graphs.block_diagonal());
        prop_assert_eq!(nets.graphs.len(), centres.len());
        for (at, &centre) in centres.iter().enumerate() {
            let range = nets.graphs.node_range(at);
            let nodes = &nets.node_rows[range.start as usize..range.end as usize];
            let mut expected = within(&graph, centre, hops);
            prop_assert_eq!(nodes.iter().copied().collect::<BTreeSet<_>>(), expected.clone());
            expected.remove(&centre);
            prop_assert_eq!(nodes[0], centre);
            prop_assert_eq!(&nodes[1..], &expected.into_iter().collect::<Vec<_>>());
            let net = nets.graphs.graph(at);
            for (a, &original_a) in nodes.iter().enumerate() {
                for (b, &original_b) in nodes.iter().enumerate() {
                    let weight = |graph: &Graph, a: u32, b: u32| {
                        let at = graph.neighbors(a).binary_search(&b).ok()?;
                        Some(graph.neighbor_weights(a).unwrap()[at])
                    };
                    prop_assert_eq!(weight(&net, a as u32, b as u32), weight(&graph, original_a, original_b));
                }
            }
        }
    }

    #[test]
    fn walked_nets_are_capped_and_near(graph in weighted_graph(12), hops in 0..4usize, cap in 1..8usize, seed in 0..9u64) {
        let centres: Vec<u32> = (0..graph.num_nodes() as u32).collect();
        let nets = walked_ego_nets(&graph, &centres, hops, cap, 0.8, seed).unwrap();
        checked_edges(nets.graphs.block_diagonal());
        for &centre in &centres {
            let range = nets.graphs.node_range(centre as usize);
            let nodes = &nets.node_rows[range.start as usize..range.end as usize];
            let met: BTreeSet<u32> = nodes.iter().copied().collect();
            let all = within(&graph, centre, hops);
            prop_assert!(nodes[0] == centre && met.len() == nodes.len() && met.len() <= cap && met.is_subset(&all));
            prop_assert!(all.len() > cap || met == all);
            let alone = walked_ego_nets(&graph, &[centre], hops, cap, 0.8, seed).unwrap();
            prop_assert_eq!(&alone.node_rows, nodes);
        }
    }

    #[test]
    fn capped_nets_keep_whole_hops_first(graph in weighted_graph(12), hops in 0..4usize, cap in 1..8usize, seed in 0..9u64) {
        let centres: Vec<u32> = (0..graph.num_nodes() as u32).collect();
        let nets = ego_nets(&graph, &centres, hops, Some(cap), seed).unwrap();
        for &centre in &centres {
            let range = nets.graphs.node_range(centre as usize);
            let nodes: BTreeSet<u32> = nets.node_rows[range.start as usize..range.end as usize].iter().copied().collect();
            let all = within(&graph, centre, hops);
            prop_assert_eq!(nodes.len(), all.len().min(cap));
            prop_assert!(nodes.is_subset(&all));
            for hop in 0..=hops {
                let whole = within(&graph, centre, hop);
                prop_assert!(whole.is_subset(&nodes) || nodes.is_subset(&whole));
            }
            let alone = ego_nets(&graph, &[centre], hops, Some(cap), seed).unwrap();
            prop_assert_eq!(alone.graphs.graph(0), nets.graphs.graph(centre as usize));
        }
    }
}

#[test]
fn the_draw_is_even_and_repeatable() {
    let (star, _) = Graph::from_pairs(11, (1..11).map(|leaf| (0, leaf)).collect()).unwrap();
    let mut times_drawn = [0; 11];
    for seed in 0..1000 {
        let [one, two] = on_one_and_two_threads(|| ego_nets(&star, &[0, 0], 1, Some(4), seed).unwrap());
        assert_eq!(one, two);
        one.node_rows[..4].iter().for_each(|&node| times_drawn[node as usize] += 1);
    }
    assert_eq!(times_drawn[0], 1000);
    // Binomial with 1,000 trials of probability 0.3: five standard deviations are 72.
    assert!(times_drawn[1..].iter().all(|times| (228..=372).contains(times)), "{times_drawn:?}");
}

#[test]
fn centres_must_exist_and_fit() {
    assert!(ego_nets(&Graph::empty(2), &[2], 1, None, 0).is_err());
    assert!(ego_nets(&Graph::empty(2), &[1], 1, Some(0), 0).is_err());
    assert!(ego_nets(&Graph::empty(2), &[], 1, None, 0).unwrap().graphs.is_empty());
}

#[test]
fn walks_stay_near_the_centre_the_more_they_restart() {
    // A centre with 20 neighbors, each of which has 20 of its own.
    let spokes = (1..=20u32).flat_map(|spoke| {
        std::iter::once((0, spoke)).chain((0..20).map(move |leaf| (spoke, 21 + 20 * (spoke - 1) + leaf)))
    });
    let (tree, _) = Graph::from_pairs(421, spokes.collect()).unwrap();
    let neighbors = |restart: f64| {
        let nets = walked_ego_nets(&tree, &[0], 2, 20, restart, 1).unwrap();
        assert_eq!(nets.node_rows.len(), 20);
        nets.node_rows.iter().filter(|&&node| (1..=20).contains(&node)).count()
    };
    assert!(neighbors(0.95) > neighbors(0.0), "{} {}", neighbors(0.95), neighbors(0.0));
    let [one, two] = on_one_and_two_threads(|| walked_ego_nets(&tree, &[0, 1, 2, 0], 2, 20, 0.8, 3).unwrap());
    assert_eq!(one, two);
    for restart in [-0.1, 1.0, f64::NAN] {
        assert!(walked_ego_nets(&tree, &[0], 2, 20, restart, 1).is_err());
    }
}
