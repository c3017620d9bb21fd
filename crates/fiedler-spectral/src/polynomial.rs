//! Chebyshev polynomials of an operator, entry by entry: functions of a matrix on chosen pairs, without an n × n array.
//!
//! `T_0 = I`, `T_1 = M`, `T_{k+1} = 2 M T_k - T_{k-1}`, with the operator scaled to [-1, 1], a panel of columns at a time: so
//! few that they stay in a core's cache from one product to the next. Of every `T_k` only the diagonal and the asked pairs
//! are kept. Each thread has panels of its own, and sums are taken in the panels' order, so that results do not depend on
//! the number of threads.

use std::ops::Range;

use crate::simd::Arch;
use pulp::{Simd, WithSimd};
use rand::RngExt;
use rayon::prelude::*;

use crate::operator::{Normalized, SymmetricMap};
use fiedler_graph::random::stream;

/// Columns of a panel.
pub const PANEL: usize = 32;

/// Rows whose terms are summed in single precision before they enter a double precision total.
const ROWS_A_FLUSH: usize = 256;

/// Pairs that one thread adds to at a time.
const PAIRS_TOGETHER: usize = 1 << 12;

/// Node pairs `(low, high)`, `low < high`, ascending, as compressed rows of their lower nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpperPairs {
    starts: Vec<usize>,
    higher: Vec<u32>,
}

impl UpperPairs {
    /// Pairs of so many nodes, handed over in ascending order.
    pub fn new(nodes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> UpperPairs {
        let mut upper = UpperPairs { starts: Vec::with_capacity(nodes + 1), higher: Vec::new() };
        for (low, high) in pairs {
            while upper.starts.len() <= low as usize {
                upper.starts.push(upper.higher.len());
            }
            upper.higher.push(high);
        }
        upper.starts.resize(nodes + 1, upper.higher.len());
        upper
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.higher.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.higher.is_empty()
    }

    /// Where the pairs of a lower node stand.
    pub fn places(&self, low: usize) -> Range<usize> {
        self.starts[low]..self.starts[low + 1]
    }

    /// The higher nodes of a lower node's pairs, ascending.
    pub fn of(&self, low: usize) -> &[u32] {
        &self.higher[self.places(low)]
    }

    /// Where a pair stands, given in either order.
    pub fn place(&self, a: usize, b: usize) -> Option<usize> {
        let (low, high) = (a.min(b), a.max(b));
        let found = self.of(low).binary_search(&(high as u32)).ok()?;
        Some(self.starts[low] + found)
    }

    /// Every pair, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.starts.len().saturating_sub(1))
            .flat_map(move |low| self.of(low).iter().map(move |&high| (low as u32, high)))
    }
}

/// The diagonals of `T_0 … T_{degree + 1}`, their entries on chosen pairs up to `T_degree`, and the traces of twice as many.
#[derive(Debug, Clone)]
pub struct Polynomials {
    degree: usize,
    moments: Vec<f64>,
    /// Row by node.
    diagonals: Vec<f32>,
    /// Row by pair, from `T_1` on: beside the diagonal `T_0` is zero.
    entries: Vec<f32>,
}

