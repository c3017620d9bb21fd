//! `fiedler convert`: a graph in another format.

use std::path::PathBuf;

use fiedler_graph::write;

use super::Common;
use super::failure::Failure;
use super::output::Output;
use super::source::Source;

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
    /// The file to write
    #[arg(value_name = "TO", index = 2, required = true)]
    target: PathBuf,
    #[command(flatten)]
    source: Source,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Convert {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let dataset = self.source.load(common, output)?;
        let written = write::write(&dataset, &self.target, self.force)?;
        for path in written {
            output.note(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}
