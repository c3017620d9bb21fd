use fiedler_graph::Graph;
use fiedler_spectral::{ClusterSettings, Error, cluster};

use crate::common::{beside, complete, groups, path};

#[test]
fn finds_planted_groups() {
    let graph = groups(5, 120, 0.2, 0.01, 3);
    for clusters in [Some(5), None] {
        let found = cluster(&graph, &ClusterSettings { clusters, ..Default::default() }).unwrap();
        assert_eq!(found.clusters, 5);
        let right = found.of_node.iter().enumerate().filter(|&(node, &cluster)| node / 120 == cluster as usize).count();
        assert!(right >= 590, "{right} of 600");
        assert_eq!(found, cluster(&graph, &ClusterSettings { clusters, ..Default::default() }).unwrap());
    }
}

#[test]
fn components_are_clusters() {
    let graph = beside(&[complete(5), complete(7), path(4)]);
    let found = cluster(&graph, &ClusterSettings { clusters: Some(3), ..Default::default() }).unwrap();
    let expected: Vec<u32> = [vec![0; 5], vec![1; 7], vec![2; 4]].concat();
    assert_eq!(found.of_node, expected);
    assert!(found.spread < 1e-12);
}

#[test]
fn degenerate_graphs() {
    let settings = |clusters| ClusterSettings { clusters, ..Default::default() };
    assert_eq!(cluster(&Graph::empty(1), &settings(None)).unwrap().of_node, [0]);
    assert_eq!(cluster(&Graph::empty(0), &settings(None)).unwrap().of_node, [0u32; 0]);
    assert_eq!(cluster(&path(2), &settings(Some(1))).unwrap().of_node, [0, 0]);
    let all = cluster(&path(4), &settings(Some(4))).unwrap();
    assert_eq!(all.of_node.len(), 4);
    for clusters in [0, 5] {
        assert!(matches!(cluster(&path(4), &settings(Some(clusters))), Err(Error::Setting { .. })));
    }
}
