//! Fitting the descriptor to a set of graphs, without labels.

use std::collections::HashMap;

use fiedler_graph::random::stream;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::columns::{Columns, NodeFeatures};
use super::model::{Fitted, RowMap};
use super::rows::{Describer, RawRow, Structure, StructureScale, dense_columns, hop_width, pair_cells};
use super::{Block, DescriptorModel, DescriptorSettings, SIZE_MEASURES, SPECTRUM_MEASURES, STRUCTURE_MEASURES};
use crate::error::Result;
use crate::method::{FitData, Footprint, Requirements};
use crate::pca::linear::{column_means, dense_times};
use crate::pca::{self, Components, PcaSettings, UnitRows};
use crate::task::Task;

/// Graphs that are described between two looks at memory.
const GRAPHS_AT_ONCE: usize = 512;
/// Entries of the pair block and colors that are held at once; where there are more, every second graph is left out.
const MOST_ENTRIES: usize = 1 << 25;
/// Colors that are kept, those of most graphs first.
const MOST_COLORS: usize = 100_000;
/// Share of graphs from which on it is worth saying that others look the same.
const MANY_TWINS: f64 = 0.01;

impl DescriptorSettings {
    /// What fitting holds in memory, and that it needs nothing else.
    pub(crate) fn requirements(&self, task: &Task) -> Requirements {
        let graphs = task.num_graphs.min(self.fit_graphs) as f64;
        let columns = dense_columns(self, task.dims.nodes.min(128)) as f64;
        // Dense blocks twice, components of each block and of all, and entries of sparse blocks.
        let held = graphs * (2.0 * columns + 4.0 * self.block_dimensions as f64 * self.blocks.len() as f64);
        let entries = (2 * MOST_ENTRIES) as f64;
        let entries = entries.min(graphs * 10_000.0 + task.num_nodes as f64 * (self.depth + 1) as f64);
        // The estimate counts eight copies of a weight. An entry is held as it is found and as part of a matrix, in two forms.
        let footprint = Footprint { weights: (held + 8.0 * entries) / 8.0, ..Footprint::default() };
        Requirements { trained: false, labels: false, clean: false, operators: Vec::new(), footprint }
    }
}

/// A block as it is fitted: what is taken off its columns, and the map of them, which scales to unit total variance.
struct FittedBlock {
    mean: Vec<f32>,
    /// Row-major, a row for each column of the block.
    weight: Vec<f32>,
    width: usize,
    /// What becomes of the graphs.
    scores: Vec<f32>,
}

/// Fits a descriptor to all graphs of the data, or to as many as the settings say.
pub(crate) fn fit(
    settings: &DescriptorSettings,
    pca: &PcaSettings,
    rotate: bool,
    data: &FitData<'_>,
) -> Result<DescriptorModel> {
    Fitter { settings, pca: *pca, rotate, data }.fit()
}

struct Fitter<'a> {
    settings: &'a DescriptorSettings,
    pca: PcaSettings,
    rotate: bool,
    data: &'a FitData<'a>,
}

