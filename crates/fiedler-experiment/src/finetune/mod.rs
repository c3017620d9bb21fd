//! Fine-tuning: the encoder of another run, trained further by labels, on every split of a protocol and for several seeds.
//!
//! Every seed and split is a run in a folder of its own, `seed-N/split-K`, as [`run`](crate::run) makes them; so checkpoints, locks and
//! files are theirs. [`FinetunePlan::check`] refuses before anything is written, [`CheckedFinetune::fit`] does the rest and leaves
//! `finetune.json`, the encoder of the best run, and a page.

mod record;
mod start;

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_evaluate::{Metric, Protocol, SupervisedScores};
use fiedler_graph::{Dense, Labels, Observer, Split};
use fiedler_learn::Supervision;
use fiedler_learn::run::Settings;

pub use record::{FinetuneRecord, FinetuneScore, FinetunedRun, PlanRecord, RECORD};
pub use start::Start;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::pages;
use crate::run::{ENCODER, Existing, PAGE, RunFolder, RunPlan, TableFormat, remove};
use crate::task::Task;

/// What came of a run of one seed and split, in its folder.
const SCORE: &str = "score.json";

/// What a fine-tuning is to be.
#[derive(Clone)]
pub struct FinetunePlan<'a> {
    /// The data; [`Start::align`] has put its features in order.
    pub task: &'a Task,
    /// Where the encoder comes from.
    pub start: &'a Start,
    /// All settings: those of [`Start::settings`], changed or not. The seed is the first.
    pub settings: Settings,
    /// Which items are train, validation and test.
    pub protocol: Protocol,
    /// Share of the training set whose labels are used, every class alike.
    pub label_fraction: f64,
    /// Number of seeds: weights of the head, order of batches and, where they are drawn, splits differ with them.
    pub seeds: usize,
    /// Whether a page is left in the folder.
    pub page: bool,
}

/// A plan that has been checked against its data.
pub struct CheckedFinetune<'a> {
    plan: FinetunePlan<'a>,
    /// The splits of each seed, with labels of the share only.
    scores: Vec<SupervisedScores<'a>>,
}

impl<'a> FinetunePlan<'a> {
    /// Refuses what would not work before anything is computed, or a folder touched.
    ///
    /// # Errors
    /// When there are no labels or no splits, a setting is out of its range, or the encoder does not fit the data.
    pub fn check(self) -> Result<CheckedFinetune<'a>> {
        if self.seeds == 0 {
            return Err(Error::new(ErrorKind::Usage, "there is no seed to run", "ask for at least one".to_owned()));
        }
        let target = self.task.target()?;
        let first = self.settings.seed;
        if first.checked_add(self.seeds as u64).is_none() {
            let hint = "ask for fewer seeds, or begin with a smaller one".to_owned();
            return Err(Error::new(
                ErrorKind::Usage,
                format!("there are no {} seeds from {first} on", self.seeds),
                hint,
            ));
        }
        let scores = (first..first + self.seeds as u64)
            .map(|seed| {
                SupervisedScores::new(target, self.protocol, seed)?.with_label_fraction(self.label_fraction, seed)
            })
            .collect::<fiedler_evaluate::Result<Vec<_>>>()?;
        // What cannot be judged in the end is refused before anything is trained.
        let rows = target.labels.len();
        let columns = match &target.labels {
            Labels::Classes(classes) => classes.count(),
            Labels::MultiLabel(tasks) => tasks.names().len(),
            Labels::Regression(values) => values.names().len(),
        };
        let nothing = Dense::new(rows, columns, vec![0.0; rows * columns])?;
        for scores in &scores {
            for split in scores.splits() {
                scores.score(split, &nothing)?;
            }
        }
        let checked = CheckedFinetune { plan: self, scores };
        for (seed, scores) in (first..).zip(&checked.scores) {
            for split in scores.splits() {
                checked.run_plan(seed, scores, split).check()?;
            }
        }
        Ok(checked)
    }
}

impl<'a> CheckedFinetune<'a> {
    /// The splits of each seed.
    pub fn splits(&self) -> impl Iterator<Item = &[Split]> {
        self.scores.iter().map(SupervisedScores::splits)
    }

