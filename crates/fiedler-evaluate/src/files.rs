//! Embeddings and labels out of csv, npy and parquet files, row by row put together.

use std::collections::HashMap;
use std::path::Path;

use fiedler_graph::read::TableFile;
use fiedler_graph::{Dense, Features};

use crate::error::{Error, Result};
use crate::target::Target;

/// Reads labels from a table: classes, yes-or-no tasks or real values. A first column `id`, `node` or `name` holds names.
///
/// # Errors
/// When the file is no table of labels, or names an item twice.
pub fn read_labels(path: impl AsRef<Path>) -> Result<Target> {
    let table = TableFile::open(path)?;
    let names = table.ids(&[], true)?;
    if let Some(names) = &names {
        row_of_id(&table, names)?;
    }
    let labels = table.labels(names.is_some())?;
    Ok(Target { names, names_count_rows: true, ..Target::of_labels(labels) })
}

/// Reads embeddings, one row for each item of the target. What else there is to say comes in sentences.
///
/// Rows are matched by id where the table has ids and the target names. Without ids, row k belongs to the item called k in a table of
/// labels whose ids are such numbers; else rows are taken in the order of the items.
///
/// # Errors
/// When the file is no table of numbers, or does not have one row for each item.
pub fn read_embeddings(path: impl AsRef<Path>, target: &Target) -> Result<(Dense, Vec<String>)> {
    let table = TableFile::open(path)?;
    let items = target.labels.len();
    let counted = target.names.is_none();
    let names = target.names.clone().unwrap_or_else(|| (0..items).map(|item| item.to_string()).collect());
    let ids = table.ids(&names, counted)?;
    let numbers = table.numbers(ids.is_some())?;
    let Some(ids) = ids else {
        if let Some(rows) = rows_by_number(&names, target, &table) {
            return Ok(chosen(numbers, &rows, target));
        }
        check_count(&table, target)?;
        let note = || format!("rows have no ids and were taken in the order of the {}s", target.items());
        return Ok((numbers, (!counted).then(note).into_iter().collect()));
    };
    let row_of = row_of_id(&table, &ids)?;
    let rows: Vec<Option<u32>> = names.iter().map(|name| row_of.get(name.as_str()).copied()).collect();
    let missing = rows.iter().filter(|row| row.is_none()).count();
    if missing > 0 && counted {
        check_count(&table, target)?;
        return Ok((numbers, vec!["labels have no names; rows were taken in their order, whatever their ids".into()]));
    }
    if let Some(first) = rows.iter().position(Option::is_none) {
        let found = match missing {
            1 => format!("no row for {} {:?}", target.items(), names[first]),
            _ => format!("no row for {missing} {}s, the first of them {:?}", target.items(), names[first]),
        };
        let malformed = table.place(None).malformed(found, format!("a row for every {}", target.items()));
        let hint = format!("ids must be the names that the labels have; its own begin with {:?}", ids[0]);
        return Err(fiedler_graph::Error::from(malformed.hint(hint)).into());
    }
    Ok(chosen(numbers, &rows.into_iter().flatten().collect::<Vec<u32>>(), target))
}

/// The row of every item, where names count rows.
fn rows_by_number(names: &[String], target: &Target, table: &TableFile) -> Option<Vec<u32>> {
    let number = |name: &String| name.parse::<u32>().ok().filter(|row| (*row as usize) < table.rows());
    (target.names_count_rows && target.names.is_some()).then(|| names.iter().map(number).collect()).flatten()
}

/// The rows that belong to items, in their order, and how many do not.
fn chosen(numbers: Dense, rows: &[u32], target: &Target) -> (Dense, Vec<String>) {
    let extra = numbers.rows() - rows.len();
    let note = || format!("{extra} rows belong to no labelled {} and were left out", target.items());
    (Features::Dense(numbers).gather(rows).to_dense(), (extra > 0).then(note).into_iter().collect())
}

fn check_count(table: &TableFile, target: &Target) -> Result<()> {
    let (rows, items) = (table.rows(), target.labels.len());
    if rows == items {
        return Ok(());
    }
    let malformed = table.place(None).malformed(format!("{rows} rows"), format!("{items}, one a {}", target.items()));
    let hint = match target.graphs {
        true => "embeddings of nodes have to be pooled, graph by graph",
        false => "a first column `id` says which row is whose, where labels have names",
    };
    Err(fiedler_graph::Error::from(malformed.hint(hint)).into())
}

fn row_of_id<'a>(table: &TableFile, ids: &'a [String]) -> Result<HashMap<&'a str, u32>> {
    let mut row_of = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if row_of.insert(id.as_str(), row as u32).is_some() {
            let malformed = table.place(Some(row)).malformed(format!("{id:?} once more"), "one row for each id");
            return Err(Error::Graph(malformed.into()));
        }
    }
    Ok(row_of)
}
