//! An encoder that another run left, on other data.

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_graph::Observer;
use fiedler_io::AtomicFiles;
use fiedler_io::read::torch::is_torch;
use fiedler_learn::{Embeddings, SavedEncoder};
use serde::Serialize;

use super::check_formats;
use super::embeddings::{TableFormat, write_embeddings};
use super::folder::{APPLIED, RunFolder};
use super::scores;
use crate::error::{Error, Result};
use crate::import::read_published;
use crate::observe::Tell;
use crate::task::{DataRecord, Task};
use fiedler_evaluate::{QuickProbe, QuickScore};

/// Reads an encoder that a run left, or one that others have published as a PyTorch file.
///
/// # Errors
/// When the file cannot be read, or is no encoder.
pub fn read_encoder(path: &Path) -> Result<SavedEncoder> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    if is_torch(&bytes) {
        return Ok(read_published(path)?.encoder);
    }
    SavedEncoder::from_bytes(&bytes).map_err(Error::in_file(path))
}

/// An encoder to be applied, and where its embeddings go.
pub struct Application<'a> {
    /// The file of the encoder.
    pub encoder: &'a Path,
    /// Its contents.
    pub saved: &'a SavedEncoder,
    /// Seed of the split that the quick probe uses.
    pub seed: u64,
    /// Formats of the embeddings.
    pub formats: &'a [TableFormat],
    /// Whether files that are there already give way.
    pub force: bool,
    /// Whether the embeddings are judged, where there are labels.
    pub evaluate: bool,
}

/// What `applied.json` holds.
#[derive(Debug, Serialize)]
pub struct AppliedEncoder {
    /// Version of the program.
    pub version: &'static str,
    /// The file of the encoder.
    pub encoder: PathBuf,
    /// What was embedded.
    pub data: DataRecord,
    /// Rows of the embeddings.
    pub rows: usize,
    /// Columns of the embeddings.
    pub columns: usize,
    /// How well labels can be predicted.
    pub scores: Vec<QuickScore>,
    /// Why there are no scores, where there are labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
    /// Where everything is.
    pub folder: PathBuf,
}

impl Application<'_> {
    /// Embeds the data; nothing is trained. Without a folder, one is named after the data.
    ///
    /// # Errors
    /// When the data have other features than those the encoder was trained on, or writing fails.
    pub fn run(&self, task: &Task, folder: Option<&RunFolder>, observer: &dyn Observer) -> Result<AppliedEncoder> {
        check_formats(self.formats)?;
        let stage = observer.stage("embedding", &task.record.name);
        let embeddings = self.saved.embed(&task.dataset)?;
        drop(stage);
        if let Some(note) = self.saved.column_note(&task.dataset) {
            observer.note(&format!("note: {note}"));
        }

        let folder = folder.cloned().unwrap_or_else(|| RunFolder::free(&task.dataset.name, "embedded"));
        let _lock = folder.lock()?;
        let path = folder.path().join(APPLIED);
        if !self.force && path.exists() {
            return Err(Error::exists(path));
        }
        let mut targets = AtomicFiles::new(self.force);
        write_embeddings(folder.path(), &embeddings, &task.dataset, self.formats, &mut targets)?;
        targets.finish()?;
        let (scores, not_judged) = self.judge(task, &embeddings, observer)?;
        let applied = AppliedEncoder {
            version: env!("CARGO_PKG_VERSION"),
            encoder: self.encoder.into(),
            data: task.record.clone(),
            rows: embeddings.rows(),
            columns: embeddings.columns(),
            scores,
            not_judged,
            folder: folder.path().into(),
        };
        let mut targets = AtomicFiles::new(self.force);
        targets.write(&path, |file| Ok(serde_json::to_writer_pretty(file, &applied)?))?;
        targets.finish()?;
        Ok(applied)
    }

    /// The scores, or why there are none.
    fn judge(
        &self,
        task: &Task,
        embeddings: &Embeddings,
        observer: &dyn Observer,
    ) -> Result<(Vec<QuickScore>, Option<String>)> {
        let probe = QuickProbe::new(&task.dataset, self.seed).filter(|_| self.evaluate);
        let Some(probe) = probe else { return Ok((Vec::new(), None)) };
        match probe.score("the encoder", &embeddings.to_dense()?, observer) {
            Ok(score) => Ok((vec![score], None)),
            Err(error) => Ok((Vec::new(), Some(scores::why_not(error.into(), &probe, observer)?))),
        }
    }
}
