//! `fiedler settings`: all settings of a method with their defaults.

use std::fmt::Write;

use fiedler_experiment::Result;
use fiedler_experiment::settings_tree::{self, SettingEntry};

use super::args::schemes;
use super::output::Output;

/// Prints all settings of a method as `key = value`, with their defaults, what they may be and what they mean. Each can be changed with `--set key=value`; in TOML files and
/// run.json they stand under the same keys
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// The method [default: span]
    method: Option<String>,
    /// The scheme that views are drawn from [default: what the method usually has]
    #[arg(long, value_name = "NAME", value_parser = schemes())]
    scheme: Option<String>,
    /// Start from this recipe instead of the defaults
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
}

impl Settings {
    pub fn run(&self, output: &Output) -> Result<()> {
        let Settings { method, scheme, recipe } = self;
        let settings = settings_tree::defaults(method.as_deref(), scheme.as_deref(), recipe.as_deref())?;
        let mut text = String::new();
        for SettingEntry { key, value, choices, doc } in settings_tree::entries(&settings.resolved())? {
            let choices = if choices.is_empty() { String::new() } else { format!(" [{}]", choices.join(" | ")) };
            let _ = writeln!(text, "{key} = {value}  # {doc}{choices}");
        }
        output.result(&text)
    }
}
