//! Training, written once for all methods, for one graph and for many.

mod checkpoint;
mod clock;
mod embed;
mod memory;
mod sampler;
mod settings;
mod steps;

use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::Pipeline;
use fiedler_graph::{Event, Observer};

#[doc(hidden)]
pub use checkpoint::read_any;
pub use checkpoint::{CheckpointStore, Checkpointing, History};
pub use clock::Clock;
pub use memory::estimate;
pub(crate) use sampler::{Block, Sampler, SamplerInput};
pub use sampler::{Clusters, Ego, Neighbors, SamplerSettings, Walk};
pub use settings::{Optimizer, OptimizerSettings, Schedule, ScheduleUnit, TrainingSettings};

use crate::data::Data;
use crate::ema::deep_copy;
use crate::error::{Error, Result};
use crate::method::{Epoch, FitData, Method, Phase, Requirements};
use crate::optimizer::Adam;
use crate::state_dict::StateDict;
use crate::supervision::Supervision;
use crate::task::Task;
use crate::views::ViewStore;
use crate::{Embeddings, Initializer};
use checkpoint::{Checkpoint, Position};
use sampler::SampledBatch;
use steps::{EpochViews, Made, Whole};

/// Longest time between two checkpoints.
const LONGEST_WITHOUT_CHECKPOINT: Duration = Duration::from_secs(60);
/// The name of the stage that an [`Observer`] hears while a model is trained.
pub const STAGE: &str = "training";

/// A method with what it is trained on.
pub(crate) struct Trainer<'a, M: Method> {
    pub(crate) method: &'a M,
    pub(crate) data: &'a Data<'a>,
    pub(crate) task: &'a Task,
    pub(crate) requirements: &'a Requirements,
    pub(crate) phases: Vec<Phase>,
    /// Where views come from.
    pub(crate) views: &'a ViewStore<'a>,
    /// The views that the settings ask for.
    pub(crate) given: &'a [Pipeline],
    pub(crate) supervision: Option<Supervision<'a>>,
    /// What classes count so that they count alike: of the whole training set, and so the same in every step.
    pub(crate) balance: Arc<[f32]>,
    /// Weights of another run that training starts from.
    pub(crate) initial: Option<&'a StateDict>,
    pub(crate) training: &'a TrainingSettings,
    /// How epochs are divided into steps; `None` where nothing is trained.
    pub(crate) sampler: Option<Box<dyn Sampler + 'a>>,
    /// Seed of weights, order, negatives and dropout.
    pub(crate) seed: u64,
    pub(crate) device: &'a Device,
    pub(crate) checkpoint: Option<Checkpointing<'a>>,
    pub(crate) observer: &'a dyn Observer,
}

/// A model under training.
pub(crate) struct State<M: Method> {
    pub(crate) model: M::Model,
    optimizers: Vec<Adam>,
    state: M::State,
    /// The weights with the smallest loss, where they may be wanted again.
    best: Option<M::Model>,
    /// The weights before the last step, if their loss was the smallest so far.
    candidate: Option<M::Model>,
    history: History,
    position: Position,
}

/// What training gives.
pub(crate) struct Trained<M: Method> {
    pub(crate) model: M::Model,
    pub(crate) embeddings: Embeddings,
    pub(crate) history: History,
}

/// When training was last kept.
struct Saved {
    started: Instant,
    before: f64,
    last: Instant,
}

