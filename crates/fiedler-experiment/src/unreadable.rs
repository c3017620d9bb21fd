//! Which key of a tree cannot be read, and why: serde's messages tell neither, once settings are told apart by their names.

use serde_json::{Value, json};

use crate::error::{Error, ErrorKind};

/// Keys that tell which of several things these are: what stands beside them cannot be read without.
const TAG: &str = "name";
/// In larger trees, which no program of ours writes, nobody is looked for.
const MOST_NODES: usize = 500;

/// A tree that could not be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unreadable {
    /// The key to blame and its value, where it can be told.
    culprit: Option<(String, Value)>,
    problem: String,
}

/// Reads a tree; where that fails, tells which key is to blame: the one that reading succeeds without, or with another value.
pub(crate) fn read<T>(tree: Value, read: impl Fn(Value) -> serde_json::Result<T>) -> Result<T, Unreadable> {
    let problem = match read(tree.clone()) {
        Ok(found) => return Ok(found),
        Err(error) => error.to_string(),
    };
    let mut paths = Vec::new();
    collect(&tree, &mut Vec::new(), &mut paths);
    // The longer a path, the more it tells.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    // What is read of the tree with something else at a path, or with nothing.
    let with = |path: &[String], other: Option<Value>| {
        let mut changed = tree.clone();
        put(&mut changed, path, other).then(|| read(changed).map(drop).map_err(|error| error.to_string()))
    };
    let mends = |path: &&Vec<String>| {
        let others = [json!(0), json!(""), json!(false), json!([]), json!({})].map(Some);
        std::iter::once(None).chain(others).any(|other| with(path, other) == Some(Ok(())))
    };
    // Where there are several problems, without the first one another is told of.
    let changes = |path: &&Vec<String>| {
        let found = with(path, None).and_then(Result::err);
        found.is_some_and(|other| other != problem && !other.starts_with("missing field"))
    };
    let is_tag = |path: &Vec<String>| path.last().is_some_and(|key| key == TAG);
    let wrong_tag = paths.iter().find(|path| {
        let word = tree.pointer(&pointer(path)).and_then(Value::as_str);
        is_tag(path) && word.is_some_and(|word| problem.starts_with(&format!("unknown variant `{word}`")))
    });
    // A table is to blame only where nothing in it is.
    let is_table = |path: &Vec<String>| tree.pointer(&pointer(path)).is_some_and(Value::is_object);
    let among = |tables: bool| {
        let these = || paths.iter().filter(|path| !is_tag(path) && is_table(path) == tables);
        these().find(mends).or_else(|| these().find(changes))
    };
    let found = || if paths.len() > MOST_NODES { None } else { among(false).or_else(|| among(true)) };
    let culprit = wrong_tag.or_else(found);
    let named = |path: &Vec<String>| (path.join("."), tree.pointer(&pointer(path)).cloned().unwrap_or_default());
    Err(Unreadable { culprit: culprit.map(named), problem })
}

impl Unreadable {
    /// What is wrong, with key, value and what is allowed.
    pub(crate) fn message(&self) -> String {
        match (&self.culprit, self.unknown_name()) {
            // A key that nobody knows is named by itself; of a choice, the key is told too.
            (Some((key, _)), Some(unknown)) if self.problem.starts_with("unknown variant") => {
                format!("{key}: {unknown}")
            }
            (_, Some(unknown)) => unknown.to_string(),
            (Some((key, Value::Object(_))), None) => format!("{key}: {}", self.problem),
            (Some((key, value)), None) => format!("{key} cannot be {}: {}", in_short(value), self.problem),
            (None, None) => self.problem.clone(),
        }
    }

    /// The nearest key, or value, that is known.
    pub(crate) fn hint(&self) -> Option<String> {
        self.unknown_name().and_then(|unknown| unknown.hint())
    }

    /// As an error of its own.
    pub(crate) fn in_file(self, name: &str, kind: ErrorKind, hint: &str) -> Error {
        let hint = self.hint().unwrap_or_else(|| hint.to_owned());
        Error::new(kind, format!("{name}: {}", self.message()), hint)
    }

    /// A key or a choice that nobody knows, with those that are known.
    fn unknown_name(&self) -> Option<fiedler_graph::Error> {
        let (key, _) = self.culprit.as_ref()?;
        self.unknown_key(key).or_else(|| unknown_choice(key, &self.problem))
    }

