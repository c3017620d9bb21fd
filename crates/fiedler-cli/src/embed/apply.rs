//! An encoder that another run left, on other data.

use std::path::Path;

use fiedler_experiment::run::{Application, RunFolder, read_encoder};
use fiedler_experiment::{BUILT_IN, Error, ErrorKind, Result, Task};

use super::flags::LearnFlags;
use super::{Embed, summary};
use crate::Common;
use crate::output::Output;
use crate::scheme_flags::SchemeFlags;
use crate::table::{Table, count};

impl Embed {
    /// Embeds the data with a saved encoder; nothing is learned.
    pub(super) fn apply(&self, encoder: &Path, common: &Common, output: &Output) -> Result<()> {
        if self.learning != LearnFlags::default() || self.scheme != SchemeFlags::default() {
            let hint =
                "an encoder is applied as it was trained; leave the flags of learning and of schemes out".to_owned();
            return Err(Error::new(ErrorKind::Usage, "--encoder learns nothing", hint));
        }
        let saved = read_encoder(encoder)?;
        let folder = self.out.as_ref().map(|path| RunFolder::new(path));
        if let Some(folder) = folder.as_ref().filter(|_| !self.force) {
            folder.check_free()?;
        }
        let source = self.data.as_deref().unwrap_or(BUILT_IN);
        let task = Task::open(source, &self.reading.options(), common.seed(), output)?;
        let application = Application {
            encoder,
            saved: &saved,
            seed: common.seed(),
            formats: &self.embeddings,
            force: self.force,
            evaluate: !self.no_evaluate,
        };
        let applied = application.run(&task, folder.as_ref(), output)?;
        if self.json {
            return output.json(&applied);
        }
        let mut table = Table::new(format!("{}: embedded by {}", task.dataset.name, encoder.display()));
        let what = if task.dataset.graph().is_some() { "nodes" } else { "graphs" };
        table.row("embeddings", format!("{} {what} × {}", count(applied.rows), count(applied.columns)));
        summary::add_scores(&mut table, &applied.scores, applied.not_judged.as_deref());
        table.row("folder", applied.folder.display().to_string());
        output.result(&table.to_string())
    }
}
