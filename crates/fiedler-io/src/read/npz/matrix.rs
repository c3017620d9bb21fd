//! scipy's sparse matrices, from pickles and from npz files.

use rayon::prelude::*;

use fiedler_graph::{BuildReport, Features, Graph, MAX_NODES, Sparse};

use super::array::{Array, Arrays};
use super::pickled::{attribute, shape};
use crate::error::{Malformed, Place, Result};
use crate::read::pickle::Value;

/// Rows that a matrix may have in any case, and rows for each of its entries, where nothing else in the file speaks for them.
const FREE_ROWS: usize = 1 << 20;
const ROWS_PER_ENTRY: usize = 64;

/// A sparse matrix: the places of its entries, and their values.
#[derive(Debug, Clone)]
pub struct Matrix {
    place: Place,
    rows: usize,
    columns: usize,
    entries: Vec<(u32, u32)>,
    values: Vec<f32>,
}

impl Matrix {
    /// The matrix that a value of a pickle describes: any of scipy's formats but `lil` and `dok`.
    ///
    /// # Errors
    /// When the value is something else, or its arrays do not fit together.
    pub fn from_pickle(value: Value<'_>, place: &Place) -> Result<Matrix> {
        let (object, format) = match value {
            Value::Object(object) => match object.class() {
                (module, name) if module.starts_with("scipy.sparse") => (object, name),
                _ => return Err(no_matrix(value, place).into()),
            },
            _ => return Err(no_matrix(value, place).into()),
        };
        let format = format.split('_').next().unwrap_or_default();
        let missing = |name: &str| place.malformed(format!("a matrix without {name}"), "a sparse matrix of scipy");
        let Some(shape) = attribute(object, &["_shape", "shape"]).and_then(shape) else {
            return Err(missing("a shape").into());
        };
        Matrix::from_fields(place, format, &shape, &|name| {
            let found = attribute(object, &[name]).or_else(|| {
                let axis = ["row", "col"].iter().position(|axis| *axis == name)?;
                attribute(object, &["coords"])?.items()?.get(axis)
            });
            Array::from_pickle(found.ok_or_else(|| missing(name))?, &place.member(name))
        })
    }

    /// The matrix that `scipy.sparse.save_npz` wrote.
    ///
    /// # Errors
    /// When arrays are missing or do not fit together.
    pub fn from_scipy(arrays: &Arrays) -> Result<Matrix> {
        let format = arrays.get("format")?.to_strings()?;
        let shape = arrays.get("shape")?.to_usize()?;
        let format = format.first().map(String::as_str).unwrap_or_default();
        Matrix::from_fields(arrays.place(), format, &shape, &|name| arrays.get(name))
    }

    /// The matrix whose compressed rows stand in arrays named with a prefix: `adj_data`, `adj_indices`, `adj_indptr`,
    /// `adj_shape`.
    ///
    /// # Errors
    /// When arrays are missing or do not fit together.
    pub fn from_prefixed(arrays: &Arrays, prefix: &str) -> Result<Matrix> {
        let shape = arrays.get(&format!("{prefix}_shape"))?.to_usize()?;
        let place = arrays.place().member(prefix);
        Matrix::from_fields(&place, "csr", &shape, &|name| arrays.get(&format!("{prefix}_{name}")))
    }

    /// A matrix of entries in any order; `values[k]` belongs to `entries[k]`.
    ///
    /// # Errors
    /// When an entry lies outside of the matrix, or its value is not finite.
    pub(in crate::read) fn from_entries(
        place: &Place,
        (rows, columns): (usize, usize),
        entries: Vec<(u32, u32)>,
        values: Vec<f32>,
    ) -> Result<Matrix> {
        Matrix { place: place.clone(), rows, columns, entries, values }.checked()
    }

    fn from_fields(
        place: &Place,
        format: &str,
        shape: &[usize],
        field: &dyn Fn(&str) -> Result<Array>,
    ) -> Result<Matrix> {
        let &[rows, columns] = shape else {
            return Err(place.malformed(format!("{} dimensions", shape.len()), "a matrix of rows and columns").into());
        };
        if rows.max(columns) > MAX_NODES {
            let found = format!("a matrix of {rows} rows and {columns} columns");
            return Err(place.malformed(found, format!("at most {MAX_NODES} of each")).into());
        }
        let matrix = Matrix { place: place.clone(), rows, columns, entries: Vec::new(), values: Vec::new() };
        match format {
            "csr" => matrix.filled_by_rows(field),
            "csc" => {
                let turned = Matrix { rows: columns, columns: rows, ..matrix };
                Ok(turned.filled_by_rows(field)?.transposed())
            }
            "bsr" => matrix.filled_by_blocks(field),
            "coo" => matrix.filled_by_coordinates(field),
            "dia" => matrix.filled_by_diagonals(field),
            other => {
                let malformed =
                    place.malformed(format!("a sparse matrix of format {other:?}"), "csr, csc, coo, bsr or dia");
                Err(malformed.hint("convert it in Python with .tocsr()").into())
            }
        }
    }

