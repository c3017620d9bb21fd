//! Settings and tensors as the first version of our files had them, brought to what they are today.

use fiedler_augment::version1::{rename, snake_case_keys, upgrade_masking, upgrade_scheme};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::state_dict::StateDict;

/// All settings of a run.
pub fn upgrade_settings(value: &mut Value) {
    let Value::Object(settings) = value else { return };
    settings.get_mut("scheme").into_iter().for_each(upgrade_scheme);
    rename(settings, "masking", "feature_masking");
    settings.get_mut("feature_masking").into_iter().for_each(upgrade_masking);
    settings.get_mut("method").into_iter().for_each(upgrade_method);
    settings.get_mut("features").into_iter().for_each(snake_case_keys);
    if let Some(training) = settings.get_mut("training") {
        if let Value::Object(training) = training {
            rename(training, "collapse-below", "min_relative_std");
            if let Some(Value::Object(schedule)) = training.get_mut("schedule") {
                rename(schedule, "kind", "name");
                rename(schedule, "warm-up", "warmup");
            }
        }
        snake_case_keys(training);
    }
    snake_case_keys(value);
}

/// The settings of a method.
pub fn upgrade_method(value: &mut Value) {
    let Value::Object(method) = value else { return };
    rename(method, "kind", "name");
    if let Some(Value::Object(encoder)) = method.get_mut("encoder") {
        for (from, to) in [
            ("kind", "name"),
            ("hidden", "hidden_channels"),
            ("layers", "num_layers"),
            ("nonlinearity", "activation"),
            ("learn-epsilon", "train_eps"),
        ] {
            rename(encoder, from, to);
        }
        if encoder.get("activation") == Some(&json!("prelu-by-column")) {
            encoder.insert("activation".to_owned(), json!("prelu-channelwise"));
        }
    }
    let mut extra = None;
    if let Some(Value::Object(readout)) = method.get_mut("readout") {
        rename(readout, "jumping", "jumping_knowledge");
        rename(readout, "head", "projector");
        extra = readout.remove("reach");
    }
    let propagates = matches!(method.get("name").and_then(Value::as_str), Some("span" | "untrained"));
    if let Some(extra) = extra.filter(|_| propagates) {
        method.insert("extra_propagation".to_owned(), extra);
    }
    if let Some(count) = method.remove("encoders") {
        method.insert("share_encoder".to_owned(), json!(count != json!(2)));
    }
    if let Some(embedding) = method.remove("embedding") {
        method.insert("embed_views".to_owned(), json!(embedding == json!("views")));
    }
    rename(method, "objective", "loss");
    rename(method, "pairs", "contrast");
    for key in ["loss", "contrast"] {
        if let Some(Value::Object(inner)) = method.get_mut(key) {
            rename(inner, "kind", "name");
            rename(inner, "at-once", "anchors");
            rename_contrast(inner);
        }
    }
    if method.get("negatives") == Some(&json!("shuffled")) {
        method.insert("negatives".to_owned(), json!("corruption"));
    }
    snake_case_keys(value);
}

fn rename_contrast(contrast: &mut Map<String, Value>) {
    let name = match contrast.get("name").and_then(Value::as_str) {
        Some("node-graph") => "local-global",
        Some("node-node") => "local-local",
        Some("graph-graph") => "global-global",
        _ => return,
    };
    contrast.insert("name".to_owned(), json!(name));
}

/// What stands beside the weights of a saved encoder.
pub(crate) fn upgrade_encoder(about: &mut Value) {
    let Value::Object(object) = about else { return };
    object.insert("version".to_owned(), json!(2));
    object.get_mut("features").into_iter().for_each(snake_case_keys);
    let mut classes = None;
    if let Some(method) = object.get_mut("method") {
        upgrade_method(method);
        classes = method.as_object_mut().and_then(|method| method.remove("classes"));
    }
    if let Some(classes) = classes {
        object.insert("target".to_owned(), json!({"name": "classes", "count": classes}));
    }
}

