//! Embeddings laid out on a plane, near what they are near in all their dimensions: t-SNE, begun from principal components.
//!
//! Nothing here is random: neighbors are found exactly and the layout starts from the components, so that the same embeddings
//! give the same picture whatever the number of threads.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bhtsne::{Neighbor, tSNE};
use faer::Mat;
use fiedler_spectral::{Spectrum, SymmetricMap, spectrum};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Components that neighbors are looked for in.
const COMPONENTS: usize = 30;
/// Columns that components are sought among at most; of more, those that vary most.
const COLUMNS: usize = 512;
/// About how many neighbors a point should have.
const PERPLEXITY: f32 = 30.0;
const STEPS: usize = 500;
/// How coarsely far points are seen, θ of Barnes and Hut.
const COARSENESS: f32 = 0.6;
/// Fewer points than this are shown by their first two components: there are no neighborhoods to keep.
const FEWEST: usize = 20;

/// How points were laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// By the first two principal components.
    Components,
    /// By t-SNE.
    Neighbors,
}

/// Lays out rows of so many columns on a plane.
///
/// ```
/// // Two far groups stay apart.
/// let rows: Vec<f32> = (0..60).flat_map(|row| [if row < 30 { 0.0 } else { 50.0 }, (row % 7) as f32, (row % 5) as f32]).collect();
/// let (points, _) = fiedler_report::plane::lay_out(&rows, 3);
/// let distance = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
/// assert!(distance(points[0], points[7]) < distance(points[0], points[37]));
/// ```
pub fn lay_out(values: &[f32], columns: usize) -> (Vec<[f32; 2]>, Layout) {
    if columns == 0 {
        return (Vec::new(), Layout::Components);
    }
    let (distinct, of_row) = without_copies(values, columns);
    let (places, layout) = lay_out_distinct(&distinct, columns);
    (of_row.into_iter().map(|row| places[row]).collect(), layout)
}

/// The rows that differ, and for every row which of them it is: copies share a place, and nothing could tell them apart.
fn without_copies(values: &[f32], columns: usize) -> (Vec<f32>, Vec<usize>) {
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let (mut distinct, mut of_row) = (Vec::new(), Vec::new());
    for row in values.chunks_exact(columns) {
        let next = known.len();
        let place = *known.entry(row.iter().map(|value| value.to_bits()).collect()).or_insert(next);
        if place == next {
            distinct.extend_from_slice(row);
        }
        of_row.push(place);
    }
    (distinct, of_row)
}

fn lay_out_distinct(values: &[f32], columns: usize) -> (Vec<[f32; 2]>, Layout) {
    let rows = values.len() / columns;
    let components = components(values, rows, columns);
    let width = components.len().checked_div(rows).unwrap_or(0);
    let start = start(&components, rows, width);
    if rows < FEWEST || width < 2 {
        return (start, Layout::Components);
    }
    match by_neighbors(&components, width, &start) {
        Some(points) => (points, Layout::Neighbors),
        None => (start, Layout::Components),
    }
}

/// t-SNE; none where rows differ by so little that it leads nowhere.
fn by_neighbors(components: &[f32], width: usize, start: &[[f32; 2]]) -> Option<Vec<[f32; 2]>> {
    let rows = start.len();
    let perplexity = PERPLEXITY.min((rows - 1) as f32 / 3.0).floor();
    let neighbors = neighbors(components, width, 3 * perplexity as usize);
    let items: Vec<usize> = (0..rows).collect();
    let begin: Vec<f32> = start.iter().flatten().copied().collect();
    // The crate's sums depend on how threads share the work, so one does all of it. It asserts what data without any spread break.
    let alone = ThreadPoolBuilder::new().num_threads(1).build().ok()?;
    let lay_out = || {
        let mut layout: tSNE<'_, f32, usize, 2> = tSNE::new(&items);
        layout.perplexity(perplexity).epochs(STEPS).initial_embedding(begin);
        layout.barnes_hut_with_neighbors(COARSENESS, &neighbors).embedding()
    };
    let places = catch_unwind(AssertUnwindSafe(|| alone.install(lay_out))).ok()?;
    let points: Vec<[f32; 2]> = places.chunks_exact(2).map(|point| [point[0], point[1]]).collect();
    points.iter().flatten().all(|value| value.is_finite()).then_some(points)
}

