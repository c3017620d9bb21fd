//! Files of our own that are not what they should be: each is refused with a reason, without a panic and without much memory; and
//! files of the first version, which are still read.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{
    Categorical, Classes, Dataset, Event, Features, Graph, GraphSet, Labels, NoObserver, Split, generate,
};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::method::{Dgi, MethodSettings, Span, Supervised, Untrained};
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, TrainingSettings};
use fiedler_learn::{Error, SavedEncoder, Supervision};
use serde_json::{Map, Value, json};

/// One at a time, so that what is measured is one's own.
static ALONE: Mutex<()> = Mutex::new(());

const ALLOWED: u64 = 256 << 20;

/// The most memory that this process has ever asked for, where the system tells; what is asked for counts, touched or not.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// The error of something that must fail, quietly and with little memory.
fn refused<T>(what: &str, work: impl FnOnce() -> Result<T, Error>) -> Error {
    let before = peak();
    let result = std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panic!("{what}: it panics"));
    let taken = peak() - before;
    assert!(taken < ALLOWED, "{what}: it takes {} MiB", taken >> 20);
    match result {
        Ok(_) => panic!("{what}: it is accepted"),
        Err(error) => error,
    }
}

fn assert_refused<T>(what: &str, expected: &str, work: impl FnOnce() -> Result<T, Error>) {
    let error = refused(what, work).to_string();
    assert!(error.contains(expected), "{what}: {error:?} does not say {expected:?}");
}

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The tensors and the note of a file, to be changed.
struct Parts {
    note: Option<String>,
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
}

impl Parts {
    fn of(bytes: &[u8]) -> Parts {
        let file = StateDict::from_bytes(bytes).unwrap();
        let tensors = file.iter().map(|(name, shape, values)| (name.to_owned(), shape.to_vec(), values.to_vec()));
        Parts { note: file.note.clone(), tensors: tensors.collect() }
    }

    fn bytes(self) -> Vec<u8> {
        let mut file = StateDict::default();
        file.note = self.note;
        for (name, shape, values) in self.tensors {
            file.insert(name, shape, values).unwrap();
        }
        file.to_bytes().unwrap()
    }

    /// Changes the note.
    fn note(mut self, change: impl FnOnce(&mut Value)) -> Parts {
        let mut note = serde_json::from_str(self.note.as_ref().unwrap()).unwrap();
        change(&mut note);
        self.note = Some(note.to_string());
        self
    }

    fn text(mut self, note: Option<&str>) -> Parts {
        self.note = note.map(str::to_owned);
        self
    }

    fn tensor(&mut self, name: &str) -> &mut (String, Vec<usize>, Vec<f32>) {
        let names: Vec<String> = self.tensors.iter().map(|tensor| tensor.0.clone()).collect();
        let found = self.tensors.iter_mut().find(|tensor| tensor.0 == name);
        found.unwrap_or_else(|| panic!("no {name} among {names:?}"))
    }

    fn change(mut self, name: &str, change: impl FnOnce(&mut (String, Vec<usize>, Vec<f32>))) -> Parts {
        change(self.tensor(name));
        self
    }

    fn without(mut self, name: &str) -> Parts {
        self.tensor(name);
        self.tensors.retain(|tensor| tensor.0 != name);
        self
    }

    fn with(mut self, name: &str, values: Vec<f32>) -> Parts {
        self.tensors.push((name.to_owned(), vec![values.len()], values));
        self
    }
}

/// The same file, whose first tensor claims to hold integers.
fn of_integers(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(5).position(|window| window == b"\"F32\"").unwrap();
    let mut bytes = bytes.to_vec();
    bytes[at..at + 5].copy_from_slice(b"\"I32\"");
    bytes
}

/// A file whose only tensor has a shape that no memory holds.
fn overflowing() -> Vec<u8> {
    let header =
        br#"{"__metadata__":{"fiedler":"{}"},"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904,0],"data_offsets":[0,0]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header].concat()
}

