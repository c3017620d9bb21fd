//! `fiedler embed`: learns an embedding and leaves a run folder, or applies an encoder that another run left.

mod apply;
mod flags;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fiedler_evaluate::QuickProbe;
use fiedler_experiment::recipe::{self, GENERAL, PAPER, SettingsSource};
use fiedler_experiment::run::{Existing, RunFolder, RunPlan, RunRecord, TableFormat};
use fiedler_experiment::{BUILT_IN, Error, ErrorKind, ReadOptions, Result, Task, pages};
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;

use super::Common;
use super::args::{duration, named};
use super::output::Output;
use super::reading::Reading;
use super::scheme_flags::{SchemeFlags, parse_bytes};
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
    #[arg(long, value_name = "NAME", help = recipe_names(), long_help = recipe_help())]
    recipe: Option<String>,
    /// Settings from a TOML file, or from the run.json of another run
    #[arg(long, value_name = "FILE", conflicts_with = "recipe")]
    settings: Option<PathBuf>,
    /// Apply the encoder that another run left, instead of learning one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipe", "settings", "resume"])]
    encoder: Option<PathBuf>,
    /// Formats of the embeddings
    #[arg(long, value_name = "FORMAT", value_parser = named::<TableFormat>(), value_delimiter = ',', default_value = "npy")]
    embeddings: Vec<TableFormat>,
    /// Do not evaluate the embeddings, where there are labels
    #[arg(long)]
    no_evaluate: bool,
    /// Memory that the whole run may take, in GiB: data, scheme, training and evaluation. What needs more is refused before the start;
    /// baselines that need more are left out [default: what is free]
    #[arg(long, value_name = "GIB", value_parser = parse_bytes, conflicts_with = "encoder")]
    memory: Option<u64>,
    /// Time that training may take, such as 90s, 5m or 1.5h: a few epochs are timed, then as many are trained as fit, at most as the
    /// settings have
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true, conflicts_with_all = ["encoder", "resume"])]
    time: Option<Duration>,
    /// Read features from their file some rows at a time, where they would not fit into memory: for --method hops, with features in
    /// a .fiedler file or an npy file; they are taken as they are
    #[arg(long, conflicts_with_all = ["encoder", "resume"])]
    stream_features: bool,
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

/// The recipe of the built-in graph.
const EXAMPLE: &str = "span-small";

const EXAMPLES: &str = "\
In the folder: run.json (settings, data, timings, scores), embeddings.npy with embeddings.ids.csv (which row is whose),
encoder.safetensors, scheme.safetensors, losses.csv, report.html.
While a run is under way there are checkpoint.safetensors (after every --checkpoint-every epochs, and after a minute at most), from which
--resume goes on, and run.lock, which keeps other processes away
(exit code 8); both are removed at the end.

Examples:
  fiedler embed
  fiedler embed cora --out cora-run
  fiedler embed --resume --out cora-run
  fiedler embed edges.csv --features words.csv --epochs 200 --embeddings npy,csv
  fiedler embed cora --recipe none --set training.patience=20
  fiedler embed cora --method hops
  fiedler embed large.fiedler --method hops --stream-features
  fiedler embed coauthor-cs --method span --time 5m --memory 4
  fiedler embed edges.csv --features words.csv --feature-sources given+structural+spectral:64
  fiedler embed mutag --scheme uniform-removal --ratio 0.2
  fiedler embed other-graph.csv --features words.csv --encoder cora-run/encoder.safetensors";

/// Where data and settings come from before flags change them.
struct Origin {
    source: String,
    options: ReadOptions,
    seed: u64,
    recipe: Option<String>,
    settings: Option<Settings>,
    /// What the run that is resumed left.
    record: Option<RunRecord>,
}

