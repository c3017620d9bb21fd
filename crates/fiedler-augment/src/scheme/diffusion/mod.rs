//! The second view is a diffusion of the graph, as in MVGRL (Hassani and Khasahmadi 2020).

mod push;

use fiedler_graph::{Graph, GraphSet, Observer};
use fiedler_spectral::properties::Diffusion;
use fiedler_spectral::{Normalized, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::each_graph::each_graph;
use super::{Augmentation, Report, StaticView, ViewReport};
use crate::error::{Error, Result};
use crate::support::Mass;
use push::Push;

/// Exact entries up to this one are lost in rounding.
const ROUNDING: f64 = 1e-9;
/// Columns of the exact form that are computed at once.
const COLUMNS: usize = 64;

/// Settings of diffusion.
///
/// The operator is `D~^-1/2 (A + I) D~^-1/2`. What comes out is a propagation matrix itself, not to be normalized again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiffusionSettings {
    /// Heat, or personalised PageRank.
    pub kernel: Diffusion,
    /// All entries, or the largest of each node.
    pub form: Form,
    /// Entries kept for each node in the sparse form. Where either end keeps a pair, both have it.
    pub neighbors: usize,
    /// How far the sparse form may be from the exact one before entries are left out: `tolerance · √(d_i d_j)`, with the
    /// degrees of `A + I`.
    pub tolerance: f64,
    /// Entries that do not exceed this are left out.
    pub threshold: f64,
    /// Bytes that the exact form may take.
    pub memory: u64,
}

/// How much of a diffusion matrix is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// All of it where that fits into memory.
    #[default]
    Auto,
    /// All of it.
    Exact,
    /// The largest entries of each node, approximately, in memory proportional to the nodes. PageRank only.
    Sparse,
}

impl Default for DiffusionSettings {
    fn default() -> Self {
        DiffusionSettings {
            kernel: Diffusion::PageRank { teleport: 0.2 },
            form: Form::Auto,
            neighbors: 64,
            tolerance: 1e-4,
            threshold: 0.0,
            memory: 1 << 30,
        }
    }
}

/// What will be computed.
#[derive(Debug, Clone, Copy)]
enum Chosen {
    Exact,
    Sparse { teleport: f64 },
}

/// The diffusion of one graph: pairs with their weights, and the diagonal.
struct Spread {
    pairs: Vec<(u32, u32)>,
    weights: Vec<f32>,
    own: Vec<f32>,
}

impl DiffusionSettings {
    pub(super) fn compute(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (chosen, reason) = self.choose(set)?;
        let spreads = each_graph(set, "diffused", observer, |graph| match chosen {
            Chosen::Exact => self.exact(graph),
            Chosen::Sparse { teleport } => Ok(self.sparse(graph, teleport)),
        })?;
        let fixed = gather(set, spreads)?;
        let mass = changes(set.block_diagonal(), fixed.graphs().block_diagonal());
        let report = ViewReport {
            name: "diffused".into(),
            support: if matches!(chosen, Chosen::Exact) { "all" } else { "largest" }.into(),
            reason,
            places: fixed.graphs().num_edges() as u64,
            mass,
            budget: mass.total(),
            ..ViewReport::default()
        };
        let views = vec![Augmentation::Unchanged, Augmentation::Static(fixed)];
        Ok((views, Report { views: vec![ViewReport::unchanged(), report], ..Report::default() }))
    }

