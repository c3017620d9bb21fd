//! Settings that cannot work are refused by name, before anything is computed.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{Categorical, Dataset, Features, Graph, GraphSet, generate};
use fiedler_learn::TaskLevel;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Run, Settings};
use serde_json::{Value, json};

/// Rings with categories of nodes and edges.
fn rings() -> Dataset {
    let pairs = (0..4).flat_map(|ring| (0..6).map(move |node| (6 * ring + node, 6 * ring + (node + 1) % 6))).collect();
    let arena = Graph::from_pairs(24, pairs).unwrap().0;
    let mut dataset = Dataset::set("rings", GraphSet::from_block_diagonal(arena, vec![6; 4]).unwrap());
    let codes = |rows: usize| (0..rows).map(|row| (row % 3) as u8).collect();
    dataset.features = Some(Features::Categorical(Categorical::new(vec![3], codes(24)).unwrap()));
    dataset.edge_features = Some(Features::Categorical(Categorical::new(vec![3], codes(24)).unwrap()));
    dataset
}

/// Puts one JSON over another; objects are merged, but for those that say which of several they are.
fn merge(base: &mut Value, patch: &Value) {
    match (base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            let other_kind = patch.get("name").is_some_and(|name| base.get("name") != Some(name));
            if other_kind {
                base.clear();
            }
            for (key, value) in patch {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, patch) => *base = patch.clone(),
    }
}

/// Why settings are refused, by serde or by the check.
fn reason(patch: &Value, dataset: &Dataset, level: TaskLevel) -> Option<String> {
    let mut value = serde_json::to_value(Settings { scheme: None, ..Settings::paper(level) }).unwrap();
    merge(&mut value, patch);
    let settings: Settings = match serde_json::from_value(value) {
        Ok(settings) => settings,
        Err(error) => return Some(error.to_string()),
    };
    Run::new(&settings, dataset).check().err().map(|error| error.to_string())
}

fn assert_refused(table: &[(Value, &str)], dataset: &Dataset, level: TaskLevel) {
    assert_eq!(reason(&json!({}), dataset, level), None, "the settings as they are");
    for (patch, expected) in table {
        match reason(patch, dataset, level) {
            None => panic!("{patch} is accepted"),
            Some(reason) => assert!(reason.contains(expected), "{patch}: {reason:?} does not say {expected:?}"),
        }
    }
}

fn method(settings: Value) -> Value {
    let mut method = json!({"name": "span"});
    merge(&mut method, &settings);
    json!({"method": method})
}