impl Polynomials {
    /// Computes all columns: `degree · n` products of the operator with a vector.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// use fiedler_spectral::polynomial::{Polynomials, UpperPairs};
    /// use fiedler_spectral::{Normalized, Operator};
    ///
    /// let (triangle, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (2, 0)])?;
    /// let map = Normalized::of(&triangle, Operator::Propagation);
    /// let found = Polynomials::of(&map, 2, &UpperPairs::new(3, [(0, 1)]));
    /// // All entries of the operator are 1/3: its eigenvalues are 1, 0, 0, and T_2(x) = 2x² - 1.
    /// assert!((found.moments()[2] - (1.0 - 1.0 - 1.0)).abs() < 1e-6);
    /// assert!((found.entries(&[0.0, 0.0, 1.0])[0] - 2.0 / 3.0).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(map: &Normalized<'_>, degree: usize, pairs: &UpperPairs) -> Polynomials {
        let (size, degree) = (map.size(), degree.max(1));
        let parts: Vec<Part> = (0..size.div_ceil(PANEL))
            .into_par_iter()
            .map(|panel| Part::of_columns(map, panel * PANEL, degree, pairs))
            .collect();
        let mut found = Polynomials {
            degree,
            moments: vec![0.0; 2 * degree + 1],
            diagonals: Vec::with_capacity(size * (degree + 2)),
            entries: Vec::with_capacity(pairs.len() * degree),
        };
        for part in parts {
            found.moments.iter_mut().zip(&part.traces).for_each(|(sum, value)| *sum += value);
            found.diagonals.extend_from_slice(&part.diagonals);
            found.entries.extend_from_slice(&part.entries);
        }
        found
    }

    /// The highest degree of which entries are known.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// `tr T_k` for `k` up to twice the degree.
    pub fn moments(&self) -> &[f64] {
        &self.moments
    }

    /// The diagonal of `Σ_k c_k T_k`, for at most `degree + 2` coefficients.
    pub fn diagonal(&self, series: &[f64]) -> Vec<f64> {
        let of_node = |row: &[f32]| row.iter().zip(series).map(|(&value, c)| f64::from(value) * c).sum();
        self.diagonals.chunks_exact(self.degree + 2).map(of_node).collect()
    }

    /// The entries of `Σ_k c_k T_k` on the pairs, for at most `degree + 1` coefficients.
    pub fn entries(&self, series: &[f64]) -> Vec<f32> {
        let series: Vec<f32> = series.iter().skip(1).map(|&c| c as f32).collect();
        let of_pair = |row: &[f32]| row.iter().zip(&series).map(|(value, c)| value * c).sum();
        self.entries.par_chunks_exact(self.degree).with_min_len(PAIRS_TOGETHER).map(of_pair).collect()
    }
}

/// What one panel of columns gives.
struct Part {
    traces: Vec<f64>,
    diagonals: Vec<f32>,
    entries: Vec<f32>,
}

impl Part {
    fn of_columns(map: &Normalized<'_>, first: usize, degree: usize, pairs: &UpperPairs) -> Part {
        let columns = PANEL.min(map.size() - first);
        let (length, start) = (degree + 2, pairs.places(first).start);
        let end = pairs.places(first + columns - 1).end;
        let mut part = Part {
            traces: vec![0.0; 2 * degree + 1],
            diagonals: vec![0.0; columns * length],
            entries: vec![0.0; (end - start) * degree],
        };
        part.traces[0] = columns as f64;
        part.diagonals.iter_mut().step_by(length).for_each(|value| *value = 1.0);
        let mut panel = Panel::units(map.size(), first, columns);
        let mut linear = [0.0; PANEL];
        panel.climb(map, degree, |k, now, before| {
            for column in 0..columns {
                let value = now[(first + column) * PANEL + column];
                part.diagonals[column * length + k] = value;
                part.traces[k] += f64::from(value);
                if k == 1 {
                    linear[column] = f64::from(value);
                }
                for (place, &high) in pairs.places(first + column).zip(pairs.of(first + column)) {
                    part.entries[(place - start) * degree + k - 1] = now[high as usize * PANEL + column];
                }
            }
            // T_2k = 2 T_k² - 1 and T_2k-1 = 2 T_k T_k-1 - T_1, of which only the diagonal is asked.
            if 2 * k <= degree {
                return;
            }
            let Sums { squares, crosses } = Sums::of(now, before);
            for column in 0..columns {
                let doubled =
                    [(2 * k - 1, 2.0 * crosses[column] - linear[column]), (2 * k, 2.0 * squares[column] - 1.0)];
                for (k, value) in doubled.into_iter().filter(|&(k, _)| k > degree) {
                    part.traces[k] += value;
                    if k == degree + 1 {
                        part.diagonals[column * length + k] = value as f32;
                    }
                }
            }
        });
        part
    }
}

/// Two blocks of [`PANEL`] vectors, row by row.
struct Panel {
    now: Vec<f32>,
    before: Vec<f32>,
}

impl Panel {
    /// Columns of the identity.
    fn units(size: usize, first: usize, columns: usize) -> Panel {
        let mut now = vec![0.0; size * PANEL];
        (0..columns).for_each(|column| now[(first + column) * PANEL + column] = 1.0);
        Panel { now, before: vec![0.0; size * PANEL] }
    }

    /// Random signs.
    fn signs(size: usize, seed: u64, purpose: &str, panel: usize) -> Panel {
        let mut random = stream(seed, purpose, panel as u64);
        let mut now = Vec::with_capacity(size * PANEL);
        for _ in 0..size {
            let bits: u32 = random.random();
            now.extend((0..PANEL).map(|column| if bits >> column & 1 == 1 { 1.0f32 } else { -1.0 }));
        }
        Panel { now, before: vec![0.0; size * PANEL] }
    }

