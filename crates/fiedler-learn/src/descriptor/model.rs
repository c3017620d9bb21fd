//! The fitted descriptor: an affine map of all blocks, stored like weights.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::Device;
use fiedler_graph::GraphSet;
use rayon::prelude::*;

use super::columns::{Columns, FeatureColumns, NodeFeatures};
use super::rows::{Describer, RawRow, StructureScale, dense_columns, pair_cells};
use super::{Block, DescriptorSettings, STRUCTURE_MEASURES};
use crate::error::{Error, Result};
use crate::ops::kernel::{SparseRows, as_it_is};
use crate::ops::operation;
use crate::pca::{fixed, shape_of, values, zeros};
use crate::sample::Sample;
use crate::state_dict::StateDict;

/// Digits that a 64-bit color is stored in: each is a whole number below 65,536, which 32-bit floats hold exactly.
const DIGITS: usize = 4;

/// A fitted descriptor. Centering, standardizing, the components of each block, those of all blocks and the rotation are one affine map.
#[derive(Module, Debug)]
pub struct DescriptorModel {
    /// What columns of node features are; none where nodes have no features.
    pub features: Option<FeatureColumns>,
    /// Means of the structural measures, and what they are multiplied by then: two rows.
    pub structure: Param<Tensor<2>>,
    /// Colors that are known, ascending, four digits of base 65,536 each, the highest first.
    pub colors: Option<Param<Tensor<2>>>,
    /// For each cell of the pair block, 1 where it has columns.
    pub pairs: Option<Param<Tensor<1>>>,
    /// What is taken off the constant column, which is nothing, and off the columns of dense blocks.
    pub mean: Param<Tensor<1>>,
    /// A row for the constant column, the columns of dense blocks, two for each cell of the pair block and one for each color.
    pub weight: Param<Tensor<2>>,
}

/// What was fitted, in plain memory.
pub(super) struct Fitted {
    pub(super) features: Option<Columns>,
    pub(super) structure: StructureScale,
    pub(super) colors: Vec<u64>,
    pub(super) pairs: Vec<bool>,
    pub(super) mean: Vec<f32>,
    pub(super) weight: Vec<f32>,
    pub(super) width: usize,
}

impl Fitted {
    pub(super) fn to_module(&self, device: &Device) -> DescriptorModel {
        let digits = |color: &u64| (0..DIGITS).rev().map(|digit| f32::from((color >> (16 * digit)) as u16)).collect();
        let digits: Vec<f32> = self.colors.iter().flat_map::<Vec<f32>, _>(digits).collect();
        let marks: Vec<f32> = self.pairs.iter().map(|&used| f32::from(u8::from(used))).collect();
        let structure = self.structure.mean.iter().chain(&self.structure.scale).map(|&value| value as f32).collect();
        DescriptorModel {
            features: self.features.as_ref().map(|features| features.to_module(device)),
            structure: fixed(structure, [2, STRUCTURE_MEASURES], device),
            colors: (!self.colors.is_empty()).then(|| fixed(digits, [self.colors.len(), DIGITS], device)),
            pairs: (!self.pairs.is_empty()).then(|| fixed(marks, [self.pairs.len()], device)),
            mean: fixed(self.mean.clone(), [self.mean.len()], device),
            weight: fixed(self.weight.clone(), [self.weight.len() / self.width, self.width], device),
        }
    }
}

