//! How views of a graph are drawn: the probabilities, however they were found.
//!
//! A [`Scheme`] has one [`Augmentation`] for each view, covers one graph or every graph of a set, and remembers the
//! [`SchemeSettings`] it came from and the graphs it belongs to. One file here is one scheme: its settings and how they become
//! augmentations.

mod centrality;
mod clustered;
mod custom;
mod diffusion;
mod drawn;
mod drop_nodes;
mod each_graph;
mod file;
mod graphcl;
mod matched;
mod memory;
mod node_dropping;
mod node_probabilities;
pub(crate) mod pack;
mod pair_probabilities;
mod report;
mod settings;
mod spectral;
mod static_view;
mod uniform;

use fiedler_graph::random::stream;
use fiedler_graph::{Batch, Graph, GraphSet};
use rand_chacha::ChaCha8Rng;

pub use centrality::CentralityRemoval;
pub use clustered::Clustered;
pub use custom::Custom;
pub use diffusion::{DiffusionSettings, Form};
pub use drawn::DrawnNorm;
pub use drop_nodes::{DropNodes, Selection};
pub use graphcl::{GraphCl, GraphClRatio, Operation};
pub use node_dropping::NodeDropping;
pub use node_probabilities::NodeProbabilities;
pub(crate) use node_probabilities::without_edges_of;
pub use pair_probabilities::PairProbabilities;
pub use report::{Norm, NormOf, Report, ViewReport};
pub use settings::SchemeSettings;
pub use spectral::{OutermostMethod, Spectral, Start, SupportChoice};
pub use static_view::StaticView;
pub use uniform::{Rates, Uniform, UniformRatio};

use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::sample::EdgeFlips;

/// The probabilities from which views of certain graphs are drawn.
#[derive(Debug, Clone)]
pub struct Scheme {
    settings: SchemeSettings,
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
    Static(StaticView),
    /// All edges are removed alike, and all other pairs added alike.
    Uniform(Rates),
    /// A share of the nodes is kept, the others lose their edges.
    DropNodes(DropNodes),
}

/// One augmented graph, or a batch of them.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The augmented graph, on the same nodes.
    pub graph: Graph,
    /// Which nodes were dropped. They have no edges left, and a readout should pass them over.
    pub dropped: Option<Vec<bool>>,
    /// What every node gives to itself, in a view that is a propagation matrix already and not to be normalized again.
    pub self_loop_weights: Option<Vec<f32>>,
    /// Which features are hidden.
    pub mask: Mask,
    /// For each node the node of the batch whose features it has, where features were shuffled.
    pub feature_rows: Option<Vec<u32>>,
    /// For each graph what a step that chooses has chosen, choice after choice.
    pub choices: Vec<Vec<u8>>,
}

impl View {
    /// A view that consists of a graph and nothing else.
    pub fn of(graph: Graph) -> View {
        View {
            graph,
            dropped: None,
            self_loop_weights: None,
            mask: Mask::default(),
            feature_rows: None,
            choices: Vec::new(),
        }
    }
}

/// What a draw depends on, and nothing else does: every view of every step has a stream of random numbers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewKey {
    /// The run's seed.
    pub seed: u64,
    /// The epoch, or any other count of draws.
    pub epoch: u32,
    /// Which view, from zero.
    pub view: u32,
    /// The step within the epoch, for samplers that meet a graph more than once in an epoch; zero elsewhere, so that a graph's view
    /// does not depend on the batch that it is in.
    pub step: u32,
    /// The phase of the step, for methods that draw anew in a second phase.
    pub phase: u32,
    /// How many steps of the same kind came before in the view's pipeline, those around and within choices included.
    pub place: u32,
    /// For a set that is a shard of a larger one: the number of its first graph there, so that the views of its graphs are those that the
    /// larger set would have; zero elsewhere.
    pub first_graph: u32,
}

