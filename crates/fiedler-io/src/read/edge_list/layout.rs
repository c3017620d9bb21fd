//! How an edge list is laid out, told from its first lines.

use std::borrow::Cow;

use super::super::ReadOptions;
use super::super::separated::{Separator, data_lines, sample, whole_number};
use crate::error::Result;
use crate::input::File;

/// As much of a file as is looked at; whole lines of it.
const SAMPLE_BYTES: usize = 1 << 18;

const SOURCES: [&str; 12] =
    ["source", "src", "from", "u", "node1", "node_1", "node1id", "id1", "id_1", "fromnodeid", "from_node", "start"];
const TARGETS: [&str; 14] = [
    "target",
    "dst",
    "dest",
    "destination",
    "to",
    "v",
    "node2",
    "node_2",
    "node2id",
    "id2",
    "id_2",
    "tonodeid",
    "to_node",
    "end",
];
const WEIGHTS: [&str; 3] = ["weight", "weights", "w"];
const TIMES: [&str; 5] = ["time", "timestamp", "date", "datetime", "unixtime"];

/// Seconds since 1970 that can be a date: 1985 to 2128.
pub(crate) const UNIX_TIMES: std::ops::Range<f64> = 5e8..5e9;

/// Where a line's weight stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    None,
    Column(usize),
    /// In a Python dictionary after the two ends, as networkx writes it.
    Dictionary,
}

/// How the lines of an edge list are laid out.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    /// The header's line, counted from one.
    pub(super) header: Option<u64>,
    pub(super) source: usize,
    pub(super) target: usize,
    /// The column that merely counts the lines, as pandas writes it.
    index: Option<usize>,
    pub(super) weight: Weight,
    /// What a user should know of the way the file was understood.
    pub(super) notes: Vec<String>,
}

impl Layout {
    pub(super) fn of(file: &File, options: &ReadOptions) -> Result<Layout> {
        let text = first_lines(file.bytes());
        if text.starts_with("%%MatrixMarket") {
            let malformed = file.malformed_at(1, "a Matrix Market file", "an edge list");
            return Err(malformed.hint("pass --format matrix-market, or no format").into());
        }
        let lines = sample(&text);
        let separator = Separator::of(&lines);
        let rows: Vec<Vec<Cow<str>>> = lines.iter().map(|line| separator.split(line).collect()).collect();
        let mut layout = Layout {
            separator,
            header: None,
            source: 0,
            target: 1,
            index: None,
            weight: Weight::None,
            notes: Vec::new(),
        };
        let Some((first, others)) = rows.split_first() else { return Ok(layout) };

        let named = |names: &[&str]| first.iter().position(|field| names.contains(&lowercase(field).as_str()));
        let ends = named(&SOURCES).zip(named(&TARGETS)).filter(|(source, target)| source != target);
        let indexed = ends.is_none() && has_index(first, others);
        if let Some((source, target)) = ends {
            (layout.source, layout.target) = (source, target);
        } else if indexed {
            (layout.source, layout.target) = (1, 2);
        }
        layout.index = (indexed || ends.is_some() && first.first().is_some_and(|name| is_index(name))).then_some(0);
        let header = (ends.is_some() || indexed || is_header(first, others)).then_some(first.as_slice());
        if header.is_some() {
            layout.header = data_lines(&text).next().map(|(line, _)| line);
        }
        if !options.unweighted {
            layout.find_weight(header, if header.is_some() { others } else { &rows });
        }
        Ok(layout)
    }