impl DescriptorModel {
    /// A model with the shapes that stored weights have under a name, to be filled with them. `columns` are those of the features.
    pub(crate) fn shaped(
        settings: &DescriptorSettings,
        weights: &StateDict,
        name: &str,
        columns: usize,
        device: &Device,
    ) -> Result<DescriptorModel> {
        let of = |part: &str| format!("{name}.{part}");
        let features = of("features");
        let has_features = weights.shape(&format!("{features}.kinds")).is_some();
        let features = has_features.then(|| FeatureColumns::shaped(weights, &features, columns, device)).transpose()?;
        let refuse = |part: &str, found: String, expected: String| Error::StateDict { name: of(part), found, expected };
        let check = |part: &str, found: Vec<usize>, expected: Vec<usize>| match found == expected {
            true => Ok(()),
            false => Err(refuse(part, format!("shape {found:?}"), format!("{expected:?}"))),
        };
        check("structure", shape_of::<2>(weights, &of("structure"))?.to_vec(), vec![2, STRUCTURE_MEASURES])?;
        // What columns are is told by the stored values, not by the empty module.
        let plain = match &features {
            Some(_) => Some(stored_columns(weights, &of("features"), device)?),
            None => None,
        };
        let (width, labels) = plain.as_ref().map_or((0, false), |columns| (columns.width(), columns.has_labels()));
        let colors = match weights.shape(&of("colors")) {
            Some(&[count, DIGITS]) if settings.has(Block::Wl) => Some(count),
            None => None,
            Some(shape) => {
                return Err(refuse("colors", format!("shape {shape:?}"), "[colors, 4], with block wl".into()));
            }
        };
        let pairs = match weights.get(&of("pairs")) {
            Some(marks) => {
                check("pairs", vec![marks.len()], vec![pair_cells(settings, width, labels)])?;
                marks.iter().filter(|&&mark| mark == 1.0).count()
            }
            None if settings.has(Block::Pair) => return Err(refuse("pairs", "nothing".into(), "a tensor".into())),
            None => 0,
        };
        let dense = 1 + dense_columns(settings, width);
        check("mean", shape_of::<1>(weights, &of("mean"))?.to_vec(), vec![dense])?;
        let [rows, dimensions] = shape_of::<2>(weights, &of("weight"))?;
        let expected = dense + 2 * pairs + colors.unwrap_or(0);
        if dimensions == 0 {
            return Err(refuse("weight", "no column".into(), "at least one".into()));
        }
        check("weight", vec![rows, dimensions], vec![expected, dimensions])?;
        Ok(DescriptorModel {
            features,
            structure: zeros([2, STRUCTURE_MEASURES], device),
            colors: colors.map(|count| zeros([count, DIGITS], device)),
            pairs: weights.get(&of("pairs")).map(|marks| zeros([marks.len()], device)),
            mean: zeros([dense], device),
            weight: zeros([rows, dimensions], device),
        })
    }

    /// One row for each graph of a sample, and the number of columns.
    pub(crate) fn embed(&self, settings: &DescriptorSettings, sample: &Sample) -> Result<(Vec<f32>, usize)> {
        let offsets = sample.offsets.offsets();
        let sizes = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let graphs = GraphSet::from_block_diagonal(sample.topology().clone(), sizes)?;
        let columns = self.features.as_ref().map(FeatureColumns::to_plain);
        let features = match &columns {
            Some(columns) => Some(NodeFeatures::new(columns, &sample.features)?),
            None => None,
        };
        let describer = Describer { settings, graphs: &graphs, features, structure: self.structure_scale() };
        let map = RowMap::new(self);
        let rows: Vec<Vec<(u32, f32)>> = (0..graphs.len())
            .into_par_iter()
            .map(|graph| describer.row(graph, None).map(|row| map.entries(&row)))
            .collect::<Result<_>>()?;
        let mut indptr = vec![0];
        let (mut indices, mut entries) = (Vec::new(), Vec::new());
        for row in &rows {
            indices.extend(row.iter().map(|&(column, _)| column));
            entries.extend(row.iter().map(|&(_, value)| value));
            indptr.push(indices.len());
        }
        let weight = operation::to_cpu(self.weight.val());
        let width = self.weight.val().dims()[1];
        let rows = SparseRows { offsets: &indptr, columns: &indices, values: &entries };
        Ok((rows.times(weight.storage::<f32>(), width, as_it_is), width))
    }

    fn structure_scale(&self) -> StructureScale {
        let stored = values(&self.structure);
        let part =
            |first: usize| std::array::from_fn(|at| stored.get(first + at).map_or(0.0, |&value| f64::from(value)));
        StructureScale { mean: part(0), scale: part(STRUCTURE_MEASURES) }
    }
}

