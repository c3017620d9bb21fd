//! Which columns of a table are embeddings: never what is to be predicted, and always said.

use std::fmt;

use fiedler_graph::{Dense, Labels};

use super::Items;
use crate::error::Result;
use crate::read::TableFile;
use crate::role;

/// Rows at least, for a column that counts them to be told from one that happens to.
const COUNTED_ROWS: usize = 10;

/// The columns of a file that were taken as embeddings, in words such as ``128 columns, 0 … 127; id column `graph` ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedColumns {
    /// How many.
    pub count: usize,
    /// Headers of the first and the last, where the file has headers.
    pub ends: Option<(String, String)>,
    /// Where ids were found, where rows were matched by them.
    pub ids: Option<String>,
}

impl UsedColumns {
    pub(super) fn of(table: &TableFile, values: &[usize]) -> UsedColumns {
        let ends = table.names().and_then(|names| {
            let header = |at: &usize| names[*at].clone();
            Some((header(values.first()?), header(values.last()?)))
        });
        UsedColumns { count: values.len(), ends, ids: None }
    }
}

impl fmt::Display for UsedColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} column{}", self.count, if self.count == 1 { "" } else { "s" })?;
        match &self.ends {
            Some((first, last)) if self.count > 1 => write!(f, ", {first} … {last}")?,
            Some((only, _)) => write!(f, ", {only}")?,
            None => {}
        }
        match &self.ids {
            Some(ids) => write!(f, "; {ids}"),
            None => write!(f, "; rows by their order"),
        }
    }
}

/// Refuses columns that are called like what is to be predicted.
pub(super) fn check_names(table: &TableFile, values: &[usize], items: Items<'_>) -> Result<()> {
    let Some(names) = table.names() else { return Ok(()) };
    let of_labels = match items.labels {
        Labels::Classes(_) => &[],
        Labels::MultiLabel(tasks) => tasks.names(),
        Labels::Regression(values) => values.names(),
    };
    let has_x = values.iter().any(|&at| names[at].eq_ignore_ascii_case("x"));
    let same = |name: &str| {
        let of_target = items.label_columns.iter().chain(of_labels).any(|label| label.eq_ignore_ascii_case(name));
        // Beside x, y is a coordinate.
        let coordinate = has_x && name.eq_ignore_ascii_case("y");
        !is_number(name) && !coordinate && (of_target || role::is_label(name))
    };
    match values.iter().map(|&at| &names[at]).find(|name| same(name)) {
        Some(name) => Err(refusal(table, &format!("a column {name:?}, which is called like what is to be predicted"))),
        None => Ok(()),
    }
}

/// Refuses columns that are what is to be predicted, whatever they are called. A column that is but one of many numbers, as in arrays and
/// in what is written here, may be part of embeddings that are that good: then it is told.
pub(super) fn check_values(
    table: &TableFile,
    values: &[usize],
    numbers: &Dense,
    items: Items<'_>,
) -> Result<Option<String>> {
    let equal = (0..numbers.columns()).find_map(|at| Some((at, equal_label(items.labels, numbers, at)?)));
    let Some((at, label)) = equal else { return Ok(None) };
    let found = format!("{}, which equals the {label}", title(table, values[at]));
    let named = |names: &[String]| !is_number(&names[values[at]]);
    match table.names().is_some_and(named) {
        true => Err(refusal(table, &found)),
        false => Ok(Some(format!("there is a {found}: is it part of the embeddings?"))),
    }
}

/// What says that a column may be a count of rows, and so no embedding.
pub(super) fn counting(table: &TableFile, values: &[usize], numbers: &Dense) -> Option<String> {
    let counts = |at: &usize| {
        let first = numbers.values().get(*at).copied().unwrap_or(f32::NAN);
        let mut rows = (0..numbers.rows()).map(|row| numbers.row(row)[*at] - first);
        (first == 0.0 || first == 1.0) && (0..numbers.rows()).all(|row| rows.next() == Some(row as f32))
    };
    let at = (0..numbers.columns()).find(counts).filter(|_| numbers.rows() >= COUNTED_ROWS)?;
    Some(format!(
        "{} counts the rows, and was taken as part of the embeddings; call it `id` if it is one",
        title(table, values[at])
    ))
}

/// Whether a header is a number or nothing: columns without names are called so, of labels as of embeddings.
fn is_number(header: &str) -> bool {
    header.bytes().all(|byte| byte.is_ascii_digit())
}

fn title(table: &TableFile, column: usize) -> String {
    match table.names() {
        Some(names) => format!("column {:?}", names[column]),
        None => format!("column {}", column + 1),
    }
}

fn refusal(table: &TableFile, found: &str) -> crate::error::Error {
    let malformed = table.place(None).malformed(found, "columns of embeddings only");
    malformed.hint("remove the column; if it is part of the embeddings, give it another name").into()
}

/// The label that a column of embeddings equals in every row where the label is known, in words.
fn equal_label(labels: &Labels, numbers: &Dense, at: usize) -> Option<String> {
    let equals = |label: &dyn Fn(usize) -> Option<f32>| {
        let known = (0..numbers.rows()).filter_map(|row| Some((numbers.row(row)[at], label(row)?)));
        let mut known = known.peekable();
        known.peek().is_some() && known.all(|(number, label)| number == label)
    };
    match labels {
        Labels::Classes(classes) => {
            let named: Option<Vec<f32>> = classes.names().iter().map(|name| name.parse().ok()).collect();
            let by_name = |row: usize| named.as_ref().and_then(|named| Some(named[classes.of()[row]? as usize]));
            let by_number = |row: usize| classes.of()[row].map(|class| class as f32);
            let several = classes.count() > 1;
            (several && (equals(&by_number) || equals(&by_name))).then(|| "classes".to_owned())
        }
        Labels::MultiLabel(tasks) => (0..tasks.names().len())
            .find(|&task| equals(&|row| tasks.row(row)[task].map(|answer| f32::from(u8::from(answer)))))
            .map(|task| format!("label {:?}", tasks.names()[task])),
        Labels::Regression(values) => (0..values.names().len())
            .find(|&column| equals(&|row| values.row(row)[column]))
            .map(|column| format!("label {:?}", values.names()[column])),
    }
}