    /// Hands over `T_k` times the block and `T_{k-1}` times the block, for `k` from 1 to the degree.
    fn climb(&mut self, map: &Normalized<'_>, degree: usize, mut visit: impl FnMut(usize, &[f32], &[f32])) {
        let (scale, shift) = scaling(map);
        for k in 1..=degree {
            let (scale, shift, keep) = if k == 1 { (scale, shift, 0.0) } else { (2.0 * scale, 2.0 * shift, -1.0) };
            map.recur_panel(&self.now, PANEL, scale, shift, keep, &mut self.before);
            std::mem::swap(&mut self.now, &mut self.before);
            visit(k, &self.now, &self.before);
        }
    }
}

/// What brings an operator to [-1, 1]: `scale · M + shift`.
fn scaling(map: &Normalized<'_>) -> (f32, f32) {
    let (low, high) = map.bounds();
    ((2.0 / (high - low)) as f32, (-(high + low) / (high - low)) as f32)
}

/// Sums over every column of a panel.
struct Sums {
    squares: [f64; PANEL],
    crosses: [f64; PANEL],
}

impl Sums {
    fn of(now: &[f32], before: &[f32]) -> Sums {
        let mut sums = Sums { squares: [0.0; PANEL], crosses: [0.0; PANEL] };
        let arch = Arch::new();
        for (now, before) in now.chunks(ROWS_A_FLUSH * PANEL).zip(before.chunks(ROWS_A_FLUSH * PANEL)) {
            let [squares, crosses] = arch.dispatch(ColumnSums { now, before });
            sums.squares.iter_mut().zip(squares).for_each(|(sum, value)| *sum += f64::from(value));
            sums.crosses.iter_mut().zip(crosses).for_each(|(sum, value)| *sum += f64::from(value));
        }
        sums
    }
}

/// The sums of `now²` and of `now · before` over every column.
struct ColumnSums<'a> {
    now: &'a [f32],
    before: &'a [f32],
}

impl WithSimd for ColumnSums<'_> {
    type Output = [[f32; PANEL]; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [[f32; PANEL]; 2] {
        let (mut squares, mut crosses) = ([0.0; PANEL], [0.0; PANEL]);
        for (now, before) in self.now.as_chunks::<PANEL>().0.iter().zip(self.before.as_chunks::<PANEL>().0) {
            for lane in 0..PANEL {
                squares[lane] += now[lane] * now[lane];
                crosses[lane] += now[lane] * before[lane];
            }
        }
        [squares, crosses]
    }
}

/// The rows `first .. first + PANEL`, or columns, of `Σ_k c_k T_k`: entry `(node, first + column)` stands at
/// `node · PANEL + column`.
pub fn series_columns(map: &Normalized<'_>, series: &[f64], first: usize) -> Vec<f32> {
    let columns = PANEL.min(map.size() - first);
    // The recurrence of Clenshaw, from the last coefficient to the first, adds multiples of unit vectors only.
    let add = |block: &mut [f32], c: f64| {
        (0..columns).for_each(|column| block[(first + column) * PANEL + column] += c as f32);
    };
    clenshaw(map, series, add, |x, scale, shift, keep, y| map.recur_panel(x, PANEL, scale, shift, keep, y))
}

/// `Σ_k c_k T_k z` where `add` adds a multiple of `z` to a block.
fn clenshaw(
    map: &Normalized<'_>,
    series: &[f64],
    add: impl Fn(&mut [f32], f64),
    recur: impl Fn(&[f32], f32, f32, f32, &mut [f32]),
) -> Vec<f32> {
    let (scale, shift) = scaling(map);
    let (mut now, mut before) = (vec![0.0; map.size() * PANEL], vec![0.0; map.size() * PANEL]);
    for (k, &c) in series.iter().enumerate().rev() {
        let factor = if k == 0 { 1.0 } else { 2.0 };
        recur(&now, factor * scale, factor * shift, -1.0, &mut before);
        add(&mut before, c);
        std::mem::swap(&mut now, &mut before);
    }
    now
}

/// Random signs that stand in for the columns of the identity where these are too many.
///
/// An estimate by `s` panels of [`PANEL`] signs has an error that falls with the root of their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignProbes {
    /// Number of panels.
    pub panels: usize,
    /// Seed of the signs.
    pub seed: u64,
}

