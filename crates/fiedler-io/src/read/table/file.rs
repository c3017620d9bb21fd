//! Tables that stand by themselves, such as embeddings, and labels without a graph.

use std::collections::HashSet;
use std::path::Path;

use fiedler_graph::{Dense, Labels};

use super::{Table, column_names, labels_from_table, open, rows};
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

    /// The ids of rows, where the first column holds them: its header says so, or it has exactly the `known` names. A column with a
    /// header that says something else counts only for `known` names that are more than a count.
    ///
    /// # Errors
    /// When the first column cannot be read.
    pub fn ids(&self, known: &[String], counted: bool) -> Result<Option<Vec<String>>> {
        if rows::ids_by_header(self.0.as_ref()) {
            return self.0.first_column();
        }
        let may_be = self.0.columns() > 1 && self.rows() == known.len() && !(counted && self.0.names().is_some());
        let Some(ids) = may_be.then(|| self.0.first_column()).transpose()?.flatten() else { return Ok(None) };
        let names: HashSet<&str> = ids.iter().map(String::as_str).collect();
        let all = known.iter().all(|name| names.contains(name.as_str()));
        Ok(all.then_some(ids))
    }

    /// The table as numbers, without its first column when that holds ids.
    ///
    /// # Errors
    /// When a cell is no finite number, or nothing is left.
    pub fn numbers(&self, ids: bool) -> Result<Dense> {
        let first = usize::from(ids);
        let columns = self.0.columns() - first;
        if columns == 0 {
            return Err(self.0.place(None).malformed("nothing but ids", "columns of numbers").into());
        }
        Ok(Dense::new(self.rows(), columns, self.0.numbers(first)?)?)
    }

    /// The table as labels, without its first column when that holds ids.
    ///
    /// # Errors
    /// When its columns are no labels.
    pub fn labels(&self, ids: bool) -> Result<Labels> {
        let first = usize::from(ids);
        labels_from_table(self.0.as_ref(), column_names(self.0.as_ref(), first), self.0.texts(first)?)
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableFile").field("place", &self.place(None)).field("rows", &self.rows()).finish()
    }
}
