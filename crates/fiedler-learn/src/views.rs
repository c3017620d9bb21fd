//! Where a run's views come from: pipelines, each fitted once.

use std::sync::{Arc, Mutex, PoisonError};

use fiedler_augment::pipeline::{FitContext, FittedPipeline, SchemeSource};
use fiedler_augment::{Pipeline, SchemeSettings};

use crate::Normalization;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::method::Requirements;

/// Pipelines fitted to a dataset: a pipeline that comes again is not fitted again, and pipelines share their schemes.
pub struct ViewStore<'a> {
    data: &'a Data<'a>,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    schemes: &'a mut (dyn SchemeSource + Send),
    fitted: Vec<(Pipeline, Arc<FittedPipeline>)>,
}

/// Refuses views that cannot be drawn of such data, before anything is computed.
pub(crate) fn check_views<'p>(
    pipelines: impl IntoIterator<Item = &'p Pipeline>,
    data: &Data<'_>,
    requirements: &Requirements,
) -> Result<()> {
    let edges_have_features = data.dims().edges.is_some() && requirements.operators.contains(&Normalization::None);
    for pipeline in pipelines {
        pipeline.check(data.graphs())?;
        let diffuses = pipeline.schemes().iter().any(|scheme| matches!(scheme, SchemeSettings::Diffusion(_)));
        if diffuses && edges_have_features {
            let expected = "one whose views consist of edges, because edges have features here";
            return Err(Error::setting("scheme", "a diffusion", expected));
        }
    }
    Ok(())
}

impl<'a> ViewStore<'a> {
    /// Pipelines for a dataset, whose schemes come from `schemes`.
    pub fn new(data: &'a Data<'a>, schemes: &'a mut (dyn SchemeSource + Send)) -> ViewStore<'a> {
        ViewStore { data, state: Mutex::new(State { schemes, fitted: Vec::new() }) }
    }

    /// The fitted pipeline.
    ///
    /// # Errors
    /// When a setting is out of its range, or a scheme cannot be computed.
    pub fn fitted(&self, pipeline: &Pipeline) -> Result<Arc<FittedPipeline>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = state.fitted.iter().find(|(known, _)| known == pipeline) {
            return Ok(Arc::clone(found));
        }
        let State { schemes, fitted } = &mut *state;
        let mut context =
            FitContext { set: self.data.graphs(), features: self.data.features(), schemes: &mut **schemes };
        let found = Arc::new(pipeline.fit(&mut context)?);
        fitted.push((pipeline.clone(), Arc::clone(&found)));
        Ok(found)
    }
}
