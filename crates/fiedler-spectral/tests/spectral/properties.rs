use fiedler_graph::Graph;
use fiedler_graph::measure::components;
use fiedler_spectral::properties::{
    ClusterCount, Diffusion, Summary, SummarySettings, clusters_by_gap, diameter, distinct, fourier, inverse_fourier,
    largest_component, summarize, summarize_watched, sweep_conductance,
};
use fiedler_spectral::{Normalized, Operator, PartialSettings, SymmetricMap, partial, spectrum};
use proptest::prelude::*;

use crate::common::{ROOM, any_graph, assert_close, beside, complete, graph, groups, path, ring, sparse, star};

fn describe(graph: &Graph) -> Summary {
    summarize(graph, &SummarySettings::default()).unwrap()
}

/// All distances, by as many searches as there are nodes.
fn true_diameter(graph: &Graph) -> usize {
    let from = |source: u32| {
        let mut distance = vec![usize::MAX; graph.num_nodes()];
        distance[source as usize] = 0;
        let mut order = vec![source];
        let mut next = 0;
        while next < order.len() {
            for &other in graph.neighbors(order[next]) {
                if distance[other as usize] == usize::MAX {
                    distance[other as usize] = distance[order[next] as usize] + 1;
                    order.push(other);
                }
            }
            next += 1;
        }
        distance.into_iter().filter(|&distance| distance != usize::MAX).max().unwrap_or(0)
    };
    (0..graph.num_nodes() as u32).map(from).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn spectrum_and_search_agree(graph in any_graph(40)) {
        let summary = describe(&graph);
        prop_assert_eq!(summary.components, summary.components_by_spectrum);
        prop_assert_eq!(summary.components, summary.zero_eigenvalues + summary.isolated_nodes);
        prop_assert!(summary.notes.is_empty());
        prop_assert_eq!(summary.algebraic_connectivity > 1e-9, summary.components == 1 && graph.num_nodes() > 1);
        prop_assert_eq!(summary.algebraic_connectivity_unnormalized > 1e-9, summary.components == 1 && graph.num_nodes() > 1);
        let largest = largest_component(&graph);
        prop_assert_eq!(summary.largest_component, largest.len());
        let whole = diameter(&graph, largest[0], usize::MAX).exact().unwrap();
        prop_assert_eq!(summary.diameter.exact(), Some(whole));
        if let Some(bounds) = summary.diameter_bounds {
            prop_assert!(bounds.at_least().unwrap_or(0.0) <= whole as f64 + 1e-9, "{bounds:?} {whole}");
            prop_assert!(bounds.at_most().unwrap_or(usize::MAX) >= whole, "{bounds:?} {whole}");
        }
        if let Some(cheeger) = summary.cheeger
            && let Some(found) = cheeger.found
        {
            prop_assert!(cheeger.at_least <= found + 1e-9 && found <= cheeger.at_most + 1e-9, "{cheeger:?}");
        }
        prop_assert_eq!(summary.histogram.iter().sum::<f64>() as usize, graph.num_nodes());
        prop_assert!(serde_json::to_string(&summary).is_ok());
    }

    #[test]
    fn diameter_by_few_searches_is_the_true_one(graph in any_graph(40), searches in 0usize..6) {
        let largest = beside(&[graph]);
        let (_, count) = components(&largest);
        prop_assume!(count == 1);
        let expected = true_diameter(&largest);
        prop_assert_eq!(diameter(&largest, 0, usize::MAX).exact(), Some(expected));
        let bounded = diameter(&largest, 0, searches);
        prop_assert!(bounded.at_least <= expected && expected <= bounded.at_most, "{bounded:?} {expected}");
    }
}

#[test]
fn known_graphs() {
    let summary = describe(&complete(8));
    assert!((summary.algebraic_connectivity - 8.0 / 7.0).abs() < 1e-9);
    assert!((summary.algebraic_connectivity_unnormalized - 8.0).abs() < 1e-9);
    assert_eq!(summary.diameter_bounds.unwrap().at_most(), Some(1));

    let summary = describe(&path(10));
    let second = 2.0 - 2.0 * (std::f64::consts::PI / 10.0).cos();
    assert!((summary.algebraic_connectivity_unnormalized - second).abs() < 1e-9);
    assert_eq!(summary.diameter.exact(), Some(9));
    assert_eq!(summary.diameter_bounds.unwrap().from_distinct, Some(9));

    assert_eq!(describe(&star(9)).diameter_bounds.unwrap().from_distinct, Some(2));
    assert_eq!(describe(&ring(12)).diameter.exact(), Some(6));
}