#[test]
fn of_training() {
    let table = [
        (json!({"training": {"epochs": u64::MAX}}), "epochs is "),
        (json!({"training": {"epochs": 4294967295u64}}), "epochs is "),
        (json!({"training": {"epochs": -1}}), "invalid value: integer `-1`"),
        (json!({"training": {"batch_size": 0}}), "batch_size is 0"),
        (json!({"training": {"learning_rate": -1}}), "learning_rate is -1"),
        (json!({"training": {"learning_rate": 0}}), "learning_rate is 0"),
        (json!({"training": {"learning_rate": null}}), "null"),
        (json!({"training": {"learning_rate": "NaN"}}), "NaN"),
        (json!({"training": {"weight_decay": -1}}), "weight_decay is -1"),
        (json!({"training": {"patience": 0}}), "patience is 0"),
        (json!({"training": {"checkpoint_every": 0}}), "checkpoint_every is 0"),
        (json!({"training": {"min_relative_std": 1}}), "min_relative_std is 1"),
        (json!({"training": {"min_relative_std": -0.1}}), "min_relative_std is -0.1"),
        (json!({"training": {"epochs": 5, "schedule": {"name": "cosine", "warmup": 6}}}), "warmup is 6"),
        (
            json!({"training": {"epochs": 5, "schedule": {"name": "cosine", "warmup": 6, "unit": "step"}}}),
            "warmup is 6",
        ),
        (json!({"training": {"schedule": {"name": "cosine", "warm-up": 6}}}), "warm-up"),
        (json!({"training": {"schedule": {"name": "linear"}}}), "linear"),
        (json!({"training": {"optimizer": "sgd"}}), "sgd"),
        (json!({"features": {"degrees": 0}}), "features.degrees is 0"),
        (json!({"features": {"degrees": 1_000_000_000_000_000u64}}), "features.degrees is 1000000000000000"),
        (json!({"device": "gpu"}), "gpu"),
    ];
    assert_refused(&table, &generate::karate_club(), TaskLevel::Nodes);
    // What no JSON can say.
    for rate in [f64::NAN, f64::INFINITY] {
        let mut settings = Settings::default();
        settings.training.learning_rate = rate;
        let error = Run::new(&settings, &generate::karate_club()).check().err().unwrap().to_string();
        assert!(error.contains("learning_rate"), "{error}");
    }
    assert!(serde_json::from_str::<Settings>(r#"{"training": {"learning_rate": 1e999}}"#).is_err());
}

#[test]
fn of_methods_and_encoders() {
    let encoder = |settings: Value| method(json!({"encoder": settings}));
    let table = [
        (method(json!({"loss": {"name": "info-nce", "temperature": 0}})), "temperature is 0"),
        (method(json!({"loss": {"name": "info-nce", "temperature": -2}})), "temperature is -2"),
        (encoder(json!({"hidden_channels": 0})), "hidden_channels is 0"),
        (encoder(json!({"hidden_channels": 1_000_000_000_000u64})), "hidden_channels is 1000000000000"),
        (encoder(json!({"num_layers": 0})), "num_layers is 0"),
        (encoder(json!({"num_layers": 1_000_000_000})), "num_layers is 1000000000"),
        (encoder(json!({"dropout": 1})), "dropout is 1"),
        (encoder(json!({"dropout": -0.1})), "dropout is -0.1"),
        (encoder(json!({"name": "gin", "expansion": 0})), "expansion is 0"),
        (encoder(json!({"name": "gin", "expansion": 1e300})), "1e+300"),
        (encoder(json!({"name": "gin", "epsilon": 1e300})), "epsilon is inf"),
        (encoder(json!({"name": "gin", "dropout": 1})), "dropout is 1"),
        (method(json!({"contrast": {"name": "local-local", "anchors": 1}})), "anchors is 1"),
        (method(json!({"contrast": {"name": "global-global"}})), "contrast is global-global"),
        (method(json!({"negatives": "in-batch"})), "negatives is in-batch"),
        (
            method(json!({"readout": {"projector": "identity", "jumping_knowledge": "concatenate"}})),
            "projector is identity",
        ),
        (method(json!({"extra_propagation": 3, "encoder": {"name": "gin"}})), "extra_propagation is 3"),
        (method(json!({"extra_propagation": 1001})), "extra_propagation is 1001"),
        (
            json!({"method": {"name": "untrained", "extra_propagation": 3, "encoder": {"name": "gin"}}}),
            "extra_propagation is 3",
        ),
        (json!({"method": {"name": "dgi", "encoder": {"name": "gcn", "num_layers": 0}}}), "num_layers is 0"),
        (json!({"method": {"name": "supervised"}}), "labels is missing"),
    ];
    assert_refused(&table, &generate::karate_club(), TaskLevel::Nodes);
}

#[test]
fn of_views() {
    let scheme = |settings: Value| json!({"scheme": settings});
    let identity = json!({"name": "identity"});
    let table = [
        (scheme(json!({"name": "opposite", "ratio": -1})), "ratio is -1"),
        (scheme(json!({"name": "opposite", "k": 0})), "k is 0"),
        (scheme(json!({"name": "single", "start": "zero"})), "start is zero"),
        (scheme(json!({"name": "double", "start": "zero"})), "start is zero"),
        (scheme(json!({"name": "opposite", "noise": -1})), "noise is -1"),
        (scheme(json!({"name": "opposite", "step_size": {"name": "rate", "value": -1}})), "step_size is -1"),
        (scheme(json!({"name": "opposite", "step_size": {"name": "largest-change", "value": -1}})), "step_size is -1"),
        (scheme(json!({"name": "uniform", "first": {"remove": 1.5}})), "1.5"),
        (scheme(json!({"name": "centrality", "cutoff": 2})), "cutoff is 2"),
        (scheme(json!({"name": "diffusion", "kernel": {"name": "page-rank", "teleport": 7}})), "teleport"),
        (scheme(json!({"name": "diffusion", "neighbors": 0})), "neighbors is 0"),
        (scheme(json!({"name": "diffusion", "tolerance": 0})), "tolerance is 0"),
        (scheme(json!({"name": "clustered", "boost": 0.5})), "boost is 0.5"),
        (scheme(json!({"name": "graphcl", "ratio": 2})), "ratio"),
        (scheme(json!({"name": "oposite"})), "oposite"),
        (json!({"feature_masking": {"first": {"rate": 1.5}}}), "feature masking rate of the first view is 1.5"),
        (json!({"feature_masking": {"second": {"nodes": -1}}}), "node masking rate of the second view is -1"),
        (json!({"feature_masking": {"cutoff": 2}}), "cutoff is 2"),
        (json!({"views": [identity, identity], "scheme": {"name": "opposite"}}), "views is given in full and in short"),
        (json!({"views": [identity, identity], "feature_masking": {}}), "views is given in full and in short"),
        (json!({"views": [identity, identity, identity]}), "number of views is 3"),
        (json!({"views": [identity]}), "number of views is 1"),
        (json!({"views": []}), "number of views is 0"),
        (json!({"views": [identity, {"name": "drop-edges", "rate": 2}]}), "rate is 2"),
        (json!({"views": [identity, {"name": "scheme", "view": 2}]}), "view is 2"),
        (json!({"views": [identity, {"name": "one-of", "choices": []}]}), "number of choices is 0"),
        (json!({"views": [identity, {"name": "compose", "steps": [{"name": "mask-nodes", "rate": -1}]}]}), "-1"),
    ];
    assert_refused(&table, &generate::karate_club(), TaskLevel::Nodes);
    assert!(serde_json::from_str::<Settings>(r#"{"scheme": {"name": "opposite", "ratio": 1e999}}"#).is_err());
}

#[test]
fn of_sets_of_graphs() {
    let table = [
        (json!({"scheme": {"name": "diffusion"}}), "scheme is a diffusion"),
        (json!({"views": [{"name": "identity"}, {"name": "diffuse"}]}), "scheme is a diffusion"),
        (json!({"training": {"batch_size": 1}, "method": {"negatives": "in-batch"}}), "negatives is in-batch"),
        (
            json!({"training": {"batch_size": 1}, "method": {"contrast": {"name": "global-global"}}}),
            "contrast is global-global",
        ),
    ];
    assert_refused(&table, &rings(), TaskLevel::Graphs);
}

#[test]
fn unknown_keys_at_every_level() {
    let table: Vec<(Value, &str)> = [
        json!({"surprise": 1}),
        json!({"features": {"surprise": 1}}),
        json!({"training": {"surprise": 1}}),
        json!({"training": {"schedule": {"name": "cosine", "surprise": 1}}}),
        json!({"method": {"surprise": 1}}),
        json!({"method": {"encoder": {"surprise": 1}}}),
        json!({"method": {"encoder": {"name": "gin", "surprise": 1}}}),
        json!({"method": {"readout": {"surprise": 1}}}),
        json!({"method": {"loss": {"name": "info-nce", "surprise": 1}}}),
        json!({"method": {"loss": {"name": "jensen-shannon", "surprise": 1}}}),
        json!({"method": {"contrast": {"name": "local-local", "surprise": 1}}}),
        json!({"method": {"contrast": {"name": "local-global", "surprise": 1}}}),
        json!({"method": {"contrast": {"name": "global-global", "surprise": 1}}}),
        json!({"training": {"schedule": {"name": "constant", "surprise": 1}}}),
        json!({"method": {"name": "dgi", "surprise": 1}}),
        json!({"method": {"name": "raw", "surprise": 1}}),
        json!({"method": {"name": "untrained", "surprise": 1}}),
        json!({"method": {"name": "supervised", "surprise": 1}}),
        json!({"scheme": {"name": "opposite", "surprise": 1}}),
        json!({"scheme": {"name": "uniform", "first": {"surprise": 1}}}),
        json!({"scheme": {"name": "diffusion", "kernel": {"name": "page-rank", "teleport": 0.2, "surprise": 1}}}),
        json!({"feature_masking": {"surprise": 1}}),
        json!({"feature_masking": {"first": {"surprise": 1}}}),
        json!({"views": [{"name": "identity", "surprise": 1}, {"name": "identity"}]}),
        json!({"views": [{"name": "drop-edges", "surprise": 1}, {"name": "identity"}]}),
        json!({"views": [{"name": "compose", "steps": [{"name": "mask-nodes", "surprise": 1}]}, {"name": "identity"}]}),
    ]
    .into_iter()
    .map(|patch| (patch, "surprise"))
    .collect();
    assert_refused(&table, &generate::karate_club(), TaskLevel::Nodes);
}

#[test]
fn an_unknown_method_is_told_the_nearest() {
    for (name, nearest) in [("spam", "span"), ("dgi2", "dgi"), ("supervized", "supervised"), ("untraind", "untrained")]
    {
        let error = name.parse::<MethodSettings>().unwrap_err();
        let text = format!("{error} {}", error.hint().unwrap_or_default());
        assert!(text.contains(name) && text.contains(nearest), "{text}");
    }
    let error = reason(&json!({"method": {"name": "spam"}}), &generate::karate_club(), TaskLevel::Nodes).unwrap();
    assert!(error.contains("spam") && error.contains("span"), "{error}");
}
