//! Files that nobody would write by accident. Encoders and checkpoints are in the tests of `fiedler-learn`.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use fiedler_augment::Scheme;
use fiedler_experiment::run::{RunFolder, RunPlan};
use fiedler_experiment::{Error, ErrorKind, ReadOptions, Result, Task, recipe};
use fiedler_graph::generate;
use serde_json::{Value, json};

use super::fixtures;
use super::fuzz::{cut, own_files};

/// One at a time, so that what is measured is one's own.
static ALONE: Mutex<()> = Mutex::new(());

/// Bytes that refusing may take.
const ALLOWED: u64 = 256 << 20;

/// The most memory that this process has ever asked for, where the system tells; what is asked for counts, touched or not.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Something that must fail with a reason, quietly and with little memory.
fn assert_refused<T>(what: &str, words: &[&str], work: impl FnOnce() -> Result<T>) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = peak();
    let result = std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panic!("{what}: it panics"));
    let taken = peak() - before;
    assert!(taken < ALLOWED, "{what}: it takes {} MiB", taken >> 20);
    let Err(error) = result else { panic!("{what}: it is accepted") };
    assert_ne!(error.kind(), ErrorKind::Unexpected, "{what}: {error}");
    let message = error.in_one_line();
    for word in words {
        assert!(message.contains(word), "{what}: {message:?} does not say {word:?}");
    }
}

/// The parts of a scheme's file, to be changed.
struct Parts {
    note: Value,
    tensors: Vec<Tensor>,
}

struct Tensor {
    /// `NAME DTYPE SIZE …`
    line: String,
    bytes: Vec<u8>,
}

/// How many bytes a tensor takes.
fn bytes_of(line: &str) -> usize {
    let words: Vec<&str> = line.split(' ').collect();
    let width = if words[1].ends_with("64") { 8 } else { 4 };
    words[2..].iter().map(|size| size.parse::<usize>().unwrap()).product::<usize>() * width
}

impl Parts {
    fn of(name: &str) -> Parts {
        let file = fs::read(fixtures("own/scheme").join(name).with_extension("safetensors")).unwrap();
        let (note, lines, mut data) = cut(&file);
        let tensor = |line: String| {
            let rest = data.split_off(bytes_of(&line));
            Tensor { line, bytes: std::mem::replace(&mut data, rest) }
        };
        Parts { note: serde_json::from_str(&note).unwrap(), tensors: lines.into_iter().map(tensor).collect() }
    }

    fn note(mut self, path: &str, value: Value) -> Parts {
        *self.note.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = value;
        self
    }

