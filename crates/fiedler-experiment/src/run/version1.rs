//! Files of version 1: `run.json` and settings as they were written before the format had a number.
//!
//! Version 1 has kebab-case keys in settings, tags `kind` and `scheme`, and other words for some settings; version 2 has snake_case
//! keys, the tag `name`, and the words of the field. [`settings`] and [`run`] make the second out of the first; all that they know is in
//! the tables of this file.

use fiedler_learn::run::Settings;
use serde_json::{Map, Value};

use super::record::{FORMAT, RunRecord};

/// Keys that have another name or place: where they were, where they are. What is not named here stays where it was. `*` is one key.
const KEYS: &[(&str, &str)] = &[
    ("features.normalize-rows", "features.normalize_rows"),
    ("masking.*.columns", "feature_masking.*.rate"),
    ("masking", "feature_masking"),
    ("scheme.eigenvalues", "scheme.k"),
    ("method.encoders", "method.share_encoder"),
    ("method.embedding", "method.embed_views"),
    ("method.pairs.at-once", "method.contrast.anchors"),
    ("method.pairs", "method.contrast"),
    ("method.objective", "method.loss"),
    ("method.encoder.hidden", "method.encoder.hidden_channels"),
    ("method.encoder.layers", "method.encoder.num_layers"),
    ("method.encoder.nonlinearity", "method.encoder.activation"),
    ("method.encoder.learn-epsilon", "method.encoder.train_eps"),
    ("method.encoder.weighting", "method.encoder.normalization"),
    ("method.readout.pooling", "method.pooling"),
    ("method.readout.jumping", "method.jumping_knowledge"),
    ("method.readout.sigmoid", "method.sigmoid"),
    ("method.readout.head", "method.projector"),
    ("method.readout.reach", "method.extra_propagation"),
    ("training.collapse-below", "training.min_relative_std"),
    ("training.schedule.warm-up", "training.schedule.warmup"),
];

/// Tags that tell which of several settings these are; all of them are `name` now.
const TAGS: [&str; 2] = ["kind", "scheme"];

/// Values that are written otherwise: the key as it is now, the value that was, the value that is. As JSON.
const VALUES: &[(&str, &str, &str)] = &[
    ("method.share_encoder", "1", "true"),
    ("method.share_encoder", "2", "false"),
    ("method.embed_views", "\"clean\"", "false"),
    ("method.embed_views", "\"views\"", "true"),
    ("method.contrast.name", "\"node-graph\"", "\"local-global\""),
    ("method.contrast.name", "\"node-node\"", "\"local-local\""),
    ("method.contrast.name", "\"graph-graph\"", "\"global-global\""),
    ("method.encoder.activation", "\"prelu-by-column\"", "\"prelu-channelwise\""),
    ("method.encoder.normalization", "\"convolution\"", "\"symmetric\""),
    ("method.encoder.normalization", "\"sum\"", "\"none\""),
];

/// Keys of `run.json` outside of its settings.
const RECORD: &[(&str, &str)] = &[("data.reading", "data.options"), ("result.spread", "result.relative_std")];

/// Settings of version 1 as settings of version 2.
pub fn settings(old: Value) -> Value {
    let mut new = Value::Object(Map::new());
    for (path, value) in leaves(&old) {
        let path = renamed(&path);
        let value = changed(&path, value);
        put(&mut new, &path, value);
    }
    new
}

/// A `run.json` of version 1 as one of version 2.
pub fn run(old: Value) -> Value {
    let mut new = without_settings(old);
    if let Some(old) = new.get_mut("settings") {
        *old = settings(old.take());
    }
    new
}

/// All of a `run.json` but its settings.
fn without_settings(mut record: Value) -> Value {
    for (from, to) in RECORD {
        let (folder, key) = from.split_once('.').unwrap_or(("", from));
        let taken = record.get_mut(folder).and_then(Value::as_object_mut).and_then(|object| object.remove(key));
        if let Some(value) = taken {
            put(&mut record, &to.split('.').map(str::to_owned).collect::<Vec<_>>(), value);
        }
    }
    if let Some(record) = record.as_object_mut() {
        record.insert("format".into(), FORMAT.into());
    }
    record
}

