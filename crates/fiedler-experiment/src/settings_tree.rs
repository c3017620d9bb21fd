//! Settings as a tree of keys, for whoever changes them by name: `training.epochs=200`.

use fiedler_learn::run::Settings;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// Keys that tell which of several settings these are; when one changes, what stands beside it gives way to the defaults of the other.
const TAGS: [&str; 1] = ["name"];

/// What settings mean, in one line each.
const DOCS: &[(&str, &str)] = &[
    ("seed", "seed of everything random"),
    ("device", "where the work is done"),
    ("features.normalize_rows", "scale every row of the features to sum to one"),
    ("features.degrees", "one-hot degrees up to this number serve where nodes have no features"),
    ("features.edges", "let encoders that can look at features of edges do so"),
    ("scheme.name", "which scheme views are drawn from"),
    ("scheme.operator", "whose spectrum: laplacian or propagation"),
    ("scheme.objective", "expected: norm of the expected graph, the paper's; sampled: expected norm of drawn graphs"),
    ("scheme.k", "lowest and highest eigenvalues that count; none for all"),
    ("scheme.ratio", "most flips in expectation, as a share of the edges (σ_e)"),
    ("scheme.max_probability", "most flip probability of a pair; below 1 views vary"),
    ("scheme.steps", "most gradient steps"),
    ("scheme.tolerance", "steps end when the first-order gap is this share of the gain"),
    ("scheme.start", "where the ascent starts: zero or uniform"),
    ("scheme.support", "which pairs may flip: auto, all, edges or candidates"),
    ("scheme.candidates", "non-edges considered for each node"),
    ("scheme.noise", "symmetric noise that keeps repeated eigenvalues apart"),
    ("scheme.memory", "bytes that all pairs, or a dense spectrum, may take"),
    ("scheme.seed", "seed of random starts, candidates and noise"),
    ("feature_masking.first.rate", "probability of hiding a column from the first view"),
    ("feature_masking.second.rate", "probability of hiding a column from the second view"),
    ("feature_masking.first.nodes", "share of nodes that lose all features in the first view"),
    ("feature_masking.second.nodes", "share of nodes that lose all features in the second view"),
    ("feature_masking.centrality", "hide columns of central nodes less often, as GCA does"),
    ("feature_masking.cutoff", "most probable hiding of a column, where columns differ"),
    ("method.name", "what is learned"),
    ("method.encoder.name", "gcn or gin"),
    ("method.encoder.hidden_channels", "width of every layer"),
    ("method.encoder.num_layers", "number of layers"),
    ("method.encoder.activation", "what follows every layer"),
    ("method.encoder.share_slope", "one learned slope for all layers"),
    ("method.encoder.batch_norm", "normalize each layer's output over the batch"),
    ("method.encoder.dropout", "probability of dropping a value"),
    ("method.encoder.expansion", "width of a GIN layer's MLP, as a multiple of hidden_channels"),
    ("method.encoder.epsilon", "ε of GIN"),
    ("method.encoder.train_eps", "learn ε"),
    ("method.share_encoder", "one encoder for both views"),
    ("method.readout.pooling", "how nodes become one vector a graph: sum, mean or max"),
    ("method.readout.jumping_knowledge", "which layers count: last or concatenate"),
    ("method.readout.sigmoid", "squeeze pooled values into 0 to 1 before the projector"),
    ("method.readout.projector", "identity, linear, mlp or mlp-elu before comparing"),
    ("method.loss.name", "info-nce or jensen-shannon"),
    ("method.loss.similarity", "cosine or dot"),
    ("method.loss.temperature", "similarities are divided by it"),
    ("method.contrast.name", "local-global, local-local or global-global"),
    ("method.negatives", "auto, corruption or in-batch"),
    ("method.embed_views", "embed two drawn views instead of the graph as it is"),
    ("method.extra_propagation", "smoothing of node embeddings after training: h + Âʳh"),
    ("method.pooling", "how nodes become one vector a graph"),
    ("training.epochs", "passes through the data"),
    ("training.batch_size", "graphs that a step looks at"),
    ("training.optimizer", "adam or adamw"),
    ("training.learning_rate", "learning rate at its highest"),
    ("training.weight_decay", "weight decay: L2 with adam, decoupled with adamw"),
    ("training.schedule.name", "constant or cosine"),
    ("training.patience", "epochs without a smaller loss after which training ends; none for never"),
    ("training.checkpoint_every", "epochs between two checkpoints"),
    ("training.min_relative_std", "embeddings that differ less than this have collapsed"),
];