impl Embed {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        if let Some(encoder) = &self.encoder {
            return self.apply(encoder, common, output);
        }
        let origin = self.origin(common)?;
        if let Some(record) = origin.record.as_ref().filter(|record| record.finished) {
            self.check_finished(record, &origin)?;
            return self.tell_finished(record, output);
        }
        if let Some(folder) = self.out.as_deref().filter(|_| self.existing() == Existing::Refuse) {
            RunFolder::new(folder).check_free()?;
        }
        let task = Task::open(&origin.source, &origin.options, origin.seed, output)?;
        let (settings, recipe) = self.settings(&origin, &task, output)?;
        if let Some(before) = &origin.record {
            before.check_same(&settings, &task.record)?;
        }
        if task.dataset.graph_labels.is_some() && task.dataset.graphs.len() == 1 {
            output.note("a set of one graph has nothing to compare it with: its nodes are embedded, one row each");
        }
        if task.dataset.feature_columns().is_none() && settings.features.sources.is_auto() {
            let degrees = settings.features.degrees;
            output.note(&match settings.method {
                MethodSettings::Hops(_) if task.dataset.graphs.len() > 1 => {
                    "no features: degrees and structural measures of nodes serve".to_owned()
                }
                MethodSettings::Hops(_) => "no features: structural features and eigenvectors serve".to_owned(),
                MethodSettings::Spectral(_) => "no features: eigenvectors need none".to_owned(),
                _ => format!("no features: one-hot degree (capped at {degrees}) serves"),
            });
        }
        // An encoder that is trained with labels is judged by the split that it does not learn from.
        let probe = match settings.method {
            MethodSettings::Supervised(_) => QuickProbe::one_split(&task.dataset, settings.seed),
            _ => QuickProbe::new(&task.dataset, settings.seed),
        };
        let folder = match &self.out {
            Some(path) => RunFolder::new(path),
            None => RunFolder::free(&task.dataset.name, settings.method.name()),
        };
        let plan = RunPlan {
            recipe,
            probe: probe.as_ref(),
            evaluate: !self.no_evaluate,
            formats: &self.embeddings,
            page: !self.no_report,
            memory: self.memory,
            time: self.time,
            observer: output,
            ..RunPlan::new(&task, settings)
        };
        output.listen();
        let run = plan.check()?;
        if let Some(limit) = &run.record().time_limit {
            output.note(&format!("training: {}", limit.in_words()));
        }
        if let Some(expected) = run.expected() {
            output.note(&format!("expected: about {expected}"));
        }
        let artifacts = run.fit(&folder, self.existing(), output)?;
        self.tell(&artifacts.record, folder.path(), output)
    }

    fn existing(&self) -> Existing {
        match (self.resume, self.force) {
            (true, _) => Existing::Resume,
            (false, true) => Existing::Replace,
            (false, false) => Existing::Refuse,
        }
    }

    fn origin(&self, common: &Common) -> Result<Origin> {
        let (settings, record) = match (&self.out, &self.settings) {
            (Some(folder), _) if self.resume => {
                let record = RunFolder::new(folder).record()?.ok_or_else(|| nothing_to_resume(folder))?;
                (Some(record.settings.clone()), Some(record))
            }
            (_, Some(file)) => {
                let (recipe, record) = recipe::read(file)?;
                (Some(recipe.settings), record)
            }
            _ => (None, None),
        };
        // A recipe that nobody knows is refused before data are read.
        let of_recipe =
            self.recipe.as_deref().filter(|name| !["none", "paper"].contains(name)).map(recipe::get).transpose()?;
        let (source, options) = match (&self.data, &record) {
            (None, Some(record)) => record.data.located(),
            (data, _) => {
                let options = ReadOptions { stream_features: self.stream_features, ..self.reading.options() };
                (data.clone().unwrap_or_else(|| BUILT_IN.to_owned()), options)
            }
        };
        let seed =
            settings.as_ref().or(of_recipe.as_ref().map(|recipe| &recipe.settings)).map(|settings| settings.seed);
        Ok(Origin {
            source,
            options,
            seed: common.seed.or(seed).unwrap_or(0),
            recipe: record.as_ref().and_then(|record| record.recipe.clone()),
            settings,
            record: record.filter(|_| self.resume),
        })
    }

    /// The settings of the run, and the recipe that they started from.
    fn settings(&self, origin: &Origin, task: &Task, output: &Output) -> Result<(Settings, Option<String>)> {
        let (settings, recipe) = match &origin.settings {
            Some(settings) => (settings.clone(), origin.recipe.clone()),
            None => {
                let source = match (&self.recipe, &self.data, self.learning.method()) {
                    (Some(name), _, Some(method)) if name == "none" => SettingsSource::MethodDefaults(method),
                    (Some(name), ..) => SettingsSource::Recipe(name),
                    (None, Some(_), None) => SettingsSource::Automatic { general: GENERAL },
                    (None, Some(_), Some(method)) => SettingsSource::Method { method, general: PAPER },
                    (None, None, None) => SettingsSource::Recipe(EXAMPLE),
                    (None, None, Some(method)) => SettingsSource::Method { method, general: [EXAMPLE; 2] },
                };
                let recipe = source.resolve(task, output)?;
                if source == SettingsSource::Recipe(EXAMPLE) && self.recipe.is_none() {
                    output.note(&format!("settings: recipe {}", recipe.name));
                }
                (recipe.settings, Some(recipe.name))
            }
        };
        Ok((self.changed(settings, origin.seed)?, recipe))
    }

    /// The settings with what the flags ask for.
    fn changed(&self, mut settings: Settings, seed: u64) -> Result<Settings> {
        settings.seed = seed;
        let mut settings = self.learning.apply(&settings)?;
        let method = settings.method.as_any();
        let asked = self.scheme != SchemeFlags::default() || settings.scheme.is_some();
        if method.default_views().is_some() || (method.takes_scheme() && asked) {
            // The rest is for the data, and for what comes after.
            let memory = self.memory.map(|memory| memory / 2);
            settings.scheme = Some(self.scheme.settings(&settings.scheme_or_usual(), seed, memory)?);
        } else if self.scheme != SchemeFlags::default() {
            let message = format!("the method {} draws no views from a scheme", settings.method.name());
            let hint = "leave the flags of schemes out, or choose another method".to_owned();
            return Err(Error::new(ErrorKind::Usage, message, hint));
        }
        let mut settings = self.learning.assigned(&settings)?;
        if settings.seed != seed {
            settings.scheme = settings.scheme.map(|scheme| scheme.with_seed(settings.seed));
        }
        Ok(settings)
    }

    /// Refuses to pass over what was asked for of a run that has come to its end with something else.
    fn check_finished(&self, record: &RunRecord, origin: &Origin) -> Result<()> {
        if let Some(data) = self.data.as_ref().filter(|data| **data != record.data.source) {
            let message = format!("the finished run is of {}, not of {data}", record.data.source);
            return Err(Error::new(ErrorKind::Usage, message, "choose another folder, or leave DATA out".to_owned()));
        }
        record.check_same(&self.changed(record.settings.clone(), origin.seed)?, &record.data)
    }

    /// There is nothing left to do but the page.
    fn tell_finished(&self, record: &RunRecord, output: &Output) -> Result<()> {
        output.note("the run has come to its end already");
        let folder = RunFolder::new(self.out.as_deref().unwrap_or(Path::new(".")));
        // What nobody asked for is not missed.
        for format in self.embeddings.iter().filter(|_| self.embeddings != [TableFormat::Npy]) {
            if !folder.path().join(format!("embeddings.{format}")).exists() {
                output.note(&format!("note: --embeddings {format} is ignored, since nothing is computed again"));
            }
        }
        folder.tidy()?;
        if !self.no_report {
            pages::leave_missing_page(&folder, output);
        }
        self.tell(record, folder.path(), output)
    }

    fn tell(&self, record: &RunRecord, folder: &Path, output: &Output) -> Result<()> {
        let folder = folder.display().to_string();
        if self.json {
            return output.json(&summary::json(record, &folder));
        }
        output.result(&summary::describe(record, &folder))
    }
}

fn nothing_to_resume(folder: &Path) -> Error {
    let hint = "leave --resume out to start a run there".to_owned();
    Error::new(ErrorKind::NotFound, format!("{} holds no run", folder.display()), hint)
}

/// What a recipe is when none is named.
const RECIPE_DEFAULT: &str = "[default: the one made for the dataset and the method, else the method's own defaults, or default-nodes or \
    default-graphs; span-small, without DATA]; none for no recipe of the dataset, paper for the paper's settings";

fn recipe_names() -> String {
    let names: Vec<&str> = recipe::list().into_iter().map(|(name, _)| name).collect();
    format!("Settings under a name: {} {RECIPE_DEFAULT}", names.join(", "))
}

fn recipe_help() -> String {
    let mut help = format!("Settings under a name {RECIPE_DEFAULT}:");
    for (name, title) in recipe::list() {
        help.push_str(&format!("\n  {name:24} {title}"));
    }
    help
}