fn settings(method: impl Into<MethodSettings>, epochs: usize) -> Settings {
    let training = TrainingSettings { epochs, batch_size: 4, min_relative_std: 0.0, ..TrainingSettings::default() };
    Settings { seed: 3, method: method.into(), training, ..Settings::default() }
}

fn gcn(batch_norm: bool) -> EncoderSettings {
    EncoderSettings::Gcn(GcnSettings { hidden_channels: 6, batch_norm, ..GcnSettings::default() })
}

fn gin() -> EncoderSettings {
    EncoderSettings::Gin(GinSettings { hidden_channels: 5, num_layers: 2, train_eps: true, ..GinSettings::default() })
}

fn set(value: &mut Value, path: &str, new: Value) {
    *value.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = new;
}

#[test]
fn encoders_that_are_none_are_refused() {
    let _alone = alone();
    let dataset = generate::karate_club();
    let settings = settings(Span { encoder: gcn(false), ..Span::default() }, 1);
    let good = Run::new(&settings, &dataset).fit().unwrap().encoder.to_bytes().unwrap();
    let embed = |bytes: &[u8]| SavedEncoder::from_bytes(bytes).and_then(|encoder| encoder.embed(&dataset));
    embed(&good).unwrap();
    let parts = || Parts::of(&good);
    let noted = |path: &str, new: Value| parts().note(|note| set(note, path, new)).bytes();
    let weight = "encoders.0.Gcn.layers.0.weight";
    let two = |note: &mut Value| {
        set(note, "/method/encoder/hidden_channels", json!(1 << 20));
        set(note, "/method/encoder/num_layers", json!(1000));
    };
    let gin = json!({"name": "gin", "hidden_channels": 5, "expansion": 1_000_000_000_000_000u64});
    let with_unknown = |path: &str| {
        let change = |note: &mut Value| {
            let object = note.pointer_mut(path).unwrap().as_object_mut().unwrap();
            object.insert("surprise".into(), json!(1));
        };
        parts().note(change).bytes()
    };
    let huge_columns = |note: &mut Value| {
        set(note, "/columns", json!(u64::MAX));
        set(note, "/edge_columns", json!(u64::MAX));
    };
    let supervised = |note: &mut Value| {
        set(note, "/method", json!({"name": "supervised"}));
        set(note, "/target", json!({"name": "classes", "count": 1u64 << 62}));
    };
    let with_views = |views: Value| {
        let change = |note: &mut Value| {
            note.as_object_mut().unwrap().insert("views".into(), views);
            set(note, "/method/embed_views", json!(true));
        };
        parts().note(change).bytes()
    };
    let identity = json!({"name": "identity"});
    let header_of_everything = [&u64::MAX.to_le_bytes()[..], &good[8..]].concat();
    let other_shape = |tensor: &mut (String, Vec<usize>, Vec<f32>)| tensor.1.reverse();
    let table: Vec<(&str, &str, Vec<u8>)> = vec![
        (
            "a width of 10^12",
            "hidden_channels is 1000000000000",
            noted("/method/encoder/hidden_channels", json!(1_000_000_000_000u64)),
        ),
        (
            "a width of 2^62",
            "hidden_channels is 4611686018427387904",
            noted("/method/encoder/hidden_channels", json!(1u64 << 62)),
        ),
        ("a width of zero", "hidden_channels is 0", noted("/method/encoder/hidden_channels", json!(0))),
        ("a width below zero", "invalid value: integer `-1`", noted("/method/encoder/hidden_channels", json!(-1))),
        (
            "a depth of 10^12",
            "num_layers is 1000000000000",
            noted("/method/encoder/num_layers", json!(1_000_000_000_000u64)),
        ),
        ("a width and a depth that are too much together", "larger model", parts().note(two).bytes()),
        ("a layer more", "larger model", noted("/method/encoder/num_layers", json!(3))),
        ("an expansion of 10^15", "expansion", noted("/method/encoder", gin)),
        ("degrees of 10^15", "features.degrees", noted("/features/degrees", json!(1_000_000_000_000_000u64))),
        ("columns without end", "columns", parts().note(huge_columns).bytes()),
        ("classes without end", "outputs", parts().note(supervised).bytes()),
        ("a weight that is no number", weight, parts().change(weight, |tensor| tensor.2[3] = f32::NAN).bytes()),
        ("a weight without end", weight, parts().change(weight, |tensor| tensor.2[0] = f32::INFINITY).bytes()),
        ("a missing tensor", "larger model", parts().without(weight).bytes()),
        (
            "a tensor of another name",
            "encoders.0.Gcn.layers.0.weight",
            parts().change(weight, |tensor| tensor.0 = "stranger".into()).bytes(),
        ),
        ("a tensor of another shape", weight, parts().change(weight, other_shape).bytes()),
        ("a tensor too many", "stranger", parts().with("stranger", vec![1.0]).bytes()),
        ("integers", "I32, not 32-bit floats", of_integers(&good)),
        ("half a file", "safetensors", good[..good.len() / 2].to_vec()),
        ("a file without its last byte", "safetensors", good[..good.len() - 1].to_vec()),
        ("an empty file", "safetensors", Vec::new()),
        ("a header of 2^64 bytes", "safetensors", header_of_everything),
        ("a shape without end", "safetensors", overflowing()),
        ("version 99", "99", noted("/version", json!(99))),
        (
            "no version",
            "version None",
            parts()
                .note(|note| {
                    note.as_object_mut().unwrap().remove("version");
                })
                .bytes(),
        ),
        ("no note", "it says nothing of its settings", parts().text(None).bytes()),
        ("a note that is no JSON", "expected value", parts().text(Some("{\"version\": what")).bytes()),
        ("a note that is a list", "version None", parts().text(Some("[2]")).bytes()),
        ("an unknown key", "surprise", with_unknown("")),
        ("an unknown key of the method", "surprise", with_unknown("/method")),
        ("an unknown key of the encoder", "surprise", with_unknown("/method/encoder")),
        ("an unknown method", "spam", noted("/method/name", json!("spam"))),
        ("features that the data do not have", "columns of features", noted("/degrees", json!(false))),
        (
            "views that it does not tell of",
            "does not say how they are drawn",
            noted("/method/embed_views", json!(true)),
        ),
        ("a view alone", "number of views is 1", with_views(json!({"seed": 1, "given": [identity]}))),
        (
            "ten thousand views",
            "number of views is 10000",
            with_views(json!({"seed": 1, "given": vec![&identity; 10_000]})),
        ),
        (
            "a view of nothing",
            "rate is 7",
            with_views(json!({"seed": 1, "given": [identity, {"name": "drop-edges", "rate": 7}]})),
        ),
        ("views without a seed", "seed", with_views(json!({"given": [identity, identity]}))),
        ("views with an unknown key", "surprise", with_views(json!({"seed": 1, "given": [], "surprise": 1}))),
        ("an unknown view", "spam", with_views(json!({"seed": 1, "given": [identity, {"name": "spam"}]}))),
    ];
    for (what, expected, bytes) in &table {
        if *expected == "safetensors" {
            let error = refused(what, || embed(bytes));
            assert!(matches!(&error, Error::NotAnEncoder { problem } if !problem.is_empty()), "{what}: {error:?}");
        } else {
            assert_refused(what, expected, || embed(bytes));
        }
    }
}

