//! Times epochs of contrastive learning as in the paper, on a dataset of the catalogue: `epoch DATASET EPOCHS THREADS [check]`.
//!
//! An epoch draws two views (edges removed with probability 0.2, columns of features left out with 0.4), encodes them and their
//! corrupted twins with two graph convolutions of 512, contrasts nodes with the other view's graph vector, and takes a step.
//! With `check` nothing is random and weights follow a formula, so that losses can be compared with those of
//! `bench/compare/epoch.py`, which runs this beside PyTorch. Prints one JSON object.

mod timing;

use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::sample::EdgeFlips;
use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use fiedler_learn::encoder::{Encoder, EncoderSettings, GcnSettings, InputDims};
use fiedler_learn::loss::{ContrastiveLoss, LocalGlobal, LocalGlobalSide, Negatives};
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::readout::{Readout, ReadoutSettings};
use fiedler_learn::{FeatureMatrix, GraphOffsets, Initializer, MessageGraph};
use rand::RngExt;
use timing::{Arguments, RunResult};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Module, Debug)]
struct Model {
    encoder: Encoder,
    readout: Readout,
}

/// What does not change from epoch to epoch.
struct Setting {
    graph: Graph,
    input: FeatureMatrix,
    flips: EdgeFlips,
    offsets: GraphOffsets,
    encoder: EncoderSettings,
    check: bool,
}

fn main() -> RunResult<()> {
    timing::main(|Arguments { dataset, epochs, check }| {
        let device = Device::flex().autodiff();
        let setting = prepare(&dataset, check, &device)?;
        let mut model = Some(build(&setting, &device)?);
        let mut adam = Adam::new(AdamSettings::default())?;
        timing::time_steps(epochs, |epoch| {
            let before = model.take().ok_or("the step before failed")?;
            let (loss, moved) = step(&setting, before, &mut adam, epoch)?;
            model = Some(moved);
            Ok(loss)
        })
    })
}

fn prepare(dataset: &str, check: bool, device: &Device) -> RunResult<Setting> {
    let (graph, features) = timing::open(dataset)?;
    let flips = EdgeFlips::of_pairs(graph.num_nodes(), graph.edge_pairs().map(|pair| (pair, 0.2)));
    let offsets = GraphOffsets::single(graph.num_nodes());
    let encoder = EncoderSettings::Gcn(GcnSettings::default());
    Ok(Setting { input: FeatureMatrix::new(&features, device), graph, flips, offsets, encoder, check })
}

fn build(setting: &Setting, device: &Device) -> RunResult<Model> {
    let mut initializer = Initializer::new(1, device);
    let model = Model {
        encoder: setting.encoder.build(InputDims { nodes: setting.input.columns(), edges: None }, &mut initializer)?,
        readout: Readout::new(&ReadoutSettings::default(), &setting.encoder, &mut initializer)?,
    };
    if setting.check { timing::with_formula(model, |place| (place * 0.7 + 0.3).sin()) } else { Ok(model) }
}

fn step(setting: &Setting, model: Model, adam: &mut Adam, epoch: u64) -> RunResult<(f32, Model)> {
    let offsets = &setting.offsets;
    let mut encoded = Vec::with_capacity(2);
    for view in 0..2 {
        let (structure, input, twin) = draw(setting, epoch, view)?;
        let mut layers =
            model.encoder.forward_each(&[&structure, &twin], &input, &Pass::train(DropoutRng::new(1, epoch)))?;
        encoded.push((layers.remove(0), layers.remove(0)));
    }
    let graphs: Vec<_> = encoded.iter().map(|(layers, _)| model.readout.forward(layers, offsets)).collect();
    let side = |view: usize| LocalGlobalSide {
        nodes: encoded[view].0.last(),
        graphs: graphs[1 - view].clone(),
        negatives: Negatives::Corrupted(encoded[view].1.last()),
    };
    let contrast = LocalGlobal { sides: [side(0), side(1)], offsets: offsets.clone() };
    let loss = ContrastiveLoss::default().loss(&contrast)?;
    drop((contrast, encoded, graphs));
    let value = loss.to_data().try_to_vec::<f32>().map_err(|_| "the loss is no number")?[0];
    Ok((value, adam.step(model, loss.backward())))
}

/// A view: its structure, its features, and its corrupted twin's structure.
fn draw(setting: &Setting, epoch: u64, view: u64) -> RunResult<(MessageGraph, FeatureMatrix, MessageGraph)> {
    let normalization = setting.encoder.normalization();
    if setting.check {
        let structure = MessageGraph::new(&setting.graph, normalization);
        let nodes = setting.graph.num_nodes() as u64;
        let names: Vec<u32> = (0..nodes).map(|node| ((node * 101 + epoch + 7 * view + 1) % nodes) as u32).collect();
        let twin = structure.relabelled(&names)?;
        return Ok((structure, setting.input.clone(), twin));
    }
    let structure = MessageGraph::new(&setting.graph.flipped(&setting.flips.draw(1, epoch, view))?, normalization);
    let mut random = stream(1, "columns", epoch << 1 | view);
    let kept = (0..setting.input.columns()).map(|_| random.random_bool(0.6)).collect();
    let twin = structure.corrupted(&setting.offsets, &mut stream(1, "corruption", epoch << 1 | view))?;
    Ok((structure, setting.input.with_columns(kept)?, twin))
}
