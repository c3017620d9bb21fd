//! The paper's tables, computed anew, run by run, with its printed figures beside ours. What is finished is kept and never computed again;
//! what was stopped goes on where it was.

mod ablation;
mod baselines;
mod case_study;
mod cell;
mod convergence;
mod data;
mod eigenvalues;
mod encoders;
mod estimate;
mod files;
mod graph;
mod kind;
mod matched;
mod molecules;
mod node;
mod out_of_domain;
mod paper;
mod part;
mod plan;
mod plugin;
mod poisoned;
mod preanalysis;
mod pretraining;
mod recipes;
mod report;
mod robustness;
mod run_score;
mod run_store;
mod spectrum;
mod strength;
mod supervised_scores;
mod table;
mod time;
mod transfer;
mod twins;

use std::path::PathBuf;

use fiedler_graph::Observer;

use crate::error::{Error, ErrorKind, Result};
use crate::named::Named;
use crate::run::RunLock;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;

pub use case_study::{CaseStudy, StudyResult};
use cell::Cell;
use kind::Context;
pub use kind::TableKind;
use paper::Paper;
pub use paper::PrintedFigure;
pub use part::{PartResult, TablePart, TableRun};
use plan::Plan;
use recipes::Recipes;
pub use report::write as write_report;
use run_store::RunStore;
pub use table::{Difference, Entry, Table, Value};

/// The attack that a row names before its comma.
fn attack_of(cell: &Cell) -> String {
    cell.row.split(',').next().unwrap_or_default().to_owned()
}

/// A table to be computed.
#[derive(Debug, Clone)]
pub struct TablePlan {
    /// Which table.
    pub kind: TableKind,
    /// Names, paths or generators; without, the datasets of the paper.
    pub datasets: Vec<String>,
    /// Rows by their names; without, all.
    pub methods: Vec<String>,
    /// Seed of the first run of each row.
    pub seed: u64,
    /// Runs of each row on each dataset.
    pub seeds: usize,
    /// How runs are evaluated; without, as is usual for the table.
    pub protocol: Option<ProtocolPreset>,
    /// Epochs of training, in place of those in the recipes.
    pub epochs: Option<usize>,
    /// Folder of recipes that go before those of the program.
    pub recipes: Option<PathBuf>,
    /// Changes of all settings, as [`settings_tree::assign`](crate::settings_tree::assign) takes them.
    pub assignments: Vec<String>,
    /// Whether embeddings are left out of finished runs.
    pub lean: bool,
    /// Whether the table is made at a size that ends in minutes, where it has one.
    pub quick: bool,
    /// What encoders are trained on before, in a table that does so; without, what it says itself.
    pub pretraining: Option<String>,
    /// Folder for runs and tables.
    pub out: PathBuf,
    /// What is recorded as having asked for the table.
    pub command: String,
}

/// A plan whose data is open.
struct Prepared {
    data: Vec<Task>,
    /// What encoders are trained on before, where they are.
    pretrained_on: Option<Task>,
    plan: Plan,
    recipes: Recipes,
    paper: Paper,
}

impl TablePlan {
    /// Computes what is not there yet, keeping the table's files up to date. The folder is locked meanwhile: scores, schemes and tables are
    /// those of one process.
    ///
    /// # Errors
    /// When another process works in the folder, no dataset can be used, no run succeeds, files cannot be written, or the observer asks to stop; what is finished is kept.
    pub fn run(&self, observer: &dyn Observer) -> Result<Table> {
        let prepared = self.prepare(observer)?;
        let lock = RunLock::make(&self.out)?;
        let observer: &dyn Observer = &lock.refreshing(observer);
        let (data, pretrained_on, mut plan) = self.with_poisoned(prepared, observer)?;
        let store = self.store(pretrained_on.as_ref(), observer);
        let table = plan.carry_out(&data, &store)?;
        if self.kind.writes_steps() {
            for cell in plan.first_cells() {
                let data = &data[cell.data];
                if let Some(timing) = store.timing(data, cell, self.seed) {
                    convergence::write_steps(&self.out, &data.name, &timing.report)?;
                }
            }
        }
        Ok(table)
    }

    /// Makes the runs of one part and writes no table, so that several processes can work in one folder: each run is locked by itself, and
    /// [`TablePlan::run`] gathers them.
    ///
    /// # Errors
    /// As [`TablePlan::run`]; runs that another process is at are left to it.
    pub fn run_part(&self, part: TablePart, observer: &dyn Observer) -> Result<PartResult> {
        let (data, pretrained_on, mut plan) = self.with_poisoned(self.prepare(observer)?, observer)?;
        plan.carry_out_part(part, &data, &self.store(pretrained_on.as_ref(), observer))
    }

    /// The runs of the table, in the order of their numbers; graphs that a table poisons are made before.
    ///
    /// # Errors
    /// When no dataset can be used.
    pub fn runs(&self, observer: &dyn Observer) -> Result<Vec<TableRun>> {
        let (data, pretrained_on, mut plan) = self.with_poisoned(self.prepare(observer)?, observer)?;
        plan.runs(&data, &self.store(pretrained_on.as_ref(), observer))
    }

