//! What there is to do, and doing it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Instant;

use super::cell::{Cell, Measure};
use super::estimate::Estimate;
use super::files;
use super::kind::TableKind;
use super::part::{PartResult, TablePart, TableRun};
use super::run_score::RunScore;
use super::run_store::RunStore;
use super::table::{self, Table, Value};
use super::twins;
use crate::error::{Error, ErrorKind, Result};
use crate::named::Named;
use crate::observe::Tell;
use crate::run::timing::in_words;
use crate::task::Task;
use fiedler_evaluate::{LabelKind, ProtocolPreset};
use fiedler_report::number::several;

/// The cells of a table, and the seeds of each.
pub struct Plan {
    experiment: TableKind,
    preset: ProtocolPreset,
    command: String,
    cells: Vec<Cell>,
    jobs: Vec<Job>,
    /// Fingerprints of the splits of each dataset and seed.
    splits: BTreeMap<(usize, u64), Vec<String>>,
    /// What is to be known of the datasets.
    notes: Vec<String>,
    /// What the table is made with beside its datasets; tables that differ in it are not put together.
    setup: String,
}

/// One run that a cell needs.
#[derive(Debug, Clone)]
struct Job {
    cell: usize,
    seed: u64,
    /// Whether what it learns is there already and is only to be judged, as after another preset's run.
    learned: bool,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    ToDo,
    Done(RunScore),
    Failed(String),
    /// Another process is at it.
    Elsewhere,
}

impl Plan {
    pub fn new(
        experiment: TableKind,
        cells: Vec<Cell>,
        preset: ProtocolPreset,
        seed: u64,
        seeds: usize,
        command: String,
    ) -> Plan {
        let of_cell = |(at, cell): (usize, &Cell)| {
            let seeds = cell.seeds(preset, seed, seeds);
            seeds.into_iter().map(move |seed| Job { cell: at, seed, learned: false, state: State::ToDo })
        };
        let jobs = cells.iter().enumerate().flat_map(of_cell).collect();
        Plan {
            experiment,
            preset,
            command,
            cells,
            jobs,
            splits: BTreeMap::new(),
            notes: Vec::new(),
            setup: String::new(),
        }
    }

    /// Adds what is to be known of the table.
    pub fn note(&mut self, notes: Vec<String>) {
        self.notes.extend(notes);
    }

    /// Tells what the table is made with beside its datasets.
    pub fn set_up(&mut self, setup: String) {
        self.setup = setup;
    }

    /// Does what is to be done, keeping the table's files up to date.
    pub fn carry_out(&mut self, data: &[Task], store: &RunStore<'_>) -> Result<Table> {
        let mut estimate = self.find(data, store)?;
        if self.experiment.tells_twins() {
            let seed = self.jobs.first().map_or(0, |job| job.seed);
            let twins = data.iter().map(|data| twins::note(data, self.preset, seed)).collect::<Result<Vec<_>>>()?;
            self.notes.extend(twins);
        }
        self.announce(data, store, &mut estimate)?;
        let mut table = files::write(store.out, self.table(data, store))?;
        self.do_jobs(data, store, &mut estimate, |plan| {
            table = files::write(store.out, plan.table(data, store))?;
            Ok(())
        })?;
        Ok(table)
    }

    /// Does what is to be done of a part, and writes no table.
    pub fn carry_out_part(&mut self, part: TablePart, data: &[Task], store: &RunStore<'_>) -> Result<PartResult> {
        let mut number = 0..;
        self.jobs.retain(|_| number.next().is_some_and(|number| part.has(number)));
        let mut estimate = self.find(data, store)?;
        // Timing a few epochs costs more than it tells of a single run.
        if self.jobs.len() > 1 {
            self.announce(data, store, &mut estimate)?;
        }
        self.do_jobs(data, store, &mut estimate, |_| Ok(()))?;
        let mut result = PartResult::default();
        for job in &self.jobs {
            match &job.state {
                State::Done(_) => result.finished += 1,
                State::Failed(why) => result.failed.push(why.clone()),
                State::Elsewhere | State::ToDo => result.elsewhere += 1,
            }
        }
        Ok(result)
    }

    /// What there is to do, and whether it is done.
    pub fn runs(&mut self, data: &[Task], store: &RunStore<'_>) -> Result<Vec<TableRun>> {
        self.find(data, store)?;
        let of_job = |(number, job): (usize, &Job)| {
            let cell = &self.cells[job.cell];
            let dataset = data[cell.data].title.clone();
            let finished = matches!(job.state, State::Done(_));
            let work = cell.work(&data[cell.data]);
            let scheme = store.missing_start(cell).or_else(|| store.missing_scheme(&data[cell.data], cell, job.seed));
            TableRun { number, dataset, row: cell.row.clone(), seed: job.seed, finished, work, scheme }
        };
        Ok(self.jobs.iter().enumerate().map(of_job).collect())
    }

