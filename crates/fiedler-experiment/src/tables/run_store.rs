//! Where runs are made: each in a folder of its own, and none twice.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fiedler_augment::scheme::Norm;
use fiedler_evaluate::evaluate;
use fiedler_graph::{Dense, Observer};
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;
use fiedler_learn::{PretrainedEncoder, Supervision};

use super::cell::{Cell, Measure};
use super::run_score::{RunScore, ScoreRecord};
use super::spectrum;
use super::supervised_scores::SupervisedScores;
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::run::{Existing, RunArtifacts, RunFolder, RunPlan, RunRecord, TableFormat, read_encoder};
use crate::scheme_store::{ComputedScheme, SchemeStore, SchemeTiming};
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;

/// A folder of runs that are evaluated by one protocol.
pub struct RunStore<'a> {
    pub out: &'a Path,
    pub preset: ProtocolPreset,
    /// Whether embeddings are left out of finished runs.
    pub lean: bool,
    /// What encoders are trained on before, where they are.
    pub pretrained_on: Option<&'a Task>,
    pub observer: &'a dyn Observer,
    pub schemes: SchemeStore,
}

/// Seconds that so many epochs take, by those of a finished run.
fn timed(record: &RunRecord, epochs: usize) -> Option<RunScore> {
    let result = record.result.as_ref().filter(|result| record.finished && result.epochs > 0)?;
    let seconds = result.training_seconds;
    Some(RunScore::timed(seconds * epochs as f64 / result.epochs as f64, seconds))
}

/// Seconds that a finished run without training took.
fn fitted(record: &RunRecord) -> Option<RunScore> {
    let result = record.result.as_ref().filter(|result| record.finished && result.epochs == 0)?;
    Some(RunScore::timed(result.training_seconds, result.training_seconds))
}

/// Whether the method learns from labels.
fn is_supervised(settings: &Settings) -> bool {
    matches!(settings.method, MethodSettings::Supervised(_))
}

/// Whether views are the method's own, or given in full: there is no scheme to name.
fn has_own_views(settings: &Settings) -> bool {
    let method = settings.method.as_any();
    let makes_views = method.takes_scheme() || !method.all_views(&[])[0].is_empty();
    settings.views.is_some() || (settings.scheme.is_none() && method.default_views().is_none() && makes_views)
}

fn missing(cell: &Cell, why: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("{}: {why}", cell.row), "choose another recipe".to_owned())
}