impl<'a, M: Method> Trainer<'a, M> {
    /// Trains the model, from the start or from where a checkpoint was left, and embeds.
    ///
    /// # Errors
    /// When the loss or the embeddings are not finite, the embeddings collapse, a checkpoint cannot be read or written or belongs to
    /// another run, or the observer asks to stop.
    pub(crate) fn train(&self) -> Result<Trained<M>> {
        let mut state = self.begin()?;
        let recording = self.device.clone().autodiff();
        // What is only embedded is loaded for that alone.
        let whole = if self.goes_on(&state.history) { self.whole(&recording)? } else { None };
        let mut saved = Saved { started: Instant::now(), before: state.history.seconds, last: Instant::now() };
        let mut embeddings = None;
        while self.goes_on(&state.history) {
            state = self.epoch(state, whole.as_ref(), &recording, &mut saved)?;
            state.history.seconds = saved.before + saved.started.elapsed().as_secs_f64();
            let epoch = state.history.losses.len();
            let last = !self.goes_on(&state.history);
            let due = last || epoch.is_multiple_of(self.training.checkpoint_every);
            embeddings = if due { Some(self.checked_embeddings(&state)?) } else { None };
            let stop = !self.observer.goes_on(&self.progress(&state.history, true)) && !last;
            if due || stop || saved.last.elapsed() > LONGEST_WITHOUT_CHECKPOINT {
                self.save(&state)?;
                saved.last = Instant::now();
            }
            if stop {
                return Err(self.stopped(&state));
            }
        }
        let State { model, best, mut history, .. } = state;
        let (model, embeddings) = match (best, embeddings) {
            (Some(best), _) => (best, None),
            (None, embeddings) => (model, embeddings),
        };
        let model = self.calibrated(model)?;
        let embeddings = embeddings.map_or_else(|| self.embed(&model), Ok)?;
        if !self.requirements.trained {
            // Where nothing is trained, fitting and embedding are all there is.
            history.seconds += saved.started.elapsed().as_secs_f64();
        }
        Ok(Trained { model, embeddings, history })
    }

    fn goes_on(&self, history: &History) -> bool {
        let epoch = history.losses.len();
        let patient = match (self.training.patience, history.best) {
            (Some(patience), Some((best, _))) => epoch.saturating_sub(best) < patience,
            _ => true,
        };
        self.requirements.trained && epoch < self.training.epochs && patient
    }

