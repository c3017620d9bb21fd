//! Self-supervised learning on graphs, guided by the graph's spectrum.
pub use fiedler_graph as graph;
