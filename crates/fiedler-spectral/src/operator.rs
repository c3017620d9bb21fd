//! The matrices whose spectra are studied, known by how they multiply.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::simd::Arch;
use faer::Mat;
use fiedler_graph::Graph;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linear::Precision;

/// Rows one thread multiplies at a time: fixed, so that results do not depend on the number of threads.
const ROWS_AT_ONCE: usize = 256;

/// Columns summed in registers at once; narrow tiles take what the others leave.
const TILE: usize = 16;
const NARROW_TILE: usize = 4;

/// Which matrix of the graph the spectrum is taken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// `I - D^-1/2 B D^-1/2`, the normalized Laplacian, spectrum in [0, 2].
    #[default]
    Laplacian,
    /// `(D + I)^-1/2 (B + I) (D + I)^-1/2`, what a graph convolution multiplies by, spectrum in [-1, 1].
    Propagation,
}

impl Operator {
    /// All operators, in the order they are listed to users.
    pub const ALL: [Operator; 2] = [Operator::Laplacian, Operator::Propagation];

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Laplacian => "laplacian",
            Operator::Propagation => "propagation",
        }
    }

    /// An interval that holds the whole spectrum, whatever the graph.
    pub fn bounds(self) -> (f64, f64) {
        match self {
            Operator::Laplacian => (0.0, 2.0),
            Operator::Propagation => (-1.0, 1.0),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operator {
    type Err = Error;

    fn from_str(name: &str) -> Result<Operator> {
        Operator::ALL
            .into_iter()
            .find(|operator| operator.name() == name)
            .ok_or_else(|| Error::setting("operator", format!("{name:?}"), "laplacian or propagation"))
    }
}

/// A real symmetric matrix that can be multiplied with.
///
/// Several vectors are multiplied at once. They lie row by row: the values of one node for all of the vectors are
/// neighbors in memory, so that following an edge fetches all of them together.
pub trait SymmetricMap: Sync {
    /// Number of rows, and of columns.
    fn size(&self) -> usize;

    /// An interval that holds the whole spectrum.
    fn bounds(&self) -> (f64, f64);

    /// `y ← scale · M x + shift · x + keep · y` for `columns` vectors at once, each slice being `size × columns` row by
    /// row.
    ///
    /// One step of a three-term recurrence. With `keep = 0` the old `y` is not looked at. The result must not depend on
    /// the number of threads.
    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]);

    /// [`SymmetricMap::recur`] in single precision, which moves half the memory. Good enough for directions that are
    /// corrected later.
    fn recur_single(&self, x: &[f32], columns: usize, scale: f32, shift: f32, keep: f32, y: &mut [f32]) {
        let double: Vec<f64> = x.iter().map(|&value| f64::from(value)).collect();
        let mut image: Vec<f64> = y.iter().map(|&value| f64::from(value)).collect();
        self.recur(&double, columns, scale.into(), shift.into(), keep.into(), &mut image);
        y.iter_mut().zip(image).for_each(|(y, image)| *y = image as f32);
    }

    /// `y ← M x` for `columns` vectors at once.
    fn apply_block(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        self.recur(x, columns, 1.0, 0.0, 0.0, y);
    }

    /// `y ← M x`.
    fn apply_vector(&self, x: &[f64], y: &mut [f64]) {
        self.apply_block(x, 1, y);
    }

    /// The matrix with all its entries; `size²` numbers.
    fn to_dense(&self) -> Mat<f64> {
        let size = self.size();
        let mut dense = Mat::zeros(size, size);
        let columns = 64.min(size);
        let (mut units, mut image) = (vec![0.0; size * columns], vec![0.0; size * columns]);
        for first in (0..size).step_by(columns.max(1)) {
            let here = columns.min(size - first);
            let (units, image) = (&mut units[..size * here], &mut image[..size * here]);
            units.fill(0.0);
            (0..here).for_each(|column| units[(first + column) * here + column] = 1.0);
            self.apply_block(units, here, image);
            for column in 0..here {
                for row in 0..size {
                    dense[(row, first + column)] = image[row * here + column];
                }
            }
        }
        dense
    }
}

