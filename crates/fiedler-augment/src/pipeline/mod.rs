//! Views as pipelines: steps that change graph and features, composed, fitted once, drawn by key.
//!
//! A [`Pipeline`] is settings. [`Pipeline::fit`] computes what it needs of a dataset (schemes, diffusions, probabilities of columns),
//! and [`FittedPipeline::draw`] draws a [`View`] for a [`ViewKey`]. Two views of one method may differ in everything.
//!
//! ```
//! use fiedler_augment::pipeline::{ComputeSchemes, FitContext, Pipeline};
//! use fiedler_augment::ViewKey;
//! use fiedler_graph::{Features, NoObserver, generate};
//!
//! let karate = generate::karate_club();
//! let features = Features::degrees(karate.graphs.block_diagonal(), 10);
//! let pipeline: Pipeline = serde_json::from_str(
//!     r#"{"name": "compose", "steps": [{"name": "drop-edges", "rate": 0.2}, {"name": "mask-features", "rate": 0.5}]}"#,
//! )?;
//! let mut schemes = ComputeSchemes::new(&karate.graphs, &NoObserver);
//! let mut context = FitContext { set: &karate.graphs, features: &features, schemes: &mut schemes };
//! let view = pipeline.fit(&mut context)?.draw(&karate.graphs.whole(), ViewKey::new(7, 0, 0))?;
//! assert!(view.graph.num_edges() < 78 && view.mask.columns.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod fit;
mod perturb;
mod prune;
mod short;

use fiedler_graph::GraphSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use choice::OneOf;
pub use fit::{ComputeSchemes, FitContext, FittedPipeline, SchemeSource, ViewStep};
pub use perturb::PerturbEdges;
pub use prune::PruneEdges;
pub use short::{FeatureMasking, MaskRates, short_form};

use crate::error::{Error, Result, check_share};
use crate::mask::{MaskFeatures, MaskNodes};
use crate::scheme::{DiffusionSettings, SchemeSettings, View, ViewKey};

/// How a view is made from a graph and its features.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Pipeline {
    /// The graph and its features as they are.
    #[default]
    #[serde(deserialize_with = "nothing_more")]
    Identity,
    /// One step after the other.
    Compose(Compose),
    /// One of several pipelines, chosen at random for each step or for each graph.
    OneOf(OneOf),
    /// One view of a scheme.
    Scheme(SchemeView),
    /// A diffusion of the graph: the view is a propagation matrix.
    Diffuse(DiffusionSettings),
    /// Edges are removed, all with the same probability.
    DropEdges(Rate),
    /// Edges are added between random pairs; the rate is relative to the number of edges there are.
    AddEdges(Rate),
    /// A share of each graph's edges is removed, and as many pairs are joined that were not.
    PerturbEdges(PerturbEdges),
    /// Edges whose ends have unlike features are left out: the defence of GCN-Jaccard.
    PruneEdges(PruneEdges),
    /// A share of each graph's nodes loses its edges and is passed over by readouts.
    DropNodes(Rate),
    /// The nodes are kept that a random walk meets first; the rate is the share that is dropped.
    Subgraph(Rate),
    /// A random node is kept with some of its neighbors; the rate is the share that is dropped, at least. What GraphCL's program makes of a
    /// subgraph, by accident.
    Star(Rate),
    /// Columns of the features are hidden from all nodes.
    MaskFeatures(MaskFeatures),
    /// A share of each graph's nodes loses all features.
    MaskNodes(MaskNodes),
    /// Features change places among the nodes of each graph: the corruption of DGI.
    #[serde(deserialize_with = "nothing_more")]
    ShuffleFeatures,
}

/// Refuses settings where there are none; serde would pass over them.
fn nothing_more<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(deserializer).map(|Nothing {}| ())
}

/// Steps of a pipeline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compose {
    /// The first is applied first.
    pub steps: Vec<Pipeline>,
}

/// One view of a scheme.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchemeView {
    /// The scheme; pipelines with equal settings share it.
    pub scheme: SchemeSettings,
    /// Which of its views, from zero.
    pub view: u32,
}

/// How much a step changes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rate {
    /// A share from 0 to 1.
    pub rate: f64,
}

