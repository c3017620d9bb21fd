//! `fiedler evaluate`: how good embeddings are, whoever made them.

use std::path::{Path, PathBuf};

use fiedler_evaluate::probe::{LogisticSettings, RidgeSettings};
use fiedler_evaluate::{EvaluationSettings, LabelKind, Metric, Probe, Protocol, Scaling, Score, Target};
use serde::Serialize;

use super::Common;
use super::output::Output;
use super::table::{Table, count, figure};
use fiedler_experiment::{ReadOptions, Result, evaluate_file, read_labels};

/// Extensions of files that are taken as tables of labels.
const TABLES: [&str; 5] = ["csv", "tsv", "txt", "npy", "parquet"];
/// Splits that the summary lists one by one.
const LISTED: usize = 20;

/// Judges embeddings by how well a simple probe predicts labels from them: logistic regression of classes, ridge regression of values.
/// Its weight is chosen on a part of the data that it neither learns from nor is tested on.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Evaluate {
    /// Embeddings: csv, npy or parquet, a row for each node or graph; several files are several seeds
    #[arg(required = true, value_name = "EMBEDDINGS")]
    embeddings: Vec<PathBuf>,
    /// What is to be predicted: a csv, npy or parquet file, or a dataset with labels (a path, a name or a generator)
    #[arg(long, value_name = "FILE|DATASET")]
    labels: String,
    /// Which parts are train, validation and test: public, random, kfold, scaffold or reference
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = Protocol::NAMES, long_help = PROTOCOLS)]
    protocol: Option<String>,
    /// accuracy, micro-f1, macro-f1, roc-auc or rmse [default: accuracy of classes, roc-auc of tasks, rmse of values]
    #[arg(long)]
    metric: Option<Metric>,
    /// Number of random splits or of folds [default: 10]
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// Divide every class in the same shares: true or false [default: true for kfold, false for random]
    #[arg(long, value_name = "BOOL")]
    stratified: Option<bool>,
    /// Which probe: logistic, ridge or adam [default: logistic for classes, ridge for values; adam for the protocol reference]
    #[arg(long, value_name = "NAME")]
    probe: Option<Probe>,
    /// Scaling of embeddings, chosen on validation: standardize (columns, by the training rows), l2-rows, none
    /// [default: standardize,l2-rows]
    #[arg(long, alias = "prepare", value_name = "LIST", value_delimiter = ',')]
    scaling: Option<Vec<Scaling>>,
    /// Values of C of logistic regression to choose from: large is a weak penalty, as in scikit-learn
    #[arg(long = "cs", visible_alias = "C", alias = "weights", value_name = "LIST", value_delimiter = ',')]
    cs: Option<Vec<f64>>,
    /// Values of alpha of ridge regression to choose from: large is a strong penalty, as in scikit-learn
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    alphas: Option<Vec<f64>>,
    /// Format of the dataset in --labels, where looking at it does not tell
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Columns to predict, of a table with a molecule in each row
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    targets: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const PROTOCOLS: &str = "\
Which parts are train, validation and test:
  public     the splits that came with the data, all of them
  random     ten random divisions into 10, 10 and 80 %
  kfold      ten folds; the weight is chosen by cross-validation inside the train part
  scaffold   the split by scaffold that came with OGB's molecules
  reference  what the paper's program does: one split, chosen on 80 % of nodes, trained by Adam
[default: public where there are splits, else kfold for graphs and random for nodes]";

const EXAMPLES: &str = "\
Rows are matched by a first column `id`; without it, by their number where a file of labels has such ids, else by order.
The deviation is that of a sample (n - 1), over all splits of all embeddings. The test part has no say in any choice.

Examples:
  fiedler evaluate embeddings.npy --labels cora
  fiedler evaluate embeddings.csv --labels labels.csv --protocol random --splits 20
  fiedler evaluate seed-*.npy --labels mutag --protocol kfold --json | jq .mean";

/// What `--json` prints: the score, and what it is of.
#[derive(Debug, Serialize)]
struct Report<'a> {
    embeddings: &'a [PathBuf],
    labels: &'a str,
    #[serde(flatten)]
    score: &'a Score,
    settings: &'a EvaluationSettings,
}

