//! Descriptor of whole graphs, without training and without labels: blocks of measures side by side, reduced to principal components.
//!
//! A block is a function of one graph: [`hop_pool`], [`wl_colors`], [`pair_products`], [`spectrum_measures`], [`size_measures`]. Relabeling
//! the nodes changes none of them, up to rounding; only the spectrum of a graph of more than [`EXACT_SPECTRUM`] nodes is an estimate
//! by random vectors. What is fitted to a set of graphs (which colors are known, means, projections) is stored and applies to other graphs
//! as it is.

mod columns;
mod fit;
mod hop;
mod model;
mod pair;
mod rows;
mod size;
mod spectrum;
mod structure;
mod walk;
mod wl;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use columns::FeatureColumns;
pub use hop::{hop_columns, hop_pool};
pub use model::DescriptorModel;
pub use pair::{PairProduct, pair_products};
pub use size::{SIZE_MEASURES, size_measures};
pub use spectrum::{EXACT_SPECTRUM, SPECTRUM_MEASURES, spectrum_measures};
pub use structure::{STRUCTURE_MEASURES, structure_measures};
pub use wl::{count_colors, degree_colors, graph_signatures, wl_colors};

pub(crate) use fit::fit;

use crate::error::{Error, Result};

/// A block of the descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// Hop-pool: means, deviations, maxima and sums of propagated features and structural measures.
    Hop,
    /// Weisfeiler-Lehman: how often each color of the color refinement occurs, from node labels or else degrees.
    Wl,
    /// Pairs of features that random walks of a few steps join.
    Pair,
    /// Spectral density and heat trace of the normalized Laplacian.
    Spectrum,
    /// Numbers of nodes and edges.
    Size,
}

/// How graphs of a set are described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DescriptorSettings {
    /// What the descriptor consists of: hop, wl, pair, spectrum, size.
    pub blocks: Vec<Block>,
    /// Steps of propagation, of random walks and of color refinement.
    pub depth: usize,
    /// Columns of the embedding, at most.
    pub dimensions: usize,
    /// Principal components of each block, at most.
    pub block_dimensions: usize,
    /// Graphs that projections are fitted to, at most; of a larger set a random part.
    pub fit_graphs: usize,
}

impl Default for DescriptorSettings {
    fn default() -> Self {
        let blocks = vec![Block::Hop, Block::Wl, Block::Pair, Block::Spectrum, Block::Size];
        DescriptorSettings { blocks, depth: 4, dimensions: 256, block_dimensions: 256, fit_graphs: 10_000 }
    }
}

impl DescriptorSettings {
    /// Refuses settings that are out of their range; `name` is what they are called, such as `graphs`.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self, name: &str) -> Result<()> {
        let setting =
            |key: &str, value: String, expected: &str| Error::setting(format!("{name}.{key}"), value, expected);
        let mut blocks = self.blocks.clone();
        blocks.sort_unstable();
        blocks.dedup();
        if blocks.is_empty() || blocks.len() < self.blocks.len() {
            let expected = "at least one of hop, wl, pair, spectrum, size, each once";
            return Err(setting("blocks", format!("{:?}", self.blocks).to_lowercase(), expected));
        }
        if self.depth > 16 {
            return Err(setting("depth", self.depth.to_string(), "0 to 16"));
        }
        for (key, value) in [("dimensions", self.dimensions), ("block_dimensions", self.block_dimensions)] {
            if !(1..=100_000).contains(&value) {
                return Err(setting(key, value.to_string(), "1 to 100,000"));
            }
        }
        if !(2..=1_000_000).contains(&self.fit_graphs) {
            return Err(setting("fit_graphs", self.fit_graphs.to_string(), "2 to 1,000,000"));
        }
        Ok(())
    }

    pub(crate) fn has(&self, block: Block) -> bool {
        self.blocks.contains(&block)
    }
}

/// `sign(x) · ln(1 + |x|)`: sums that grow with the graph, on a scale that does not.
fn signed_log(value: f64) -> f64 {
    value.abs().ln_1p().copysign(value)
}
