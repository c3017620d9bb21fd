//! Graphs that are known by name: path, cycle, star, grid and complete graph. Nothing in them is random.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::spec::{self, Parameter, Spec};
use crate::dataset::Dataset;
use crate::error::Result;

const NODES: &[Parameter] = &[Parameter { name: "nodes", about: "number of nodes" }];

pub(super) const PATH: Spec = Spec {
    name: "path",
    about: "nodes in a row, each joined to the next",
    parameters: NODES,
    defaults: || of_nodes(1000),
    make: |settings, _| path(spec::settings::<Size>(settings)?.nodes),
};

pub(super) const CYCLE: Spec = Spec {
    name: "cycle",
    about: "nodes in a ring, each joined to the next",
    parameters: NODES,
    defaults: || of_nodes(1000),
    make: |settings, _| cycle(spec::settings::<Size>(settings)?.nodes),
};

pub(super) const STAR: Spec = Spec {
    name: "star",
    about: "one node joined to all others",
    parameters: NODES,
    defaults: || of_nodes(1000),
    make: |settings, _| star(spec::settings::<Size>(settings)?.nodes),
};

pub(super) const COMPLETE: Spec = Spec {
    name: "complete",
    about: "every pair of nodes joined",
    parameters: NODES,
    defaults: || of_nodes(100),
    make: |settings, _| complete(spec::settings::<Size>(settings)?.nodes),
};

pub(super) const GRID: Spec = Spec {
    name: "grid",
    about: "nodes in rows and columns, each joined to those beside it",
    parameters: &[
        Parameter { name: "rows", about: "number of rows" },
        Parameter { name: "columns", about: "number of columns" },
    ],
    defaults: || spec::defaults(Grid::default()),
    make: |settings, _| grid(&spec::settings(settings)?),
};

#[derive(Serialize, Deserialize)]
struct Size {
    nodes: usize,
}

fn of_nodes(nodes: usize) -> Map<String, Value> {
    spec::defaults(Size { nodes })
}

/// Settings of [`grid`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Default for Grid {
    fn default() -> Self {
        Grid { rows: 30, columns: 40 }
    }
}

/// Nodes in a row, each joined to the next.
///
/// # Errors
/// When there are too many nodes.
pub fn path(nodes: usize) -> Result<Dataset> {
    super::check_nodes(nodes, 0)?;
    super::dataset("path", nodes, (1..nodes as u32).map(|node| (node - 1, node)).collect())
}

/// Nodes in a ring, each joined to the next.
///
/// ```
/// let ring = fiedler_graph::generate::cycle(5)?;
/// assert!((0..5).all(|node| ring.graphs.block_diagonal().degree(node) == 2));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
///
/// # Errors
/// When there are fewer than three nodes, or too many.
pub fn cycle(nodes: usize) -> Result<Dataset> {
    super::check_nodes(nodes, 3)?;
    let count = nodes as u32;
    super::dataset("cycle", nodes, (0..count).map(|node| (node, (node + 1) % count)).collect())
}

/// The first node joined to all others.
///
/// # Errors
/// When there are too many nodes.
pub fn star(nodes: usize) -> Result<Dataset> {
    super::check_nodes(nodes, 0)?;
    super::dataset("star", nodes, (1..nodes as u32).map(|leaf| (0, leaf)).collect())
}

/// Every pair of nodes joined.
///
/// # Errors
/// When there would be too many edges.
pub fn complete(nodes: usize) -> Result<Dataset> {
    super::check_nodes(nodes, 0)?;
    super::check_size("number of edges", nodes as f64 * (nodes as f64 - 1.0) / 2.0)?;
    let count = nodes as u32;
    super::dataset(
        "complete",
        nodes,
        (0..count).flat_map(|low| (low + 1..count).map(move |high| (low, high))).collect(),
    )
}

/// Nodes in rows and columns, each joined to those beside it. Node `row · columns + column` is at its place.
///
/// # Errors
/// When there would be too many nodes.
pub fn grid(settings: &Grid) -> Result<Dataset> {
    let &Grid { rows, columns } = settings;
    let nodes = rows.saturating_mul(columns);
    super::check_nodes(nodes, 0)?;
    super::check_size("number of edges", 2.0 * nodes as f64)?;
    let beside = |node: u32| {
        let right = (node as usize % columns + 1 < columns).then_some((node, node + 1));
        let below = (node as usize + columns < nodes).then(|| (node, node + columns as u32));
        right.into_iter().chain(below)
    };
    super::dataset("grid", nodes, (0..nodes as u32).flat_map(beside).collect())
}
