//! Drawings: where nodes stand, which part of a graph is shown, what a figure says.
#![allow(clippy::unwrap_used)]

use fiedler_augment::Scheme;
use fiedler_augment::sample::EdgeFlips;
use fiedler_augment::scheme::{NodeDropping, SchemeSettings, Spectral, Uniform};
use fiedler_graph::generate::{self, BarabasiAlbert, ErdosRenyi};
use fiedler_graph::{Dataset, Graph, Names};
use fiedler_report::Figure;
use fiedler_report::drawing::{Effects, Groups, Subject, View, drawings, layout, neighborhood};
use fiedler_spectral::{Normalized, Operator, eigenvalues};

fn graph(nodes: usize, pairs: Vec<(u32, u32)>) -> Graph {
    Graph::from_pairs(nodes, pairs).unwrap().0
}

fn ring(nodes: u32) -> Graph {
    graph(nodes as usize, (0..nodes).map(|node| (node, (node + 1) % nodes)).collect())
}

fn path(nodes: u32) -> Graph {
    graph(nodes as usize, (1..nodes).map(|node| (node - 1, node)).collect())
}

fn nearest(places: &[[f64; 2]]) -> f64 {
    let mut nearest = f64::INFINITY;
    for (at, a) in places.iter().enumerate() {
        for b in &places[..at] {
            nearest = nearest.min((a[0] - b[0]).hypot(a[1] - b[1]));
        }
    }
    nearest
}

#[test]
fn nodes_stand_apart_and_where_distances_want_them() {
    let star = graph(12, (1..12).map(|leaf| (0, leaf)).collect());
    let complete = graph(9, (0..9).flat_map(|a| (0..a).map(move |b| (a, b))).collect());
    let place = |a: u32, b: u32| a * 6 + b;
    let rows = (0..6).flat_map(|a| (1..6).map(move |b| (place(a, b - 1), place(a, b))));
    let columns = (1..6).flat_map(|a| (0..6).map(move |b| (place(a - 1, b), place(a, b))));
    let grid = graph(36, rows.chain(columns).collect());
    for (what, graph, most) in [
        ("path", path(30), 0.001),
        ("ring", ring(20), 0.02),
        ("star", star, 0.12),
        ("complete", complete, 0.2),
        ("grid", grid, 0.05),
    ] {
        let places = layout::places(&graph);
        assert_eq!(places, layout::places(&graph), "{what}");
        assert!(places.iter().flatten().all(|number| number.is_finite()), "{what}");
        assert!(nearest(&places) > 0.25, "{what}: {}", nearest(&places));
        let pairs = (graph.num_nodes() * (graph.num_nodes() - 1) / 2) as f64;
        let stress = layout::stress(&graph, &places) / pairs;
        assert!(stress < most, "{what}: {stress}");
    }
}

#[test]
fn stress_falls_from_a_circle_of_nodes() {
    let random = generate::erdos_renyi(&ErdosRenyi { nodes: 80, probability: 0.05 }, 3).unwrap();
    let tree = generate::barabasi_albert(&BarabasiAlbert { nodes: 120, edges_per_node: 1 }, 1).unwrap();
    for dataset in [random, tree] {
        let graph = dataset.graphs.graph(0);
        let on_circle = |node: usize| {
            let (sine, cosine) = (std::f64::consts::TAU * node as f64 / graph.num_nodes() as f64).sin_cos();
            [4.0 * cosine, 4.0 * sine]
        };
        let circle: Vec<[f64; 2]> = (0..graph.num_nodes()).map(on_circle).collect();
        let (before, after) = (layout::stress(&graph, &circle), layout::stress(&graph, &layout::places(&graph)));
        assert!(after < 0.4 * before, "{before} {after}");
    }
}

#[test]
fn components_do_not_overlap() {
    let triangles = (0..5).flat_map(|at| [(3 * at, 3 * at + 1), (3 * at + 1, 3 * at + 2), (3 * at + 2, 3 * at)]);
    let places = layout::places(&graph(20, triangles.collect()));
    let corners = |nodes: std::ops::Range<usize>| {
        let axis = |axis: usize| {
            let along = places[nodes.clone()].iter().map(|place| place[axis]);
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
        };
        [axis(0), axis(1)]
    };
    let parts = (0..5).map(|at| 3 * at..3 * at + 3).chain((15..20).map(|node| node..node + 1));
    let parts: Vec<_> = parts.map(corners).collect();
    for (at, a) in parts.iter().enumerate() {
        for b in &parts[..at] {
            let apart = |axis: usize| a[axis].0 > b[axis].1 + 0.5 || b[axis].0 > a[axis].1 + 0.5;
            assert!(apart(0) || apart(1), "{a:?} {b:?}");
        }
    }
    assert!(layout::places(&Graph::empty(0)).is_empty());
}

