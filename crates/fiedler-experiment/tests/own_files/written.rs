//! One small file of every kind, as some version of fiedler wrote it.
//!
//! Where the format changes, make them again beside the old ones, which must still be read:
//! `cargo test --workspace --all-features --test own_files -- --ignored write_the_files`.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_augment::{Scheme, SchemeSettings};
use fiedler_evaluate::QuickProbe;
use fiedler_experiment::run::{Existing, RunFolder, RunPlan, RunRecord};
use fiedler_experiment::{ReadOptions, Task, recipe};
use fiedler_graph::{Classes, Dataset, Event, Labels, NoObserver, Split, generate};
use fiedler_learn::run::{Fitting, Run, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing};
use fiedler_learn::{SavedEncoder, Supervision};
use serde_json::{Value, json};

use super::fuzz::models::{Kept, RUN, checkpointed};
use super::fuzz::own_files::{note, rings};
use super::{entries, fixtures};

fn save(path: &str, bytes: &[u8]) {
    let path = fixtures("own").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Settings of a small run, changed by JSON.
fn settings(method: Value, more: Value) -> Settings {
    let training = json!({"epochs": 1, "batch_size": 2, "min_relative_std": 0.0});
    let mut settings = json!({"features": {"degrees": 3}, "method": method, "training": training});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(settings).unwrap()
}

fn encoders() -> Vec<(&'static str, Settings, Dataset)> {
    let gcn = json!({"name": "gcn", "hidden_channels": 3, "num_layers": 2, "activation": "prelu", "batch_norm": true});
    let gin = json!({"name": "gin", "hidden_channels": 3, "num_layers": 2, "train_eps": true});
    let opposite = json!({"scheme": {"name": "opposite", "objective": "expected", "steps": 2}});
    let views = json!({"views": [
        {"name": "compose", "steps": [{"name": "drop-edges", "rate": 0.2}, {"name": "mask-features", "rate": 0.3}]},
        {"name": "one-of", "choices": [{"name": "drop-nodes", "rate": 0.2}, {"name": "subgraph", "rate": 0.2}]},
    ]});
    let span = |encoder: &Value, embed_views: bool| {
        let readout = json!({"pooling": "sum", "jumping_knowledge": "concatenate", "projector": "mlp"});
        json!({"name": "span", "encoder": encoder, "readout": readout, "embed_views": embed_views, "share_encoder": false})
    };
    vec![
        ("gcn", settings(span(&gcn, false), opposite.clone()), generate::karate_club()),
        ("gin", settings(span(&gin, false), opposite.clone()), rings()),
        ("views", settings(span(&gin, true), views), rings()),
        ("spectral-views", settings(span(&gcn, true), opposite), generate::karate_club()),
        ("dgi", settings(json!({"name": "dgi", "encoder": gcn}), json!({})), generate::karate_club()),
        ("supervised", settings(json!({"name": "supervised", "encoder": gin}), json!({})), rings()),
        ("raw", settings(json!({"name": "raw"}), json!({})), rings()),
    ]
}

/// Two kinds of rings, if only somebody could see it.
fn labels() -> (Labels, Split) {
    let (train, rest) = ((0..4).collect(), Vec::new);
    let split = Split { name: "all".into(), train, validation: rest(), test: rest(), stopping: rest() };
    (Labels::Classes(Classes::from_integers((0..4).map(|graph| Some(graph % 2)))), split)
}

fn schemes() -> Vec<(&'static str, SchemeSettings)> {
    let of = |settings: Value| serde_json::from_value(settings).unwrap();
    vec![
        ("all-pairs", of(json!({"name": "opposite", "objective": "expected", "steps": 2}))),
        (
            "candidates",
            of(
                json!({"name": "opposite", "objective": "expected", "steps": 2, "support": "candidates", "candidates": 2}),
            ),
        ),
        ("nodes", of(json!({"name": "node-dropping"}))),
        ("uniform", of(json!({"name": "uniform", "first": {"remove": 0.2, "add": 0.1}, "second": {"remove": 0.3}}))),
        ("static", of(json!({"name": "diffusion"}))),
        ("drop-nodes", of(json!({"name": "graphcl"}))),
    ]
}

#[test]
#[ignore = "writes the fixtures"]
fn write_the_files() {
    for (name, settings, dataset) in encoders() {
        let (labels, split) = labels();
        let supervision = (name == "supervised").then_some(Supervision { labels: &labels, split: &split });
        let result = Run { supervision, ..Run::new(&settings, &dataset) }.fit().unwrap();
        save(&format!("encoder/{name}.safetensors"), &result.encoder.to_bytes().unwrap());
    }
    let graphs = rings().graphs;
    for (name, settings) in schemes() {
        let scheme = settings.compute(&graphs, &NoObserver).unwrap();
        save(&format!("scheme/{name}.safetensors"), &scheme.to_bytes().unwrap());
    }
    // In the middle of the second epoch.
    let (settings, dataset, store, events) = (checkpointed(), rings(), Kept::default(), AtomicUsize::new(0));
    let observer = |_: &Event<'_>| match events.fetch_add(1, Ordering::Relaxed) {
        2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut schemes = ComputeSchemes::new(&dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store: &store, run: RUN });
    let fitting = Fitting { schemes: &mut schemes, checkpoint, observer: &observer };
    Run::new(&settings, &dataset).check().unwrap().fit(fitting).unwrap_err();
    save("checkpoint/dgi.safetensors", &store.load().unwrap().unwrap());

    let task = Task::of("karate", &ReadOptions::default(), generate::karate_club());
    let probe = QuickProbe::new(&task.dataset, 0);
    let place = tempfile::tempdir().unwrap();
    let plan = RunPlan { probe: probe.as_ref(), ..RunPlan::new(&task, encoders()[0].1.clone()) };
    let folder = RunFolder::new(place.path());
    plan.check().unwrap().fit(&folder, Existing::Refuse, &NoObserver).unwrap();
    save("run_json/finished.json", &fs::read(place.path().join("run.json")).unwrap());
    let views = RunRecord::new(task.record.clone(), Some("own".into()), encoders()[2].1.clone());
    save("run_json/begun.json", &serde_json::to_vec_pretty(&views).unwrap());
    let header = recipe::RecipeHeader { title: "views in full".into(), ..recipe::RecipeHeader::default() };
    save("recipe/views.toml", recipe::to_text(&header, &encoders()[2].1).unwrap().as_bytes());
}

