//! Training, written once for all methods, for one graph and for many.
//!
//! One graph is taken whole in every step, many go by in batches, in a new order every epoch. Everything random is drawn by seed,
//! epoch and step, so that a run that was stopped and resumed ends with the same bits as one that was not.

mod checkpoint;
mod memory;
mod settings;
mod steps;

use std::time::{Duration, Instant};

use burn::Tensor;
use burn::module::Module;
use burn::tensor::Device;
use fiedler_graph::random::stream;
use rand::seq::SliceRandom;

pub use checkpoint::{CheckpointFile, History, remove};
pub use memory::estimate;
pub use settings::{Schedule, Training};
use steps::Steps;

use crate::data::{Data, Level, Loaded, Supervision, Views};
use crate::encoder::Widths;
use crate::error::{Error, Result};
use crate::method::{Method, Step};
use crate::optimizer::Adam;
use crate::weights::Weights;
use crate::{Embeddings, Initializer};
use checkpoint::Checkpoint;

/// Longest time between two checkpoints.
const LONGEST_WITHOUT_CHECKPOINT: Duration = Duration::from_secs(60);
/// Graphs of a set that are embedded at once.
const EMBEDDED_AT_ONCE: usize = 128;
/// Stands for an epoch where views are drawn to be embedded.
const EMBEDDING: u32 = u32::MAX;

/// Hears of every epoch; returning false stops training.
pub type Watch<'a> = &'a dyn Fn(&Progress) -> bool;

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Whole epochs done.
    pub epoch: usize,
    /// Epochs there are to be.
    pub epochs: usize,
    /// Mean loss of the last epoch.
    pub loss: f32,
}

/// Watches nothing.
pub fn unwatched(_: &Progress) -> bool {
    true
}

/// A method with what it is trained on.
#[derive(Clone, Copy)]
pub struct Trainer<'a, M> {
    /// What is trained.
    pub method: &'a M,
    /// On what.
    pub data: &'a Data<'a>,
    /// Where its views come from, if it wants any.
    pub views: Option<Views<'a>>,
    /// Labels, if it learns from them.
    pub supervision: Option<Supervision<'a>>,
    /// How it is trained.
    pub training: &'a Training,
    /// Seed of weights, order, negatives and dropout.
    pub seed: u64,
    /// Where the work is done.
    pub device: &'a Device,
    /// Where to keep a checkpoint, and to look for one to go on from.
    pub checkpoint: Option<&'a CheckpointFile>,
    /// Bytes that training may take, if there is a limit.
    pub memory: Option<u64>,
    /// Who hears of progress.
    pub watch: Watch<'a>,
}

/// A model under training.
struct State<Model> {
    model: Model,
    adam: Adam,
    best: Option<Weights>,
    history: History,
}