/// Rows of a symmetric non-negative matrix `B`: every pair is stored from both of its ends, and never on the diagonal.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Where each row starts in the other two, and the end of the last: one more than there are rows.
    pub offsets: &'a [usize],
    /// The columns, row after row.
    pub neighbors: &'a [u32],
    /// The entries beside the columns.
    pub values: &'a [f64],
    /// The diagonal of `B`; `None` is a diagonal of zeros.
    pub self_loops: Option<&'a [f64]>,
}

/// An [`Operator`] of a graph, ready to multiply. A node of degree 0 has `d^-1/2 = 0`.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_spectral::{Normalized, Operator, SymmetricMap};
///
/// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
/// let laplacian = Normalized::of(&path, Operator::Laplacian);
/// // The lowest eigenvector of the Laplacian is the root of the degrees; its eigenvalue is 0.
/// let mut image = [0.0; 3];
/// laplacian.apply_vector(&[1.0, 2f64.sqrt(), 1.0], &mut image);
/// assert!(image.iter().all(|value| value.abs() < 1e-12));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Normalized<'a> {
    operator: Operator,
    offsets: Cow<'a, [usize]>,
    neighbors: Cow<'a, [u32]>,
    /// Entries of the operator itself beside `neighbors`.
    values: Vec<f64>,
    diagonal: Vec<f64>,
    degrees: Vec<f64>,
}

impl<'a> Normalized<'a> {
    /// The operator of a graph, its weights honoured. The graph's rows are borrowed.
    pub fn of(graph: &'a Graph, operator: Operator) -> Normalized<'a> {
        let values = match graph.weights() {
            Some(weights) => weights.iter().map(|&weight| f64::from(weight)).collect(),
            None => vec![1.0; graph.indices().len()],
        };
        let mut map = Normalized {
            operator,
            offsets: Cow::Borrowed(graph.indptr()),
            neighbors: Cow::Borrowed(graph.indices()),
            values,
            diagonal: vec![0.0; graph.num_nodes()],
            degrees: vec![0.0; graph.num_nodes()],
        };
        map.normalize(None);
        map
    }

    /// The operator of any symmetric matrix with entries that are not negative, such as the expectation of a random
    /// graph.
    /// The offsets and neighbors are borrowed, the values copied.
    ///
    /// Symmetry is the caller's promise; it is checked only in debug builds.
    ///
    /// # Errors
    /// When the arrays do not fit together, a neighbor is no row, or a value is negative or not finite.
    pub fn from_rows(rows: Rows<'a>, operator: Operator) -> Result<Normalized<'a>> {
        check(&rows)?;
        let size = rows.offsets.len() - 1;
        let mut map = Normalized {
            operator,
            offsets: Cow::Borrowed(rows.offsets),
            neighbors: Cow::Borrowed(rows.neighbors),
            values: rows.values.to_vec(),
            diagonal: vec![0.0; size],
            degrees: vec![0.0; size],
        };
        debug_assert!(map.is_symmetric(), "rows of a symmetric matrix");
        map.normalize(rows.self_loops);
        Ok(map)
    }

    /// Replaces the entries of `B`, keeping where they stand: the next step of a graph whose weights move.
    ///
    /// # Errors
    /// As [`Normalized::from_rows`].
    pub fn reweight(&mut self, values: &[f64], self_loops: Option<&[f64]>) -> Result<()> {
        check_values(values, self.neighbors.len(), self_loops, self.size())?;
        self.values.copy_from_slice(values);
        self.normalize(self_loops);
        Ok(())
    }

    /// The same operator, owning its rows.
    pub fn into_owned(self) -> Normalized<'static> {
        Normalized {
            operator: self.operator,
            offsets: Cow::Owned(self.offsets.into_owned()),
            neighbors: Cow::Owned(self.neighbors.into_owned()),
            values: self.values,
            diagonal: self.diagonal,
            degrees: self.degrees,
        }
    }

    /// Which operator this is.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The row sums the operator is normalized by: `D` for the Laplacian, `D + I` for propagation.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The diagonal of the operator.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The neighbors of a node and the operator's entries beside them; the diagonal is apart.
    pub fn row(&self, node: usize) -> (&[u32], &[f64]) {
        let row = self.offsets[node]..self.offsets[node + 1];
        (&self.neighbors[row.clone()], &self.values[row])
    }

    /// Number of entries beside the diagonal.
    pub fn num_entries(&self) -> usize {
        self.values.len()
    }

    /// The sum of all squared eigenvalues, from the entries: the squared norm of the spectrum needs no eigensolver.
    pub fn frobenius_squared(&self) -> f64 {
        sum_of_squares(&self.values) + sum_of_squares(&self.diagonal)
    }

    /// The norm of the whole spectrum.
    pub fn spectral_norm(&self) -> f64 {
        self.frobenius_squared().sqrt()
    }

    /// Turns `values`, still the entries of `B`, into those of the operator.
    fn normalize(&mut self, self_loops: Option<&[f64]>) {
        let own_loop = |node: usize| self_loops.map_or(0.0, |loops| loops[node]);
        let added = if self.operator == Operator::Propagation { 1.0 } else { 0.0 };
        for node in 0..self.degrees.len() {
            let row: f64 = self.values[self.offsets[node]..self.offsets[node + 1]].iter().sum();
            self.degrees[node] = row + own_loop(node) + added;
        }
        let roots: Vec<f64> = self.degrees.iter().map(|&degree| inverse_root(degree)).collect();
        let sign = if self.operator == Operator::Laplacian { -1.0 } else { 1.0 };
        for node in 0..self.degrees.len() {
            let row = self.offsets[node]..self.offsets[node + 1];
            for (value, &other) in self.values[row.clone()].iter_mut().zip(&self.neighbors[row]) {
                *value *= sign * roots[node] * roots[other as usize];
            }
            let on_diagonal = (own_loop(node) + added) * roots[node] * roots[node];
            self.diagonal[node] = match self.operator {
                Operator::Laplacian => 1.0 - on_diagonal,
                Operator::Propagation => on_diagonal,
            };
        }
    }

    fn is_symmetric(&self) -> bool {
        let entry = |row: usize, column: usize| {
            let (neighbors, values) = self.row(row);
            neighbors.iter().position(|&other| other as usize == column).map(|place| values[place])
        };
        (0..self.size()).all(|node| {
            let (neighbors, values) = self.row(node);
            neighbors.iter().zip(values).all(|(&other, &value)| entry(other as usize, node) == Some(value))
        })
    }
}

impl SymmetricMap for Normalized<'_> {
    fn size(&self) -> usize {
        self.degrees.len()
    }

