//! `fiedler embed`: learns an embedding and leaves a run folder, or applies an encoder that another run left.

mod apply;
mod flags;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use fiedler_augment::Scheme;
use fiedler_graph::Dataset;
use fiedler_learn::data::Supervision;
use fiedler_learn::method::{MethodSettings, Raw, Untrained};
use fiedler_learn::run::{Outcome, Run, Settings};
use fiedler_learn::{Embeddings, Error};

use super::failure::{Exit, Failure};
use super::output::Output;
use super::reading::{BUILT_IN, Reading};
use super::run::folder::{self, DataRecord, Folder, Record, ResultRecord, TableFormat};
use super::run::score::{Judge, Score};
use super::run::{self, recipe};
use super::scheme_flags::SchemeFlags;
use super::{Common, interrupt, memory, report};
use flags::LearnFlags;

/// Learns an embedding of every node of a graph, or of every graph of a set, without labels: views of the graph are drawn from an
/// augmentation scheme, and an encoder learns what they have in common.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Embed {
    /// A path, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    /// [default: citation, a built-in graph]
    data: Option<String>,
    /// Folder for the run [default: named after data and method]
    #[arg(long, short, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Replace a run that is in the folder already
    #[arg(long)]
    force: bool,
    /// Go on with a run that was stopped; its data and settings are remembered
    #[arg(long, requires = "out", conflicts_with_all = ["force", "recipe", "settings"])]
    resume: bool,
    /// Settings under a name [default: paper-nodes or paper-graphs, as the data are; default, without DATA]
    #[arg(long, value_name = "NAME", value_parser = recipe_names(), hide_possible_values = true, long_help = recipe::help())]
    recipe: Option<String>,
    /// Settings from a TOML file, or from the run.json of another run
    #[arg(long, value_name = "FILE", conflicts_with = "recipe")]
    settings: Option<PathBuf>,
    /// Apply the encoder that another run left, instead of learning one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipe", "settings", "resume"])]
    encoder: Option<PathBuf>,
    /// Formats of the embeddings
    #[arg(long, value_name = "FORMAT", value_enum, value_delimiter = ',', default_value = "npy")]
    embeddings: Vec<TableFormat>,
    /// Leave no page to look at in the folder
    #[arg(long)]
    no_report: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    learning: LearnFlags,
    #[command(flatten)]
    scheme: SchemeFlags,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
In the folder: run.json (settings, data, timings, scores), embeddings.npy, encoder.safetensors, scheme.safetensors, losses.csv, report.html.
While a run is under way there is checkpoint.safetensors, from which --resume goes on; it is removed at the end.

Examples:
  fiedler embed
  fiedler embed cora --recipe citation --out cora-run
  fiedler embed --resume --out cora-run
  fiedler embed edges.csv --features words.csv --epochs 200 --embeddings npy,csv
  fiedler embed mutag --scheme uniform-removal --ratio 0.2
  fiedler embed other-graph.csv --features words.csv --encoder cora-run/encoder.safetensors";

/// Where data and settings come from before flags change them.
struct Origin {
    source: String,
    reading: Reading,
    seed: u64,
    recipe: Option<String>,
    settings: Option<Settings>,
    /// What the run that is resumed left.
    record: Option<Record>,
}

