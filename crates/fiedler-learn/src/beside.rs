//! A trained embedding beside multi-hop features: training adds to what the graph gives without it, instead of standing in for it.
//!
//! `[2T, H]`, with `T` the trained embedding (columns standardized, then rows to length one) and `H` that of [`Hops`], goes through centered
//! principal components and a random orthogonal rotation. Without the rotation, whoever standardizes the columns would blow up the last
//! components to the size of the first. All of it is stored with the encoder, so that other graphs are embedded the same way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Embeddings;
use crate::error::{Error, Result, check_size};
use crate::method::Hops;
use crate::ops::STANDARDIZE_EPSILON;
use crate::pca::linear::{column_means, dense_times, unit_rows};
use crate::pca::{self, Components};
use crate::state_dict::StateDict;

/// What becomes of embeddings after training, whatever the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// What the trained embedding stands beside.
    pub beside: Option<Beside>,
    /// Columns of both together, at most.
    pub dimensions: usize,
}

impl Default for EmbeddingSettings {
    fn default() -> Self {
        EmbeddingSettings { beside: None, dimensions: 512 }
    }
}

/// What a trained embedding stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beside {
    /// Multi-hop features: [`Hops`] with its defaults.
    Hops,
}

impl EmbeddingSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        if !(1..=100_000).contains(&self.dimensions) {
            return Err(Error::setting("embedding.dimensions", self.dimensions, "1 to 100,000"));
        }
        Ok(())
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == EmbeddingSettings::default()
    }

    /// The method that embeds what stands beside.
    pub(crate) fn hops(&self, seed: u64) -> Option<Hops> {
        self.beside.map(|Beside::Hops| Hops { seed, ..Hops::default() })
    }
}

/// How much the trained embedding counts.
const WEIGHT: f32 = 2.0;
/// The rotation has a stream of its own, far from those of the blocks of [`Hops`].
const ROTATION: u64 = 1 << 32;
/// Before the names of all that is stored for what stands beside.
pub(crate) const PREFIX: &str = "beside.";

/// What puts both embeddings together, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Joint {
    /// What is taken off the columns of the trained embedding, and what they are multiplied by then.
    mean: Vec<f32>,
    scale: Vec<f32>,
    components: Components,
    /// The weights of what stands beside.
    pub hops: StateDict,
}

impl Joint {
    /// Finds it for the graph that was trained on.
    pub(crate) fn fit(
        trained: &Embeddings,
        beside: &Embeddings,
        hops: StateDict,
        dimensions: usize,
        seed: u64,
    ) -> Result<Joint> {
        let mean = column_means(trained.values(), trained.columns());
        let mut squares = vec![0.0f64; trained.columns()];
        for row in 0..trained.rows() {
            for ((square, value), mean) in squares.iter_mut().zip(trained.row(row)).zip(&mean) {
                *square += f64::from(value - mean).powi(2);
            }
        }
        let degrees = trained.rows().saturating_sub(1).max(1) as f64;
        let scale = |square: f64| (1.0 / ((square / degrees).sqrt() + f64::from(STANDARDIZE_EPSILON))) as f32;
        let scale: Vec<f32> = squares.into_iter().map(scale).collect();
        let (both, columns) = side_by_side(trained, &mean, &scale, beside)?;
        let components = pca::of_dense(&both, columns, dimensions)?.rotated(seed, ROTATION)?;
        Ok(Joint { mean, scale, components, hops })
    }

    /// Both embeddings of a graph put together.
    pub(crate) fn apply(&self, trained: &Embeddings, beside: &Embeddings) -> Result<Embeddings> {
        check_size("row of the trained embedding", trained.columns(), self.mean.len())?;
        let (mut both, columns) = side_by_side(trained, &self.mean, &self.scale, beside)?;
        let Components { mean, weight, width } = &self.components;
        check_size("row of both embeddings", columns, mean.len())?;
        for row in both.chunks_exact_mut(columns) {
            row.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
        }
        Ok(Embeddings::new(*width, dense_times(&both, columns, weight, *width)))
    }

    /// Adds what is stored to the weights of the encoder.
    pub(crate) fn store(&self, weights: &mut StateDict) -> Result<()> {
        let Components { mean, weight, width } = &self.components;
        let mut insert = |name: &str, shape: Vec<usize>, values: &[f32]| {
            weights.insert(format!("{PREFIX}{name}"), shape, values.to_vec())
        };
        insert("trained.mean", vec![self.mean.len()], &self.mean)?;
        insert("trained.scale", vec![self.scale.len()], &self.scale)?;
        insert("projection.mean", vec![mean.len()], mean)?;
        insert("projection.components", vec![mean.len(), *width], weight)?;
        for (name, shape, values) in self.hops.iter() {
            insert(&format!("hops.{name}"), shape.to_vec(), values)?;
        }
        Ok(())
    }

    /// Takes what is stored out of the weights of an encoder, which are left behind.
    pub(crate) fn take(weights: &mut StateDict) -> Result<Joint> {
        let mut stored = weights.split_off(PREFIX);
        let hops = stored.split_off("hops.");
        let [trained] = pca::shape_of(&stored, "trained.mean")?;
        let [scaled] = pca::shape_of(&stored, "trained.scale")?;
        let [both] = pca::shape_of(&stored, "projection.mean")?;
        let [rows, width] = pca::shape_of(&stored, "projection.components")?;
        check_size("list of scales of the trained embedding", scaled, trained)?;
        check_size("projection of both embeddings", rows, both)?;
        if width == 0 || stored.iter().count() != 4 {
            return Err(Error::NotAnEncoder {
                problem: "what stands beside the trained embedding is incomplete".into(),
            });
        }
        let values = |name: &str| stored.get(name).map(<[f32]>::to_vec).unwrap_or_default();
        let components = Components { mean: values("projection.mean"), weight: values("projection.components"), width };
        Ok(Joint { mean: values("trained.mean"), scale: values("trained.scale"), components, hops })
    }
}

/// `[2T, H]` row by row, and its number of columns.
fn side_by_side(trained: &Embeddings, mean: &[f32], scale: &[f32], beside: &Embeddings) -> Result<(Vec<f32>, usize)> {
    check_size("embedding beside the trained one", beside.rows(), trained.rows())?;
    let width = trained.columns();
    let mut standardized = trained.values().to_vec();
    for row in standardized.chunks_exact_mut(width) {
        row.iter_mut().zip(mean).zip(scale).for_each(|((value, mean), scale)| *value = (*value - mean) * scale);
    }
    unit_rows(&mut standardized, width);
    let columns = width + beside.columns();
    let mut both = Vec::with_capacity(trained.rows() * columns);
    for (at, row) in standardized.chunks_exact(width).enumerate() {
        both.extend(row.iter().map(|value| WEIGHT * value));
        both.extend_from_slice(beside.row(at));
    }
    Ok((both, columns))
}
