//! Edge lists: one edge a line, csv, tsv or spaces, header or not, weights or not, gz or not; or a parquet file of the same columns.
//!
//! **Lines.** The separator (comma, semicolon, tab or spaces) is told by looking. Blank lines and lines that begin with
//! `#`, `%` or `//` are skipped, so the files of SNAP and KONECT work as they come. Fields may be in double quotes.
//!
//! **Header.** The first line is a header when it names the columns of both ends (`source` and `target`, `from` and
//! `to`, `src` and `dst`, `u` and `v` …), wherever they stand, or when it holds words where all lines after it hold
//! numbers.
//!
//! **Weights.** A column that the header calls `weight`; else the third column, when it holds numbers that are not
//! points in time. Other columns are ignored, and a note says so. A weight that is not a positive finite number is an
//! error. What networkx writes by default, `a b {'weight': 2.0}`, is understood too.
//!
//! **Ids.** When all ids are whole numbers, nodes are numbered in their order; else by first appearance. A whole number
//! is written without leading zeros: `007` is a word.
//!
//! **Nodes without edges.** A comment `# node: NAME` says that a node exists; our own writer uses it for nodes without
//! edges. A file that says so of every node thereby gives their order.
//!
//! **Beside it.** Features in `NAME.features.npy` or `NAME.features.csv` and labels and splits in `NAME.labels.csv`, as our writer puts them there, are read with
//! the list `NAME.csv` unless others are given; a note says so.

mod general;
mod layout;
mod numbering;
mod plain;

use fiedler_graph::{Dataset, Names, PairChunk};

use super::{Format, ReadOptions, duplicates, table, tu};
use crate::error::Result;
use crate::input::{DataSource, base_name};
use layout::Layout;
pub(crate) use layout::UNIX_TIMES;
use plain::Refusal;

/// Edge lists of any separator, with header and weights or without.
pub const FORMAT: Format = Format {
    name: "edge-list",
    about: "edge list: csv, tsv or spaces, header or not, weights or not, gz or not; or parquet",
    recognizes,
    read,
};

/// How a comment begins that says a node exists; its name follows.
pub(crate) const NODE_DIRECTIVE: &str = "# node:";

/// The rest of a comment that says a node exists, whatever its mark and blanks.
pub(super) fn declared_name(comment: &str) -> Option<&str> {
    let text = comment.trim_start();
    let text = text.strip_prefix("//").or_else(|| text.strip_prefix(['#', '%']))?.trim_start();
    let start = text.get(..NODE_WORD.len()).filter(|start| start.eq_ignore_ascii_case(NODE_WORD))?;
    Some(&text[start.len()..])
}

/// What [`declared_name`] looks for.
const NODE_WORD: &str = "node:";

/// What the files are called that belong to an edge list, after its name without extension.
pub(crate) const NPY_FEATURES: &str = ".features.npy";
pub(crate) const CSV_FEATURES: &str = ".features.csv";
pub(crate) const LABELS: &str = ".labels.csv";

const EXTENSIONS: [&str; 10] = ["csv", "tsv", "txt", "edgelist", "edges", "edge", "el", "ncol", "parquet", "pq"];

/// The edges of a file, nodes numbered from zero.
struct Edges {
    nodes: usize,
    names: Option<Names>,
    weighted: bool,
    chunks: Vec<PairChunk>,
}

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let name = base_name(name).to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    // The pairs of a TU set are not all there is of it. KONECT calls its files `out.NAME`.
    !(tu::FORMAT.recognizes)(input)
        && (name.starts_with("out.")
            || name.rsplit_once('.').is_none_or(|(_, extension)| EXTENSIONS.contains(&extension)))
}

/// The file beside the list with the first of these endings that there is.
pub(super) fn beside(input: &DataSource, endings: &[&str]) -> Option<String> {
    let name = input.file_name()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    endings.iter().map(|ending| format!("{stem}{ending}")).find(|beside| input.has(beside) && beside != name)
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = table::as_text(input.read_named()?)?;
    let layout = Layout::of(&file, options)?;
    let edges = match plain::parse::<u32>(file.bytes(), &layout) {
        // The text goes before the graph is built: the two need not be in memory at once.
        Ok(plain) => {
            drop(file);
            plain.number()
        }
        Err(Refusal::Range) => match plain::parse::<i64>(file.bytes(), &layout) {
            Ok(plain) => {
                drop(file);
                plain.number()
            }
            Err(_) => general::parse(file, &layout)?,
        },
        Err(Refusal::Form) => general::parse(file, &layout)?,
    };
    let (graph, report, note) = duplicates::build_chunks(edges.nodes, edges.weighted, edges.chunks, options)?;
    let graph = match edges.names {
        Some(names) => graph.with_names(names)?,
        None => graph,
    };
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = report;
    dataset.report.notes = layout.notes;
    dataset.report.notes.extend(note);
    Ok(dataset)
}
