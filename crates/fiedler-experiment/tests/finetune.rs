//! Fine-tuning: what moves and what does not, and that neither threads nor stops change a bit.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_evaluate::Protocol;
use fiedler_experiment::finetune::{FinetunePlan, FinetuneRecord, Start};
use fiedler_experiment::run::{Existing, RunFolder, RunPlan, read_encoder};
use fiedler_experiment::{Error, ErrorKind, ReadOptions, Result, Task, settings_tree};
use fiedler_graph::{Event, NoObserver, Observer};
use fiedler_learn::run::Settings;
use tempfile::TempDir;

const ENCODER: &str = "encoder.safetensors";

/// Forty rings and stars of different sizes with labels that say which, as a TU dataset.
fn rings(folder: &Path) -> Task {
    let data = folder.join("RINGS");
    fs::create_dir_all(&data).unwrap();
    let (mut pairs, mut indicator, mut labels, mut first) = (String::new(), String::new(), String::new(), 1);
    for graph in 0..40 {
        let size = 5 + graph % 4;
        for node in 0..size {
            let other = if graph % 2 == 0 { (node + 1) % size } else { 0 };
            if node != other {
                pairs += &format!("{}, {}\n", first + node, first + other);
            }
        }
        indicator += &format!("{}\n", graph + 1).repeat(size);
        labels += &format!("{}\n", graph % 2);
        first += size;
    }
    for (name, text) in [("A", pairs), ("graph_indicator", indicator), ("graph_labels", labels)] {
        fs::write(data.join(format!("RINGS_{name}.txt")), text).unwrap();
    }
    open(data.to_str().unwrap())
}

fn open(source: &str) -> Task {
    Task::open(source, &ReadOptions::default(), 0, &NoObserver).unwrap()
}

/// A run without labels, with an encoder whose normalizations have statistics.
fn pretrained(task: &Task, folder: &Path, method: &str) -> Start {
    let folder = RunFolder::new(&folder.join("pretrained"));
    let settings = Settings { method: method.parse().unwrap(), ..Settings::default() };
    let settings = settings_tree::assign(
        &settings,
        ["training.epochs=2", "training.batch_size=16", "method.encoder.hidden_channels=8"],
    )
    .unwrap();
    RunPlan::new(task, settings).check().unwrap().fit(&folder, Existing::Refuse, &NoObserver).unwrap();
    Start::read(folder.path().to_str().unwrap(), None).unwrap()
}

fn plan<'a>(task: &'a Task, start: &'a Start, changes: &[&str]) -> FinetunePlan<'a> {
    let usual = ["training.epochs=4", "training.batch_size=8", "training.checkpoint_every=1"];
    let settings = settings_tree::assign(&start.settings(task.level).unwrap(), usual).unwrap();
    FinetunePlan {
        task,
        start,
        settings: settings_tree::assign(&settings, changes.iter().copied()).unwrap(),
        protocol: Protocol::asked(Some("kfold"), Some(2), None, task.target().unwrap()).unwrap(),
        label_fraction: 1.0,
        seeds: 1,
        page: false,
    }
}

fn fit(plan: FinetunePlan<'_>, out: &Path) -> Result<FinetuneRecord> {
    plan.check()?.fit(out, Existing::Resume, &NoObserver)
}

