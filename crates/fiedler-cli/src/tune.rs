//! `fiedler tune`: looks for good settings, by validation only.

use std::path::PathBuf;

use fiedler_evaluate::ProtocolPreset;
use fiedler_experiment::search::{GENERATION, Search, SearchPlan, SearchStart, Trial, best_path, shown};
use fiedler_experiment::tables::TablePart;
use fiedler_experiment::{Result, Task};
use fiedler_report::number::several;
use serde_json::json;

use super::Common;
use super::args::{command_line, named, schemes};
use super::output::Output;
use super::reading::Reading;
use super::reproduce::or_stopped;
use super::table::Table;

/// Looks for settings that suit a dataset: starts from a recipe, tries changes of it, gives more seeds to the best, and leaves them as a
/// recipe. Labels of the test set are taken away before anything is computed; settings are chosen by the validation set.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Tune {
    /// A path, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    data: String,
    /// Folder for trials and results; a search that was stopped goes on there
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Most runs, over all rounds
    #[arg(long, value_name = "RUNS", default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..))]
    budget: u16,
    /// Most epochs of a run
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Which parts are train and validation [default: folds for graphs, random for nodes]
    #[arg(long, alias = "ledger", value_parser = named::<ProtocolPreset>())]
    protocol: Option<ProtocolPreset>,
    /// The method whose settings are looked for [default: that of the recipe]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// The scheme whose settings are looked for [default: that of the recipe]
    #[arg(long, value_name = "NAME", value_parser = schemes())]
    scheme: Option<String>,
    /// Recipe to start from [default: the dataset's own where there is one, else citation-graphs or graphs]
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// TOML file to start from
    #[arg(long, value_name = "FILE", conflicts_with = "recipe")]
    settings: Option<PathBuf>,
    /// Change any setting that the search starts from, such as --set training.patience=20; `fiedler settings` lists them
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Print the runs of the first generation that is not finished as JSON, and compute nothing
    #[arg(long, conflicts_with = "part")]
    list: bool,
    /// Share the search with other processes: of each generation make every N-th run first, from number K on, then those that nobody is at, and write no
    /// results; the command without this gathers
    #[arg(long, value_name = "K/N", value_parser = str::parse::<TablePart>)]
    part: Option<TablePart>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
In the folder: best.toml (for `fiedler embed --settings`, or, named after the dataset, for `fiedler reproduce --recipes`), trials.csv (all
that was tried), summary.md (what was searched, and how), runs/ and schemes/. While a search is under way, run.lock keeps other processes
away (exit code 8). Trials are proposed in generations of eight, each by what those before have found, so that with --part any number of processes
that share the folder come to the same trials; a process waits for runs that others are at, and takes over those of processes that are gone.

Examples:
  fiedler tune cora --out cora-tuned
  fiedler tune cora --scheme uniform-removal --budget 100 --out cora-uniform
  fiedler tune cora --method dgi --out cora-dgi
  fiedler tune cora --out cora-tuned --part 0/2 & fiedler tune cora --out cora-tuned --part 1/2; wait; fiedler tune cora --out cora-tuned
  fiedler tune edges.csv --features words.csv --labels labels.csv --out mine";

impl Tune {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let task = Task::open(&self.data, &self.reading.options(), common.seed(), output)?;
        task.target()?;
        let plan = SearchPlan {
            base: self.start().resolve(&task, output)?,
            protocol: self.protocol,
            seed: common.seed(),
            budget: self.budget.into(),
            epochs: self.epochs,
            out: self.out.clone(),
            command: command_line(),
            // What is only listed is not locked.
            part: self.part.or_else(|| self.list.then(TablePart::whole)),
        };
        let search = Search::new(plan, &task, output)?;
        if self.list {
            return output.json(&json!({ "generation": GENERATION, "runs": search.list()? }));
        }
        output.listen();
        let trials = search.run().map_err(|error| or_stopped(error, &self.out))?;
        if let Some(part) = self.part {
            let runs: usize = trials.iter().map(|trial| trial.found.len()).sum();
            let words = format!(
                "part {part}: all {} are finished; the command without --part writes the results\n",
                several(runs, "run")
            );
            return if self.json { output.json(&json!({ "runs": runs })) } else { output.result(&words) };
        }
        self.tell(&task, &search, &trials, output)
    }

    fn start(&self) -> SearchStart {
        SearchStart {
            file: self.settings.clone(),
            recipe: self.recipe.clone(),
            method: self.method.clone(),
            scheme: self.scheme.clone(),
            assignments: self.set.clone(),
        }
    }

    fn tell(&self, task: &Task, search: &Search<'_>, trials: &[Trial], output: &Output) -> Result<()> {
        let Some((best, (mean, std))) = trials.first().and_then(|best| Some((best, best.valid()?))) else {
            return Err(search.no_result());
        };
        let recipe = best_path(&self.out).display().to_string();
        if let (true, Some(found)) = (self.json, search.to_json(trials)) {
            return output.json(&found);
        }
        let base = search.base();
        let views = base.scheme.as_ref().filter(|_| base.method.as_any().default_views().is_some());
        let views = views.map_or(String::new(), |scheme| format!(" with the {} scheme", scheme.name()));
        let mut table = Table::new(format!("{}: settings for {}{views}", task.title, base.method.name()));
        let metric = search.metric();
        let seeds = best.found.len();
        table.row(metric.name(), format!("{} on the validation set, {seeds} seeds", shown(mean, Some(std), metric)));
        table.row("trial", format!("{} of {}", best.number, trials.len()));
        best.choices.iter().for_each(|choice| table.row(choice.name.clone(), choice.text()));
        table.row("recipe", recipe);
        output.result(&table.to_string())
    }
}