    fn filled_by_rows(mut self, field: &dyn Fn(&str) -> Result<Array>) -> Result<Matrix> {
        let offsets = field("indptr")?.to_usize()?;
        let indices = field("indices")?.to_u32()?;
        let values = field("data")?.to_f32()?;
        let stored = self.check_offsets(&offsets, self.rows, indices.len().min(values.len()))?;
        self.entries.reserve_exact(stored);
        for (row, range) in offsets.windows(2).enumerate() {
            self.entries.extend(indices[range[0]..range[1]].iter().map(|&column| (row as u32, column)));
        }
        self.values = values;
        self.values.truncate(stored);
        self.checked()
    }

    fn filled_by_blocks(mut self, field: &dyn Fn(&str) -> Result<Array>) -> Result<Matrix> {
        let offsets = field("indptr")?.to_usize()?;
        let indices = field("indices")?.to_u32()?;
        let data = field("data")?;
        let &[blocks, height, width] = data.shape() else {
            return Err(data
                .malformed(format!("{} dimensions", data.shape().len()), "blocks of rows and columns")
                .into());
        };
        if height == 0 || width == 0 || !self.rows.is_multiple_of(height) {
            let found = format!("blocks of {height} rows and {width} columns");
            return Err(data.malformed(found, format!("blocks that make up {} rows", self.rows)).into());
        }
        let stored = self.check_offsets(&offsets, self.rows / height, indices.len().min(blocks))?;
        let block_columns = self.columns / width;
        if let Some(outside) = indices[..stored].iter().find(|index| **index as usize >= block_columns) {
            return Err(self.outside("a block in column", *outside, block_columns).into());
        }
        for (block_row, range) in offsets.windows(2).enumerate() {
            for &block_column in &indices[range[0]..range[1]] {
                for row in block_row * height..(block_row + 1) * height {
                    let first = block_column as usize * width;
                    self.entries.extend((first..first + width).map(|column| (row as u32, column as u32)));
                }
            }
        }
        self.values = data.to_f32()?;
        self.values.truncate(self.entries.len());
        // One offset stands for as many rows as a block is high, be there blocks or not.
        self.check_rows_plausible()?.checked()
    }

    fn filled_by_coordinates(mut self, field: &dyn Fn(&str) -> Result<Array>) -> Result<Matrix> {
        let (rows, columns) = (field("row")?.to_u32()?, field("col")?.to_u32()?);
        self.values = field("data")?.to_f32()?;
        if rows.len() != self.values.len() || columns.len() != self.values.len() {
            let found = format!("{} rows, {} columns, {} values", rows.len(), columns.len(), self.values.len());
            return Err(self.place.malformed(found, "a row and a column for each value").into());
        }
        self.entries = rows.into_iter().zip(columns).collect();
        self.check_rows_plausible()?.checked()
    }

    fn filled_by_diagonals(mut self, field: &dyn Fn(&str) -> Result<Array>) -> Result<Matrix> {
        let offsets = field("offsets")?.to_i64()?;
        let data = field("data")?;
        let (diagonals, length) = data.rows_and_columns()?;
        if diagonals != offsets.len() {
            return Err(data.malformed(format!("{diagonals} diagonals"), format!("{}", offsets.len())).into());
        }
        let values = data.to_f32()?;
        for (&offset, diagonal) in offsets.iter().zip(values.chunks_exact(length.max(1))) {
            for (column, &value) in diagonal.iter().enumerate().take(self.columns) {
                let row = (column as i64).checked_sub(offset).and_then(|row| usize::try_from(row).ok());
                if let Some(row) = row.filter(|row| *row < self.rows && value != 0.0) {
                    self.entries.push((row as u32, column as u32));
                    self.values.push(value);
                }
            }
        }
        self.check_rows_plausible()?.checked()
    }

    /// Checks where rows start, against their number and that of the entries; returns how many entries there are.
    fn check_offsets(&self, offsets: &[usize], rows: usize, entries: usize) -> Result<usize> {
        let last = offsets.last().copied().unwrap_or(0);
        let fits = offsets.len().checked_sub(1) == Some(rows) && offsets.first() == Some(&0) && offsets.is_sorted();
        if !fits {
            let found = format!("{} row offsets (indptr), the last being {last}", offsets.len());
            let expected = format!("{} that ascend from 0", rows.saturating_add(1));
            return Err(self.place.malformed(found, expected).hint("the file may be damaged").into());
        }
        if last > entries {
            let malformed = self.place.malformed(format!("{entries} entries"), format!("{last}, as indptr says"));
            return Err(malformed.hint("the file may be damaged").into());
        }
        Ok(last)
    }

    /// Refuses rows that no array speaks for.
    fn check_rows_plausible(self) -> Result<Matrix> {
        let limit = self.entries.len().saturating_mul(ROWS_PER_ENTRY).max(FREE_ROWS);
        if self.rows > limit {
            let found = format!("{} rows claimed by {} entries", self.rows, self.entries.len());
            let malformed = self.place.malformed(found, format!("at most {limit} rows"));
            return Err(malformed.hint("if this is meant, save the matrix in the csr format").into());
        }
        Ok(self)
    }

