//! What the examples that are compared with other programs share: arguments, timing, and weights that follow a formula.

use std::error::Error;
use std::time::Instant;

use burn::module::Module;
use fiedler_graph::{Features, Graph};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_learn::state_dict::StateDict;

pub type RunResult<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// What an example is asked for: `NAME DATASET EPOCHS THREADS [check]`.
pub struct Arguments {
    pub dataset: String,
    pub epochs: u64,
    /// Nothing is random and weights follow a formula, so that losses can be compared with those of other programs.
    pub check: bool,
}

/// Reads the arguments, and runs an example on as many threads as they say.
pub fn main(run: impl FnOnce(Arguments) -> RunResult<()> + Send) -> RunResult<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (dataset, epochs, threads, check) = match arguments.as_slice() {
        [_, dataset, epochs, threads] => (dataset, epochs, threads, false),
        [_, dataset, epochs, threads, check] if check == "check" => (dataset, epochs, threads, true),
        _ => return Err("usage: DATASET EPOCHS THREADS [check]".into()),
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    let arguments = Arguments { dataset: dataset.clone(), epochs: epochs.parse()?, check };
    // One of these threads does what only one can do, as in the program.
    rayon::scope(|_| run(arguments))
}

/// A dataset of the catalogue that is one graph.
pub fn open(dataset: &str) -> RunResult<(Graph, Features)> {
    let dataset = catalogue::open(dataset, &ReadOptions::default())?;
    let graph = dataset.graph().ok_or("not a single graph")?.clone();
    let features = dataset.features.unwrap_or_else(|| Features::degrees(&graph, 50));
    Ok((graph, features))
}

/// The model with weights that follow a formula of their places, which the other programs have as well.
pub fn with_formula<M: Module>(model: M, formula: fn(f64) -> f64) -> RunResult<M> {
    let mut weights = StateDict::default();
    for (name, shape, values) in StateDict::of(&model).iter() {
        let scale = if name.ends_with("slope") { 0.0 } else { 1.0 / (shape[0] as f64).sqrt() };
        let value = |place: usize| if scale == 0.0 { 0.25 } else { scale * formula(place as f64) };
        weights.insert(name, shape.to_vec(), (0..values.len()).map(|place| value(place) as f32).collect())?;
    }
    Ok(weights.apply(model)?)
}

/// Takes so many steps, each of which gives its loss, and prints losses, times and the peak of memory as one JSON object.
pub fn time_steps(epochs: u64, mut step: impl FnMut(u64) -> RunResult<f32>) -> RunResult<()> {
    let (mut losses, mut walls, mut processors) = (Vec::new(), Vec::new(), Vec::new());
    for epoch in 0..epochs {
        let (start, work) = (Instant::now(), processor_seconds());
        losses.push(step(epoch)?);
        walls.push(start.elapsed().as_secs_f64());
        processors.push(processor_seconds() - work);
    }
    println!(
        "{{\"losses\": {losses:?}, \"wall\": {walls:?}, \"processor\": {processors:?}, \"peak\": {}}}",
        peak_mebibytes()
    );
    Ok(())
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