    fn find(&mut self, name: &str) -> &mut Tensor {
        let found = self.tensors.iter_mut().find(|tensor| tensor.line.starts_with(&format!("{name} ")));
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    /// Replaces the line of a tensor, whose values are cut off, or followed by zeros.
    fn tensor(mut self, name: &str, line: &str) -> Parts {
        let tensor = self.find(name);
        tensor.line = line.into();
        tensor.bytes.resize(bytes_of(line), 0);
        self
    }

    /// Changes the bytes of a tensor.
    fn values(mut self, name: &str, change: impl FnOnce(&mut [u8])) -> Parts {
        change(&mut self.find(name).bytes);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let (note, lines): (_, Vec<&str>) =
            (self.note.to_string(), self.tensors.iter().map(|tensor| tensor.line.as_str()).collect());
        let data: Vec<u8> = self.tensors.iter().flat_map(|tensor| tensor.bytes.iter().copied()).collect();
        let pieces = [note.as_bytes(), lines.join("\n").as_bytes(), &data].join(own_files::SEPARATOR);
        own_files::container(&pieces, &|_| {}).unwrap()
    }
}

fn first<const N: usize>(bytes: [u8; N]) -> impl FnOnce(&mut [u8]) {
    move |values| values[..N].copy_from_slice(&bytes)
}

#[test]
fn schemes_that_are_none() {
    let set = own_files::rings().graphs;
    let read = |bytes: &[u8]| Scheme::from_bytes(bytes, &set).map_err(Error::from);
    for name in ["all-pairs", "candidates", "nodes", "uniform", "static", "drop-nodes"] {
        read(&Parts::of(name).bytes()).unwrap();
    }
    let good = Parts::of("nodes").bytes();
    let ratio = |parts: Parts, path: &str| parts.note(path, json!(7.0)).bytes();
    let unchanged = |count: usize| json!(vec!["unchanged"; count]);
    let mut unknown = Parts::of("nodes");
    unknown.note["surprise"] = json!(1);
    let mut without = Parts::of("nodes");
    without.note.as_object_mut().unwrap().remove("fingerprint");
    let no_note = br#"{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#;
    let no_end = br#"{"__metadata__":{"fiedler":"{}"},"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904,0],"data_offsets":[0,0]}}"#;
    let framed = |header: &[u8]| [&(header.len() as u64).to_le_bytes(), header].concat();
    let none: &[&str] = &["not a scheme"];
    let table: Vec<(&str, &[&str], Vec<u8>)> = vec![
        (
            "a probability above one",
            &["probability 1.5"],
            Parts::of("nodes").values("view0.probability", first(1.5f32.to_le_bytes())).bytes(),
        ),
        (
            "a probability below zero",
            &["probability -1"],
            Parts::of("all-pairs").values("view1.probability", first((-1f32).to_le_bytes())).bytes(),
        ),
        (
            "a probability that is no number",
            &["probability NaN"],
            Parts::of("candidates").values("view0.probability", first(f32::NAN.to_le_bytes())).bytes(),
        ),
        (
            "too few nodes",
            &["view0.probability", "7 entries; expected 20"],
            Parts::of("nodes").tensor("view0.probability", "view0.probability F32 7").bytes(),
        ),
        (
            "too many probabilities",
            &["view1.probability", "50 entries; expected 40"],
            Parts::of("all-pairs").tensor("view1.probability", "view1.probability F32 50").bytes(),
        ),
        (
            "pairs without end",
            &["too few probabilities for graph 0"],
            Parts::of("candidates").values("view0.pairs", first((u64::MAX - 1).to_le_bytes())).bytes(),
        ),
        (
            "pairs of fewer graphs",
            &["view0.pairs", "3 entries; expected 4"],
            Parts::of("candidates").tensor("view0.pairs", "view0.pairs U64 3").bytes(),
        ),
        (
            "a node that is not there",
            &["pairs of view 0"],
            Parts::of("candidates").values("view0.high", first(u32::MAX.to_le_bytes())).bytes(),
        ),
        (
            "a node with itself",
            &["are not ascending"],
            Parts::of("candidates").values("view0.low", first(4u32.to_le_bytes())).bytes(),
        ),
        (
            "doubles for floats",
            &["view0.probability holds F64; expected F32"],
            Parts::of("nodes").tensor("view0.probability", "view0.probability F64 20").bytes(),
        ),
        (
            "a tensor of another name",
            &["view0.probability"],
            Parts::of("nodes").tensor("view0.probability", "stranger F32 20").bytes(),
        ),
        ("a removal of seven", &["7"], ratio(Parts::of("uniform"), "/views/0/uniform/remove")),
        ("no views", &["0 views"], Parts::of("nodes").note("/views", json!([])).bytes()),
        (
            "views that nothing is told of",
            &["100000 views"],
            Parts::of("nodes").note("/views", unchanged(100_000)).bytes(),
        ),
        ("an unknown kind of view", &["spam"], Parts::of("nodes").note("/views/0", json!("spam")).bytes()),
        ("an unknown scheme", &["spam"], Parts::of("nodes").note("/settings/name", json!("spam")).bytes()),
        ("an unknown key", &["surprise"], unknown.bytes()),
        ("no fingerprint", &["fingerprint"], without.bytes()),
        ("another graph", &["another graph"], Parts::of("nodes").note("/fingerprint", json!("00")).bytes()),
        ("version 99", &["99"], Parts::of("nodes").note("/version", json!(99)).bytes()),
        (
            "an edge across graphs",
            &["graph"],
            Parts::of("static").values("view1.high", first(19u32.to_le_bytes())).bytes(),
        ),
        (
            "an edge of infinite weight",
            &["weight"],
            Parts::of("static").values("view1.weight", first(f32::INFINITY.to_le_bytes())).bytes(),
        ),
        (
            "a self-loop that is no number",
            &["self-loop of weight NaN"],
            Parts::of("static").values("view1.own-weight", first(f32::NAN.to_le_bytes())).bytes(),
        ),
        ("no note", &["metadata"], framed(no_note)),
        ("a shape without end", none, framed(no_end)),
        ("a header of all there is", none, [&u64::MAX.to_le_bytes(), &good[8..]].concat()),
        ("half a file", none, good[..good.len() / 2].to_vec()),
        ("an empty file", none, Vec::new()),
    ];
    for (what, words, bytes) in &table {
        assert_refused(what, words, || read(bytes));
    }
}

/// What `fiedler embed --resume` does with a `run.json` before anything else.
fn resume(text: &[u8]) -> Result<()> {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("run.json"), text).unwrap();
    let record = RunFolder::new(place.path()).record()?.unwrap();
    let task = Task::of("karate", &ReadOptions::default(), generate::karate_club());
    RunPlan::new(&task, record.settings).check().map(drop)
}

