//! The forward passes of PyTorch Geometric on the same graphs and weights: `tests/fixtures/make_pyg.py`.

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::TensorData;
use burn::{Tensor, tensor::Device};
use fiedler_graph::{Categorical, Dense, Features, Graph};
use fiedler_learn::encoder::{
    DecoupledSettings, EncoderSettings, GcnSettings, GinSettings, InputDims, Layers, MlpSettings,
};
use fiedler_learn::layer::{Activation, Mlp};
use fiedler_learn::ops::{self, Pooling};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{FeatureMatrix, GraphOffsets, Initializer, MessageGraph};
use serde::Deserialize;

use crate::common::{self, assert_close, values};

#[derive(Deserialize)]
struct Fixture {
    nodes: usize,
    pairs: Vec<(u32, u32)>,
    weights: Vec<f32>,
    features: Held,
    atoms: Codes,
    bonds: Codes,
    sizes: Vec<u32>,
    gcn: Record,
    gin: Record,
    gin_molecule: Record,
    pooling: BTreeMap<String, Held>,
}

#[derive(Deserialize)]
struct Held {
    shape: Vec<usize>,
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct Codes {
    cardinalities: Vec<u16>,
    codes: Vec<u8>,
}

#[derive(Deserialize)]
struct Record {
    weights: BTreeMap<String, Held>,
    training: Vec<Held>,
    after: BTreeMap<String, Held>,
    evaluation: Vec<Held>,
}

impl Codes {
    fn features(&self) -> Features {
        Features::Categorical(Categorical::new(self.cardinalities.clone(), self.codes.clone()).unwrap())
    }
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/pyg.json")).unwrap()
}

fn graph(fixture: &Fixture, weighted: bool) -> Graph {
    let pairs = fixture.pairs.clone();
    let built = match weighted {
        true => Graph::from_weighted_pairs(fixture.nodes, pairs, fixture.weights.clone()),
        false => Graph::from_pairs(fixture.nodes, pairs),
    };
    built.unwrap().0
}

fn dense(held: &Held) -> Features {
    Features::Dense(Dense::new(held.shape[0], held.shape[1], held.values.clone()).unwrap())
}

/// The same values with the zeros left out, which must not make a difference.
fn sparse(held: &Held) -> Features {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in held.values.chunks(held.shape[1]) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    Features::Sparse(fiedler_graph::Sparse::new(held.shape[1], offsets, indices, values).unwrap())
}

fn weights(held: &BTreeMap<String, Held>, prefix: &str) -> StateDict {
    let mut weights = StateDict::default();
    for (name, held) in held {
        weights.insert(format!("{prefix}.{name}"), held.shape.clone(), held.values.clone()).unwrap();
    }
    weights
}

/// Training, where nothing is dropped.
fn training() -> Pass {
    Pass::train(DropoutRng::new(0, 0))
}

fn assert_layers(layers: &Layers, expected: &[Held], what: &str) {
    assert_eq!(layers.each().len(), expected.len());
    for (layer, (found, expected)) in layers.each().iter().zip(expected).enumerate() {
        assert_close(&values(found), &expected.values, 2e-5, &format!("{what}, layer {layer}"));
    }
}

/// Runs an encoder as PyTorch Geometric ran its own: once training, which moves the collected statistics, then not.
fn assert_as_recorded(
    settings: &EncoderSettings,
    prefix: &str,
    structure: &MessageGraph,
    features: &Features,
    record: &Record,
) {
    let device = common::device();
    let input = FeatureMatrix::new(features, &device);
    let edges = record.weights.iter().find(|(name, _)| name.ends_with("edges")).map(|(_, held)| held.shape[0]);
    let dims = InputDims { nodes: input.columns(), edges };
    let encoder = settings.build(dims, &mut Initializer::new(1, &device)).unwrap();
    let encoder = weights(&record.weights, prefix).apply(encoder).unwrap();
    assert_layers(&encoder.forward(structure, &input, &training()).unwrap(), &record.training, "training");

    let after = weights(&record.after, prefix);
    for ((name, _, found), (_, _, expected)) in StateDict::of(&encoder).iter().zip(after.iter()) {
        assert_close(found, expected, 1e-5, &format!("{name} after one pass"));
    }
    let input = FeatureMatrix::new(features, &Device::flex());
    assert_layers(
        &encoder.valid().forward(structure, &input, &Pass::eval()).unwrap(),
        &record.evaluation,
        "evaluation",
    );
}

#[test]
fn gcn_is_that_of_pytorch_geometric() {
    let fixture = fixture();
    let settings = EncoderSettings::Gcn(GcnSettings { hidden_channels: 6, ..GcnSettings::default() });
    let structure = MessageGraph::new(&graph(&fixture, true), settings.normalization());
    for features in [dense(&fixture.features), sparse(&fixture.features)] {
        assert_as_recorded(&settings, "Gcn", &structure, &features, &fixture.gcn);
    }
}

fn gin_settings() -> EncoderSettings {
    EncoderSettings::Gin(GinSettings {
        hidden_channels: 6,
        num_layers: 2,
        expansion: 2,
        train_eps: true,
        last_relu: false,
        ..GinSettings::default()
    })
}

#[test]
fn gin_is_that_of_pytorch_geometric() {
    let fixture = fixture();
    let structure = MessageGraph::new(&graph(&fixture, false), gin_settings().normalization());
    for features in [dense(&fixture.features), sparse(&fixture.features)] {
        assert_as_recorded(&gin_settings(), "Gin", &structure, &features, &fixture.gin);
    }
}

#[test]
fn gin_for_molecules_is_that_of_pytorch_geometric() {
    let fixture = fixture();
    let graph = graph(&fixture, false);
    let structure = MessageGraph::with_edges(&graph, &fixture.bonds.features(), &common::device()).unwrap();
    assert_as_recorded(&gin_settings(), "Gin", &structure, &fixture.atoms.features(), &fixture.gin_molecule);
}

#[test]
fn pooling_is_that_of_pytorch_geometric() {
    let fixture = fixture();
    let input = &fixture.pooling["input"];
    let ends = fixture.sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    let offsets = GraphOffsets::new(std::iter::once(0).chain(ends).collect());
    let shape = [input.shape[0], input.shape[1]];
    let nodes: Tensor<2> = Tensor::from_data(TensorData::new(input.values.clone(), shape), &common::device());
    for (name, pooling) in [("sum", Pooling::Sum), ("mean", Pooling::Mean), ("max", Pooling::Max)] {
        let pooled = ops::pool(nodes.clone(), &offsets, pooling);
        assert_close(&values(&pooled), &fixture.pooling[name].values, 1e-6, name);
    }
}

/// Each row by its values, for comparing rows in any order.
fn sorted_rows(matrix: &Tensor<2>) -> Vec<Vec<f32>> {
    let width = matrix.dims()[1];
    let mut rows: Vec<Vec<f32>> = values(matrix).chunks(width).map(<[f32]>::to_vec).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

#[test]
fn a_corrupted_graph_gives_the_rows_of_shuffled_features() {
    let device = common::device();
    let graph = common::graph(30, 60, 1);
    let features = Features::Sparse(common::sparse(30, 40, 2));
    for settings in [
        EncoderSettings::Gcn(GcnSettings { hidden_channels: 5, num_layers: 3, ..GcnSettings::default() }),
        EncoderSettings::Gin(GinSettings {
            hidden_channels: 5,
            num_layers: 2,
            batch_norm: false,
            ..GinSettings::default()
        }),
        EncoderSettings::Decoupled(DecoupledSettings { hidden_channels: 5, ..DecoupledSettings::default() }),
    ] {
        let encoder = settings.build(InputDims { nodes: 40, edges: None }, &mut Initializer::new(3, &device)).unwrap();
        let names: Vec<u32> = (0..30).map(|node| (node * 11 + 4) % 30).collect();
        let structure = MessageGraph::new(&graph, settings.normalization());
        let relabelled = structure.relabelled(&names).unwrap();
        let input = FeatureMatrix::new(&features, &device);
        let twins = encoder.forward_each(&[&structure, &relabelled], &input, &Pass::eval()).unwrap();
        let alone = encoder.forward(&structure, &input, &Pass::eval()).unwrap();
        assert_eq!(values(&twins[0].last()), values(&alone.last()), "sharing the first product changes nothing");

        let shuffled =
            encoder.forward(&structure, &FeatureMatrix::new(&features.gather(&names), &device), &Pass::eval()).unwrap();
        for (found, expected) in sorted_rows(&twins[1].last()).iter().zip(sorted_rows(&shuffled.last())) {
            assert_close(found, &expected, 1e-5, "a row of the corrupted twin");
        }
    }
}

#[test]
fn a_batch_gives_what_its_graphs_give_alone() {
    let device = common::device();
    let settings = EncoderSettings::Gin(GinSettings {
        hidden_channels: 4,
        num_layers: 3,
        batch_norm: false,
        ..GinSettings::default()
    });
    let encoder = settings.build(InputDims { nodes: 12, edges: None }, &mut Initializer::new(4, &device)).unwrap();
    let (one, other) = (common::graph(9, 15, 5), common::graph(13, 20, 6));
    let shifted = other.edge_pairs().map(|(a, b)| (a + 9, b + 9));
    let both = Graph::from_pairs(22, one.edge_pairs().chain(shifted).collect()).unwrap().0;
    let features = Features::Sparse(common::sparse(22, 12, 7));
    let rows = |graph: &Graph, rows: std::ops::Range<u32>| {
        let input = FeatureMatrix::new(&features.gather(&rows.collect::<Vec<_>>()), &device);
        values(
            &encoder
                .forward(&MessageGraph::new(graph, settings.normalization()), &input, &Pass::eval())
                .unwrap()
                .side_by_side(),
        )
    };
    let alone = [rows(&one, 0..9), rows(&other, 9..22)].concat();
    assert_close(&rows(&both, 0..22), &alone, 1e-6, "a batch");
}

#[test]
fn every_option_of_the_encoders_has_gradients() {
    let device = common::device();
    let graph = common::graph(40, 80, 8);
    let input = FeatureMatrix::new(&Features::Sparse(common::sparse(40, 30, 9)), &device);
    let gcn = |activation, last_activation, share_slope: bool, batch_norm| {
        EncoderSettings::Gcn(GcnSettings {
            hidden_channels: 7,
            out_channels: (!share_slope).then_some(5),
            num_layers: 3,
            activation,
            last_activation,
            share_slope,
            batch_norm,
            dropout: 0.2,
            ..GcnSettings::default()
        })
    };
    let mut choices = vec![gin_settings()];
    for activation in
        [Activation::Identity, Activation::Relu, Activation::Rrelu, Activation::Prelu, Activation::PreluChannelwise]
    {
        choices.extend([gcn(activation, None, false, true), gcn(activation, None, true, false)]);
        choices.extend([gcn(Activation::Prelu, Some(activation), false, false)]);
        choices.extend([gcn(Activation::Prelu, Some(activation), true, true)]);
        for (batch_norm, train_gamma) in [(false, true), (true, true), (false, false)] {
            let (hidden_channels, num_layers, dropout) = (7, 3, 0.2);
            choices.push(EncoderSettings::Decoupled(DecoupledSettings {
                hidden_channels,
                num_layers,
                activation,
                batch_norm,
                dropout,
                propagation_steps: 2,
                teleport: 0.3,
                train_gamma,
            }));
            let mlp = MlpSettings { hidden_channels, num_layers, activation, batch_norm, dropout };
            choices.push(EncoderSettings::Mlp(mlp));
        }
    }
    for settings in choices {
        let encoder = settings.build(InputDims { nodes: 30, edges: None }, &mut Initializer::new(10, &device)).unwrap();
        let structure = MessageGraph::new(&graph, settings.normalization());
        let pass = |encoder: &fiedler_learn::encoder::Encoder| {
            encoder.forward(&structure, &input, &Pass::train(DropoutRng::new(11, 0))).unwrap().side_by_side()
        };
        let once = pass(&encoder);
        assert_eq!(values(&once), values(&pass(&encoder)), "the same draws drop the same values");
        let gradients = once.square().sum().backward();
        let mut adam = fiedler_learn::optimizer::Adam::new(Default::default()).unwrap();
        let before = StateDict::of(&encoder);
        let after = StateDict::of(&adam.step(encoder, gradients));
        for ((name, _, before), (_, _, after)) in before.iter().zip(after.iter()) {
            // A shift before a normalization is taken out again by it.
            let idle = name.ends_with("running_mean") || name.ends_with("running_var") || name.ends_with("bias");
            assert!(idle || before != after, "{name} does not move in {settings:?}");
        }
    }
}

#[test]
fn settings_and_inputs_out_of_range_are_refused() {
    let device = common::device();
    let build = |settings: EncoderSettings| {
        settings.build(InputDims { nodes: 5, edges: None }, &mut Initializer::new(1, &device)).map(|_| ())
    };
    let error = build(EncoderSettings::Gcn(GcnSettings { num_layers: 0, ..GcnSettings::default() })).unwrap_err();
    assert_eq!(error.to_string(), "num_layers is 0; expected 1 to 1,000");
    let error = build(EncoderSettings::Gin(GinSettings { dropout: 1.0, ..GinSettings::default() })).unwrap_err();
    assert_eq!(error.to_string(), "dropout is 1; expected a number from 0 to less than 1");
    let decoupled = DecoupledSettings::default();
    for (wrong, named) in [
        (DecoupledSettings { hidden_channels: 0, ..decoupled.clone() }, "hidden_channels is 0"),
        (DecoupledSettings { num_layers: 0, ..decoupled.clone() }, "num_layers is 0"),
        (DecoupledSettings { propagation_steps: 1001, ..decoupled.clone() }, "propagation_steps is 1001"),
        (DecoupledSettings { teleport: 1.5, ..decoupled.clone() }, "teleport is 1.5"),
        (DecoupledSettings { teleport: f64::NAN, ..decoupled.clone() }, "teleport is NaN"),
        (DecoupledSettings { dropout: -1.0, ..decoupled }, "dropout is -1"),
    ] {
        let error = build(EncoderSettings::Decoupled(wrong)).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    let error = build(EncoderSettings::Mlp(MlpSettings { num_layers: 0, ..MlpSettings::default() })).unwrap_err();
    assert_eq!(error.to_string(), "num_layers is 0; expected 1 to 1,000");

    let settings = EncoderSettings::default();
    let encoder = settings.build(InputDims { nodes: 5, edges: None }, &mut Initializer::new(1, &device)).unwrap();
    let structure = MessageGraph::new(&common::graph(10, 20, 1), settings.normalization());
    let input = |rows, columns| FeatureMatrix::new(&Features::Sparse(common::sparse(rows, columns, 2)), &device);
    let error = encoder.forward(&structure, &input(9, 5), &Pass::eval()).unwrap_err();
    assert_eq!(error.to_string(), "table of features has 9; expected 10");
    let error = encoder.forward(&structure, &input(10, 6), &Pass::eval()).unwrap_err();
    assert_eq!(error.to_string(), "row of features has 6; expected 5");
}

#[test]
fn a_last_layer_may_be_followed_by_something_else_or_by_nothing() {
    let device = common::device();
    let structure = MessageGraph::new(&common::graph(20, 40, 1), fiedler_learn::Normalization::Symmetric);
    let input = FeatureMatrix::new(&Features::Sparse(common::sparse(20, 12, 2)), &device);
    let layers = |last_activation, share_slope, num_layers| {
        let (hidden_channels, activation) = (6, Activation::Relu);
        let gcn = GcnSettings {
            hidden_channels,
            num_layers,
            activation,
            last_activation,
            share_slope,
            ..GcnSettings::default()
        };
        let dims = InputDims { nodes: 12, edges: None };
        let encoder = EncoderSettings::Gcn(gcn).build(dims, &mut Initializer::new(3, &device)).unwrap();
        encoder.forward(&structure, &input, &Pass::eval()).unwrap()
    };
    for share_slope in [false, true] {
        for num_layers in [1, 2, 3] {
            let all = layers(None, share_slope, num_layers);
            let open = layers(Some(Activation::Identity), share_slope, num_layers);
            let (last, before) = (num_layers - 1, 0..num_layers - 1);
            for place in before {
                assert_eq!(values(&all.each()[place]), values(&open.each()[place]), "layer {place}");
            }
            let open = values(&open.each()[last]);
            assert!(open.iter().any(|&value| value < 0.0));
            let cut: Vec<f32> = open.iter().map(|value| value.max(0.0)).collect();
            assert_eq!(values(&all.each()[last]), cut);
        }
    }
}

#[test]
fn a_last_layer_may_have_a_width_of_its_own() {
    let device = common::device();
    let structure = MessageGraph::new(&common::graph(20, 40, 1), fiedler_learn::Normalization::Symmetric);
    let input = FeatureMatrix::new(&Features::Sparse(common::sparse(20, 12, 2)), &device);
    let gcn = |num_layers, out_channels| GcnSettings {
        hidden_channels: 6,
        out_channels,
        num_layers,
        activation: Activation::PreluChannelwise,
        batch_norm: true,
        ..GcnSettings::default()
    };
    let widths = |settings: GcnSettings| {
        let settings = EncoderSettings::Gcn(settings);
        let encoder = settings.build(InputDims { nodes: 12, edges: None }, &mut Initializer::new(3, &device)).unwrap();
        let layers = encoder.forward(&structure, &input, &Pass::eval()).unwrap();
        let widths: Vec<usize> = layers.each().iter().map(|layer| layer.dims()[1]).collect();
        assert_eq!(widths.last(), Some(&settings.out_channels()));
        widths
    };
    assert_eq!(widths(gcn(1, Some(4))), [4]);
    assert_eq!(widths(gcn(3, Some(4))), [6, 6, 4]);
    assert_eq!(widths(gcn(2, None)), [6, 6]);
    let refused = |settings: GcnSettings| settings.check().unwrap_err().to_string();
    assert_eq!(refused(gcn(2, Some(0))), "out_channels is 0; expected 1 to 1,048,576");
    // Slopes, one a channel, cannot be shared by layers of different widths.
    let shared = |out_channels| GcnSettings { share_slope: true, ..gcn(2, out_channels) };
    assert!(refused(shared(Some(4))).starts_with("share_slope is true; expected false"));
    assert!(shared(Some(6)).check().is_ok() && shared(None).check().is_ok());
    let last_activation = Some(Activation::Identity);
    assert_eq!(widths(GcnSettings { last_activation, ..shared(Some(4)) }), [6, 4]);
}

#[test]
fn without_propagation_a_decoupled_encoder_is_an_mlp_and_an_mlp_sees_no_edges() {
    let device = common::device();
    let input = FeatureMatrix::new(&Features::Sparse(common::sparse(20, 12, 2)), &device);
    let rows = |settings: &EncoderSettings, seed: u64| {
        let structure = MessageGraph::new(&common::graph(20, 40, seed), settings.normalization());
        let encoder = settings.build(InputDims { nodes: 12, edges: None }, &mut Initializer::new(3, &device)).unwrap();
        let layers = encoder.forward(&structure, &input, &Pass::eval()).unwrap();
        assert_eq!(layers.each().len(), settings.num_layers());
        values(&layers.last())
    };
    let mlp = EncoderSettings::Mlp(MlpSettings { hidden_channels: 6, ..MlpSettings::default() });
    assert_eq!(rows(&mlp, 1), rows(&mlp, 2));
    let decoupled = |propagation_steps, teleport| {
        let settings = DecoupledSettings { hidden_channels: 6, propagation_steps, teleport, ..Default::default() };
        EncoderSettings::Decoupled(settings)
    };
    assert_eq!(rows(&decoupled(0, 0.2), 1), rows(&decoupled(0, 0.2), 2));
    assert_eq!(rows(&decoupled(0, 0.2), 1), rows(&decoupled(3, 1.0), 1), "all of the walk stays where it is");
    assert_ne!(rows(&decoupled(3, 0.2), 1), rows(&decoupled(3, 0.2), 2));
}

#[test]
fn a_smooth_head_has_gradients_however_large_its_input() {
    let mlp = Mlp::new([4, 6, 3], true, &mut Initializer::new(1, &common::device()));
    let head = |matrices: &[Tensor<2>], _: &[Tensor<1>]| mlp.forward(matrices[0].clone());
    common::assert_derivative(&head, &[common::matrix(5, 4, 2)], &[], 3e-3, "a head with an ELU");
    let far = |matrices: &[Tensor<2>], _: &[Tensor<1>]| mlp.forward(matrices[0].clone() * 1e4);
    let (found, gradients) = common::values_and_gradients(&far, &[common::matrix(5, 4, 2)], &[]);
    assert!(found.iter().chain(&gradients[0]).all(|value| value.is_finite()));
}
