//! `fiedler reproduce`: the paper's tables, computed anew.

use std::path::{Path, PathBuf};

use fiedler_evaluate::ProtocolPreset;
use fiedler_experiment::tables::{CaseStudy, PartResult, TableKind, TablePart, TablePlan, write_report};
use fiedler_experiment::{Error, ErrorKind, Result};
use fiedler_report::number::several;
use serde_json::json;

use super::Common;
use super::args::{command_line, named};
use super::output::Output;

/// Computes a table of the paper anew, run by run, and puts its printed figures beside ours. What is finished is kept and never computed
/// again; what was stopped goes on where it was.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Reproduce {
    /// Which table
    #[arg(required_unless_present = "report", value_parser = named::<TableKind>())]
    experiment: Option<TableKind>,
    /// Put all tables in the folder into one page of markdown, instead of computing anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["experiment", "datasets", "methods", "protocol", "epochs", "recipes", "set", "json", "list", "part", "quick", "pretraining"])]
    report: Option<PathBuf>,
    /// Datasets, by their names or paths [default: those of the paper]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    datasets: Vec<String>,
    /// Rows of the table, by their names [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    methods: Vec<String>,
    /// Runs of each row on each dataset; --seed is that of the first
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    seeds: u16,
    /// How runs are evaluated [default: random for nodes, folds for graphs]
    #[arg(long, alias = "ledger", value_parser = named::<ProtocolPreset>())]
    protocol: Option<ProtocolPreset>,
    /// Epochs of training, in place of those in the recipes
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Folder of recipes that go before those of the program: NAME.toml, NAME-PROTOCOL.toml, NAME-SCHEME.toml …
    #[arg(long, value_name = "DIR")]
    recipes: Option<PathBuf>,
    /// Change any setting of all recipes, such as --set training.learning-rate=1e-3; `fiedler settings` lists them
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Print the runs of the table as JSON, with their numbers and whether they are finished, and compute nothing
    #[arg(long, conflicts_with = "part")]
    list: bool,
    /// Make only every N-th run, from number K on, and no table; several such processes can share a folder, and the command without this gathers
    #[arg(long, value_name = "K/N", value_parser = str::parse::<TablePart>)]
    part: Option<TablePart>,
    /// Leave embeddings out of finished runs; another protocol makes them again from the encoder
    #[arg(long)]
    lean: bool,
    /// Of transfer and out-of-domain: a small size that ends in minutes, to see the machinery at work
    #[arg(long)]
    quick: bool,
    /// Of transfer and out-of-domain: what encoders are trained on before [default: what the table says]
    #[arg(long, value_name = "DATA")]
    pretraining: Option<String>,
    /// Folder for runs and tables
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
In the folder: runs/DATASET/METHOD-FINGERPRINT/seed-N (as `fiedler embed` leaves them, with score-PROTOCOL.json), schemes that runs share,
and each table as EXPERIMENT-PROTOCOL.csv, .md and .json, refreshed after every run. Several commands can fill one folder, one
after the other: while one is at work there, run.lock keeps the others away (exit code 8). With --part, several processes can work in one
folder at once, on one machine or on many that share a disk, each on runs of its own; a run that another process is at is left to it. Under Slurm:
  sbatch --array=0-15 --requeue --wrap 'fiedler reproduce node --out results --part $SLURM_ARRAY_TASK_ID/16'

Examples:
  fiedler reproduce node --out results
  fiedler reproduce node --datasets cora,citeseer --methods GCL-SPAN --protocol public --out results
  fiedler reproduce ablation --datasets cora --recipes tuned --out results
  fiedler reproduce node --out results --part 0/2 & fiedler reproduce node --out results --part 1/2; wait; fiedler reproduce node --out results
  fiedler reproduce case-study --out pictures
  fiedler reproduce transfer --quick --seeds 3 --out results
  fiedler reproduce --report docs/RESULTS.md --out results";

impl Reproduce {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        match (self.experiment, &self.report) {
            (_, Some(page)) => {
                let tables = write_report(&self.out, page)?;
                output.result(&format!("{tables} tables in {}\n", page.display()))
            }
            (Some(TableKind::CaseStudy), None) => self.study(common, output),
            (Some(kind), None) => self.compute(kind, common, output),
            (None, None) => Err(Error::new(ErrorKind::Usage, "no table is named", None)),
        }
    }

    fn study(&self, common: &Common, output: &Output) -> Result<()> {
        let unused = [
            ("--methods", !self.methods.is_empty()),
            ("--protocol", self.protocol.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--recipes", self.recipes.is_some()),
            ("--set", !self.set.is_empty()),
            ("--list", self.list),
            ("--part", self.part.is_some()),
            ("--quick", self.quick),
            ("--pretraining", self.pretraining.is_some()),
        ];
        if let Some((flag, _)) = unused.into_iter().find(|(_, given)| *given) {
            let message = format!("case-study trains nothing, so that {flag} has no meaning");
            return Err(Error::new(ErrorKind::Usage, message, format!("leave {flag} out")));
        }
        output.listen();
        let datasets = self.datasets.clone();
        let study = CaseStudy { datasets, seed: common.seed(), seeds: self.seeds.into(), out: &self.out };
        let found = study.run(output)?;
        if !self.json {
            return output.result(&found.text());
        }
        let mut value = json!(found);
        value["experiment"] = json!("case-study");
        output.json(&value)
    }

    fn compute(&self, kind: TableKind, common: &Common, output: &Output) -> Result<()> {
        let plan = TablePlan {
            kind,
            datasets: self.datasets.clone(),
            methods: self.methods.clone(),
            seed: common.seed(),
            seeds: self.seeds.into(),
            protocol: self.protocol,
            epochs: self.epochs,
            recipes: self.recipes.clone(),
            assignments: self.set.clone(),
            lean: self.lean,
            quick: self.quick,
            pretraining: self.pretraining.clone(),
            out: self.out.clone(),
            command: command_line(),
        };
        output.listen();
        if self.list {
            return output.json(&json!(plan.runs(output)?));
        }
        if let Some(part) = self.part {
            let result = plan.run_part(part, output).map_err(|error| or_stopped(error, &self.out))?;
            return if self.json { output.json(&json!(result)) } else { output.result(&in_words(part, &result)) };
        }
        let table = plan.run(output).map_err(|error| or_stopped(error, &self.out))?;
        if self.json {
            return output.json(&table.to_json());
        }
        output.result(&table.results().to_text())
    }
}

fn in_words(part: TablePart, result: &PartResult) -> String {
    let PartResult { finished, failed, elsewhere } = result;
    let mut words = format!("part {part}: {} finished", several(*finished, "run"));
    if !failed.is_empty() {
        words += &format!(", {} failed", failed.len());
    }
    if *elsewhere > 0 {
        words += &format!(", {elsewhere} left to other processes");
    }
    words + "; the command without --part makes the table\n"
}

/// How to go on with several runs that were stopped; other failures are as they are.
pub fn or_stopped(error: Error, out: &Path) -> Error {
    if error.kind() != ErrorKind::Interrupted {
        return error;
    }
    let message = format!("stopped; what is finished is in {}", out.display());
    Error::new(ErrorKind::Interrupted, message, format!("the same command goes on: {}", command_line()))
}
