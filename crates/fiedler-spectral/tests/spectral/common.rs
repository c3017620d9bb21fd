//! Makers of graphs, and arithmetic done the slow way.

use faer::Mat;
use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use fiedler_spectral::{Operator, SymmetricMap};
use proptest::prelude::*;
use rand::RngExt;

/// Enough for every dense spectrum of these tests.
pub const ROOM: u64 = 1 << 32;

pub fn graph(nodes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    Graph::from_pairs(nodes, pairs.into_iter().collect()).unwrap().0
}

pub fn path(nodes: u32) -> Graph {
    graph(nodes as usize, (1..nodes).map(|node| (node - 1, node)))
}

pub fn ring(nodes: u32) -> Graph {
    graph(nodes as usize, (0..nodes).map(|node| (node, (node + 1) % nodes)))
}

pub fn star(nodes: u32) -> Graph {
    graph(nodes as usize, (1..nodes).map(|node| (0, node)))
}

pub fn complete(nodes: u32) -> Graph {
    graph(nodes as usize, (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))))
}

/// Nodes in groups of equal size; pairs within a group are joined with probability `within`, others with `between`.
pub fn groups(count: u32, size: u32, within: f64, between: f64, seed: u64) -> Graph {
    let mut numbers = stream(seed, "test graph", 0);
    let nodes = count * size;
    let mut pairs = Vec::new();
    for a in 0..nodes {
        for b in 0..a {
            if numbers.random::<f64>() < if a / size == b / size { within } else { between } {
                pairs.push((a, b));
            }
        }
    }
    graph(nodes as usize, pairs)
}

/// A sparse random graph of about `degree` edges a node.
pub fn sparse(nodes: u32, degree: f64, seed: u64) -> Graph {
    let mut numbers = stream(seed, "test graph", 1);
    let edges = (f64::from(nodes) * degree / 2.0) as usize;
    let pairs: Vec<_> = (0..edges).map(|_| (numbers.random_range(0..nodes), numbers.random_range(0..nodes))).collect();
    graph(nodes as usize, pairs)
}

/// Several graphs side by side.
pub fn beside(parts: &[Graph]) -> Graph {
    let mut pairs = Vec::new();
    let mut first = 0;
    for part in parts {
        pairs.extend(part.edge_pairs().map(|(low, high)| (low + first, high + first)));
        first += part.num_nodes() as u32;
    }
    graph(first as usize, pairs)
}

/// Any small graph, weighted or not, often with isolated nodes and several components.
pub fn any_graph(most: usize) -> impl Strategy<Value = Graph> {
    (1..most).prop_flat_map(|nodes| {
        let pair = (0..nodes as u32, 0..nodes as u32, 0.05f32..3.0);
        (proptest::collection::vec(pair, 0..3 * nodes), any::<bool>()).prop_map(move |(triples, weighted)| {
            let pairs = triples.iter().map(|&(a, b, _)| (a, b)).collect();
            if weighted {
                let weights = triples.iter().map(|&(_, _, weight)| weight).collect();
                Graph::from_weighted_pairs(nodes, pairs, weights).unwrap().0
            } else {
                Graph::from_pairs(nodes, pairs).unwrap().0
            }
        })
    })
}

/// The operator, entry by entry from its definition.
pub fn by_definition(graph: &Graph, operator: Operator) -> Mat<f64> {
    let size = graph.num_nodes();
    let mut entries = Mat::<f64>::zeros(size, size);
    for node in 0..size as u32 {
        for (place, &other) in graph.neighbors(node).iter().enumerate() {
            let weight = graph.neighbor_weights(node).map_or(1.0, |weights| f64::from(weights[place]));
            entries[(node as usize, other as usize)] = weight;
        }
        if operator == Operator::Propagation {
            entries[(node as usize, node as usize)] = 1.0;
        }
    }
    let degree = |row: usize| (0..size).map(|column| entries[(row, column)]).sum::<f64>();
    let root = |row: usize| if degree(row) > 0.0 { degree(row).powf(-0.5) } else { 0.0 };
    let roots: Vec<f64> = (0..size).map(root).collect();
    Mat::from_fn(size, size, |row, column| {
        let normal = roots[row] * entries[(row, column)] * roots[column];
        match operator {
            Operator::Propagation => normal,
            Operator::Laplacian => f64::from(row == column) - normal,
        }
    })
}

/// Columns are orthonormal.
pub fn assert_orthonormal(vectors: &Mat<f64>) {
    let inner = vectors.transpose() * vectors;
    for row in 0..inner.nrows() {
        for column in 0..inner.ncols() {
            let expected = f64::from(row == column);
            assert!((inner[(row, column)] - expected).abs() < 1e-9, "{row}, {column}: {}", inner[(row, column)]);
        }
    }
}

pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "at {place}: {found}, expected {expected}");
    }
}

/// All eigenvalues, ascending.
pub fn all_values(map: &dyn SymmetricMap) -> Vec<f64> {
    fiedler_spectral::eigenvalues(map, ROOM).unwrap()
}