#[test]
fn a_neighborhood_is_the_subgraph_of_the_nearest_nodes() {
    let dataset = generate::barabasi_albert(&BarabasiAlbert { nodes: 2000, edges_per_node: 2 }, 5).unwrap();
    let graph = dataset.graphs.graph(0);
    let likely = |a: u32, b: u32| f64::from((a * 7 + b * 13) % 101) / 101.0;
    let part = neighborhood::around(&graph, 900, 70, likely).unwrap();
    assert_eq!((part.nodes.len(), part.nodes[0]), (70, 900));
    for a in 0..70 {
        for b in 0..a {
            let whole = graph.has_edge(part.nodes[a as usize], part.nodes[b as usize]);
            assert_eq!(part.graph.has_edge(a, b), whole);
        }
    }
    let mut reached = vec![900];
    let mut hops_to = vec![usize::MAX; graph.num_nodes()];
    for hops in 0..12 {
        reached.iter().for_each(|&node: &u32| hops_to[node as usize] = hops_to[node as usize].min(hops));
        reached = reached.iter().flat_map(|&node| graph.neighbors(node).to_vec()).collect();
        reached.sort_unstable();
        reached.dedup();
    }
    assert!(part.nodes.iter().map(|&node| hops_to[node as usize]).is_sorted());
    let farthest = hops_to[part.nodes[69] as usize];
    let nearer = (0..graph.num_nodes()).filter(|&node| hops_to[node] < farthest).count();
    assert!(nearer < 70, "all {nearer} nearer nodes are in");
    assert!(neighborhood::around(&graph, 2000, 70, likely).is_err());
    assert_eq!(neighborhood::around(&path(3), 1, 80, |_, _| 0.0).unwrap().nodes, [1, 0, 2]);
}

/// The closed form against the definition: the spectrum of a graph with one weight a little changed.
#[test]
fn effects_are_derivatives_of_the_norm() {
    let karate = generate::karate_club();
    let graph = karate.graphs.graph(0);
    for operator in [Operator::Laplacian, Operator::Propagation] {
        let effects = Effects::of(&graph, operator);
        let norm = |pair: (u32, u32), weight: f32| {
            let mut pairs: Vec<(u32, u32)> = graph.edge_pairs().filter(|edge| *edge != pair).collect();
            let mut weights = vec![1.0; pairs.len()];
            pairs.push(pair);
            weights.push(weight);
            let (changed, _) = Graph::from_weighted_pairs(graph.num_nodes(), pairs, weights).unwrap();
            let values = eigenvalues(&Normalized::of(&changed, operator), 1 << 30).unwrap();
            values.iter().map(|value| value * value).sum::<f64>().sqrt()
        };
        for (pair, before, step) in [((0, 1), 1.0, -0.01), ((0, 31), 1.0, -0.01), ((4, 25), 0.0, 0.01f32)] {
            let base = if before > 0.0 { norm(pair, before) } else { effects.norm() };
            let slope = (norm(pair, before + step) - base) / f64::from(step.abs());
            let told = effects.of_flip(pair.0, pair.1);
            assert!((slope - told).abs() < 0.05 * told.abs() + 1e-5, "{operator:?} {pair:?}: {slope} {told}");
        }
    }
}

fn opposite(dataset: &Dataset) -> Scheme {
    let objective = Some(fiedler_augment::objective::SpectralObjective::Expected);
    SchemeSettings::Opposite(Spectral { objective, ..Spectral::default() })
        .compute(&dataset.graphs, &fiedler_graph::NoObserver)
        .unwrap()
}

/// A picture that any reader of XML takes: every element is closed, in order.
fn check_markup(figure: &Figure) {
    let mut open: Vec<&str> = Vec::new();
    for piece in figure.svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(!text.contains('>'), "{text}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"));
    assert!(figure.svg.starts_with("<svg ") && figure.svg.contains("viewBox="));
}

#[test]
fn both_directions_stand_side_by_side() {
    let karate = generate::karate_club();
    let (scheme, graph) = (opposite(&karate), karate.graphs.graph(0));
    let subject = Subject::of(&karate, 0, &graph, &scheme);
    let figures = drawings(&subject, None).unwrap();
    let [figure] = &figures[..] else { panic!("one figure") };
    check_markup(figure);
    for words in ["norm up", "norm down", "removed with probability", "added with probability", "first-order effect"] {
        assert!(figure.svg.contains(words), "{words}");
    }
    assert_eq!(figures, drawings(&subject, None).unwrap());
    // Every edge in both panels, and the likeliest additions in one.
    assert_eq!(figure.svg.matches("class=\"pair\"").count(), 2 * 78 + 39);
    assert!(figure.alternative.contains("34 nodes and 78 edges"), "{}", figure.alternative);
    let three = drawings(&Subject { original: true, ..subject }, None).unwrap();
    assert!(three[0].svg.contains("Graph as it is"));
    check_markup(&three[0]);
}

