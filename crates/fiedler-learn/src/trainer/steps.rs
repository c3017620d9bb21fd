//! Single steps: which graphs they look at, making them, and taking them.

use std::sync::Arc;

use burn::tensor::Device;
use fiedler_augment::pipeline::FittedPipeline;
use fiedler_augment::{Pipeline, ViewKey};

use super::sampler::SampledBatch;
use super::{Clock, State, Trainer};
use crate::ema::deep_copy;
use crate::error::{Error, Result};
use crate::method::{Method, Phase, Step};
use crate::pass::{DropoutRng, Pass};
use crate::sample::{Loaded, Sample};
use crate::supervision::{BatchLabels, Part};

/// What one step looks at.
pub(super) struct Made<'a> {
    loaded: Arc<Loaded<'a>>,
    clean: Option<Arc<Sample>>,
    views: Vec<Sample>,
    labels: Option<BatchLabels>,
    /// The number of the step in its epoch, where views are drawn for it alone.
    at: u32,
}

/// One graph, which is loaded once and for all.
pub(super) struct Whole<'a> {
    loaded: Arc<Loaded<'a>>,
    clean: Option<Arc<Sample>>,
}

/// Views of an epoch: their pipelines, each ready to be drawn.
pub(super) type EpochViews = Vec<Arc<FittedPipeline>>;