impl Fitter<'_> {
    fn fit(&self) -> Result<DescriptorModel> {
        let sample = self.data.sample(&[])?;
        let columns = match self.data.data.are_features_degrees() {
            true => None,
            false => Columns::fit(&sample.features, &self.pca)?,
        };
        let features = match &columns {
            Some(columns) => Some(NodeFeatures::new(columns, &sample.features)?),
            None => None,
        };
        let graphs = self.chosen_graphs();
        let unscaled = StructureScale { mean: [0.0; STRUCTURE_MEASURES], scale: [0.0; STRUCTURE_MEASURES] };
        let mut describer =
            Describer { settings: self.settings, graphs: self.data.graphs(), features, structure: unscaled };
        let structures = self.structures(&mut describer, &graphs)?;
        let rows = self.rows(&describer, &graphs, structures)?;
        self.tell_twins(&rows);
        let (of_features, has_labels) =
            columns.as_ref().map_or((0, false), |columns| (columns.width(), columns.has_labels()));
        let structure = describer.structure;
        let colors = shared_colors(&rows);
        let pairs = match self.settings.has(Block::Pair) {
            true => used_cells(&rows, pair_cells(self.settings, of_features, has_labels)),
            false => Vec::new(),
        };
        drop(describer);
        let map = RowMap::from_parts(vec![0.0], colors.clone(), pairs.iter().copied());
        let blocks = self.blocks(&rows, &map, of_features, colors.len(), pairs.iter().filter(|&&used| used).count())?;
        drop(rows);
        let (mean, weight, width) = self.combine(blocks, dense_columns(self.settings, of_features))?;
        let fitted = Fitted { features: columns, structure, colors, pairs, mean, weight, width };
        Ok(fitted.to_module(self.data.device))
    }

    /// The graphs to fit to, in ascending order.
    fn chosen_graphs(&self) -> Vec<usize> {
        let mut graphs: Vec<usize> = (0..self.data.graphs().len()).collect();
        if graphs.len() > self.settings.fit_graphs {
            let mut random = stream(self.pca.seed, "graphs of a descriptor", 0);
            let (chosen, _) = graphs.partial_shuffle(&mut random, self.settings.fit_graphs);
            let mut chosen = chosen.to_vec();
            chosen.sort_unstable();
            self.data.note(&format!("the descriptor is fitted to {} of the {} graphs", chosen.len(), graphs.len()));
            return chosen;
        }
        graphs
    }

    /// Structural measures of all chosen graphs, whose means and deviations the describer then knows.
    fn structures(&self, describer: &mut Describer<'_>, graphs: &[usize]) -> Result<Option<Vec<Structure>>> {
        if !self.settings.has(Block::Hop) && !self.settings.has(Block::Pair) {
            return Ok(None);
        }
        self.data.progress("structural measures", 0, graphs.len())?;
        let structures: Vec<Structure> = graphs.par_iter().map(|&graph| describer.structure_of(graph)).collect();
        describer.structure = StructureScale::of(&structures);
        Ok(Some(structures))
    }

    /// The blocks of the chosen graphs, of every second, every fourth and so on where all take too much memory.
    fn rows(
        &self,
        describer: &Describer<'_>,
        graphs: &[usize],
        structures: Option<Vec<Structure>>,
    ) -> Result<Vec<RawRow>> {
        let mut rows: Vec<RawRow> = Vec::new();
        let (mut stride, mut entries) = (1, 0);
        for first in (0..graphs.len()).step_by(GRAPHS_AT_ONCE) {
            self.data.progress("blocks of measures", first, graphs.len())?;
            let places = first..graphs.len().min(first + GRAPHS_AT_ONCE);
            let row = |place: usize| {
                let structure = structures.as_ref().map(|structures| &structures[place]);
                describer.row(graphs[place], structure)
            };
            let wanted: Vec<usize> = places.filter(|place| place.is_multiple_of(stride)).collect();
            let found: Vec<RawRow> = wanted.into_par_iter().map(row).collect::<Result<_>>()?;
            let count = |rows: &[RawRow]| rows.iter().map(|row| row.pairs.len() + row.colors.len()).sum::<usize>();
            entries += count(&found);
            rows.extend(found);
            while entries > MOST_ENTRIES && rows.len() > 2 {
                let mut place = 0;
                rows.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                stride *= 2;
                entries = count(&rows);
            }
        }
        if stride > 1 {
            let (fitted, all) = (rows.len(), self.data.graphs().len());
            self.data.note(&format!("the descriptor is fitted to {fitted} of the {all} graphs, to bound memory"));
        }
        Ok(rows)
    }

    /// Says how many graphs look like another one: scores of such sets partly measure memory.
    fn tell_twins(&self, rows: &[RawRow]) {
        if !self.settings.has(Block::Wl) {
            return;
        }
        let mut alike: HashMap<u64, usize> = HashMap::new();
        rows.iter().for_each(|row| *alike.entry(row.signature).or_default() += 1);
        let twins = rows.iter().filter(|row| alike[&row.signature] > 1).count();
        let share = twins as f64 / rows.len().max(1) as f64;
        if share >= MANY_TWINS {
            let share = 100.0 * share;
            self.data.note(&format!(
                "{share:.0} % of the graphs are indistinguishable from another by Weisfeiler-Lehman colors and size"
            ));
        }
    }

    /// The blocks in the order of their columns.
    fn blocks(
        &self,
        rows: &[RawRow],
        map: &RowMap,
        of_features: usize,
        colors: usize,
        pairs: usize,
    ) -> Result<Vec<FittedBlock>> {
        let settings = self.settings;
        let mut blocks = Vec::new();
        let mut first = 0;
        let mut slice = |width: usize| {
            let values: Vec<f32> = rows.iter().flat_map(|row| &row.dense[first..first + width]).copied().collect();
            first += width;
            values
        };
        if settings.has(Block::Hop) {
            self.data.progress("components of hop-pool", 0, 4)?;
            let width = hop_width(settings, of_features);
            blocks.push(self.standardized_block(slice(width), width)?);
        }
        for (block, width) in [(Block::Spectrum, SPECTRUM_MEASURES), (Block::Size, SIZE_MEASURES)] {
            if settings.has(block) {
                blocks.push(plain_block(slice(width), width));
            }
        }
        if settings.has(Block::Pair) {
            self.data.progress("components of pairs", 1, 4)?;
            let matrix = sparse(rows.iter().map(|row| map.pair_entries(row).collect()), 2 * pairs);
            let mean = matrix.means()?;
            let components = pca::of_rows(&matrix, mean, &self.block_pca())?;
            blocks.push(self.block_of(&matrix, components)?);
        }
        if settings.has(Block::Wl) && colors > 0 {
            self.data.progress("components of colors", 2, 4)?;
            let matrix = sparse(rows.iter().map(|row| map.color_entries(row)), colors);
            let components = pca::of_rows(&matrix, vec![0.0; colors], &self.block_pca())?;
            let mean = matrix.means()?;
            blocks.push(self.block_of(&matrix, Components { mean, ..components })?);
        }
        Ok(blocks)
    }

    fn block_pca(&self) -> PcaSettings {
        PcaSettings { dimensions: self.settings.block_dimensions, ..self.pca }
    }

    /// Columns of mean zero and deviation one, then principal components.
    fn standardized_block(&self, mut values: Vec<f32>, width: usize) -> Result<FittedBlock> {
        let mean = column_means(&values, width);
        let rows = (values.len() / width.max(1)).max(1) as f64;
        let mut squares = vec![0.0f64; width];
        for row in values.chunks_exact(width.max(1)) {
            for ((square, &value), &mean) in squares.iter_mut().zip(row).zip(&mean) {
                *square += f64::from(value - mean).powi(2);
            }
        }
        let scale = |(square, mean): (&f64, &f32)| {
            let deviation = (square / rows).sqrt();
            // Rounding must not be mistaken for a difference.
            if deviation > 1e-5 * f64::from(mean.abs()).max(1e-3) { deviation.recip() as f32 } else { 0.0 }
        };
        let scales: Vec<f32> = squares.iter().zip(&mean).map(scale).collect();
        for row in values.chunks_exact_mut(width.max(1)) {
            for ((value, mean), scale) in row.iter_mut().zip(&mean).zip(&scales) {
                *value = (*value - mean) * scale;
            }
        }
        let matrix = UnitRows::dense(values, width);
        let components = pca::of_rows(&matrix, vec![0.0; width], &self.block_pca())?;
        let mut block = self.block_of(&matrix, components)?;
        for (row, scale) in block.weight.chunks_exact_mut(block.width.max(1)).zip(&scales) {
            row.iter_mut().for_each(|value| *value *= scale);
        }
        Ok(FittedBlock { mean, ..block })
    }

    fn block_of(&self, matrix: &UnitRows<'_>, components: Components) -> Result<FittedBlock> {
        let Components { mean, weight, width } = components;
        let scores = if width > 0 { matrix.centered_times(&mean, &weight, width)? } else { Vec::new() };
        Ok(scaled(FittedBlock { mean, weight, width, scores }, matrix.rows()))
    }

    /// Blocks side by side, their principal components and a rotation, as one affine map: means and weights of the constant column, of the
    /// `dense` columns that are centered before, and of sparse columns, whose means are part of the constant.
    fn combine(&self, blocks: Vec<FittedBlock>, dense: usize) -> Result<(Vec<f32>, Vec<f32>, usize)> {
        self.data.progress("components of all blocks", 3, 4)?;
        let total: usize = blocks.iter().map(|block| block.width).sum();
        let with_scores = blocks.iter().find(|block| block.width > 0);
        let rows = with_scores.map_or(0, |block| block.scores.len() / block.width);
        let mut all = Vec::with_capacity(rows * total);
        for row in 0..rows {
            for block in &blocks {
                all.extend_from_slice(&block.scores[row * block.width..(row + 1) * block.width]);
            }
        }
        let settings = PcaSettings { dimensions: self.settings.dimensions, ..self.pca };
        let components = match total {
            0 => Components { mean: Vec::new(), weight: Vec::new(), width: 0 },
            _ => pca::of_rows(&UnitRows::dense(all, total), vec![0.0; total], &settings)?,
        };
        let components = match components.width {
            // All graphs are alike: one column of zeros.
            0 => Components { mean: Vec::new(), weight: vec![0.0; total], width: 1 },
            _ if self.rotate => components.rotated(self.pca.seed, 0)?,
            _ => components,
        };
        let width = components.width;
        let mut mean = vec![0.0];
        let mut weight = vec![0.0; width];
        let mut constant = vec![0.0f64; width];
        let mut first = 0;
        for block in blocks {
            let part = &components.weight[first * width..(first + block.width) * width];
            first += block.width;
            let map = match block.width {
                0 => vec![0.0; block.mean.len() * width],
                _ => dense_times(&block.weight, block.width, part, width),
            };
            if mean.len() <= dense {
                mean.extend(&block.mean);
            } else {
                for (row, &mean) in map.chunks_exact(width).zip(&block.mean) {
                    constant.iter_mut().zip(row).for_each(|(sum, &value)| *sum -= f64::from(mean) * f64::from(value));
                }
            }
            weight.extend(map);
        }
        weight.iter_mut().zip(constant).for_each(|(value, constant)| *value = constant as f32);
        Ok((mean, weight, width))
    }
}