/// Changes settings by assignments such as `training.epochs=200` or `method.encoder.dropout=0.5`, in their order.
///
/// Values have the syntax of TOML; a bare word is a string, and `none` leaves an optional setting out.
///
/// # Errors
/// When an assignment has no `=`, nobody knows its key, or its value is not one for the key.
pub fn assign<'a>(settings: &Settings, assignments: impl IntoIterator<Item = &'a str>) -> Result<Settings> {
    let mut settings = settings.clone();
    for assignment in assignments {
        settings = assign_one(&settings, assignment)?;
    }
    Ok(settings)
}

/// All settings by their keys, with their values as they would be assigned.
///
/// # Errors
/// When settings cannot be written down, which is a bug.
pub fn entries(settings: &Settings) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    collect("", &tree(settings)?, &mut found);
    Ok(found)
}

/// What a setting means, in one line, where that is written down.
pub fn doc(key: &str) -> Option<&'static str> {
    DOCS.iter().find(|(known, _)| *known == key).map(|(_, doc)| *doc)
}

fn tree(settings: &Settings) -> Result<Value> {
    serde_json::to_value(settings).map_err(|error| Error::unexpected("settings", error))
}

fn assign_one(settings: &Settings, assignment: &str) -> Result<Settings> {
    match assignment.split_once('=').map(|(key, text)| (key.trim(), text.trim())) {
        Some((key, text)) => assign_any(settings, key, values(text), text),
        None => {
            let hint = "write it as key=value, for example training.epochs=200".to_owned();
            Err(Error::new(ErrorKind::Usage, format!("{assignment:?} assigns nothing"), hint))
        }
    }
}

/// Changes one setting to a value.
///
/// # Errors
/// When nobody knows the key, or the value is not one for it.
pub fn assign_value(settings: &Settings, key: &str, value: Value) -> Result<Settings> {
    let text = value.to_string();
    assign_any(settings, key, vec![value], &text)
}

/// The settings with another method: what both know, such as the encoder, stays as it is.
///
/// # Errors
/// When there is no such method.
pub fn with_method(settings: &Settings, name: &str) -> Result<Settings> {
    if settings.method.name() == name {
        return Ok(settings.clone());
    }
    let before = tree(settings)?;
    let tag = TAGS.iter().find(|tag| before["method"].get(**tag).is_some()).copied().unwrap_or(TAGS[0]);
    let changed = assign_value(settings, &format!("method.{tag}"), name.into())?;
    let mut new = tree(&changed)?;
    if let Some(method) = new["method"].as_object_mut() {
        let old = &before["method"];
        for (key, value) in method.iter_mut().filter(|(key, _)| *key != tag) {
            // Pooling is part of the readout where there is one.
            if let Some(known) = old.get(key).or_else(|| old["readout"].get(key)) {
                *value = known.clone();
            }
        }
    }
    serde_json::from_value(new).map_err(|error| Error::unexpected("settings", error))
}

/// Takes the first of several values that fits.
fn assign_any(settings: &Settings, key: &str, values: Vec<Value>, text: &str) -> Result<Settings> {
    let path: Vec<&str> = key.split('.').collect();
    // The short form of views is changed from what the method usually has, where nothing is said of it.
    let is_of_views = matches!(path.first(), Some(&("scheme" | "feature_masking")));
    let before = if is_of_views { tree(&settings.resolved())? } else { tree(settings)? };
    let mut problem = None;
    for value in values {
        let mut tree = before.clone();
        if !put(&mut tree, &path, value) {
            return Err(unknown(key, &before, None));
        }
        match serde_json::from_value::<Settings>(tree) {
            Ok(settings) => return Ok(settings),
            Err(error) => problem = problem.or(Some(error.to_string())),
        }
    }
    let problem = problem.unwrap_or_default();
    if problem.starts_with("unknown field") {
        return Err(unknown(key, &before, Some(&problem)));
    }
    let hint = "`fiedler settings` lists all keys with values such as they take".to_owned();
    Err(Error::new(ErrorKind::Usage, format!("{key} cannot be {text}: {problem}"), hint))
}

