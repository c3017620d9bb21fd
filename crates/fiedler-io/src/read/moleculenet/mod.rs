//! Tables of molecules as MoleculeNet publishes them: one SMILES a row, and what is to be predicted of it.
//!
//! A list of one SMILES a line, with or without a name behind it, is read too. Rows whose SMILES is no molecule are left out
//! and counted, as the papers leave them out.

#[cfg(feature = "molecules")]
mod arena;
mod layout;
#[cfg(feature = "molecules")]
mod rows;
#[cfg(feature = "molecules")]
mod targets;

use fiedler_graph::Dataset;
#[cfg(feature = "molecules")]
use fiedler_graph::{GraphSource, ReadReport};

use super::{Format, ReadOptions};
use crate::error::Result;
use crate::input::{DataSource, File, base_name};

#[cfg(feature = "molecules")]
use arena::Refusals;
use layout::Layout;
#[cfg(feature = "molecules")]
use rows::Rows;

/// Tables and lists of SMILES, one molecule a row.
pub const FORMAT: Format =
    Format { name: "moleculenet", about: "CSV with SMILES, one molecule a row, and its labels", recognizes, read };

/// Endings of names that may hold tables or lists of molecules.
const EXTENSIONS: [&str; 5] = ["csv", "tsv", "txt", "smi", "smiles"];
/// How much of a file is looked at to tell its layout.
const HEAD: usize = 64 << 10;

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let lower = base_name(name).to_ascii_lowercase();
    let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
    let fitting = plain.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension));
    fitting && input.head(name, HEAD).is_ok_and(|head| Layout::of(&head).is_some())
}

fn read(source: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = source.read_named()?;
    let head = file.bytes().get(..HEAD).unwrap_or(file.bytes());
    let layout = Layout::of(head).ok_or_else(|| layout::unknown(&file, head))?;
    dataset(file, &layout, source, options)
}

#[cfg(feature = "molecules")]
fn dataset(file: File, layout: &Layout, source: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let rows = Rows::read(&file, layout)?;
    let place = file.place().clone();
    drop(file);

    let chosen = match &options.sample {
        Some(sample) => sample.rows(rows.len()),
        None => (0..rows.len() as u32).collect(),
    };
    let molecules = arena::assemble(&rows, &chosen)?;
    if molecules.kept.is_empty() {
        let found = match molecules.refusals.first.first() {
            Some((row, why)) => format!("no row with a molecule (line {}, {why})", rows.line(*row)),
            None => "no row with a molecule".to_owned(),
        };
        return Err(place.malformed(found, "a valid SMILES in at least one row").into());
    }
    let mut notes: Vec<String> = molecules.refusals.note(&rows, chosen.len()).into_iter().collect();
    let splits = targets::splits(&rows, &molecules.kept);
    let graph_labels = targets::choose(&rows, &molecules.kept, options, &place, &mut notes)?;

    let mut dataset = Dataset::set(source.stem(), molecules.graphs);
    dataset.features = Some(molecules.atoms);
    dataset.edge_features = Some(molecules.bonds);
    dataset.graph_labels = graph_labels;
    dataset.splits = splits;
    let of_kept = |names: &Vec<String>| molecules.kept.iter().map(|&row| names[row as usize].clone()).collect();
    dataset.graph_source = Some(GraphSource {
        lines: molecules.kept.iter().map(|&row| rows.line(row as usize)).collect(),
        names: rows.names.as_ref().map(of_kept),
    });
    dataset.report =
        ReadReport { edges: molecules.report, skipped: molecules.refusals.count, notes, ..ReadReport::default() };
    Ok(dataset)
}

#[cfg(not(feature = "molecules"))]
fn dataset(file: File, _: &Layout, _: &DataSource, _: &ReadOptions) -> Result<Dataset> {
    let malformed = file.malformed("a file of molecules", "another format, since this build cannot read SMILES");
    Err(malformed.hint("build with the feature `molecules`").into())
}

#[cfg(feature = "molecules")]
impl Refusals {
    /// Which rows were left out and why, for the user.
    fn note(&self, rows: &Rows, of: usize) -> Option<String> {
        let named: Vec<String> =
            self.first.iter().map(|(row, why)| format!("line {} ({why})", rows.line(*row))).collect();
        let more = if self.count as usize > named.len() { " …" } else { "" };
        let count = self.count;
        (count > 0)
            .then(|| format!("{count} of {of} rows hold no molecule and were left out: {}{more}", named.join(", ")))
    }
}
