//! Generators by name and parameters, in one line of text.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SPECS;
use crate::dataset::Dataset;
use crate::error::{Error, Result};

/// A generator as [`from_spec`] knows it.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    /// What it makes, in one line of help.
    pub about: &'static str,
    /// Its parameters, besides `seed`.
    pub parameters: &'static [Parameter],
    pub(super) defaults: fn() -> Map<String, Value>,
    pub(super) make: fn(Map<String, Value>, u64) -> Result<Dataset>,
}

/// A parameter of a generator.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it sets, in one line of help.
    pub about: &'static str,
}

impl Spec {
    /// The generator with all its parameters at their defaults, as [`from_spec`] would read it.
    ///
    /// ```
    /// use fiedler_graph::generate::SPECS;
    /// let specs: Vec<_> = SPECS.iter().map(|spec| spec.usage()).collect();
    /// assert!(specs.contains(&"barabasi-albert:nodes=1000,edges_per_node=2,seed=0".into()));
    /// ```
    pub fn usage(&self) -> String {
        if self.parameters.is_empty() {
            return self.name.into();
        }
        let defaults = (self.defaults)();
        let pairs: Vec<_> = self.parameters.iter().map(|parameter| setting_of(&defaults, parameter.name)).collect();
        format!("{}:{},seed=0", self.name, pairs.join(","))
    }

    /// The default of a parameter, as it would be written; `None` when there is no such parameter.
    pub fn default_of(&self, parameter: &str) -> Option<String> {
        (self.defaults)().get(parameter).map(written)
    }
}

/// Whether a line is meant for [`from_spec`]: it names a generator, or has parameters after a colon.
pub fn is_spec(line: &str) -> bool {
    match line.split_once(':') {
        Some((name, assignments)) => assignments.contains('=') || SPECS.iter().any(|spec| spec.name == name),
        None => SPECS.iter().any(|spec| spec.name == line),
    }
}

/// Makes the dataset that a line such as `sbm:nodes=2000,classes=4,seed=7` describes.
///
/// The line is the name of one of [`SPECS`], and after a colon the parameters that are not to have their defaults. Lists are
/// written with colons (`proportions=3:2:1`), what is absent as `none`. `seed` serves where the line does not set one.
///
/// # Errors
/// When there is no such generator or parameter, or a value is out of its range.
pub fn from_spec(line: &str, seed: u64) -> Result<Dataset> {
    let (name, assignments) = line.split_once(':').unwrap_or((line, ""));
    let name = name.trim();
    let Some(spec) = SPECS.iter().find(|spec| spec.name == name) else {
        return Err(Error::unknown_name("generator", name, SPECS.iter().map(|spec| spec.name)));
    };
    let mut settings = (spec.defaults)();
    settings.insert("seed".into(), Value::from(seed));
    let mut given = Vec::new();
    for assignment in assignments.split(',').map(str::trim).filter(|assignment| !assignment.is_empty()) {
        let Some((parameter, text)) = assignment.split_once('=') else {
            return Err(Error::setting(format!("parameter of {name}"), assignment, "parameter=value"));
        };
        let (parameter, text) = (parameter.trim(), text.trim());
        let Some(value) = settings.get_mut(parameter) else {
            let known = spec.parameters.iter().map(|parameter| parameter.name).chain(["seed"]);
            return Err(Error::unknown_name(format!("parameter of {name}"), parameter, known));
        };
        if given.contains(&parameter) {
            return Err(Error::setting(parameter, text, "each parameter at most once"));
        }
        *value = parse(text, value).map_err(|expected| Error::setting(parameter, format!("{text:?}"), expected))?;
        given.push(parameter);
    }
    let seed = settings.remove("seed").and_then(|seed| seed.as_u64()).unwrap_or(seed);
    (spec.make)(settings, seed)
}

/// Reads a value of the kind that the default has, or says what it should have been.
fn parse(text: &str, default: &Value) -> Result<Value, &'static str> {
    let number = |text: &str| text.trim().parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
    match default {
        Value::Number(default) if default.is_u64() => {
            text.replace('_', "").parse::<u64>().map(Value::from).map_err(|_| "a whole number that is not negative")
        }
        Value::Array(_) if text == "none" => Ok(Value::Array(Vec::new())),
        Value::Array(_) => text
            .split(':')
            .map(number)
            .collect::<Option<_>>()
            .map(Value::Array)
            .ok_or("numbers parted by colons, or none"),
        Value::Null if text == "none" => Ok(Value::Null),
        Value::Null => number(text).ok_or("a number, or none"),
        _ => number(text).ok_or("a number"),
    }
}

/// Default settings as a map of parameters.
pub(super) fn defaults(settings: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The settings that a map of parameters holds.
pub(super) fn settings<T: DeserializeOwned>(map: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(map))
        .map_err(|error| Error::setting("settings", error, "the generator's parameters"))
}

fn setting_of(defaults: &Map<String, Value>, parameter: &str) -> String {
    format!("{parameter}={}", defaults.get(parameter).map(written).unwrap_or_default())
}

/// A value as a line for [`from_spec`] has it.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Array(values) if values.is_empty() => "none".into(),
        Value::Array(values) => values.iter().map(written).collect::<Vec<_>>().join(":"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::SPECS;

    #[test]
    fn parameters_are_the_settings() {
        for spec in SPECS {
            let mut named: Vec<_> = spec.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
            named.sort();
            assert_eq!(named, (spec.defaults)().into_iter().map(|(name, _)| name).collect::<Vec<_>>(), "{}", spec.name);
        }
    }
}
