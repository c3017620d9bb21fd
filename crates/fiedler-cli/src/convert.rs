//! `fiedler convert`: a graph in another format.

use std::path::PathBuf;

use fiedler_io::write;

use super::Common;
use super::output::Output;
use super::reading::Reading;
use fiedler_experiment::Result;

/// Writes a graph in another format, chosen by the target's extension:
///
///   .csv .tsv .txt .edgelist   edge list (also with .gz)
///   .graphml                   GraphML
///   .npz                       numpy arrays under the gnn-benchmark names
///
/// Example: fiedler convert cora cora.graphml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Convert {
    /// A path, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    data: String,
    /// The file to write
    #[arg(value_name = "TO")]
    target: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let dataset = self.reading.load(Some(&self.data), common.seed(), output)?;
        let written = write::write(&dataset, &self.target, &write::WriteOptions { force: self.force })?;
        for path in &written.files {
            output.note(&format!("wrote {}", path.display()));
        }
        for note in &written.notes {
            output.note(&format!("note: {note}"));
        }
        Ok(())
    }
}
