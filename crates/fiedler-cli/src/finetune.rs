//! `fiedler finetune`: trains the encoder of a run further, by labels, and tells how well it predicts them.

use std::path::{Path, PathBuf};

use fiedler_evaluate::Protocol;
use fiedler_experiment::finetune::{FinetunePlan, FinetuneRecord, Start};
use fiedler_experiment::run::{Existing, PAGE};
use fiedler_experiment::search::shown;
use fiedler_experiment::{Error, ErrorKind, Result, Task, settings_tree};
use fiedler_learn::method::{ClassWeights, TuningMode};
use fiedler_learn::run::Settings;
use serde_json::{Value, json};

use super::Common;
use super::args::{command_line, word};
use super::output::Output;
use super::reading::Reading;
use super::table::{Table, several};

/// Runs that the summary lists one by one.
const LISTED: usize = 20;

/// Fine-tuning: puts a linear head on the encoder of a run and trains both by labels, on every split of a protocol. Training stops when
/// the loss on the validation set does not get smaller; the test set is looked at once, at the end. With `none` in place of a run, the same
/// is done from random weights, to compare.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Finetune {
    /// What to start from: the folder of a run, the file of an encoder, or none for random weights
    run: String,
    /// What to learn: a path, a name from `fiedler data list`, or a generator, with labels of nodes or graphs
    data: String,
    /// Folder for runs and scores
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Replace a fine-tuning that is in the folder already
    #[arg(long)]
    force: bool,
    /// Go on with a fine-tuning that was stopped, asked for in the same words
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// With none: an encoder of the shape of this run's, with random weights
    #[arg(long, value_name = "RUN")]
    like: Option<PathBuf>,
    /// Number of seeds; --seed is the first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    seeds: u16,
    /// Leave no page to look at in the folder
    #[arg(long)]
    no_report: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    splits: SplitFlags,
    #[command(flatten)]
    training: TrainingFlags,
    #[command(flatten)]
    reading: Reading,
}

/// Which labels are used for what.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Labels")]
struct SplitFlags {
    /// Which parts are train, validation and test: public, random, kfold, scaffold or reference [default: public where there are
    /// splits, else kfold for graphs and random for nodes]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = Protocol::NAMES)]
    protocol: Option<String>,
    /// Number of random splits or of folds [default: 10]
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// Divide every class in the same shares: true or false [default: true for kfold, false for random]
    #[arg(long, value_name = "BOOL")]
    stratified: Option<bool>,
    /// Share of the training set whose labels are used, every class alike, such as 0.01 or 0.1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, allow_negative_numbers = true)]
    label_fraction: f64,
}

/// How the encoder is trained.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Training")]
struct TrainingFlags {
    /// What is trained: full (encoder and head), frozen (the head alone), head-first (the head alone for --head-epochs, then both)
    /// [default: full]
    #[arg(long, value_name = "MODE", value_parser = word::<TuningMode>)]
    mode: Option<Value>,
    /// Epochs that the head is trained alone, with --mode head-first [default: 10]
    #[arg(long, value_name = "N")]
    head_epochs: Option<usize>,
    /// Learning rate of the encoder, and of the head where it has none of its own [default: 0.001 for graphs, 0.01 for nodes]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    learning_rate: Option<f64>,
    /// Learning rate of the head
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    head_learning_rate: Option<f64>,
    /// Weight decay (L2, as in torch.optim.Adam) [default: 0 for graphs, 0.0005 for nodes]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    weight_decay: Option<f64>,
    /// Dropout between the layers of the encoder, while it is trained [default: that of the run; 0.5 with none]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    dropout: Option<f64>,
    /// Dropout of what the head sees [default: 0]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    head_dropout: Option<f64>,
    /// What classes count in the loss: none (items count the same) or balanced (classes count the same) [default: none]
    #[arg(long, value_name = "HOW", value_parser = word::<ClassWeights>)]
    class_weights: Option<Value>,
    /// Most epochs [default: 100 for graphs, 300 for nodes]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Graphs that a step looks at, of a set [default: 32]
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// Epochs without a smaller loss on the validation set after which training ends [default: 30 for graphs, 50 for nodes]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,
    /// Change any setting that `fiedler settings --method supervised` lists; after all other flags
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
}

const EXAMPLES: &str = "\
In the folder: finetune.json (what was done, and the scores of every seed and split on validation and test), encoder.safetensors (that of
the seed and split that is best on validation), report.html (learning curves), and seed-N/split-K with a run each, as `fiedler embed`
leaves them; their embeddings are predictions, one column for each class, task or value.

Missing labels of several tasks contribute nothing. Where a protocol has no validation set, every tenth item of the training set becomes one.
--label-fraction takes labels from the training set only. An encoder that embedded graphs may be fine-tuned on nodes, and the other way round;
columns of features must be those it was trained on.

Examples:
  fiedler embed mutag --method graphcl --out pretrained
  fiedler finetune pretrained mutag --out tuned
  fiedler finetune none mutag --like pretrained --out scratch
  fiedler finetune pretrained mutag --mode frozen --head-learning-rate 0.01 --out probe
  fiedler finetune pretrained ogbg-molbbbp --protocol scaffold --class-weights balanced --seeds 5 --out bbbp
  fiedler finetune pretrained mutag --label-fraction 0.1 --resume --out few-labels
  fiedler embed mutag --encoder tuned/encoder.safetensors";