    /// Opens the data. Names that no row has are refused before anything is made.
    fn prepare(&self, observer: &dyn Observer) -> Result<Prepared> {
        let paper = Paper::read()?;
        let preset = self.preset();
        let recipes = Recipes {
            folder: self.recipes.clone(),
            preset,
            epochs: self.epochs,
            assignments: self.assignments.clone(),
        };
        let data = data::load(&self.names(), self.kind.transform(), preset, &paper, observer)?;
        let pretrained_on = self.pretrained_on(observer)?;
        let plan = self.plan(&data, pretrained_on.as_ref(), &recipes, &paper)?;
        Ok(Prepared { data, pretrained_on, plan, recipes, paper })
    }

    /// What encoders are trained on before, where they are.
    fn pretrained_on(&self, observer: &dyn Observer) -> Result<Option<Task>> {
        match self.kind.pretraining() {
            Some(pretraining) => pretraining.open(self.pretraining.as_deref(), self.quick, observer).map(Some),
            None if self.quick || self.pretraining.is_some() => {
                let flag = if self.quick { "--quick" } else { "--pretraining" };
                let message = format!("{flag} has no meaning for {}", self.kind.name());
                let hint =
                    format!("leave {flag} out; it is for tables of encoders that are trained on other data before");
                Err(Error::new(ErrorKind::Usage, message, hint))
            }
            None => Ok(None),
        }
    }

    /// The data and what is to be done, together with the graphs that the table poisons. Each of these is one file that is whole or not there,
    /// so several processes may make the same.
    fn with_poisoned(&self, prepared: Prepared, observer: &dyn Observer) -> Result<(Vec<Task>, Option<Task>, Plan)> {
        let Prepared { data, pretrained_on, plan, recipes, paper } = prepared;
        let Some(poisons) = self.kind.poisons() else { return Ok((data, pretrained_on, plan)) };
        let wanted = |task: &Task| {
            let context = Context {
                data: task,
                place: 0,
                recipes: &recipes,
                paper: &paper,
                pretrained_on: None,
                quick: self.quick,
            };
            let cells = self.kind.cells(&context)?;
            Ok(cells.iter().any(|cell| self.is_wanted(cell)))
        };
        let data = poisoned::with_poisoned(data, poisons, wanted, self.preset(), self.seed, &self.out, observer)?;
        let plan = self.plan(&data, None, &recipes, &paper)?;
        Ok((data, pretrained_on, plan))
    }

    fn preset(&self) -> ProtocolPreset {
        self.protocol.unwrap_or_else(|| self.kind.protocol())
    }

    fn store<'a>(&'a self, pretrained_on: Option<&'a Task>, observer: &'a dyn Observer) -> RunStore<'a> {
        RunStore { lean: self.lean, pretrained_on, ..RunStore::new(&self.out, self.preset(), observer) }
    }

    fn names(&self) -> Vec<String> {
        self.kind.names(&self.datasets, self.quick)
    }

    fn plan(&self, data: &[Task], pretrained_on: Option<&Task>, recipes: &Recipes, paper: &Paper) -> Result<Plan> {
        let mut cells = Vec::new();
        for (place, data) in data.iter().enumerate() {
            cells.extend(self.kind.cells(&Context {
                data,
                place,
                recipes,
                paper,
                pretrained_on,
                quick: self.quick,
            })?);
        }
        self.choose_rows(&mut cells)?;
        if self.kind.poisons().is_some() {
            // All that an attack did stands together, the clean graph first.
            let attacks: Vec<String> = cells.iter().map(attack_of).collect();
            cells.sort_by_key(|cell| attacks.iter().position(|attack| *attack == attack_of(cell)));
        }
        let pretraining = self.kind.pretraining().zip(pretrained_on);
        let notes =
            pretraining.map_or_else(Vec::new, |(pretraining, task)| pretraining.notes(task, self.quick, &cells));
        let mut plan = Plan::new(self.kind, cells, recipes.preset, self.seed, self.seeds, self.command.clone());
        plan.note(notes);
        if let Some((pretraining, task)) = pretraining {
            plan.set_up(pretraining.setup(task, self.quick));
        }
        Ok(plan)
    }

    fn choose_rows(&self, cells: &mut Vec<Cell>) -> Result<()> {
        for wanted in &self.methods {
            if !cells.iter().any(|cell| self.kind.chooses(&cell.row, std::slice::from_ref(wanted))) {
                let mut known: Vec<&str> = cells.iter().map(|cell| cell.row.as_str()).collect();
                known.sort_unstable();
                known.dedup();
                return Err(fiedler_graph::Error::unknown_name("method", wanted, known).into());
            }
        }
        cells.retain(|cell| self.is_wanted(cell));
        Ok(())
    }

    fn is_wanted(&self, cell: &Cell) -> bool {
        self.methods.is_empty() || self.kind.chooses(&cell.row, &self.methods)
    }
}
