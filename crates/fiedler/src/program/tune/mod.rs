//! `fiedler tune`: looks for good settings, by validation only.

mod blind;
mod files;
mod halving;
mod search;
mod space;
mod trials;

use std::fs;
use std::path::PathBuf;

use clap::ValueEnum;
use fiedler_graph::Error;
use fiedler_learn::data::Level;
use fiedler_learn::run::Settings;
use serde_json::json;

use super::failure::{Exit, Failure};
use super::ledger::Ledger;
use super::output::Output;
use super::reading::Reading;
use super::run::data::Data;
use super::run::schemes::Schemes;
use super::run::{command_line, folder, recipe};
use super::table::Table;
use super::{Common, interrupt};
use blind::Panel;
use halving::SEEDS;
use search::{FIRST_SEED, Search};
use space::{SearchedScheme, Space};
use trials::Trial;

/// Looks for settings that suit a dataset: starts from a recipe, tries changes of it, gives more seeds to the best, and leaves them as a
/// recipe. Labels of the test part are taken away before anything is computed; settings are chosen by the part to choose on.
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
    /// Which parts are learnt from and chosen on [default: folds for graphs, random for nodes]
    #[arg(long, value_enum)]
    ledger: Option<Ledger>,
    /// The scheme whose settings are looked for
    #[arg(long, value_enum, default_value = "opposite")]
    scheme: SearchedScheme,
    /// Recipe to start from [default: the dataset's own where there is one, else citation or graphs]
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// TOML file to start from
    #[arg(long, value_name = "FILE", conflicts_with = "recipe")]
    settings: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
In the folder: best.toml (for `fiedler embed --settings`, or, named after the dataset, for `fiedler reproduce --recipes`), trials.csv (all
that was tried), summary.md (what was searched, and how), runs/ and schemes/.

Examples:
  fiedler tune cora --out cora-tuned
  fiedler tune cora --scheme uniform --budget 100 --out cora-uniform
  fiedler tune edges.csv --features words.csv --labels labels.csv --out mine";

impl Tune {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let dataset = self.reading.load(Some(&self.data), common.seed(), output)?;
        let data = Data::new(self.data.clone(), &self.data, &self.reading, dataset)?;
        let ledger = self.ledger(&data)?;
        let judges = (0..SEEDS[SEEDS.len() - 1] as u64).map(|at| Panel::new(&data.target, ledger, FIRST_SEED, at));
        fs::create_dir_all(&self.out).map_err(Error::io("create", &self.out))?;
        let search = Search {
            space: self.space(&data)?,
            ledger,
            seed: common.seed(),
            rounds: halving::rounds(self.budget.into()),
            out: &self.out,
            command: command_line(),
            output,
            schemes: Schemes::new(self.out.join("schemes"), output),
            judges: judges.collect::<Result<_, _>>()?,
            data: &data,
        };
        interrupt::listen();
        let trials = search.run().map_err(|failure| match failure.exit() {
            Exit::Interrupted => stopped(&self.out),
            _ => failure,
        })?;
        self.tell(&search, &trials, output)
    }

    fn ledger(&self, data: &Data) -> Result<Ledger, Failure> {
        match self.ledger {
            Some(Ledger::Reference) => {
                let hint = "its settings are those of the paper's program; choose random, public or folds".to_owned();
                Err(Failure::new(Exit::Usage, "there is nothing to look for in the ledger reference", hint))
            }
            Some(ledger) => Ok(ledger),
            None if data.target.graphs => Ok(Ledger::Folds),
            None => Ok(Ledger::Random),
        }
    }

    fn space(&self, data: &Data) -> Result<Space, Failure> {
        let base: Settings = match (&self.settings, &self.recipe) {
            (Some(file), _) => folder::read_settings(file)?.0,
            (None, Some(name)) => recipe::settings(name)?,
            (None, None) => match recipe::find(&data.name)? {
                Some((own, _)) => own,
                None => recipe::settings(if data.level() == Level::Graphs { "graphs" } else { "citation" })?,
            },
        };
        Ok(Space {
            scheme: self.scheme,
            graphs: data.level() == Level::Graphs,
            features: data.dataset.features.is_some(),
            epochs: self.epochs,
            base: Settings { seed: 0, ..base },
        })
    }

    fn tell(&self, search: &Search<'_>, trials: &[Trial], output: &Output) -> Result<(), Failure> {
        let Some((best, (mean, std))) = trials.first().and_then(|best| Some((best, best.valid()?))) else {
            let hint = format!("{} says why", self.out.join("trials.csv").display());
            return Err(Failure::new(Exit::Training, "no trial led anywhere", hint));
        };
        let choices: serde_json::Map<String, serde_json::Value> =
            best.choices.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
        if self.json {
            return output.json(&json!({
                "data": search.data.name,
                "metric": search.metric(),
                "ledger": search.ledger,
                "valid": { "mean": mean, "std": std, "seeds": best.found.len() },
                "trial": best.number,
                "trials": trials.len(),
                "runs": trials.iter().map(|trial| trial.found.len()).sum::<usize>(),
                "choices": choices,
                "settings": best.settings,
                "best": files::best(&self.out),
            }));
        }
        let scheme = self.scheme.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
        let mut table = Table::new(format!("{}: settings for the {scheme} scheme", search.data.title));
        let metric = search.metric();
        let seeds = best.found.len();
        table.row(metric.name(), format!("{} to choose on, {seeds} seeds", files::shown(mean, Some(std), metric)));
        table.row("trial", format!("{} of {}", best.number, trials.len()));
        best.choices.iter().for_each(|(name, text)| table.row(*name, text.clone()));
        table.row("recipe", files::best(&self.out));
        output.result(&table.to_string())
    }
}

fn stopped(out: &std::path::Path) -> Failure {
    let message = format!("stopped; what is finished is in {}", out.display());
    Failure::new(Exit::Interrupted, message, format!("the same command goes on: {}", command_line()))
}