/// Every file but those with times, by its path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let inner = files(&path).into_iter();
            found.extend(inner.map(|(name, bytes)| (Path::new(path.file_name().unwrap()).join(name), bytes)));
        } else if path.extension().is_some_and(|ending| ending != "json" && ending != "html") {
            found.insert(path.file_name().unwrap().into(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_frozen_encoder_does_not_move_by_a_bit() {
    let folder = TempDir::new().unwrap();
    let task = rings(folder.path());
    let start = pretrained(&task, folder.path(), "graphcl");
    let before = start.weights().unwrap().clone();
    assert!(before.iter().any(|(name, ..)| name.contains("running_mean")), "statistics are among the weights");
    let tuned = |name: &str, changes: &[&str]| {
        let changes = [changes, &["method.encoder.dropout=0.5", "training.weight_decay=0.1"]].concat();
        let out = folder.path().join(name);
        fit(plan(&task, &start, &changes), &out).unwrap();
        read_encoder(&out.join(ENCODER)).unwrap()
    };
    let weights = |name: &str, changes: &[&str]| tuned(name, changes).pretrained().unwrap().weights().clone();
    assert_eq!(weights("frozen", &["method.mode=frozen", "method.head_learning_rate=0.1"]), before);
    let head = ["method.mode=head-first", "method.head_epochs=4", "training.patience=none"];
    assert_eq!(weights("head", &head), before);
    let first = ["method.mode=head-first", "method.head_epochs=2", "training.patience=none"];
    for (name, moved) in [("full", weights("full", &["training.patience=none"])), ("first", weights("first", &first))] {
        let is_same = |weight: &str| moved.get(weight) == before.get(weight);
        assert!(before.iter().any(|(weight, ..)| weight.contains("running_mean") && !is_same(weight)), "{name}");
        assert!(before.iter().any(|(weight, ..)| weight.ends_with("weight") && !is_same(weight)), "{name}");
    }
    // The head is trained all the while.
    let (one, two) = (
        tuned("frozen", &["method.mode=frozen", "method.head_learning_rate=0.1"]),
        tuned("slow", &["method.mode=frozen"]),
    );
    assert_ne!(one.embed(&task.dataset).unwrap(), two.embed(&task.dataset).unwrap());
}

#[test]
fn neither_threads_nor_stops_change_a_bit() {
    let folder = TempDir::new().unwrap();
    let task = rings(folder.path());
    let start = pretrained(&task, folder.path(), "infograph");
    let changes =
        ["method.mode=head-first", "method.head_epochs=2", "method.head_learning_rate=0.01", "method.head_dropout=0.3"];
    let on = |threads: usize, name: &str, observer: &(dyn Observer + Sync), times: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let out = folder.path().join(name);
        let mut stops = 0;
        let record = pool.install(|| {
            loop {
                match plan(&task, &start, &changes).check().unwrap().fit(&out, Existing::Resume, observer) {
                    Ok(record) => return record,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
                }
                stops += 1;
            }
        });
        assert!(stops >= times, "stopped {stops} times");
        (files(&out), record.score)
    };
    let whole = on(1, "whole", &NoObserver, 0);
    assert!(whole.0.len() >= 7);
    assert_eq!(on(2, "threads", &NoObserver, 0), whole);
    // Stopped again and again, each time a few steps later.
    let asked = AtomicUsize::new(0);
    let observer = |event: &Event<'_>| match event {
        Event::Progress { .. } if asked.fetch_add(1, Ordering::Relaxed) % 7 == 6 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert_eq!(on(1, "stopped", &observer, 2), whole);
    // What is replaced leaves nothing that a stop in between could mix with it.
    let (out, other) = (folder.path().join("replaced"), ["training.epochs=5"]);
    fit(plan(&task, &start, &other), &out).unwrap();
    let asked = AtomicUsize::new(0);
    let observer = |event: &Event<'_>| match event {
        Event::Progress { .. } if asked.fetch_add(1, Ordering::Relaxed) > 12 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let replacing = plan(&task, &start, &changes).check().unwrap();
    assert_eq!(replacing.fit(&out, Existing::Replace, &observer).unwrap_err().kind(), ErrorKind::Interrupted);
    let record = fit(plan(&task, &start, &changes), &out).unwrap();
    assert_eq!((files(&out), record.score), whole);
    // What was started with other settings is not gone on with.
    let error = fit(plan(&task, &start, &["training.epochs=5"]), &folder.path().join("whole")).unwrap_err();
    assert!(error.to_string().contains("other settings"), "{error}");
}

#[test]
fn shares_of_labels_random_starts_and_what_is_tuned_twice() {
    let folder = TempDir::new().unwrap();
    let task = rings(folder.path());
    let start = pretrained(&task, folder.path(), "graphcl");
    let out = |name: &str| folder.path().join(name);
    let few = FinetunePlan { label_fraction: 0.2, seeds: 2, ..plan(&task, &start, &[]) };
    let record = fit(few, &out("few")).unwrap();
    assert_eq!(record.runs.len(), 4);
    for run in &record.runs {
        assert!((2..=6).contains(&run.score.train_items) && run.score.test_items == 20, "{:?}", run.score);
    }
    // The same encoder from random weights.
    let like = Start::read("none", Some(&out("pretrained"))).unwrap();
    assert!(like.weights().is_none());
    let (theirs, ours) = (plan(&task, &like, &[]).settings, plan(&task, &start, &[]).settings);
    assert_eq!(settings_tree::assign(&ours, ["method.start=none"]).unwrap(), theirs);
    fit(plan(&task, &like, &[]), &out("scratch")).unwrap();
    // What was tuned is where the next starts, its head left behind.
    let again = Start::read(out("scratch").to_str().unwrap(), None).unwrap();
    assert!(again.weights().unwrap().iter().all(|(name, ..)| name.starts_with("encoder.")));
    fit(plan(&task, &again, &["method.mode=frozen"]), &out("again")).unwrap();
    assert_eq!(
        read_encoder(&out("again").join(ENCODER)).unwrap().pretrained().unwrap().weights(),
        again.weights().unwrap()
    );
}

#[test]
fn encoders_of_nodes_are_tuned_on_nodes() {
    let folder = TempDir::new().unwrap();
    let task = open("citation");
    let start = pretrained(&task, folder.path(), "dgi");
    let public = FinetunePlan {
        protocol: Protocol::asked(Some("public"), None, None, task.target().unwrap()).unwrap(),
        ..plan(&task, &start, &["training.epochs=30"])
    };
    let record = fit(public, &folder.path().join("tuned")).unwrap();
    let score = record.score.unwrap();
    assert!(record.runs.len() == 1 && score.mean > 0.5, "{score:?}");
    assert_eq!(
        read_encoder(&folder.path().join("tuned").join(ENCODER)).unwrap().embed(&task.dataset).unwrap().rows(),
        1000
    );
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_written() {
    let folder = TempDir::new().unwrap();
    let task = rings(folder.path());
    let start = pretrained(&task, folder.path(), "graphcl");
    let cases: [(FinetunePlan<'_>, &str); 5] = [
        (FinetunePlan { label_fraction: 0.0, ..plan(&task, &start, &[]) }, "label fraction is 0"),
        (FinetunePlan { seeds: 0, ..plan(&task, &start, &[]) }, "no seed"),
        (plan(&task, &start, &["method.mode=head-first"]), "head_epochs is 0"),
        (plan(&task, &start, &["method.head_dropout=1"]), "dropout is 1"),
        (plan(&task, &start, &["method.encoder.hidden_channels=9"]), "the weights have"),
    ];
    for (plan, expected) in cases {
        let out = folder.path().join("refused");
        let error: Error = fit(plan, &out).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!out.exists(), "{expected}: a folder was made");
    }
    // A dataset with other features is refused by its name.
    let mut other = open("karate");
    other.dataset.features = Some(fiedler_graph::Features::degrees(other.dataset.graphs.block_diagonal(), 3));
    let error = start.align(&mut other).unwrap_err().to_string();
    assert!(error.contains("karate"), "{error}");
    let error = Start::read(folder.path().join("nowhere").to_str().unwrap(), None).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