    fn progress(&self, history: &History, tell_loss: bool) -> Event<'static> {
        let value = history.losses.last().filter(|_| tell_loss).map(|&loss| loss.into());
        Event::Progress { stage: STAGE, item: "", done: history.losses.len(), total: Some(self.training.epochs), value }
    }

    fn stopped(&self, state: &State<M>) -> Error {
        let (epoch, epochs) = (state.history.losses.len(), self.training.epochs);
        Error::Stopped { epoch, epochs, saved: self.checkpoint.is_some() }
    }

    fn begin(&self) -> Result<State<M>> {
        let recording = self.device.clone().autodiff();
        let settings = |phase: &Phase| phase.optimizer.unwrap_or_else(|| self.training.optimizer()).adam();
        let found = match self.checkpoint.filter(|_| self.requirements.trained) {
            Some(checkpoint) => checkpoint.read(self.training.epochs)?,
            None => None,
        };
        let Some(found) = found else {
            let mut model = self.method.build(self.task, &mut Initializer::new(self.seed, &recording))?;
            if let Some(initial) = self.initial {
                model = initial.apply_part(model)?;
            }
            let started = Instant::now();
            let model = self.method.fit(model, &self.fit_data(&recording))?;
            let seconds = if self.requirements.trained { 0.0 } else { started.elapsed().as_secs_f64() };
            return Ok(State {
                model,
                optimizers: self.phases.iter().map(|phase| Adam::new(settings(phase))).collect::<Result<_>>()?,
                state: M::State::default(),
                best: None,
                candidate: None,
                history: History { seconds, ..History::default() },
                position: Position::default(),
            });
        };
        let malformed = |problem: String| Error::Malformed { problem: format!("not a checkpoint: {problem}") };
        if found.optimizers.len() != self.phases.len() {
            return Err(malformed(format!("{} optimizers for {} phases", found.optimizers.len(), self.phases.len())));
        }
        let Position { batch, graphs, .. } = found.position;
        let batches = self.batches(found.history.losses.len());
        let before: Option<usize> =
            batches.get(..batch).map(|batches| batches.iter().map(|batch| batch.graphs.len()).sum());
        if before != Some(graphs) {
            return Err(malformed(format!("its position, step {batch} and {graphs} graphs, is none of the epoch")));
        }
        let restore =
            |weights: &StateDict| self.method.restore(self.task, weights, &mut Initializer::new(self.seed, &recording));
        let best = found.best.as_ref().map(restore).transpose()?;
        let model = restore(&found.model)?;
        let each = self.phases.iter().zip(&found.optimizers);
        let restore = |(phase, kept): (&Phase, &StateDict)| {
            let adam = Adam::from_state_dict(settings(phase), kept, &recording)?;
            adam.check(&found.model)?;
            let steps = phase.steps(found.history.losses.len(), batch, batches.len());
            if adam.steps() != steps {
                return Err(malformed(format!("an optimizer of {} steps, where {steps} were taken", adam.steps())));
            }
            Ok(adam)
        };
        let optimizers = each.map(restore).collect::<Result<_>>()?;
        Ok(State {
            model,
            optimizers,
            state: serde_json::from_value(found.state).map_err(|error| malformed(error.to_string()))?,
            best,
            candidate: None,
            history: found.history,
            position: found.position,
        })
    }

    /// The model as it is embedded with.
    fn calibrated(&self, model: M::Model) -> Result<M::Model> {
        self.method.calibrate(model, &self.fit_data(&self.device.clone().autodiff()))
    }

    /// What a method may be fitted to.
    fn fit_data<'f>(&'f self, device: &'f Device) -> FitData<'f> {
        let Trainer { task, data, seed, observer, .. } = *self;
        let step_nodes = self.training.block_nodes(task.num_graphs, task.num_nodes).unwrap_or(task.num_nodes);
        FitData { task, data, seed, device, step_nodes, observer }
    }

    /// One epoch. While one step is taken, the next is made.
    fn epoch(
        &self,
        mut state: State<M>,
        whole: Option<&Whole<'a>>,
        device: &Device,
        saved: &mut Saved,
    ) -> Result<State<M>> {
        let epoch = state.history.losses.len();
        let batches = self.batches(epoch);
        let views = self.fitted(&self.method.views(&state.state, self.given))?;
        let make = |at: usize| -> Option<Result<Made<'a>>> {
            batches.get(at).map(|batch| self.make(batch, whole, &views, (epoch, at), device))
        };
        let first = state.position.batch.min(batches.len());
        let mut made = make(first);
        for (at, batch) in batches.iter().enumerate().skip(first) {
            let Some(step) = made.transpose()? else { break };
            let clock = self.clock(epoch, at, batches.len());
            let (taken, next) = rayon::join(|| self.take(state, step, &views, clock), || make(at + 1));
            let loss;
            (state, loss) = taken?;
            made = next;
            state.position.batch = at + 1;
            state.position.loss_sum += f64::from(loss) * batch.graphs.len() as f64;
            state.position.graphs += batch.graphs.len();
            if at + 1 < batches.len() {
                self.between_batches(&mut state, saved, batches.len())?;
            }
        }
        let Position { loss_sum, graphs, .. } = std::mem::take(&mut state.position);
        self.end_epoch(state, (loss_sum / graphs.max(1) as f64) as f32, &batches, device)
    }

    /// Asks whether to go on, and keeps a checkpoint if the last one is long ago.
    fn between_batches(&self, state: &mut State<M>, saved: &mut Saved, steps: usize) -> Result<()> {
        let event = self.progress(&state.history, false);
        let item = format!("step {} of {steps}", state.position.batch);
        let stop = match event {
            // An epoch over a large graph takes long.
            Event::Progress { stage, done, total, value, .. }
                if self.training.block_sampler(self.task.num_graphs).is_some() =>
            {
                !self.observer.goes_on(&Event::Progress { stage, item: &item, done, total, value })
            }
            other => !self.observer.goes_on(&other),
        };
        if stop || saved.last.elapsed() > LONGEST_WITHOUT_CHECKPOINT {
            state.history.seconds = saved.before + saved.started.elapsed().as_secs_f64();
            self.save(state)?;
            saved.last = Instant::now();
        }
        if stop { Err(self.stopped(state)) } else { Ok(()) }
    }

    fn clock(&self, epoch: usize, at: usize, steps_per_epoch: usize) -> Clock {
        let epochs = self.training.epochs;
        Clock {
            epoch,
            epochs,
            step: (epoch * steps_per_epoch + at) as u64,
            steps_per_epoch,
            total_steps: (epochs * steps_per_epoch) as u64,
        }
    }

    fn end_epoch(&self, mut state: State<M>, loss: f32, batches: &[SampledBatch], device: &Device) -> Result<State<M>> {
        let epoch = state.history.losses.len();
        let clock = self.clock(epoch, batches.len(), batches.len());
        let mut probe = Probe { trainer: self, model: None, state: state.state.clone(), clock, batches, device };
        let State { model, state: of_method, .. } = &mut state;
        probe.model = Some(model);
        self.method.after_epoch(model, of_method, &mut probe)?;
        state.history.losses.push(loss);
        let validated = match self.training.patience {
            Some(_) => self.validation(&state.model, clock)?,
            None => None,
        };
        if let Some(value) = validated {
            if !value.is_finite() {
                return Err(Error::NotFinite { what: "validation loss", epoch: epoch + 1 });
            }
            // A checkpoint of before values were kept has none of its epochs: then there are none of the rest either.
            if state.history.validation.len() + 1 == state.history.losses.len() {
                state.history.validation.push(value);
            }
        }
        let value = validated.unwrap_or(loss);
        let candidate = state.candidate.take().filter(|_| validated.is_none());
        if state.history.best.is_none_or(|(_, best)| value < best) {
            state.history.best = Some((epoch + 1, value));
            let kept = || candidate.unwrap_or_else(|| deep_copy(&state.model));
            state.best = self.training.patience.map(|_| kept());
        }
        Ok(state)
    }

    fn checked_embeddings(&self, state: &State<M>) -> Result<Embeddings> {
        let epoch = state.history.losses.len();
        let embeddings = self.embed(&self.calibrated(state.model.clone())?)?;
        if !embeddings.are_finite() {
            return Err(Error::NotFinite { what: "embedding", epoch });
        }
        let (relative_std, least) = (embeddings.relative_std(), self.training.min_relative_std);
        if relative_std < least && embeddings.rows() > 1 {
            return Err(Error::Collapsed { epoch, relative_std, least });
        }
        Ok(embeddings)
    }

    fn save(&self, state: &State<M>) -> Result<()> {
        let Some(checkpointing) = self.checkpoint else { return Ok(()) };
        let problem = |error: serde_json::Error| Error::Checkpoint { action: "write", problem: error.to_string() };
        checkpointing.write(&Checkpoint {
            model: StateDict::of(&state.model),
            optimizers: state.optimizers.iter().map(Adam::to_state_dict).collect(),
            best: state.best.as_ref().map(StateDict::of),
            history: state.history.clone(),
            position: state.position,
            state: serde_json::to_value(&state.state).map_err(problem)?,
        })
    }
}

