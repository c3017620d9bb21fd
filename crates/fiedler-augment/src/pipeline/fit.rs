//! Pipelines made ready for a dataset, and drawn.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use fiedler_graph::{Batch, Features, GraphSet, Observer};
use rand::seq::SliceRandom;

use super::{Pipeline, Rate, SchemeView, unchanged};
use crate::error::{Error, Result};
use crate::mask::{ColumnMasker, MaskNodes};
use crate::scheme::{
    Augmentation, DropNodes, Rates, Scheme, SchemeSettings, Selection, View, ViewKey, without_edges_of,
};

/// Where fitted pipelines take their schemes from: computed, or kept from before.
pub trait SchemeSource {
    /// The scheme of these settings for the graphs at hand.
    ///
    /// # Errors
    /// When it cannot be computed or does not belong to the graphs.
    fn scheme(&mut self, settings: &SchemeSettings) -> Result<Arc<Scheme>>;
}

/// Computes every scheme once.
pub struct ComputeSchemes<'a> {
    set: &'a GraphSet,
    observer: &'a dyn Observer,
    known: Vec<Arc<Scheme>>,
}

impl<'a> ComputeSchemes<'a> {
    /// Schemes for the graphs of a set; `observer` hears how far they are.
    pub fn new(set: &'a GraphSet, observer: &'a dyn Observer) -> ComputeSchemes<'a> {
        ComputeSchemes { set, observer, known: Vec::new() }
    }

    /// Takes a scheme that is known already.
    ///
    /// # Errors
    /// When it belongs to other graphs.
    pub fn with(mut self, scheme: Arc<Scheme>) -> Result<ComputeSchemes<'a>> {
        scheme.check(self.set)?;
        self.known.push(scheme);
        Ok(self)
    }

    /// All schemes that were asked for or given so far.
    pub fn into_known(self) -> Vec<Arc<Scheme>> {
        self.known
    }
}

impl SchemeSource for ComputeSchemes<'_> {
    fn scheme(&mut self, settings: &SchemeSettings) -> Result<Arc<Scheme>> {
        if let Some(known) = self.known.iter().find(|scheme| scheme.settings() == settings) {
            return Ok(Arc::clone(known));
        }
        let scheme = Arc::new(settings.compute(self.set, self.observer)?);
        self.known.push(Arc::clone(&scheme));
        Ok(scheme)
    }
}

/// What a pipeline is fitted to.
pub struct FitContext<'a> {
    /// The graphs.
    pub set: &'a GraphSet,
    /// The features of their nodes.
    pub features: &'a Features,
    /// Where schemes come from.
    pub schemes: &'a mut dyn SchemeSource,
}

/// A step of a fitted pipeline. One of one's own can be put into a pipeline by [`FittedPipeline::then`].
pub trait ViewStep: Debug + Send + Sync {
    /// Steps of one kind in one pipeline draw from streams of their own.
    fn kind(&self) -> &'static str;

    /// Changes a view of a batch; `before` is what earlier steps have made of it, if anything.
    ///
    /// # Errors
    /// When the batch is not of the graphs that the step was fitted to.
    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View>;
}

/// A pipeline that is ready to draw views.
#[derive(Debug, Clone, Default)]
pub struct FittedPipeline {
    steps: Vec<Placed>,
    /// The kinds of all steps so far, with those of choices and those that come before within another pipeline.
    kinds: Vec<&'static str>,
}

/// A step, and how many of its kind come before.
#[derive(Debug, Clone)]
struct Placed {
    step: Arc<dyn ViewStep>,
    place: u32,
}

impl Pipeline {
    /// Computes what is needed to draw views.
    ///
    /// # Errors
    /// When a setting is out of its range, or a scheme cannot be computed.
    pub fn fit(&self, context: &mut FitContext<'_>) -> Result<FittedPipeline> {
        self.check(context.set)?;
        self.fit_after(Vec::new(), context)
    }

    /// The same for a pipeline within another, where steps of these kinds come before.
    pub(super) fn fit_after(&self, kinds: Vec<&'static str>, context: &mut FitContext<'_>) -> Result<FittedPipeline> {
        let mut fitted = FittedPipeline { steps: Vec::new(), kinds };
        self.add_to(&mut fitted, context)?;
        Ok(fitted)
    }

    fn add_to(&self, fitted: &mut FittedPipeline, context: &mut FitContext<'_>) -> Result<()> {
        let structure = |augmentation| Arc::new(Structure(augmentation)) as Arc<dyn ViewStep>;
        let drop = |dropped, selection| structure(Augmentation::DropNodes(DropNodes { dropped, selection }));
        fitted.push(match self {
            Pipeline::Identity => return Ok(()),
            Pipeline::Compose(compose) => {
                return compose.steps.iter().try_for_each(|step| step.add_to(fitted, context));
            }
            Pipeline::OneOf(one_of) => {
                let choice = one_of.fit(fitted.kinds.clone(), context)?;
                let within = choice.kinds();
                fitted.push(Arc::new(choice));
                fitted.kinds.extend(within);
                return Ok(());
            }
            Pipeline::Scheme(SchemeView { scheme, view }) => {
                Arc::new(OfScheme { scheme: context.schemes.scheme(scheme)?, view: *view }.checked()?)
            }
            Pipeline::Diffuse(settings) => {
                // The second view of that scheme is the diffusion, the first the graph itself.
                let scheme = context.schemes.scheme(&SchemeSettings::Diffusion(*settings))?;
                Arc::new(OfScheme { scheme, view: 1 }.checked()?)
            }
            Pipeline::DropEdges(Rate { rate }) => structure(Augmentation::Uniform(Rates::removing(*rate))),
            Pipeline::AddEdges(Rate { rate }) => structure(Augmentation::Uniform(Rates { remove: 0.0, add: *rate })),
            Pipeline::PruneEdges(prune) => Arc::new(prune.fit(context.set, context.features)?),
            Pipeline::DropNodes(Rate { rate }) => drop(*rate, Selection::Uniform),
            Pipeline::PerturbEdges(perturb) => Arc::new(*perturb),
            Pipeline::Subgraph(Rate { rate }) => drop(*rate, Selection::Walk),
            Pipeline::Star(Rate { rate }) => drop(*rate, Selection::Star),
            Pipeline::MaskFeatures(mask) if mask.rate == 0.0 => return Ok(()),
            Pipeline::MaskFeatures(mask) => Arc::new(mask.fit(context.set, context.features)?),
            Pipeline::MaskNodes(mask) if mask.rate == 0.0 => return Ok(()),
            Pipeline::MaskNodes(mask) => Arc::new(*mask),
            Pipeline::ShuffleFeatures => Arc::new(Shuffle),
        });
        Ok(())
    }
}

