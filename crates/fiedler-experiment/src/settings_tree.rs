//! Settings as a tree of keys, for whoever changes them by name: `training.epochs=200`.

use fiedler_learn::run::Settings;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// Keys that tell which of several settings these are; when one changes, what stands beside it gives way to the defaults of the other.
const TAGS: [&str; 1] = ["name"];

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

/// What a setting means, in one line, where somebody has said so.
pub fn doc(_key: &str) -> Option<&'static str> {
    // To be filled from the documentation of the settings' types.
    None
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