/// The name that a tensor has today.
pub(crate) fn tensor_name(name: &str) -> String {
    let parts = name.split('.').collect::<Vec<_>>();
    let normalizes = parts.len() > 1 && parts[parts.len() - 2].ends_with("norm");
    let renamed = parts.iter().enumerate().map(|(at, &part)| match part {
        "bends" => "activations",
        "answer" if at == 0 => "output",
        "mean" if normalizes && at + 1 == parts.len() => "running_mean",
        "variance" if normalizes && at + 1 == parts.len() => "running_var",
        part => part,
    });
    renamed.collect::<Vec<_>>().join(".")
}

/// The discriminator of DGI, as files of either version may have it: a matrix without a bias.
const DISCRIMINATOR: &str = "discriminator";

/// Weights as they are today: the discriminator of DGI once had no bias.
pub(crate) fn upgrade_weights(weights: StateDict) -> Result<StateDict> {
    if weights.shape(DISCRIMINATOR).is_none() {
        return Ok(weights);
    }
    let name = |name: &str| if name == DISCRIMINATOR { format!("{name}.weight") } else { name.to_owned() };
    let mut weights = weights.renamed(name);
    weights.insert(format!("{DISCRIMINATOR}.bias"), vec![1], vec![0.0])?;
    Ok(weights)
}

/// What an optimizer remembers of such weights; of a bias that is new it remembers nothing.
pub(crate) fn upgrade_moments(moments: StateDict) -> StateDict {
    moments.renamed(|name| match name.strip_prefix(DISCRIMINATOR) {
        Some(moment @ (".first" | ".second")) => format!("{DISCRIMINATOR}.weight{moment}"),
        _ => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{ContrastMode, MethodSettings};
    use crate::run::Settings;

    #[test]
    fn settings_of_the_first_version_are_understood() {
        let mut old = json!({
            "seed": 3,
            "features": {"normalize-rows": true},
            "scheme": {"scheme": "opposite", "ratio": 0.2, "step-size": {"largest-change": 0.5}},
            "masking": {"first": {"columns": 0.4, "nodes": 0.1}, "second": {"columns": 0.2}},
            "method": {
                "kind": "span",
                "encoder": {"kind": "gcn", "hidden": 64, "layers": 3, "nonlinearity": "prelu-by-column", "share-slope": true},
                "encoders": 2,
                "readout": {"pooling": "mean", "jumping": "concatenate", "head": "mlp", "reach": 2},
                "objective": {"kind": "info-nce", "temperature": 0.5},
                "pairs": {"kind": "node-node", "at-once": 99},
                "negatives": "shuffled",
                "embedding": "views",
            },
            "training": {"epochs": 7, "batch-size": 4, "collapse-below": 0.001, "schedule": {"kind": "cosine", "warm-up": 2}},
        });
        upgrade_settings(&mut old);
        let settings: Settings = serde_json::from_value(old).unwrap();
        let MethodSettings::Span(span) = &settings.method else { panic!("another method") };
        assert_eq!((span.extra_propagation, span.share_encoder, span.embed_views), (2, false, true));
        assert_eq!(span.contrast, ContrastMode::LocalLocal { anchors: 99 });
        assert_eq!(settings.feature_masking.unwrap().first.rate, 0.4);
        assert_eq!(settings.training.min_relative_std, 0.001);
        let mut today = serde_json::to_value(&settings).unwrap();
        let before = today.clone();
        upgrade_settings(&mut today);
        assert_eq!(today, before);
    }

    #[test]
    fn tensors_of_the_first_version_are_found() {
        for (old, new) in [
            ("encoders.0.Gcn.bends.1.slope", "encoders.0.Gcn.activations.1.slope"),
            ("encoder.Gin.layers.0.inner_norm.mean", "encoder.Gin.layers.0.inner_norm.running_mean"),
            ("encoder.Gin.layers.0.norm.variance", "encoder.Gin.layers.0.norm.running_var"),
            ("answer.weight", "output.weight"),
            ("readout.mlp.first.bias", "readout.mlp.first.bias"),
        ] {
            assert_eq!(tensor_name(old), new);
        }
    }
}
