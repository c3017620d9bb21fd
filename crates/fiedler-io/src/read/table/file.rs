//! Tables that stand by themselves, such as embeddings, and labels without a graph.

use std::path::Path;

use fiedler_graph::{Dense, Labels, Split};

use super::{Table, column_names, id_columns, labels_from_table, open, split_columns, splits_from_table};
use crate::error::{Place, Result};

/// A table in a csv, npy or parquet file.
pub struct TableFile(Box<dyn Table>);

impl TableFile {
    /// Opens a file and looks at its shape.
    ///
    /// # Errors
    /// When it cannot be read, or is no table.
    pub fn open(path: impl AsRef<Path>) -> Result<TableFile> {
        Ok(TableFile(open(path.as_ref())?))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Where the table, or one of its rows, came from.
    pub fn place(&self, row: Option<usize>) -> Place {
        self.0.place(row)
    }

    /// Number of columns, those of ids included.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Names of the columns, where the file has them.
    pub fn names(&self) -> Option<&[String]> {
        self.0.names()
    }

    /// The columns that hold ids, names or lines of a source, as their headers say; those that are surely ids come first.
    pub fn id_columns(&self) -> Vec<usize> {
        id_columns(self.0.as_ref())
    }

    /// The columns that hold values, as headers say.
    pub fn value_columns(&self) -> Vec<usize> {
        let ids = self.id_columns();
        (0..self.columns()).filter(|column| !ids.contains(column)).collect()
    }

    /// Columns apart: those that are called splits, and the others.
    pub(crate) fn without_splits(&self, columns: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        split_columns(self.0.as_ref(), columns)
    }

    /// Columns as splits, one row an item.
    ///
    /// # Errors
    /// When a cell is the name of no part.
    pub(crate) fn splits(&self, columns: &[usize]) -> Result<Vec<Split>> {
        splits_from_table(self.0.as_ref(), columns, &self.0.texts(columns)?)
    }

    /// A column as ids; `None` where its values cannot be ids.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn ids(&self, column: usize) -> Result<Option<Vec<String>>> {
        self.0.column(column)
    }

    /// Columns as numbers.
    ///
    /// # Errors
    /// When a cell is no finite number, or there are no columns.
    pub fn numbers(&self, columns: &[usize]) -> Result<Dense> {
        if columns.is_empty() {
            return Err(self.0.place(None).malformed("nothing but ids", "columns of numbers").into());
        }
        Ok(Dense::new(self.rows(), columns.len(), self.0.numbers(columns, false)?)?)
    }

    /// Columns as labels.
    ///
    /// # Errors
    /// When they are no labels.
    pub fn labels(&self, columns: &[usize]) -> Result<Labels> {
        labels_from_table(self.0.as_ref(), column_names(self.0.as_ref(), columns), self.0.texts(columns)?)
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableFile").field("place", &self.place(None)).field("rows", &self.rows()).finish()
    }
}