    fn checked(self) -> Result<Matrix> {
        let (rows, columns) = (self.rows, self.columns);
        if let Some(&(row, _)) = self.entries.iter().find(|(row, _)| *row as usize >= rows) {
            return Err(self.outside("an entry in row", row, rows).into());
        }
        if let Some(&(_, column)) = self.entries.iter().find(|(_, column)| *column as usize >= columns) {
            return Err(self.outside("an entry in column", column, columns).into());
        }
        if let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
            let (row, column) = self.entries[at];
            let found = format!("{} in row {row}, column {column}", self.values[at]);
            return Err(self.place.malformed(found, "finite numbers").into());
        }
        Ok(self)
    }

    fn outside(&self, what: &str, index: u32, limit: usize) -> Malformed {
        self.place.malformed(format!("{what} {index}"), format!("one below {limit}")).hint("the file may be damaged")
    }

    fn transposed(mut self) -> Matrix {
        self.entries.iter_mut().for_each(|entry| *entry = (entry.1, entry.0));
        Matrix { rows: self.columns, columns: self.rows, ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row and column of each entry, in the order they are stored.
    pub fn entries(&self) -> &[(u32, u32)] {
        &self.entries
    }

    /// The values beside [`Matrix::entries`].
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The graph of which this is the adjacency matrix: weighted, unless all entries are 1. Entries of 0 are no edges.
    ///
    /// # Errors
    /// When the matrix is not square or has a negative entry.
    pub fn into_graph(self) -> Result<(Graph, BuildReport)> {
        if self.values.iter().all(|value| *value == 0.0 || *value == 1.0) {
            return self.into_unweighted_graph();
        }
        self.into_weighted_graph()
    }

    /// As [`Matrix::into_graph`], but weighted even where all entries are 1.
    ///
    /// # Errors
    /// When the matrix is not square or has a negative entry.
    pub fn into_weighted_graph(self) -> Result<(Graph, BuildReport)> {
        let summed = self.without_zeros()?.with_duplicates_summed();
        if let Some(at) = summed.values.iter().position(|value| *value <= 0.0) {
            let (row, column) = summed.entries[at];
            let found = format!("{} between node {row} and node {column}", summed.values[at]);
            return Err(summed.place.malformed(found, "positive edge weights").into());
        }
        Ok(Graph::from_weighted_pairs(summed.rows, summed.entries, summed.values)?)
    }

    /// The graph that has an edge wherever this adjacency matrix has an entry other than 0.
    ///
    /// # Errors
    /// When the matrix is not square.
    pub fn into_unweighted_graph(self) -> Result<(Graph, BuildReport)> {
        let matrix = self.without_zeros()?;
        Ok(Graph::from_pairs(matrix.rows, matrix.entries)?)
    }

    /// A square matrix without the zeros that are stored all the same.
    fn without_zeros(mut self) -> Result<Matrix> {
        if self.rows != self.columns {
            let found = format!("{} rows and {} columns", self.rows, self.columns);
            return Err(self.place.malformed(found, "a square adjacency matrix").into());
        }
        if self.values.contains(&0.0) {
            let mut stored = self.values.iter();
            self.entries.retain(|_| stored.next().is_some_and(|value| *value != 0.0));
            self.values.retain(|value| *value != 0.0);
        }
        Ok(self)
    }

    /// The rows as features of nodes, kept sparse.
    ///
    /// # Errors
    /// When there is not one row for each node.
    pub fn into_features(self, nodes: usize) -> Result<Features> {
        if self.rows != nodes {
            let malformed =
                self.place.malformed(format!("{} rows of features", self.rows), format!("{nodes}, one a node"));
            return Err(malformed.into());
        }
        let summed = self.with_duplicates_summed();
        let mut offsets = vec![0usize; nodes + 1];
        for &(row, _) in &summed.entries {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..nodes {
            offsets[row + 1] += offsets[row];
        }
        let indices = summed.entries.iter().map(|entry| entry.1).collect();
        Ok(Features::Sparse(Sparse::new(summed.columns, offsets, indices, summed.values)?))
    }

    /// The entries sorted by row and column; those stored several times added up, which is what scipy takes them to mean.
    fn with_duplicates_summed(mut self) -> Matrix {
        if self.entries.is_sorted_by(|a, b| a < b) {
            return self;
        }
        let mut stored: Vec<_> = self.entries.into_par_iter().zip(self.values).collect();
        stored.par_sort_by_key(|(entry, _)| *entry);
        stored.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        (self.entries, self.values) = stored.into_iter().unzip();
        self
    }
}

fn no_matrix(value: Value<'_>, place: &Place) -> Malformed {
    place.malformed(value.to_string(), "a sparse matrix of scipy")
}