    fn unknown_key(&self, key: &str) -> Option<fiedler_graph::Error> {
        // "unknown field `a`, expected one of `b`, `c`"
        let (_, listed) = self.problem.strip_prefix("unknown field ")?.split_once("expected")?;
        let folder = key.rsplit_once('.').map_or(String::new(), |(folder, _)| format!("{folder}."));
        let known: Vec<String> = in_quotes(listed).map(|name| format!("{folder}{name}")).collect();
        Some(fiedler_graph::Error::unknown_name("setting", key, known.iter().map(String::as_str)))
    }
}

/// What serde says of a word that is none of a few, as an error with the nearest of them; `None` where it says something else.
pub(crate) fn unknown_choice(key: &str, problem: &str) -> Option<fiedler_graph::Error> {
    // "unknown variant `a`, expected one of `b`, `c`"
    let (word, listed) = problem.strip_prefix("unknown variant `")?.split_once("`, expected")?;
    // The name of a method is what tells methods apart: it is spoken of as a method.
    let key = key.strip_suffix(TAG).and_then(|folder| folder.strip_suffix('.')).unwrap_or(key);
    let kind = key.rsplit('.').next().unwrap_or(key);
    Some(fiedler_graph::Error::unknown_name(kind, word, in_quotes(listed)))
}

fn in_quotes(listed: &str) -> impl Iterator<Item = &str> {
    listed.split('`').skip(1).step_by(2)
}

/// A value as it stands in a message.
fn in_short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// All keys of a tree, those of tables too.
fn collect(tree: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let children: Vec<(String, &Value)> = match tree {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in children {
        if paths.len() > MOST_NODES {
            return;
        }
        path.push(key);
        paths.push(path.clone());
        collect(value, path, paths);
        path.pop();
    }
}

/// Puts a value at a path of a tree, or takes the key out; an item of a list stays, since others would change their places.
fn put(tree: &mut Value, path: &[String], value: Option<Value>) -> bool {
    let Some((key, folder)) = path.split_last() else { return false };
    match (tree.pointer_mut(&pointer(folder)), value) {
        (Some(Value::Object(object)), Some(value)) => object.insert(key.clone(), value).is_some(),
        (Some(Value::Object(object)), None) => object.remove(key).is_some(),
        _ => false,
    }
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_learn::run::Settings;

    use super::*;

    fn refused(tree: Value) -> (String, String) {
        let error = read(tree, serde_json::from_value::<Settings>).unwrap_err();
        (error.message(), error.hint().unwrap_or_default())
    }

    #[test]
    fn the_key_to_blame_is_named() {
        let gcn = |key: &str, value: Value| json!({"method": {"name": "span", "encoder": {"name": "gcn", key: value}}});
        for (tree, message, hint) in [
            (json!({"training": {"epochs": -1, "patience": 3}}), "training.epochs cannot be -1: ", ""),
            (json!({"training": {"epoch": 3}}), "\"training.epoch\"", "did you mean training.epochs?"),
            (json!({"trainin": {"epochs": 3}}), "\"trainin\"", "did you mean training?"),
            (gcn("num_layers", json!("two")), "method.encoder.num_layers cannot be \"two\": ", ""),
            (gcn("hiden", json!(2)), "\"method.encoder.hiden\"", "did you mean method.encoder.hidden_channels?"),
            (json!({"method": {"name": "spam"}}), "method.name: no method is called \"spam\"", "did you mean span?"),
            (gcn("name", json!("gcm")), "method.encoder.name: no encoder is called \"gcm\"", "did you mean gcn?"),
            (json!({"method": {"encoder": {"dropout": 0.5}}}), "method: missing field `name`", ""),
            (json!({"views": [{"name": "drop-edges", "rat": 1}]}), "\"views.0.rat\"", "did you mean views.0.rate?"),
            (json!({"views": 3}), "views cannot be 3: ", ""),
            // Of two, the first that reading comes across.
            (json!({"training": {"epochs": -1, "batch_size": "x"}}), "training.batch_size cannot be \"x\": ", ""),
        ] {
            let found = refused(tree.clone());
            assert!(found.0.contains(message) && found.1.contains(hint), "{tree}: {found:?}");
        }
    }

    #[test]
    fn nobody_is_looked_for_in_a_tree_without_end() {
        let views: Vec<Value> = (0..100_000).map(|_| json!({"name": "identity", "surprise": 1})).collect();
        let (message, _) = refused(json!({"views": views}));
        assert!(message.contains("surprise"), "{message}");
    }
}
