//! Sums over a packed triangle that several passes take along: of columns, and of mass and degrees.

use fiedler_graph::Graph;
use fiedler_spectral::simd::Arch;

use super::Clamp;
use super::stream::{Measure, RowMass};

/// Columns are summed in single precision over this many rows before they enter the double precision total.
const ROWS_A_FLUSH: usize = 256;

/// What a pass over all values finds out at a shift.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) shift: f32,
    /// At the shift, and, where the pass looked for it, without: `(Σ x, values strictly inside)`.
    pub(super) mass: (f64, f64),
    pub(super) mass_unshifted: Option<(f64, f64)>,
    /// `Σ_k B_ik` of every node at the shift.
    pub(super) degrees: Vec<f64>,
}

impl Measured {
    pub(super) fn mass_at(&self, shift: f32) -> Option<(f64, f64)> {
        if shift == self.shift { Some(self.mass) } else { self.mass_unshifted.filter(|_| shift == 0.0) }
    }
}

/// Sums for every node from `first` on, gathered by one part of the rows.
pub(super) struct Columns {
    first: usize,
    sums: Vec<f64>,
    /// What single precision holds until the next flush.
    pending: Vec<f32>,
    rows: usize,
}

impl Columns {
    pub(super) fn new(nodes: usize, first: usize) -> Columns {
        Columns { first, sums: vec![0.0; nodes - first], pending: vec![0.0; nodes - first], rows: 0 }
    }

    /// The pending sums of the columns beside a row, which are taken over once enough rows went into them.
    pub(super) fn beside(&mut self, row: usize) -> &mut [f32] {
        if self.rows == ROWS_A_FLUSH {
            self.flush();
        }
        self.rows += 1;
        &mut self.pending[row + 1 - self.first..]
    }

    pub(super) fn flush(&mut self) {
        for (sum, pending) in self.sums.iter_mut().zip(&mut self.pending) {
            *sum += f64::from(std::mem::take(pending));
        }
        self.rows = 0;
    }

    pub(super) fn add(&mut self, node: usize, value: f64) {
        self.sums[node - self.first] += value;
    }

    /// The sums of all parts, the first of which begins with the first node.
    pub(super) fn join(parts: Vec<Columns>) -> Vec<f64> {
        let mut sums = vec![0.0; parts.first().map_or(0, |part| part.sums.len())];
        for mut part in parts {
            part.flush();
            sums[part.first..].iter_mut().zip(part.sums).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

/// What one part of the rows has measured.
pub(super) struct PartMeasure<'g> {
    graph: &'g Graph,
    clamp: Clamp,
    both: bool,
    mass: RowMass,
    columns: Columns,
    arch: Arch,
}

impl<'g> PartMeasure<'g> {
    /// `both` measures the mass without the shift as well.
    pub(super) fn new(graph: &'g Graph, first: usize, clamp: Clamp, both: bool) -> PartMeasure<'g> {
        let columns = Columns::new(graph.num_nodes(), first);
        PartMeasure {
            graph,
            clamp,
            both: both && clamp.shift != 0.0,
            mass: RowMass::default(),
            columns,
            arch: Arch::new(),
        }
    }

    pub(super) fn add(&mut self, row: usize, values: &[f32]) {
        let (clamp, columns) = (self.clamp, self.columns.beside(row));
        let mass = if self.both {
            self.arch.dispatch(Measure::<true> { values, clamp, columns })
        } else {
            self.arch.dispatch(Measure::<false> { values, clamp, columns })
        };
        self.mass += mass;
        self.columns.add(row, mass.sum);
        for &other in self.graph.higher(row as u32) {
            // As measured, the pair is no edge; an edge has B = 1 - x.
            let x = clamp.of(values[other as usize - row - 1]);
            let correction = 1.0 - 2.0 * f64::from(x);
            self.columns.add(row, correction);
            self.columns.add(other as usize, correction);
        }
    }

    pub(super) fn join(parts: Vec<PartMeasure<'_>>, shift: f32) -> Measured {
        let both = parts.iter().all(|part| part.both);
        let mut mass = RowMass::default();
        parts.iter().for_each(|part| mass += part.mass);
        let columns = parts.into_iter().map(|part| part.columns).collect();
        Measured {
            shift,
            mass: (mass.sum, mass.inside),
            mass_unshifted: both.then_some((mass.sum_unshifted, mass.inside_unshifted)),
            degrees: Columns::join(columns),
        }
    }
}
