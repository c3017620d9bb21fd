//! Generators: what they promise, within what chance allows.

use fiedler_graph::generate::{self, BarabasiAlbert, BlockModel, ErdosRenyi, Geometric, SPECS};
use fiedler_graph::{Classes, Dataset, Features, Graph, Labels, measure};

use crate::common::{checked_edges, on_one_and_two_threads};

fn graph(dataset: &Dataset) -> &Graph {
    dataset.check().unwrap();
    checked_edges(dataset.graph().unwrap());
    assert_eq!(dataset.report.edges.pairs, dataset.report.edges.edges, "a pair was drawn twice");
    dataset.graph().unwrap()
}

fn classes(dataset: &Dataset) -> &Classes {
    dataset.node_labels.as_ref().and_then(Labels::classes).unwrap()
}

/// Whether a count of independent trials is within five standard deviations of what is expected.
fn is_likely(count: f64, expected: f64) -> bool {
    (count - expected).abs() <= 5.0 * expected.sqrt() + 1.0
}

#[test]
fn every_generator_repeats_itself_on_any_number_of_threads() {
    for spec in SPECS {
        let line = spec.usage();
        let [one, two] = on_one_and_two_threads(|| generate::from_spec(&line, 0).unwrap());
        graph(&one);
        assert_eq!(one, two, "{line}");
        assert_eq!(one, generate::from_spec(spec.name, 0).unwrap(), "{line} does not state the defaults");
        let other = generate::from_spec(&line.replace("seed=0", "seed=1"), 0).unwrap();
        let is_random = !["karate", "path", "cycle", "star", "grid", "complete"].contains(&spec.name);
        assert_eq!(other != one, is_random, "{line} takes no notice of the seed");
    }
}

#[test]
fn every_pair_is_as_likely_as_the_next() {
    for (nodes, probability) in [(60, 0.0), (60, 1.0), (60, 0.3), (2000, 0.002), (0, 0.5), (1, 0.5), (300_000, 1e-6)] {
        let random = generate::erdos_renyi(&ErdosRenyi { nodes, probability }, 5).unwrap();
        let pairs = nodes as f64 * (nodes as f64 - 1.0) / 2.0;
        let edges = graph(&random).num_edges() as f64;
        assert!(is_likely(edges, pairs * probability), "{edges} edges of {nodes} nodes with {probability}");
        if probability == 1.0 {
            assert_eq!(edges, pairs);
        }
    }
    let mut times_joined = [0; 15];
    for seed in 0..2000 {
        let small = generate::erdos_renyi(&ErdosRenyi { nodes: 6, probability: 0.25 }, seed).unwrap();
        for (low, high) in graph(&small).edge_pairs() {
            times_joined[(high * (high - 1) / 2 + low) as usize] += 1;
        }
    }
    assert!(times_joined.iter().all(|&times| is_likely(f64::from(times), 500.0)), "{times_joined:?}");
}

#[test]
fn dense_erdos_renyi_graphs_span_several_streams() {
    let dense = generate::erdos_renyi(&ErdosRenyi { nodes: 1000, probability: 0.5 }, 1).unwrap();
    assert!(is_likely(graph(&dense).num_edges() as f64, 249_750.0));
}

#[test]
fn preferential_attachment_grows_hubs() {
    let settings = BarabasiAlbert { nodes: 5000, edges_per_node: 3 };
    let dataset = generate::barabasi_albert(&settings, 2).unwrap();
    let grown = graph(&dataset);
    assert_eq!(grown.num_edges(), 3 * (5000 - 3));
    let summary = measure::summarize(&dataset);
    assert_eq!(summary.components, 1);
    // The expected share of nodes of the least degree m is 2 / (m + 2).
    let least = (0..5000).filter(|&node| grown.degree(node) == 3).count();
    assert!(is_likely(least as f64, 2000.0), "{least}");
    assert!(summary.degree.unwrap().max > 100);
    let complete = generate::barabasi_albert(&BarabasiAlbert { nodes: 2, edges_per_node: 1 }, 0).unwrap();
    assert_eq!(graph(&complete).num_edges(), 1);
}

#[test]
fn near_points_are_joined_and_no_others() {
    for (clusters, radius, spread) in
        [(0, 0.11, 0.1), (3, 0.07, 0.05), (0, 0.0, 0.1), (0, 2.0, 0.1), (1, 0.3, 0.9), (4, 1e-4, 0.0)]
    {
        let settings = Geometric { nodes: 250, radius, clusters, spread };
        let dataset = generate::random_geometric(&settings, 3).unwrap();
        let Some(Features::Dense(positions)) = &dataset.features else { panic!("positions are dense") };
        let distance = |a: u32, b: u32| {
            let [east, north] = [0, 1]
                .map(|axis| f64::from(positions.row(a as usize)[axis]) - f64::from(positions.row(b as usize)[axis]));
            (east * east + north * north).sqrt()
        };
        let made = graph(&dataset);
        for a in 0..250 {
            for b in 0..a {
                assert_eq!(made.has_edge(a, b), distance(a, b) <= radius, "{settings:?} {a} {b}");
            }
        }
    }
    let none = generate::random_geometric(&Geometric { nodes: 0, ..Default::default() }, 0).unwrap();
    assert_eq!(graph(&none).num_nodes(), 0);
}

