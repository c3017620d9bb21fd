//! Multi-hop features: principal components of features that were propagated a different number of times, without training.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::{Device, TensorData};
use fiedler_augment::Pipeline;
use fiedler_graph::{Graph, Observer};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FitData, Footprint, Loss, Method, MethodInfo, Requirements, Step};
use crate::descriptor::{self, DescriptorModel, DescriptorSettings};
use crate::eigenvectors::{EigenvectorSettings, eigenvectors_watched};
use crate::error::{Error, Result};
use crate::pca::linear::{dense_times, unit_rows};
use crate::pca::{self, CenteredGram, Components, PcaSettings, Projection, UnitRows, fixed, propagate, values, zeros};
use crate::sample::Sample;
use crate::state_dict::StateDict;
use crate::structural::{STRUCTURAL_COLUMNS, standardization, standardize, structural_features};
use crate::task::{Task, TaskLevel};
use crate::{Initializer, Normalization, Operator};

/// Columns that a row of sparse features may be expected to bring that no other row has; only for an estimate of memory.
const COLUMNS_OF_A_ROW: usize = 100;

/// Multi-hop features. Rows of the features have length one; their principal components are propagated by
/// `P = D~^-1/2 (A + I) D~^-1/2` as many times as each of `hops` says, reduced to principal components again and scaled to rows of length
/// one; the blocks stand side by side. Every projection is stored and applies to other graphs with the same columns.
///
/// Without features, or where all rows are alike, the structural form serves: [`structural_features`](crate::structural_features),
/// standardized, rows of length one, beside [`eigenvectors`](fn@crate::eigenvectors), which are computed anew of every graph.
///
/// Of a set of graphs, every graph is embedded as [`descriptor`](crate::descriptor) says.
///
/// SGC (Wu et al., 2019) has the propagation, SIGN (Frasca et al., 2020) the blocks of several hops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hops {
    /// How many times features are propagated, one block each.
    pub hops: Vec<usize>,
    /// Columns of the embedding, at most: blocks share them equally. It is also the number of components before propagation.
    pub dimensions: usize,
    /// Power iterations of the randomized range finder, where features have many columns.
    pub pca_iterations: usize,
    /// Mix the columns of each block by a random orthogonal matrix, so that they are alike for whoever standardizes them.
    pub rotate: bool,
    /// Eigenvectors of the structural form.
    pub eigenvectors: usize,
    /// Seed of range finder and rotations.
    pub seed: u64,
    /// How whole graphs are described, where there is a set of them; the settings before are for the nodes of one graph, but for
    /// `pca_iterations`, `rotate` and `seed`.
    pub graphs: DescriptorSettings,
}

impl Default for Hops {
    fn default() -> Self {
        Hops {
            hops: vec![0, 1, 2, 4, 8],
            dimensions: 512,
            pca_iterations: 4,
            rotate: true,
            eigenvectors: 64,
            seed: 0,
            graphs: DescriptorSettings::default(),
        }
    }
}

/// The projections of [`Hops`].
#[derive(Module, Debug)]
pub struct HopsModel {
    /// Of features; none where the structural form serves.
    pub features: Option<HopBlocks>,
    /// Of structural features.
    pub structural: Option<Standardization>,
    /// Of whole graphs.
    pub graphs: Option<DescriptorModel>,
}

/// Projections of features, before and after propagation.
#[derive(Module, Debug)]
pub struct HopBlocks {
    /// 1 for each column that the features had an entry in, else 0: only these have a row in the projection.
    pub used: Param<Tensor<1>>,
    /// Before propagation.
    pub input: Projection,
    /// After propagation, one a block.
    pub blocks: Vec<Projection>,
}

/// What columns are standardized by.
#[derive(Module, Debug)]
pub struct Standardization {
    /// What is taken off a column.
    pub mean: Param<Tensor<1>>,
    /// What it is multiplied by then.
    pub scale: Param<Tensor<1>>,
}

