//! Encoders that others have published, out of the weights that PyTorch saved.

use std::collections::BTreeSet;

use crate::DeviceSettings;
use crate::Initializer;
use crate::data::FeatureSettings;
use crate::encoder::{EdgeMessage, EncoderSettings, FirstWeights, GinSettings, InputDims};
use crate::error::{Error, Result};
use crate::layer::Activation;
use crate::method::{Method, Untrained};
use crate::molecule_features::{HU_ATOMS, HU_BONDS, MoleculeFeatures};
use crate::ops::Pooling;
use crate::readout::{JumpingKnowledge, Projector, ReadoutSettings};
use crate::saved::SavedEncoder;
use crate::state_dict::StateDict;
use crate::task::{Task, TaskLevel};

/// An encoder that others have published, and what of their file is not part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedEncoder {
    /// The encoder, as if a run had left it.
    pub encoder: SavedEncoder,
    /// What its weights are, in words.
    pub shape: String,
    /// Tensors that have no place in it, such as heads.
    pub left_out: Vec<String>,
}

/// Rows of Hu's tables: atom types with a mask, chiralities, bond types with self-loop and mask, bond directions.
const TYPES: usize = 120;
const CHIRALITIES: usize = 3;
const BOND_TYPES: usize = 6;
const DIRECTIONS: usize = 3;
/// Rows of the bond types that are no bonds of molecules.
const SELF_LOOP: usize = 4;
const BOND_MASK: usize = 5;

/// The tensor by which the encoder is found.
const FIRST: &str = "x_embedding1.weight";

/// Reads the graph isomorphism network of Hu et al. (Strategies for Pre-training Graph Neural Networks, ICLR 2020) out of a `state_dict` with
/// their names: `x_embedding1.weight`, `gnns.0.mlp.0.weight`, `batch_norms.0.running_mean` and so on, with or without a prefix such as
/// `gnn.`. GraphCL, JOAO, GraphMAE and others published encoders of this shape for molecules.
///
/// A bond of another kind than theirs, and one that a view adds, has the vector of their masked bond; a hidden atom that of their masked
/// atom. Graphs are embedded by the mean of their nodes after the last layer.
///
/// # Errors
/// Names the tensor that is missing, or has another shape than the others ask for.
pub fn hu_gin(weights: &StateDict) -> Result<PublishedEncoder> {
    let Some(prefix) = weights.iter().find_map(|(name, ..)| name.strip_suffix(FIRST)).map(str::to_owned) else {
        let names: Vec<&str> = weights.iter().map(|(name, ..)| name).take(5).collect();
        let found = format!("nothing, but {} and so on", names.join(", "));
        return Err(Error::StateDict { name: FIRST.into(), found, expected: format!("shape [{TYPES}, channels]") });
    };
    let source = Source { weights, prefix: &prefix, taken: BTreeSet::new() };
    source.convert()
}

struct Source<'a> {
    weights: &'a StateDict,
    prefix: &'a str,
    taken: BTreeSet<String>,
}

