//! Files that fiedler writes itself: whatever stands in them, reading ends in an error or in something that can be used and written again.
//!
//! An input of a target whose files are safetensors is taken twice. Once as the file itself. And once as pieces, cut at [`SEPARATOR`],
//! that a file is made of whose container is sound, because blind changes of a header hardly ever leave one: the note as JSON, then a
//! line `NAME DTYPE SIZE SIZE …` for each tensor, then bytes that all tensors are filled with, over and over.
//! The tests of `fiedler-experiment` compile this file too, to read again what fuzzing once found.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_augment::{Scheme, ViewKey};
use fiedler_experiment::recipe;
use fiedler_experiment::run::RunRecord;
use fiedler_experiment::settings_tree;
use fiedler_graph::{Dataset, Event, Graph, GraphSet, generate};
use fiedler_learn::SavedEncoder;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::method::Dgi;
use fiedler_learn::run::{Fitting, Run, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, TrainingSettings};
use serde_json::{Value, json};

/// The targets of this file.
pub const TARGETS: &[&str] = &["encoder", "scheme", "checkpoint", "run_json", "recipe"];

/// Stands between the pieces of one input.
pub const SEPARATOR: &[u8] = b"\n--8<--\n";

/// Most bytes of the tensors that are made of pieces.
const MOST: usize = 1 << 20;
/// Settings that decide how long something takes are not worth waiting for beyond this.
const LONGEST: u64 = 64;

/// Hands an input to a target.
///
/// # Panics
/// When reading does what it must not do; and when there is no such target.
pub fn run(target: &str, data: &[u8]) {
    match target {
        "encoder" => each_container(data, &|_| {}, &encoder),
        "scheme" => {
            each_container(data, &|note| put(note, "fingerprint", json!(rings().graphs.fingerprint())), &scheme)
        }
        "checkpoint" => each_container(data, &|note| put(note, "run", json!(RUN)), &checkpoint),
        "run_json" => text(data, &run_json),
        "recipe" => text(data, &recipe),
        _ => panic!("no target is called {target}"),
    }
}

/// Takes an input for a file, and for the pieces of one.
fn each_container(data: &[u8], mend: &dyn Fn(&mut Value), read: &dyn Fn(&[u8])) {
    read(data);
    if let Some(file) = container(data, mend) {
        read(&file);
    }
}

fn text(data: &[u8], read: &dyn Fn(&str)) {
    if let Ok(text) = std::str::from_utf8(data) {
        read(text);
    }
}

/// A safetensors file made of pieces; `mend` puts right what would end the reading at once.
pub fn container(data: &[u8], mend: &dyn Fn(&mut Value)) -> Option<Vec<u8>> {
    let (note, rest) = cut(data)?;
    let (tensors, values) = cut(rest)?;
    let note = match serde_json::from_slice::<Value>(note) {
        Ok(mut note) => {
            mend(&mut note);
            note.to_string()
        }
        Err(_) => String::from_utf8_lossy(note).into_owned(),
    };
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), json!({ "fiedler": note }));
    let mut end = 0usize;
    for line in String::from_utf8_lossy(tensors).lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(dtype)) = (words.next(), words.next()) else { continue };
        let shape: Vec<u64> = words.map_while(|size| size.parse().ok()).collect();
        let width = if dtype.ends_with("64") { 8 } else { 4 };
        let bytes = shape.iter().try_fold(width, |bytes: usize, &size| bytes.checked_mul(usize::try_from(size).ok()?));
        let Some(next) = bytes.and_then(|bytes| end.checked_add(bytes)).filter(|&next| next <= MOST) else { continue };
        header.insert(name.into(), json!({ "dtype": dtype, "shape": shape, "data_offsets": [end, next] }));
        end = next;
    }
    let header = Value::Object(header).to_string();
    let mut file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    match values {
        [] => file.resize(file.len() + end, 0),
        values => file.extend(values.iter().cycle().take(end)),
    }
    Some(file)
}

fn cut(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR)?;
    Some((&data[..at], &data[at + SEPARATOR.len()..]))
}

fn put(note: &mut Value, key: &str, value: Value) {
    if let Some(note) = note.as_object_mut() {
        note.insert(key.into(), value);
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

/// Four rings of five nodes, half of them with a chord.
pub fn rings() -> Dataset {
    let ring = |ring: u32| (0..5).map(move |node| (5 * ring + node, 5 * ring + (node + 1) % 5));
    let pairs = (0..4).flat_map(ring).chain([(0, 2), (10, 12)]).collect();
    let (graph, _) = Graph::from_pairs(20, pairs).expect("a graph");
    Dataset::set("rings", GraphSet::from_block_diagonal(graph, vec![5; 4]).expect("a set"))
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

/// The note of a safetensors file that has one.
pub fn note(file: &[u8]) -> Value {
    let length = file.first_chunk().map_or(0, |length| u64::from_le_bytes(*length) as usize);
    let header: Value =
        file.get(8..8 + length).and_then(|header| serde_json::from_slice(header).ok()).unwrap_or_default();
    let note = header["__metadata__"]["fiedler"].as_str().unwrap_or_default();
    serde_json::from_str(note).unwrap_or_default()
}

fn scheme(bytes: &[u8]) {
    let graphs = rings().graphs;
    let Ok(scheme) = Scheme::from_bytes(bytes, &graphs) else { return };
    let written = scheme.to_bytes().expect("a scheme that was read can be written");
    let again = Scheme::from_bytes(&written, &graphs).expect("what was written can be read");
    for view in 0..scheme.views().len().min(4) as u32 {
        for epoch in 0..2 {
            let key = ViewKey::new(1, epoch, view);
            let [one, other] = [&scheme, &again].map(|scheme| scheme.draw(&graphs.whole(), key));
            match (one, other) {
                (Ok(one), Ok(other)) => assert!(one == other, "it is another scheme when it is read again"),
                (one, other) => assert_eq!(one.is_ok(), other.is_ok()),
            }
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
