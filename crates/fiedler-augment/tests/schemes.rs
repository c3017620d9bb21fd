//! Schemes as a user meets them: computed, drawn from, on one graph and on many.
#![allow(clippy::unwrap_used)]

use fiedler_augment::Error;
use fiedler_augment::scheme::{Augmentation, NodeDropping, Scheme, SchemeSettings, Spectral, SupportChoice, ViewKey};
use fiedler_graph::{Graph, GraphSet, NoObserver, generate};

fn karate() -> GraphSet {
    generate::karate_club().graphs
}

fn compute(settings: &SchemeSettings, set: &GraphSet) -> Scheme {
    settings.compute(set, &NoObserver).unwrap()
}

fn spectral_schemes(spectral: Spectral) -> Vec<SchemeSettings> {
    vec![
        SchemeSettings::Opposite(spectral),
        SchemeSettings::Single(spectral),
        SchemeSettings::Double(spectral),
        SchemeSettings::NodeDropping(NodeDropping { k: spectral.k, ..Default::default() }),
    ]
}

#[test]
fn every_scheme_moves_the_spectrum_within_its_budget() {
    for eigenvalues in [None, Some(5)] {
        for support in [SupportChoice::All, SupportChoice::Candidates, SupportChoice::Edges, SupportChoice::Auto] {
            for settings in spectral_schemes(Spectral { k: eigenvalues, support, ..Default::default() }) {
                let set = karate();
                let scheme = compute(&settings, &set);
                assert_eq!(scheme.report().views.len(), scheme.views().len());
                for view in scheme.report().views.iter().filter(|view| view.name != "unchanged") {
                    let norm = view.norm.unwrap();
                    let place = format!("{} {} {eigenvalues:?} {support:?}: {norm:?}", settings.name(), view.name);
                    assert!(view.mass.total() <= view.budget + 1e-3, "{place}");
                    match view.name.as_str() {
                        "max" => assert!(norm.relative() > 1.01, "{place}"),
                        "min" => assert!(norm.relative() < 0.999, "{place}"),
                        _ => assert!(norm.distance.unwrap() > 0.01, "{place}"),
                    }
                    assert!(view.curve.len() > 1 && view.curve.len() <= 301, "{place}");
                }
                for view in 0..2 {
                    let draw = ViewKey::new(3, 1, view);
                    let drawn = scheme.draw(&set.whole(), draw).unwrap();
                    assert_eq!(drawn, scheme.draw(&set.whole(), draw).unwrap());
                    if !matches!(scheme.views()[view as usize], Augmentation::Unchanged) {
                        assert_ne!(drawn.graph, *set.block_diagonal(), "{}", settings.name());
                    }
                }
            }
        }
    }
}

