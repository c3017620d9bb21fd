//! `fiedler convert`: a graph in another format.

use std::path::PathBuf;

use fiedler_io::write;

use super::Common;
use super::output::Output;
use super::reading::Reading;
use fiedler_experiment::Result;

/// Writes a graph or a set of graphs in another format, chosen by the target's name
#[derive(Debug, clap::Args)]
#[command(after_help = formats())]
pub struct Convert {
    /// A path, - for standard input, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    data: String,
    /// The file to write
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// The format, whatever the name of the file
    #[arg(long = "to", value_name = "FORMAT")]
    target_format: Option<String>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let dataset = self.reading.load(Some(&self.data), common.seed(), output)?;
        // Before anything is written, so that whoever misses something can still choose another format.
        let format = match &self.target_format {
            Some(name) => write::Format::named(name)?,
            None => write::Format::of(&self.to)?,
        };
        let left_out = format.left_out(&dataset);
        for note in &left_out {
            output.note(&format!("note: {note}"));
        }
        let written = write::write_as(&dataset, &self.to, format, &write::WriteOptions { force: self.force })?;
        for path in &written.files {
            output.note(&format!("wrote {}", path.display()));
        }
        for note in written.notes.iter().filter(|note| !left_out.contains(note)) {
            output.note(&format!("note: {note}"));
        }
        Ok(())
    }
}

fn formats() -> String {
    let mut help = String::from("Formats by the target's name:");
    for format in write::FORMATS {
        let sets = if format.holds_sets { " (also sets)" } else { "" };
        let endings = format.endings.join(" ");
        help.push_str(&format!("\n  {endings}, or --to {}{sets}\n      {}", format.name, format.about));
    }
    help.push_str(
        "\n\nWhat a format has no place for is told before it is written.\nExample: fiedler convert cora cora.graphml",
    );
    help
}