#[test]
fn records_that_are_none() {
    let good: Value = serde_json::from_slice(&fs::read(fixtures("own/run_json/finished.json")).unwrap()).unwrap();
    resume(good.to_string().as_bytes()).unwrap();
    let with = |path: &str, value: Value| {
        let mut record = good.clone();
        let (folder, key) = path.rsplit_once('/').unwrap();
        record.pointer_mut(folder).unwrap().as_object_mut().unwrap().insert(key.into(), value);
        record.to_string().into_bytes()
    };
    let without = |key: &str| {
        let mut record = good.clone();
        record.as_object_mut().unwrap().remove(key).unwrap();
        record.to_string().into_bytes()
    };
    let whole = good.to_string().into_bytes();
    let half = whole[..whole.len() / 2].to_vec();
    let hidden = "/settings/method/encoder/hidden_channels";
    let table: Vec<(&str, &[&str], Vec<u8>)> = vec![
        (
            "epochs below zero",
            &["run.json", "settings.training.epochs cannot be -1"],
            with("/settings/training/epochs", json!(-1)),
        ),
        ("epochs of 10^300", &["settings.training.epochs", "1e+300"], with("/settings/training/epochs", json!(1e300))),
        ("epochs without end", &["epochs is 18446744073709551615"], with("/settings/training/epochs", json!(u64::MAX))),
        ("a width of 10^12", &["hidden_channels is 1000000000000"], with(hidden, json!(1_000_000_000_000u64))),
        (
            "a width that is a word",
            &["settings.method.encoder.hidden_channels cannot be \"wide\""],
            with(hidden, json!("wide")),
        ),
        (
            "degrees of 10^15",
            &["features.degrees is"],
            with("/settings/features/degrees", json!(1_000_000_000_000_000u64)),
        ),
        (
            "an unknown setting",
            &["settings.training.epoch", "did you mean settings.training.epochs"],
            with("/settings/training/epoch", json!(1)),
        ),
        ("an unknown method", &["settings.method.name", "spam"], with("/settings/method/name", json!("spam"))),
        (
            "a thousand views",
            &["views is given in full and in short"],
            with("/settings/views", json!(vec![json!({"name": "identity"}); 1000])),
        ),
        ("views in a row without end", &["recursion limit"], {
            let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
            good.to_string().replacen("\"data\":", &format!("\"more\":{nested},\"data\":"), 1).into_bytes()
        }),
        ("nodes below zero", &["data.nodes cannot be -5"], with("/data/nodes", json!(-5))),
        ("rows that are a word", &["result.rows cannot be \"many\""], with("/result/rows", json!("many"))),
        ("no settings", &["missing field `settings`"], without("settings")),
        ("no data", &["missing field `data`"], without("data")),
        ("format 99", &["its format is 99"], with("/format", json!(99))),
        ("a format that is a word", &["its format is \"2\""], with("/format", json!("2"))),
        ("a list", &["run.json", "expected a run.json"], b"[]".to_vec()),
        ("half a file", &["run.json", "expected a run.json"], half),
        ("an empty file", &["run.json", "expected a run.json"], Vec::new()),
        ("no text", &["run.json", "UTF-8"], vec![0xff; 100]),
    ];
    for (what, words, text) in &table {
        assert_refused(what, words, || resume(text));
    }
}

