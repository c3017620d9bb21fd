//! A run as every command that learns makes it: settings under a name, a folder, a scheme, training that is watched.

pub mod data;
pub mod fingerprint;
pub mod folder;
mod learn;
mod progress;
pub mod recipe;
pub mod schemes;
pub mod score;
pub mod timing;

use fiedler_augment::Scheme;
use fiedler_augment::scheme::Stage;
use fiedler_graph::{Dataset, GraphSet};
use fiedler_learn::data::Supervision;
use fiedler_learn::run::{Outcome, Run, Settings};
use fiedler_learn::trainer::{CheckpointFile, Progress};

use super::output::Output;
use super::{interrupt, memory};
pub use learn::learn;
use progress::Display;

/// The command as it was given, without the folder that the program lies in.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word,
    });
    std::iter::once(env!("CARGO_BIN_NAME").to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Computes a scheme; Ctrl-C stops it.
pub fn compute_scheme(
    settings: &fiedler_augment::Settings,
    graphs: &GraphSet,
    output: &Output,
) -> fiedler_augment::Result<Scheme> {
    let bar = output.steps_bar(settings.name());
    let watch = |stage: &Stage<'_>| {
        bar.set_length(stage.of as u64);
        bar.set_position(stage.done as u64);
        bar.set_message(format!("{} scheme, {} view:", settings.name(), stage.view));
        !interrupt::asked()
    };
    let scheme = settings.compute(graphs, &watch);
    bar.finish_and_clear();
    scheme
}

/// Trains, from the start or from a checkpoint; Ctrl-C stops it.
pub fn train(
    settings: &Settings,
    dataset: &Dataset,
    scheme: Option<&Scheme>,
    supervision: Option<Supervision<'_>>,
    checkpoint: &CheckpointFile,
    output: &Output,
) -> fiedler_learn::Result<Outcome> {
    let display = Display::new(output);
    let watch = |progress: &Progress| {
        display.show(progress);
        !interrupt::asked()
    };
    let run = Run {
        supervision,
        checkpoint: Some(checkpoint),
        memory: memory::free_bytes(),
        watch: &watch,
        ..Run::new(settings, dataset, scheme)
    };
    let outcome = run.run();
    display.finish();
    outcome
}
