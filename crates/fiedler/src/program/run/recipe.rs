//! Settings under a name: files in `recipes/`, part of the program.

use fiedler_learn::run::Settings;

use crate::program::failure::{Exit, Failure};

/// A file of settings; its first line says what it is for.
#[derive(Debug)]
pub struct Recipe {
    pub name: &'static str,
    text: &'static str,
}

macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        /// All recipes. The order is that of the help.
        pub const RECIPES: &[Recipe] =
            &[$(Recipe { name: $name, text: include_str!(concat!("../../../recipes/", $name, ".toml")) }),*];
    };
}

recipes![
    "default",
    "citation",
    "graphs",
    "paper-nodes",
    "paper-graphs",
    "reference-nodes",
    "reference-graphs",
    "supervised-nodes",
    "supervised-graphs",
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
];

/// The settings of a recipe.
pub fn settings(name: &str) -> Result<Settings, Failure> {
    let found = find(name)?.ok_or_else(|| fiedler_graph::Error::unknown_name("recipe", name, names()))?;
    Ok(found.0)
}

/// The settings of a recipe, if there is one of this name, and what it says of itself.
pub fn find(name: &str) -> Result<Option<(Settings, String)>, Failure> {
    let Some(recipe) = RECIPES.iter().find(|recipe| recipe.name == name) else { return Ok(None) };
    let settings = parse(recipe.text);
    let settings = settings.map_err(|error| Failure::new(Exit::Unexpected, format!("recipe {name}: {error}"), None))?;
    Ok(Some((settings, about(recipe.text))))
}

/// What the first lines of a file of settings say of it.
pub fn about(text: &str) -> String {
    let comments = text.lines().map_while(|line| line.strip_prefix('#'));
    comments.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Settings from the text of a TOML file.
pub fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

pub fn names() -> impl Iterator<Item = &'static str> {
    RECIPES.iter().map(|recipe| recipe.name)
}

/// For `--help`.
pub fn help() -> String {
    let mut help = String::from("Settings under a name:");
    for recipe in RECIPES {
        let about = recipe.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        help.push_str(&format!("\n  {:17} {about}", recipe.name));
    }
    help
}

#[cfg(test)]
mod tests {
    use fiedler_learn::data::Level;
    use fiedler_learn::run::Settings;

    #[test]
    fn every_recipe_can_be_read_and_the_papers_are_the_defaults() {
        for name in super::names() {
            assert!(super::settings(name).is_ok(), "{:?}", super::settings(name));
        }
        assert_eq!(super::settings("paper-nodes").ok(), Some(Settings::paper(Level::Nodes)));
        assert_eq!(super::settings("paper-graphs").ok(), Some(Settings::paper(Level::Graphs)));
    }
}
