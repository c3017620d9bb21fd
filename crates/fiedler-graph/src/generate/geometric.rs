//! Random geometric graphs: points in the plane, joined when they are near.

use std::ops::Range;

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::draw::normal_pair;
use super::spec::{self, Parameter, Spec};
use super::split::public_split;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::features::{Dense, Features};
use crate::labels::{Classes, Labels};
use crate::random::stream;

pub(super) const SPEC: Spec = Spec {
    name: "geometric",
    about: "points in the unit square, joined when they are near; alike everywhere or in clusters",
    parameters: &[
        Parameter { name: "nodes", about: "number of points" },
        Parameter { name: "radius", about: "greatest distance of two points that are joined" },
        Parameter { name: "clusters", about: "number of clusters, the classes; 0 for points alike everywhere" },
        Parameter { name: "spread", about: "standard deviation of a cluster's points along each axis" },
    ],
    defaults: || spec::defaults(Geometric::default()),
    make: |settings, seed| random_geometric(&spec::settings(settings)?, seed),
};

/// Distance of the clusters' centres from the middle of the unit square.
const RING: f64 = 0.3;
/// Points that share a stream of random numbers.
const POINTS_PER_STREAM: usize = 4096;

/// Settings of [`random_geometric`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Geometric {
    /// Number of points.
    pub nodes: usize,
    /// Greatest distance of two points that are joined.
    pub radius: f64,
    /// Number of clusters, which become the classes; 0 for points spread evenly over the unit square.
    pub clusters: usize,
    /// Standard deviation of a cluster's points along each axis.
    pub spread: f64,
}

impl Default for Geometric {
    fn default() -> Self {
        Geometric { nodes: 300, radius: 0.1, clusters: 0, spread: 0.08 }
    }
}

impl Geometric {
    fn check(&self) -> Result<()> {
        super::check_nodes(self.nodes, 0)?;
        if !(self.radius.is_finite() && self.radius >= 0.0) {
            return Err(Error::setting("radius", self.radius, "a distance that is not negative"));
        }
        if self.clusters > self.nodes {
            return Err(Error::setting("clusters", self.clusters, format!("at most {}, one a node", self.nodes)));
        }
        // Wider than this, no cluster is left of what is drawn.
        if !(0.0..=1.0).contains(&self.spread) {
            return Err(Error::setting("spread", self.spread, "a number from 0 to 1"));
        }
        Ok(())
    }

    /// Where a point lies: anywhere, or around the centre of its cluster, which stands on a ring with the others.
    fn point(&self, node: usize, random: &mut impl rand::Rng) -> [f32; 2] {
        if self.clusters == 0 {
            return [random.random(), random.random()];
        }
        let (east, north) = normal_pair(random);
        let angle = std::f64::consts::TAU * (node % self.clusters) as f64 / self.clusters as f64;
        let ring = if self.clusters == 1 { 0.0 } else { RING };
        let (sine, cosine) = angle.sin_cos();
        [(0.5 + ring * cosine + self.spread * east) as f32, (0.5 + ring * sine + self.spread * north) as f32]
    }
}

/// Scatters points and joins those no further apart than the radius. Positions become the features, two columns.
///
/// With clusters, node `i` belongs to cluster `i mod clusters`, its class; clusters lie on a ring around the middle of the unit
/// square, their points normally distributed.
///
/// # Errors
/// When a setting is out of its range, or the graph would be too large.
pub fn random_geometric(settings: &Geometric, seed: u64) -> Result<Dataset> {
    settings.check()?;
    let mut points = vec![[0f32; 2]; settings.nodes];
    points.par_chunks_mut(POINTS_PER_STREAM).enumerate().for_each(|(chunk, points)| {
        let mut random = stream(seed, "geometric/points", chunk as u64);
        for (at, point) in points.iter_mut().enumerate() {
            *point = settings.point(chunk * POINTS_PER_STREAM + at, &mut random);
        }
    });
    let mut dataset = super::dataset(SPEC.name, settings.nodes, near_pairs(&points, settings.radius)?)?;
    dataset.features = Some(Features::Dense(Dense::new(settings.nodes, 2, points.concat())?));
    if settings.clusters > 0 {
        let class_of: Vec<u32> = (0..settings.nodes).map(|node| (node % settings.clusters) as u32).collect();
        let classes = Classes::from_integers(class_of.iter().map(|&class| Some(i64::from(class))));
        dataset.node_labels = Some(Labels::Classes(classes));
        dataset.splits = vec![public_split(&class_of, settings.clusters, seed)];
    }
    Ok(dataset)
}

