//! Embeddings and labels out of csv, npy and parquet files, row by row put together; and embeddings into such files.
//!
//! **Ids.** A column is one of ids by its header: `id`, `node`, `graph`, `node_id` or `graph_id` anywhere; `name`, `index` or no name in
//! the first column. [`RowIds`] writes such columns, so that what is written here is read here. An npy file has no headers: its ids
//! stand beside it, in `NAME.ids.csv`.
//!
//! **Rows** are matched by id. Where one side has ids and the other has none, that is an error, unless [`Matching`] says what to do.

mod columns;
mod matching;
mod row_ids;

use std::path::Path;

use fiedler_graph::{Dense, Features, Labels, Split};

use crate::error::{Error, Result};
use crate::read::TableFile;

pub use columns::UsedColumns;
pub use matching::Matching;
pub use row_ids::{RowIds, ids_beside};

/// Labels that stand by themselves, without a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelTable {
    /// One label a row.
    pub labels: Labels,
    /// What a column of ids calls the rows.
    pub ids: Option<Vec<String>>,
    /// Names of the columns of labels, where the file has them.
    pub columns: Vec<String>,
    /// Splits in columns called `split` or `split:NAME`; they count rows.
    pub splits: Vec<Split>,
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
    /// `node` or `graph`: also the header of a column of their ids.
    pub fn name(self) -> &'static str {
        match self {
            ItemKind::Node => "node",
            ItemKind::Graph => "graph",
        }
    }
}

/// What items are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemNames<'a> {
    /// Nothing: they are the rows of a table without ids.
    Unknown,
    /// 0, 1, 2 …: they are the nodes or graphs of a dataset that has no other names.
    Counted,
    /// One name each.
    Known(&'a [String]),
}

/// The nodes or graphs that embeddings are read for.
#[derive(Debug, Clone, Copy)]
pub struct Items<'a> {
    /// What they are called.
    pub names: ItemNames<'a>,
    /// Nodes or graphs.
    pub kind: ItemKind,
    /// One label each, which no column of the embeddings may be.
    pub labels: &'a Labels,
    /// Names of the columns of labels, which no column of the embeddings may have.
    pub label_columns: &'a [String],
}

/// Embeddings as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingTable {
    /// One row for each item.
    pub values: Dense,
    /// Which columns of the file these are, and where ids were found.
    pub used: UsedColumns,
    /// What else there is to say, one sentence each.
    pub notes: Vec<String>,
}

impl LabelTable {
    /// The labelled items.
    pub fn items(&self) -> Items<'_> {
        Items {
            names: self.ids.as_deref().map_or(ItemNames::Unknown, ItemNames::Known),
            kind: ItemKind::Node,
            labels: &self.labels,
            label_columns: &self.columns,
        }
    }
}

/// Reads labels from a table: classes, yes-or-no tasks or real values. A column of ids says which row is whose.
///
/// # Errors
/// When the file is no table of labels, or names an item twice.
pub fn read_labels(path: impl AsRef<Path>) -> Result<LabelTable> {
    let table = TableFile::open(path)?;
    let ids = match table.id_columns().first() {
        Some(&column) => table.ids(column)?,
        None => None,
    };
    let values = if ids.is_some() { table.value_columns() } else { (0..table.columns()).collect() };
    let (of_splits, values) = table.without_splits(values);
    if let Some(ids) = &ids {
        matching::row_of_id(&table, ids)?;
    }
    let columns = table.names().map_or_else(Vec::new, |names| values.iter().map(|&at| names[at].clone()).collect());
    let splits = table.splits(&of_splits)?;
    splits
        .iter()
        .try_for_each(|split| split.check(table.rows()))
        .map_err(|error| Error::from(error).at(&table.place(None)))?;
    Ok(LabelTable { labels: table.labels(&values)?, ids, columns, splits })
}

/// Reads embeddings, one row for each item.
///
/// # Errors
/// When the file is no table of numbers, its rows cannot be matched to the items, or one of its columns is what is to be predicted.
pub fn read_embeddings(path: impl AsRef<Path>, items: Items<'_>, matching: Matching) -> Result<EmbeddingTable> {
    let path = path.as_ref();
    let table = TableFile::open(path)?;
    let found = matching::find_ids(&table, path, items)?;
    let values: Vec<usize> = (0..table.columns()).filter(|column| !found.columns.contains(column)).collect();
    columns::check_names(&table, &values, items)?;
    let numbers = table.numbers(&values)?;
    let matched = matching::rows(&table, &found, items, matching)?;
    let mut used = UsedColumns::of(&table, &values);
    used.ids = matched.ids;
    let mut notes = Vec::new();
    let extra = table.rows().saturating_sub(items.labels.len());
    if extra > 0 {
        notes.push(format!("{extra} rows belong to no labelled {} and were left out", items.kind.name()));
    }
    let numbers = match matched.rows {
        Some(rows) => Features::Dense(numbers).gather(&rows).to_dense(),
        None => numbers,
    };
    notes.extend(columns::check_values(&table, &values, &numbers, items)?);
    notes.extend(columns::counting(&table, &values, &numbers));
    Ok(EmbeddingTable { values: numbers, used, notes })
}
