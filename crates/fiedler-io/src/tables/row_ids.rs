//! Columns that say which row of embeddings is whose, as they are written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fiedler_graph::Dataset;

use super::ItemKind;
use crate::read::separated::quote;
use crate::role;

/// The columns of text before the values of a table, each with its header: the ids of the rows and, where graphs were read from the lines
/// of a table, these lines and the names in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowIds {
    columns: Vec<(&'static str, Vec<String>)>,
}

impl RowIds {
    /// The nodes of a graph with the user's names, or the graphs of a set.
    pub fn of(dataset: &Dataset) -> RowIds {
        if let Some(graph) = dataset.graph() {
            let names = (0..graph.num_nodes() as u32).map(|node| graph.name(node)).collect();
            return RowIds { columns: vec![(ItemKind::Node.name(), names)] };
        }
        let counts = (0..dataset.graphs.len()).map(|graph| graph.to_string()).collect();
        let mut columns = vec![(ItemKind::Graph.name(), counts)];
        if let Some(source) = &dataset.graph_source {
            columns.push((role::LINE, source.lines.iter().map(u64::to_string).collect()));
            columns.extend(source.names.clone().map(|names| (role::NAME, names)));
        }
        RowIds { columns }
    }

    /// Headers and texts.
    pub fn columns(&self) -> &[(&'static str, Vec<String>)] {
        &self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, ids)| ids.len())
    }

    /// Writes a csv file: these columns, then those of a matrix, called 0, 1, 2 …; `width` may be 0.
    ///
    /// # Errors
    /// When the writer fails, or the values do not fill the rows.
    pub fn write_csv(&self, writer: &mut impl Write, width: usize, values: &[f32]) -> io::Result<()> {
        if self.rows().checked_mul(width) != Some(values.len()) {
            return Err(io::Error::other(format!("{} values for {} rows of {width}", values.len(), self.rows())));
        }
        for (at, (header, _)) in self.columns.iter().enumerate() {
            write!(writer, "{}{header}", if at > 0 { "," } else { "" })?;
        }
        for column in 0..width {
            write!(writer, ",{column}")?;
        }
        writeln!(writer)?;
        for row in 0..self.rows() {
            for (at, (_, texts)) in self.columns.iter().enumerate() {
                // A text with line breaks would be two lines to our own reader.
                let text = texts[row].replace(['\n', '\r'], " ");
                write!(writer, "{}{}", if at > 0 { "," } else { "" }, quote(&text))?;
            }
            for value in &values[row * width..(row + 1) * width] {
                write!(writer, ",{value}")?;
            }
            writeln!(writer)?;
        }
        Ok(())
    }
}

/// Where the ids of the rows of an array stand: `NAME.ids.csv` beside `NAME.npy`.
///
/// ```
/// use std::path::Path;
/// assert_eq!(fiedler_io::tables::ids_beside(Path::new("run/embeddings.npy")), Path::new("run/embeddings.ids.csv"));
/// ```
pub fn ids_beside(array: &Path) -> PathBuf {
    array.with_extension("ids.csv")
}
