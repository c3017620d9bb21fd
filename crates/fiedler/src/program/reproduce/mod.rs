//! `fiedler reproduce`: the paper's tables, computed anew.

mod ablation;
mod answers;
mod case_study;
mod cell;
mod convergence;
mod data;
mod eigenvalues;
mod estimate;
mod experiment;
mod files;
mod graph;
mod judged;
mod node;
mod paper;
mod plan;
mod preanalysis;
mod recipes;
mod render;
mod report;
mod spectrum;
mod strength;
mod table;
mod time;
mod workshop;

use std::path::PathBuf;

use super::failure::{Exit, Failure};
use super::ledger::Ledger;
use super::output::Output;
use super::run::command_line;
use super::run::data::Data;
use super::{Common, interrupt};
use case_study::CaseStudy;
use experiment::Context;
pub use experiment::Experiment;
use paper::Paper;
use plan::Plan;
use recipes::Recipes;
use workshop::Workshop;

/// Computes a table of the paper anew, run by run, and puts its printed figures beside ours. What is finished is kept and never computed
/// again; what was stopped goes on where it was.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Reproduce {
    /// Which table
    #[arg(required_unless_present = "report")]
    experiment: Option<Experiment>,
    /// Put all tables in the folder into one page of markdown, instead of computing anything
    #[arg(long, value_name = "FILE", conflicts_with_all = ["experiment", "datasets", "methods", "ledger", "epochs", "recipes", "json"])]
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
    /// How runs are judged [default: random for nodes, folds for graphs]
    #[arg(long, value_enum)]
    ledger: Option<Ledger>,
    /// Epochs of training, in place of those in the recipes
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Folder of recipes that go before those of the program: NAME.toml, NAME-LEDGER.toml, NAME-SCHEME.toml …
    #[arg(long, value_name = "DIR")]
    recipes: Option<PathBuf>,
    /// Leave embeddings out of finished runs; another ledger makes them again from the encoder
    #[arg(long)]
    lean: bool,
    /// Folder for runs and tables
    #[arg(long, short, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
In the folder: runs/DATASET/METHOD-FINGERPRINT/seed-N (as `fiedler embed` leaves them, with score-LEDGER.json), schemes that runs share,
and each table as EXPERIMENT-LEDGER.csv, .md and .json, refreshed after every run. Several commands can fill one folder.

Examples:
  fiedler reproduce node --out results
  fiedler reproduce node --datasets cora,citeseer --methods GCL-SPAN --ledger public --out results
  fiedler reproduce ablation --datasets cora --recipes tuned --out results
  fiedler reproduce case-study --out pictures
  fiedler reproduce --report docs/RESULTS.md --out results";

impl Reproduce {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let (experiment, page) = (self.experiment, &self.report);
        match (experiment, page) {
            (_, Some(page)) => report::write(&self.out, page, output),
            (Some(Experiment::CaseStudy), None) => self.study(common, output),
            (Some(experiment), None) => self.compute(experiment, common, output),
            (None, None) => Err(Failure::new(Exit::Usage, "no table is named", None)),
        }
    }

    fn study(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let unused = [
            ("--methods", !self.methods.is_empty()),
            ("--ledger", self.ledger.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--recipes", self.recipes.is_some()),
        ];
        if let Some((flag, _)) = unused.into_iter().find(|(_, given)| *given) {
            let message = format!("case-study trains nothing, so that {flag} has no meaning");
            return Err(Failure::new(Exit::Usage, message, format!("leave {flag} out")));
        }
        let study = CaseStudy {
            names: self.names(Experiment::CaseStudy),
            seed: common.seed(),
            seeds: self.seeds,
            out: &self.out,
            json: self.json,
        };
        study.run(output)
    }

    fn names(&self, experiment: Experiment) -> Vec<String> {
        match self.datasets.as_slice() {
            [] => experiment.datasets().iter().map(|&name| name.to_owned()).collect(),
            given => whole_names(given),
        }
    }

    fn compute(&self, experiment: Experiment, common: &Common, output: &Output) -> Result<(), Failure> {
        let paper = Paper::read()?;
        let ledger = self.ledger.unwrap_or_else(|| experiment.ledger());
        let recipes = Recipes { folder: self.recipes.clone(), ledger, epochs: self.epochs };
        let names = self.names(experiment);
        let data = data::load(&names, ledger, &paper, output)?;
        let mut plan = self.plan(experiment, &data, &recipes, &paper, common.seed())?;
        let workshop = Workshop { lean: self.lean, ..Workshop::new(&self.out, ledger, output) };
        interrupt::listen();
        let table = plan.carry_out(&data, &workshop).map_err(|failure| match failure.exit() {
            Exit::Interrupted => self.stopped(),
            _ => failure,
        })?;
        if experiment == Experiment::Convergence {
            for cell in plan.first_cells() {
                let data = &data[cell.data];
                if let Some(took) = workshop.took(data, cell, common.seed()) {
                    convergence::write_steps(&self.out, &data.name, &took.report)?;
                }
            }
        }
        if self.json {
            return output.json(&render::json(&table));
        }
        output.result(&render::text(&table))
    }

    fn plan(
        &self,
        experiment: Experiment,
        data: &[Data],
        recipes: &Recipes,
        paper: &Paper,
        seed: u64,
    ) -> Result<Plan, Failure> {
        let mut cells = Vec::new();
        for (place, data) in data.iter().enumerate() {
            cells.extend(experiment.cells(&Context { data, place, recipes, paper })?);
        }
        self.choose_rows(&mut cells)?;
        let seeds = usize::from(self.seeds);
        Ok(Plan::new(experiment, cells, recipes.ledger, seed, seeds))
    }

    fn choose_rows(&self, cells: &mut Vec<cell::Cell>) -> Result<(), Failure> {
        let is = |row: &str, wanted: &String| row.eq_ignore_ascii_case(wanted);
        for wanted in &self.methods {
            if !cells.iter().any(|cell| is(&cell.row, wanted)) {
                let mut known: Vec<&str> = cells.iter().map(|cell| cell.row.as_str()).collect();
                known.sort_unstable();
                known.dedup();
                return Err(fiedler_graph::Error::unknown_name("method", wanted, known).into());
            }
        }
        if !self.methods.is_empty() {
            cells.retain(|cell| self.methods.iter().any(|wanted| is(&cell.row, wanted)));
        }
        Ok(())
    }

    fn stopped(&self) -> Failure {
        let message = format!("stopped; what is finished is in {}", self.out.display());
        Failure::new(Exit::Interrupted, message, format!("the same command goes on: {}", command_line()))
    }
}

/// Settings of a generator have commas of their own: `sbm:nodes=200,classes=3` is one name.
fn whole_names(pieces: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in pieces {
        match names.last_mut().filter(|last| last.contains(':') && piece.contains('=') && !piece.contains(':')) {
            Some(last) => *last = format!("{last},{piece}"),
            None => names.push(piece.clone()),
        }
    }
    names
}
