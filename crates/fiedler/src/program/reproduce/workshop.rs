//! Where runs are made: each in a folder of its own, and none twice.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use fiedler_augment::scheme::Norm;
use fiedler_evaluate::{Stage, evaluate, read_embeddings};
use fiedler_graph::Dense;
use fiedler_learn::Embeddings;
use fiedler_learn::data::Supervision;
use fiedler_learn::run::{Outcome, SavedEncoder, Settings};

use super::answers::Answers;
use super::cell::{Cell, Measure};
use super::judged::Judged;
use super::spectrum;
use crate::program::failure::{Exit, Failure};
use crate::program::interrupt;
use crate::program::ledger::Ledger;
use crate::program::output::Output;
use crate::program::run::data::Data;
use crate::program::run::folder::{Folder, Record, TableFormat};
use crate::program::run::schemes::{Computed, Schemes, Took};
use crate::program::run::{self, fingerprint};
use crate::program::scheme_flags::seeded;

/// A folder of runs that are judged by the rules of one ledger.
pub struct Workshop<'a> {
    pub out: &'a Path,
    pub ledger: Ledger,
    /// Whether embeddings are left out of finished runs.
    pub lean: bool,
    pub output: &'a Output,
    pub schemes: Schemes<'a>,
}

/// What came of a run.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    pub value: f64,
    /// Time that learning and judging took.
    pub seconds: f64,
}

impl Done {
    /// Something that is looked up.
    pub fn at_once(value: f64) -> Done {
        Done { value, seconds: 0.0 }
    }
}

/// Seconds that so many epochs take, by those of a finished run.
fn timed(record: &Record, epochs: usize) -> Option<Done> {
    let result = record.result.as_ref().filter(|result| record.finished && result.epochs > 0)?;
    let seconds = result.training_seconds;
    Some(Done { value: seconds * epochs as f64 / result.epochs as f64, seconds })
}

fn rows(embeddings: &Embeddings) -> Result<Dense, Failure> {
    Ok(Dense::new(embeddings.rows(), embeddings.columns(), embeddings.values().to_vec())?)
}

fn missing(cell: &Cell, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{}: {why}", cell.row), "choose another recipe".to_owned())
}