impl<'a, M: Method> Trainer<'a, M> {
    pub(super) fn whole(&self, device: &Device) -> Result<Option<Whole<'a>>> {
        if self.task.num_graphs != 1 || self.training.block_sampler(1).is_some() {
            return Ok(None);
        }
        let loaded = Arc::new(self.data.load_all(device)?);
        let clean = self.clean(&loaded)?;
        Ok(Some(Whole { loaded, clean }))
    }

    fn clean(&self, loaded: &Loaded<'_>) -> Result<Option<Arc<Sample>>> {
        let wanted = self.requirements.clean.then(|| loaded.clean(self.data, &self.requirements.operators));
        Ok(wanted.transpose()?.map(Arc::new))
    }

    /// The pipelines, fitted.
    pub(super) fn fitted(&self, pipelines: &[Pipeline]) -> Result<EpochViews> {
        pipelines.iter().map(|pipeline| self.views.fitted(pipeline)).collect()
    }

    /// What each step of an epoch looks at.
    pub(super) fn batches(&self, epoch: usize) -> Vec<SampledBatch> {
        self.sampler.as_ref().map(|sampler| sampler.batches(epoch)).unwrap_or_default()
    }

    /// Loads the graphs of a step and draws its views.
    pub(super) fn make(
        &self,
        batch: &SampledBatch,
        whole: Option<&Whole<'a>>,
        views: &EpochViews,
        (epoch, at): (usize, usize),
        device: &Device,
    ) -> Result<Made<'a>> {
        let block = self.sampler.as_ref().and_then(|sampler| sampler.block(batch, epoch, at));
        // Graphs of a set have the same view in whatever step; a block is drawn for its own.
        let at = if block.is_some() { at as u32 } else { 0 };
        let (loaded, clean) = match (whole, block) {
            (Some(whole), _) => (Arc::clone(&whole.loaded), whole.clean.clone()),
            (None, block) => {
                let loaded = match block {
                    Some(block) => self.data.load_block(block, device)?,
                    None => self.data.load(&batch.graphs, device)?,
                };
                let loaded = Arc::new(loaded);
                let clean = self.clean(&loaded)?;
                (loaded, clean)
            }
        };
        let labels =
            self.supervision.map(|labels| labels.of_step(&loaded, self.task.level, Part::Train, &self.balance));
        let views = self.draw(&loaded, views, (epoch as u32, at), 0)?;
        Ok(Made { loaded, clean, views, labels, at })
    }

    /// Draws one sample for each view.
    pub(super) fn draw(
        &self,
        loaded: &Loaded<'_>,
        views: &EpochViews,
        (epoch, step): (u32, u32),
        phase: u32,
    ) -> Result<Vec<Sample>> {
        let operators = &self.requirements.operators;
        let draw = |(view, fitted): (usize, &Arc<FittedPipeline>)| {
            if fitted.is_identity() {
                return loaded.clean(self.data, operators);
            }
            let key = ViewKey { phase, step, ..ViewKey::new(self.seed, epoch, view as u32) };
            loaded.view(self.data, fitted.draw(&loaded.batch, key)?, operators)
        };
        views.iter().enumerate().map(draw).collect()
    }

    /// Takes a step: every phase in turn. Tells the loss of the last.
    pub(super) fn take(
        &self,
        mut state: State<M>,
        mut made: Made<'_>,
        views: &EpochViews,
        clock: Clock,
    ) -> Result<(State<M>, f32)> {
        let mut value = 0f32;
        for (at, phase) in self.phases.iter().enumerate().filter(|(_, phase)| phase.is_in(clock.epoch)) {
            if phase.redraw && at > 0 {
                made.views = self.draw(&made.loaded, views, (clock.epoch as u32, made.at), at as u32)?;
            }
            let step = self.step(&made, phase, clock, at);
            let loss = self.method.loss(&state.model, &state.state, &step)?.value;
            value = loss.clone().into_scalar();
            if !value.is_finite() {
                return Err(Error::NotFinite { what: "loss", epoch: clock.epoch });
            }
            let is_better = || state.history.best.is_none_or(|(_, best)| value < best);
            if clock.steps_per_epoch == 1
                && self.training.patience.is_some()
                && self.supervision.is_none()
                && is_better()
            {
                // The loss is that of the weights as they are now, not as the step will leave them.
                state.candidate = Some(deep_copy(&state.model));
            }
            let settings = phase.optimizer.unwrap_or_else(|| self.training.optimizer());
            let factor = self.training.schedule.factor(&clock);
            let optimizer = &mut state.optimizers[at];
            optimizer.set_learning_rate(settings.learning_rate * factor);
            let rates: Vec<_> = phase.learning_rates.iter().map(|&(field, rate)| (field, rate * factor)).collect();
            let (gradients, maximize) = (loss.backward(), phase.maximize);
            state.model = optimizer.step_with_rates(state.model, gradients, &phase.trains, maximize, &rates);
        }
        state.model = self.method.after_step(state.model, &Clock { step: clock.step + 1, ..clock });
        Ok((state, value))
    }

    fn step<'s>(&'s self, made: &'s Made<'_>, phase: &'s Phase, clock: Clock, at: usize) -> Step<'s> {
        // Phases of one step draw their dropout from streams of their own.
        let dropout = DropoutRng::new(self.seed, clock.step + ((at as u64) << 24));
        Step {
            task: self.task,
            clean: made.clean.as_deref(),
            views: &made.views,
            labels: made.labels.as_ref(),
            rows: made.loaded.rows.as_deref(),
            phase,
            clock,
            seed: self.seed,
            pass: Pass::train(dropout),
            observer: self.observer,
        }
    }

    /// A step that nothing is learned from.
    pub(super) fn eval_step<'s>(
        &'s self,
        clean: Option<&'s Sample>,
        views: &'s [Sample],
        labels: Option<&'s BatchLabels>,
        clock: Clock,
    ) -> Step<'s> {
        let phase = &self.phases[0];
        let (task, seed) = (self.task, self.seed);
        Step { task, clean, views, labels, rows: None, phase, clock, seed, pass: Pass::eval(), observer: self.observer }
    }

    /// The loss of a model on a step, without recording anything.
    pub(super) fn loss_of(&self, model: &M::Model, state: &M::State, made: &Made<'_>, clock: Clock) -> Result<f32> {
        let step = self.eval_step(made.clean.as_deref(), &made.views, made.labels.as_ref(), clock);
        let step = Step { rows: made.loaded.rows.as_deref(), ..step };
        Ok(self.method.loss(model, state, &step)?.value.into_scalar())
    }
}
