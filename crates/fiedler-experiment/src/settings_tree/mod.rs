//! Settings as a tree of keys, for whoever changes them by name: `training.epochs=200`.

mod schema;

use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::recipe;
use crate::unreadable;

pub use schema::SettingEntry;

/// Key that tells which of several settings these are; when it changes, what stands beside it gives way to the defaults of the other.
const TAG: &str = "name";
/// What stands for an optional setting that is left out.
const NONE: &str = "none";

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

/// All settings by their keys, with their values as they would be assigned, what they may be and what they mean.
///
/// # Errors
/// When settings cannot be written down, which is a bug.
pub fn entries(settings: &Settings) -> Result<Vec<SettingEntry>> {
    Ok(schema::Walk::new(settings, &tree(settings)?).entries())
}

/// The settings that a method, a scheme and a recipe come to by themselves: to be listed, or to start from.
///
/// # Errors
/// When one of them is not known, or the method draws no views from a scheme.
pub fn defaults(method: Option<&str>, scheme: Option<&str>, recipe: Option<&str>) -> Result<Settings> {
    let mut settings = match (recipe, method) {
        (Some(name), _) => recipe::get(name)?.settings,
        // A method that recommends how to train it has defaults of its own.
        (None, Some(method)) => recipe::find(method)?.map_or_else(Settings::default, |recipe| recipe.settings),
        (None, None) => Settings::default(),
    };
    if let Some(method) = method {
        settings = with_method(&settings, method)?;
    }
    match scheme {
        Some(scheme) => with_scheme(&settings, scheme),
        None => Ok(settings),
    }
}

