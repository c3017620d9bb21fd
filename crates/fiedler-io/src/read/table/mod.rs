//! Features and labels of nodes from tables beside a graph: csv and its kin, npy, parquet.
//!
//! **Rows.** A table may have a column of ids: when its header calls it `id`, `node` or the like (in the first column also
//! `name`, `index` or nothing), or when the values of the first column are exactly the graph's node names. Rows then belong to the
//! nodes of those names, in any order; rows of no node are left out, with a note. Every node must have a row of
//! features; a node without a row of labels has no label. Without ids, row k belongs to node k. In an edge list of
//! whole numbers that is the node whose id is k, so that nodes without edges exist as well. In a set of graphs nodes
//! are counted through.
//!
//! **Features** are finite numbers.
//!
//! **Labels.** One column of whole numbers or words is classes, of numbers with fractions real values. Several columns
//! of 0 and 1 are tasks, of other numbers real values. An empty field or `nan` is a missing label.

mod array;
mod file;
mod labels;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod text;

use std::path::Path;

use fiedler_graph::{Dataset, Dense, Features, Labels};

use super::ReadOptions;
use crate::error::{Error, Place, Result};
use crate::input::DataSource;
use crate::role;

pub use file::TableFile;
pub(super) use labels::from_columns as labels_from_columns;

/// Rows of cells, whatever file they come from.
trait Table {
    fn rows(&self) -> usize;
    fn columns(&self) -> usize;
    /// Names of the columns, where the file has them.
    fn names(&self) -> Option<&[String]>;
    /// Where the table, or one of its rows, came from.
    fn place(&self, row: Option<usize>) -> Place;
    /// The cells of a column as text; `None` when they cannot be ids.
    fn column(&self, at: usize) -> Result<Option<Vec<String>>>;
    /// Columns of text, missing cells being empty.
    fn texts(&self, columns: &[usize]) -> Result<Vec<Vec<String>>>;
    /// Row after row of numbers, of the given columns.
    fn numbers(&self, columns: &[usize]) -> Result<Vec<f32>>;
}

/// Attaches the features and labels that the options name.
pub(super) fn attach(dataset: &mut Dataset, options: &ReadOptions) -> Result<()> {
    if let Some(path) = &options.features {
        let table = open(path)?;
        let (features, names) = features(dataset, table.as_ref())?;
        dataset.features = Some(features);
        dataset.feature_names = names;
    }
    if let Some(path) = &options.labels {
        let table = open(path)?;
        dataset.node_labels = Some(labels_of(dataset, table.as_ref())?);
    }
    Ok(())
}

fn open(path: &Path) -> Result<Box<dyn Table>> {
    let file = DataSource::open(path)?.read_named()?;
    if file.bytes().starts_with(array::MAGIC) {
        return Ok(Box::new(array::Array::new(file)?));
    }
    if file.bytes().starts_with(b"PAR1") {
        #[cfg(feature = "parquet")]
        return Ok(Box::new(parquet::Columns::new(file)?));
        #[cfg(not(feature = "parquet"))]
        return Err(file
            .malformed("a parquet file", "csv or npy, since this build cannot read parquet")
            .hint("build with the feature `parquet`, or save the table as csv or npy")
            .into());
    }
    Ok(Box::new(text::Text::new(file)?))
}

fn features(dataset: &mut Dataset, table: &dyn Table) -> Result<(Features, Option<Vec<String>>)> {
    let rows::Matched { row_of, values } = rows::matched(dataset, table)?;
    if values.is_empty() {
        return Err(table.place(None).malformed("nothing but node ids", "columns of features").into());
    }
    let names = table.names().map(|names| values.iter().map(|&column| names[column].clone()).collect::<Vec<_>>());
    if let Some(name) = names.iter().flatten().find(|name| role::is_label(name)) {
        dataset
            .report
            .notes
            .push(format!("the column {name:?} was read as a feature, though it is called like a label"));
    }
    let features = Features::Dense(Dense::new(table.rows(), values.len(), table.numbers(&values)?)?);
    let Some(row_of) = row_of else { return Ok((features, names)) };
    let rows = row_of.iter().enumerate().map(|(node, row)| row.ok_or(node)).collect::<Result<Vec<u32>, usize>>();
    let rows = rows.map_err(|node| {
        let missing = row_of.iter().filter(|row| row.is_none()).count();
        let name = dataset.graphs.block_diagonal().name(node as u32);
        let found = match missing {
            1 => format!("no row for node {name:?}"),
            _ => format!("no row for {missing} nodes, the first of them {name:?}"),
        };
        let malformed = table.place(None).malformed(found, "features for every node");
        Error::from(malformed.hint("add the rows; a node nothing is known of has zeros"))
    })?;
    Ok((features.gather(&rows), names))
}

fn labels_of(dataset: &mut Dataset, table: &dyn Table) -> Result<Labels> {
    let rows::Matched { row_of, values } = rows::matched(dataset, table)?;
    let mut columns = table.texts(&values)?;
    let names = column_names(table, &values);
    if let Some(row_of) = row_of {
        let missing = row_of.iter().filter(|row| row.is_none()).count();
        if missing > 0 {
            dataset.report.notes.push(format!("{missing} nodes have no row of labels and so no label"));
        }
        for column in &mut columns {
            let cell = |row: &Option<u32>| row.map_or_else(String::new, |row| column[row as usize].clone());
            *column = row_of.iter().map(cell).collect();
        }
    }
    labels_from_table(table, names, columns)
}

fn labels_from_table(table: &dyn Table, names: Vec<String>, columns: Vec<Vec<String>>) -> Result<Labels> {
    labels::from_columns(names, columns).map_err(|found| {
        let malformed = table.place(None).malformed(found, "one column of classes, or several of numbers");
        Error::from(malformed.hint("keep only the columns that are to be predicted"))
    })
}

/// Names of the given columns: the file's, or their numbers.
fn column_names(table: &dyn Table, columns: &[usize]) -> Vec<String> {
    match table.names() {
        Some(names) => columns.iter().map(|&column| names[column].clone()).collect(),
        None => (0..columns.len()).map(|column| column.to_string()).collect(),
    }
}