/// The first principal components of the rows, the strongest first.
fn components(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    if rows == 0 {
        return Vec::new();
    }
    let (means, chosen) = varying(values, rows, columns);
    let width = chosen.len();
    let centred =
        Mat::from_fn(rows, width, |row, at| f64::from(values[row * columns + chosen[at]]) - means[chosen[at]]);
    let covariance = Covariance(product(&centred, rows));
    let Ok(Spectrum { vectors, .. }) = spectrum(&covariance, 1 << 32) else { return Vec::new() };
    let kept = width.min(COMPONENTS);
    let project = |row: usize| -> Vec<f32> {
        let along = |component: usize| {
            let column = width - 1 - component;
            (0..width).map(|at| centred[(row, at)] * vectors[(at, column)]).sum::<f64>() as f32
        };
        (0..kept).map(along).collect()
    };
    (0..rows).into_par_iter().flat_map_iter(project).collect()
}

/// Means of all columns, and the columns that vary most, in their order.
fn varying(values: &[f32], rows: usize, columns: usize) -> (Vec<f64>, Vec<usize>) {
    let (mut sums, mut squares) = (vec![0.0; columns], vec![0.0; columns]);
    for row in values.chunks_exact(columns) {
        for (at, &value) in row.iter().enumerate() {
            let value = f64::from(value);
            sums[at] += value;
            squares[at] += value * value;
        }
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / rows as f64).collect();
    let variance = |at: usize| squares[at] / rows as f64 - means[at] * means[at];
    let mut chosen: Vec<usize> = (0..columns).collect();
    chosen.sort_by(|&a, &b| variance(b).total_cmp(&variance(a)).then(a.cmp(&b)));
    chosen.truncate(COLUMNS);
    chosen.sort_unstable();
    (means, chosen)
}

/// The covariance of centred columns, each entry summed in the order of the rows.
fn product(centred: &Mat<f64>, rows: usize) -> Mat<f64> {
    let width = centred.ncols();
    let columns: Vec<&[f64]> =
        (0..width).map(|at| centred.col(at).try_as_col_major().map_or(&[][..], |column| column.as_slice())).collect();
    let entries: Vec<Vec<f64>> = (0..width)
        .into_par_iter()
        .map(|a| {
            (0..=a).map(|b| columns[a].iter().zip(columns[b]).map(|(a, b)| a * b).sum::<f64>() / rows as f64).collect()
        })
        .collect();
    Mat::from_fn(width, width, |a, b| entries[a.max(b)][a.min(b)])
}

struct Covariance(Mat<f64>);

impl SymmetricMap for Covariance {
    fn size(&self) -> usize {
        self.0.nrows()
    }

    fn bounds(&self) -> (f64, f64) {
        (0.0, (0..self.size()).map(|at| self.0[(at, at)]).sum())
    }

    fn recur(&self, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        for row in 0..self.size() {
            for column in 0..columns {
                let image: f64 = (0..self.size()).map(|at| self.0[(row, at)] * x[at * columns + column]).sum();
                let place = row * columns + column;
                let kept = if keep == 0.0 { 0.0 } else { keep * y[place] };
                y[place] = scale * image + shift * x[place] + kept;
            }
        }
    }

    fn to_dense(&self) -> Mat<f64> {
        self.0.clone()
    }
}

/// The first two components, as small as t-SNE wants its start.
fn start(components: &[f32], rows: usize, width: usize) -> Vec<[f32; 2]> {
    let of = |row: usize, at: usize| if at < width { components[row * width + at] } else { 0.0 };
    let square: f64 = (0..rows).map(|row| f64::from(of(row, 0)).powi(2)).sum();
    let deviation = (square / rows.max(1) as f64).sqrt().max(1e-12) as f32;
    (0..rows).map(|row| [1e-4 * of(row, 0) / deviation, 1e-4 * of(row, 1) / deviation]).collect()
}

/// The nearest other points of every point, the nearest first; equally near ones by their numbers.
fn neighbors(components: &[f32], width: usize, wanted: usize) -> Vec<Vec<Neighbor<f32>>> {
    let rows: Vec<&[f32]> = components.chunks_exact(width).collect();
    let of = |row: usize| {
        let square = |other: usize| rows[row].iter().zip(rows[other]).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
        let mut others: Vec<(f32, usize)> =
            (0..rows.len()).filter(|&other| other != row).map(|other| (square(other), other)).collect();
        let nearer = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let wanted = wanted.clamp(1, others.len());
        if wanted < others.len() {
            others.select_nth_unstable_by(wanted - 1, nearer);
            others.truncate(wanted);
        }
        others.sort_unstable_by(nearer);
        others.into_iter().map(|(square, index)| Neighbor { index, distance: square.sqrt() }).collect()
    };
    (0..rows.len()).into_par_iter().map(of).collect()
}