impl Finetune {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let start = Start::read(&self.run, self.like.as_deref())?;
        let mut task = Task::open(&self.data, &self.reading.options(), common.seed(), output)?;
        let target = task.target()?;
        let SplitFlags { protocol, splits, stratified, label_fraction } = &self.splits;
        let protocol = Protocol::asked(protocol.as_deref(), *splits, *stratified, target)?;
        start.align(&mut task)?;
        let mut settings = self.training.apply(&start.settings(task.level)?)?;
        settings.seed = common.seed();
        let plan = FinetunePlan {
            task: &task,
            start: &start,
            settings,
            protocol,
            label_fraction: *label_fraction,
            seeds: self.seeds.into(),
            page: !self.no_report,
        };
        let checked = plan.check()?;
        output.listen();
        let existing = match (self.resume, self.force) {
            (true, _) => Existing::Resume,
            (false, true) => Existing::Replace,
            (false, false) => Existing::Refuse,
        };
        let record = checked.fit(&self.out, existing, output).map_err(|error| or_stopped(error, &self.out))?;
        if self.json {
            let mut value = json!(record);
            value["folder"] = json!(self.out);
            return output.json(&value);
        }
        output.result(&self.describe(&record))
    }

    fn describe(&self, record: &FinetuneRecord) -> String {
        let mut table = Table::new(format!("{}: fine-tuned from {}", record.data.name, record.start_in_words()));
        let Some(score) = &record.score else { return table.to_string() };
        let std = |std: f64| Some(std).filter(|_| record.runs.len() > 1);
        let metric = score.metric;
        let over = format!("over {}", several(record.runs.len(), "run"));
        table.row(metric.name(), format!("{} on test, {over}", shown(score.mean, std(score.std), metric)));
        table.row("", format!("{} on validation", shown(score.validation_mean, std(score.validation_std), metric)));
        table.row("trained", record.mode());
        for (at, part) in score.description.split("; ").enumerate() {
            table.row(if at == 0 { "protocol" } else { "" }, part);
        }
        for run in record.runs.iter().take(LISTED) {
            let value = |value: f64| shown(value, None, metric);
            table.row(
                run.folder.display().to_string(),
                format!(
                    "{} ({} on validation), {}, kept {}",
                    value(run.score.value),
                    value(run.score.validation),
                    several(run.epochs, "epoch"),
                    run.kept_epoch.map_or("the last".to_owned(), |epoch| epoch.to_string())
                ),
            );
        }
        if record.runs.len() > LISTED {
            table.row("…", format!("{} more; --json has them all", record.runs.len() - LISTED));
        }
        let seconds: f64 = record.runs.iter().map(|run| run.seconds).sum();
        table.row("took", format!("{seconds:.1} s for training"));
        table.row("folder", self.out.display().to_string());
        if self.out.join(PAGE).is_file() {
            table.row("page", self.out.join(PAGE).display().to_string());
        }
        table.to_string()
    }
}

impl TrainingFlags {
    fn apply(&self, settings: &Settings) -> Result<Settings> {
        let whole = |value: Option<usize>| value.map(|value| json!(value));
        let real = |value: Option<f64>| value.map(|value| json!(value));
        let head_first = self.mode.as_ref().is_some_and(|mode| mode == "head-first");
        if self.head_epochs.is_some() && !head_first {
            let hint = "add --mode head-first, or leave it out".to_owned();
            return Err(Error::new(ErrorKind::Usage, "--head-epochs belongs to --mode head-first", hint));
        }
        let head_epochs = self.head_epochs.or(head_first.then_some(10));
        let keys = [
            ("method.mode", self.mode.clone()),
            ("method.head_epochs", whole(head_epochs)),
            ("method.head_learning_rate", real(self.head_learning_rate)),
            ("method.head_dropout", real(self.head_dropout)),
            ("method.class_weights", self.class_weights.clone()),
            ("method.encoder.dropout", real(self.dropout)),
            ("training.learning_rate", real(self.learning_rate)),
            ("training.weight_decay", real(self.weight_decay)),
            ("training.epochs", whole(self.epochs)),
            ("training.batch_size", whole(self.batch_size)),
            ("training.patience", whole(self.patience)),
        ];
        let mut settings = settings.clone();
        for (key, value) in keys {
            if let Some(value) = value {
                settings = settings_tree::assign_value(&settings, key, value)?;
            }
        }
        settings_tree::assign(&settings, self.set.iter().map(String::as_str))
    }
}

/// How to go on with what was stopped; other failures are as they are.
fn or_stopped(error: Error, out: &Path) -> Error {
    if error.kind() != ErrorKind::Interrupted {
        return error;
    }
    let message = format!("stopped; what is finished is in {}", out.display());
    // What gave way is gone already.
    let command = command_line().replace(" --force", "");
    let resume = if command.contains(" --resume") { "" } else { " --resume" };
    Error::new(ErrorKind::Interrupted, message, format!("go on: {command}{resume}"))
}