impl ViewKey {
    /// The first draw of a view in an epoch.
    pub fn new(seed: u64, epoch: u32, view: u32) -> ViewKey {
        ViewKey { seed, epoch, view, step: 0, phase: 0, place: 0, first_graph: 0 }
    }

    /// The random numbers for one graph of a set.
    pub fn numbers(&self, graph: usize) -> ChaCha8Rng {
        self.stream("view", self.index(graph))
    }

    /// What tells the random numbers of a graph in an epoch from those of others.
    pub(crate) fn index(&self, graph: usize) -> u64 {
        u64::from(self.epoch) << 32 | (u64::from(self.first_graph) + graph as u64)
    }

    /// The random numbers for a purpose that is not [`ViewKey::numbers`]: `first mask of columns`, `second mask of columns` ….
    pub(crate) fn stream(&self, purpose: &str, index: u64) -> ChaCha8Rng {
        let mut name = match self.view {
            0 => format!("first {purpose}"),
            1 => format!("second {purpose}"),
            view => format!("{purpose} {}", view + 1),
        };
        for (what, number) in [("step", self.step), ("phase", self.phase), ("place", self.place)] {
            if number > 0 {
                name.push_str(&format!(", {what} {number}"));
            }
        }
        stream(self.seed, &name, index)
    }
}

/// The name of the stage that an [`Observer`](fiedler_graph::Observer) hears while a scheme is computed.
pub const STAGE: &str = "scheme";

impl Scheme {
    /// Puts a scheme together for the graphs of a set.
    pub(crate) fn new(settings: SchemeSettings, set: &GraphSet, views: Vec<Augmentation>, report: Report) -> Scheme {
        Scheme { settings, fingerprint: set.fingerprint(), views, report }
    }

    /// What the scheme was made from.
    pub fn settings(&self) -> &SchemeSettings {
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
    pub fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let Some(augmentation) = self.views.get(key.view as usize) else {
            return Err(Error::setting("view", key.view, format!("a number below {}", self.views.len())));
        };
        augmentation.draw(batch, key)
    }
}

impl Augmentation {
    /// Diversity: the expected share of a draw's flips that another draw does not have, `1 − Σ p² / Σ p`. Known where every pair or
    /// node has a probability of its own that is above zero somewhere.
    ///
    /// ```
    /// use fiedler_augment::sample::EdgeFlips;
    /// use fiedler_augment::scheme::{Augmentation, PairProbabilities};
    /// let flips = |p| Augmentation::Pairs(PairProbabilities::new(vec![EdgeFlips::of_pairs(2, [((0, 1), p)])]));
    /// assert_eq!((flips(1.0).diversity(), flips(0.25).diversity()), (Some(0.0), Some(0.75)));
    /// ```
    pub fn diversity(&self) -> Option<f64> {
        let (sum, squares) = match self {
            Augmentation::Pairs(pairs) => {
                pairs.graphs().iter().map(EdgeFlips::moments).fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
            }
            Augmentation::Nodes(nodes) => nodes.of_nodes().iter().fold((0.0, 0.0), |sum, &p| {
                let p = f64::from(p);
                (sum.0 + p, sum.1 + p * p)
            }),
            _ => return None,
        };
        (sum > 0.0).then(|| 1.0 - squares / sum)
    }

    /// Draws a view of a batch.
    ///
    /// # Errors
    /// When the batch is not of the set that the probabilities are for.
    pub fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        match self {
            Augmentation::Unchanged => Ok(View::of(Graph::clone(&batch.graph))),
            Augmentation::Pairs(pairs) => pairs.draw(batch, key),
            Augmentation::Nodes(nodes) => nodes.draw(batch, key),
            Augmentation::Static(view) => view.draw(batch),
            Augmentation::Uniform(rates) => rates.draw(batch, key),
            Augmentation::DropNodes(nodes) => nodes.draw(batch, key),
        }
    }
}
