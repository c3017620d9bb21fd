//! Spectral embedding: leading eigenvectors of the graph, without training.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_spectral::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hops::{HopBlocks, check_hops, check_iterations, matrix, requirements, side_by_side};
use super::{FitData, Loss, Method, MethodInfo, Requirements, Step};
use crate::eigenvectors::{EigenvectorSettings, eigenvectors_watched};
use crate::error::{Error, Result};
use crate::pca::PcaSettings;
use crate::state_dict::StateDict;
use crate::task::{Task, TaskLevel};
use crate::{Initializer, Normalization};

/// Spectral embedding: [`eigenvectors`](fn@crate::eigenvectors) of the graph, weighted by a power of their eigenvalues, beside propagated
/// features if that is wanted. Eigenvectors are computed anew of every graph that is embedded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spectral {
    /// The number of eigenvectors. Columns beyond the number of nodes are zeros.
    pub eigenvectors: usize,
    /// Whose eigenvectors: the lowest of the normalized Laplacian, or the highest of the propagation matrix with self-loops.
    pub operator: Operator,
    /// Power of its eigenvalue that an eigenvector is multiplied by. 0 leaves all as they are.
    pub power: f64,
    /// How many times features are propagated, one block each. Blocks have as many columns as there are eigenvectors and are those of
    /// [`Hops`](super::Hops); without any, the embedding is the eigenvectors alone.
    pub propagated: Vec<usize>,
    /// Power iterations of the randomized range finder.
    pub pca_iterations: usize,
}

impl Default for Spectral {
    fn default() -> Self {
        let EigenvectorSettings { eigenvectors, operator, power } = EigenvectorSettings::default();
        Spectral { eigenvectors, operator, power, propagated: Vec::new(), pca_iterations: 4 }
    }
}

/// The projections of [`Spectral`].
#[derive(Module, Debug)]
pub struct SpectralModel {
    /// Of features, where they are propagated.
    pub features: Option<HopBlocks>,
}

impl Method for Spectral {
    const INFO: MethodInfo = MethodInfo {
        name: "spectral",
        about: "leading eigenvectors of the graph, without training",
        citation: "after Belkin and Niyogi, NIPS 2001",
        levels: &[TaskLevel::Nodes],
    };
    type Model = SpectralModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.settings().check()?;
        check_hops("propagated", &self.propagated)?;
        check_iterations(self.pca_iterations)?;
        let dimensions = if self.propagated.is_empty() { 0 } else { self.pca().dimensions };
        let mut requirements = requirements(task, dimensions);
        // The eigensolver's basis has about 3.5 vectors for each that is wanted, in double precision.
        requirements.footprint.values_per_node += 8.0 * self.eigenvectors as f64;
        Ok(requirements)
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, _: &mut Initializer) -> Result<SpectralModel> {
        Ok(SpectralModel { features: None })
    }

    fn fit(&self, model: SpectralModel, data: &FitData<'_>) -> Result<SpectralModel> {
        if self.propagated.is_empty() {
            return Ok(model);
        }
        let sample = data.sample(&[Normalization::Symmetric])?;
        let features = HopBlocks::fit(&sample, &self.propagated, self.eigenvectors, &self.pca(), true, data)?;
        Ok(SpectralModel { features })
    }

    fn restore(&self, task: &Task, weights: &StateDict, initializer: &mut Initializer) -> Result<SpectralModel> {
        let shaped =
            || HopBlocks::shaped(weights, "features", self.propagated.len(), task.dims.nodes, initializer.device());
        let features = weights.shape("features.used").is_some().then(shaped).transpose()?;
        weights.apply(SpectralModel { features })
    }

    fn loss(&self, _: &SpectralModel, _: &(), _: &Step<'_>) -> Result<Loss> {
        Err(Error::setting("method", "spectral", "a method that is trained"))
    }

    fn embed(&self, model: &SpectralModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let vectors = eigenvectors_watched(sample.topology(), &self.settings(), step.observer)?;
        let mut blocks = vec![(vectors.values().to_vec(), vectors.columns())];
        if let Some(features) = &model.features {
            blocks.push(features.embed(sample, &self.propagated)?);
        }
        let (values, width) = side_by_side(&blocks);
        Ok(matrix(values, width, sample.features.device()))
    }
}

impl Spectral {
    fn settings(&self) -> EigenvectorSettings {
        EigenvectorSettings { eigenvectors: self.eigenvectors, operator: self.operator, power: self.power }
    }

    fn pca(&self) -> PcaSettings {
        PcaSettings { dimensions: 512.max(self.eigenvectors), iterations: self.pca_iterations, seed: 0 }
    }
}