/// The record in a `run.json` that has no number of a format.
pub(super) fn record(old: Value) -> serde_json::Result<RunRecord> {
    let as_they_are = serde_json::from_value(without_settings(old.clone()));
    as_they_are.or_else(|error| serde_json::from_value(run(old)).map_err(|_| error))
}

/// Settings of either version; the error is that of the settings as they are.
pub(crate) fn read_settings(tree: Value) -> serde_json::Result<Settings> {
    let as_they_are = serde_json::from_value(tree.clone());
    as_they_are.or_else(|error| serde_json::from_value(settings(tree)).map_err(|_| error))
}

/// Everything that is not an object, or an empty one, with the way to it.
fn leaves(tree: &Value) -> Vec<(Vec<String>, Value)> {
    match tree {
        Value::Object(object) if !object.is_empty() => {
            let of_key = |(key, value): (&String, &Value)| {
                let below = leaves(value).into_iter();
                let key = key.clone();
                below.map(move |(path, leaf)| ([vec![key.clone()], path].concat(), leaf)).collect::<Vec<_>>()
            };
            object.iter().flat_map(of_key).collect()
        }
        leaf => vec![(Vec::new(), leaf.clone())],
    }
}

/// Where a leaf is now: by the first row that names it or what it is in, then snake_case, then its tag.
fn renamed(path: &[String]) -> Vec<String> {
    let rule = KEYS.iter().find_map(|(from, to)| {
        let (from, to): (Vec<&str>, Vec<&str>) = (from.split('.').collect(), to.split('.').collect());
        let fits = from.len() <= path.len() && from.iter().zip(path).all(|(from, key)| *from == "*" || from == key);
        fits.then_some((from, to))
    });
    let mut new: Vec<String> = match rule {
        Some((from, to)) => {
            let mut stars = from.iter().zip(path).filter(|(from, _)| **from == "*").map(|(_, key)| key.clone());
            let begin = to.iter().map(|key| if *key == "*" { stars.next().unwrap_or_default() } else { (*key).into() });
            begin.chain(path[from.len()..].iter().cloned()).collect()
        }
        None => path.to_vec(),
    };
    new.iter_mut().for_each(|key| *key = key.replace('-', "_"));
    if new.len() > 1
        && let Some(last) = new.last_mut()
        && TAGS.contains(&last.as_str())
    {
        *last = "name".into();
    }
    new
}

fn changed(path: &[String], value: Value) -> Value {
    let (path, text) = (path.join("."), value.to_string());
    let rule = VALUES.iter().find(|(key, from, _)| *key == path && *from == text);
    rule.and_then(|(_, _, to)| serde_json::from_str(to).ok()).unwrap_or(value)
}