impl Method for Hops {
    const INFO: MethodInfo = MethodInfo {
        name: "hops",
        about: "principal components of features over several hops, or of measures of whole graphs, without training",
        citation: "after SGC (Wu et al., ICML 2019) and SIGN (Frasca et al., 2020)",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = HopsModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        check_hops("hops", &self.hops)?;
        if self.hops.is_empty() {
            return Err(Error::setting("hops", "[]", "at least one number, such as [0, 1, 2, 4, 8]"));
        }
        if !(self.hops.len()..=100_000).contains(&self.dimensions) {
            let expected = format!("{} to 100,000: at least one column for each of the hops", self.hops.len());
            return Err(Error::setting("dimensions", self.dimensions, expected));
        }
        check_iterations(self.pca_iterations)?;
        self.eigenvector_settings().check()?;
        self.graphs.check("graphs")?;
        if task.level == TaskLevel::Graphs {
            return Ok(self.graphs.requirements(task));
        }
        Ok(requirements(task, self.dimensions))
    }

    fn takes_stored_features(&self) -> bool {
        true
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, _: &mut Initializer) -> Result<HopsModel> {
        Ok(HopsModel { features: None, structural: None, graphs: None })
    }

    fn fit(&self, _: HopsModel, data: &FitData<'_>) -> Result<HopsModel> {
        if data.task.level == TaskLevel::Graphs {
            let model = descriptor::fit(&self.graphs, &self.pca(), self.rotate, data)?;
            return Ok(HopsModel { features: None, structural: None, graphs: Some(model) });
        }
        let sample = data.sample(&[Normalization::Symmetric])?;
        if !data.data.are_features_degrees() {
            let blocks =
                HopBlocks::fit(&sample, &self.hops, self.dimensions / self.hops.len(), &self.pca(), self.rotate, data)?;
            if blocks.is_some() {
                return Ok(HopsModel { features: blocks, structural: None, graphs: None });
            }
            data.note("all nodes have the same features: structural features and eigenvectors serve");
        }
        data.progress("structural features", 0, 1)?;
        let features = structural_features(sample.topology())?;
        let (mean, scale) = standardization(features.values(), STRUCTURAL_COLUMNS);
        let of = |values: Vec<f32>| fixed(values, [STRUCTURAL_COLUMNS], data.device);
        let structural = Some(Standardization { mean: of(mean), scale: of(scale) });
        Ok(HopsModel { features: None, structural, graphs: None })
    }

    fn restore(&self, task: &Task, weights: &StateDict, initializer: &mut Initializer) -> Result<HopsModel> {
        let device = initializer.device();
        if weights.shape("graphs.weight").is_some() {
            let model = DescriptorModel::shaped(&self.graphs, weights, "graphs", task.dims.nodes, device)?;
            return weights.apply(HopsModel { features: None, structural: None, graphs: Some(model) });
        }
        let of_features = weights.shape("features.used").is_some();
        let model = HopsModel {
            graphs: None,
            features: of_features
                .then(|| HopBlocks::shaped(weights, "features", self.hops.len(), task.dims.nodes, device))
                .transpose()?,
            structural: (!of_features).then(|| Standardization {
                mean: zeros([STRUCTURAL_COLUMNS], device),
                scale: zeros([STRUCTURAL_COLUMNS], device),
            }),
        };
        weights.apply(model)
    }

    fn loss(&self, _: &HopsModel, _: &(), _: &Step<'_>) -> Result<Loss> {
        Err(Error::setting("method", "hops", "a method that is trained"))
    }

    fn embed(&self, model: &HopsModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        if let Some(descriptor) = &model.graphs {
            let (values, width) = descriptor.embed(&self.graphs, sample)?;
            return Ok(matrix(values, width, sample.features.device()));
        }
        let (values, width) = match (&model.features, &model.structural) {
            (Some(blocks), _) => blocks.embed(sample, &self.hops)?,
            (None, Some(standardization)) => self.embed_structure(standardization, sample.topology(), step.observer)?,
            (None, None) => return Err(Error::setting("method", "hops", "a model that was fitted")),
        };
        Ok(matrix(values, width, sample.features.device()))
    }
}

impl Hops {
    fn pca(&self) -> PcaSettings {
        PcaSettings { dimensions: self.dimensions, iterations: self.pca_iterations, seed: self.seed }
    }

    fn eigenvector_settings(&self) -> EigenvectorSettings {
        EigenvectorSettings { eigenvectors: self.eigenvectors, ..EigenvectorSettings::default() }
    }