impl Evaluate {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let target = self.target(common, output)?;
        let settings = self.settings(&target, common)?;
        output.listen();
        let mut scores = Vec::with_capacity(self.embeddings.len());
        for path in &self.embeddings {
            scores.push(evaluate_file(path, &target, &settings, output)?);
        }
        let score = Score::gather(scores)?;
        if self.json {
            let (embeddings, labels) = (&self.embeddings, &self.labels);
            return output.json(&Report { embeddings, labels, score: &score, settings: &settings });
        }
        output.result(&self.describe(&score))
    }

    fn target(&self, common: &Common, output: &Output) -> Result<Target> {
        let spinner = output.spinner(&format!("reading {}", self.labels));
        let target = if self.is_table() { Ok(read_labels(Path::new(&self.labels))?) } else { self.of_dataset(common) };
        spinner.finish_and_clear();
        target
    }

    fn of_dataset(&self, common: &Common) -> Result<Target> {
        let options = ReadOptions { format: self.format.clone(), columns: self.targets.clone(), ..Default::default() };
        Ok(Target::of(&fiedler_io::open(&self.labels, &options, common.seed())?)?)
    }

    /// Whether the labels are a table; a dataset in a table is told by its format or by the columns to predict.
    fn is_table(&self) -> bool {
        let path = Path::new(&self.labels);
        let name = self.labels.strip_suffix(".gz").unwrap_or(&self.labels);
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        let is_dataset = self.format.is_some() || !self.targets.is_empty() || path.is_dir();
        !is_dataset && extension.is_some_and(|extension| TABLES.contains(&extension.to_ascii_lowercase().as_str()))
    }

    fn settings(&self, target: &Target, common: &Common) -> Result<EvaluationSettings> {
        let mut protocol = match &self.protocol {
            Some(name) => name.parse::<Protocol>()?,
            None => Protocol::usual(target),
        };
        if let Some(splits) = self.splits {
            protocol = protocol.with_splits(splits)?;
        }
        if let Some(stratified) = self.stratified {
            protocol = protocol.with_stratified(stratified)?;
        }
        Ok(EvaluationSettings {
            protocol: Some(protocol),
            probe: self.probe(target),
            metric: self.metric,
            scaling: self.scaling.clone(),
            seed: common.seed(),
            ..Default::default()
        })
    }

    /// The probe that the flags ask for; without any, the usual one.
    fn probe(&self, target: &Target) -> Option<Probe> {
        let logistic = |cs: &Vec<f64>| LogisticSettings { cs: cs.clone(), ..Default::default() }.into();
        let ridge = |alphas: &Vec<f64>| RidgeSettings { alphas: alphas.clone() }.into();
        let penalties = match target.kind() {
            // A grid under the name that it had before serves whichever probe there is.
            LabelKind::Regression => self.alphas.as_ref().or(self.cs.as_ref()).map(ridge),
            _ => self.cs.as_ref().map(logistic),
        };
        penalties.or_else(|| self.probe.clone())
    }

    fn describe(&self, score: &Score) -> String {
        let name = match self.embeddings.as_slice() {
            [one] => one.display().to_string(),
            several => format!("{} sets of embeddings", several.len()),
        };
        let mut table = Table::new(format!("{name}, {}", self.labels));
        let value = |value: f64| match score.metric {
            Metric::Rmse => figure(value),
            _ => format!("{:.2}", 100.0 * value),
        };
        let unit = if score.metric == Metric::Rmse { "" } else { " %" };
        let mean = value(score.mean);
        let told = match score.splits.len() {
            // A deviation of zero would look like certainty.
            1 => format!("{mean}{unit}  (one split, so without a deviation)"),
            splits => {
                format!("{mean} ± {}{unit}  (mean and sample deviation of {splits} splits)", value(score.std))
            }
        };
        table.row(score.metric.name(), told);
        table.row("embeddings", format!("{} rows of {}", count(score.rows), count(score.columns)));
        let mut heading = "protocol";
        for part in score.description.split("; ") {
            table.row(std::mem::take(&mut heading), part);
        }
        for split in score.splits.iter().take(LISTED) {
            table.row(
                split.name.clone(),
                format!(
                    "{}{unit}, {}{} ({}{unit} on validation), {}/{}/{} items, {}",
                    value(split.value),
                    split.scaling,
                    hyperparameters(&split.hyperparameters),
                    value(split.validation),
                    split.train_items,
                    split.validation_items,
                    split.test_items,
                    &split.fingerprint[..8]
                ),
            );
        }
        if score.splits.len() > LISTED {
            table.row("…", format!("{} more; --json has them all", score.splits.len() - LISTED));
        }
        for note in &score.notes {
            table.row("note", note.clone());
        }
        table.to_string()
    }
}

/// What was chosen on validation, as in `, c 10`.
fn hyperparameters(chosen: &std::collections::BTreeMap<String, f64>) -> String {
    chosen.iter().map(|(name, value)| format!(", {name} {value}")).collect()
}
