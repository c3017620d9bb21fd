//! What is known of every node or edge: dense, sparse or categorical.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::fingerprint::{self, Cached};
use crate::graph::Graph;

/// One row of numbers for each node (or edge), stored the way its source stores it.
#[derive(Debug, Clone, PartialEq)]
pub enum Features {
    /// Every value written out.
    Dense(Dense),
    /// Only the values that are not zero.
    Sparse(Sparse),
    /// Codes of categories, as for the atoms and bonds of molecules.
    Categorical(Categorical),
}

/// Row after row of `f32`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    columns: usize,
    // Shared by copies: features and embeddings may be the largest of all that is in memory.
    values: Arc<Vec<f32>>,
    rows: usize,
    fingerprint: Cached,
}

/// Compressed sparse rows of `f32`, column indices sorted in each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    columns: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
    fingerprint: Cached,
}

/// Row after row of category codes; column `c` has codes `0..cardinalities[c]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    cardinalities: Vec<u16>,
    codes: Vec<u8>,
    rows: usize,
    fingerprint: Cached,
}

impl Features {
    /// Number of rows: one a node, or one an edge.
    pub fn rows(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.rows,
            Features::Sparse(sparse) => sparse.rows(),
            Features::Categorical(categorical) => categorical.rows,
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.columns,
            Features::Sparse(sparse) => sparse.columns,
            Features::Categorical(categorical) => categorical.cardinalities.len(),
        }
    }

    /// Share of values that are not zero; categories count as present.
    pub fn density(&self) -> f64 {
        let all = self.rows() as f64 * self.columns() as f64;
        let present = match self {
            Features::Dense(dense) => dense.values.iter().filter(|value| **value != 0.0).count(),
            Features::Sparse(sparse) => sparse.values.len(),
            Features::Categorical(categorical) => categorical.codes.len(),
        };
        if all == 0.0 { 0.0 } else { present as f64 / all }
    }

    /// The chosen rows, in the order given: one copy.
    pub fn gather(&self, rows: &[u32]) -> Features {
        match self {
            Features::Dense(dense) => Features::Dense(Dense {
                columns: dense.columns,
                values: gather(&dense.values, dense.columns, rows).into(),
                rows: rows.len(),
                fingerprint: Cached::default(),
            }),
            Features::Sparse(sparse) => Features::Sparse(sparse.gather(rows)),
            Features::Categorical(categorical) => Features::Categorical(Categorical {
                cardinalities: categorical.cardinalities.clone(),
                codes: gather(&categorical.codes, categorical.cardinalities.len(), rows),
                rows: rows.len(),
                fingerprint: Cached::default(),
            }),
        }
    }

    /// The chosen columns, in the order given, each at most once.
    ///
    /// ```
    /// use fiedler_graph::{Dense, Features};
    /// let features = Features::Dense(Dense::new(2, 3, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?);
    /// assert_eq!(features.select_columns(&[2, 0])?.to_dense().values(), [2.0, 0.0, 5.0, 3.0]);
    /// assert!(features.select_columns(&[3]).is_err() && features.select_columns(&[1, 1]).is_err());
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a column does not exist, or is chosen twice.
    pub fn select_columns(&self, columns: &[u32]) -> Result<Features> {
        let mut place = vec![None; self.columns()];
        for (at, &column) in columns.iter().enumerate() {
            match place.get_mut(column as usize) {
                Some(slot @ None) => *slot = Some(at as u32),
                Some(Some(_)) => return Err(Error::setting("feature column", column, "each column once")),
                None => {
                    let expected = format!("a column below {}", self.columns());
                    return Err(Error::setting("feature column", column, expected));
                }
            }
        }
        Ok(match self {
            Features::Dense(dense) => {
                let cells = |row| columns.iter().map(move |&column| dense.row(row)[column as usize]);
                Features::Dense(Dense::new(dense.rows, columns.len(), (0..dense.rows).flat_map(cells).collect())?)
            }
            Features::Sparse(sparse) => {
                let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for row in 0..sparse.rows() {
                    let (of_row, numbers) = sparse.row(row);
                    for (&column, &value) in of_row.iter().zip(numbers) {
                        if let Some(at) = place[column as usize] {
                            indices.push(at);
                            values.push(value);
                        }
                    }
                    indptr.push(indices.len());
                }
                Features::Sparse(Sparse::new(columns.len(), indptr, indices, values)?)
            }
            Features::Categorical(categorical) => {
                let cardinalities = columns.iter().map(|&column| categorical.cardinalities[column as usize]).collect();
                let codes = |row| columns.iter().map(move |&column| categorical.row(row)[column as usize]);
                Features::Categorical(Categorical::new(cardinalities, (0..categorical.rows).flat_map(codes).collect())?)
            }
        })
    }

    /// The same numbers written out. Category codes become numbers.
    pub fn to_dense(&self) -> Dense {
        match self {
            Features::Dense(dense) => dense.clone(),
            Features::Sparse(sparse) => {
                let mut values = vec![0.0; sparse.rows() * sparse.columns];
                for row in 0..sparse.rows() {
                    let (indices, row_values) = sparse.row(row);
                    for (&column, &value) in indices.iter().zip(row_values) {
                        values[row * sparse.columns + column as usize] = value;
                    }
                }
                Dense {
                    columns: sparse.columns,
                    values: values.into(),
                    rows: sparse.rows(),
                    fingerprint: Cached::default(),
                }
            }
            Features::Categorical(categorical) => Dense {
                columns: categorical.cardinalities.len(),
                values: Arc::new(categorical.codes.iter().map(|&code| f32::from(code)).collect()),
                rows: categorical.rows,
                fingerprint: Cached::default(),
            },
        }
    }

    /// Scales every row to sum to one in absolute value; rows of zeros stay, categories are left as they are.
    pub fn normalize_rows(&mut self) {
        self.divide_rows(|row| row.iter().map(|value| value.abs()).sum());
    }

    /// Scales every row so that the root mean square of its entries that are not zero is one; rows of zeros stay, categories are left as
    /// they are.
    pub fn unit_entries(&mut self) {
        self.divide_rows(|row| {
            let entries = row.iter().filter(|value| **value != 0.0).count().max(1);
            (row.iter().map(|value| value * value).sum::<f32>() / entries as f32).sqrt()
        });
    }

    fn divide_rows(&mut self, size: impl Fn(&[f32]) -> f32 + Sync) {
        let divide = |row: &mut [f32]| {
            let size = size(row);
            if size > 0.0 {
                row.iter_mut().for_each(|value| *value /= size);
            }
        };
        match self {
            Features::Dense(dense) if dense.columns > 0 => {
                dense.fingerprint.clear();
                Arc::make_mut(&mut dense.values).par_chunks_mut(dense.columns).for_each(divide);
            }
            Features::Sparse(sparse) => {
                sparse.fingerprint.clear();
                for row in 0..sparse.rows() {
                    divide(&mut sparse.values[sparse.indptr[row]..sparse.indptr[row + 1]]);
                }
            }
            Features::Dense(_) | Features::Categorical(_) => {}
        }
    }

    /// A hash of every value and its place: equal for equal features, different for any two one will ever meet.
    /// Computed once, however often it is asked for.
    pub fn fingerprint(&self) -> String {
        let cache = match self {
            Features::Dense(dense) => &dense.fingerprint,
            Features::Sparse(sparse) => &sparse.fingerprint,
            Features::Categorical(categorical) => &categorical.fingerprint,
        };
        cache.get(|| fingerprint::of_features(self))
    }

    /// Cosine of two rows; 0 where one of them is zero. Of categories, the share of columns in which they have the same code.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        let square = |values: &[f32]| values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>();
        let (product, squares) = match self {
            Features::Dense(dense) => {
                let (a, b) = (dense.row(a), dense.row(b));
                let product: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                (product, square(a) * square(b))
            }
            Features::Sparse(sparse) => {
                let ((columns_a, a), (columns_b, b)) = (sparse.row(a), sparse.row(b));
                let (mut product, mut at) = (0.0, 0);
                for (column, &value) in columns_a.iter().zip(a) {
                    at += columns_b[at..].partition_point(|other| other < column);
                    if columns_b.get(at) == Some(column) {
                        product += f64::from(value) * f64::from(b[at]);
                    }
                }
                (product, square(a) * square(b))
            }
            Features::Categorical(codes) => {
                let (a, b) = (codes.row(a), codes.row(b));
                let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
                (same as f64, (a.len() * b.len()) as f64)
            }
        };
        if squares > 0.0 { product / squares.sqrt() } else { 0.0 }
    }

    /// Likeness of two rows as sets of features: Jaccard's, those that both have among those that either has, where all values are 0 or 1;
    /// else their cosine. 0 where neither has any.
    ///
    /// ```
    /// use fiedler_graph::{Dense, Features};
    /// let words = Features::Dense(Dense::new(2, 3, vec![1.0, 1.0, 0.0, 0.0, 1.0, 1.0])?);
    /// assert_eq!(words.similarity(0, 1), 1.0 / 3.0);
    /// let reals = Features::Dense(Dense::new(2, 2, vec![3.0, 4.0, 4.0, 3.0])?);
    /// assert!((reals.similarity(0, 1) - 0.96).abs() < 1e-12);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn similarity(&self, a: usize, b: usize) -> f64 {
        let ones = |row: &[f32]| row.iter().all(|value| *value == 0.0 || *value == 1.0);
        let (both, first, second) = match self {
            Features::Dense(dense) if ones(dense.row(a)) && ones(dense.row(b)) => {
                let (a, b) = (dense.row(a), dense.row(b));
                let count = |row: &[f32]| row.iter().filter(|value| **value != 0.0).count();
                (a.iter().zip(b).filter(|(a, b)| **a != 0.0 && **b != 0.0).count(), count(a), count(b))
            }
            Features::Sparse(sparse) if ones(sparse.row(a).1) && ones(sparse.row(b).1) => {
                let (a, b) = (sparse.row(a).0, sparse.row(b).0);
                (a.iter().filter(|column| b.binary_search(column).is_ok()).count(), a.len(), b.len())
            }
            _ => return self.cosine(a, b),
        };
        match first + second - both {
            0 => 0.0,
            either => both as f64 / either as f64,
        }
    }

    /// One-hot node degrees, for graphs without features. Degrees of `cap` and more share the last of `cap + 1` columns.
    ///
    /// ```
    /// use fiedler_graph::{Features, Graph};
    /// let (star, _) = Graph::from_pairs(4, vec![(0, 1), (0, 2), (0, 3)])?;
    /// let degrees = Features::degrees(&star, 2);
    /// assert_eq!(degrees.to_dense().row(0), [0.0, 0.0, 1.0]);
    /// assert_eq!(degrees.to_dense().row(1), [0.0, 1.0, 0.0]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn degrees(graph: &Graph, cap: usize) -> Features {
        let codes = (0..graph.num_nodes() as u32).map(|node| graph.degree(node).min(cap) as u32).collect();
        Features::Sparse(Sparse::one_hot(cap + 1, codes))
    }
}