    /// Structural features beside eigenvectors.
    fn embed_structure(
        &self,
        by: &Standardization,
        graph: &Graph,
        observer: &dyn Observer,
    ) -> Result<(Vec<f32>, usize)> {
        let mut structure = structural_features(graph)?.values().to_vec();
        standardize(&mut structure, &values(&by.mean), &values(&by.scale));
        let vectors = eigenvectors_watched(graph, &self.eigenvector_settings(), observer)?;
        Ok(side_by_side(&[(structure, STRUCTURAL_COLUMNS), (vectors.values().to_vec(), vectors.columns())]))
    }
}

impl HopBlocks {
    /// Finds the projections; none where all rows of the features are alike.
    pub(super) fn fit(
        sample: &Sample,
        hops: &[usize],
        columns: usize,
        settings: &PcaSettings,
        rotate: bool,
        data: &FitData<'_>,
    ) -> Result<Option<HopBlocks>> {
        let at = [AtomicUsize::new(0), AtomicUsize::new(1)];
        let step = |pass, passes| {
            at[0].store(pass, Ordering::Relaxed);
            at[1].store(passes, Ordering::Relaxed);
            data.progress("components of the features", pass, passes)
        };
        // Reading rows from a file may take long.
        let watch = || step(at[0].load(Ordering::Relaxed), at[1].load(Ordering::Relaxed));
        let used = UnitRows::used_columns(sample, &watch)?;
        let rows = UnitRows::new(sample, &used, &watch);
        let input = pca::of_features(&rows, settings, &step)?;
        if input.width == 0 {
            return Ok(None);
        }
        let mut image = rows.centered_times(&input.mean, &input.weight, input.width)?;
        drop(rows);
        let operator = sample.graph(Normalization::Symmetric)?.operator();
        let mut by_distance: Vec<(usize, usize)> =
            hops.iter().copied().enumerate().map(|(at, hop)| (hop, at)).collect();
        by_distance.sort_unstable();
        // `None` where there is nothing to decompose, because nothing was propagated.
        let mut grams: Vec<Option<CenteredGram>> = hops.iter().map(|_| None).collect();
        let mut done = 0;
        for (found, &(hop, at)) in by_distance.iter().enumerate() {
            data.progress("propagation", found, hops.len())?;
            image = propagate(operator, image, input.width, hop - done);
            done = hop;
            if hop > 0 {
                grams[at] = Some(CenteredGram::of(&image, input.width));
            }
        }
        drop(image);
        // A decomposition is the work of one thread, and there are several.
        let decompose = |(at, gram): (usize, Option<CenteredGram>)| -> Result<Components> {
            let block = match gram {
                Some(gram) => gram.components(columns)?,
                None => Components::of_components(input.width, columns),
            };
            if rotate { block.rotated(settings.seed, at as u64) } else { Ok(block) }
        };
        let blocks = grams.into_par_iter().enumerate().map(decompose).collect::<Result<Vec<_>>>()?;
        let device = data.device;
        let marks: Vec<f32> = used.iter().map(|&used| f32::from(used)).collect();
        let count = marks.len();
        Ok(Some(HopBlocks {
            used: fixed(marks, [count], device),
            input: Projection::new(input, device),
            blocks: blocks.into_iter().map(|block| Projection::new(block, device)).collect(),
        }))
    }

    /// Blocks with the shapes that stored weights have, to be filled with them.
    pub(super) fn shaped(
        weights: &StateDict,
        name: &str,
        blocks: usize,
        columns: usize,
        device: &Device,
    ) -> Result<HopBlocks> {
        let of_used = format!("{name}.used");
        let [used] = pca::shape_of::<1>(weights, &of_used)?;
        let marked = weights.get(&of_used).map_or(0, |marks| marks.iter().filter(|&&mark| mark == 1.0).count());
        let input = Projection::shaped(weights, &format!("{name}.input"), device)?;
        let [rows, width] = input.dims();
        if used != columns || rows != marked {
            let found = format!("{used} columns, {marked} of them used");
            let expected = format!("{columns} columns, {rows} of them used");
            return Err(Error::StateDict { name: of_used, found, expected });
        }
        let block = |at: usize| {
            let name = format!("{name}.blocks.{at}");
            let block = Projection::shaped(weights, &name, device)?;
            match block.dims()[0] == width {
                true => Ok(block),
                false => Err(Error::StateDict {
                    name,
                    found: format!("{} rows", block.dims()[0]),
                    expected: format!("{width}, one for each component of the features"),
                }),
            }
        };
        let blocks = (0..blocks).map(block).collect::<Result<Vec<Projection>>>()?;
        Ok(HopBlocks { used: zeros([used], device), input, blocks })
    }