#[test]
fn recipes_that_are_none() {
    let good =
        recipe::to_text(&recipe::get("span-small").unwrap().header, &recipe::get("span-small").unwrap().settings)
            .unwrap();
    let check = |text: &str| {
        let recipe = recipe::from_text("mine.toml", text)?;
        let task = Task::of("karate", &ReadOptions::default(), generate::karate_club());
        RunPlan::new(&task, recipe.settings).check().map(drop)
    };
    check(&good).unwrap();
    let nested = |open: &str, close: &str| format!("views = {}{}", open.repeat(100_000), close.repeat(100_000));
    let table: Vec<(&str, &[&str], String)> = vec![
        ("no TOML", &["mine.toml", "expected"], "epochs: 3".into()),
        ("a key twice", &["mine.toml", "duplicate"], "[training]\nepochs = 3\nepochs = 4".into()),
        ("an unknown table", &["\"trainin\"", "did you mean training"], "[trainin]\nepochs = 3".into()),
        ("an unknown key", &["\"training.epoch\"", "did you mean training.epochs"], "[training]\nepoch = 3".into()),
        ("an unknown key of the header", &["recipe", "tittle"], "[recipe]\ntittle = \"mine\"".into()),
        ("a header that is a number", &["recipe"], "recipe = 3".into()),
        ("datasets that are a number", &["recipe"], "[recipe]\ndatasets = 3".into()),
        (
            "a rate that is no number",
            &["training.learning_rate cannot be NaN", "finite"],
            "[training]\nlearning_rate = nan".into(),
        ),
        (
            "a rate without end",
            &["training.learning_rate cannot be inf", "finite"],
            "[training]\nlearning_rate = inf".into(),
        ),
        ("a rate that is a date", &["training.learning_rate", "f64"], "[training]\nlearning_rate = 1979-05-27".into()),
        ("epochs beyond all numbers", &["mine.toml", "number"], format!("[training]\nepochs = 1{}", "0".repeat(400))),
        ("epochs in a list", &["training.epochs cannot be [3]"], "[training]\nepochs = [3]".into()),
        ("epochs in tables", &["training.epochs"], "[training.epochs.a.b]\nc = 3".into()),
        ("lists in lists without end", &["mine.toml", "recursion"], nested("[", "]")),
        ("tables in tables without end", &["mine.toml", "recursion"], nested("{a=", "1}")),
        ("a thousand views", &["number of views is 1000"], "[[views]]\nname = \"identity\"\n".repeat(1000)),
        (
            "settings of a method that is not there",
            &["method", "missing field `name`"],
            "[method]\nshare_encoder = true".into(),
        ),
        (
            "a width of 10^12",
            &["hidden_channels is 1000000000000"],
            "[method]\nname = \"dgi\"\nencoder = { name = \"gcn\", hidden_channels = 1000000000000 }".into(),
        ),
        ("no text but a mark", &["mine.toml"], "\u{feff}\u{0}".into()),
    ];
    for (what, words, text) in &table {
        assert_refused(what, words, || check(text));
    }
}