/// What a text may stand for, likeliest first.
fn values(text: &str) -> Vec<Value> {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    let parsed = parsed.and_then(|mut table| table.remove("value")).and_then(|value| serde_json::to_value(value).ok());
    let mut values = vec![parsed.unwrap_or_else(|| Value::String(text.to_owned()))];
    if text == "none" {
        values.push(Value::Null);
    }
    values
}

/// Puts a value at the end of a path; false where the way there leads through something that has no keys. Settings that are left out of
/// the tree are made on the way.
fn put(tree: &mut Value, path: &[&str], value: Value) -> bool {
    let (Some(object), Some((key, below))) = (tree.as_object_mut(), path.split_first()) else { return false };
    if !below.is_empty() {
        let next = object.entry(*key).or_insert(Value::Null);
        if next.is_null() {
            *next = Value::Object(serde_json::Map::new());
        }
        return put(next, below, value);
    }
    let is_other = TAGS.contains(key) && object.get(*key).is_some_and(|now| now.is_string() && *now != value);
    if is_other {
        object.clear();
    }
    object.insert((*key).to_owned(), value);
    true
}

/// A key that nobody knows, with the nearest of those that are known: the ones in the tree, and those that `problem` lists.
fn unknown(key: &str, tree: &Value, problem: Option<&str>) -> Error {
    let mut known = Vec::new();
    collect("", tree, &mut known);
    let mut known: Vec<String> = known.into_iter().map(|(key, _)| key).collect();
    // Settings that are left out of the tree are named by the message: "unknown field `a`, expected one of `b`, `c`".
    let listed = problem.and_then(|problem| problem.split_once("expected")).map_or("", |(_, listed)| listed);
    let folder = key.rsplit_once('.').map_or(String::new(), |(folder, _)| format!("{folder}."));
    known.extend(listed.split('`').skip(1).step_by(2).map(|name| format!("{folder}{name}")));
    fiedler_graph::Error::unknown_name("setting", key, known.iter().map(String::as_str)).into()
}

fn collect(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                collect(&name, value, found);
            }
        }
        Value::Null => found.push((name.to_owned(), "none".into())),
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        other => found.push((name.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_learn::TaskLevel;
    use fiedler_learn::method::MethodSettings;

    use super::*;

    fn assigned(assignments: &[&str]) -> Result<Settings> {
        assign(&Settings::default(), assignments.iter().copied())
    }

    #[test]
    fn any_key_can_be_assigned() {
        let settings = assigned(&["training.epochs=7", "training.patience = 3", "scheme.ratio=0.125"]).unwrap();
        assert_eq!((settings.training.epochs, settings.training.patience), (7, Some(3)));
        assert_eq!(assign(&settings, ["training.patience=none"]).unwrap().training.patience, None);
        assert_eq!(assigned(&[]).unwrap(), Settings::default());
        let tag = entries(&Settings::default()).unwrap().into_iter().find(|(_, value)| value == "span").unwrap().0;
        let raw = assigned(&[&format!("{tag}=raw")]).unwrap();
        assert!(matches!(raw.method, MethodSettings::Raw(_)), "{raw:?}");
    }

    #[test]
    fn all_entries_can_be_assigned_to_what_they_are() {
        let settings = Settings::paper(TaskLevel::Graphs);
        let entries: Vec<String> =
            entries(&settings).unwrap().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(assign(&settings, entries.iter().map(String::as_str)).unwrap(), settings);
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest() {
        for (assignment, words) in [
            ("training.epoch=3", "training.epochs"),
            ("training.patient=3", "training.patience"),
            ("trainin.epochs=3", "training.epochs"),
            ("epochs", "key=value"),
            ("training.epochs=many", "many"),
            ("training=3", "training"),
        ] {
            let error = assigned(&[assignment]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{assignment}");
            assert!(error.in_one_line().contains(words), "{assignment}: {}", error.in_one_line());
        }
    }
}