#[test]
fn clusters_are_clear() {
    let settings = Geometric { nodes: 400, clusters: 4, ..Default::default() };
    let dataset = generate::random_geometric(&settings, 0).unwrap();
    let summary = measure::summarize(&dataset);
    assert_eq!(summary.class_counts, Some(vec![100; 4]));
    assert!(summary.homophily.unwrap() > 0.95);
    assert!(summary.clustering.unwrap() > 0.5);
}

#[test]
fn block_models_meet_their_expectations() {
    for (homophily, tail) in [(0.8, None), (0.0, None), (1.0, None), (0.25, None), (0.8, Some(3.5))] {
        let settings = BlockModel {
            nodes: 4000,
            classes: 4,
            proportions: vec![4.0, 3.0, 2.0, 1.0],
            degree: 12.0,
            homophily,
            tail,
            ..Default::default()
        };
        let dataset = generate::stochastic_block_model(&settings, 11).unwrap();
        let made = graph(&dataset);
        let classes = classes(&dataset);
        let edges = made.num_edges() as f64;
        // With a tail a few probabilities are cut off at one.
        let slack = if tail.is_some() { 0.02 * 24_000.0 } else { 0.0 };
        assert!((edges - 24_000.0).abs() <= 5.0 * 24_000f64.sqrt() + slack, "{edges} edges with {settings:?}");
        let found = measure::edge_homophily(made, classes).unwrap();
        assert!((found - homophily).abs() < 0.02, "{found} with {settings:?}");
        let summary = measure::summarize(&dataset);
        assert_eq!(summary.class_counts, Some(vec![1600, 1200, 800, 400]));

        // Within a class every node expects the same number of neighbors.
        let mut within = [0.0; 4];
        for (low, high) in made.edge_pairs() {
            let [low, high] = [low, high].map(|node| classes.of()[node as usize]);
            if low == high {
                within[low.unwrap() as usize] += 1.0;
            }
        }
        if tail.is_none() {
            for (edges, share) in within.iter().zip([0.4, 0.3, 0.2, 0.1]) {
                assert!(is_likely(*edges, 24_000.0 * homophily * share), "{within:?} with {settings:?}");
            }
        }
    }
}

#[test]
fn many_small_classes_are_no_more_work_than_few() {
    let dataset =
        generate::from_spec("sbm:nodes=100_000,classes=25_000,degree=3,homophily=0.5,vocabulary=0", 0).unwrap();
    assert!(is_likely(graph(&dataset).num_edges() as f64, 150_000.0));
    assert!((measure::summarize(&dataset).homophily.unwrap() - 0.5).abs() < 0.01);
}

#[test]
fn degrees_without_a_tail_follow_chance_alone() {
    let settings = BlockModel { nodes: 5000, classes: 5, degree: 6.0, vocabulary: 0, ..Default::default() };
    let dataset = generate::stochastic_block_model(&settings, 1).unwrap();
    let made = graph(&dataset);
    let mean = 2.0 * made.num_edges() as f64 / 5000.0;
    let spread: f64 = (0..5000).map(|node| (made.degree(node) as f64 - mean).powi(2)).sum::<f64>() / 5000.0;
    // The variance of a sum of many unlikely events is its mean.
    assert!((spread / mean - 1.0).abs() < 0.12, "variance {spread}, mean {mean}");
    assert_eq!(dataset.features, None);
}

#[test]
fn words_hint_at_the_class() {
    let settings =
        BlockModel { nodes: 2000, classes: 5, vocabulary: 103, words: 12.0, topic: 0.5, ..Default::default() };
    let dataset = generate::stochastic_block_model(&settings, 4).unwrap();
    let Some(Features::Sparse(words)) = &dataset.features else { panic!("words are sparse") };
    let classes = classes(&dataset);
    let (mut in_topic, mut all) = (0.0, 0.0);
    for node in 0..2000 {
        let (row, ones) = words.row(node);
        assert!(ones.iter().all(|&one| one == 1.0));
        all += row.len() as f64;
        in_topic += row.iter().filter(|&&word| word % 5 == classes.of()[node].unwrap()).count() as f64;
    }
    // Words that are drawn twice count once: fewer than 12, and fewer of the topic than 0.5 + 0.5 / 5.
    assert!((9.0..12.0).contains(&(all / 2000.0)), "{}", all / 2000.0);
    assert!((0.5..0.6).contains(&(in_topic / all)), "{}", in_topic / all);
}

