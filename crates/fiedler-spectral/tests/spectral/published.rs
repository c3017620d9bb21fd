//! Published graphs: the norms that the paper prints. Skipped, by name, without FIEDLER_DATA.

use std::path::PathBuf;

use fiedler_graph::Graph;
use fiedler_spectral::properties::{SummarySettings, summarize};
use fiedler_spectral::{Normalized, Operator, PartialSettings, partial};

use crate::common::all_values;

/// The graph of a citation network.
fn published(name: &str) -> Option<Graph> {
    let Some(folder) = std::env::var_os("FIEDLER_DATA") else {
        eprintln!("skipped {name}: FIEDLER_DATA is not set");
        return None;
    };
    let dataset = fiedler_io::read::read(PathBuf::from(folder).join(name), &Default::default()).unwrap();
    Some(dataset.graph().unwrap().clone())
}

fn norms(graph: &Graph) -> [f64; 2] {
    Operator::ALL.map(|operator| Normalized::of(graph, operator).spectral_norm())
}

#[test]
fn norms_of_cora() {
    let Some(graph) = published("cora") else { return };
    let [laplacian, propagation] = norms(&graph);
    assert!((laplacian - 58.81).abs() < 0.005 && (propagation - 24.88).abs() < 0.005, "{laplacian} {propagation}");
    let values = all_values(&Normalized::of(&graph, Operator::Propagation));
    let squares: f64 = values.iter().map(|value| value * value).sum();
    assert!((squares.sqrt() - propagation).abs() < 1e-9);
}

#[test]
fn norms_of_pubmed() {
    let Some(graph) = published("pubmed") else { return };
    let [laplacian, propagation] = norms(&graph);
    assert!((laplacian - 149.59).abs() < 0.005 && (propagation - 65.27).abs() < 0.005, "{laplacian} {propagation}");
}

#[test]
fn ends_of_citeseer_with_its_438_components() {
    let Some(graph) = published("citeseer") else { return };
    let [laplacian, _] = norms(&graph);
    // Every isolated node adds 1 to the square.
    assert!((laplacian - 69.2076).abs() < 0.0005, "{laplacian}");
    let map = Normalized::of(&graph, Operator::Laplacian);
    // 48 isolated nodes are 1 here, so 390 of the components are zeros.
    let settings = PartialSettings { lowest: 400, highest: 100, tolerance: 1e-7, dense_limit: 0, ..Default::default() };
    let found = partial(&map, &settings, None).unwrap();
    assert_eq!(found.lowest.values.iter().filter(|value| value.abs() < 1e-7).count(), 390);
    let summary = summarize(&graph, &SummarySettings { pairs: 450, ..Default::default() }).unwrap();
    assert_eq!((summary.components, summary.components_by_spectrum, summary.isolated_nodes), (438, 438, 48));
    assert_eq!((summary.largest_component, summary.diameter.exact()), (2120, Some(28)));
}