    fn find_weight(&mut self, header: Option<&[Cow<str>]>, rows: &[Vec<Cow<str>>]) {
        let named = header.and_then(|names| names.iter().position(|name| WEIGHTS.contains(&lowercase(name).as_str())));
        if let Some(column) = named.filter(|column| ![self.source, self.target].contains(column)) {
            self.weight = Weight::Column(column);
            return self.note_ignored(header, rows, Some(column));
        }
        let first = usize::from(self.index.is_some());
        if (self.source, self.target) != (first, first + 1) {
            return self.note_ignored(header, rows, None);
        }
        let next = first + 2;
        if rows.first().and_then(|row| row.get(next)).is_some_and(|field| field.starts_with('{')) {
            let weighted = rows.iter().flatten().any(|field| field.contains("'weight'"));
            self.weight = if weighted { Weight::Dictionary } else { Weight::None };
            return;
        }
        let third: Vec<&str> = rows.iter().filter_map(|row| row.get(next)).map(Cow::as_ref).collect();
        let numbers: Vec<f64> = third.iter().filter_map(|field| field.parse().ok()).collect();
        let timed =
            header.and_then(|names| names.get(next)).is_some_and(|name| TIMES.contains(&lowercase(name).as_str()));
        let dates = numbers.iter().all(|number| UNIX_TIMES.contains(number));
        let weighted = !third.is_empty() && numbers.len() == third.len() && !timed && !dates;
        // Of a header that says otherwise, the third column is a weight only if there is nothing else it could be.
        let column = (weighted && header.is_none_or(|names| names.len() == next + 1)).then_some(next);
        if let Some(column) = column {
            self.weight = Weight::Column(column);
        }
        if let Some(name) = header.and_then(|names| names.get(next)).filter(|_| column.is_some()) {
            self.notes.push(format!("column {name:?} was read as edge weights"));
        }
        self.note_ignored(header, rows, column);
    }

    fn note_ignored(&mut self, header: Option<&[Cow<str>]>, rows: &[Vec<Cow<str>>], weight: Option<usize>) {
        let columns = header.map_or_else(|| rows.first().map_or(0, Vec::len), <[_]>::len);
        let used = [Some(self.source), Some(self.target), weight, self.index];
        let ignored: Vec<String> = (0..columns)
            .filter(|column| !used.contains(&Some(*column)))
            .map(|column| match header.and_then(|names| names.get(column)) {
                Some(name) => format!("{name:?}"),
                None => (column + 1).to_string(),
            })
            .collect();
        match ignored.as_slice() {
            [] => {}
            [one] => self.notes.push(format!("column {one} was ignored")),
            several => self.notes.push(format!("columns {} were ignored", several.join(", "))),
        }
    }
}

/// Whether a header is that of pandas' index.
fn is_index(name: &str) -> bool {
    ["", "index", "unnamed: 0"].contains(&lowercase(name).as_str())
}

/// Whether the first column is an index: without a name of its own, and counting the lines.
fn has_index(first: &[Cow<str>], others: &[Vec<Cow<str>>]) -> bool {
    let counts = |(at, row): (usize, &Vec<Cow<str>>)| row.first().is_some_and(|field| *field == at.to_string());
    first.len() > 2 && is_index(&first[0]) && !others.is_empty() && others.iter().enumerate().all(counts)
}

/// Whether a first line of unknown names is a header: words where all lines after it have numbers.
fn is_header(first: &[Cow<str>], others: &[Vec<Cow<str>>]) -> bool {
    let whole = |field: Option<&Cow<str>>| field.is_some_and(|field| whole_number(field).is_some());
    let number = |field: Option<&Cow<str>>| field.is_some_and(|field| field.parse::<f64>().is_ok());
    let ends = |row: &[Cow<str>]| [whole(row.first()), whole(row.get(1))];
    let numbers_below = others.iter().all(|row| ends(row) == [true, true]);
    let weights_below = others.iter().all(|row| number(row.get(2)));
    let word_above = first.get(2).is_some_and(|field| !field.starts_with('{')) && !number(first.get(2));
    !others.is_empty()
        && first.len() > 1
        && ends(first) == [false, false]
        && (numbers_below || weights_below && word_above)
}

/// Whole lines from the start of the file. Comments may be in any encoding, so this is not yet an error.
fn first_lines(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = without_mark(bytes);
    let end = match bytes.get(..SAMPLE_BYTES) {
        Some(start) => start.iter().rposition(|byte| *byte == b'\n').unwrap_or(SAMPLE_BYTES),
        None => bytes.len(),
    };
    String::from_utf8_lossy(&bytes[..end])
}

/// The bytes after a byte order mark, if there is one.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn lowercase(field: &str) -> String {
    field.to_ascii_lowercase()
}