    pub(super) fn check(&self, set: &GraphSet) -> Result<()> {
        self.kernel.check()?;
        if self.neighbors == 0 {
            return Err(Error::setting("neighbors", 0, "at least 1"));
        }
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return Err(Error::setting("tolerance", self.tolerance, "a positive number"));
        }
        if !(self.threshold.is_finite() && self.threshold >= 0.0) {
            return Err(Error::setting("threshold", self.threshold, "a number that is not negative"));
        }
        self.choose(set).map(drop)
    }

    /// What to compute, and why where the user left it open.
    /// Bytes that computing holds at once, by an estimate.
    pub(super) fn memory_needed(&self, set: &GraphSet) -> u64 {
        exact_bytes(set).min(self.memory)
    }

    fn choose(&self, set: &GraphSet) -> Result<(Chosen, Option<String>)> {
        let sparse = match self.kernel {
            Diffusion::PageRank { teleport } => Some(Chosen::Sparse { teleport }),
            Diffusion::Heat { .. } => None,
        };
        let needed = exact_bytes(set);
        let gigabytes = |bytes: u64| format!("{:.2} GB", bytes as f64 / 1e9);
        match (self.form, sparse) {
            (Form::Sparse, Some(sparse)) => Ok((sparse, None)),
            (Form::Sparse, None) => {
                Err(Error::setting("form", "sparse", "exact, for heat").advise("only page-rank has a sparse form"))
            }
            (_, _) if needed <= self.memory => Ok((Chosen::Exact, None)),
            (Form::Auto, Some(sparse)) => {
                let reason =
                    format!("all entries would take {}, more than {}", gigabytes(needed), gigabytes(self.memory));
                Ok((sparse, Some(reason)))
            }
            (_, _) => {
                let expected = format!("at least {}, which all entries of the diffusion take", gigabytes(needed));
                Err(Error::setting("memory", gigabytes(self.memory), expected)
                    .advise("allow more memory, or choose the sparse form of page-rank"))
            }
        }
    }

    /// All entries, as the response to a signal at each node. The series they come from does not depend on the number of
    /// threads, as dense factorisations would.
    fn exact(&self, graph: &Graph) -> Result<Spread> {
        let nodes = graph.num_nodes();
        let map = Normalized::of(graph, Operator::Propagation);
        let least = self.threshold.max(ROUNDING);
        let mut spread = Spread { pairs: Vec::new(), weights: Vec::new(), own: Vec::with_capacity(nodes) };
        for first in (0..nodes).step_by(COLUMNS) {
            let columns = COLUMNS.min(nodes - first);
            let mut signals = vec![0.0; nodes * columns];
            (0..columns).for_each(|column| signals[(first + column) * columns + column] = 1.0);
            let responses = self.kernel.apply(&map, &signals, columns)?;
            for column in 0..columns {
                let low = first + column;
                let response = |node: usize| responses[node * columns + column];
                spread.own.push(response(low) as f32);
                for high in (low + 1..nodes).filter(|&high| response(high) > least) {
                    spread.pairs.push((low as u32, high as u32));
                    spread.weights.push(response(high) as f32);
                }
            }
        }
        Ok(spread)
    }

    fn sparse(&self, graph: &Graph, teleport: f64) -> Spread {
        let map = Normalized::of(graph, Operator::Propagation);
        let push = Push { map: &map, teleport, tolerance: self.tolerance };
        let mut spread = Spread { pairs: Vec::new(), weights: Vec::new(), own: Vec::with_capacity(graph.num_nodes()) };
        for (node, row) in push.rows(self.neighbors, self.threshold).into_iter().enumerate() {
            spread.own.push(row.own as f32);
            // A pair may come from both of its ends. Both values are too low, and building the graph keeps the larger.
            spread.pairs.extend(row.others.iter().map(|&(other, _)| (node as u32, other)));
            spread.weights.extend(row.others.iter().map(|&(_, weight)| weight));
        }
        spread
    }
}

/// Bytes that all entries of all graphs take while they are put together: pairs with their weights, twice, and the rows.
fn exact_bytes(set: &GraphSet) -> u64 {
    let square = |graph: usize| (set.node_range(graph).len() as u64).pow(2);
    (0..set.len()).map(|graph| 20 * square(graph)).sum()
}

/// One weighted graph out of all.
fn gather(set: &GraphSet, spreads: Vec<Spread>) -> Result<StaticView> {
    let (mut pairs, mut weights, mut own) = (Vec::new(), Vec::new(), Vec::with_capacity(set.num_nodes()));
    let mut sizes = Vec::with_capacity(set.len());
    for (at, spread) in spreads.into_iter().enumerate() {
        let nodes = set.node_range(at);
        sizes.push(nodes.end - nodes.start);
        pairs.extend(spread.pairs.into_iter().map(|(low, high)| (low + nodes.start, high + nodes.start)));
        weights.extend(spread.weights);
        own.extend(spread.own);
    }
    let (arena, _) = Graph::from_weighted_pairs(set.num_nodes(), pairs, weights)?;
    StaticView::new(GraphSet::from_block_diagonal(arena, sizes)?, own)
}

/// How many edges one graph has that the other has not, and the other way round.
fn changes(before: &Graph, after: &Graph) -> Mass {
    let added = after.edge_pairs().filter(|&(low, high)| !before.has_edge(low, high)).count();
    let removed = before.num_edges() + added - after.num_edges();
    Mass { added: added as f64, removed: removed as f64 }
}
