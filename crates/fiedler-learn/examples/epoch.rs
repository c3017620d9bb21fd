//! Times epochs of contrastive learning as in the paper, on a dataset of the catalogue: `epoch DATASET EPOCHS THREADS [check]`.
//!
//! An epoch draws two views (edges removed with probability 0.2, columns of features left out with 0.4), encodes them and their
//! corrupted twins with two graph convolutions of 512, contrasts nodes with the other view's graph vector, and takes a step.
//! With `check` nothing is random and weights follow a formula, so that losses can be compared with those of
//! `bench/compare/epoch.py`, which runs this beside PyTorch. Prints one JSON object.

use std::error::Error;
use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::sample::EdgeFlips;
use fiedler_graph::random::stream;
use fiedler_graph::{Features, Graph};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_learn::encoder::{Encoder, EncoderSettings, GcnSettings, InputDims};
use fiedler_learn::loss::{ContrastiveLoss, LocalGlobal, LocalGlobalSide, Negatives};
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::readout::{Readout, ReadoutSettings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{FeatureMatrix, GraphOffsets, Initializer, MessageGraph};
use rand::RngExt;

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

type RunResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> RunResult<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (dataset, epochs, threads, check) = match arguments.as_slice() {
        [_, dataset, epochs, threads] => (dataset, epochs, threads, false),
        [_, dataset, epochs, threads, check] if check == "check" => (dataset, epochs, threads, true),
        _ => return Err("usage: epoch DATASET EPOCHS THREADS [check]".into()),
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    // One of these threads does what only one can do, as in the program.
    rayon::scope(|_| time(dataset, epochs.parse()?, check))
}

fn time(dataset: &str, epochs: u64, check: bool) -> RunResult<()> {
    let device = Device::flex().autodiff();
    let setting = prepare(dataset, check, &device)?;
    let mut model = build(&setting, &device)?;
    let mut adam = Adam::new(AdamSettings::default())?;
    let (mut losses, mut walls, mut processors) = (Vec::new(), Vec::new(), Vec::new());
    for epoch in 0..epochs {
        let (start, work) = (Instant::now(), processor_seconds());
        let (loss, moved) = step(&setting, model, &mut adam, epoch)?;
        model = moved;
        losses.push(loss);
        walls.push(start.elapsed().as_secs_f64());
        processors.push(processor_seconds() - work);
    }
    println!(
        "{{\"losses\": {losses:?}, \"wall\": {walls:?}, \"processor\": {processors:?}, \"peak\": {}}}",
        peak_mebibytes()
    );
    Ok(())
}

fn prepare(dataset: &str, check: bool, device: &Device) -> RunResult<Setting> {
    let dataset = catalogue::open(dataset, &ReadOptions::default())?;
    let graph = dataset.graph().ok_or("not a single graph")?.clone();
    let features = dataset.features.unwrap_or_else(|| Features::degrees(&graph, 50));
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
    if !setting.check {
        return Ok(model);
    }
    let mut weights = StateDict::default();
    for (name, shape, values) in StateDict::of(&model).iter() {
        let scale = if name.ends_with("slope") { 0.0 } else { 1.0 / (shape[0] as f64).sqrt() };
        let formula = |place: usize| if scale == 0.0 { 0.25 } else { scale * (place as f64 * 0.7 + 0.3).sin() };
        weights.insert(name, shape.to_vec(), (0..values.len()).map(|place| formula(place) as f32).collect())?;
    }
    Ok(weights.apply(model)?)
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

fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1024
}