impl Embed {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        if let Some(encoder) = &self.encoder {
            return self.apply(encoder, common, output);
        }
        let origin = self.origin(common)?;
        if let Some(record) = origin.record.as_ref().filter(|record| record.finished) {
            output.note("the run has come to its end already");
            let folder = Folder::new(self.out.as_deref().unwrap_or(Path::new(".")));
            folder.sweep()?;
            if !self.no_report {
                report::leave_missing_page(&folder, output);
            }
            return self.tell(record, folder.path(), output);
        }
        if let Some(folder) = self.out.as_deref().filter(|_| !self.resume) {
            Folder::new(folder).check_free(self.force)?;
        }
        let dataset = origin.reading.load(Some(&origin.source), origin.seed, output)?;
        let record = self.plan(origin, &dataset, output)?;
        let judge = Judge::new(&dataset, record.settings.seed);
        check(&record, &dataset, judge.as_ref())?;
        let folder = match &self.out {
            Some(path) => Folder::new(path),
            None => Folder::free(&dataset.name, record.settings.method.name()),
        };
        if !self.resume {
            folder.begin(&record)?;
        }
        folder.sweep()?;
        self.embed(record, &dataset, judge.as_ref(), &folder, output)
    }

    fn origin(&self, common: &Common) -> Result<Origin, Failure> {
        let (settings, record) = match (&self.out, &self.settings) {
            (Some(folder), _) if self.resume => {
                let record = Folder::new(folder).record()?.ok_or_else(|| nothing_to_resume(folder))?;
                (Some(record.settings.clone()), Some(record))
            }
            (_, Some(file)) => {
                let (settings, record) = folder::read_settings(file)?;
                (Some(settings), record)
            }
            _ => (self.recipe.as_deref().map(recipe::settings).transpose()?, None),
        };
        let (source, reading) = match (&self.data, &record) {
            (None, Some(record)) => (record.data.source.clone(), record.data.reading.clone()),
            (data, _) => (data.clone().unwrap_or_else(|| BUILT_IN.to_owned()), self.reading.clone()),
        };
        Ok(Origin {
            source,
            reading,
            seed: common.seed.or(settings.as_ref().map(|settings| settings.seed)).unwrap_or(0),
            recipe: self.recipe.clone().or(record.as_ref().and_then(|record| record.recipe.clone())),
            settings,
            record: record.filter(|_| self.resume),
        })
    }

    /// What the run will be; of one that is resumed, the same as it was.
    fn plan(&self, origin: Origin, dataset: &Dataset, output: &Output) -> Result<Record, Failure> {
        let Origin { source, reading, seed, mut recipe, settings, record } = origin;
        let mut settings = match settings {
            Some(settings) => settings,
            None => {
                let name = match (&self.data, dataset.graphs.len()) {
                    (None, _) => "default",
                    (Some(_), 1) => "paper-nodes",
                    (Some(_), _) => "paper-graphs",
                };
                output.note(&format!("settings: recipe {name}"));
                recipe = Some(name.to_owned());
                recipe::settings(name)?
            }
        };
        settings.seed = seed;
        self.learning.apply(&mut settings)?;
        settings.scheme.0 = self.scheme.settings(&settings.scheme.0, seed)?;
        let data = DataRecord::new(source, reading, dataset);
        if let Some(before) = &record {
            let other = folder::differences(&before.settings, &settings);
            if !other.is_empty() {
                let hint = "a run is resumed with the settings it was started with; leave the flags out".to_owned();
                return Err(Failure::new(Exit::Usage, format!("this is another run: {}", other.join(", ")), hint));
            }
            if !before.data.is_same(&data) {
                let message = format!("{} is not the data that the run was started with", data.source);
                return Err(Failure::new(Exit::Usage, message, "give the same DATA, or begin anew".to_owned()));
            }
        }
        if dataset.features.is_none() {
            let degrees = settings.features.degrees;
            output.note(&format!("no features: node degrees serve, one column each up to {degrees}"));
        }
        Ok(Record::new(data, recipe, settings))
    }

    fn embed(
        &self,
        mut record: Record,
        dataset: &Dataset,
        judge: Option<&Judge>,
        folder: &Folder,
        output: &Output,
    ) -> Result<(), Failure> {
        interrupt::listen();
        let settings = &record.settings;
        let started = Instant::now();
        let scheme = match settings.method.views() {
            0 => None,
            _ => Some(scheme(settings, dataset, folder, output)?),
        };
        let scheme_seconds = started.elapsed().as_secs_f64();
        let supervision = judge.and_then(Judge::supervision);
        let outcome = train(&record, dataset, scheme.as_ref(), supervision, folder, output)?;
        let scores = match judge {
            Some(judge) => scores(settings, dataset, &outcome.embeddings, judge, output)?,
            None => Vec::new(),
        };
        record.finished = true;
        record.result = Some(ResultRecord::new(&outcome, scheme_seconds, scores));
        folder.finish(&record, &outcome, dataset, &self.embeddings)?;
        if !self.no_report {
            report::leave_page(&record, dataset, &outcome.embeddings, folder, output);
        }
        self.tell(&record, folder.path(), output)
    }

    fn tell(&self, record: &Record, folder: &Path, output: &Output) -> Result<(), Failure> {
        let folder = folder.display().to_string();
        if self.json {
            return output.json(&summary::json(record, &folder));
        }
        output.result(&summary::describe(record, &folder))
    }
}