impl<M: Method> Trainer<'_, M> {
    /// Trains the model, from the start or from where a checkpoint was left.
    ///
    /// # Errors
    /// When a setting is out of its range, memory would not suffice, the loss or the embeddings are not finite, the embeddings
    /// collapse, a checkpoint cannot be read or written or belongs to another run, or `watch` asks to stop.
    pub fn train(&self) -> Result<(M::Model, History)> {
        let mut state = self.begin()?;
        let recording = self.device.clone().autodiff();
        let all = if self.data.graphs().len() == 1 { Some(self.data.load_all(&recording)?) } else { None };
        let before = state.history.seconds;
        let started = Instant::now();
        let mut saved = Instant::now();
        while self.goes_on(&state.history) {
            state = match &all {
                Some(all) => self.epoch_of_one(state, all)?,
                None => self.epoch_of_many(state, &recording)?,
            };
            state.history.seconds = before + started.elapsed().as_secs_f64();
            let epoch = state.history.losses.len();
            let progress = self.progress(&state.history);
            let last = !self.goes_on(&state.history);
            let due = last || epoch.is_multiple_of(self.training.checkpoint_every);
            if due {
                self.check_embeddings(&state)?;
            }
            let stop = !(self.watch)(&progress) && !last;
            if due || stop || saved.elapsed() > LONGEST_WITHOUT_CHECKPOINT {
                self.save(&state)?;
                saved = Instant::now();
            }
            if stop {
                let saved = self.checkpoint.is_some();
                return Err(Error::Stopped { epoch, epochs: self.training.epochs, saved });
            }
        }
        let State { model, best, history, .. } = state;
        Ok((best.map_or(Ok(model.clone()), |best| best.apply(model))?, history))
    }

    /// Refuses what can be refused before anything is computed.
    ///
    /// # Errors
    /// When a setting is out of its range or not for such data, or memory would not suffice.
    pub fn check(&self) -> Result<()> {
        self.build(&self.device.clone().autodiff()).map(drop)
    }

    /// The model before training, if all else is in order too.
    fn build(&self, recording: &Device) -> Result<M::Model> {
        self.training.check()?;
        if let Some(supervision) = &self.supervision {
            supervision.check(self.data)?;
        }
        if self.method.views() > 0 {
            self.method.check(self.data.graphs().len().min(self.training.batch_size))?;
        }
        let widths = self.data.widths(self.method.weighting());
        self.check_memory(widths)?;
        self.method.build(widths, &mut Initializer::new(self.seed, recording))
    }

    fn goes_on(&self, history: &History) -> bool {
        let epoch = history.losses.len();
        let patient = match (self.training.patience, history.best) {
            (Some(patience), Some((best, _))) => epoch - best < patience,
            _ => true,
        };
        let trained = self.method.views() > 0 || self.method.learns_from_labels();
        trained && epoch < self.training.epochs && patient
    }

    fn progress(&self, history: &History) -> Progress {
        let loss = history.losses.last().copied().unwrap_or(f32::NAN);
        Progress { epoch: history.losses.len(), epochs: self.training.epochs, loss }
    }

    fn begin(&self) -> Result<State<M::Model>> {
        let recording = self.device.clone().autodiff();
        let model = self.build(&recording)?;
        let adam = self.training.adam();
        let checkpoint = self.checkpoint.map(CheckpointFile::read).transpose()?.flatten();
        Ok(match checkpoint {
            None => State { model, adam: Adam::new(adam)?, best: None, history: History::default() },
            Some(found) => State {
                model: found.model.apply(model)?,
                adam: Adam::from_weights(adam, &found.adam, &recording)?,
                best: found.best,
                history: found.history,
            },
        })
    }

    fn check_memory(&self, widths: Widths) -> Result<()> {
        let needed = estimate(self.data, self.training, self.method.footprint(widths));
        match self.memory {
            Some(free) if needed > free => Err(Error::Memory { needed, free }),
            _ => Ok(()),
        }
    }

    fn epoch_of_one(&self, state: State<M::Model>, all: &Loaded<'_>) -> Result<State<M::Model>> {
        let epoch = state.history.losses.len();
        let steps = self.steps();
        let (state, loss) = steps.take(state, steps.make(all, epoch, epoch as u64)?, epoch)?;
        self.end_epoch(state, loss)
    }

    /// While one step is taken, the next is made.
    fn epoch_of_many(&self, mut state: State<M::Model>, device: &Device) -> Result<State<M::Model>> {
        let epoch = state.history.losses.len();
        let (steps, batches) = (self.steps(), self.batches(epoch));
        let make = |at: usize| -> Option<Result<Step>> {
            let number = (epoch * batches.len() + at) as u64;
            let graphs = batches.get(at)?;
            Some(steps.data.load(graphs, device).and_then(|loaded| steps.make(&loaded, epoch, number)))
        };
        let (mut sum, mut graphs) = (0.0, 0);
        let mut made = make(0);
        for (at, batch) in batches.iter().enumerate() {
            let Some(step) = made.transpose()? else { break };
            let (taken, next) = rayon::join(|| steps.take(state, step, epoch), || make(at + 1));
            let loss;
            (state, loss) = taken?;
            made = next;
            sum += f64::from(loss) * batch.len() as f64;
            graphs += batch.len();
        }
        self.end_epoch(state, (sum / graphs.max(1) as f64) as f32)
    }

    /// The graphs of each step of an epoch. A last one that would be left alone, without others to be told apart from, joins
    /// the step before.
    fn batches(&self, epoch: usize) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = match &self.supervision {
            Some(labels) => labels.known(&labels.split.train).map(|(graph, _)| graph as usize).collect(),
            None => (0..self.data.graphs().len()).collect(),
        };
        order.shuffle(&mut stream(self.seed, "order of graphs", epoch as u64));
        let mut batches: Vec<Vec<usize>> = order.chunks(self.training.batch_size).map(<[usize]>::to_vec).collect();
        if self.training.batch_size > 1
            && batches.len() > 1
            && let Some(alone) = batches.pop_if(|batch| batch.len() == 1)
            && let Some(last) = batches.last_mut()
        {
            last.extend(alone);
        }
        batches
    }

    fn steps(&self) -> Steps<'_, M> {
        let Trainer { method, data, views, supervision, training, seed, .. } = *self;
        Steps { method, data, views, supervision, training, seed }
    }

    fn end_epoch(&self, mut state: State<M::Model>, loss: f32) -> Result<State<M::Model>> {
        state.history.losses.push(loss);
        let loss = self.validation_loss(&state.model)?.unwrap_or(loss);
        if state.history.best.is_none_or(|(_, best)| loss < best) {
            state.history.best = Some((state.history.losses.len(), loss));
            state.best = self.training.patience.map(|_| Weights::of(&state.model));
        }
        Ok(state)
    }

    /// The mean cross entropy of the labels that say when to stop, where there are any.
    fn validation_loss(&self, model: &M::Model) -> Result<Option<f32>> {
        let Some(labels) = self.supervision.filter(|_| self.training.patience.is_some()) else { return Ok(None) };
        let known: Vec<(u32, u32)> = labels.known(&labels.split.validation).collect();
        if known.is_empty() {
            return Ok(None);
        }
        let scores = match self.data.level() {
            Level::Nodes => self.embed(model)?.rows_of(known.iter().map(|&(node, _)| node as usize)),
            Level::Graphs => {
                self.embed_graphs(model, &known.iter().map(|&(graph, _)| graph as usize).collect::<Vec<_>>())?
            }
        };
        let losses = known.iter().enumerate().map(|(row, &(_, class))| {
            let scores = scores.row(row);
            let total: f64 = scores.iter().map(|&score| f64::from(score - scores[class as usize]).exp()).sum();
            total.ln()
        });
        Ok(Some((losses.sum::<f64>() / known.len() as f64) as f32))
    }

    fn check_embeddings(&self, state: &State<M::Model>) -> Result<()> {
        let epoch = state.history.losses.len();
        let embeddings = self.embed(&state.model)?;
        if !embeddings.are_finite() {
            return Err(Error::NotFinite { what: "embedding", epoch });
        }
        let (spread, least) = (embeddings.spread(), self.training.collapse_below);
        if spread < least && embeddings.rows() > 1 {
            return Err(Error::Collapsed { epoch, spread, least });
        }
        Ok(())
    }

    fn save(&self, state: &State<M::Model>) -> Result<()> {
        let Some(file) = self.checkpoint else { return Ok(()) };
        file.write(Checkpoint {
            model: Weights::of(&state.model),
            adam: state.adam.to_weights(),
            best: state.best.clone(),
            history: state.history.clone(),
        })
    }

    /// One row for each node, or for each graph of a set.
    ///
    /// # Errors
    /// When the data do not fit the model.
    pub fn embed(&self, model: &M::Model) -> Result<Embeddings> {
        match self.data.level() {
            Level::Nodes => {
                let mut embeddings = Embeddings::default();
                embeddings.extend(&self.embed_loaded(&model.valid(), &self.data.load_all(self.device)?)?);
                Ok(embeddings)
            }
            Level::Graphs => self.embed_graphs(model, &(0..self.data.graphs().len()).collect::<Vec<_>>()),
        }
    }

    fn embed_graphs(&self, model: &M::Model, graphs: &[usize]) -> Result<Embeddings> {
        let model = model.valid();
        let mut embeddings = Embeddings::default();
        for graphs in graphs.chunks(EMBEDDED_AT_ONCE) {
            embeddings.extend(&self.embed_loaded(&model, &self.data.load(graphs, self.device)?)?);
        }
        Ok(embeddings)
    }

    fn embed_loaded(&self, model: &M::Model, loaded: &Loaded<'_>) -> Result<Tensor<2>> {
        let samples = if self.method.embeds_views() {
            self.steps().draw(loaded, EMBEDDING)?
        } else {
            vec![self.data.clean(loaded, self.method.weighting())?]
        };
        self.method.embed(model, &samples, self.data.level())
    }
}
