//! Schemes that several runs share: computed once, kept in a folder, the last one in memory.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use fiedler_augment::scheme::Report;
use fiedler_augment::{Scheme, Settings};
use fiedler_graph::write::Targets;
use fiedler_graph::{Error, GraphSet};
use fiedler_learn::trainer;
use serde::{Deserialize, Serialize};

use super::{compute_scheme, fingerprint};
use crate::program::failure::Failure;
use crate::program::output::Output;

/// A folder of schemes.
pub struct Schemes<'a> {
    folder: PathBuf,
    output: &'a Output,
    last: RefCell<Option<(PathBuf, Rc<Computed>)>>,
}

/// A scheme, and what it took.
pub struct Computed {
    pub scheme: Scheme,
    pub seconds: f64,
}

/// What stands beside a scheme's file, and stays where the scheme itself is not kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Took {
    pub seconds: f64,
    pub threads: usize,
    pub report: Report,
}

/// A scheme that computing gives faster than this, in bytes a second, is not worth its place on the disk.
const CHEAP: f64 = 5e6;

impl<'a> Schemes<'a> {
    pub fn new(folder: PathBuf, output: &'a Output) -> Schemes<'a> {
        Schemes { folder, output, last: RefCell::new(None) }
    }

    /// Whether the scheme is there already.
    pub fn has(&self, data: &str, settings: &Settings, graphs: &GraphSet) -> bool {
        self.path(data, settings, graphs).exists()
    }

    /// How computing the scheme went, if it has been.
    pub fn took(&self, data: &str, settings: &Settings, graphs: &GraphSet) -> Option<Took> {
        serde_json::from_str(&fs::read_to_string(beside(&self.path(data, settings, graphs))).ok()?).ok()
    }

    /// The scheme, computed now if it is not there yet.
    pub fn get(&self, data: &str, settings: &Settings, graphs: &GraphSet) -> Result<Rc<Computed>, Failure> {
        let path = self.path(data, settings, graphs);
        if let Some((last, computed)) = &*self.last.borrow()
            && *last == path
        {
            return Ok(computed.clone());
        }
        // A large scheme makes place for the next before that is there.
        self.last.replace(None);
        let computed = match load(&path, settings, graphs) {
            Some(computed) => Rc::new(computed),
            None => Rc::new(self.compute(&path, settings, graphs)?),
        };
        self.last.replace(Some((path, computed.clone())));
        Ok(computed)
    }

    fn compute(&self, path: &Path, settings: &Settings, graphs: &GraphSet) -> Result<Computed, Failure> {
        fs::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let started = Instant::now();
        let scheme = compute_scheme(settings, graphs, self.output)?;
        let seconds = started.elapsed().as_secs_f64();
        scheme.save(path, true)?;
        if fs::metadata(path).is_ok_and(|file| file.len() as f64 > CHEAP * seconds) {
            trainer::remove(path)?;
        }
        let mut targets = Targets::new(true);
        let took = Took { seconds, threads: rayon::current_num_threads(), report: scheme.report().clone() };
        targets.write(&beside(path), |file| Ok(serde_json::to_writer_pretty(file, &took)?))?;
        targets.finish()?;
        Ok(Computed { scheme, seconds })
    }

    fn path(&self, data: &str, settings: &Settings, graphs: &GraphSet) -> PathBuf {
        let key = fingerprint::of(&(settings, graphs.fingerprint()));
        self.folder.join(format!("{data}-{}-{}.safetensors", settings.name(), &key[..10]))
    }
}

fn load(path: &Path, settings: &Settings, graphs: &GraphSet) -> Option<Computed> {
    let took: Took = serde_json::from_str(&fs::read_to_string(beside(path)).ok()?).ok()?;
    let scheme = Scheme::load(path, graphs).ok()?;
    (scheme.settings() == settings).then_some(Computed { scheme, seconds: took.seconds })
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("json")
}