impl SignProbes {
    const PURPOSE: &str = "sign probes";

    /// Estimates of `tr T_k` for `k` up to twice the degree.
    pub fn moments(&self, map: &Normalized<'_>, degree: usize) -> Vec<f64> {
        let degree = degree.max(1);
        let of_panel = |panel: usize| {
            let mut traces = vec![0.0; 2 * degree + 1];
            traces[0] = (map.size() * PANEL) as f64;
            let mut linear = 0.0;
            Panel::signs(map.size(), self.seed, Self::PURPOSE, panel).climb(map, degree, |k, now, before| {
                let Sums { squares, crosses } = Sums::of(now, before);
                let (square, cross) = (squares.iter().sum::<f64>(), crosses.iter().sum::<f64>());
                if k == 1 {
                    linear = cross;
                }
                traces[2 * k - 1] = 2.0 * cross - linear;
                traces[2 * k] = 2.0 * square - (map.size() * PANEL) as f64;
            });
            traces
        };
        let parts: Vec<Vec<f64>> = (0..self.panels).into_par_iter().map(of_panel).collect();
        let mut moments = vec![0.0; 2 * degree + 1];
        for part in &parts {
            moments.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
        let probes = (self.panels * PANEL) as f64;
        moments.iter_mut().for_each(|moment| *moment /= probes);
        moments
    }

    /// Hands over panel after panel: the signs `z`, and `Σ_k c_k T_k z`, both row by row.
    pub fn apply(&self, map: &Normalized<'_>, series: &[f64], mut visit: impl FnMut(&[f32], &[f32])) {
        for panel in 0..self.panels {
            let signs = Panel::signs(map.size(), self.seed, Self::PURPOSE, panel).now;
            let add = |block: &mut [f32], c: f64| {
                block.par_iter_mut().zip(&signs).with_min_len(1 << 14).for_each(|(to, sign)| *to += c as f32 * sign);
            };
            let images = clenshaw(map, series, add, |x, scale, shift, keep, y| {
                map.recur_single(x, PANEL, scale, shift, keep, y);
            });
            visit(&signs, &images);
        }
    }

    /// Estimates of the entries of `Σ_k c_k T_k` on pairs, and of the diagonal of another series of the same operator.
    pub fn entries(
        &self,
        map: &Normalized<'_>,
        series: &[f64],
        on_diagonal: &[f64],
        pairs: &UpperPairs,
    ) -> (Vec<f32>, Vec<f64>) {
        let of: Vec<(u32, u32)> = pairs.iter().collect();
        let mut entries = vec![0.0f32; of.len()];
        let scale = 0.5 / (self.panels * PANEL) as f32;
        self.apply(map, series, |signs, images| {
            let row = |block: &[f32], node: u32| -> [f32; PANEL] {
                let mut row = [0.0; PANEL];
                row.copy_from_slice(&block[node as usize * PANEL..][..PANEL]);
                row
            };
            let all = entries.par_chunks_mut(PAIRS_TOGETHER).zip(of.par_chunks(PAIRS_TOGETHER));
            all.for_each(|(entries, pairs)| {
                for (entry, &(low, high)) in entries.iter_mut().zip(pairs) {
                    let (z_low, z_high, low, high) =
                        (row(signs, low), row(signs, high), row(images, low), row(images, high));
                    let terms = (0..PANEL).map(|lane| low[lane] * z_high[lane] + high[lane] * z_low[lane]);
                    *entry += scale * terms.sum::<f32>();
                }
            });
        });
        (entries, self.diagonal(map, on_diagonal))
    }

    /// An estimate of the diagonal of `Σ_k c_k T_k`.
    pub fn diagonal(&self, map: &Normalized<'_>, series: &[f64]) -> Vec<f64> {
        let mut diagonal = vec![0.0; map.size()];
        let scale = 1.0 / (self.panels * PANEL) as f64;
        self.apply(map, series, |signs, images| {
            let rows = signs.chunks_exact(PANEL).zip(images.chunks_exact(PANEL));
            for (to, (signs, images)) in diagonal.iter_mut().zip(rows) {
                let sum: f32 = signs.iter().zip(images).map(|(sign, image)| sign * image).sum();
                *to += scale * f64::from(sum);
            }
        });
        diagonal
    }
}