#[test]
fn isolated_nodes_are_components() {
    let graph = graph(6, [(0, 1), (1, 2), (3, 4)]);
    let summary = describe(&graph);
    assert_eq!((summary.components, summary.components_by_spectrum, summary.isolated_nodes), (3, 3, 1));
    assert_eq!((summary.largest_component, summary.algebraic_connectivity), (3, 0.0));
    let alone = describe(&Graph::empty(1));
    assert_eq!((alone.components, alone.components_by_spectrum, alone.diameter.exact()), (1, 1, Some(0)));
    assert_eq!(describe(&Graph::empty(0)).components, 0);
}

#[test]
fn larger_graphs_are_described_by_the_ends_and_the_density() {
    let graph = groups(4, 200, 0.1, 0.002, 6);
    let whole = describe(&graph);
    let settings = SummarySettings { whole_up_to: 100, ..Default::default() };
    let ends = summarize(&graph, &settings).unwrap();
    assert!(!whole.histogram_estimated && ends.histogram_estimated);
    assert_close(&ends.extremes.lowest, &whole.extremes.lowest, 1e-6);
    assert_close(&ends.extremes.highest, &whole.extremes.highest, 1e-6);
    assert_eq!([ends.clusters, whole.clusters].map(|found| found.unwrap().exact()), [Some(4); 2]);
    assert_eq!(ends.components_by_spectrum, whole.components);
    assert!((ends.norm - whole.norm).abs() < 1e-9);
}

#[test]
fn gaps_and_distinct_values() {
    assert_eq!(distinct(&[0.0, 1.0, 1.0, 1.0, 2.0]), 3);
    assert_eq!(distinct(&[]), 0);
    assert_eq!(clusters_by_gap(&[0.0, 0.01, 0.02, 0.5, 0.6]), Some(3));
    assert_eq!(clusters_by_gap(&[0.0, 0.1]), None);
}

#[test]
fn best_cut_of_a_bridge() {
    let two = graph(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]);
    let map = Normalized::of(&two, Operator::Laplacian);
    let vectors = spectrum(&map, ROOM).unwrap().vectors;
    assert!((sweep_conductance(&two, vectors.col_as_slice(1)).unwrap() - 1.0 / 7.0).abs() < 1e-12);
    assert_eq!(sweep_conductance(&Graph::empty(3), &[0.0; 3]), None);
}

#[test]
fn diffusion_by_series_and_by_spectrum_agree() {
    let graph = sparse(120, 4.0, 8);
    for operator in Operator::ALL {
        let map = Normalized::of(&graph, operator);
        let whole = spectrum(&map, ROOM).unwrap();
        let ways = [
            Diffusion::Heat { time: 0.0 },
            Diffusion::Heat { time: 5.0 },
            Diffusion::Heat { time: 60.0 },
            Diffusion::PageRank { teleport: 0.15 },
            Diffusion::PageRank { teleport: 0.01 },
            Diffusion::PageRank { teleport: 1.0 },
        ];
        for way in ways {
            let exact = way.matrix(&map, ROOM).unwrap();
            let signals: Vec<f64> = (0..120 * 3).map(|place| (place as f64 * 0.7).sin()).collect();
            let found = way.apply(&map, &signals, 3).unwrap();
            for row in 0..120 {
                for column in 0..3 {
                    let expected: f64 = (0..120).map(|k| exact[(row, k)] * signals[k * 3 + column]).sum();
                    assert!((found[row * 3 + column] - expected).abs() < 1e-8, "{way:?} {operator}");
                }
            }
            let by_rows: f64 = (0..120).map(|k| (exact[(4, k)] - exact[(77, k)]).powi(2)).sum();
            let by_spectrum = way.distance_by_spectrum(operator, &whole.values, whole.vectors.as_ref(), 4, 77);
            assert!((way.distance(&map, 4, 77).unwrap() - by_rows).abs() < 1e-8);
            assert!((by_spectrum - by_rows).abs() < 1e-8);
        }
        for bad in [Diffusion::Heat { time: -1.0 }, Diffusion::PageRank { teleport: 0.0 }] {
            assert!(bad.apply(&map, &[0.0; 120], 1).is_err());
        }
        assert!(Diffusion::Heat { time: 1.0 }.distance(&map, 0, 120).is_err());
    }
}