impl<'a> Source<'a> {
    /// A tensor of a shape, where a length of zero stands for any.
    fn get(&mut self, name: &str, shape: &[usize]) -> Result<&'a [f32]> {
        let name = format!("{}{name}", self.prefix);
        let fits = |found: &[usize]| {
            found.len() == shape.len() && found.iter().zip(shape).all(|(found, wanted)| *wanted == 0 || found == wanted)
        };
        match (self.weights.shape(&name), self.weights.get(&name)) {
            (Some(found), Some(values)) if fits(found) => {
                if values.iter().any(|value| !value.is_finite()) {
                    return Err(Error::StateDict {
                        name,
                        found: "a value that is no finite number".into(),
                        expected: "finite numbers".into(),
                    });
                }
                self.taken.insert(name);
                Ok(values)
            }
            (found, _) => {
                let found = found.map_or("nothing".to_owned(), |found| format!("shape {found:?}"));
                let length = |wanted: &usize| if *wanted == 0 { "any".to_owned() } else { wanted.to_string() };
                let expected = shape.iter().map(length).collect::<Vec<_>>().join(", ");
                Err(Error::StateDict { name, found, expected: format!("shape [{expected}]") })
            }
        }
    }

    fn length(&self, name: &str, axis: usize) -> usize {
        self.weights.shape(&format!("{}{name}", self.prefix)).and_then(|shape| shape.get(axis).copied()).unwrap_or(0)
    }

    fn convert(mut self) -> Result<PublishedEncoder> {
        let channels = self.length(FIRST, 1);
        let between = self.length("gnns.0.mlp.0.weight", 0);
        self.get(FIRST, &[TYPES, channels])?;
        let layers = (0..).take_while(|layer| self.length(&format!("gnns.{layer}.mlp.0.weight"), 0) > 0).count();
        if layers == 0 {
            self.get("gnns.0.mlp.0.weight", &[0, channels])?;
        }
        let method = Untrained {
            encoder: EncoderSettings::Gin(GinSettings {
                mlp_channels: Some(between),
                ..hu_settings(channels.max(1), layers.max(1))
            }),
            readout: ReadoutSettings {
                pooling: Pooling::Mean,
                jumping_knowledge: JumpingKnowledge::Last,
                projector: Projector::Identity,
                ..ReadoutSettings::default()
            },
            extra_propagation: 0,
        };
        let dims = InputDims { nodes: columns(&HU_ATOMS), edges: Some(columns(&HU_BONDS)) };
        let task = Task {
            level: TaskLevel::Graphs,
            dims,
            num_nodes: 2,
            num_graphs: 2,
            batch_graphs: 2,
            num_views: 2,
            target: None,
        };
        Method::check(&method, &task)?;

        // Every tensor is looked at before a model is made of their sizes.
        let mut ours = StateDict::default();
        let mut put = |name: String, shape: Vec<usize>, values: Vec<f32>| {
            ours.insert(format!("encoder.Gin.{name}"), shape, values)
        };
        let types = self.get(FIRST, &[TYPES, channels])?.to_vec();
        let chiralities = self.get("x_embedding2.weight", &[CHIRALITIES, channels])?;
        // A hidden atom has their type of a masked atom, and no chirality.
        let atoms = [&types, chiralities, &chiralities[..channels]].concat();
        put("embedding".into(), vec![dims.nodes, channels], atoms)?;
        for layer in 0..layers {
            let name = |rest: &str| format!("gnns.{layer}.{rest}");
            let at = |rest: &str| format!("layers.{layer}.{rest}");
            let kinds = self.get(&name("edge_embedding1.weight"), &[BOND_TYPES, channels])?.to_vec();
            let directions = self.get(&name("edge_embedding2.weight"), &[DIRECTIONS, channels])?.to_vec();
            let row = |table: &[f32], row: usize| table[row * channels..(row + 1) * channels].to_vec();
            let (mask, none) = (row(&kinds, BOND_MASK), row(&directions, 0));
            let bonds = [&kinds[..SELF_LOOP * channels], &mask, &mask, &directions, &none].concat();
            put(at("edges"), vec![columns(&HU_BONDS), channels], bonds)?;
            let own = row(&kinds, SELF_LOOP).iter().zip(&none).map(|(kind, none)| kind + none).collect();
            put(at("self_loop"), vec![1, channels], own)?;
            for (theirs, ours, inputs, outputs) in
                [("mlp.0", "first", channels, between), ("mlp.2", "second", between, channels)]
            {
                let weight = self.get(&name(&format!("{theirs}.weight")), &[outputs, inputs])?;
                let transposed =
                    (0..inputs).flat_map(|input| (0..outputs).map(move |output| weight[output * inputs + input]));
                put(at(&format!("{ours}.weight")), vec![inputs, outputs], transposed.collect())?;
                let bias = self.get(&name(&format!("{theirs}.bias")), &[outputs])?.to_vec();
                put(at(&format!("{ours}.bias")), vec![outputs], bias)?;
            }
            for (theirs, ours) in [
                ("weight", "scale"),
                ("bias", "shift"),
                ("running_mean", "running_mean"),
                ("running_var", "running_var"),
            ] {
                let values = self.get(&format!("batch_norms.{layer}.{theirs}"), &[channels])?.to_vec();
                put(at(&format!("norm.{ours}")), vec![channels], values)?;
            }
        }
        let model = method.build(&task, &mut Initializer::new(0, &DeviceSettings::default().open()))?;
        let model = ours.apply(model)?;
        let features = FeatureSettings { molecules: MoleculeFeatures::Hu, ..FeatureSettings::default() };
        // How many batches a normalization has seen is no weight.
        let is_left = |name: &&str| !self.taken.contains(*name) && !name.ends_with("num_batches_tracked");
        let left_out = self.weights.iter().map(|(name, ..)| name).filter(is_left).map(str::to_owned).collect();
        Ok(PublishedEncoder {
            encoder: SavedEncoder::of_untrained(&task, features, method, &model),
            shape: format!("{layers} graph isomorphism layers of {channels} channels, {between} between"),
            left_out,
        })
    }
}

/// The graph isomorphism network of Hu et al.: bonds of their own in every layer, no normalization within the MLP.
pub fn hu_settings(hidden_channels: usize, num_layers: usize) -> GinSettings {
    GinSettings {
        hidden_channels,
        num_layers,
        expansion: 2,
        embed: true,
        last_relu: false,
        inner_norm: Some(false),
        activation: Activation::Relu,
        message: EdgeMessage::Sum,
        first_weights: FirstWeights::ByInputs,
        ..GinSettings::default()
    }
}

/// Columns of one-hot codes, one more each for what is hidden or unknown.
fn columns(cardinalities: &[u16]) -> usize {
    cardinalities.iter().map(|&count| usize::from(count) + 1).sum()
}
