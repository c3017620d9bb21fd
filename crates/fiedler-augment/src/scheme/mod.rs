//! How views of a graph are drawn: the probabilities, however they were found.
//!
//! A [`Scheme`] has one [`Augmentation`] for each view, covers one graph or every graph of a set, and remembers the
//! [`Settings`] it came from and the graphs it belongs to. One file here is one scheme: its settings and how they become
//! augmentations.

mod centrality;
mod clustered;
mod diffusion;
mod each_graph;
mod file;
mod fixed;
mod graphcl;
mod kept;
mod node_dropping;
mod node_probabilities;
mod pair_probabilities;
mod report;
mod settings;
mod spectral;
mod uniform;
mod watch;

use fiedler_graph::random::stream;
use fiedler_graph::{Batch, Graph, GraphSet};
use rand_chacha::ChaCha8Rng;

pub use centrality::CentralityRemoval;
pub use clustered::Clustered;
pub use diffusion::{Diffused, Form};
pub use fixed::Fixed;
pub use graphcl::{GraphCl, Operation};
pub use kept::{Kept, Selection};
pub use node_dropping::NodeDropping;
pub use node_probabilities::NodeProbabilities;
pub use pair_probabilities::PairProbabilities;
pub use report::{Norm, Report, ViewReport};
pub use settings::Settings;
pub use spectral::{Spectral, Start, SupportChoice};
pub use uniform::{Rates, Uniform};
pub use watch::{Stage, Watch, unwatched};

use crate::error::{Error, Result};

/// The probabilities from which views of certain graphs are drawn.
#[derive(Debug, Clone)]
pub struct Scheme {
    settings: Settings,
    fingerprint: String,
    views: Vec<Augmentation>,
    report: Report,
}

/// How one view is drawn.
#[derive(Debug, Clone)]
pub enum Augmentation {
    /// The graph as it is.
    Unchanged,
    /// Every listed node pair flips with its own probability.
    Pairs(PairProbabilities),
    /// Every node is dropped with its own probability, and all its edges with it.
    Nodes(NodeProbabilities),
    /// Always the same weighted graph.
    Fixed(Fixed),
    /// All edges are removed alike, and all other pairs added alike.
    Uniform(Rates),
    /// A share of the nodes is kept, the others lose their edges.
    Kept(Kept),
}

/// One augmented graph, or a batch of them.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The augmented graph, on the same nodes.
    pub graph: Graph,
    /// Which nodes were dropped. They have no edges left, and a readout should pass them over.
    pub dropped: Option<Vec<bool>>,
    /// What every node gives to itself, in a view that is a propagation matrix already and not to be normalized again.
    pub own_weights: Option<Vec<f32>>,
}

impl View {
    /// A view that consists of a graph and nothing else.
    pub fn of(graph: Graph) -> View {
        View { graph, dropped: None, own_weights: None }
    }
}

/// What a draw depends on, and nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The run's seed.
    pub seed: u64,
    /// The epoch, or any other count of draws.
    pub epoch: u32,
    /// Which view, from zero.
    pub view: usize,
}

impl Draw {
    /// The random numbers for one graph of a set.
    pub(crate) fn numbers(&self, graph: usize) -> ChaCha8Rng {
        let purpose = if self.view == 0 { "first view" } else { "second view" };
        stream(self.seed, purpose, u64::from(self.epoch) << 32 | graph as u64)
    }
}

impl Scheme {
    /// Puts a scheme together for the graphs of a set.
    pub(crate) fn new(settings: Settings, set: &GraphSet, views: Vec<Augmentation>, report: Report) -> Scheme {
        Scheme { settings, fingerprint: set.fingerprint(), views, report }
    }

    /// What the scheme was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How the computation went.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The fingerprint of the graphs it belongs to, as [`GraphSet::fingerprint`] gives it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// One augmentation for each view.
    pub fn views(&self) -> &[Augmentation] {
        &self.views
    }

    /// Makes sure that the scheme belongs to these graphs.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self, set: &GraphSet) -> Result<()> {
        let graph = set.fingerprint();
        if graph == self.fingerprint {
            return Ok(());
        }
        Err(Error::OtherGraph { scheme: self.fingerprint.clone(), graph })
    }

    /// Draws a view of a batch of the set. The same seed, epoch and view give the same graph, in whatever batch.
    ///
    /// # Errors
    /// When the batch is not of the set that the scheme belongs to.
    pub fn draw(&self, batch: &Batch, draw: Draw) -> Result<View> {
        let Some(augmentation) = self.views.get(draw.view) else {
            return Err(Error::setting("view", draw.view, format!("a number below {}", self.views.len())));
        };
        augmentation.draw(batch, draw)
    }
}

impl Augmentation {
    /// Draws a view of a batch.
    ///
    /// # Errors
    /// When the batch is not of the set that the probabilities are for.
    pub fn draw(&self, batch: &Batch, draw: Draw) -> Result<View> {
        match self {
            Augmentation::Unchanged => Ok(View::of(batch.graph.clone())),
            Augmentation::Pairs(pairs) => pairs.draw(batch, draw),
            Augmentation::Nodes(nodes) => nodes.draw(batch, draw),
            Augmentation::Fixed(fixed) => fixed.draw(batch),
            Augmentation::Uniform(rates) => rates.draw(batch, draw),
            Augmentation::Kept(kept) => kept.draw(batch, draw),
        }
    }
}