impl<'a> RunStore<'a> {
    pub fn new(out: &'a Path, preset: ProtocolPreset, observer: &'a dyn Observer) -> RunStore<'a> {
        RunStore {
            out,
            preset,
            lean: false,
            pretrained_on: None,
            observer,
            schemes: SchemeStore::new(out.join("schemes")),
        }
    }

    /// What is there already.
    pub fn find(&self, data: &Task, cell: &Cell, seed: u64) -> Result<Option<RunScore>> {
        match cell.measure {
            Measure::Score(metric) => {
                let folder = self.folder(data, cell, seed);
                let wanted = self.preset.evaluation(seed, metric);
                let found = ScoreRecord::read(folder.path(), self.preset, &wanted, data.labels_fingerprint());
                Ok(found.map(|found| found.score()))
            }
            Measure::TrainingSeconds { epochs } => {
                Ok(self.folder(data, cell, seed).record()?.and_then(|record| timed(&record, epochs)))
            }
            Measure::FitSeconds => Ok(self.folder(data, cell, seed).record()?.as_ref().and_then(fitted)),
            Measure::SchemeSeconds => Ok(self.timing(data, cell, seed).map(|timing| RunScore::instant(timing.seconds))),
            Measure::Norm => Ok(self.norm(data, cell, seed, 0).map(|norm| RunScore::instant(norm.before))),
            Measure::RelativeNorm { view } => {
                Ok(self.norm(data, cell, seed, view).map(|norm| RunScore::instant(norm.relative())))
            }
            Measure::SpectralChange => Ok(spectrum::read(self.folder(data, cell, seed).path())),
        }
    }

    /// Whether the encoder of a run is there, whoever has evaluated it.
    pub fn has_learned(&self, data: &Task, cell: &Cell, seed: u64) -> bool {
        let record = self.folder(data, cell, seed).record().ok().flatten();
        !is_supervised(&cell.settings) && record.is_some_and(|record| record.finished)
    }

    /// Makes what is not there already.
    pub fn make(&self, data: &Task, cell: &Cell, seed: u64) -> Result<RunScore> {
        match cell.measure {
            Measure::Score(_) if is_supervised(&cell.settings) => self.score_classes(data, cell, seed),
            Measure::Score(metric) => {
                let folder = self.folder(data, cell, seed);
                let (embeddings, training) = self.embed(data, cell, seed, &folder)?;
                let wanted = self.preset.evaluation(seed, metric);
                let started = Instant::now();
                let _stage = self.observer.stage("evaluation", "");
                let score = evaluate(&embeddings, data.target()?, &wanted, self.observer)?;
                let seconds = training + started.elapsed().as_secs_f64();
                let labels = data.labels_fingerprint().to_owned();
                let record = ScoreRecord { protocol: self.preset, evaluation: wanted, labels, seconds, score };
                record.write(folder.path())?;
                Ok(record.score())
            }
            Measure::TrainingSeconds { epochs } => {
                let folder = self.folder(data, cell, seed);
                let made = self.learn(data, cell, seed, &folder, Existing::Resume, None, None)?;
                timed(&made.record, epochs).ok_or_else(|| missing(cell, "there was nothing to train"))
            }
            Measure::FitSeconds => {
                let folder = self.folder(data, cell, seed);
                let made = self.learn(data, cell, seed, &folder, Existing::Resume, None, None)?;
                fitted(&made.record).ok_or_else(|| missing(cell, "it is trained, not fitted"))
            }
            Measure::SchemeSeconds | Measure::Norm | Measure::RelativeNorm { .. } => {
                self.scheme(data, cell, seed)?;
                self.find(data, cell, seed)?.ok_or_else(|| missing(cell, "the scheme looks at no spectrum"))
            }
            Measure::SpectralChange => {
                let scheme = self.scheme(data, cell, seed)?;
                spectrum::measure(self.folder(data, cell, seed).path(), &data.dataset, &scheme.scheme, seed)
            }
        }
    }

    /// The settings of a seed's run. A scheme is shared by all seeds, but in the protocol reference, whose program computes it anew.
    pub fn seeded(&self, settings: &Settings, seed: u64) -> Settings {
        let mut settings = Settings { seed, ..settings.clone() };
        if has_own_views(&settings) {
            return settings;
        }
        let of_scheme = if self.preset == ProtocolPreset::Reference { seed } else { 0 };
        settings.scheme = Some(settings.scheme_or_usual().with_seed(of_scheme));
        settings
    }

    fn scheme(&self, data: &Task, cell: &Cell, seed: u64) -> Result<Arc<ComputedScheme>> {
        let settings = self.seeded(&cell.settings, seed);
        self.schemes.get(data, &settings.scheme_or_usual(), self.observer)
    }

    /// The run of pre-training that a cell starts from, where that is not finished.
    pub fn missing_start(&self, cell: &Cell) -> Option<String> {
        let (start, on) = (cell.start.clone()?, self.pretrained_on?);
        let folder = self.folder(on, &Cell { settings: start, start: None, ..cell.clone() }, 0);
        let finished = folder.record().ok().flatten().is_some_and(|record| record.finished);
        (!finished).then(|| folder.path().display().to_string())
    }

    /// The name of the scheme that the run of a cell needs, where it needs one that is not there.
    pub fn missing_scheme(&self, data: &Task, cell: &Cell, seed: u64) -> Option<String> {
        let settings = self.seeded(&cell.settings, seed);
        let method = cell.settings.method.as_any();
        let of_method = method.default_views().is_some() || (method.takes_scheme() && settings.scheme.is_some());
        let wanted = settings.scheme_or_usual();
        (of_method || cell.measure.is_of_scheme()).then_some(())?;
        (!self.schemes.has(data, &wanted)).then(|| self.schemes.name(data, &wanted))
    }

    /// How computing a cell's scheme went, if it has been.
    pub fn timing(&self, data: &Task, cell: &Cell, seed: u64) -> Option<SchemeTiming> {
        self.schemes.timing(data, &self.seeded(&cell.settings, seed).scheme_or_usual())
    }

    fn norm(&self, data: &Task, cell: &Cell, seed: u64, view: usize) -> Option<Norm> {
        self.timing(data, cell, seed)?.report.views.get(view)?.norm
    }

    /// The folder of a run: named after data, method and scheme, and a fingerprint of all that matters.
    fn folder(&self, data: &Task, cell: &Cell, seed: u64) -> RunFolder {
        let settings = &cell.settings;
        let method = &settings.method;
        let plain = self.seeded(settings, 0);
        let of_data = (&data.record.fingerprint, &data.record.features_fingerprint);
        // What learns from labels differs with them and with how they are divided; the rest can be evaluated in many ways.
        let of_labels = is_supervised(settings).then(|| (data.labels_fingerprint(), self.preset));
        let key = (plain, of_data, of_labels, self.preset == ProtocolPreset::Reference);
        let key = match self.started_from(cell) {
            Some(start) => short_hash(&(key, start)),
            None => short_hash(&key),
        };
        let kind = match method.as_any().takes_scheme() && !has_own_views(settings) {
            false => method.name().to_owned(),
            true => format!("{}-{}", method.name(), settings.scheme_or_usual().name()),
        };
        let kind = match &cell.start {
            Some(start) => format!("{kind}-from-{}", start.method.name()),
            None => kind,
        };
        let name = format!("{kind}-{}", &key[..10]);
        let path: PathBuf = [&data.name, &name, &format!("seed-{seed}")].iter().collect();
        RunFolder::new(&self.out.join("runs").join(path))
    }

    /// A fingerprint of all settings of a cell.
    pub fn settings_key(&self, cell: &Cell) -> String {
        let own = self.seeded(&cell.settings, 0);
        let key = match self.started_from(cell) {
            Some(start) => short_hash(&(own, start)),
            None => short_hash(&own),
        };
        key[..10].to_owned()
    }

    /// What decides the weights that a cell starts from.
    fn started_from(&self, cell: &Cell) -> Option<(Settings, String, Option<String>)> {
        let (start, data) = (cell.start.as_ref()?, self.pretrained_on?);
        Some((self.seeded(start, 0), data.record.fingerprint.clone(), data.record.features_fingerprint.clone()))
    }

    /// The encoder that a cell starts from, trained now if it is not there; one for all seeds and all data.
    fn pretrained(&self, cell: &Cell) -> Result<Option<PretrainedEncoder>> {
        let (Some(start), Some(data)) = (&cell.start, self.pretrained_on) else { return Ok(None) };
        let before = Cell { settings: start.clone(), start: None, ..cell.clone() };
        let folder = self.folder(data, &before, 0);
        if !folder.record()?.is_some_and(|record| record.finished) {
            self.observer.note(&format!("pre-training {} on {}", cell.row, data.title));
            let plan = RunPlan {
                recipe: Some(cell.recipe.clone()),
                schemes: Some(&self.schemes),
                formats: &[],
                observer: self.observer,
                ..RunPlan::new(data, self.seeded(start, 0))
            };
            plan.check()?.fit(&folder, Existing::Resume, self.observer)?;
        }
        Ok(Some(read_encoder(&folder.encoder())?.pretrained()?))
    }

    /// The embeddings of a run that is finished, or else is finished now; and the time that learning took.
    fn embed(&self, data: &Task, cell: &Cell, seed: u64, folder: &RunFolder) -> Result<(Dense, f64)> {
        let mut existing = Existing::Resume;
        if let Some(record) = folder.record()?.filter(|record| record.finished)
            && let Some(result) = &record.result
        {
            let path = folder.path().join("embeddings.npy");
            if path.exists() {
                let embeddings = crate::run::embeddings::read_embeddings(folder.path())?;
                if let Some(embeddings) = embeddings.filter(|dense| dense.rows() == result.rows) {
                    return Ok((embeddings, result.training_seconds));
                }
            }
            if self.preset != ProtocolPreset::Reference {
                let embeddings = read_encoder(&folder.encoder())?.embed(&data.dataset)?;
                return Ok((embeddings.to_dense()?, result.training_seconds));
            }
            existing = Existing::Replace;
        }
        let outcome = self.learn(data, cell, seed, folder, existing, None, None)?.outcome;
        Ok((outcome.embeddings.to_dense()?, outcome.history.seconds))
    }

    #[allow(clippy::too_many_arguments)]
    fn learn(
        &self,
        data: &Task,
        cell: &Cell,
        seed: u64,
        folder: &RunFolder,
        existing: Existing,
        supervision: Option<Supervision<'_>>,
        pretrained: Option<&PretrainedEncoder>,
    ) -> Result<RunArtifacts> {
        let mut settings = self.seeded(&cell.settings, seed);
        if let (MethodSettings::Supervised(method), Some(pretrained)) = (&mut settings.method, pretrained) {
            method.start.clone_from(&pretrained.method(true).start);
        }
        let plan = RunPlan {
            recipe: Some(cell.recipe.clone()),
            supervision,
            initial: pretrained.map(PretrainedEncoder::weights),
            schemes: Some(&self.schemes),
            formats: if self.lean { &[] } else { &[TableFormat::Npy] },
            observer: self.observer,
            ..RunPlan::new(data, settings)
        };
        plan.check()?.fit(folder, existing, self.observer)
    }

    /// An encoder that is trained by labels is scored by the classes that it gives itself, once for each split.
    fn score_classes(&self, data: &Task, cell: &Cell, seed: u64) -> Result<RunScore> {
        let folder = self.folder(data, cell, seed);
        let evaluation = self.preset.evaluation(seed, None);
        let mut scores = SupervisedScores::new(data, self.preset, &evaluation)?;
        let pretrained = self.pretrained(cell)?;
        for at in 0..scores.splits().len() {
            let split = scores.splits()[at].clone();
            let folder = RunFolder::new(&folder.path().join(format!("split-{at}")));
            if let Some(finished) = scores.read(folder.path(), &split) {
                scores.add(finished);
                continue;
            }
            // Finished without a score that fits: what it learned from has changed since.
            let stale = folder.record()?.is_some_and(|record| record.finished);
            let existing = if stale { Existing::Replace } else { Existing::Resume };
            let supervision = Supervision { labels: &data.target()?.labels, split: &split };
            let made = self.learn(data, cell, seed, &folder, existing, Some(supervision), pretrained.as_ref())?;
            let finished = scores.score(&split, &made.outcome)?;
            scores.write(folder.path(), &finished)?;
            scores.add(finished);
        }
        let record = scores.record(self.preset, evaluation)?;
        record.write(folder.path())?;
        Ok(record.score())
    }
}