/// Whether these settings have such a key, or a group of settings under it.
///
/// # Errors
/// When settings cannot be written down, which is a bug.
pub fn knows(settings: &Settings, key: &str) -> Result<bool> {
    Ok(schema::knows(&tree(&settings.resolved())?, key))
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

/// Changes settings of any kind, such as those of an attack, by an assignment.
///
/// # Errors
/// As [`assign`].
pub fn assign_to<T: Serialize + DeserializeOwned>(settings: &T, assignment: &str) -> Result<T> {
    let Some((key, text)) = assignment.split_once('=').map(|(key, text)| (key.trim(), text.trim())) else {
        let hint = "write it as key=value, for example seed=1".to_owned();
        return Err(Error::new(ErrorKind::Usage, format!("{assignment:?} assigns nothing"), hint));
    };
    let before = serde_json::to_value(settings).map_err(|error| Error::unexpected("settings", error))?;
    let path: Vec<&str> = key.split('.').collect();
    let mut problem = String::new();
    for value in values(text) {
        let mut tree = before.clone();
        let put = put(&mut tree, &path, value);
        match serde_json::from_value(tree) {
            Ok(settings) if put => return Ok(settings),
            Ok(_) => problem = format!("unknown field `{key}`"),
            Err(error) => problem = error.to_string(),
        }
    }
    if let Some(choice) = unreadable::unknown_choice(key, &problem) {
        return Err(Error::new(ErrorKind::Usage, format!("{key}: {choice}"), choice.hint()));
    }
    if problem.starts_with("unknown field") {
        let mut known = Vec::new();
        keys(&before, "", &mut known);
        return Err(fiedler_graph::Error::unknown_name("setting", key, known.iter().map(String::as_str)).into());
    }
    Err(Error::new(ErrorKind::Usage, format!("{key} cannot be {text}: {problem}"), None))
}

/// All keys of a tree but the tag, with those they stand under.
fn keys(tree: &Value, prefix: &str, to: &mut Vec<String>) {
    for (key, value) in tree.as_object().into_iter().flatten().filter(|(key, _)| *key != TAG) {
        match value {
            Value::Object(_) => keys(value, &format!("{prefix}{key}."), to),
            _ => to.push(format!("{prefix}{key}")),
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
    let known = || MethodSettings::ALL.iter().map(|method| method.name);
    if !known().any(|method| method == name) {
        return Err(fiedler_graph::Error::unknown_name("method", name, known()).into());
    }
    let before = tree(settings)?;
    let changed = assign_value(settings, "method.name", name.into())?;
    let mut new = tree(&changed)?;
    if let Some(method) = new["method"].as_object_mut() {
        let old = &before["method"];
        for (key, value) in method.iter_mut().filter(|(key, _)| *key != TAG) {
            // Pooling is part of the readout where there is one.
            if let Some(known) = old.get(key).or_else(|| old["readout"].get(key)) {
                take_over(value, known);
            }
        }
    }
    serde_json::from_value(new).map_err(|error| Error::unexpected("settings", error))
}

/// Takes what is known over; of two tables that are not choices by name, what both have.
fn take_over(value: &mut Value, known: &Value) {
    match (value.as_object_mut(), known.as_object()) {
        (Some(table), Some(known)) if !table.contains_key(TAG) && !known.contains_key(TAG) => {
            let common = table.iter_mut().filter_map(|(key, value)| Some((value, known.get(key)?)));
            common.for_each(|(value, known)| take_over(value, known));
        }
        (Some(table), Some(known)) if table.contains_key(TAG) != known.contains_key(TAG) => {}
        _ => *value = known.clone(),
    }
}

/// The settings with another scheme: what both know, such as the budget, stays as it is.
///
/// # Errors
/// When there is no such scheme, or the method draws no views from one.
pub fn with_scheme(settings: &Settings, name: &str) -> Result<Settings> {
    if !settings.method.as_any().takes_scheme() {
        let message = format!("the method {} draws no views from a scheme", settings.method.name());
        let hint = "leave the scheme out, or choose another method".to_owned();
        return Err(Error::new(ErrorKind::Usage, message, hint));
    }
    let scheme = settings.scheme_or_usual().with_name(name)?;
    Ok(Settings { scheme: Some(scheme), ..settings.clone() })
}

/// Takes the first of several values that fits.
fn assign_any(settings: &Settings, key: &str, values: Vec<Value>, text: &str) -> Result<Settings> {
    let path: Vec<&str> = key.split('.').collect();
    // The short form of views is changed from what the method usually has, where nothing is said of it.
    let is_of_views = matches!(path.first(), Some(&("scheme" | "feature_masking")));
    let resolved = if is_of_views { settings.resolved() } else { settings.clone() };
    let before = tree(&resolved)?;
    let mut problem = None;
    for value in values {
        let mut tree = before.clone();
        // Views in full take the place of their short form.
        if let (Some(&"views"), false, Some(object)) = (path.first(), value.is_null(), tree.as_object_mut()) {
            object.retain(|key, _| key != "scheme" && key != "feature_masking");
        }
        if !put(&mut tree, &path, value) {
            return Err(unknown(key, &resolved, &before));
        }
        match serde_json::from_value::<Settings>(tree) {
            Ok(settings) => return Ok(settings),
            Err(error) => problem = Some(error.to_string()),
        }
    }
    let problem = problem.unwrap_or_default();
    if problem.starts_with("unknown field") {
        return Err(unknown(key, &resolved, &before));
    }
    if let Some(choice) = unreadable::unknown_choice(key, &problem) {
        return Err(Error::new(ErrorKind::Usage, format!("{key}: {choice}"), choice.hint()));
    }
    let hint = "`fiedler settings` lists all keys with values such as they take".to_owned();
    Err(Error::new(ErrorKind::Usage, format!("{key} cannot be {text}: {problem}"), hint))
}

/// What a text may stand for, likeliest first.
fn values(text: &str) -> Vec<Value> {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    let parsed = parsed.and_then(|mut table| table.remove("value")).and_then(|value| serde_json::to_value(value).ok());
    let word = parsed.unwrap_or_else(|| Value::String(text.to_owned()));
    if text == NONE { vec![Value::Null, word] } else { vec![word] }
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
    let is_other = *key == TAG && object.get(*key).is_some_and(|now| now.is_string() && *now != value);
    if is_other {
        object.clear();
    }
    object.insert((*key).to_owned(), value);
    true
}

/// Why a word is none of those that a value may be, with the nearest of them: what serde found, in our words.
pub fn explain_choice(key: &str, problem: &str) -> Option<String> {
    let choice = unreadable::unknown_choice(key, problem)?;
    Some(choice.hint().map_or_else(|| choice.to_string(), |hint| format!("{choice}; {hint}")))
}

/// A key that nobody knows, with the nearest of those that are known.
fn unknown(key: &str, settings: &Settings, tree: &Value) -> Error {
    let known = schema::Walk::new(settings, tree).entries();
    fiedler_graph::Error::unknown_name("setting", key, known.iter().map(|entry| entry.key.as_str())).into()
}

/// A value as it would be assigned.
fn text(value: &Value) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_augment::SchemeSettings;
    use fiedler_learn::TaskLevel;

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
        let raw = assigned(&["method.name=raw"]).unwrap();
        assert!(matches!(raw.method, MethodSettings::Raw(_)), "{raw:?}");
    }

    /// The settings of every method, and of every scheme with a method that draws views.
    fn all() -> Vec<Settings> {
        let methods = MethodSettings::ALL.iter().flat_map(|method| {
            let levels = [TaskLevel::Nodes, TaskLevel::Graphs].map(Settings::paper);
            levels.map(|settings| with_method(&settings, method.name).unwrap())
        });
        let schemes = SchemeSettings::ALL.iter().map(|(name, _)| with_scheme(&Settings::default(), name).unwrap());
        let others = [
            "training.schedule.name=cosine",
            "method.contrast.name=local-local",
            "method.loss.name=jensen-shannon",
            "scheme.step_size={name='rate', value=2.0}",
        ];
        let others = others.iter().map(|assignment| assigned(&[assignment]).unwrap());
        methods.chain(schemes).chain(others).map(|settings| settings.resolved()).collect()
    }

    #[test]
    fn all_entries_can_be_assigned_to_what_they_are() {
        for settings in all() {
            let assignments: Vec<String> =
                entries(&settings).unwrap().iter().map(|entry| format!("{}={}", entry.key, entry.value)).collect();
            assert_eq!(assign(&settings, assignments.iter().map(String::as_str)).unwrap(), settings, "{assignments:?}");
        }
    }

    #[test]
    fn every_key_of_every_method_and_scheme_is_documented() {
        for settings in all() {
            for SettingEntry { key, doc, choices, value } in entries(&settings).unwrap() {
                assert!(doc.len() > 3, "{key} of {} has no doc comment", settings.method.name());
                assert!(doc.chars().count() < 140, "the first sentence on {key} is long: {doc}");
                assert!(!doc.starts_with("See "), "{key}: {doc}");
                assert!(choices.is_empty() || choices.contains(&value), "{key} = {value}, not of {choices:?}");
                assert!(knows(&settings, &key).unwrap(), "{key}");
            }
        }
    }

    #[test]
    fn settings_that_files_leave_out_are_listed() {
        let found = entries(&Settings::default().resolved()).unwrap();
        let entry = |key: &str| found.iter().find(|entry| entry.key == key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(entry("method.contrast.name").value, "local-global");
        assert_eq!(entry("method.contrast.name").choices, ["local-global", "local-local", "global-global"]);
        assert_eq!(entry("method.extra_propagation").value, "0");
        assert_eq!(entry("scheme.step_size_down").value, "none");
        assert_eq!(entry("scheme.start").choices, ["zero", "uniform", "none"]);
        assert_eq!(entry("views").value, "none");
        let names: Vec<&str> = MethodSettings::ALL.iter().map(|method| method.name).collect();
        assert_eq!(entry("method.name").choices, names);
    }

    #[test]
    fn groups_and_keys_are_known() {
        let settings = Settings::default();
        for (key, is_known) in [
            ("scheme.ratio", true),
            ("scheme.step_size", true),
            ("scheme.step_size_down", true),
            ("scheme.kernel", false),
            ("method.encoder.hidden_channels", true),
            ("method.encoder.expansion", false),
            ("method.contrast.name", true),
            ("method.loss.margin", false),
            ("training", true),
            ("nothing", false),
        ] {
            assert_eq!(knows(&settings, key).unwrap(), is_known, "{key}");
        }
        // Methods whose settings are those of another type.
        for method in ["grace", "gca"] {
            let settings = with_method(&settings, method).unwrap();
            assert!(knows(&settings, "method.encoder.hidden_channels").unwrap(), "{method}");
            let keys: Vec<String> = entries(&settings).unwrap().into_iter().map(|entry| entry.key).collect();
            assert!(keys.contains(&"method.temperature".to_owned()), "{method}: {keys:?}");
        }
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
            ("method.name=sapn", "did you mean span?"),
            ("method.encoder.name=gcm", "did you mean gcn?"),
            ("scheme.name=oposite", "did you mean opposite?"),
            ("embedding.beside=hop", "did you mean hops?"),
            ("method.loss.name=infonce", "did you mean info-nce?"),
        ] {
            let error = assigned(&[assignment]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{assignment}");
            assert!(error.in_one_line().contains(words), "{assignment}: {}", error.in_one_line());
            assert!(!error.in_one_line().contains("variant"), "{assignment}: {}", error.in_one_line());
        }
        let error = with_method(&Settings::default(), "sapn").unwrap_err();
        assert_eq!(error.to_string(), "no method is called \"sapn\"");
    }
}
