//! What a step of training holds in memory, by an estimate before anything is made.

use crate::encoder::{EncoderSettings, InputDims};

/// What a step of training holds in memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Footprint {
    /// Values for each node that are kept until gradients have been computed: what layers make of it.
    pub values_per_node: f64,
    /// Values for each node that come and go, however many views there are: a product under way, and a gradient.
    pub transient_per_node: f64,
    /// Weights of the model.
    pub weights: f64,
    /// What a step compares, each with each.
    pub compared: Compared,
}

/// Vectors whose similarities a step holds all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compared {
    /// None, or too few to count.
    #[default]
    Nothing,
    /// The nodes of a batch with its graphs.
    NodesWithGraphs,
    /// So many nodes with each other.
    Nodes(usize),
}

impl Footprint {
    /// That of one pass through an encoder: the output of each layer and what normalizations keep; and beside it the widest twice, as
    /// product and as gradient.
    pub fn of_encoder(encoder: &EncoderSettings, dims: InputDims) -> Footprint {
        let (width, layers) =
            (encoder.hidden_channels().max(encoder.out_channels()) as f64, encoder.num_layers() as f64);
        let (values, square) = match encoder {
            EncoderSettings::Gcn(settings) => (if settings.batch_norm { 2.0 } else { 1.0 }, 1.0),
            EncoderSettings::Gin(settings) => {
                let expansion = settings.expansion as f64;
                (3.0 + expansion * if settings.batch_norm { 3.0 } else { 2.0 }, 2.0 * expansion)
            }
            EncoderSettings::Decoupled(settings) => (if settings.batch_norm { 2.0 } else { 1.0 }, 1.0),
            EncoderSettings::Mlp(settings) => (if settings.batch_norm { 2.0 } else { 1.0 }, 1.0),
        };
        let columns = dims.nodes as f64 + dims.edges.unwrap_or(0) as f64;
        Footprint {
            values_per_node: encoder.all_channels() as f64 * values,
            transient_per_node: 2.0 * width,
            weights: (columns + layers * square * width) * width,
            compared: Compared::Nothing,
        }
    }
}