    /// The blocks of a graph side by side, rows of each of length one; and the columns of all.
    pub(super) fn embed(&self, sample: &Sample, hops: &[usize]) -> Result<(Vec<f32>, usize)> {
        let used: Vec<bool> = values(&self.used).into_iter().map(|mark| mark == 1.0).collect();
        let input = self.input.to_components();
        let rows = UnitRows::new(sample, &used, &|| Ok(()));
        let blocks: Vec<Components> = self.blocks.iter().map(Projection::to_components).collect();
        let all: usize = blocks.iter().map(|block| block.width).sum();
        // Projecting comes before propagation, which is then of fewer columns: (Pᵏ X U) V = Pᵏ (X (U V)). The columns of all blocks are
        // projected to where they belong: the embedding may be the largest of all that is in memory.
        let mut weight = vec![0.0; input.mean.len() * all];
        let mut first = 0;
        for block in &blocks {
            let product = dense_times(&input.weight, input.width, &block.weight, block.width);
            for (row, part) in weight.chunks_exact_mut(all).zip(product.chunks_exact(block.width)) {
                row[first..first + block.width].copy_from_slice(part);
            }
            first += block.width;
        }
        let mut embedding = rows.centered_times(&input.mean, &weight, all)?;
        drop((rows, weight));
        let operator: &Operator = sample.graph(Normalization::Symmetric)?.operator();
        let mut first = 0;
        for (Components { mean, weight, width }, &hop) in blocks.into_iter().zip(hops) {
            let mut image = vec![0.0; sample.num_nodes() * width];
            let rows = embedding.par_chunks_exact(all).zip(image.par_chunks_exact_mut(width));
            rows.for_each(|(row, image)| image.copy_from_slice(&row[first..first + width]));
            let mut image = propagate(operator, image, width, hop);
            let shift = dense_times(&mean, input.width, &weight, width);
            image.par_chunks_exact_mut(width).for_each(|row| {
                row.iter_mut().zip(&shift).for_each(|(value, shift)| *value -= shift);
            });
            unit_rows(&mut image, width);
            let rows = embedding.par_chunks_exact_mut(all).zip(image.par_chunks_exact(width));
            rows.for_each(|(row, image)| row[first..first + width].copy_from_slice(image));
            first += width;
        }
        Ok((embedding, all))
    }
}

/// What a step of a method without training holds.
pub(super) fn requirements(task: &Task, dimensions: usize) -> Requirements {
    let columns = task.dims.nodes.min(task.num_nodes.saturating_mul(COLUMNS_OF_A_ROW));
    let dimensions = dimensions.min(columns) as f64;
    let footprint = Footprint {
        // Components and the embedding, and the image of a block under propagation.
        values_per_node: 2.5 * dimensions,
        // The estimate counts eight copies of a weight; here there are three.
        weights: columns as f64 * dimensions * 3.0 / 8.0,
        ..Footprint::default()
    };
    let operators = vec![Normalization::Symmetric];
    Requirements { trained: false, labels: false, clean: false, operators, footprint }
}

pub(super) fn check_hops(name: &str, hops: &[usize]) -> Result<()> {
    if hops.len() > 64 || hops.iter().any(|&hop| hop > 1000) {
        return Err(Error::setting(name, format!("{hops:?}"), "at most 64 numbers from 0 to 1,000"));
    }
    Ok(())
}

pub(super) fn check_iterations(iterations: usize) -> Result<()> {
    if iterations > 100 {
        return Err(Error::setting("pca_iterations", iterations, "0 to 100"));
    }
    Ok(())
}

/// Blocks of as many rows beside each other, and the columns of all.
pub(super) fn side_by_side(blocks: &[(Vec<f32>, usize)]) -> (Vec<f32>, usize) {
    let width: usize = blocks.iter().map(|(_, width)| width).sum();
    let rows = blocks.first().map_or(0, |(values, width)| values.len() / width.max(&1));
    let mut all = Vec::with_capacity(rows * width);
    for row in 0..rows {
        blocks.iter().for_each(|(values, width)| all.extend_from_slice(&values[row * width..(row + 1) * width]));
    }
    (all, width)
}

/// Rows of values as a tensor.
pub(super) fn matrix(values: Vec<f32>, width: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / width.max(1);
    Tensor::from_data(TensorData::new(values, [rows, width]), device)
}
