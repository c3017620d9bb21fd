//! What there is: methods, schemes, recipes, datasets, generators, formats and settings, as the libraries list them.

use fiedler_attack::AttackSettings;
use fiedler_augment::SchemeSettings;
use fiedler_evaluate::Protocol;
use fiedler_experiment::{recipe, settings_tree};
use fiedler_graph::generate;
use fiedler_io::{catalogue, read, transform};
use fiedler_learn::TaskLevel;
use fiedler_learn::method::MethodSettings;
use pyo3::prelude::*;

use crate::errors;

/// Method, datasets, source, protocol and result.
type RecipeAbout = (String, Vec<String>, String, Option<String>, Option<String>);
/// Name, default and help of each parameter.
type Parameters = Vec<(&'static str, String, &'static str)>;
/// Key, value, choices and meaning.
type Setting = (String, String, Vec<String>, String);

/// Name, help, citation and what it embeds of every method.
#[pyfunction]
pub fn methods() -> Vec<(&'static str, &'static str, &'static str, Vec<&'static str>)> {
    let level = |level: &TaskLevel| if *level == TaskLevel::Nodes { "nodes" } else { "graphs" };
    let of = |info: &fiedler_learn::method::MethodInfo| {
        (info.name, info.about, info.citation, info.levels.iter().map(level).collect())
    };
    MethodSettings::ALL.iter().map(of).collect()
}

/// Name and help of every scheme.
#[pyfunction]
pub fn schemes() -> Vec<(&'static str, &'static str)> {
    SchemeSettings::ALL.to_vec()
}

/// Name and title of every recipe.
#[pyfunction]
pub fn recipes() -> Vec<(&'static str, String)> {
    recipe::list()
}

/// Method, datasets, source, protocol and result of a recipe.
#[pyfunction]
pub fn recipe_about(py: Python<'_>, name: &str) -> PyResult<RecipeAbout> {
    let found = recipe::get(name).map_err(|error| errors::raised(py, &error))?;
    let recipe::RecipeHeader { datasets, source, protocol, result, .. } = found.header;
    let protocol = protocol.and_then(|protocol| serde_json::to_value(protocol).ok()?.as_str().map(str::to_owned));
    Ok((found.settings.method.name().to_owned(), datasets, source, protocol, result))
}

/// Names of protocols.
#[pyfunction]
pub fn protocols() -> Vec<&'static str> {
    Protocol::NAMES.to_vec()
}

/// Name, title, kind and where it lies on this machine of every dataset of the catalogue.
#[pyfunction]
pub fn known_datasets() -> Vec<(&'static str, &'static str, Option<String>)> {
    let of = |entry: &'static catalogue::Entry| {
        let path = catalogue::locate(&entry.name).ok().map(|located| located.path.display().to_string());
        (entry.name.as_str(), entry.title.as_str(), path)
    };
    catalogue::entries().iter().map(of).collect()
}

/// Name of every generator, with the names, defaults and help of its parameters.
#[pyfunction]
pub fn generators() -> Vec<(&'static str, &'static str, Parameters)> {
    let of = |spec: &'static generate::Spec| {
        let parameters = spec
            .parameters
            .iter()
            .map(|parameter| (parameter.name, spec.default_of(parameter.name).unwrap_or_default(), parameter.about));
        (spec.name, spec.about, parameters.collect())
    };
    generate::SPECS.iter().map(of).collect()
}

/// Name, help and usage of every transform.
#[pyfunction]
pub fn transforms() -> Vec<(&'static str, &'static str, &'static str)> {
    transform::TRANSFORMS.iter().map(|transform| (transform.name, transform.about, transform.usage)).collect()
}

/// Name and help of every attack.
#[pyfunction]
pub fn attacks() -> Vec<(&'static str, &'static str)> {
    AttackSettings::ALL.to_vec()
}

/// Name and help of every format that is read.
#[pyfunction]
pub fn formats() -> Vec<(&'static str, &'static str)> {
    read::FORMATS.iter().map(|format| (format.name, format.about)).collect()
}

/// Key, value, choices and meaning of every setting of a method, a recipe or a scheme, as `fiedler settings` prints them.
#[pyfunction]
pub fn settings(
    py: Python<'_>,
    method: Option<&str>,
    scheme: Option<&str>,
    from_recipe: Option<&str>,
) -> PyResult<Vec<Setting>> {
    let list = || -> fiedler_experiment::Result<_> {
        let settings = settings_tree::defaults(method, scheme, from_recipe)?;
        let entries = settings_tree::entries(&settings.resolved())?;
        Ok(entries.into_iter().map(|entry| (entry.key, entry.value, entry.choices, entry.doc)).collect())
    };
    list().map_err(|error| errors::raised(py, &error))
}
