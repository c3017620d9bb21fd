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
    Ok(Target { names: names.clone(), ..Target::of_labels(table.labels(names.is_some())?) })
}

/// Reads embeddings, one row for each item of the target. Rows are matched by id, where the table has ids and the target names; else
/// they are taken in their order. What else there is to say comes in sentences.
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
        return Err(fiedler_graph::Error::from(malformed.hint("ids must be the names that the labels have")).into());
    }
    let rows: Vec<u32> = rows.into_iter().flatten().collect();
    let extra = table.rows() - rows.len();
    let note = || format!("{extra} rows belong to no {} and were left out", target.items());
    Ok((Features::Dense(numbers).gather(&rows).to_dense(), (extra > 0).then(note).into_iter().collect()))
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
