//! Recipes: settings under a name, one file each in `recipes/`.
//!
//! A recipe is a TOML file of settings with a table `[recipe]` that says what it is for and where it comes from. Files of the same form
//! are read from the user's folders; there the table may be missing.
//!
//! Recipes of the paper's method for a dataset have the dataset's name (`cora`), those of other methods the method's before it
//! (`cca-ssg/cora`). The name of a method that recommends how to train it (`cca-ssg`) stands for its defaults.

use std::fs;
use std::path::Path;

use fiedler_evaluate::ProtocolPreset;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;
use serde::{Deserialize, Serialize};

pub use self::settings_source::{GENERAL, PAPER, SettingsSource};
use crate::error::{Error, ErrorKind, Result};
use crate::run::{RunRecord, version1};
use crate::unreadable;

mod settings_source;

/// What a recipe says of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecipeHeader {
    /// What it is for, in one line.
    pub title: String,
    /// Datasets it was made for, by their names in the catalogue; none where it is a general one.
    pub datasets: Vec<String>,
    /// Where it comes from: the paper, a search, trials by hand.
    pub source: String,
    /// The protocol whose validation sets it was chosen on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolPreset>,
    /// What it came to there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// Settings with a name and a provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The name; of a file of the user's, its path.
    pub name: String,
    /// What it says of itself.
    pub header: RecipeHeader,
    /// The settings.
    pub settings: Settings,
}

macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        /// All recipes by name and text. The order is that of the help.
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../recipes/", $name, ".toml")))),*];
    };
}

recipes![
    "default-nodes",
    "default-graphs",
    "span-small",
    "span-graphs",
    "citation-graphs",
    "paper-nodes",
    "paper-graphs",
    "reference-nodes",
    "reference-graphs",
    "supervised-nodes",
    "supervised-graphs",
    "finetune-nodes",
    "finetune-graphs",
    "cora",
    "cora-uniform",
    "citeseer",
    "citeseer-public",
    "citeseer-uniform",
    "pubmed",
    "pubmed-public",
    "wiki-cs",
    "amazon-photo",
    "amazon-computers",
    "coauthor-cs",
    "usa-airports",
    "mutag",
    "mutag-uniform",
    "proteins",
    "nci1",
    "dd",
    "collab",
    "reddit-binary",
    "reddit-multi-5k",
    "imdb-binary",
    "imdb-multi",
    "cca-ssg/cora",
    "cca-ssg/citeseer",
    "cca-ssg/pubmed",
    "cca-ssg/amazon-computers",
    "cca-ssg/amazon-photo",
    "cca-ssg/coauthor-cs",
    "gbt/wiki-cs",
    "gbt/amazon-computers",
    "gbt/amazon-photo",
    "gbt/coauthor-cs",
    "bgrl/wiki-cs",
    "bgrl/amazon-computers",
    "bgrl/amazon-photo",
    "bgrl/coauthor-cs",
    "bgrl/amazon-photo-quick",
    "bgrl/coauthor-cs-quick",
    "sgrl/wiki-cs",
    "sgrl/amazon-computers",
    "sgrl/amazon-photo",
    "sgrl/coauthor-cs",
    "sgrl/coauthor-physics",
    "mvgrl/cora",
    "mvgrl/citeseer",
    "mvgrl/pubmed",
    "gca/cora",
    "gca/citeseer",
    "gca/pubmed",
    "gca/wiki-cs",
    "gca/amazon-computers",
    "gca/amazon-photo",
    "gca/coauthor-cs",
    "gmi/cora",
    "gmi/citeseer",
    "gmi/pubmed",
    "grace/cora",
    "grace/citeseer",
    "grace/pubmed",
    "grace/wiki-cs",
    "grace/amazon-computers",
    "grace/amazon-photo",
    "grace/coauthor-cs",
    "infograph/mutag",
    "graphcl/mutag",
    "joao/mutag",
    "joao-v2/mutag",
    "simgrace/mutag",
    "graphcl/collab",
    "graphcl/reddit-binary",
    "graphcl/imdb-binary",
    "infograph/collab",
    "joao/collab",
    "joao-v2/collab",
    "simgrace/collab",
    "infograph/reddit-binary",
    "joao/reddit-binary",
    "joao-v2/reddit-binary",
    "simgrace/reddit-binary",
    "infograph/imdb-binary",
    "joao/imdb-binary",
    "joao-v2/imdb-binary",
    "simgrace/imdb-binary",
    "ad-gcl/nci1",
    "ad-gcl/proteins",
    "ad-gcl/mutag",
    "ad-gcl/dd",
    "ad-gcl/collab",
    "ad-gcl/reddit-binary",
    "ad-gcl/imdb-binary",
    "graphmae/imdb-binary",
    "graphmae/proteins",
    "graphmae/mutag",
    "graphmae/reddit-binary",
    "graphmae/collab",
    "graphmae/nci1",
    "mvgrl/nci1",
    "mvgrl/proteins",
    "mvgrl/mutag",
    "mvgrl/dd",
    "mvgrl/collab",
    "mvgrl/reddit-binary",
    "mvgrl/imdb-binary",
];

