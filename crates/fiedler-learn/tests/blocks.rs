//! Training on parts of one graph: the same bits however it is run, the nodes that count, and what refuses to.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_augment::SchemeSettings;
use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{Dataset, Event, NoObserver, Observer, generate};
use fiedler_learn::Error;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, SamplerSettings};
use serde_json::json;

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

fn citation() -> Dataset {
    generate::from_spec("citation:nodes=300", 3).unwrap()
}

fn methods() -> Vec<MethodSettings> {
    let all = MethodSettings::ALL.iter().map(|info| info.name.parse::<MethodSettings>().unwrap());
    all.filter(|method| method.as_any().takes_blocks()).collect()
}

fn samplers() -> Vec<SamplerSettings> {
    let named = |(name, _): &(&str, &str)| serde_json::from_value(json!({ "name": name })).unwrap();
    SamplerSettings::OF_NODES[1..].iter().map(named).collect()
}

fn settings(method: MethodSettings, sampler: SamplerSettings, width: usize) -> Settings {
    let mut tree = serde_json::to_value(Settings::of_method(method)).unwrap();
    let encoder = tree["method"]["encoder"].as_object_mut().unwrap();
    encoder.insert("hidden_channels".into(), width.into());
    if encoder.contains_key("out_channels") {
        encoder.insert("out_channels".into(), width.into());
    }
    let mut settings: Settings = serde_json::from_value(tree).unwrap();
    settings.seed = 5;
    settings.training.epochs = 2;
    settings.training.min_relative_std = 0.0;
    settings.training.sampler = sampler;
    settings.training.batch_nodes = Some(80);
    settings
}

fn fit(run: &Run<'_, '_>, store: &Memory, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store, run: "blocks" });
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer })
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn assert_same(one: &RunResult, other: &RunResult, what: &str) {
    assert_eq!(one.history.losses, other.history.losses, "{what}");
    assert_eq!(one.embeddings, other.embeddings, "{what}");
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap(), "{what}");
}

#[test]
fn the_methods_of_the_field_take_blocks() {
    let names: Vec<&str> = methods().iter().map(MethodSettings::name).collect();
    for wanted in ["span", "cca-ssg", "grace", "bgrl"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
}

#[test]
fn one_thread_or_two_killed_within_an_epoch_or_not_the_bits_are_the_same() {
    let dataset = citation();
    for method in methods() {
        for sampler in samplers() {
            let what = format!("{} {}", method.name(), sampler.name());
            let settings = settings(method.clone(), sampler, 16);
            let run = Run::new(&settings, &dataset);
            let whole = on_threads(2, || run.fit().unwrap());
            assert_eq!((whole.embeddings.rows(), whole.history.losses.len()), (300, 2), "{what}");
            assert_same(&whole, &on_threads(1, || run.fit().unwrap()), &what);
            let store = Memory::default();
            for (epoch, within) in [(0, "step 2 of"), (1, "step 3 of")] {
                let watch = |event: &Event<'_>| match event {
                    Event::Progress { done, item, .. } if *done == epoch && item.starts_with(within) => {
                        ControlFlow::Break(())
                    }
                    _ => ControlFlow::Continue(()),
                };
                match on_threads(2, || fit(&run, &store, &watch)) {
                    Err(Error::Stopped { epoch: stopped, saved: true, .. }) => assert_eq!(stopped, epoch),
                    other => panic!("{what}: {other:?}"),
                }
            }
            assert_same(&whole, &fit(&run, &store, &NoObserver).unwrap(), &what);
        }
    }
}

#[test]
fn views_of_blocks_come_from_every_kind_of_scheme() {
    let dataset = citation();
    for scheme in ["opposite", "centrality", "uniform-flipping", "node-dropping", "diffusion", "subgraph"] {
        for sampler in samplers() {
            let mut settings = settings("cca-ssg".parse().unwrap(), sampler, 8);
            settings.training.epochs = 1;
            settings.scheme = Some(scheme.parse::<SchemeSettings>().unwrap());
            let result = Run::new(&settings, &dataset).fit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
            assert!(result.embeddings.are_finite());
        }
    }
}

#[test]
fn a_block_of_all_nodes_is_the_whole_graph() {
    let dataset = citation();
    for method in methods() {
        for sampler in samplers().into_iter().filter(|sampler| sampler.name() != "walk") {
            let mut settings = settings(method.clone(), sampler, 16);
            settings.scheme = Some("uniform-removal".parse().unwrap());
            settings.training.batch_nodes = Some(300);
            let block = Run::new(&settings, &dataset).fit().unwrap();
            settings.training.batch_nodes = None;
            settings.training.sampler = SamplerSettings::Whole;
            let whole = Run::new(&settings, &dataset).fit().unwrap();
            assert_eq!(block.history.losses, whole.history.losses, "{}", method.name());
            assert_eq!(block.embeddings, whole.embeddings, "{}", method.name());
        }
    }
}

#[test]
fn what_needs_the_graph_whole_says_so_before_anything_is_computed() {
    let dataset = citation();
    for method in ["gmi", "mvgrl"] {
        let mut settings = Settings::of_method(method.parse::<MethodSettings>().unwrap());
        settings.training.batch_nodes = Some(80);
        let refused = Run::new(&settings, &dataset).check().err().unwrap().to_string();
        assert!(refused.contains("training.sampler is clusters") && refused.contains("cca-ssg"), "{refused}");
    }
    // What is not trained has no steps.
    let mut settings = Settings::of_method("hops".parse::<MethodSettings>().unwrap());
    settings.training.sampler = samplers().remove(0);
    assert!(Run::new(&settings, &dataset).check().is_ok());
}

/// In the end the whole graph is embedded, however small the blocks are.
#[test]
fn the_estimate_of_memory_knows_that_the_whole_graph_is_embedded() {
    let dataset = citation();
    let nodes = dataset.graphs.num_nodes() as u64;
    let mut settings = Settings::of_method("cca-ssg".parse::<MethodSettings>().unwrap());
    settings.training.batch_nodes = Some(2);
    settings.training.sampler = samplers().into_iter().find(|sampler| sampler.name() == "neighbors").unwrap();
    let estimate = Run::new(&settings, &dataset).check().unwrap().memory_estimate();
    assert!(estimate > nodes * 512 * 4, "{estimate} bytes hold no layer of {nodes} nodes");
}

#[test]
fn samplers_are_read_from_settings_and_refused_by_name() {
    let read = |text: serde_json::Value| serde_json::from_value::<Settings>(json!({ "training": { "sampler": text } }));
    assert!(read(json!({"name": "neighbors", "fan_out": [5, 3]})).is_ok());
    assert_eq!(read(json!({"name": "whole-graph"})).unwrap().training.sampler, SamplerSettings::Whole);
    for wrong in
        [json!({"name": "neighbours"}), json!({"name": "walk", "fan_out": [3]}), json!({"name": "whole", "a": 1})]
    {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
    let dataset = citation();
    for (sampler, message) in [
        (json!({"name": "neighbors", "fan_out": []}), "fan_out"),
        (json!({"name": "neighbors", "fan_out": [5, 0]}), "fan_out"),
        (json!({"name": "walk", "length": 0}), "length is 0"),
        (json!({"name": "ego", "cap": 0}), "cap is 0"),
        (json!({"name": "clusters", "parts_per_batch": 0}), "parts_per_batch is 0"),
    ] {
        let settings = read(sampler.clone()).unwrap();
        let refused = Run::new(&settings, &dataset).check().err().unwrap().to_string();
        assert!(refused.contains(message), "{sampler}: {refused}");
    }
}