#[derive(Default)]
struct Memory(Mutex<Option<Vec<u8>>>);

impl CheckpointStore for Memory {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn save(&self, bytes: &[u8]) -> Result<(), String> {
        *self.0.lock().unwrap() = Some(bytes.to_vec());
        Ok(())
    }
}

fn resume(run: &Run<'_, '_>, bytes: &[u8]) -> Result<RunResult, Error> {
    let store = Memory::default();
    store.save(bytes).unwrap();
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store: &store, run: "this" });
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer: &NoObserver })
}

#[test]
fn checkpoints_that_are_none_are_refused() {
    let _alone = alone();
    let dataset = molecules(10, false);
    let mut settings = settings(Dgi { encoder: gcn(true), ..Dgi::default() }, 4);
    settings.training.patience = Some(4);
    let run = Run::new(&settings, &dataset);
    let store = Memory::default();
    // In the middle of the third epoch.
    let events = AtomicUsize::new(0);
    let watch = |_: &Event<'_>| match events.fetch_add(1, Ordering::Relaxed) {
        6 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut schemes = ComputeSchemes::new(&dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store: &store, run: "this" });
    let fitting = Fitting { schemes: &mut schemes, checkpoint, observer: &watch };
    assert!(matches!(run.check().unwrap().fit(fitting), Err(Error::Stopped { epoch: 2, .. })));
    let good = store.load().unwrap().unwrap();
    assert_eq!(resume(&run, &good).unwrap().embeddings, run.fit().unwrap().embeddings);

    let parts = || Parts::of(&good);
    let noted = |path: &str, new: Value| parts().note(|note| set(note, path, new)).bytes();
    let weight = "model.encoder.Gcn.layers.0.weight";
    let first = "optimizer0.encoder.Gcn.layers.0.weight.first";
    let second = "optimizer0.encoder.Gcn.layers.0.weight.second";
    let shorter = |tensor: &mut (String, Vec<usize>, Vec<f32>)| {
        tensor.2.truncate(5);
        tensor.1 = vec![5];
    };
    let other_shape = |tensor: &mut (String, Vec<usize>, Vec<f32>)| tensor.1 = vec![tensor.2.len()];
    let unknown = |note: &mut Value| {
        note.as_object_mut().unwrap().insert("surprise".into(), json!(1));
    };
    let table: Vec<(&str, &str, Vec<u8>)> = vec![
        ("a best epoch of 10^9", "best epoch", noted("/history/best", json!([1_000_000_000, 0.5]))),
        ("a best epoch of zero", "best epoch", noted("/history/best", json!([0, 0.5]))),
        ("more losses than epochs", "5 epochs", noted("/history/losses", json!([1.0, 1.0, 1.0, 1.0, 1.0]))),
        ("a loss that is no number", "null", noted("/history/losses", json!([null]))),
        ("times below zero", "times", noted("/history/seconds", json!(-1.0))),
        ("a moment of another length", "moments of two sizes", parts().change(first, shorter).bytes()),
        (
            "moments of another length",
            "encoder.Gcn.layers.0.weight",
            parts().change(first, shorter).change(second, shorter).bytes(),
        ),
        ("one moment of two", "one moment", parts().without(second).bytes()),
        (
            "moments of no parameter",
            "stranger",
            parts().with("optimizer0.stranger.first", vec![1.0]).with("optimizer0.stranger.second", vec![1.0]).bytes(),
        ),
        ("something else in an optimizer", "moments", parts().with("optimizer0.stranger.third", vec![1.0]).bytes()),
        ("no optimizer", "0 optimizers", parts().note(|note| set(note, "/optimizers", json!([]))).bytes()),
        ("two optimizers", "2 optimizers for 1 phases", noted("/optimizers", json!(["6", "6"]))),
        ("many optimizers", "40 optimizers", noted("/optimizers", json!(vec!["6"; 40]))),
        ("steps that are no number", "number of steps", noted("/optimizers", json!(["six"]))),
        ("steps without end", "18446744073709551615 steps", noted("/optimizers", json!([u64::MAX.to_string()]))),
        ("graphs without end", "position", noted("/position/graphs", json!(u64::MAX))),
        ("a batch that the epoch does not have", "position", noted("/position/batch", json!(u64::MAX))),
        ("a state of another method", "not a checkpoint", noted("/state", json!({"weights": [1.0]}))),
        ("a weight that is no number", weight, parts().change(weight, |tensor| tensor.2[3] = f32::NAN).bytes()),
        ("a missing tensor", "encoder.Gcn.layers.0.weight", parts().without(weight).bytes()),
        (
            "a missing tensor of the best weights",
            "encoder.Gcn.layers.0.weight",
            parts().without("best.encoder.Gcn.layers.0.weight").bytes(),
        ),
        ("a tensor of another shape", "encoder.Gcn.layers.0.weight", parts().change(weight, other_shape).bytes()),
        ("a tensor too many", "stranger", parts().with("model.stranger", vec![1.0]).bytes()),
        (
            "a tensor of no part",
            "stranger.weight belongs to no part",
            parts().with("stranger.weight", vec![1.0]).bytes(),
        ),
        ("a tensor of a second optimizer", "optimizer1", parts().with("optimizer1.a.first", vec![1.0]).bytes()),
        ("integers", "32-bit floats", of_integers(&good)),
        ("half a file", "expected a safetensors file", good[..good.len() / 2].to_vec()),
        ("an empty file", "expected a safetensors file", Vec::new()),
        ("a shape without end", "", overflowing()),
        ("version 99", "another version", noted("/version", json!(99))),
        ("version 1", "another version", noted("/version", json!(1))),
        ("no note", "not a checkpoint", parts().text(None).bytes()),
        ("a note that is no JSON", "not a checkpoint", parts().text(Some("{what")).bytes()),
        ("an unknown key", "surprise", parts().note(unknown).bytes()),
    ];
    for (what, expected, bytes) in &table {
        assert_refused(what, expected, || resume(&run, bytes));
    }
    assert!(matches!(refused("another run", || resume(&run, &noted("/run", json!("that")))), Error::OtherRun));
}