/// Puts a leaf into a tree, making what it is in.
fn put(tree: &mut Value, path: &[String], leaf: Value) {
    let Some((key, below)) = path.split_first() else {
        *tree = leaf;
        return;
    };
    if !tree.is_object() {
        *tree = Value::Object(Map::new());
    }
    if let Some(object) = tree.as_object_mut() {
        put(object.entry(key.clone()).or_insert(Value::Null), below, leaf);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    /// As the program wrote it at commit 532682b, for `fiedler embed --recipe citeseer-public` with nodes contrasted with nodes.
    fn version_1() -> Value {
        json!({
            "version": "0.1.0",
            "finished": true,
            "data": {
                "source": "citeseer",
                "reading": { "format": null, "features": null, "labels": null, "targets": [], "attributes": false, "unweighted": false },
                "name": "CiteSeer", "graphs": 1, "nodes": 3327, "edges": 4552,
                "fingerprint": "ab", "features_fingerprint": null,
            },
            "recipe": "citeseer-public",
            "settings": {
                "seed": 3,
                "features": { "normalize-rows": true, "degrees": 100, "edges": true },
                "scheme": {
                    "scheme": "opposite", "operator": "laplacian", "objective": "sampled", "eigenvalues": null, "ratio": 0.2,
                    "steps": 50, "step-size": { "largest-change": 0.5 }, "start": null, "support": "auto", "candidates": 10,
                    "noise": 1e-5, "memory": 1073741824, "seed": 3,
                },
                "masking": {
                    "first": { "columns": 0.4, "nodes": 0.0 }, "second": { "columns": 0.3, "nodes": 0.0 },
                    "centrality": null, "cutoff": 0.7,
                },
                "method": {
                    "kind": "span",
                    "encoder": {
                        "kind": "gcn", "hidden": 512, "layers": 1, "nonlinearity": "prelu-by-column", "share-slope": false,
                        "batch-norm": false, "dropout": 0.0,
                    },
                    "encoders": 2,
                    "readout": { "pooling": "mean", "jumping": "last", "sigmoid": true, "head": "linear", "reach": 2 },
                    "objective": { "kind": "info-nce", "similarity": "cosine", "temperature": 0.5 },
                    "pairs": { "kind": "node-node", "at-once": 256 },
                    "negatives": "auto",
                    "embedding": "clean",
                },
                "training": {
                    "epochs": 200, "batch-size": 32, "learning-rate": 3e-4, "weight-decay": 1e-5,
                    "schedule": { "kind": "cosine", "warm-up": 5 }, "patience": null, "checkpoint-every": 50, "collapse-below": 1e-4,
                },
            },
            "result": {
                "rows": 3327, "columns": 512, "epochs": 200, "first_loss": 1.0, "last_loss": 0.5, "best_epoch": null, "spread": 0.2,
                "scheme_seconds": 1.0, "training_seconds": 2.0, "threads": 2, "peak_bytes": 1, "scores": [],
            },
        })
    }

    #[test]
    fn a_run_of_version_1_becomes_one_of_version_2() {
        let new = run(version_1());
        assert_eq!(new["format"], 2);
        assert_eq!(
            (&new["data"]["options"]["attributes"], &new["result"]["relative_std"]),
            (&json!(false), &json!(0.2))
        );
        let settings = &new["settings"];
        assert_eq!(settings["features"], json!({ "normalize_rows": true, "degrees": 100, "edges": true }));
        assert_eq!(settings["scheme"]["name"], "opposite");
        assert_eq!(settings["scheme"]["k"], Value::Null);
        assert_eq!(settings["scheme"]["step_size"], json!({ "largest_change": 0.5 }));
        assert_eq!(settings["feature_masking"]["second"], json!({ "rate": 0.3, "nodes": 0.0 }));
        assert_eq!(settings["feature_masking"]["cutoff"], 0.7);
        let method = &settings["method"];
        assert_eq!(
            method["encoder"],
            json!({
                "name": "gcn", "hidden_channels": 512, "num_layers": 1, "activation": "prelu-channelwise", "share_slope": false,
                "batch_norm": false, "dropout": 0.0,
            })
        );
        assert_eq!(
            (&method["name"], &method["share_encoder"], &method["embed_views"]),
            (&json!("span"), &json!(false), &json!(false))
        );
        assert_eq!(method["contrast"], json!({ "name": "local-local", "anchors": 256 }));
        assert_eq!(method["loss"], json!({ "name": "info-nce", "similarity": "cosine", "temperature": 0.5 }));
        assert_eq!(
            [&method["pooling"], &method["jumping_knowledge"], &method["projector"], &method["extra_propagation"]],
            [&json!("mean"), &json!("last"), &json!("linear"), &json!(2)]
        );
        assert_eq!(settings["training"]["schedule"], json!({ "name": "cosine", "warmup": 5 }));
        assert_eq!(
            (&settings["training"]["min_relative_std"], &settings["training"]["batch_size"]),
            (&json!(1e-4), &json!(32))
        );
        for gone in ["\"masking", "readout", "kind", "-size", "hidden\"", "reading", "spread"] {
            assert!(!new.to_string().contains(gone), "{gone} is left in {new}");
        }
    }

    #[test]
    fn nothing_is_lost_on_the_way() {
        let old = version_1()["settings"].take();
        assert_eq!(leaves(&old).len(), leaves(&settings(old)).len());
    }

    #[test]
    fn a_record_of_version_1_can_be_read() {
        let record = record(version_1()).unwrap();
        assert_eq!((record.format, record.recipe.as_deref()), (FORMAT, Some("citeseer-public")));
        assert_eq!(record.settings.training.epochs, 200);
        assert_eq!(record.result.map(|result| result.relative_std), Some(0.2));
    }
}
