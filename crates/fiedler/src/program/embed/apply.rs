//! An encoder that another run left, on other data.

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_graph::write::Targets;
use fiedler_learn::run::SavedEncoder;
use serde::Serialize;

use super::flags::LearnFlags;
use super::{Embed, summary};
use crate::program::Common;
use crate::program::failure::{Exit, Failure};
use crate::program::output::Output;
use crate::program::reading::BUILT_IN;
use crate::program::run::folder::{DataRecord, Folder, write_embeddings};
use crate::program::run::score::{Judge, Score};
use crate::program::scheme_flags::SchemeFlags;
use crate::program::table::{Table, count};

/// What `applied.json` and `--json` hold.
#[derive(Debug, Serialize)]
struct Applied<'a> {
    version: &'static str,
    encoder: &'a Path,
    data: DataRecord,
    rows: usize,
    columns: usize,
    scores: Vec<Score>,
    folder: PathBuf,
}

impl Embed {
    /// Embeds the data with a saved encoder; nothing is learned.
    pub(super) fn apply(&self, encoder: &Path, common: &Common, output: &Output) -> Result<(), Failure> {
        if self.learning != LearnFlags::default() || self.scheme != SchemeFlags::default() {
            let hint =
                "an encoder is applied as it was trained; leave the flags of learning and of schemes out".to_owned();
            return Err(Failure::new(Exit::Usage, "--encoder learns nothing", hint));
        }
        let saved = SavedEncoder::read(encoder)?;
        let folder = self.out.as_ref().map(|path| Folder::new(path));
        if let Some(folder) = &folder {
            folder.check_free(self.force)?;
        }
        let source = self.data.as_deref().unwrap_or(BUILT_IN);
        let dataset = self.reading.load(Some(source), common.seed(), output)?;
        let embeddings = saved.embed(&dataset)?;
        let judge = Judge::new(&dataset, common.seed());
        let scores = judge.iter().map(|judge| judge.score("the encoder", &embeddings)).collect::<Result<_, _>>()?;

        let folder = folder.unwrap_or_else(|| Folder::free(&dataset.name, "embedded"));
        fs::create_dir_all(folder.path()).map_err(fiedler_graph::Error::io("create", folder.path()))?;
        let applied = Applied {
            version: env!("CARGO_PKG_VERSION"),
            encoder,
            data: DataRecord::new(source.to_owned(), self.reading.clone(), &dataset),
            rows: embeddings.rows(),
            columns: embeddings.columns(),
            scores,
            folder: folder.path().into(),
        };
        let mut targets = Targets::new(self.force);
        targets.write(&folder.path().join("applied.json"), |file| Ok(serde_json::to_writer_pretty(file, &applied)?))?;
        write_embeddings(folder.path(), &embeddings, &dataset, &self.embeddings, &mut targets)?;
        targets.finish()?;
        if self.json {
            return output.json(&applied);
        }
        let mut table = Table::new(format!("{}: embedded by {}", dataset.name, encoder.display()));
        let what = if dataset.graph().is_some() { "nodes" } else { "graphs" };
        table.row("embeddings", format!("{} {what} × {}", count(applied.rows), count(applied.columns)));
        summary::add_scores(&mut table, &applied.scores);
        table.row("folder", folder.path().display().to_string());
        output.result(&table.to_string())
    }
}
