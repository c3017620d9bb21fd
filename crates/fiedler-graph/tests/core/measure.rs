//! Measures, against plain definitions and figures of other programs.

use fiedler_graph::measure::{self, Summary};
use fiedler_graph::{Categorical, Classes, Dataset, Features, Graph, GraphSet, Labels, MultiLabel, generate};
use proptest::prelude::*;

use crate::common::{graph, on_one_and_two_threads};

fn near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?} is not {expected}");
}

/// Triangles through a node, by trying all pairs of its neighbors.
fn triangles_of(graph: &Graph, node: u32) -> u64 {
    let row = graph.neighbors(node);
    row.iter().enumerate().map(|(at, &a)| row[at..].iter().filter(|&&b| graph.has_edge(a, b)).count() as u64).sum()
}

fn pairs_of(graph: &Graph, node: u32) -> u64 {
    let degree = graph.degree(node) as u64;
    degree * degree.saturating_sub(1) / 2
}

fn average(values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn clustering(graph: &Graph) -> f64 {
    let local = |node| match pairs_of(graph, node) {
        0 => 0.0,
        pairs => triangles_of(graph, node) as f64 / pairs as f64,
    };
    average((0..graph.num_nodes() as u32).map(local))
}

proptest! {
    #[test]
    fn one_graph_is_measured_as_defined(graph in graph(14)) {
        let nodes = 0..graph.num_nodes() as u32;
        let summary = measure::summarize(&Dataset::single("any", graph.clone()));
        let triangles: u64 = nodes.clone().map(|node| triangles_of(&graph, node)).sum();
        let pairs: u64 = nodes.clone().map(|node| pairs_of(&graph, node)).sum();
        prop_assert_eq!(summary.triangles, triangles / 3);
        near(summary.clustering, clustering(&graph));
        near(summary.transitivity, if pairs == 0 { 0.0 } else { triangles as f64 / pairs as f64 });
        let degree = summary.degree.unwrap();
        near(Some(degree.mean), average(nodes.clone().map(|node| graph.degree(node) as f64)));
        prop_assert_eq!(degree.max, nodes.clone().map(|node| graph.degree(node)).max().unwrap());
        prop_assert_eq!(summary.isolated, nodes.clone().filter(|&node| graph.degree(node) == 0).count());

        // Components: join edge by edge, and count what is left.
        let mut root: Vec<u32> = nodes.clone().collect();
        for (low, high) in graph.edge_pairs() {
            let (kept, lost) = (root[low as usize], root[high as usize]);
            root.iter_mut().filter(|at| **at == lost).for_each(|at| *at = kept);
        }
        let (component, count) = measure::components(&graph);
        for a in nodes.clone() {
            for b in nodes.clone() {
                let [a, b] = [a, b].map(|node| node as usize);
                prop_assert_eq!(component[a] == component[b], root[a] == root[b]);
            }
        }
        root.sort();
        root.dedup();
        prop_assert_eq!((summary.components, count), (root.len(), root.len()));
    }

    #[test]
    fn a_set_is_the_mean_of_its_graphs(graphs in proptest::collection::vec(graph(8), 2..5)) {
        let mut first = 0;
        let mut pairs = Vec::new();
        for graph in &graphs {
            pairs.extend(graph.edge_pairs().map(|(low, high)| (low + first, high + first)));
            first += graph.num_nodes() as u32;
        }
        let sizes = graphs.iter().map(|graph| graph.num_nodes() as u32).collect();
        let set = GraphSet::from_block_diagonal(Graph::from_pairs(first as usize, pairs).unwrap().0, sizes).unwrap();
        let summary = measure::summarize(&Dataset::set("set", set));
        let each: Vec<Summary> =
            graphs.iter().map(|graph| measure::summarize(&Dataset::single("one", graph.clone()))).collect();
        let total = |figure: fn(&Summary) -> usize| each.iter().map(figure).sum::<usize>();
        let per_graph = summary.per_graph.unwrap();
        prop_assert_eq!(summary.graphs, graphs.len());
        prop_assert_eq!(summary.nodes, total(|one| one.nodes));
        prop_assert_eq!(summary.edges, total(|one| one.edges));
        prop_assert_eq!(summary.components, total(|one| one.components));
        prop_assert_eq!(summary.isolated, total(|one| one.isolated));
        near(summary.mean_nodes, average(each.iter().map(|one| one.nodes as f64)));
        near(summary.mean_edges, average(each.iter().map(|one| one.edges as f64)));
        near(summary.clustering, average(each.iter().filter_map(|one| one.clustering)));
        near(summary.transitivity, average(each.iter().filter_map(|one| one.transitivity)));
        let densities: Vec<f64> = each.iter().filter_map(|one| one.density).collect();
        match densities.is_empty() {
            true => prop_assert_eq!(summary.density, None),
            false => near(summary.density, average(densities)),
        }
        prop_assert_eq!(per_graph.components.max as usize, each.iter().map(|one| one.components).max().unwrap());
        prop_assert_eq!(per_graph.nodes.min as usize, each.iter().map(|one| one.nodes).min().unwrap());
    }
}

#[test]
fn the_karate_club_is_as_networkx_measures_it() {
    let karate = generate::karate_club();
    let summary = measure::summarize(&karate);
    near(summary.clustering, 0.5706384782076823);
    near(summary.transitivity, 0.2556818181818182);
    near(summary.density, 0.13903743315508021);
    assert_eq!((summary.triangles, summary.isolated), (45, 0));
    let degree = summary.degree.unwrap();
    assert_eq!((degree.min, degree.median, degree.max), (1, 3.0, 17));
    assert_eq!(summary.class_counts, Some(vec![17, 17]));
    near(summary.homophily, 67.0 / 78.0);
    assert_eq!((summary.features, summary.per_graph, summary.mean_nodes), (None, None, None));

    let json = serde_json::to_value(&summary).unwrap();
    for key in ["graphs", "nodes", "edges", "features", "classes", "components", "isolated", "clustering", "homophily"]
    {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert!(json["features"].is_null());
}

#[test]
fn labels_and_features_are_described() {
    let (path, _) = Graph::from_pairs(4, vec![(0, 1), (1, 2), (2, 3)]).unwrap();
    let mut dataset = Dataset::single("path", path.clone());
    dataset.node_labels = Some(Labels::Classes(Classes::from_labels([Some("x"), Some("x"), Some("y"), None])));
    dataset.features = Some(Features::Categorical(Categorical::new(vec![2], vec![0, 1, 0, 1]).unwrap()));
    let summary = measure::summarize(&dataset);
    near(summary.homophily, 0.5);
    assert_eq!((summary.labelled, summary.classes, summary.tasks), (Some(3), Some(2), None));
    assert_eq!((summary.feature_kind, summary.features), (Some("categorical"), Some(1)));
    assert_eq!(summary.labels_of, Some("nodes"));

    let names = vec!["toxic".to_owned(), "soluble".to_owned()];
    dataset.graph_labels = Some(Labels::MultiLabel(MultiLabel::new(names, vec![None, Some(true)]).unwrap()));
    let summary = measure::summarize(&dataset);
    assert_eq!((summary.labels_of, summary.label_kind), (Some("graphs"), Some("tasks")));
    assert_eq!((summary.labelled, summary.classes, summary.tasks), (Some(1), None, Some(2)));
    near(summary.homophily, 0.5);
}

#[test]
fn nothing_at_all_can_be_measured() {
    for graphs in [GraphSet::single(Graph::empty(0)), GraphSet::from_block_diagonal(Graph::empty(0), vec![]).unwrap()] {
        let summary = measure::summarize(&Dataset::set("nothing", graphs));
        assert_eq!((summary.nodes, summary.components, summary.degree), (0, 0, None));
        assert_eq!((summary.clustering, summary.density, summary.homophily), (None, None, None));
    }
}

#[test]
fn measures_do_not_depend_on_threads() {
    let dataset = generate::from_spec("sbm:nodes=3000,degree=30,classes=6,tail=2.5,vocabulary=20", 0).unwrap();
    let [one, two] = on_one_and_two_threads(|| measure::summarize(&dataset));
    assert_eq!(one, two);
}