    fn run_plan<'b>(&'b self, seed: u64, scores: &SupervisedScores<'b>, split: &'b Split) -> RunPlan<'b> {
        let settings = Settings { seed, ..self.plan.settings.clone() };
        RunPlan {
            supervision: Some(Supervision { labels: scores.labels(), split }),
            initial: self.plan.start.weights(),
            formats: &[TableFormat::Npy],
            ..RunPlan::new(self.plan.task, settings)
        }
    }

    /// Trains every seed and split that is not finished yet, in a folder that is locked meanwhile.
    ///
    /// # Errors
    /// When another process works in the folder, it holds what may not be replaced or is something else than was started, computing or
    /// writing fails, or the observer asks to stop; it can be resumed then.
    pub fn fit(self, out: &Path, existing: Existing, observer: &dyn Observer) -> Result<FinetuneRecord> {
        let folder = RunFolder::new(out);
        check_free(out, existing)?;
        let lock = folder.lock()?;
        let observer: &dyn Observer = &lock.refreshing(observer);
        check_free(out, existing)?;
        folder.sweep()?;
        let FinetunePlan { task, start, settings, protocol, label_fraction, seeds, .. } = &self.plan;
        let plan = PlanRecord {
            settings: settings.clone(),
            protocol: *protocol,
            label_fraction: *label_fraction,
            seeds: *seeds,
            labels: task.labels_fingerprint().to_owned(),
        };
        let mut record = FinetuneRecord::new(start.run().map(Path::to_owned), task.record.clone(), plan);
        if existing == Existing::Resume
            && let Some(before) = FinetuneRecord::read(out)?
        {
            before.check_same(&record)?;
        }
        if existing == Existing::Replace && FinetuneRecord::read(out)?.is_some() {
            clear(out)?;
        }
        record.write(out)?;
        let total: usize = self.splits().map(<[Split]>::len).sum();
        for (seed, scores) in (settings.seed..).zip(&self.scores) {
            for (at, split) in scores.splits().iter().enumerate() {
                let name: PathBuf = [format!("seed-{seed}"), format!("split-{at}")].iter().collect();
                observer.check("fine-tuning", &name.display().to_string(), record.runs.len(), Some(total))?;
                let done = self.one(seed, scores, split, out, &name, existing, observer)?;
                record.runs.push(done);
                record.write(out)?;
            }
        }
        self.finish(record, out, observer)
    }

    /// The run of a seed and a split: found, or made now.
    #[allow(clippy::too_many_arguments)]
    fn one(
        &self,
        seed: u64,
        scores: &SupervisedScores<'_>,
        split: &Split,
        out: &Path,
        name: &Path,
        existing: Existing,
        observer: &dyn Observer,
    ) -> Result<FinetunedRun> {
        let folder = RunFolder::new(&out.join(name));
        let path = folder.path().join(SCORE);
        let found = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<FinetunedRun>(&text).ok());
        let is_same = |run: &FinetunedRun| run.score.fingerprint == split.fingerprint();
        if let Some(found) = found.filter(|run| existing == Existing::Resume && is_same(run)) {
            return Ok(found);
        }
        remove(&path)?;
        // Finished without a score: it was stopped in between, and what it predicts is there to be trained again quickly or found.
        let finished = folder.record()?.is_some_and(|record| record.finished);
        let existing = if finished { Existing::Replace } else { existing };
        let made = self.run_plan(seed, scores, split).check()?.fit(&folder, existing, observer)?;
        let history = &made.outcome.history;
        let run = FinetunedRun {
            seed,
            folder: name.to_owned(),
            score: scores.score(split, &made.outcome.embeddings.to_dense()?)?,
            epochs: history.losses.len(),
            kept_epoch: made.record.result.as_ref().and_then(|result| result.embedded_epoch),
            seconds: history.seconds,
        };
        let mut files = fiedler_io::AtomicFiles::new(true);
        files.write(&path, |file| Ok(serde_json::to_writer_pretty(file, &run)?))?;
        files.finish()?;
        Ok(run)
    }

    fn finish(&self, mut record: FinetuneRecord, out: &Path, observer: &dyn Observer) -> Result<FinetuneRecord> {
        let labels = &self.plan.task.target()?.labels;
        let description = self.scores.first().map_or(String::new(), |scores| scores.description().to_owned());
        record.score = FinetuneScore::of(&record.runs, Metric::usual(labels), description);
        if let Some(score) = &record.score {
            let best = RunFolder::new(&out.join(&score.best)).encoder();
            let bytes = fs::read(&best).map_err(Error::io("read", best))?;
            let mut files = fiedler_io::AtomicFiles::new(true);
            files.write(&out.join(ENCODER), |file| std::io::Write::write_all(file, &bytes))?;
            files.finish()?;
        }
        record.finished = true;
        record.write(out)?;
        if self.plan.page {
            pages::finetune::leave(out, observer);
        }
        Ok(record)
    }
}

/// Removes what the fine-tuning that gives way has left, or some of it would be taken for that of the next.
fn clear(out: &Path) -> Result<()> {
    let is_numbered = |name: &str, prefix: &str| {
        let number = name.strip_prefix(prefix).filter(|number| !number.is_empty());
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let folders = |of: &Path, prefix: &str| -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(of).map_err(Error::io("read", of))? {
            let entry = entry.map_err(Error::io("read", of))?;
            if entry.path().is_dir() && entry.file_name().to_str().is_some_and(|name| is_numbered(name, prefix)) {
                found.push(entry.path());
            }
        }
        Ok(found)
    };
    for seed in folders(out, "seed-")? {
        for split in folders(&seed, "split-")? {
            fs::remove_dir_all(&split).map_err(Error::io("remove", &split))?;
        }
    }
    remove(&out.join(ENCODER))?;
    remove(&out.join(PAGE))
}

/// Refuses a folder that holds something that may not be replaced.
fn check_free(out: &Path, existing: Existing) -> Result<()> {
    let refuse = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Output, format!("{} holds {what}", out.display()), hint.to_owned()))
    };
    let Some(record) = FinetuneRecord::read(out)? else {
        // What is of another kind is never in the way of a fine-tuning that is asked for by mistake.
        if out.join("run.json").exists() {
            return refuse("a run of `fiedler embed`", "choose another folder");
        }
        if out.join(ENCODER).exists() {
            return refuse("an encoder that no fine-tuning has left", "choose another folder");
        }
        return Ok(());
    };
    match existing {
        Existing::Refuse if record.finished => {
            refuse("a finished fine-tuning already", "choose another folder, or pass --force to replace it")
        }
        Existing::Refuse => refuse(
            "a fine-tuning already that has not come to its end",
            "--resume goes on with it, --force replaces it",
        ),
        _ => Ok(()),
    }
}
