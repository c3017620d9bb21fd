//! Matrix Market: an adjacency matrix as text, one entry a line, as scipy, SuiteSparse and the Network Repository have it.
//!
//! The banner `%%MatrixMarket matrix coordinate FIELD SYMMETRY` comes first, then comments, then rows, columns and entries, then one entry a line,
//! rows and columns counted from one. A field `pattern` has no values; values of `real` and `integer` are weights, unless all of them are 1. An entry
//! of 0 is no edge. Symmetric matrices list one half, general ones both or one. Node k of the graph is row k + 1, rows without entries included.

use fiedler_graph::{Dataset, MAX_NODES};

use super::numbers::{Row, rows};
use super::sole::sole;
use super::{Format, ReadOptions, duplicates};
use crate::error::Result;
use crate::input::{DataSource, File};

const BANNER: &[u8] = b"%%matrixmarket";
const NAME: &str = "Matrix Market";

/// Matrix Market files.
pub const FORMAT: Format = Format {
    name: "matrix-market",
    about: "Matrix Market (.mtx): an adjacency matrix in coordinates, gz or not",
    recognizes,
    read,
};

fn recognizes(input: &DataSource) -> bool {
    candidates(input).iter().any(|name| {
        let head = input.head(name, BANNER.len());
        head.is_ok_and(|head| head.eq_ignore_ascii_case(BANNER))
    })
}

/// The file that the path names, or every one of its folder that is called so.
fn candidates(input: &DataSource) -> Vec<String> {
    if let Some(name) = input.file_name() {
        return vec![name.to_owned()];
    }
    let is_called_so = |name: &String| {
        let name = name.to_ascii_lowercase();
        name.strip_suffix(".gz").unwrap_or(&name).ends_with(".mtx")
    };
    input.names().into_iter().filter(is_called_so).collect()
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = input.read(&sole(input, candidates(input), "NAME.mtx", NAME)?)?;
    let (nodes, pairs, weights) = parse(&file)?;
    let weights = weights.filter(|weights| !options.unweighted && weights.iter().any(|weight| *weight != 1.0));
    if let Some(at) = weights.iter().flatten().position(|weight| *weight <= 0.0) {
        let (row, column) = pairs[at];
        let found = format!("a negative entry in row {}, column {}", row + 1, column + 1);
        let malformed = file.malformed(found, "positive edge weights");
        return Err(malformed.hint("pass --unweighted to read the edges without their weights").into());
    }
    let (graph, edges, note) = duplicates::build(nodes, pairs, weights, options)?;
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    dataset.report.notes.extend(note);
    Ok(dataset)
}

type Parsed = (usize, Vec<(u32, u32)>, Option<Vec<f32>>);

fn parse(file: &File) -> Result<Parsed> {
    let mut lines = rows(file);
    let has_values = banner(&lines.require("the line `%%MatrixMarket matrix coordinate FIELD SYMMETRY`")?)?;
    let mut lines = lines.filter(|row| !row.begins_with(b'%'));
    let Some(mut sizes) = lines.next() else {
        return Err(file.malformed("no line of sizes", "numbers of rows, columns and entries").into());
    };
    let (nodes, columns) = (sizes.natural("the number of rows")?, sizes.natural("the number of columns")?);
    let entries = sizes.natural("the number of entries")? as usize;
    sizes.end("numbers of rows, columns and entries")?;
    if nodes != columns {
        let malformed = sizes.malformed(format!("{nodes} rows and {columns} columns"), "a square adjacency matrix");
        return Err(malformed.hint("a table of edges between two kinds of nodes is read as an edge list").into());
    }
    if nodes as usize > MAX_NODES {
        return Err(sizes.malformed(format!("{nodes} rows"), format!("at most {MAX_NODES}")).into());
    }
    let nodes = file.plausible(nodes.into(), "rows")?;
    // The entries are counted as they come: what the line of sizes claims reserves nothing.
    let (mut pairs, mut values) = (Vec::new(), Vec::new());
    let mut stored = 0usize;
    for mut row in lines {
        let pair = (index(&mut row, nodes, "row")?, index(&mut row, nodes, "column")?);
        let value = if has_values { row.real("the value of an entry")? } else { 1.0 };
        row.end(if has_values { "row, column and value" } else { "row and column" })?;
        stored += 1;
        if stored > entries {
            return Err(row.malformed("one more entry", format!("the {entries} of the line of sizes")).into());
        }
        if value != 0.0 {
            pairs.push(pair);
            values.push(value);
        }
    }
    if stored < entries {
        let malformed = file.malformed(format!("{stored} entries"), format!("the {entries} of the line of sizes"));
        return Err(malformed.hint("the file may be truncated; download it again").into());
    }
    Ok((nodes, pairs, has_values.then_some(values)))
}

/// Whether entries have values.
fn banner(row: &Row) -> Result<bool> {
    let line = row.text().to_ascii_lowercase();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let expected = "%%MatrixMarket matrix coordinate pattern|real|integer general|symmetric";
    let &["%%matrixmarket", "matrix", layout, field, symmetry] = words.as_slice() else {
        return Err(row.malformed(format!("{:?}", shortened(&line)), expected).into());
    };
    if layout != "coordinate" {
        let malformed = row.malformed(format!("the layout {layout}"), "coordinate, one entry a line");
        return Err(malformed
            .hint("write a sparse matrix: scipy.io.mmwrite(path, scipy.sparse.coo_array(matrix))")
            .into());
    }
    if !matches!(symmetry, "general" | "symmetric") {
        return Err(row.malformed(format!("a {symmetry} matrix"), "a general or symmetric one").into());
    }
    match field {
        "pattern" => Ok(false),
        "real" | "double" | "integer" => Ok(true),
        _ => Err(row.malformed(format!("{field} values"), "pattern, real or integer").into()),
    }
}

/// An index counted from one, as a node counted from zero.
fn index(row: &mut Row, nodes: usize, of: &str) -> Result<u32> {
    let index = row.natural(&format!("a {of}"))?;
    match index.checked_sub(1) {
        Some(node) if (node as usize) < nodes => Ok(node),
        _ => Err(row.malformed(format!("{of} {index}"), format!("a {of} from 1 to {nodes}")).into()),
    }
}

fn shortened(line: &str) -> String {
    line.chars().take(60).collect()
}
