//! `fiedler settings`: all settings of a method with their defaults.

use std::fmt::Write;

use fiedler_experiment::{Result, recipe, settings_tree};
use fiedler_learn::run::Settings as RunSettings;

use super::output::Output;

/// Prints all settings of a method as `key = value`, with their defaults. Each can be changed with `--set key=value`; in TOML files and
/// run.json they stand under the same keys
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// The method [default: span]
    method: Option<String>,
    /// Start from this recipe instead of the defaults
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
}

impl Settings {
    pub fn run(&self, output: &Output) -> Result<()> {
        let mut settings = match (&self.recipe, &self.method) {
            (Some(name), _) => recipe::get(name)?.settings,
            // A method that recommends how to train it has defaults of its own.
            (None, Some(method)) => recipe::find(method)?.map_or_else(RunSettings::default, |recipe| recipe.settings),
            (None, None) => RunSettings::default(),
        };
        if let Some(method) = &self.method {
            settings = settings_tree::with_method(&settings, method)?;
        }
        let mut text = String::new();
        for (key, value) in settings_tree::entries(&settings.resolved())? {
            let doc = settings_tree::doc(&key).map_or(String::new(), |doc| format!("  # {doc}"));
            let _ = writeln!(text, "{key} = {value}{doc}");
        }
        output.result(&text)
    }
}
