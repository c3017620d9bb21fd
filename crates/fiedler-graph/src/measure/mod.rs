//! Numbers that describe a graph.

mod bipartite;
mod components;
mod cores;
mod edge_auc;
mod page_rank;
mod summary;
mod triangles;

pub use bipartite::is_bipartite;
pub use components::components;
pub use cores::core_numbers;
pub use edge_auc::edge_auc;
pub use page_rank::page_rank;
pub use summary::{DegreeSummary, PerGraph, Range, Summary, summarize};
pub use triangles::{Triangles, triangles};

use rayon::prelude::*;

use crate::graph::Graph;
use crate::labels::Classes;

/// Share of edges between labelled nodes that join two of one class; `None` when there is no such edge.
pub fn edge_homophily(graph: &Graph, classes: &Classes) -> Option<f64> {
    let class_of = classes.of();
    let of_node = |node: u32| {
        let Some(own) = class_of[node as usize] else { return (0, 0) };
        let others = graph.higher(node).iter().filter_map(|&other| class_of[other as usize]);
        others.fold((0u64, 0u64), |(alike, all), class| (alike + u64::from(class == own), all + 1))
    };
    let (alike, all) =
        (0..graph.num_nodes() as u32).into_par_iter().map(of_node).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    (all > 0).then(|| alike as f64 / all as f64)
}
