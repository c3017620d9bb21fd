//! Schemes that several runs share: computed once, kept in a folder, the last one in memory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fiedler_augment::scheme::Report;
use fiedler_augment::{Scheme, SchemeSettings};
use fiedler_graph::{GraphSet, Observer};
use fiedler_io::AtomicFiles;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::observe::Tell;
use crate::run::remove;
use crate::task::Task;
use fiedler_graph::fingerprint::short_hash;

/// A folder of schemes.
pub struct SchemeStore {
    folder: PathBuf,
    last: Mutex<Option<(PathBuf, Arc<ComputedScheme>)>>,
}

/// A scheme, and what it took.
pub struct ComputedScheme {
    /// The scheme.
    pub scheme: Arc<Scheme>,
    /// Seconds for computing it.
    pub seconds: f64,
}

/// What stands beside a scheme's file, and stays where the scheme itself is not kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SchemeTiming {
    /// Seconds for computing it.
    pub seconds: f64,
    /// Threads that worked.
    pub threads: usize,
    /// What the scheme says of itself.
    pub report: Report,
}

/// A scheme that computing gives faster than this, in bytes a second, is not worth its place on the disk.
const CHEAP: f64 = 5e6;

/// Computes a scheme; the observer can stop it.
///
/// # Errors
/// When a setting is out of its range, the computation would exceed its memory, or the observer asks to stop.
pub fn compute_scheme(settings: &SchemeSettings, graphs: &GraphSet, observer: &dyn Observer) -> Result<Scheme> {
    let _stage = observer.stage(fiedler_augment::scheme::STAGE, settings.name());
    Ok(settings.compute(graphs, observer)?)
}

impl SchemeStore {
    /// The schemes in a folder, which need not be there yet.
    pub fn new(folder: PathBuf) -> SchemeStore {
        SchemeStore { folder, last: Mutex::new(None) }
    }

    /// Whether the scheme is there already.
    pub fn has(&self, task: &Task, settings: &SchemeSettings) -> bool {
        self.path(task, settings).exists()
    }

    /// How computing the scheme went, if it has been.
    pub fn timing(&self, task: &Task, settings: &SchemeSettings) -> Option<SchemeTiming> {
        serde_json::from_str(&fs::read_to_string(beside(&self.path(task, settings))).ok()?).ok()
    }

    /// The scheme, computed now if it is not there yet.
    ///
    /// # Errors
    /// As [`compute_scheme`]; and when the folder cannot be written to.
    pub fn get(&self, task: &Task, settings: &SchemeSettings, observer: &dyn Observer) -> Result<Arc<ComputedScheme>> {
        let path = self.path(task, settings);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, computed)) = &*last
            && *known == path
        {
            return Ok(computed.clone());
        }
        // A large scheme makes place for the next before that is there.
        *last = None;
        let graphs = &task.dataset.graphs;
        let computed = match load(&path, settings, graphs) {
            Some(computed) => Arc::new(computed),
            None => Arc::new(self.compute(&path, settings, graphs, observer)?),
        };
        *last = Some((path, computed.clone()));
        Ok(computed)
    }

    fn compute(
        &self,
        path: &Path,
        settings: &SchemeSettings,
        graphs: &GraphSet,
        observer: &dyn Observer,
    ) -> Result<ComputedScheme> {
        fs::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let started = Instant::now();
        let scheme = compute_scheme(settings, graphs, observer)?;
        let seconds = started.elapsed().as_secs_f64();
        save_scheme(&scheme, path)?;
        if fs::metadata(path).is_ok_and(|file| file.len() as f64 > CHEAP * seconds) {
            remove(path)?;
        }
        let mut targets = AtomicFiles::new(true);
        let timing = SchemeTiming { seconds, threads: rayon::current_num_threads(), report: scheme.report().clone() };
        targets.write(&beside(path), |file| Ok(serde_json::to_writer_pretty(file, &timing)?))?;
        targets.finish()?;
        Ok(ComputedScheme { scheme: Arc::new(scheme), seconds })
    }

    /// What the scheme is called here: data, scheme, and a fingerprint of both.
    pub fn name(&self, task: &Task, settings: &SchemeSettings) -> String {
        let key = short_hash(&(settings, &task.record.fingerprint));
        format!("{}-{}-{}", task.name, settings.name(), &key[..10])
    }

    fn path(&self, task: &Task, settings: &SchemeSettings) -> PathBuf {
        self.folder.join(self.name(task, settings) + ".safetensors")
    }
}

fn load(path: &Path, settings: &SchemeSettings, graphs: &GraphSet) -> Option<ComputedScheme> {
    let timing: SchemeTiming = serde_json::from_str(&fs::read_to_string(beside(path)).ok()?).ok()?;
    let scheme = load_scheme(path, graphs).ok()?;
    (scheme.settings() == settings).then_some(ComputedScheme { scheme: Arc::new(scheme), seconds: timing.seconds })
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// Writes a scheme to a file, replacing what is there.
///
/// # Errors
/// When the system refuses.
pub fn save_scheme(scheme: &Scheme, path: &Path) -> Result<()> {
    let bytes = scheme.to_bytes()?;
    let mut files = AtomicFiles::new(true);
    files.write(path, |file| file.write_all(&bytes))?;
    files.finish()?;
    Ok(())
}

/// Reads a scheme for the graphs it was computed for.
///
/// # Errors
/// When the file cannot be read, is no scheme, or the scheme belongs to other graphs.
pub fn load_scheme(path: &Path, graphs: &GraphSet) -> Result<Scheme> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    Scheme::from_bytes(&bytes, graphs).map_err(Error::in_file(path))
}