/// The columns of features that stored weights tell of.
fn stored_columns(weights: &StateDict, name: &str, device: &Device) -> Result<Columns> {
    let of = |part: &str| -> Param<Tensor<1>> {
        let values = weights.get(&format!("{name}.{part}")).unwrap_or_default().to_vec();
        let count = values.len();
        fixed(values, [count], device)
    };
    let reduction = format!("{name}.reduction");
    let reduced = weights.shape(&format!("{reduction}.mean")).is_some();
    let reduction = reduced.then(|| crate::pca::Projection::shaped(weights, &reduction, device)).transpose()?;
    Ok(FeatureColumns { kinds: of("kinds"), mean: of("mean"), scale: of("scale"), reduction }.to_plain())
}

/// From the blocks of a graph to a row of a sparse matrix.
pub(super) struct RowMap {
    mean: Vec<f32>,
    colors: Vec<u64>,
    /// Of each cell of the pair block its place among those that have columns.
    places: Vec<Option<u32>>,
    /// Columns of the pair block.
    of_pairs: u32,
}

impl RowMap {
    fn new(model: &DescriptorModel) -> RowMap {
        let digits = model.colors.as_ref().map(values).unwrap_or_default();
        // Of a file that holds no digits, whatever comes of it is some color.
        let color = |digits: &[f32; DIGITS]| digits.iter().fold(0, |color, &digit| color << 16 | digit as u64 & 0xffff);
        let colors = digits.as_chunks::<DIGITS>().0.iter().map(color).collect();
        let marks = model.pairs.as_ref().map(values).unwrap_or_default();
        RowMap::from_parts(values(&model.mean), colors, marks.into_iter().map(|mark| mark == 1.0))
    }

    pub(super) fn from_parts(mean: Vec<f32>, colors: Vec<u64>, pairs: impl Iterator<Item = bool>) -> RowMap {
        let mut count = 0;
        let place = |used: bool| {
            count += u32::from(used);
            used.then(|| count - 1)
        };
        let places = pairs.map(place).collect();
        RowMap { mean, colors, places, of_pairs: 2 * count }
    }

    fn entries(&self, row: &RawRow) -> Vec<(u32, f32)> {
        let dense = self.mean.len() as u32;
        let mut entries = Vec::with_capacity(row.dense.len() + 2 * row.pairs.len() + row.colors.len() + 1);
        entries.push((0, 1.0));
        let values = row.dense.iter().zip(&self.mean[1..]).map(|(value, mean)| value - mean);
        entries.extend((1..).zip(values).filter(|(_, value)| *value != 0.0));
        entries.extend(self.pair_entries(row).map(|(column, value)| (dense + column, value)));
        entries
            .extend(self.color_entries(row).into_iter().map(|(column, value)| (dense + self.of_pairs + column, value)));
        entries
    }

    /// The row of the pair block.
    pub(super) fn pair_entries<'a>(&'a self, row: &'a RawRow) -> impl Iterator<Item = (u32, f32)> + 'a {
        let place = |cell: u32| self.places.get(cell as usize).copied().flatten();
        let known = row.pairs.iter().filter_map(move |&(cell, forms)| place(cell).map(|place| (place, forms)));
        known.flat_map(|(place, [share, log])| [(2 * place, share), (2 * place + 1, log)])
    }

    /// The row of the Weisfeiler-Lehman block: roots of counts, scaled to length one.
    pub(super) fn color_entries(&self, row: &RawRow) -> Vec<(u32, f32)> {
        let mut next = 0;
        let mut known = Vec::new();
        for &(color, count) in &row.colors {
            next += self.colors[next..].partition_point(|&other| other < color);
            if self.colors.get(next) == Some(&color) {
                known.push((next as u32, count));
            }
        }
        let total: u64 = known.iter().map(|&(_, count)| u64::from(count)).sum();
        let root = |count: u32| (f64::from(count) / total as f64).sqrt() as f32;
        known.into_iter().map(|(column, count)| (column, root(count))).collect()
    }
}
