//! Which settings a dataset is learned with.

use std::path::PathBuf;

use fiedler_augment::SchemeSettings;
use fiedler_graph::NoObserver;
use fiedler_learn::TaskLevel;
use fiedler_learn::run::Settings;

use crate::error::{Error, ErrorKind, Result};
use crate::recipe::SettingsSource;
use crate::task::Task;
use crate::{recipe, settings_tree};
use fiedler_evaluate::ProtocolPreset;

/// Where recipes come from: a folder of the user's, then those of the program.
pub struct Recipes {
    pub folder: Option<PathBuf>,
    pub preset: ProtocolPreset,
    /// Overrides the number of epochs.
    pub epochs: Option<usize>,
    /// Changes of all settings.
    pub assignments: Vec<String>,
}

/// Settings, and the name they were found under.
#[derive(Debug, Clone)]
pub struct FoundRecipe {
    pub name: String,
    /// What it says of itself.
    pub about: String,
    pub settings: Settings,
}

impl Recipes {
    /// The settings of the paper's method for a dataset: `NAME-PROTOCOL`, else `NAME`, else what the paper says in general. The
    /// protocol reference has its own.
    pub fn span(&self, dataset: &str, level: TaskLevel) -> Result<FoundRecipe> {
        if self.preset == ProtocolPreset::Reference {
            return self.general("reference", level);
        }
        match self.first([format!("{dataset}-{}", self.preset.name()), dataset.to_owned()])? {
            Some(found) => Ok(found),
            None => self.general("paper", level),
        }
    }

    /// The same with another scheme: `NAME-SCHEME-PROTOCOL`, else `NAME-SCHEME`, else [`Recipes::span`] with its scheme replaced.
    pub fn with_scheme(
        &self,
        dataset: &str,
        level: TaskLevel,
        scheme: &str,
        replace: impl Fn(&SchemeSettings) -> SchemeSettings,
    ) -> Result<FoundRecipe> {
        let own = [format!("{dataset}-{scheme}-{}", self.preset.name()), format!("{dataset}-{scheme}")];
        if self.preset != ProtocolPreset::Reference
            && let Some(found) = self.first(own)?
        {
            return Ok(found);
        }
        let mut found = self.span(dataset, level)?;
        found.settings.scheme = Some(replace(&found.settings.scheme_or_usual()));
        Ok(found)
    }

    /// The settings of the supervised encoder for a dataset.
    pub fn supervised(&self, dataset: &str, level: TaskLevel) -> Result<FoundRecipe> {
        let own = [format!("{dataset}-supervised-{}", self.preset.name()), format!("{dataset}-supervised")];
        match self.first(own)? {
            Some(found) => Ok(found),
            None => self.general("supervised", level),
        }
    }

    /// The settings of a method for a dataset: `METHOD/NAME`, else what the method recommends.
    pub fn method(&self, method: &str, task: &Task) -> Result<FoundRecipe> {
        if let Some(path) = self.folder.as_ref().map(|folder| folder.join(format!("{method}/{}.toml", task.name)))
            && path.is_file()
        {
            return self.adjusted(recipe::read(&path)?.0);
        }
        let source = SettingsSource::Method { method, general: recipe::GENERAL };
        self.adjusted(source.resolve(task, &NoObserver)?)
    }

    fn general(&self, kind: &str, level: TaskLevel) -> Result<FoundRecipe> {
        let name = match level {
            TaskLevel::Nodes => format!("{kind}-nodes"),
            TaskLevel::Graphs => format!("{kind}-graphs"),
        };
        match recipe::find(&name)? {
            Some(found) => self.adjusted(found),
            None => Err(Error::new(ErrorKind::Unexpected, format!("there is no recipe {name}"), None)),
        }
    }

    fn first(&self, names: [String; 2]) -> Result<Option<FoundRecipe>> {
        for name in &names {
            if let Some(path) = self.folder.as_ref().map(|folder| folder.join(format!("{name}.toml")))
                && path.is_file()
            {
                return self.adjusted(recipe::read(&path)?.0).map(Some);
            }
        }
        for name in &names {
            if let Some(found) = recipe::find(name)? {
                return self.adjusted(found).map(Some);
            }
        }
        Ok(None)
    }

    fn adjusted(&self, recipe: recipe::Recipe) -> Result<FoundRecipe> {
        let settings = self.change(&recipe.settings)?;
        Ok(FoundRecipe { name: recipe.name, about: recipe.header.source, settings })
    }

    /// The settings with what was asked for of all.
    pub fn change(&self, settings: &Settings) -> Result<Settings> {
        let mut settings = settings_tree::assign(settings, self.assignments.iter().map(String::as_str))?;
        settings.seed = 0;
        if let Some(epochs) = self.epochs {
            settings.training.epochs = epochs;
        }
        Ok(settings)
    }
}