#[test]
fn fourier_there_and_back() {
    let graph = sparse(500, 5.0, 2);
    let map = Normalized::of(&graph, Operator::Laplacian);
    let signals: Vec<f64> = (0..1000).map(|place| (place as f64).cos()).collect();
    let whole = spectrum(&map, ROOM).unwrap();
    let frequencies = fourier(whole.vectors.as_ref(), &signals, 2);
    assert_close(&inverse_fourier(whole.vectors.as_ref(), &frequencies, 2), &signals, 1e-10);
    // With some of the vectors, what comes back is the smooth share of the signal.
    let settings = PartialSettings { lowest: 20, highest: 0, ..Default::default() };
    let some = partial(&map, &settings, None).unwrap().lowest;
    let smooth = inverse_fourier(some.vectors.as_ref(), &fourier(some.vectors.as_ref(), &signals, 2), 2);
    let again = inverse_fourier(some.vectors.as_ref(), &fourier(some.vectors.as_ref(), &smooth, 2), 2);
    assert_close(&again, &smooth, 1e-9);
    assert_eq!(smooth.len(), 2 * map.size());
}

#[test]
fn blocks_are_counted_and_chance_is_one() {
    for blocks in 2..=12 {
        let found = ClusterCount::of(&groups(blocks, 80, 0.25, 0.005, 3), 0).unwrap();
        assert_eq!(found.exact(), Some(blocks as usize), "{blocks} blocks: {found}");
    }
    // More than all eigenvalues are computed for.
    let found = ClusterCount::of(&groups(5, 300, 0.06, 0.002, 3), 0).unwrap();
    assert_eq!(found.exact(), Some(5), "{found}");
    for (name, graph) in [
        ("random", sparse(600, 8.0, 1)),
        ("larger random", sparse(2000, 10.0, 2)),
        ("complete", complete(40)),
        ("star", star(50)),
        ("path", path(300)),
        ("ring", ring(300)),
    ] {
        let part = largest_component(&graph);
        assert!(part.len() * 10 > 9 * graph.num_nodes(), "{name}");
        let found = ClusterCount::of(&graph, 0).unwrap();
        assert_eq!(found.exact(), Some(1), "{name}: {found}");
    }
}

/// Twenty thousand eigenvalues of a path crowd at zero: counts and norm are told all the same.
#[test]
fn what_does_not_converge_is_given_with_its_error() {
    let summary = describe(&path(20_000));
    assert_eq!((summary.components, summary.zero_eigenvalues, summary.nodes), (1, 1, 20_000));
    assert!((summary.norm * summary.norm - (20_000.0 + 2.0 * (19_997.0 / 4.0 + 1.0))).abs() < 1e-6, "{}", summary.norm);
    let ends = &summary.extremes;
    assert!(summary.notes.is_empty() && ends.lowest.len() == 20 && ends.highest.len() == 20);
    let nearest = |value: f64| {
        let eigenvalue = |place: i32| 1.0 - (std::f64::consts::PI * f64::from(place) / 19_999.0).cos();
        (0..20_000).map(|place| (eigenvalue(place) - value).abs()).fold(f64::INFINITY, f64::min)
    };
    let values = ends.lowest.iter().chain(&ends.highest).zip(ends.lowest_errors.iter().chain(&ends.highest_errors));
    for (&value, &error) in values {
        assert!(nearest(value) <= error + 1e-12, "{value} ± {error}: {}", nearest(value));
    }
    assert_eq!(summary.spectral_gap_error, ends.lowest_errors.get(1).copied());
}

#[test]
fn whoever_stops_it_keeps_what_was_found() {
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let graph = sparse(5_000, 8.0, 1);
    for after in [0, 5, 400, 2_000, 1_000_000] {
        let heard = AtomicUsize::new(0);
        let observer = |event: &fiedler_graph::Event<'_>| match event {
            fiedler_graph::Event::Progress { .. } if heard.fetch_add(1, Ordering::SeqCst) >= after => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        let summary = summarize_watched(&graph, &SummarySettings::default(), &observer).unwrap();
        let stopped = summary.notes.iter().any(|note| note.starts_with("stopped"));
        assert_eq!(stopped, heard.load(Ordering::SeqCst) > after, "after {after}");
        assert!(summary.norm > 0.0 && summary.diameter.at_least <= summary.diameter.at_most);
        assert_eq!(summary.extremes.lowest.len(), summary.extremes.lowest_errors.len());
        assert!(stopped || !summary.histogram.is_empty() && summary.clusters.is_some());
        assert!(after < 400 || !summary.extremes.lowest.is_empty(), "after {after} nothing is kept");
    }
}