/// All pairs of points no further apart than the radius.
fn near_pairs(points: &[[f32; 2]], radius: f64) -> Result<Vec<(u32, u32)>> {
    let grid = Grid::new(points, radius);
    super::check_size("number of pairs of points that may be near", grid.candidates())?;
    let reach = radius * radius;
    let is_near = |a: [f32; 2], b: [f32; 2]| {
        let [east, north] = [0, 1].map(|axis| f64::from(a[axis]) - f64::from(b[axis]));
        east * east + north * north <= reach
    };
    let cells = (0..grid.cells()).into_par_iter();
    Ok(cells
        .flat_map_iter(|cell| {
            let grid = &grid;
            let range = grid.range(cell..cell + 1);
            range.flat_map(move |slot| {
                let node = grid.nodes[slot];
                let here = points[node as usize];
                let others = (slot + 1..grid.range(grid.following(cell)).end).chain(grid.range(grid.above(cell)));
                others
                    .map(|other| grid.nodes[other])
                    .filter(move |&other| is_near(here, points[other as usize]))
                    .map(move |other| (node, other))
            })
        })
        .collect())
}

/// Points sorted into square cells no narrower than the radius: near points lie in the same or in adjoining cells.
struct Grid {
    columns: usize,
    rows: usize,
    /// Where each cell's points start in `nodes`, row after row of cells, and the end of the last.
    starts: Vec<usize>,
    nodes: Vec<u32>,
}

impl Grid {
    fn new(points: &[[f32; 2]], radius: f64) -> Grid {
        let bounds = |axis: usize| {
            let along = points.iter().map(|point| f64::from(point[axis]));
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
        };
        let [(west, east), (south, north)] = [bounds(0), bounds(1)];
        // More cells than points would cost without being of use.
        let most = (points.len() as f64).sqrt().max(1.0);
        let extent = (east - west).max(north - south).max(0.0);
        // A little wider than the radius, lest rounding put two near points two cells apart.
        let width = (radius * (1.0 + 1e-9)).max(extent / most);
        let width = if width > 0.0 { width } else { 1.0 };
        let count = |low: f64, high: f64| (((high - low).max(0.0) / width) as usize + 1).min(most as usize + 1);
        let (columns, rows) = (count(west, east), count(south, north));
        let cell_of = |point: &[f32; 2]| {
            let column = ((f64::from(point[0]) - west) / width) as usize;
            let row = ((f64::from(point[1]) - south) / width) as usize;
            row.min(rows - 1) * columns + column.min(columns - 1)
        };
        let mut starts = vec![0; columns * rows + 1];
        points.iter().for_each(|point| starts[cell_of(point) + 1] += 1);
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; points.len()];
        for (node, point) in points.iter().enumerate() {
            let slot = &mut next[cell_of(point)];
            nodes[*slot] = node as u32;
            *slot += 1;
        }
        Grid { columns, rows, starts, nodes }
    }

    fn cells(&self) -> usize {
        self.columns * self.rows
    }

    /// The points of neighboring cells of a row, which lie side by side.
    fn range(&self, cells: Range<usize>) -> Range<usize> {
        self.starts[cells.start]..self.starts[cells.end]
    }

    /// A cell and the one after it in its row.
    fn following(&self, cell: usize) -> Range<usize> {
        let row_end = (cell / self.columns + 1) * self.columns;
        cell..(cell + 2).min(row_end)
    }

    /// The cells of the next row that adjoin a cell.
    fn above(&self, cell: usize) -> Range<usize> {
        let (row, column) = (cell / self.columns + 1, cell % self.columns);
        if row == self.rows {
            return cell..cell;
        }
        row * self.columns + column.saturating_sub(1)..row * self.columns + (column + 2).min(self.columns)
    }

    /// Number of pairs that have to be looked at, at least as many as will be joined.
    fn candidates(&self) -> f64 {
        let of_cell = |cell: usize| {
            let others = self.range(self.following(cell)).len() + self.range(self.above(cell)).len();
            self.range(cell..cell + 1).len() as f64 * others as f64
        };
        (0..self.cells()).map(of_cell).sum()
    }
}