#[test]
fn probabilities_are_those_of_the_scheme() {
    let graph = ring(6);
    let flips = EdgeFlips::of_pairs(6, [((0, 1), 0.75), ((0, 3), 0.123456), ((2, 3), 0.25)]);
    let subject = Subject::new("ring", &graph, vec![View::of_flips("max", &flips)]);
    let figure = &drawings(&subject, None).unwrap()[0];
    check_markup(figure);
    for words in [
        "0 – 1: removed with probability 0.750",
        "0 – 3: added with probability 0.123",
        "1 – 2: removed with probability 0;",
        "edges removed on average: 1.0, added: 0.1",
    ] {
        assert!(figure.svg.contains(words), "{words}");
    }
    assert!(figure.alternative.contains("likeliest to be removed is 0 – 1, with probability 0.750"));
}

#[test]
fn hostile_names_are_shown_as_text() {
    let evil = "</title><script>x('y')</script>\" onload=\"x\u{202e}";
    let names: Vec<Box<str>> = (0..6).map(|node| format!("{evil}{node}").into()).collect();
    let graph = ring(6).with_names(Names::Strings(names)).unwrap();
    let flips = EdgeFlips::of_pairs(6, [((0, 1), 0.75), ((0, 3), 0.5)]);
    let groups = Groups::new(evil, vec![evil.into()], vec![Some(0); 6]);
    let subject = Subject { groups: Some(groups), ..Subject::new(evil, &graph, vec![View::of_flips(evil, &flips)]) };
    for around in [None, Some(2)] {
        let figure = &drawings(&subject, around).unwrap()[0];
        check_markup(figure);
        for harmful in ["<script", "onload=\"", "\u{202e}"] {
            assert!(!figure.svg.contains(harmful), "{harmful}");
        }
        assert!(figure.svg.contains("&lt;script&gt;"));
        assert!(figure.name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'));
    }
}

#[test]
fn of_a_large_graph_a_part_is_drawn() {
    let dataset = generate::barabasi_albert(&BarabasiAlbert { nodes: 1500, edges_per_node: 3 }, 5).unwrap();
    let (scheme, graph) = (opposite(&dataset), dataset.graphs.graph(0));
    let subject = Subject::of(&dataset, 0, &graph, &scheme);
    assert!(drawings(&subject, None).unwrap().is_empty());
    let figure = &drawings(&subject, Some(7)).unwrap()[0];
    check_markup(figure);
    assert!(figure.title.ends_with("around node 7") && figure.caption.contains("ringed"), "{}", figure.caption);
    assert!(drawings(&subject, Some(1500)).is_err());
}

#[test]
fn any_scheme_and_any_small_graph_can_be_drawn() {
    let karate = generate::karate_club();
    let whole = karate.graphs.graph(0);
    for settings in [SchemeSettings::Uniform(Uniform::default()), SchemeSettings::NodeDropping(NodeDropping::default())]
    {
        let scheme = settings.compute(&karate.graphs, &fiedler_graph::NoObserver).unwrap();
        check_markup(&drawings(&Subject::of(&karate, 0, &whole, &scheme), None).unwrap()[0]);
    }
    let parts = graph(30, vec![(0, 1), (1, 2), (4, 5), (6, 7), (7, 8), (8, 6)]);
    for graph in [Graph::empty(1), Graph::empty(7), path(2), parts] {
        let flips = EdgeFlips::of_pairs(graph.num_nodes(), []);
        let views = vec![View::of_flips("max", &flips), View::of_flips("min", &flips)];
        let figure = &drawings(&Subject::new("small", &graph, views), None).unwrap()[0];
        check_markup(figure);
        assert!(figure.svg.contains("nothing changes"));
    }
    let none = Graph::empty(0);
    assert!(drawings(&Subject::new("none", &none, Vec::new()), None).unwrap().is_empty());
}

#[test]
fn more_groups_than_colors_differ_by_shape() {
    let graph = ring(20);
    let flips = EdgeFlips::of_pairs(20, [((0, 1), 0.5)]);
    let names = (0..20).map(|group| format!("group {group}")).collect();
    let groups = Groups::new("class", names, (0..20).map(Some).collect());
    let subject = Subject { groups: Some(groups), ..Subject::new("ring", &graph, vec![View::of_flips("max", &flips)]) };
    let figure = &drawings(&subject, None).unwrap()[0];
    check_markup(figure);
    assert!(figure.svg.contains("<polygon") && figure.svg.contains("and 4 more"));
}
