//! Steps of training: the optimizer, weights to and from files, and the same bits every time.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::TensorData;
use fiedler_graph::random::stream;
use fiedler_graph::{Features, Graph};
use fiedler_learn::encoder::{Encoder, EncoderSettings, GcnSettings, GinSettings, InputDims};
use fiedler_learn::loss::{ContrastiveLoss, LocalGlobal, LocalGlobalSide, Negatives};
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::readout::{JumpingKnowledge, Projector, Readout, ReadoutSettings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{FeatureMatrix, GraphOffsets, Initializer, MessageGraph};

use crate::common::{self, assert_close, numbers, on_threads, values};

#[derive(Module, Debug)]
struct Bowl {
    weight: Param<Tensor<1>>,
}

#[test]
fn adam_takes_the_steps_that_its_paper_says() {
    let settings = AdamSettings { learning_rate: 0.05, weight_decay: 0.01, ..AdamSettings::default() };
    let (start, target) = (numbers(300, 1), numbers(300, 2));
    let device = common::device();
    let of = |values: &[f32]| Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), &device);
    let mut bowl = Bowl { weight: Param::from_tensor(of(&start)) };
    let mut adam = Adam::new(settings).unwrap();

    let mut expected: Vec<f64> = start.iter().map(|&value| value.into()).collect();
    let mut moments = vec![(0.0, 0.0); 300];
    for step in 1..=20 {
        if step == 10 {
            let bytes = adam.to_state_dict().to_bytes().unwrap();
            adam = Adam::from_state_dict(settings, &StateDict::from_bytes(&bytes).unwrap(), &device).unwrap();
        }
        let loss = (bowl.weight.val() - of(&target)).powi_scalar(4).sum();
        bowl = adam.step(bowl, loss.backward());
        for ((value, &target), (first, second)) in expected.iter_mut().zip(&target).zip(&mut moments) {
            let gradient = 4.0 * (*value - f64::from(target)).powi(3) + settings.weight_decay * *value;
            *first = 0.9 * *first + 0.1 * gradient;
            *second = 0.999 * *second + 0.001 * gradient * gradient;
            let (first, second) = (*first / (1.0 - 0.9f64.powi(step)), *second / (1.0 - 0.999f64.powi(step)));
            *value -= settings.learning_rate * first / (second.sqrt() + settings.epsilon);
        }
    }
    let expected: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
    assert_close(&values(&bowl.weight.val()), &expected, 1e-4, "twenty steps");
}

#[derive(Module, Debug)]
struct Model {
    encoder: Encoder,
    readout: Readout,
}