impl Dense {
    /// Row after row of values.
    ///
    /// # Errors
    /// When the values do not fill the rows, or one is not finite.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Result<Dense> {
        Dense::shared(rows, columns, Arc::new(values))
    }

    /// Row after row of values that others hold too.
    ///
    /// # Errors
    /// As [`Dense::new`].
    pub fn shared(rows: usize, columns: usize, values: Arc<Vec<f32>>) -> Result<Dense> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::setting("number of feature values", values.len(), format!("{rows} rows of {columns}")));
        }
        check_finite(&values)?;
        Ok(Dense { columns, values, rows, fingerprint: Cached::default() })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl Sparse {
    /// Compressed sparse rows. Sorts each row's columns, drops stored zeros.
    ///
    /// # Errors
    /// When the arrays do not fit together, a column is out of range or named twice in a row, or a value is not finite.
    pub fn new(columns: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<f32>) -> Result<Sparse> {
        let fits = indptr.first() == Some(&0)
            && indptr.last() == Some(&indices.len())
            && indices.len() == values.len()
            && indptr.is_sorted();
        if !fits {
            return Err(Error::setting(
                "row indptr",
                format!("{} indptr for {} indices and {} values", indptr.len(), indices.len(), values.len()),
                "indptr that ascend from 0 to the number of indices, which is the number of values",
            ));
        }
        if let Some(index) = indices.iter().find(|index| **index as usize >= columns) {
            return Err(Error::setting("feature column", index, format!("a column below {columns}")));
        }
        check_finite(&values)?;
        let mut sparse = Sparse { columns, indptr, indices, values, fingerprint: Cached::default() };
        sparse.sort_rows()?;
        if sparse.values.contains(&0.0) {
            sparse.drop_zeros();
        }
        Ok(sparse)
    }

    /// One 1 a row, at the given column.
    pub(crate) fn one_hot(columns: usize, codes: Vec<u32>) -> Sparse {
        debug_assert!(codes.iter().all(|&code| (code as usize) < columns));
        Sparse {
            columns,
            indptr: (0..=codes.len()).collect(),
            values: vec![1.0; codes.len()],
            indices: codes,
            fingerprint: Cached::default(),
        }
    }

    fn sort_rows(&mut self) -> Result<()> {
        let mut order: Vec<(u32, f32)> = Vec::new();
        for row in 0..self.rows() {
            let range = self.indptr[row]..self.indptr[row + 1];
            if self.indices[range.clone()].is_sorted_by(|a, b| a < b) {
                continue;
            }
            order.clear();
            order.extend(self.indices[range.clone()].iter().copied().zip(self.values[range.clone()].iter().copied()));
            order.sort_unstable_by_key(|entry| entry.0);
            if let Some(twice) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(Error::setting(
                    "feature column",
                    twice[0].0,
                    format!("each column at most once in row {row}"),
                ));
            }
            for (slot, &(index, value)) in range.zip(&order) {
                self.indices[slot] = index;
                self.values[slot] = value;
            }
        }
        Ok(())
    }

    fn drop_zeros(&mut self) {
        let mut kept = 0;
        let mut start = 0;
        for row in 0..self.rows() {
            let end = self.indptr[row + 1];
            for slot in start..end {
                if self.values[slot] != 0.0 {
                    self.values[kept] = self.values[slot];
                    self.indices[kept] = self.indices[slot];
                    kept += 1;
                }
            }
            start = end;
            self.indptr[row + 1] = kept;
        }
        self.values.truncate(kept);
        self.indices.truncate(kept);
    }

    fn gather(&self, rows: &[u32]) -> Sparse {
        let mut indptr = Vec::with_capacity(rows.len() + 1);
        indptr.push(0);
        let entries: usize = rows.iter().map(|&row| self.row(row as usize).0.len()).sum();
        let mut indices = Vec::with_capacity(entries);
        let mut values = Vec::with_capacity(entries);
        for &row in rows {
            let (row_indices, row_values) = self.row(row as usize);
            indices.extend_from_slice(row_indices);
            values.extend_from_slice(row_values);
            indptr.push(indices.len());
        }
        Sparse { columns: self.columns, indptr, indices, values, fingerprint: Cached::default() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Column indices and values of one row.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Where each row starts, and the end of the last.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Column indices, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl Categorical {
    /// Row after row of codes.
    ///
    /// # Errors
    /// When the codes do not fill the rows, or one is not below its column's cardinality.
    pub fn new(cardinalities: Vec<u16>, codes: Vec<u8>) -> Result<Categorical> {
        let columns = cardinalities.len();
        if columns == 0 || !codes.len().is_multiple_of(columns) {
            return Err(Error::setting("number of category codes", codes.len(), format!("rows of {columns}")));
        }
        let out = codes.iter().enumerate().find(|(at, code)| u16::from(**code) >= cardinalities[at % columns]);
        if let Some((at, code)) = out {
            let column = at % columns;
            return Err(Error::setting(
                format!("category code in column {column}"),
                code,
                format!("a code below {}", cardinalities[column]),
            ));
        }
        Ok(Categorical { rows: codes.len() / columns, cardinalities, codes, fingerprint: Cached::default() })
    }

    /// How many categories each column has.
    pub fn cardinalities(&self) -> &[u16] {
        &self.cardinalities
    }

    /// All codes, row after row.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// The codes of one row.
    pub fn row(&self, row: usize) -> &[u8] {
        let columns = self.cardinalities.len();
        &self.codes[row * columns..(row + 1) * columns]
    }
}

pub(crate) fn gather<T: Copy>(values: &[T], columns: usize, rows: &[u32]) -> Vec<T> {
    let mut gathered = Vec::with_capacity(rows.len() * columns);
    for &row in rows {
        gathered.extend_from_slice(&values[row as usize * columns..(row as usize + 1) * columns]);
    }
    gathered
}

fn check_finite(values: &[f32]) -> Result<()> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(bad) => Err(Error::setting("feature value", bad, "a finite number")),
        None => Ok(()),
    }
}