#[test]
fn the_citation_network_is_like_one() {
    let dataset = generate::citation(0);
    graph(&dataset);
    assert_eq!(dataset, generate::from_spec("citation", 0).unwrap());
    let summary = measure::summarize(&dataset);
    let degree = summary.degree.unwrap();
    assert!((4.0..5.0).contains(&degree.mean) && degree.max > 30, "{degree:?}");
    assert!((0.72..0.8).contains(&summary.homophily.unwrap()), "{:?}", summary.homophily);
    assert!(summary.isolated < 40, "{}", summary.isolated);
    assert_eq!((summary.nodes, summary.features, summary.classes), (1000, Some(500), Some(7)));
    let split = &dataset.splits[0];
    assert_eq!(
        (split.name.as_str(), split.train.len(), split.validation.len(), split.test.len()),
        ("public", 140, 215, 645)
    );
    for class in 0..7 {
        let of = classes(&dataset).of();
        assert_eq!(split.train.iter().filter(|&&node| of[node as usize] == Some(class)).count(), 20);
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let cases = [
        ("erdos-renyi:probability=1.5", "probability is 1.5; expected a number from 0 to 1"),
        ("erdos-renyi:nodes=9999999999", "nodes is 9999999999; expected a whole number from 0"),
        ("erdos-renyi:nodes=1000000,probability=0.5", "expected number of edges is 2.500e11; expected at most"),
        ("barabasi-albert:nodes=5,edges_per_node=5", "edges_per_node is 5; expected a whole number from 1 to 4"),
        ("barabasi-albert:nodes=5,edges_per_node=0", "edges_per_node is 0"),
        ("geometric:radius=-1", "radius is -1"),
        ("geometric:nodes=3,clusters=4", "clusters is 4; expected at most 3"),
        ("geometric:spread=1.5", "spread is 1.5"),
        ("geometric:nodes=1000000,radius=1", "number of pairs of points that may be near is"),
        ("sbm:classes=0", "classes is 0; expected a whole number from 1 to 1000"),
        ("sbm:classes=3,proportions=1:2", "number of proportions is 2; expected 3, one a class"),
        ("sbm:classes=2,proportions=1:0", "proportions is 0; expected positive numbers"),
        ("sbm:nodes=10,classes=2,proportions=1000:1,degree=1", "at least one of 10 nodes for class 1"),
        ("sbm:nodes=40,classes=4,degree=20", "degree is 20; expected at most 11.250"),
        ("sbm:degree=-1", "degree is -1"),
        ("sbm:homophily=2", "homophily is 2"),
        ("sbm:tail=2", "tail is 2; expected an exponent above 2, or none"),
        ("sbm:vocabulary=2", "vocabulary is 2; expected 0, or from 4"),
        ("sbm:words=501", "words is 501; expected a number from 0 to 500"),
        ("sbm:topic=-0.1", "topic is -0.1"),
        ("sbm:nodes=1000000,vocabulary=100000,words=50000", "expected number of words of all nodes is 5.000e10"),
    ];
    for (line, expected) in cases {
        let message = generate::from_spec(line, 0).unwrap_err().to_string();
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn lines_are_read_with_care() {
    let small =
        generate::from_spec(" sbm : nodes = 1_00 , classes=2, proportions=3:1, degree=4, tail=none,", 0).unwrap();
    assert_eq!(measure::summarize(&small).class_counts, Some(vec![75, 25]));
    let cases = [
        ("smb:nodes=3", "no generator is called \"smb\"", "did you mean sbm? there are: karate, citation, sbm"),
        ("qqqq", "no generator is called \"qqqq\"", "there are: karate"),
        ("", "no generator is called \"\"", "there are: karate"),
        ("sbm:node=3", "no parameter of sbm is called \"node\"", "did you mean nodes? there are: nodes, classes"),
        ("karate:nodes=3", "no parameter of karate is called \"nodes\"", "there are: seed"),
    ];
    for (line, message, hint) in cases {
        let error = generate::from_spec(line, 0).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().unwrap().starts_with(hint), "{line}: {:?}", error.hint());
    }
    let cases = [
        ("sbm:nodes", "parameter of sbm is nodes; expected parameter=value"),
        ("sbm:nodes=-3", "nodes is \"-3\"; expected a whole number that is not negative"),
        ("sbm:nodes=2.5", "nodes is \"2.5\"; expected a whole number that is not negative"),
        ("sbm:seed=x", "seed is \"x\"; expected a whole number that is not negative"),
        ("sbm:degree=inf", "degree is \"inf\"; expected a number"),
        ("sbm:proportions=1:x", "proportions is \"1:x\"; expected numbers parted by colons, or none"),
        ("sbm:tail=much", "tail is \"much\"; expected a number, or none"),
        ("sbm:nodes=3,nodes=4", "nodes is 4; expected each parameter at most once"),
    ];
    for (line, message) in cases {
        assert_eq!(generate::from_spec(line, 0).unwrap_err().to_string(), message);
    }
}

#[test]
fn settings_survive_being_written() {
    let settings = BlockModel::citation();
    let text = toml::to_string(&settings).unwrap();
    assert_eq!(toml::from_str::<BlockModel>(&text).unwrap(), settings);
    assert!(toml::from_str::<BlockModel>("nodes = 3\nsize = 3").is_err());
    assert_eq!(toml::from_str::<Geometric>("nodes = 7").unwrap(), Geometric { nodes: 7, ..Default::default() });
}