/// Small graphs, with categories for nodes and edges if so wished.
fn molecules(count: u32, with_features: bool) -> Dataset {
    let (mut pairs, mut sizes, mut first) = (Vec::new(), Vec::new(), 0);
    for graph in 0..count {
        let size = 5 + graph % 4;
        pairs.extend((1..size).map(|node| (first + node, first + if graph % 2 == 0 { 0 } else { node - 1 })));
        sizes.push(size);
        first += size;
    }
    let arena = Graph::from_pairs(first as usize, pairs).unwrap().0;
    let edges = arena.num_edges();
    let mut dataset = Dataset::set("molecules", GraphSet::from_block_diagonal(arena, sizes).unwrap());
    if with_features {
        let codes = |rows: usize, categories: u8| (0..rows).map(|row| (row % usize::from(categories)) as u8).collect();
        dataset.features = Some(Features::Categorical(Categorical::new(vec![5], codes(first as usize, 5)).unwrap()));
        dataset.edge_features = Some(Features::Categorical(Categorical::new(vec![3], codes(edges, 3)).unwrap()));
    }
    dataset
}

fn rename(object: &mut Map<String, Value>, new: &str, old: &str) {
    if let Some(value) = object.remove(new) {
        object.insert(old.into(), value);
    }
}

/// The bytes that the first version would have written.
fn first_version(bytes: &[u8], edge_columns: bool) -> Vec<u8> {
    let mut parts = Parts::of(bytes).note(|note| {
        let note = note.as_object_mut().unwrap();
        note.insert("version".into(), json!(1));
        if !edge_columns {
            note.insert("edge_columns".into(), Value::Null);
        }
        rename(note["features"].as_object_mut().unwrap(), "normalize_rows", "normalize-rows");
        let classes = note.remove("target").and_then(|target| target.get("count").cloned());
        let method = note["method"].as_object_mut().unwrap();
        rename(method, "name", "kind");
        if let Some(classes) = classes {
            method.insert("classes".into(), classes);
        }
        if let Some(share) = method.remove("share_encoder") {
            method.insert("encoders".into(), json!(if share == json!(true) { 1 } else { 2 }));
        }
        if let Some(views) = method.remove("embed_views") {
            method.insert("embedding".into(), json!(if views == json!(true) { "views" } else { "clean" }));
        }
        let extra = method.remove("extra_propagation");
        rename(method, "loss", "objective");
        if let Some(objective) = method.get_mut("objective") {
            rename(objective.as_object_mut().unwrap(), "name", "kind");
        }
        let encoder = method["encoder"].as_object_mut().unwrap();
        for (new, old) in [
            ("name", "kind"),
            ("hidden_channels", "hidden"),
            ("num_layers", "layers"),
            ("activation", "nonlinearity"),
            ("share_slope", "share-slope"),
            ("batch_norm", "batch-norm"),
            ("train_eps", "learn-epsilon"),
            ("last_relu", "last-relu"),
        ] {
            rename(encoder, new, old);
        }
        if let Some(readout) = method.get_mut("readout") {
            let readout = readout.as_object_mut().unwrap();
            rename(readout, "jumping_knowledge", "jumping");
            rename(readout, "projector", "head");
            readout.insert("reach".into(), extra.unwrap_or(json!(0)));
        }
    });
    for (name, _, _) in &mut parts.tensors {
        *name = name
            .replace("activations.", "bends.")
            .replace(".running_mean", ".mean")
            .replace(".running_var", ".variance");
        if let Some(rest) = name.strip_prefix("output.") {
            *name = format!("answer.{rest}");
        }
    }
    parts.bytes()
}