    /// Finds what is there already, and how long it took.
    fn find(&mut self, data: &[Task], store: &RunStore<'_>) -> Result<Estimate> {
        let mut estimate = Estimate::default();
        for at in 0..self.jobs.len() {
            let Job { cell, seed, .. } = self.jobs[at];
            let of = &self.cells[cell];
            if let Entry::Vacant(vacant) = self.splits.entry((of.data, seed)) {
                vacant.insert(fingerprints(self.preset, &data[of.data], seed)?);
            }
            if let Some(done) = store.find(&data[of.data], of, seed)? {
                estimate.measure(cell, done.seconds);
                self.jobs[at].state = State::Done(done);
            } else {
                self.jobs[at].learned = store.has_learned(&data[of.data], of, seed);
            }
        }
        Ok(estimate)
    }

    /// Does one job after the other, with something to do after each.
    fn do_jobs(
        &mut self,
        data: &[Task],
        store: &RunStore<'_>,
        estimate: &mut Estimate,
        mut after: impl FnMut(&Plan) -> Result<()>,
    ) -> Result<()> {
        for at in 0..self.jobs.len() {
            if !matches!(self.jobs[at].state, State::ToDo) {
                continue;
            }
            store.observer.check("runs", "", at, Some(self.jobs.len()))?;
            self.do_job(at, data, store, estimate)?;
            after(self)?;
        }
        self.check_success()
    }

    /// When nothing came of any run, that is a failure.
    fn check_success(&self) -> Result<()> {
        let why = self.jobs.iter().find_map(|job| match &job.state {
            State::Failed(why) => Some(why),
            _ => None,
        });
        match why.filter(|_| !self.jobs.iter().any(|job| matches!(job.state, State::Done(_)))) {
            Some(why) => Err(Error::new(ErrorKind::Training, format!("every run failed; {why}"), None)),
            None => Ok(()),
        }
    }

    /// One cell of each dataset.
    pub fn first_cells(&self) -> impl Iterator<Item = &Cell> {
        let mut last = None;
        self.cells.iter().filter(move |cell| last.replace(cell.data) != Some(cell.data))
    }

    /// Says how much there is to do, and how long that will take.
    fn announce(&self, data: &[Task], store: &RunStore<'_>, estimate: &mut Estimate) -> Result<()> {
        let to_do: Vec<&Job> = self.to_do().collect();
        let finished = self.jobs.len() - to_do.len();
        let observer = store.observer;
        if to_do.is_empty() {
            observer.note(&format!("all {} are finished", several(self.jobs.len(), "run")));
            return Ok(());
        }
        observer.note(&format!("{} finished, {} to do; timing a few epochs", several(finished, "run"), to_do.len()));
        let mut cells: Vec<usize> = to_do.iter().filter(|job| !job.learned).map(|job| job.cell).collect();
        cells.dedup();
        let mut schemes = 0;
        for at in cells {
            let cell = &self.cells[at];
            let data = &data[cell.data];
            let stage = observer.stage("timing", &format!("timing {} on {}", cell.row, data.title));
            estimate.guess(at, cell, data, self.preset);
            drop(stage);
            schemes += usize::from(store.missing_scheme(data, cell, 0).is_some());
        }
        let schemes = match schemes {
            0 => String::new(),
            schemes => format!(", and {} to compute", several(schemes, "scheme")),
        };
        observer.note(&format!("expected: about {} of training{schemes}", in_words(self.seconds_left(estimate))));
        Ok(())
    }