/// Names that recipes had before.
const ALIASES: &[(&str, &str)] =
    &[("citation", "citation-graphs"), ("default", "span-small"), ("graphs", "span-graphs")];

/// The names of all recipes.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The recipe of a name.
///
/// # Errors
/// When there is none.
pub fn get(name: &str) -> Result<Recipe> {
    find(name)?.ok_or_else(|| fiedler_graph::Error::unknown_name("recipe", name, names()).into())
}

/// The recipe of a name, if there is one.
///
/// # Errors
/// When a recipe of the program cannot be read, which is a bug.
pub fn find(name: &str) -> Result<Option<Recipe>> {
    let name = ALIASES.iter().find(|(old, _)| *old == name).map_or(name, |(_, now)| now);
    let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else { return Ok(defaults_of(name)) };
    Ok(Some(from_text(name, text).map_err(|error| Error::unexpected("recipe", error))?))
}

/// The recipe that was made for a dataset of the catalogue: that of its own name. Variants, such as for the public split, have to be asked
/// for.
///
/// # Errors
/// As [`find`].
pub fn made_for(dataset: &str) -> Result<Option<Recipe>> {
    let own = find(dataset)?;
    Ok(own.filter(|recipe| recipe.header.datasets.iter().any(|known| known == dataset)))
}

/// The recipe that was made for a dataset and a method, `METHOD/DATASET`; of the paper's method, that of the dataset's own name.
///
/// # Errors
/// As [`find`].
pub fn made_for_method(dataset: &str, method: &str) -> Result<Option<Recipe>> {
    if method == MethodSettings::default().name() {
        return made_for(dataset);
    }
    find(&format!("{method}/{dataset}"))
}

/// The defaults of a method that recommends how to train it.
fn defaults_of(method: &str) -> Option<Recipe> {
    let settings: MethodSettings = method.parse().ok()?;
    let info = settings.as_any().info();
    settings.as_any().default_training()?;
    let header = RecipeHeader {
        title: format!("defaults of {}", info.name),
        source: info.citation.to_owned(),
        ..Default::default()
    };
    Some(Recipe { name: info.name.to_owned(), header, settings: Settings::of_method(settings) })
}

/// What `--help` says of the recipes, one line each.
pub fn list() -> Vec<(&'static str, String)> {
    let title = |text: &str| split(text).map(|(header, _)| header.title).unwrap_or_default();
    FILES.iter().map(|(name, text)| (*name, title(text))).collect()
}

/// Reads a recipe, or the settings in a `run.json` with its record.
///
/// # Errors
/// When the file cannot be read, or holds no settings.
pub fn read(path: &Path) -> Result<(Recipe, Option<RunRecord>)> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    let name = path.display().to_string();
    if path.extension().is_some_and(|extension| extension == "json") {
        let record = RunRecord::parse(&text, path)?;
        let recipe = Recipe { name, header: RecipeHeader::default(), settings: record.settings.clone() };
        return Ok((recipe, Some(record)));
    }
    Ok((from_text(&name, &text)?, None))
}

/// A recipe from the text of a file; `name` is what it is called, and what an error names.
///
/// # Errors
/// When the text holds no settings.
pub fn from_text(name: &str, text: &str) -> Result<Recipe> {
    const HINT: &str = "settings stand in TOML, under the keys that `fiedler settings` lists";
    let refuse = |problem: String| Error::new(ErrorKind::Usage, format!("{name}: {problem}"), HINT.to_owned());
    let (mut header, tree) = split(text).map_err(refuse)?;
    if let Some((key, value)) = not_finite("", &tree) {
        return Err(refuse(format!("{key} cannot be {value}; expected a finite number")));
    }
    let tree = serde_json::to_value(tree).map_err(|error| refuse(error.to_string()))?;
    let settings = unreadable::read(tree, version1::read_settings)
        .map_err(|unreadable| unreadable.in_file(name, ErrorKind::Usage, HINT))?;
    if header.source.is_empty() {
        header.source = comments(text);
    }
    Ok(Recipe { name: name.into(), header, settings })
}

