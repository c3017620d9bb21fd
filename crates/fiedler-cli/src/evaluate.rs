//! `fiedler evaluate`: how good embeddings are, whoever made them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use fiedler_evaluate::probe::{LinearSvmSettings, LogisticSettings, RidgeSettings, SvmSettings};
use fiedler_evaluate::{EvaluationSettings, LabelKind, Metric, Probe, Protocol, Scaling, Score, Target};
use fiedler_io::read;
use fiedler_io::tables::Matching;
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
/// Its penalty is chosen on the validation set, which it neither learns from nor is tested on.
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
    /// Which probe: logistic, ridge, adam, svm (Gaussian kernel) or linear-svm [default: logistic for classes, ridge for values; adam for the protocol reference]
    #[arg(long, value_name = "NAME")]
    probe: Option<Probe>,
    /// Scaling of embeddings, chosen on validation: standardize (columns, by the training rows), l2-rows, none
    /// [default: standardize,l2-rows]
    #[arg(long, alias = "prepare", value_name = "LIST", value_delimiter = ',')]
    scaling: Option<Vec<Scaling>>,
    /// Values of C of logistic regression to choose from: large is a weak penalty, as in scikit-learn
    #[arg(long = "C", visible_alias = "cs", alias = "weights", value_name = "LIST", value_delimiter = ',')]
    cs: Option<Vec<f64>>,
    /// Values of alpha of ridge regression to choose from: large is a strong penalty, as in scikit-learn
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    alphas: Option<Vec<f64>>,
    /// How rows are matched to labels: id, order (row k is label k) or number (the label called k has row k, counted from 0)
    /// [default: by id where both sides have ids, by order where neither has]
    #[arg(long = "match", value_name = "HOW", value_parser = Matching::NAMES, hide_possible_values = true)]
    matching: Option<String>,
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
  kfold      ten folds; the penalty is chosen by cross-validation inside the training set
  scaffold   the split by scaffold that came with OGB's molecules
  reference  what the paper's program does: one split, chosen on 80 % of nodes, trained by Adam
[default: public where there are splits, else kfold for graphs and random for nodes]";

const EXAMPLES: &str = "\
Rows are matched by a column `id`, `node` or `graph`; those of the npy of a run by the ids that lie beside it. Where one side has ids and
the other has none, --match says what to do.
The deviation is that of a sample (n - 1), over all splits of all embeddings. The test set has no say in any choice.

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
    /// Which columns of each file were taken as embeddings, and where ids were found.
    used: &'a [String],
    settings: &'a EvaluationSettings,
}

impl Evaluate {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let target = self.target(common, output)?;
        let settings = self.settings(&target, common)?;
        output.listen();
        let matching = self.matching.as_deref().map(Matching::from_str).transpose()?.unwrap_or_default();
        let (mut scores, mut used) = (Vec::new(), Vec::new());
        for path in &self.embeddings {
            let found = evaluate_file(path, &target, matching, &settings, output)?;
            scores.push(found.score);
            used.push(found.used);
        }
        let score = Score::gather(scores)?;
        if self.json {
            let (embeddings, labels) = (&self.embeddings, &self.labels);
            return output.json(&Report { embeddings, labels, score: &score, used: &used, settings: &settings });
        }
        output.result(&self.describe(&score, &used))
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

    /// Whether the labels are a table; a dataset in a table is told by its format, by the columns to predict, or by having molecules.
    fn is_table(&self) -> bool {
        let path = Path::new(&self.labels);
        if read::recognize(path) == Some("moleculenet") {
            return false;
        }
        let name = self.labels.strip_suffix(".gz").unwrap_or(&self.labels);
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        let is_dataset = self.format.is_some() || !self.targets.is_empty() || path.is_dir();
        !is_dataset && extension.is_some_and(|extension| TABLES.contains(&extension.to_ascii_lowercase().as_str()))
    }

    fn settings(&self, target: &Target, common: &Common) -> Result<EvaluationSettings> {
        let protocol = Protocol::asked(self.protocol.as_deref(), self.splits, self.stratified, target)?;
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
        let of_classes = |cs: &Vec<f64>| match &self.probe {
            Some(Probe::Svm(svm)) => SvmSettings { cs: cs.clone(), ..svm.clone() }.into(),
            Some(Probe::LinearSvm(svm)) => LinearSvmSettings { cs: cs.clone(), ..svm.clone() }.into(),
            _ => LogisticSettings { cs: cs.clone(), ..Default::default() }.into(),
        };
        let ridge = |alphas: &Vec<f64>| RidgeSettings { alphas: alphas.clone() }.into();
        let penalties = match target.kind() {
            // A grid under the name that it had before serves whichever probe there is.
            LabelKind::Regression => self.alphas.as_ref().or(self.cs.as_ref()).map(ridge),
            _ => self.cs.as_ref().map(of_classes),
        };
        penalties.or_else(|| self.probe.clone())
    }

    fn describe(&self, score: &Score, used: &[String]) -> String {
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
        let mut told: Vec<&String> = used.iter().collect();
        told.dedup();
        for (at, used) in told.into_iter().enumerate() {
            table.row(if at == 0 { "embeddings" } else { "" }, format!("{} rows of {used}", count(score.rows)));
        }
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