    fn to_do(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| matches!(job.state, State::ToDo))
    }

    fn seconds_left(&self, estimate: &Estimate) -> f64 {
        self.to_do().filter(|job| !job.learned).map(|job| estimate.of(job.cell)).sum()
    }

    fn do_job(&mut self, at: usize, data: &[Task], store: &RunStore<'_>, estimate: &mut Estimate) -> Result<()> {
        let Job { cell: place, seed, .. } = self.jobs[at];
        let cell = &self.cells[place];
        let data = &data[cell.data];
        let started = Instant::now();
        // Rows that mean the same share a run: the first of them has made it.
        let found = store.find(data, cell, seed)?;
        let (state, word) = match found.map_or_else(|| store.make(data, cell, seed), Ok) {
            Ok(done) => {
                estimate.measure(place, done.seconds);
                let word = format!("{:.2}", done.value);
                (State::Done(done), word)
            }
            // One run that leads nowhere, or does not fit, is no reason to give up the others.
            Err(failure)
                if matches!(
                    failure.kind(),
                    ErrorKind::Training | ErrorKind::Usage | ErrorKind::Memory | ErrorKind::Data
                ) =>
            {
                let why = format!("seed {seed}: {}", failure.in_one_line());
                (State::Failed(why.clone()), why)
            }
            // Somebody works in the folder of this run, such as `fiedler embed --out`; the others can be made all the same.
            Err(failure) if failure.kind() == ErrorKind::Busy => (State::Elsewhere, failure.to_string()),
            Err(failure) => return Err(failure),
        };
        let named = format!("{}, {}, seed {seed}: {word}", data.title, cell.row);
        self.jobs[at].state = state;
        let (left, all) = (self.to_do().count(), self.jobs.len());
        let took = in_words(started.elapsed().as_secs_f64());
        let to_go = match left {
            0 => String::new(),
            _ => format!(", about {} left", in_words(self.seconds_left(estimate))),
        };
        store.observer.note(&format!("{} of {all}: {named} ({took}{to_go})", all - left));
        Ok(())
    }

    fn table(&self, data: &[Task], store: &RunStore<'_>) -> Table {
        let mut rows: Vec<String> = Vec::new();
        let mut datasets: Vec<String> = Vec::new();
        let mut entries = Vec::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let data = &data[cell.data];
            if !rows.contains(&cell.row) {
                rows.push(cell.row.clone());
            }
            if !datasets.contains(&data.title) {
                datasets.push(data.title.clone());
            }
            entries.push(self.entry(at, data, store));
        }
        Table {
            experiment: self.experiment.name().into(),
            title: self.experiment.title().into(),
            protocol: self.preset,
            setup: self.setup.clone(),
            unit: self.experiment.unit().into(),
            rows,
            datasets,
            entries,
            notes: self.experiment.notes().iter().map(|&note| note.to_owned()).chain(self.notes.clone()).collect(),
            floors: self.experiment.floors().iter().map(|&row| row.to_owned()).collect(),
            commands: vec![self.command.clone()],
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// What runs came to on every split, where only their mean counts.
    fn folds(&self, at: usize) -> Vec<Value> {
        let mut folds = Vec::new();
        for job in self.jobs.iter().filter(|job| job.cell == at) {
            if let State::Done(done) = &job.state {
                let of_fold = |(split, &value)| Value { seed: job.seed, split, value };
                folds.extend(done.folds.iter().enumerate().map(of_fold));
            }
        }
        folds
    }

    fn entry(&self, at: usize, data: &Task, store: &RunStore<'_>) -> table::Entry {
        let cell = &self.cells[at];
        let (mut values, mut failed, mut splits) = (Vec::new(), Vec::new(), Vec::new());
        let mut intervals = Vec::new();
        for job in self.jobs.iter().filter(|job| job.cell == at) {
            if let State::Done(done) = &job.state {
                intervals.extend(done.interval);
            }
            match &job.state {
                State::Done(done) if done.splits.is_empty() => {
                    values.push(Value { seed: job.seed, split: 0, value: done.value });
                }
                State::Done(done) => {
                    let of_split = |(split, &value)| Value { seed: job.seed, split, value };
                    values.extend(done.splits.iter().enumerate().map(of_split));
                }
                State::Failed(why) => failed.push(why.clone()),
                State::Elsewhere => failed.push(format!("seed {}: another process is at it", job.seed)),
                State::ToDo => {}
            }
            if matches!(cell.measure, Measure::Score(_)) {
                splits.extend(self.splits.get(&(cell.data, job.seed)).into_iter().flatten().cloned());
            }
        }
        splits.dedup();
        let features = data.record.features_fingerprint.as_deref().unwrap_or("none");
        table::Entry {
            dataset: data.title.clone(),
            row: cell.row.clone(),
            recipe: cell.recipe.clone(),
            about: cell.about.clone(),
            settings: store.settings_key(cell),
            judged: match cell.measure {
                Measure::Score(_) => data.labelled().map_or(String::new(), |target| self.preset.describe(target)),
                _ => "nothing is evaluated".into(),
            },
            data: format!("{} {features}", data.record.fingerprint),
            splits,
            values,
            paper: cell.paper,
            against: cell.against.clone(),
            lower_is_better: data.labelled().is_some_and(|target| target.kind() == LabelKind::Regression),
            folds: self.folds(at),
            interval: table::mean_interval(&intervals),
            test_to_train: self.preset.test_to_train(),
            failed,
        }
    }
}

/// The splits that a seed is judged on, in short.
fn fingerprints(preset: ProtocolPreset, data: &Task, seed: u64) -> Result<Vec<String>> {
    let splits = preset.protocol().splits(data.target()?, preset.evaluation(seed, None).seed)?;
    Ok(splits.iter().map(|split| split.fingerprint()[..8].to_owned()).collect())
}
