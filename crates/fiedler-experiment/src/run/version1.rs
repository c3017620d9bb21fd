//! `run.json` and settings as the first version of the program wrote them, brought to what they are today.
//!
//! What was renamed inside settings is known to those who own them: `fiedler_learn::version1` and `fiedler_augment::version1`.

use fiedler_augment::version1::rename;
use fiedler_learn::run::Settings;
use fiedler_learn::version1::upgrade_settings;
use serde_json::Value;

use super::record::{FORMAT, RunRecord};

/// Settings of this version or of the first.
///
/// # Errors
/// When they are neither.
pub fn read_settings(mut settings: Value) -> serde_json::Result<Settings> {
    upgrade_settings(&mut settings);
    serde_json::from_value(settings)
}

/// A whole `run.json` of version 1.
pub(crate) fn record(mut record: Value) -> serde_json::Result<RunRecord> {
    if let Value::Object(record) = &mut record {
        record.insert("format".to_owned(), FORMAT.into());
        record.get_mut("settings").into_iter().for_each(upgrade_settings);
        if let Some(Value::Object(data)) = record.get_mut("data") {
            rename(data, "reading", "options");
        }
        if let Some(Value::Object(result)) = record.get_mut("result") {
            rename(result, "spread", "relative_std");
        }
    }
    serde_json::from_value(record)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    /// As version 0.1.0 wrote it, for `fiedler embed --recipe citeseer-public` with nodes contrasted with nodes.
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
    fn a_record_of_version_1_can_be_read() {
        let record = record(version_1()).unwrap();
        assert_eq!((record.format, record.recipe.as_deref()), (FORMAT, Some("citeseer-public")));
        assert_eq!(record.settings.training.epochs, 200);
        assert_eq!(record.result.map(|result| result.relative_std), Some(0.2));
    }
}
