//! Tables of transfer: encoders are trained without labels on some data, and then by labels on others.

use fiedler_graph::Observer;
use fiedler_io::ReadOptions;
use fiedler_learn::data::FeatureSettings;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::layer::Activation;
use fiedler_learn::method::{MethodSettings, Supervised};
use fiedler_learn::readout::{Projector, ReadoutSettings};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::encoders::{with_gin, with_mean};
use super::kind::Context;
use crate::error::Result;
use crate::recipe;
use crate::task::Task;

/// What a table of transfer is, at its full size and at one that ends in minutes.
pub struct Pretraining {
    /// The data that encoders are trained on first, as a line that can be opened; of so many graphs.
    pub line: fn(usize) -> String,
    pub full: Size,
    pub quick: Size,
    /// The encoder, of so many channels.
    pub encoder: fn(usize) -> GinSettings,
    /// What encoders see.
    pub features: fn() -> FeatureSettings,
    /// Dropout of the encoder while it is fine-tuned.
    pub dropout: f64,
    /// Weight decay and learning rate of fine-tuning.
    pub weight_decay: f64,
    pub learning_rate: f64,
    /// Graphs of a step before and while an encoder is fine-tuned.
    pub batches: [usize; 2],
}

/// How large a table is.
pub struct Size {
    /// Graphs to train on without labels.
    pub graphs: usize,
    /// Epochs without labels, and by labels at most.
    pub epochs: [usize; 2],
    /// Width of the encoder.
    pub channels: usize,
    /// The datasets where none are asked for.
    pub datasets: &'static [&'static str],
}

/// Rows: what trains the encoder first.
const METHODS: &[(&str, &str)] = &[
    ("InfoGraph", "infograph"),
    ("GraphCL", "graphcl"),
    ("JOAO", "joao"),
    ("AD-GCL", "ad-gcl"),
    ("GraphMAE", "graphmae"),
    ("GCL-SPAN", "span"),
    ("MVGRL", "mvgrl"),
];

/// The rows without training before: of the encoder that all methods have, and of MVGRL's.
const NONE: &str = "none";
const NONE_GCN: &str = "none (GCN)";

/// Epochs without a smaller loss on the validation set after which fine-tuning ends.
const PATIENCE: usize = 20;
/// Layers of a graph convolutional network, where that is the encoder: more make all nodes alike.
const GCN_LAYERS: usize = 3;

impl Pretraining {
    pub fn size(&self, quick: bool) -> &Size {
        if quick { &self.quick } else { &self.full }
    }

    /// Opens the data that encoders are trained on first.
    pub fn open(&self, asked: Option<&str>, quick: bool, observer: &dyn Observer) -> Result<Task> {
        let line = asked.map_or_else(|| (self.line)(self.size(quick).graphs), str::to_owned);
        Task::open(&line, &ReadOptions::default(), 0, observer)
    }

    /// What distinguishes a table from others of the same name, in words.
    pub fn setup(&self, task: &Task, quick: bool) -> String {
        let size = if quick { "the quick size" } else { "full size" };
        let fingerprint = task.record.fingerprint.get(..8).unwrap_or_default();
        format!("{size}, pre-trained on {} ({fingerprint})", task.title)
    }

    /// What a reader should know of the data and the size, one sentence each.
    pub fn notes(&self, task: &Task, quick: bool, cells: &[Cell]) -> Vec<String> {
        let mut notes = Vec::new();
        let started = cells.iter().find_map(|cell| Some((&cell.start.as_ref()?.training, &cell.settings.training)));
        if let Some((before, after)) = started {
            let patience = after
                .patience
                .map_or(String::new(), |patience| format!(", patience {patience} on the validation loss"));
            notes.push(format!(
                "Pre-training: {} graphs of {}, {} epochs, batches of {}; one run of each method, seed 0. Fine-tuning: all weights, at \
                 most {} epochs{patience}, batches of {}, dropout {}. Encoders have {} channels.",
                fiedler_report::number::count(task.dataset.graphs.len()),
                task.title,
                before.epochs,
                before.batch_size,
                after.epochs,
                after.batch_size,
                self.dropout,
                self.size(quick).channels,
            ));
        }
        notes.extend(task.dataset.report.notes.iter().map(|note| format!("Of the data of pre-training: {note}.")));
        notes
    }

    /// The rows of a dataset.
    pub fn cells(&self, context: &Context<'_>, printed: Option<&str>) -> Result<Vec<Cell>> {
        let size = self.size(context.quick);
        let recipes = context.recipes;
        let gin = (self.encoder)(size.channels);
        let gcn = GcnSettings {
            hidden_channels: size.channels,
            num_layers: GCN_LAYERS,
            activation: Activation::Prelu,
            ..GcnSettings::default()
        };
        let cell = |row: &str, settings: Settings, start: Option<Settings>, against: Option<&str>| Cell {
            data: context.place,
            row: row.into(),
            recipe: "transfer".into(),
            about: "set by the table".into(),
            settings,
            start,
            measure: Measure::Score(None),
            paper: printed.and_then(|table| context.figure(table, row)),
            against: against.map(Into::into),
        };
        let (of_gin, of_gcn) = (
            self.tuning(context, size, EncoderSettings::Gin(GinSettings { dropout: self.dropout, ..gin.clone() }))?,
            self.tuning(context, size, EncoderSettings::Gcn(GcnSettings { dropout: self.dropout, ..gcn.clone() }))?,
        );
        let mut cells = vec![cell(NONE, of_gin.clone(), None, None), cell(NONE_GCN, of_gcn.clone(), None, None)];
        for &(row, method) in METHODS {
            let mut settings = recipes.method(method, context.pretrained_on()?)?.settings;
            settings.features = (self.features)();
            settings.training.epochs = size.epochs[0];
            settings.training.batch_size = self.batches[0];
            settings.training.learning_rate = 1e-3;
            settings.training.patience = None;
            with_gin(&mut settings.method, &gin);
            with_mean(&mut settings.method);
            let (tuning, against) = match &mut settings.method {
                MethodSettings::Mvgrl(method) => {
                    method.encoder = EncoderSettings::Gcn(gcn.clone());
                    (of_gcn.clone(), NONE_GCN)
                }
                _ => (of_gin.clone(), NONE),
            };
            cells.push(cell(row, tuning, Some(recipes.change(&settings)?), Some(against)));
        }
        Ok(cells)
    }

    /// The settings of fine-tuning with an encoder.
    fn tuning(&self, context: &Context<'_>, size: &Size, encoder: EncoderSettings) -> Result<Settings> {
        let mut settings = recipe::get("finetune-graphs")?.settings;
        settings.features = (self.features)();
        settings.training.epochs = size.epochs[1];
        settings.training.batch_size = self.batches[1];
        settings.training.learning_rate = self.learning_rate;
        settings.training.weight_decay = self.weight_decay;
        settings.training.patience = Some(PATIENCE);
        let readout = ReadoutSettings { projector: Projector::Identity, ..ReadoutSettings::default() };
        settings.method = Supervised { encoder, readout, ..Supervised::default() }.into();
        context.recipes.change(&settings)
    }
}

/// Those of some names that are on this machine.
pub fn available(names: &[&str]) -> Vec<String> {
    let is_there = |name: &&&str| super::data::hint_where_missing(name).is_none();
    names.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}