/// A few steps of contrastive learning: one graph with corrupted twins, or a batch with its own negatives.
fn train(settings: &EncoderSettings, offsets: &GraphOffsets, steps: u64) -> (Vec<f32>, Model) {
    let device = common::device();
    let mut initializer = Initializer::new(3, &device);
    let readout = ReadoutSettings {
        jumping_knowledge: JumpingKnowledge::Concatenate,
        projector: Projector::Mlp,
        ..ReadoutSettings::default()
    };
    let mut model = Model {
        encoder: settings.build(InputDims { nodes: 50, edges: None }, &mut initializer).unwrap(),
        readout: Readout::new(&readout, settings, &mut initializer).unwrap(),
    };
    let views = [1, 2].map(|seed| {
        let pairs = (0..offsets.len()).flat_map(|graph| {
            let range = offsets.range(graph);
            let block = common::graph(range.len() as u32, 2 * range.len(), seed + graph as u64);
            block.edge_pairs().map(|(a, b)| (a + range.start as u32, b + range.start as u32)).collect::<Vec<_>>()
        });
        let graph = Graph::from_pairs(offsets.rows(), pairs.collect()).unwrap().0;
        MessageGraph::new(&graph, settings.normalization())
    });
    let input = FeatureMatrix::new(&Features::Sparse(common::sparse(offsets.rows(), 50, 4)), &device);
    let kept = [0, 1].map(|view| (0..50).map(|column| (column + view) % 3 != 0).collect());
    let inputs = kept.map(|kept| input.with_columns(kept).unwrap());
    let mut adam = Adam::new(AdamSettings::default()).unwrap();
    let mut losses = Vec::new();
    for step in 0..steps {
        let encoded = [0, 1].map(|view| {
            let twin = views[view].corrupted(offsets, &mut stream(5, "twin", step << 1 | view as u64)).unwrap();
            let mut layers = model
                .encoder
                .forward_each(&[&views[view], &twin], &inputs[view], &Pass::train(DropoutRng::new(5, step)))
                .unwrap();
            (layers.remove(0), layers.remove(0))
        });
        let graphs = encoded.each_ref().map(|(layers, _)| model.readout.forward(layers, offsets));
        let side = |view: usize| LocalGlobalSide {
            nodes: encoded[view].0.last(),
            graphs: graphs[1 - view].clone(),
            negatives: match offsets.len() {
                1 => Negatives::Corrupted(encoded[view].1.last()),
                _ => Negatives::InBatch,
            },
        };
        let contrast = LocalGlobal { sides: [side(0), side(1)], offsets: offsets.clone() };
        let loss = ContrastiveLoss::default().loss(&contrast).unwrap();
        losses.extend(values(&loss));
        model = adam.step(model, loss.backward());
    }
    (losses, model)
}

fn choices() -> [(EncoderSettings, GraphOffsets); 2] {
    [
        (
            EncoderSettings::Gcn(GcnSettings { hidden_channels: 200, ..GcnSettings::default() }),
            GraphOffsets::single(400),
        ),
        (
            EncoderSettings::Gin(GinSettings { hidden_channels: 40, num_layers: 3, ..GinSettings::default() }),
            GraphOffsets::new(vec![0, 100, 110, 250, 400]),
        ),
    ]
}

#[test]
fn training_makes_the_loss_small_and_is_the_same_bits_every_time() {
    for (settings, offsets) in choices() {
        let [one, again, two] = [1, 1, 2].map(|threads| on_threads(threads, || train(&settings, &offsets, 6)));
        assert!(one.0.last() < one.0.first(), "{:?}", one.0);
        for (other, what) in [(&again, "again"), (&two, "on two threads")] {
            assert_eq!(one.0, other.0, "losses {what}");
            assert_eq!(StateDict::of(&one.1), StateDict::of(&other.1), "weights {what}");
        }
    }
}

#[test]
fn weights_survive_a_file() {
    for (settings, offsets) in choices() {
        let (_, model) = train(&settings, &offsets, 1);
        let mut weights = StateDict::of(&model);
        weights.note = Some(serde_json::to_string(&settings).unwrap());
        let bytes = weights.to_bytes().unwrap();
        let read = StateDict::from_bytes(&bytes).unwrap();
        assert_eq!(read, weights);
        assert_eq!(read.to_bytes().unwrap(), bytes);
        let fresh = train(&settings, &offsets, 0).1;
        weights.note = None;
        assert_ne!(StateDict::of(&fresh), weights);
        assert_eq!(StateDict::of(&read.apply(fresh).unwrap()), weights);
    }
}

#[test]
fn weights_of_another_model_are_refused() {
    let [(gcn, offsets), _] = choices();
    let weights = StateDict::of(&train(&gcn, &offsets, 0).1);
    let narrow = EncoderSettings::Gcn(GcnSettings { hidden_channels: 100, ..GcnSettings::default() });
    let error = weights.apply(train(&narrow, &offsets, 0).1).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "the weights have shape [200] for encoder.Gcn.layers.0.bias; expected shape [100]");
    let error = StateDict::from_bytes(b"not safetensors at all").unwrap_err();
    assert!(error.to_string().ends_with("expected a safetensors file"), "{error}");
}