/// What a method may ask for after an epoch.
struct Probe<'p, 'a, M: Method> {
    trainer: &'p Trainer<'a, M>,
    model: Option<&'p M::Model>,
    state: M::State,
    clock: Clock,
    batches: &'p [SampledBatch],
    device: &'p Device,
}

impl<M: Method> Epoch for Probe<'_, '_, M> {
    fn clock(&self) -> Clock {
        self.clock
    }

    fn loss_of_share(&mut self, views: &[Pipeline], share: f64) -> Result<f32> {
        let Some(model) = self.model else { return Ok(f32::NAN) };
        let model = model.valid();
        let device = self.device.clone().inner();
        let views: EpochViews = self.trainer.fitted(views)?;
        let whole = self.trainer.whole(&device)?;
        let (mut sum, mut graphs) = (0.0, 0);
        let steps = (share * self.batches.len() as f64).ceil() as usize;
        for (at, batch) in self.batches.iter().enumerate().take(steps.max(1)) {
            let made = self.trainer.make(batch, whole.as_ref(), &views, (self.clock.epoch, at), &device)?;
            let loss = self.trainer.loss_of(&model, &self.state, &made, self.clock)?;
            sum += f64::from(loss) * batch.graphs.len() as f64;
            graphs += batch.graphs.len();
        }
        Ok((sum / graphs.max(1) as f64) as f32)
    }
}
