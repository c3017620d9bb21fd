//! Times steps of GRACE on a dataset of the catalogue: `grace DATASET EPOCHS THREADS [check]`.
//!
//! A step draws two views (20 and 40 % of the edges removed, 30 and 40 % of the columns of features left out), encodes them with two graph
//! convolutions of 256 and 128 with ReLU, projects them, contrasts every node with all others of both views, and takes a step of Adam.
//! With `check` nothing is random and weights follow a formula, so that losses can be compared with those of `bench/compare/grace.py`,
//! which runs this beside PyTorch. Prints one JSON object.

mod timing;

use burn::Tensor;
use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::sample::EdgeFlips;
use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use fiedler_learn::encoder::{Encoder, EncoderSettings, GcnSettings, InputDims};
use fiedler_learn::layer::{Activation, Mlp};
use fiedler_learn::loss::{ContrastiveLoss, InfoNce, PositivePairs};
use fiedler_learn::ops::Similarity;
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::pass::Pass;
use fiedler_learn::{FeatureMatrix, Initializer, MessageGraph, Normalization};
use rand::RngExt;
use timing::{Arguments, RunResult};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WIDTH: usize = 128;
const EDGES: [f32; 2] = [0.2, 0.4];
const COLUMNS: [f64; 2] = [0.3, 0.4];

#[derive(Module, Debug)]
struct Model {
    encoder: Encoder,
    projector: Mlp,
}

/// What does not change from step to step.
struct Setting {
    graph: Graph,
    input: FeatureMatrix,
    flips: [EdgeFlips; 2],
    check: bool,
}

fn main() -> RunResult<()> {
    timing::main(|Arguments { dataset, epochs, check }| {
        let device = Device::flex().autodiff();
        let (graph, features) = timing::open(&dataset)?;
        let flips =
            EDGES.map(|rate| EdgeFlips::of_pairs(graph.num_nodes(), graph.edge_pairs().map(|pair| (pair, rate))));
        let setting = Setting { input: FeatureMatrix::new(&features, &device), graph, flips, check };
        let mut model = Some(build(&setting, &device)?);
        let settings = AdamSettings { learning_rate: 5e-4, weight_decay: 1e-5, ..AdamSettings::default() };
        let mut adam = Adam::new(settings)?;
        timing::time_steps(epochs, |epoch| {
            let before = model.take().ok_or("the step before failed")?;
            let (loss, moved) = step(&setting, before, &mut adam, epoch)?;
            model = Some(moved);
            Ok(loss)
        })
    })
}

fn build(setting: &Setting, device: &Device) -> RunResult<Model> {
    let mut initializer = Initializer::new(1, device);
    let encoder = EncoderSettings::Gcn(GcnSettings {
        hidden_channels: 2 * WIDTH,
        out_channels: Some(WIDTH),
        activation: Activation::Relu,
        ..GcnSettings::default()
    });
    let encoder = encoder.build(InputDims { nodes: setting.input.columns(), edges: None }, &mut initializer)?;
    let model = Model { encoder, projector: Mlp::new([WIDTH; 3], true, &mut initializer) };
    // Looks as if it were random, so that rows of an embedding differ.
    let noise = |place: f64| ((place * 12.9898).sin() * 43758.5453).rem_euclid(1.0) * 2.0 - 1.0;
    if setting.check { timing::with_formula(model, noise) } else { Ok(model) }
}

fn step(setting: &Setting, model: Model, adam: &mut Adam, epoch: u64) -> RunResult<(f32, Model)> {
    let project = |view: usize| -> RunResult<Tensor<2>> {
        let (graph, input) = draw(setting, epoch, view)?;
        Ok(model.projector.forward(model.encoder.forward(&graph, &input, &Pass::eval())?.last()))
    };
    let pairs = PositivePairs::new([project(0)?, project(1)?])?;
    let info_nce = ContrastiveLoss::InfoNce(InfoNce { similarity: Similarity::Cosine, temperature: 0.4 });
    let loss = info_nce.loss_of_pairs(&pairs)?;
    drop(pairs);
    let value = loss.to_data().try_to_vec::<f32>().map_err(|_| "the loss is no number")?[0];
    Ok((value, adam.step(model, loss.backward())))
}

/// A view: its structure and its features.
fn draw(setting: &Setting, epoch: u64, view: usize) -> RunResult<(MessageGraph, FeatureMatrix)> {
    let columns = 0..setting.input.columns();
    if setting.check {
        let kept = setting.graph.edge_pairs().enumerate().filter(|(edge, _)| !(edge * 11 + view).is_multiple_of(6));
        let graph = Graph::from_pairs(setting.graph.num_nodes(), kept.map(|(_, pair)| pair).collect())?.0;
        let kept = columns.map(|column| !(column * 7 + view).is_multiple_of(5)).collect();
        return Ok((MessageGraph::new(&graph, Normalization::Symmetric), setting.input.with_columns(kept)?));
    }
    let graph = setting.graph.flipped(&setting.flips[view].draw(1, epoch, view as u64))?;
    let mut random = stream(1, "columns", epoch << 1 | view as u64);
    let kept = columns.map(|_| random.random_bool(1.0 - COLUMNS[view])).collect();
    Ok((MessageGraph::new(&graph, Normalization::Symmetric), setting.input.with_columns(kept)?))
}