#[test]
fn encoders_of_the_first_version_give_the_same_embeddings() {
    let _alone = alone();
    let (nodes, graphs, atoms) = (generate::karate_club(), molecules(9, false), molecules(9, true));
    let two = Span { encoder: gcn(true), share_encoder: false, extra_propagation: 2, ..Span::default() };
    let prelu = GcnSettings {
        activation: fiedler_learn::layer::Activation::PreluChannelwise,
        hidden_channels: 4,
        ..GcnSettings::default()
    };
    for (method, dataset) in [
        (MethodSettings::from(two), &nodes),
        (Span { encoder: EncoderSettings::Gcn(prelu), ..Span::default() }.into(), &nodes),
        (Span { encoder: gin(), ..Span::default() }.into(), &graphs),
        (Span { encoder: gin(), ..Span::default() }.into(), &atoms),
        (Span { encoder: gcn(true), ..Span::default() }.into(), &atoms),
        (Untrained { encoder: gin(), ..Untrained::default() }.into(), &atoms),
    ] {
        let sums = matches!(
            &method,
            MethodSettings::Span(Span { encoder: EncoderSettings::Gin(_), .. }) | MethodSettings::Untrained(_)
        );
        let result = Run::new(&settings(method, 3), dataset).fit().unwrap();
        let bytes = result.encoder.to_bytes().unwrap();
        // The first version told of features of edges only where the encoder looks at them.
        let old = first_version(&bytes, sums);
        assert_ne!(old, bytes);
        let read = SavedEncoder::from_bytes(&old).unwrap();
        assert_eq!(read.embed(dataset).unwrap(), result.embeddings);
    }
}

#[test]
fn supervised_encoders_of_the_first_version_give_the_same_scores() {
    let _alone = alone();
    let dataset = molecules(9, false);
    let labels = Labels::Classes(Classes::from_integers((0..9).map(|graph| Some(graph % 3))));
    let split =
        Split { name: "all".into(), train: (0..9).collect(), validation: vec![], test: vec![], stopping: vec![] };
    let settings = settings(Supervised { encoder: gin(), ..Supervised::default() }, 3);
    let supervision = Some(Supervision { labels: &labels, split: &split });
    let result = Run { supervision, ..Run::new(&settings, &dataset) }.fit().unwrap();
    let old = first_version(&result.encoder.to_bytes().unwrap(), true);
    let text = String::from_utf8_lossy(&old).into_owned();
    assert!(text.contains("answer.weight") && !text.contains("running_mean"), "not as the first version had it");
    assert_eq!(SavedEncoder::from_bytes(&old).unwrap().embed(&dataset).unwrap(), result.embeddings);
}