/// A number that TOML can write and JSON, which settings are kept in, cannot.
fn not_finite(folder: &str, table: &toml::Table) -> Option<(String, f64)> {
    table.iter().find_map(|(key, value)| {
        let key = if folder.is_empty() { key.clone() } else { format!("{folder}.{key}") };
        match value {
            toml::Value::Float(number) if !number.is_finite() => Some((key, *number)),
            toml::Value::Table(table) => not_finite(&key, table),
            _ => None,
        }
    })
}

/// A recipe as the text of a file.
///
/// # Errors
/// When the settings cannot be written as TOML, which is a bug.
pub fn to_text(header: &RecipeHeader, settings: &Settings) -> Result<String> {
    #[derive(Serialize)]
    struct Head<'a> {
        recipe: &'a RecipeHeader,
    }
    let refuse = |error: toml::ser::Error| Error::unexpected("recipe", error);
    let head = toml::to_string(&Head { recipe: header }).map_err(refuse)?;
    let mut tree = toml::Table::try_from(settings).map_err(refuse)?;
    // What has no table of its own would become part of the head's; a recipe has neither a seed nor a device.
    tree.remove("seed");
    tree.remove("device");
    Ok(format!("{head}\n{}", toml::to_string(&tree).map_err(refuse)?))
}

/// What a file says of itself, and the rest of it.
fn split(text: &str) -> Result<(RecipeHeader, toml::Table), String> {
    let mut tree: toml::Table = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let header = match tree.remove("recipe") {
        Some(header) => header.try_into().map_err(|error: toml::de::Error| format!("recipe: {}", error.message()))?,
        None => RecipeHeader::default(),
    };
    Ok((header, tree))
}

/// What the first lines of a file say of it, where it has no header.
fn comments(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix('#'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_io::catalogue;
    use fiedler_learn::TaskLevel;

    use super::*;

    #[test]
    fn every_recipe_can_be_read_and_the_papers_are_the_defaults() {
        for name in names() {
            let recipe = get(name).unwrap();
            assert!(!recipe.header.title.is_empty() && !recipe.header.source.is_empty(), "{name}");
            for dataset in &recipe.header.datasets {
                assert_eq!(catalogue::find(dataset).unwrap().name, *dataset, "{name}");
                let (method, own) = name.rsplit_once('/').unwrap_or(("span", name));
                assert!(own.starts_with(dataset), "{name} is not called after {dataset}");
                assert_eq!(recipe.settings.method.name(), method, "{name}");
            }
        }
        assert_eq!(get("paper-nodes").unwrap().settings.resolved(), Settings::paper(TaskLevel::Nodes).resolved());
        assert_eq!(get("paper-graphs").unwrap().settings.resolved(), Settings::paper(TaskLevel::Graphs).resolved());
        assert_eq!(get("citation").unwrap().name, "citation-graphs");
    }

    #[test]
    fn a_dataset_has_the_recipe_that_was_made_for_it() {
        let name = |dataset: &str| made_for(dataset).unwrap().map(|recipe| recipe.name);
        assert_eq!(name("citeseer").as_deref(), Some("citeseer"));
        for other in ["default", "citeseer-public", "citation", "nobody"] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn a_recipe_can_be_written_and_read_again() {
        for name in ["mutag", "cca-ssg/coauthor-cs"] {
            let recipe = get(name).unwrap();
            let text = to_text(&recipe.header, &recipe.settings).unwrap();
            assert_eq!(from_text(name, &text).unwrap(), recipe);
        }
    }

    #[test]
    fn a_method_that_recommends_its_training_is_a_recipe_of_its_own() {
        let recipe = get("cca-ssg").unwrap();
        assert_eq!((recipe.settings.training.epochs, recipe.settings.training.weight_decay), (50, 0.0));
        assert_eq!(find("untrained").unwrap(), None);
        // What a file leaves open is as the method recommends; what it says stands.
        let parsed = from_text("mine", "[method]\nname = \"cca-ssg\"\n[training]\nepochs = 7\n").unwrap().settings;
        assert_eq!((parsed.training.epochs, parsed.training.weight_decay), (7, 0.0));
    }
}
