//! Settings under a name: files in `recipes/`, part of the program.

use fiedler_learn::run::Settings;

use crate::program::failure::{Exit, Failure};

/// A file of settings; its first line says what it is for.
#[derive(Debug)]
pub struct Recipe {
    pub name: &'static str,
    text: &'static str,
}

/// All recipes. The order is that of the help.
pub const RECIPES: [Recipe; 5] = [
    Recipe { name: "default", text: include_str!("../../../recipes/default.toml") },
    Recipe { name: "citation", text: include_str!("../../../recipes/citation.toml") },
    Recipe { name: "paper-nodes", text: include_str!("../../../recipes/paper-nodes.toml") },
    Recipe { name: "paper-graphs", text: include_str!("../../../recipes/paper-graphs.toml") },
    Recipe { name: "reference-nodes", text: include_str!("../../../recipes/reference-nodes.toml") },
];

/// The settings of a recipe.
pub fn settings(name: &str) -> Result<Settings, Failure> {
    let recipe = RECIPES.iter().find(|recipe| recipe.name == name);
    let recipe = recipe.ok_or_else(|| fiedler_graph::Error::unknown_name("recipe", name, names()))?;
    parse(recipe.text).map_err(|problem| Failure::new(Exit::Unexpected, format!("recipe {name}: {problem}"), None))
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
    for recipe in &RECIPES {
        let about = recipe.text.lines().next().unwrap_or_default().trim_start_matches("# ");
        help.push_str(&format!("\n  {:16} {about}", recipe.name));
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
