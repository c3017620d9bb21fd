//! Embeddings and labels out of csv, npy and parquet files, row by row put together.

use std::collections::HashMap;
use std::path::Path;

use fiedler_graph::{Dense, Features, Labels};

use crate::error::Result;
use crate::read::TableFile;

/// Labels that stand by themselves, without a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelTable {
    /// One label a row.
    pub labels: Labels,
    /// What a first column `id`, `node` or `name` calls the rows. Whole numbers count the rows of embeddings that have no ids.
    pub ids: Option<Vec<String>>,
}

/// What a row of a table stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemKind {
    /// A node.
    #[default]
    Node,
    /// A graph of a set.
    Graph,
}

impl ItemKind {
    /// `node` or `graph`.
    pub fn name(self) -> &'static str {
        match self {
            ItemKind::Node => "node",
            ItemKind::Graph => "graph",
        }
    }
}

/// The nodes or graphs that embeddings are read for.
#[derive(Debug, Clone, Copy)]
pub struct Items<'a> {
    /// How many there are.
    pub count: usize,
    /// One name each, where they are called other than 0, 1, 2 ….
    pub names: Option<&'a [String]>,
    /// Whether names that are whole numbers count the rows of embeddings, as ids of a [`LabelTable`] do; those of a graph's nodes do not.
    pub names_count_rows: bool,
    /// Nodes or graphs.
    pub kind: ItemKind,
}

impl LabelTable {
    /// The labelled items.
    pub fn items(&self) -> Items<'_> {
        Items { count: self.labels.len(), names: self.ids.as_deref(), names_count_rows: true, kind: ItemKind::Node }
    }
}

/// Reads labels from a table: classes, yes-or-no tasks or real values. A first column `id`, `node` or `name` holds names.
///
/// # Errors
/// When the file is no table of labels, or names an item twice.
pub fn read_labels(path: impl AsRef<Path>) -> Result<LabelTable> {
    let table = TableFile::open(path)?;
    let ids = table.ids(&[], true)?;
    if let Some(ids) = &ids {
        row_of_id(&table, ids)?;
    }
    let labels = table.labels(ids.is_some())?;
    Ok(LabelTable { labels, ids })
}

/// Reads embeddings, one row for each item. What else there is to say comes in sentences.
///
/// Rows are matched by id where the table has ids and the items names. Without ids, row k belongs to the item called k in a table of
/// labels whose ids are such numbers; else rows are taken in the order of the items.
///
/// # Errors
/// When the file is no table of numbers, or does not have one row for each item.
pub fn read_embeddings(path: impl AsRef<Path>, items: Items<'_>) -> Result<(Dense, Vec<String>)> {
    let table = TableFile::open(path)?;
    let kind = items.kind.name();
    let counted = items.names.is_none();
    let counts: Vec<String>;
    let names = match items.names {
        Some(names) => names,
        None => {
            counts = (0..items.count).map(|item| item.to_string()).collect();
            &counts
        }
    };
    let ids = table.ids(names, counted)?;
    let numbers = table.numbers(ids.is_some())?;
    let Some(ids) = ids else {
        if let Some(rows) = rows_by_number(items, &table) {
            return Ok(chosen(numbers, &rows, kind));
        }
        check_count(&table, items)?;
        let note = || format!("rows have no ids and were taken in the order of the {kind}s");
        return Ok((numbers, (!counted).then(note).into_iter().collect()));
    };
    let row_of = row_of_id(&table, &ids)?;
    let rows: Vec<Option<u32>> = names.iter().map(|name| row_of.get(name.as_str()).copied()).collect();
    let missing = rows.iter().filter(|row| row.is_none()).count();
    if missing > 0 && counted {
        check_count(&table, items)?;
        return Ok((numbers, vec!["labels have no names; rows were taken in their order, whatever their ids".into()]));
    }
    if let Some(first) = rows.iter().position(Option::is_none) {
        let found = match missing {
            1 => format!("no row for {kind} {:?}", names[first]),
            _ => format!("no row for {missing} {kind}s, the first of them {:?}", names[first]),
        };
        let malformed = table.place(None).malformed(found, format!("a row for every {kind}"));
        let own = ids.first().map(String::as_str).unwrap_or_default();
        let hint = format!("ids must be the names that the labels have; its own begin with {own:?}");
        return Err(malformed.hint(hint).into());
    }
    Ok(chosen(numbers, &rows.into_iter().flatten().collect::<Vec<u32>>(), kind))
}

/// The row of every item, where names count rows.
fn rows_by_number(items: Items<'_>, table: &TableFile) -> Option<Vec<u32>> {
    let number = |name: &String| name.parse::<u32>().ok().filter(|row| (*row as usize) < table.rows());
    let names = items.names.filter(|_| items.names_count_rows)?;
    names.iter().map(number).collect()
}

/// The rows that belong to items, in their order, and how many do not.
fn chosen(numbers: Dense, rows: &[u32], kind: &str) -> (Dense, Vec<String>) {
    let extra = numbers.rows().saturating_sub(rows.len());
    let note = || format!("{extra} rows belong to no labelled {kind} and were left out");
    (Features::Dense(numbers).gather(rows).to_dense(), (extra > 0).then(note).into_iter().collect())
}

fn check_count(table: &TableFile, items: Items<'_>) -> Result<()> {
    let (rows, count) = (table.rows(), items.count);
    if rows == count {
        return Ok(());
    }
    let malformed =
        table.place(None).malformed(format!("{rows} rows"), format!("{count}, one a {}", items.kind.name()));
    let hint = match items.kind {
        ItemKind::Graph => "embeddings of nodes have to be pooled, graph by graph",
        ItemKind::Node => "a first column `id` says which row is whose, where labels have names",
    };
    Err(malformed.hint(hint).into())
}

fn row_of_id<'a>(table: &TableFile, ids: &'a [String]) -> Result<HashMap<&'a str, u32>> {
    let mut row_of = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if row_of.insert(id.as_str(), row as u32).is_some() {
            let malformed = table.place(Some(row)).malformed(format!("{id:?} once more"), "one row for each id");
            return Err(malformed.into());
        }
    }
    Ok(row_of)
}