impl FittedPipeline {
    /// The pipeline with one more step, such as one that a caller has written.
    pub fn then(mut self, step: Arc<dyn ViewStep>) -> FittedPipeline {
        self.push(step);
        self
    }

    fn push(&mut self, step: Arc<dyn ViewStep>) {
        let place = place(&self.kinds, step.kind());
        self.kinds.push(step.kind());
        self.steps.push(Placed { step, place });
    }

    /// The kinds of its steps, without the first so many.
    pub(super) fn kinds_after(&self, before: usize) -> &[&'static str] {
        &self.kinds[before..]
    }

    /// Whether views are the graph and its features as they are.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// Draws a view of a batch. The same key gives the same view of a graph, in whatever batch.
    ///
    /// # Errors
    /// When the batch is not of the graphs that the pipeline was fitted to.
    pub fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let mut view = None;
        for Placed { step, place } in &self.steps {
            view = Some(step.apply(batch, view, ViewKey { place: key.place + place, ..key })?);
        }
        Ok(view.unwrap_or_else(|| unchanged(batch, key)))
    }
}

/// The place of a step of a kind that comes after steps of such kinds.
pub(super) fn place(before: &[&'static str], kind: &'static str) -> u32 {
    before.iter().filter(|earlier| **earlier == kind).count() as u32
}

/// A change of the graph that needs no scheme.
#[derive(Debug)]
struct Structure(Augmentation);

/// A change of the graph that a scheme has probabilities for.
#[derive(Debug)]
struct OfScheme {
    scheme: Arc<Scheme>,
    view: u32,
}

impl OfScheme {
    fn checked(self) -> Result<OfScheme> {
        let views = self.scheme.views().len();
        if self.view as usize >= views {
            return Err(Error::setting("view", self.view, format!("a number below {views}, the scheme's views")));
        }
        Ok(self)
    }
}

impl ViewStep for Structure {
    fn kind(&self) -> &'static str {
        "structure"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        change(&self.0, batch, before, key)
    }
}

impl ViewStep for OfScheme {
    fn kind(&self) -> &'static str {
        "structure"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        change(&self.scheme.views()[self.view as usize], batch, before, key)
    }
}

/// Changes the graph as earlier steps have left it.
fn change(augmentation: &Augmentation, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
    let Some(before) = before else { return augmentation.draw(batch, key) };
    if matches!(augmentation, Augmentation::Unchanged) {
        return Ok(before);
    }
    let View { graph, dropped, mask, feature_rows, choices, .. } = before;
    let batch = Batch { graph: Arc::new(graph), ..batch.clone() };
    let mut view = augmentation.draw(&batch, key)?;
    if let Some(dropped) = &dropped {
        // A node that is gone must not get edges back.
        view.graph = without_edges_of(view.graph, dropped)?;
    }
    let dropped = match (dropped, view.dropped) {
        (Some(one), Some(other)) => Some(one.into_iter().zip(other).map(|(one, other)| one || other).collect()),
        (one, other) => one.or(other),
    };
    Ok(View { dropped, mask, feature_rows, choices, ..View { dropped: None, ..view } })
}

impl ViewStep for ColumnMasker {
    fn kind(&self) -> &'static str {
        "columns"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let mut view = before.unwrap_or_else(|| unchanged(batch, key));
        self.draw(batch, key, &mut view.mask);
        Ok(view)
    }
}

impl ViewStep for MaskNodes {
    fn kind(&self) -> &'static str {
        "nodes"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let mut view = before.unwrap_or_else(|| unchanged(batch, key));
        self.draw(batch, key, &mut view.mask);
        Ok(view)
    }
}

/// Features change places within each graph.
#[derive(Debug)]
struct Shuffle;

impl ViewStep for Shuffle {
    fn kind(&self) -> &'static str {
        "shuffle"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let mut view = before.unwrap_or_else(|| unchanged(batch, key));
        let rows: Cow<'_, [u32]> = match &view.feature_rows {
            Some(rows) => Cow::Borrowed(rows),
            None => Cow::Owned((0..batch.node_rows.len() as u32).collect()),
        };
        let mut rows = rows.into_owned();
        for (block, &graph) in batch.graphs.iter().enumerate() {
            let nodes = batch.node_range(block);
            let mut random = key.stream("shuffle", key.index(graph));
            rows[nodes.start as usize..nodes.end as usize].shuffle(&mut random);
        }
        view.feature_rows = Some(rows);
        Ok(view)
    }
}