#[test]
fn a_graph_is_drawn_alike_alone_and_in_any_batch() {
    let (arena, _) = Graph::from_pairs(9, vec![(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (4, 6), (7, 8)]).unwrap();
    let set = GraphSet::from_block_diagonal(arena, vec![4, 3, 2]).unwrap();
    for settings in spectral_schemes(Spectral { ratio: 0.8, ..Default::default() }) {
        let scheme = compute(&settings, &set);
        for epoch in 0..20 {
            let draw = ViewKey::new(1, epoch, 0);
            let together = scheme.draw(&set.batch(&[2, 0, 1]), draw).unwrap();
            let alone = scheme.draw(&set.batch(&[0]), draw).unwrap();
            let block: Vec<_> = together.graph.edge_pairs().filter(|pair| (2..6).contains(&pair.0)).collect();
            assert_eq!(block, alone.graph.edge_pairs().map(|(a, b)| (a + 2, b + 2)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_scheme_is_the_same_after_saving_and_loading() {
    let set = karate();
    for settings in spectral_schemes(Spectral::default()) {
        let scheme = compute(&settings, &set);
        let bytes = scheme.to_bytes().unwrap();
        let loaded = Scheme::from_bytes(&bytes, &set).unwrap();
        assert_eq!(loaded.settings(), scheme.settings());
        assert_eq!(loaded.fingerprint(), set.fingerprint());
        for (epoch, view) in [(0, 0), (0, 1), (7, 0), (7, 1)] {
            let draw = ViewKey::new(5, epoch, view);
            assert_eq!(loaded.draw(&set.whole(), draw).unwrap(), scheme.draw(&set.whole(), draw).unwrap());
        }
        assert!(loaded.to_bytes().unwrap() == bytes);
    }
}

#[test]
fn a_scheme_of_another_graph_or_a_damaged_file_is_refused() {
    let whole = compute(&SchemeSettings::Opposite(Spectral::default()), &karate()).to_bytes().unwrap();
    let other = GraphSet::single(karate().block_diagonal().flipped(&[(0, 1)]).unwrap());
    assert!(matches!(Scheme::from_bytes(&whole, &other), Err(Error::OtherGraph { .. })));

    for (at, change) in [(3, 0xff), (60, b'#'), (whole.len() - 1, 0xff)] {
        let mut damaged = whole.clone();
        damaged[at] = change;
        assert!(matches!(Scheme::from_bytes(&damaged, &karate()), Err(Error::NotAScheme { .. })), "byte {at}");
    }
    for length in [0, 7, 100, whole.len() - 1] {
        let part = &whole[..length];
        assert!(matches!(Scheme::from_bytes(part, &karate()), Err(Error::NotAScheme { .. })), "{length} bytes");
    }
}

/// Files of version 2, here that of `fiedler augment karate --out`, held every pair by its nodes and its probability in single precision.
#[test]
fn a_file_of_version_2_is_still_read() {
    let set = karate();
    let bytes = include_bytes!("fixtures/scheme-version2.safetensors");
    let scheme = Scheme::from_bytes(bytes, &set).unwrap();
    assert_eq!(scheme.settings().name(), "opposite");
    let [Augmentation::Pairs(max), Augmentation::Pairs(min)] = scheme.views() else { panic!("two views of pairs") };
    assert!(max.graphs()[0].triangle().is_none() && min.graphs()[0].triangle().is_some());
    assert_eq!(scheme.report().views.len(), 2);
    let again = Scheme::from_bytes(&scheme.to_bytes().unwrap(), &set).unwrap();
    for (epoch, view) in [(0, 0), (0, 1), (3, 0), (3, 1)] {
        let key = ViewKey::new(5, epoch, view);
        assert_eq!(again.draw(&set.whole(), key).unwrap(), scheme.draw(&set.whole(), key).unwrap());
    }
}

/// Two bytes for most probabilities of a graph, not four, and fewer for all pairs.
#[test]
fn files_are_small() {
    let data =
        generate::random_geometric(&generate::Geometric { nodes: 600, radius: 0.08, clusters: 4, spread: 0.12 }, 1);
    let set = data.unwrap().graphs;
    for support in [SupportChoice::All, SupportChoice::Candidates] {
        let scheme = compute(&SchemeSettings::Opposite(Spectral { support, ..Spectral::default() }), &set);
        let plain: u64 = scheme
            .report()
            .views
            .iter()
            .map(|view| view.places * if support == SupportChoice::All { 4 } else { 12 })
            .sum();
        let bytes = scheme.to_bytes().unwrap();
        println!("{}: {} bytes of {plain}", support.name(), bytes.len());
        assert!((bytes.len() as u64) < plain / 2, "{} bytes of {plain}", bytes.len());
        let read = Scheme::from_bytes(&bytes, &set).unwrap();
        for epoch in 0..3 {
            let key = ViewKey::new(1, epoch, 1);
            assert_eq!(read.draw(&set.whole(), key).unwrap(), scheme.draw(&set.whole(), key).unwrap());
        }
    }
}