#[test]
fn encoders_that_were_written_once_are_applied() {
    let names: Vec<&str> = encoders().iter().map(|(name, ..)| *name).collect();
    let files = entries(&fixtures("own/encoder"));
    assert_eq!(files.len(), names.len());
    for path in files {
        let saved = SavedEncoder::from_bytes(&fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (_, settings, dataset) = encoders().into_iter().find(|(known, ..)| *known == name).unwrap();
        assert_eq!(saved.method(), &settings.method);
        let embeddings = saved.embed(&dataset).unwrap();
        assert!(embeddings.are_finite() && embeddings.rows() > 0, "{name}");
    }
}

#[test]
fn schemes_that_were_written_once_are_drawn_from() {
    let graphs = rings().graphs;
    let files = entries(&fixtures("own/scheme"));
    assert_eq!(files.len(), schemes().len());
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let scheme = Scheme::from_bytes(&fs::read(&path).unwrap(), &graphs).unwrap();
        let (_, settings) = schemes().into_iter().find(|(known, _)| *known == name).unwrap();
        assert_eq!(scheme.settings(), &settings);
        scheme.draw(&graphs.whole(), fiedler_augment::ViewKey::new(0, 0, 1)).unwrap();
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_that_was_written_once() {
    let bytes = fs::read(fixtures("own/checkpoint/dgi.safetensors")).unwrap();
    let (settings, dataset, store) = (checkpointed(), rings(), Kept::default());
    store.save(&bytes).unwrap();
    let mut schemes = ComputeSchemes::new(&dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store: &store, run: RUN });
    let fitting = Fitting { schemes: &mut schemes, checkpoint, observer: &NoObserver };
    let result = Run::new(&settings, &dataset).check().unwrap().fit(fitting).unwrap();
    let kept = note(&bytes)["history"]["losses"].as_array().unwrap().len();
    assert!(kept >= 1 && result.history.losses.len() > kept, "{kept} of {}", result.history.losses.len());
}

#[test]
fn records_that_were_written_once_are_read() {
    for (name, finished) in [("finished", true), ("begun", false), ("version-1", true)] {
        let path = fixtures("own/run_json").join(name).with_extension("json");
        let record = RunRecord::parse(&fs::read_to_string(&path).unwrap(), Path::new("run.json")).unwrap();
        assert_eq!((record.finished, record.result.is_some()), (finished, finished), "{name}");
    }
    recipe::read(&fixtures("own/recipe/views.toml")).unwrap();
}
