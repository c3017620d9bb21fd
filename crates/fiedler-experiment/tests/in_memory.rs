//! A run in memory, and what it leaves in a folder.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fiedler_experiment::run::{Existing, RunFolder, RunPlan};
use fiedler_experiment::{ErrorKind, ReadOptions, Task, compute_scheme, pages, recipe, settings_tree};
use fiedler_graph::{Event, NoObserver};
use fiedler_learn::run::Settings;

fn task() -> Task {
    Task::open("karate", &ReadOptions::default(), 0, &NoObserver).unwrap()
}

fn settings() -> Settings {
    settings_tree::assign(&recipe::get("span-small").unwrap().settings, ["training.epochs=3"]).unwrap()
}

fn plan<'a>(task: &'a Task) -> RunPlan<'a> {
    RunPlan { recipe: Some("span-small".into()), ..RunPlan::new(task, settings()) }
}

/// Names and bytes of all files but `run.json`, which has timings.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .filter(|(name, _)| name != "run.json")
        .collect();
    files.sort();
    files
}

#[test]
fn a_run_in_memory_leaves_what_one_in_a_folder_leaves() {
    let (task, place) = (task(), tempfile::tempdir().unwrap());
    let (ours, theirs) = (RunFolder::new(&place.path().join("ours")), RunFolder::new(&place.path().join("theirs")));
    let artifacts = plan(&task).check().unwrap().fit_in_memory(&[], &NoObserver).unwrap();
    artifacts.save(&task, &ours, Existing::Refuse, false, &NoObserver).unwrap();
    plan(&task).check().unwrap().fit(&theirs, Existing::Refuse, &NoObserver).unwrap();
    assert_eq!(files(ours.path()), files(theirs.path()));
    assert!(files(ours.path()).len() >= 5);
    let (ours_record, theirs_record) = (ours.finished().unwrap(), theirs.finished().unwrap());
    assert_eq!(ours_record.settings, theirs_record.settings);
    assert_eq!(ours_record.recipe, theirs_record.recipe);
    assert!(ours_record.data.is_same(&theirs_record.data));

    let again = artifacts.save(&task, &ours, Existing::Refuse, false, &NoObserver).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Output);
    artifacts.save(&task, &ours, Existing::Replace, true, &NoObserver).unwrap();
    assert!(ours.path().join("report.html").exists());
    assert!(!pages::of_artifacts(&artifacts, &task, &NoObserver).unwrap().sections.is_empty());
}

#[test]
fn a_scheme_that_is_known_is_not_computed_again() {
    let task = task();
    let usual = plan(&task).check().unwrap().fit_in_memory(&[], &NoObserver).unwrap();
    let scheme = &usual.schemes[0].scheme;
    let computed = AtomicBool::new(false);
    let observer = |event: &Event<'_>| {
        if matches!(event, Event::Begin { stage: "scheme", .. }) {
            computed.store(true, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let known = plan(&task).check().unwrap().fit_in_memory(&[Arc::clone(scheme)], &observer).unwrap();
    assert!(!computed.load(Ordering::Relaxed));
    assert_eq!(known.outcome.embeddings, usual.outcome.embeddings);
    let other = compute_scheme(&"single".parse().unwrap(), &task.dataset.graphs, &NoObserver).unwrap();
    plan(&task).check().unwrap().fit_in_memory(&[Arc::new(other)], &observer).unwrap();
    assert!(computed.load(Ordering::Relaxed), "another scheme does not serve");
}