impl<'a> Workshop<'a> {
    pub fn new(out: &'a Path, ledger: Ledger, output: &'a Output) -> Workshop<'a> {
        Workshop { out, ledger, lean: false, output, schemes: Schemes::new(out.join("schemes"), output) }
    }

    /// What is there already.
    pub fn find(&self, data: &Data, cell: &Cell, seed: u64) -> Result<Option<Done>, Failure> {
        match cell.measure {
            Measure::Score(metric) => {
                let folder = self.folder(data, &cell.settings, seed);
                let wanted = self.ledger.evaluation(seed, metric);
                let Some(judged) = Judged::read(folder.path(), self.ledger, &wanted, &data.labels) else {
                    return Ok(None);
                };
                Ok(Some(judged.done()))
            }
            Measure::TrainingSeconds { epochs } => {
                Ok(self.folder(data, &cell.settings, seed).record()?.and_then(|record| timed(&record, epochs)))
            }
            Measure::SchemeSeconds => Ok(self.took(data, cell, seed).map(|took| Done::at_once(took.seconds))),
            Measure::Norm => Ok(self.norm(data, cell, seed, 0).map(|norm| Done::at_once(norm.before))),
            Measure::RelativeNorm { view } => {
                Ok(self.norm(data, cell, seed, view).map(|norm| Done::at_once(norm.relative())))
            }
            Measure::SpectralChange => Ok(spectrum::read(self.folder(data, &cell.settings, seed).path())),
        }
    }

    /// Whether the encoder of a run is there, whoever has judged it.
    pub fn has_learned(&self, data: &Data, cell: &Cell, seed: u64) -> bool {
        let record = self.folder(data, &cell.settings, seed).record().ok().flatten();
        !cell.settings.method.learns_from_labels() && record.is_some_and(|record| record.finished)
    }

    /// What is there already, or else is made now.
    pub fn make(&self, data: &Data, cell: &Cell, seed: u64) -> Result<Done, Failure> {
        if let Some(done) = self.find(data, cell, seed)? {
            return Ok(done);
        }
        match cell.measure {
            Measure::Score(_) if cell.settings.method.learns_from_labels() => self.judge_answers(data, cell, seed),
            Measure::Score(metric) => {
                let folder = self.folder(data, &cell.settings, seed);
                let (embeddings, training) = self.embed(data, cell, seed, &folder)?;
                let wanted = self.ledger.evaluation(seed, metric);
                let started = Instant::now();
                let watch = |_: Stage| !interrupt::asked();
                let score = evaluate(&embeddings, &data.target, &wanted, &watch)?;
                let seconds = training + started.elapsed().as_secs_f64();
                let judged =
                    Judged { ledger: self.ledger, evaluation: wanted, labels: data.labels.clone(), seconds, score };
                judged.write(folder.path())?;
                Ok(judged.done())
            }
            Measure::TrainingSeconds { epochs } => {
                let folder = self.folder(data, &cell.settings, seed);
                self.learn(data, cell, seed, &folder, None)?;
                let done = folder.record()?.and_then(|record| timed(&record, epochs));
                done.ok_or_else(|| missing(cell, "there was nothing to train"))
            }
            Measure::SchemeSeconds | Measure::Norm | Measure::RelativeNorm { .. } => {
                self.scheme(data, cell, seed)?;
                self.find(data, cell, seed)?.ok_or_else(|| missing(cell, "the scheme looks at no spectrum"))
            }
            Measure::SpectralChange => {
                let scheme = self.scheme(data, cell, seed)?;
                spectrum::measure(self.folder(data, &cell.settings, seed).path(), &data.dataset, &scheme.scheme, seed)
            }
        }
    }

    /// The settings of a seed's run. A scheme is shared by all seeds, but in the reference ledger, whose program computes it anew.
    pub fn seeded(&self, settings: &Settings, seed: u64) -> Settings {
        let mut settings = Settings { seed, ..settings.clone() };
        let of_scheme = if self.ledger == Ledger::Reference { seed } else { 0 };
        settings.scheme.0 = seeded(settings.scheme.0, of_scheme);
        settings
    }

    fn scheme(&self, data: &Data, cell: &Cell, seed: u64) -> Result<Rc<Computed>, Failure> {
        let settings = self.seeded(&cell.settings, seed);
        self.schemes.get(&data.name, &settings.scheme.0, &data.dataset.graphs)
    }

    /// How computing a cell's scheme went, if it has been.
    pub fn took(&self, data: &Data, cell: &Cell, seed: u64) -> Option<Took> {
        let settings = self.seeded(&cell.settings, seed);
        self.schemes.took(&data.name, &settings.scheme.0, &data.dataset.graphs)
    }

    fn norm(&self, data: &Data, cell: &Cell, seed: u64, view: usize) -> Option<Norm> {
        self.took(data, cell, seed)?.report.views.get(view)?.norm
    }

    /// The folder of a run: named after data, method and scheme, and a fingerprint of all that matters.
    fn folder(&self, data: &Data, settings: &Settings, seed: u64) -> Folder {
        let method = &settings.method;
        let plain = self.seeded(settings, 0);
        let of_data = (&data.record.fingerprint, &data.record.features_fingerprint);
        // What learns from labels differs with them and with how they are divided; the rest can be judged in many ways.
        let of_labels = method.learns_from_labels().then_some((&data.labels, self.ledger));
        let key = fingerprint::of(&(plain, of_data, of_labels, self.ledger == Ledger::Reference));
        let kind = match method.views() {
            0 => method.name().to_owned(),
            _ => format!("{}-{}", method.name(), settings.scheme.0.name()),
        };
        let name = format!("{kind}-{}", &key[..10]);
        let path: PathBuf = [&data.name, &name, &format!("seed-{seed}")].iter().collect();
        Folder::new(&self.out.join("runs").join(path))
    }

    /// The embeddings of a run that is finished, or else is finished now; and the time that learning took.
    fn embed(&self, data: &Data, cell: &Cell, seed: u64, folder: &Folder) -> Result<(Dense, f64), Failure> {
        if let Some(record) = folder.record()?.filter(|record| record.finished)
            && let Some(result) = &record.result
        {
            let path = folder.path().join("embeddings.npy");
            if path.exists() {
                return Ok((read_embeddings(&path, &data.target)?.0, result.training_seconds));
            }
            if self.ledger != Ledger::Reference {
                let embeddings = SavedEncoder::read(&folder.encoder())?.embed(&data.dataset)?;
                return Ok((rows(&embeddings)?, result.training_seconds));
            }
            folder.clear()?;
        }
        let outcome = self.learn(data, cell, seed, folder, None)?;
        Ok((rows(&outcome.embeddings)?, outcome.history.seconds))
    }

    /// Learns, going on where an earlier attempt stopped, and leaves a finished run.
    fn learn(
        &self,
        data: &Data,
        cell: &Cell,
        seed: u64,
        folder: &Folder,
        supervision: Option<Supervision<'_>>,
    ) -> Result<Outcome, Failure> {
        let settings = self.seeded(&cell.settings, seed);
        let record = Record::new(data.record.clone(), Some(cell.recipe.clone()), settings);
        let formats: &[TableFormat] = if self.lean { &[] } else { &[TableFormat::Npy] };
        run::learn(record, data, folder, &self.schemes, supervision, formats, self.output)
    }

    /// An encoder that is trained by labels is judged by its own answers, once for each split.
    fn judge_answers(&self, data: &Data, cell: &Cell, seed: u64) -> Result<Done, Failure> {
        let folder = self.folder(data, &cell.settings, seed);
        let evaluation = self.ledger.evaluation(seed, None);
        let mut answers = Answers::new(data, self.ledger, &evaluation)?;
        for at in 0..answers.splits().len() {
            let split = answers.splits()[at].clone();
            let folder = Folder::new(&folder.path().join(format!("split-{at}")));
            if let Some(finished) = answers.read(folder.path(), &split) {
                answers.add(finished);
                continue;
            }
            // Finished without a score that fits: what it learned from has changed since.
            if folder.record()?.is_some_and(|record| record.finished) {
                folder.clear()?;
            }
            let supervision = Supervision { classes: answers.classes(), split: &split };
            let outcome = self.learn(data, cell, seed, &folder, Some(supervision))?;
            let finished = answers.judge(&split, &outcome);
            answers.write(folder.path(), &finished)?;
            answers.add(finished);
        }
        let judged = answers.judged(self.ledger, evaluation, data);
        judged.write(folder.path())?;
        Ok(judged.done())
    }
}