/// Columns as they are, centered.
fn plain_block(values: Vec<f32>, width: usize) -> FittedBlock {
    let mean = column_means(&values, width);
    let rows = values.len() / width.max(1);
    let mut scores = values;
    for row in scores.chunks_exact_mut(width.max(1)) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    let identity = (0..width * width).map(|at| f32::from(u8::from(at % (width + 1) == 0))).collect();
    scaled(FittedBlock { mean, weight: identity, width, scores }, rows)
}

/// Scales a block to unit total variance; one that hardly varies becomes zero.
fn scaled(mut block: FittedBlock, rows: usize) -> FittedBlock {
    let squares: f64 = block.scores.iter().map(|&value| f64::from(value).powi(2)).sum();
    let variance = squares / rows.max(1) as f64;
    let scale = if variance > 1e-10 { variance.sqrt().recip() as f32 } else { 0.0 };
    block.scores.iter_mut().chain(&mut block.weight).for_each(|value| *value *= scale);
    block
}

fn sparse(rows: impl Iterator<Item = Vec<(u32, f32)>>, columns: usize) -> UnitRows<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        indices.extend(row.iter().map(|&(column, _)| column));
        values.extend(row.iter().map(|&(_, value)| value));
        indptr.push(indices.len());
    }
    UnitRows::Sparse { indptr, indices, values, columns }
}

/// Colors of at least two graphs, ascending.
fn shared_colors(rows: &[RawRow]) -> Vec<u64> {
    let mut all: Vec<u64> = rows.iter().flat_map(|row| row.colors.iter().map(|&(color, _)| color)).collect();
    all.par_sort_unstable();
    let mut shared: Vec<(usize, u64)> =
        all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| (same.len(), same[0])).collect();
    if shared.len() > MOST_COLORS {
        shared.sort_unstable_by_key(|&(count, color)| (std::cmp::Reverse(count), color));
        shared.truncate(MOST_COLORS);
    }
    let mut colors: Vec<u64> = shared.into_iter().map(|(_, color)| color).collect();
    colors.sort_unstable();
    colors
}

/// Cells of the pair block that a graph has an entry in.
fn used_cells(rows: &[RawRow], cells: usize) -> Vec<bool> {
    let mut used = vec![false; cells];
    rows.iter().flat_map(|row| &row.pairs).for_each(|&(cell, _)| used[cell as usize] = true);
    used
}