    fn bounds(&self) -> (f64, f64) {
        self.operator.bounds()
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        self.recur_rows(x, columns, Recurrence { scale, shift, keep }, y);
    }

    fn recur_single(&self, x: &[f32], columns: usize, scale: f32, shift: f32, keep: f32, y: &mut [f32]) {
        self.recur_rows(x, columns, Recurrence { scale, shift, keep }, y);
    }
}

/// The numbers of [`SymmetricMap::recur`].
#[derive(Clone, Copy)]
struct Recurrence<T> {
    scale: T,
    shift: T,
    keep: T,
}

/// [`SymmetricMap::recur`] for the rows from `first` on.
///
/// A type of its own and not a closure: the shim around a closure is compiled for the processor that all share, and what
/// is inside it with it.
struct RecurRows<'a, T> {
    map: &'a Normalized<'a>,
    x: &'a [T],
    columns: usize,
    recurrence: Recurrence<T>,
    first: usize,
    images: &'a mut [T],
}

impl<T: Precision> WithSimd for RecurRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let RecurRows { map, x, columns, recurrence, first, images } = self;
        for (node, image) in (first..).zip(images.chunks_exact_mut(columns)) {
            let (tiles, rest) = image.as_chunks_mut::<TILE>();
            let (doubles, tiles) = tiles.as_chunks_mut::<2>();
            let (narrow, single) = rest.as_chunks_mut::<NARROW_TILE>();
            let mut column = 0;
            for image in doubles {
                map.recur_tiles(x, columns, node, column, recurrence, image);
                column += 2 * TILE;
            }
            for image in tiles {
                map.recur_tiles(x, columns, node, column, recurrence, std::array::from_mut(image));
                column += TILE;
            }
            for image in narrow {
                map.recur_tiles(x, columns, node, column, recurrence, std::array::from_mut(image));
                column += NARROW_TILE;
            }
            for image in single {
                let image = std::array::from_mut(std::array::from_mut(image));
                map.recur_tiles(x, columns, node, column, recurrence, image);
                column += 1;
            }
        }
    }
}