/// Refuses what would not work before anything is computed, or a folder touched.
fn check(record: &Record, dataset: &Dataset, judge: Option<&Judge>) -> Result<(), Failure> {
    let supervision = judge.and_then(Judge::supervision);
    if record.settings.method.learns_from_labels() && supervision.is_none() {
        let message = format!("{} has no classes to learn from, or too few of each", record.data.name);
        return Err(Failure::new(Exit::Data, message, "choose a method that needs no labels, such as span".to_owned()));
    }
    let memory = memory::free_bytes();
    Ok(Run { supervision, memory, ..Run::new(&record.settings, dataset, None) }.check()?)
}

/// Computes the scheme, or takes the one that an earlier part of the run left.
fn scheme(settings: &Settings, dataset: &Dataset, folder: &Folder, output: &Output) -> Result<Scheme, Failure> {
    let wanted = &settings.scheme.0;
    if folder.scheme().exists()
        && let Ok(scheme) = Scheme::load(&folder.scheme(), &dataset.graphs)
        && scheme.settings() == wanted
    {
        return Ok(scheme);
    }
    let scheme = run::compute_scheme(wanted, &dataset.graphs, output);
    let scheme = scheme.map_err(|error| match error {
        fiedler_augment::Error::Stopped => stopped("stopped before training began", folder),
        other => other.into(),
    })?;
    folder.keep_scheme(&scheme)?;
    Ok(scheme)
}

fn train(
    record: &Record,
    dataset: &Dataset,
    scheme: Option<&Scheme>,
    supervision: Option<Supervision<'_>>,
    folder: &Folder,
    output: &Output,
) -> Result<Outcome, Failure> {
    let checkpoint = folder.checkpoint_of(record)?;
    let outcome = run::train(&record.settings, dataset, scheme, supervision, &checkpoint, output);
    outcome.map_err(|error| match error {
        Error::Stopped { .. } => stopped(&error.to_string(), folder),
        other => other.into(),
    })
}

fn stopped(message: &str, folder: &Folder) -> Failure {
    let hint = format!("go on with: fiedler embed --resume --out {}", folder.path().display());
    Failure::new(Exit::Interrupted, message, hint)
}

fn nothing_to_resume(folder: &Path) -> Failure {
    let hint = "leave --resume out to start a run there".to_owned();
    Failure::new(Exit::NotFound, format!("{} holds no run", folder.display()), hint)
}

/// How well labels can be predicted: from the embedding, and from what any embedding has to beat.
fn scores(
    settings: &Settings,
    dataset: &Dataset,
    embeddings: &Embeddings,
    judge: &Judge,
    output: &Output,
) -> Result<Vec<Score>, Failure> {
    let spinner = output.spinner("looking how well labels can be predicted");
    let method = &settings.method;
    let readout = method.readout().cloned().unwrap_or_default();
    let own = match method {
        MethodSettings::Supervised(_) => judge.score_of_answers("the supervised encoder", embeddings),
        _ => Some(judge.score(method.name(), embeddings)?),
    };
    let mut scores: Vec<Score> = own.into_iter().collect();
    if method.is_trained()
        && let Some(encoder) = method.encoder().cloned()
    {
        let untrained = without_training(settings, dataset, Untrained { encoder, readout: readout.clone() }.into())?;
        scores.push(judge.score("the untrained encoder", &untrained)?);
    }
    if !matches!(method, MethodSettings::Raw(_)) {
        let what = if dataset.features.is_some() { "raw features" } else { "node degrees" };
        let raw = without_training(settings, dataset, Raw { pooling: readout.pooling }.into())?;
        scores.push(judge.score(what, &raw)?);
    }
    spinner.finish_and_clear();
    Ok(scores)
}

fn without_training(settings: &Settings, dataset: &Dataset, method: MethodSettings) -> Result<Embeddings, Failure> {
    let settings = Settings { method, ..settings.clone() };
    Ok(Run::new(&settings, dataset, None).run()?.embeddings)
}

fn recipe_names() -> clap::builder::PossibleValuesParser {
    recipe::names().collect::<Vec<_>>().into()
}
