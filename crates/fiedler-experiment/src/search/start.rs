//! Where a search starts.

use std::path::PathBuf;

use fiedler_graph::Observer;
use fiedler_learn::run::Settings;

use crate::error::Result;
use crate::recipe::{self, SettingsSource};
use crate::settings_tree;
use crate::task::Task;

/// The settings that a search starts from, as a user asks for them.
#[derive(Debug, Clone, Default)]
pub struct SearchStart {
    /// A file of settings; goes before a recipe.
    pub file: Option<PathBuf>,
    /// Name of a recipe. Without it the dataset's own, or the paper's general one.
    pub recipe: Option<String>,
    /// The method, in place of the recipe's.
    pub method: Option<String>,
    /// The scheme, in place of the recipe's.
    pub scheme: Option<String>,
    /// Further changes, as `key=value`.
    pub assignments: Vec<String>,
}

impl SearchStart {
    /// The settings for a task.
    ///
    /// # Errors
    /// When a file cannot be read, or there is nothing of a name.
    pub fn resolve(&self, task: &Task, observer: &dyn Observer) -> Result<Settings> {
        let mut settings = match (&self.file, &self.recipe) {
            (Some(file), _) => recipe::read(file)?.0.settings,
            (None, Some(name)) => SettingsSource::Recipe(name).resolve(task, observer)?.settings,
            (None, None) => {
                let general = ["citation-graphs", "span-graphs"];
                SettingsSource::Automatic { general }.resolve(task, observer)?.settings
            }
        };
        if let Some(method) = &self.method {
            settings = settings_tree::with_method(&settings, method)?;
        }
        if let Some(scheme) = &self.scheme {
            settings = settings_tree::with_scheme(&settings, scheme)?;
        }
        settings_tree::assign(&settings, self.assignments.iter().map(String::as_str))
    }
}