impl Normalized<'_> {
    fn recur_rows<T: Precision>(&self, x: &[T], columns: usize, recurrence: Recurrence<T>, y: &mut [T]) {
        if columns == 0 {
            return;
        }
        let arch = Arch::new();
        y.par_chunks_mut(ROWS_AT_ONCE * columns).enumerate().for_each(|(chunk, images)| {
            // Dispatching to the processor's widest vectors once a chunk keeps the choice out of the inner loop.
            arch.dispatch(RecurRows { map: self, x, columns, recurrence, first: chunk * ROWS_AT_ONCE, images });
        });
    }

    /// [`SymmetricMap::recur_single`] on the thread that asks: for panels of which every thread has its own.
    pub(crate) fn recur_panel(&self, x: &[f32], columns: usize, scale: f32, shift: f32, keep: f32, y: &mut [f32]) {
        let recurrence = Recurrence { scale, shift, keep };
        Arch::new().dispatch(RecurRows { map: self, x, columns, recurrence, first: 0, images: y });
    }

    /// One row of [`SymmetricMap::recur`] for `TILES` times `WIDTH` columns from `first` on, summed in registers.
    #[inline(always)]
    fn recur_tiles<T: Precision, const WIDTH: usize, const TILES: usize>(
        &self,
        x: &[T],
        columns: usize,
        node: usize,
        first: usize,
        Recurrence { scale, shift, keep }: Recurrence<T>,
        image: &mut [[T; WIDTH]; TILES],
    ) {
        let of_node = |node: usize| x[node * columns + first..][..WIDTH * TILES].as_chunks::<WIDTH>().0;
        let row = self.offsets[node]..self.offsets[node + 1];
        let zero = T::of(0.0);
        let mut sums = [[zero; WIDTH]; TILES];
        for (&other, &entry) in self.neighbors[row.clone()].iter().zip(&self.values[row]) {
            let (theirs, entry) = (of_node(other as usize), T::of(entry));
            for tile in 0..TILES {
                for lane in 0..WIDTH {
                    sums[tile][lane] += entry * theirs[tile][lane];
                }
            }
        }
        let (own, stay) = (of_node(node), scale * T::of(self.diagonal[node]) + shift);
        for tile in 0..TILES {
            for lane in 0..WIDTH {
                let kept = if keep == zero { zero } else { keep * image[tile][lane] };
                image[tile][lane] = scale * sums[tile][lane] + stay * own[tile][lane] + kept;
            }
        }
    }
}

/// `d^-1/2`, and 0 for a node without edges.
pub fn inverse_root(degree: f64) -> f64 {
    if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn check(rows: &Rows) -> Result<()> {
    let entries = rows.neighbors.len();
    let rising = rows.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if rows.offsets.first() != Some(&0) || rows.offsets.last() != Some(&entries) || !rising {
        return Err(Error::setting("row offsets", "not rising", format!("numbers rising from 0 to {entries}")));
    }
    let size = rows.offsets.len() - 1;
    if let Some(other) = rows.neighbors.iter().find(|&&other| other as usize >= size) {
        return Err(Error::setting("column", other, format!("a number below {size}, the number of rows")));
    }
    check_values(rows.values, entries, rows.self_loops, size)
}

fn check_values(values: &[f64], entries: usize, self_loops: Option<&[f64]>, size: usize) -> Result<()> {
    if values.len() != entries {
        return Err(Error::setting("number of values", values.len(), format!("one for each of {entries} entries")));
    }
    if let Some(loops) = self_loops.filter(|loops| loops.len() != size) {
        return Err(Error::setting("number of self-loops", loops.len(), format!("one for each of {size} rows")));
    }
    let all = values.iter().chain(self_loops.unwrap_or_default());
    match all.copied().find(|value| !(value.is_finite() && *value >= 0.0)) {
        Some(bad) => Err(Error::setting("entry", bad, "a finite number that is not negative")),
        None => Ok(()),
    }
}
