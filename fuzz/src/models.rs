//! Files of models and their settings: encoders, checkpoints, `run.json`, recipes. What is read is used.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_experiment::run::RunRecord;
use fiedler_experiment::{recipe, settings_tree};
use fiedler_graph::{Dataset, Event, generate};
use fiedler_learn::SavedEncoder;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::method::Dgi;
use fiedler_learn::run::{Fitting, Run, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, TrainingSettings};
use serde_json::{Value, json};

use super::own_files::{each_container, note, put, rings};

/// The targets of this file.
pub const TARGETS: &[&str] = &["encoder", "checkpoint", "run_json", "recipe"];

/// Settings that decide how long something takes are not worth waiting for beyond this.
const LONGEST: u64 = 64;

/// Hands an input to a target.
///
/// # Panics
/// When reading does what it must not do; and when there is no such target.
pub fn run(target: &str, data: &[u8]) {
    match target {
        "encoder" => each_container(data, &|_| {}, &encoder),
        "checkpoint" => each_container(data, &|note| put(note, "run", json!(RUN)), &checkpoint),
        "run_json" => text(data, &run_json),
        "recipe" => text(data, &recipe),
        _ => panic!("no target is called {target}"),
    }
}

fn text(data: &[u8], read: &dyn Fn(&str)) {
    if let Ok(text) = std::str::from_utf8(data) {
        read(text);
    }
}

/// Whether a number anywhere in the settings asks for long work.
fn takes_long(settings: &Value) -> bool {
    match settings {
        Value::Object(object) => {
            let long = ["steps", "candidates", "clusters", "degrees", "neighbors", "k"];
            let is_long = |(key, value): (&String, &Value)| {
                let is_much = value.as_f64().is_some_and(|value| value > LONGEST as f64);
                (long.contains(&key.as_str()) && is_much) || takes_long(value)
            };
            object.iter().any(is_long)
        }
        Value::Array(values) => values.iter().any(takes_long),
        _ => false,
    }
}

/// What saved encoders are applied to: the graph and the set that the seeds were trained on.
fn datasets() -> [Dataset; 2] {
    [generate::karate_club(), rings()]
}

fn encoder(bytes: &[u8]) {
    let Ok(encoder) = SavedEncoder::from_bytes(bytes) else { return };
    let written = encoder.to_bytes().expect("an encoder that was read can be written");
    assert_eq!(SavedEncoder::from_bytes(&written).expect("what was written can be read"), encoder);
    if takes_long(&note(&written)) {
        return;
    }
    for dataset in datasets() {
        if let Ok(embeddings) = encoder.embed(&dataset) {
            assert!([dataset.graphs.num_nodes(), dataset.graphs.len()].contains(&embeddings.rows()), "rows of nothing");
        }
    }
}

/// What tells the run of checkpoints from others.
pub const RUN: &str = "fuzzed";

/// The settings of the run whose checkpoints are read.
pub fn checkpointed() -> Settings {
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden_channels: 3, ..GcnSettings::default() });
    let mut settings = Settings {
        method: Dgi { encoder, ..Dgi::default() }.into(),
        training: TrainingSettings {
            epochs: 3,
            batch_size: 2,
            patience: Some(2),
            min_relative_std: 0.0,
            ..TrainingSettings::default()
        },
        ..Settings::default()
    };
    settings.features.degrees = 3;
    settings
}

/// One checkpoint in memory.
#[derive(Default)]
pub struct Kept(pub Mutex<Option<Vec<u8>>>);

impl CheckpointStore for Kept {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().map_err(|error| error.to_string())?.clone())
    }

    fn save(&self, bytes: &[u8]) -> Result<(), String> {
        *self.0.lock().map_err(|error| error.to_string())? = Some(bytes.to_vec());
        Ok(())
    }
}

/// Resumes the run and stops it at the first chance.
fn checkpoint(bytes: &[u8]) {
    let _ = fiedler_learn::trainer::read_any(bytes);
    let (dataset, settings, store) = (rings(), checkpointed(), Kept::default());
    store.save(bytes).expect("memory");
    let mut schemes = ComputeSchemes::new(&dataset.graphs, &fiedler_graph::NoObserver);
    let observer = |_: &Event<'_>| ControlFlow::Break(());
    let checkpoint = Some(Checkpointing { store: &store, run: RUN });
    let checked = Run::new(&settings, &dataset).check().expect("settings of our own");
    let _ = checked.fit(Fitting { schemes: &mut schemes, checkpoint, observer: &observer });
}

fn run_json(text: &str) {
    let Ok(record) = RunRecord::parse(text, Path::new("run.json")) else { return };
    let written = serde_json::to_string(&record).expect("a record that was read can be written");
    let again = RunRecord::parse(&written, Path::new("run.json")).expect("what was written can be read");
    assert_eq!(again.settings, record.settings);
    usable(&record.settings);
}

fn recipe(text: &str) {
    let Ok(recipe) = recipe::from_text("fuzzed", text) else { return };
    usable(&recipe.settings);
    let written = recipe::to_text(&recipe.header, &recipe.settings).expect("a recipe that was read can be written");
    let again = recipe::from_text("fuzzed", &written).expect("what was written can be read");
    // A recipe has neither a seed nor a device.
    let settings = Settings { seed: 0, device: Default::default(), ..recipe.settings };
    assert_eq!(again.settings, settings);
}

/// Settings are refused, or can be shown and trained with.
fn usable(settings: &Settings) {
    let entries = settings_tree::entries(settings).expect("settings can be shown");
    assert!(!entries.is_empty());
    let _ = settings.given_views();
    if takes_long(&serde_json::to_value(settings).unwrap_or_default()) {
        return;
    }
    for dataset in datasets() {
        let _ = Run::new(settings, &dataset).check();
    }
}