impl Pipeline {
    /// Steps one after the other; a single one stands for itself, none for the identity.
    pub fn compose(mut steps: Vec<Pipeline>) -> Pipeline {
        match steps.len() {
            0 => Pipeline::Identity,
            1 => steps.remove(0),
            _ => Pipeline::Compose(Compose { steps }),
        }
    }

    /// One view of a scheme.
    pub fn scheme(scheme: SchemeSettings, view: u32) -> Pipeline {
        Pipeline::Scheme(SchemeView { scheme, view })
    }

    /// Refuses settings that are out of their range or not for such graphs, before anything is computed.
    ///
    /// # Errors
    /// Names the setting, its value and what is allowed.
    pub fn check(&self, set: &GraphSet) -> Result<()> {
        match self {
            Pipeline::Identity | Pipeline::ShuffleFeatures => Ok(()),
            Pipeline::Compose(compose) => {
                let diffuses = compose.steps.iter().any(Pipeline::diffuses);
                let changes = compose.steps.iter().filter(|step| step.changes_graph()).count();
                if diffuses && changes > 1 {
                    // It is computed of the graph as it is, so that what came before would be lost.
                    let expected = "a diffusion as the only step that changes the graph";
                    return Err(Error::setting("steps", "a diffusion and another change", expected));
                }
                compose.steps.iter().try_for_each(|step| step.check(set))
            }
            Pipeline::OneOf(one_of) => one_of.check(set),
            // Known to the source of schemes or to nobody; it has as many views as its maker gave it.
            Pipeline::Scheme(SchemeView { scheme: SchemeSettings::Custom(_), .. }) => Ok(()),
            Pipeline::Scheme(SchemeView { view, .. }) if *view > 1 => {
                Err(Error::setting("view", view, "0 or 1, the views of a scheme"))
            }
            Pipeline::Scheme(SchemeView { scheme, .. }) => scheme.check(set),
            Pipeline::Diffuse(settings) => SchemeSettings::Diffusion(*settings).check(set),
            Pipeline::DropEdges(rate) | Pipeline::DropNodes(rate) | Pipeline::Subgraph(rate) | Pipeline::Star(rate) => {
                check_share("rate", rate.rate)
            }
            Pipeline::PerturbEdges(perturb) => perturb.check(),
            Pipeline::AddEdges(Rate { rate }) if rate.is_finite() && *rate >= 0.0 => Ok(()),
            Pipeline::AddEdges(Rate { rate }) => Err(Error::setting("rate", rate, "a number that is not negative")),
            Pipeline::PruneEdges(prune) => prune.check(),
            Pipeline::MaskFeatures(mask) => mask.check(),
            Pipeline::MaskNodes(mask) => mask.check(),
        }
    }

    /// The settings of every scheme that has to be computed for it.
    pub fn schemes(&self) -> Vec<SchemeSettings> {
        match self {
            Pipeline::Compose(compose) => compose.steps.iter().flat_map(Pipeline::schemes).collect(),
            Pipeline::OneOf(one_of) => one_of.choices.iter().flat_map(Pipeline::schemes).collect(),
            Pipeline::Scheme(SchemeView { scheme, .. }) => vec![scheme.clone()],
            Pipeline::Diffuse(settings) => vec![SchemeSettings::Diffusion(*settings)],
            _ => Vec::new(),
        }
    }

    /// Whether views are the graph and its features as they are.
    pub fn is_identity(&self) -> bool {
        *self == Pipeline::Identity
    }

    fn diffuses(&self) -> bool {
        self.schemes().iter().any(|scheme| matches!(scheme, SchemeSettings::Diffusion(_)))
    }

    fn changes_graph(&self) -> bool {
        match self {
            Pipeline::Identity | Pipeline::MaskFeatures(_) | Pipeline::MaskNodes(_) | Pipeline::ShuffleFeatures => {
                false
            }
            Pipeline::Compose(compose) => compose.steps.iter().any(Pipeline::changes_graph),
            Pipeline::OneOf(one_of) => one_of.choices.iter().any(Pipeline::changes_graph),
            _ => true,
        }
    }
}

/// Draws a view of some graphs with nothing done to it.
pub(crate) fn unchanged(batch: &fiedler_graph::Batch, _: ViewKey) -> View {
    View::of(fiedler_graph::Graph::clone(&batch.graph))
}
