//! The settings of a run, from what Python says of them: as the program makes them of its flags.

use fiedler_augment::SchemeSettings;
use fiedler_experiment::recipe::{GENERAL, PAPER, SettingsSource};
use fiedler_experiment::{Error, ErrorKind, Result, Task, settings_tree};
use fiedler_graph::Observer;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What Python says of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    method: Option<String>,
    recipe: Option<String>,
    /// Settings by their keys, nested or with points in them.
    settings: Map<String, Value>,
    dimensions: Option<u64>,
    epochs: Option<u64>,
    /// Settings of the scheme that views are drawn from.
    scheme: Option<SchemeSettings>,
    seed: u64,
}

impl Asked {
    /// The settings, and the recipe that they started from.
    pub fn settings(&self, task: &Task, observer: &dyn Observer) -> Result<(Settings, Option<String>)> {
        let source = match (self.recipe.as_deref(), self.method.as_deref()) {
            (Some("none"), Some(method)) => SettingsSource::MethodDefaults(method),
            (Some(name), _) => SettingsSource::Recipe(name),
            (None, None) => SettingsSource::Automatic { general: GENERAL },
            (None, Some(method)) => SettingsSource::Method { method, general: PAPER },
        };
        let recipe = source.resolve(task, observer)?;
        Ok((self.changed(recipe.settings)?, Some(recipe.name)))
    }

    fn changed(&self, mut settings: Settings) -> Result<Settings> {
        settings.seed = self.seed;
        if let Some(method) = &self.method {
            settings = settings_tree::with_method(&settings, method)?;
        }
        for (key, value) in self.short_forms(&settings)? {
            settings = settings_tree::assign_value(&settings, key, value)?;
        }
        if settings.method.as_any().default_views().is_some() {
            let scheme = self.scheme.clone().unwrap_or_else(|| settings.scheme_or_usual());
            settings.scheme = Some(scheme.with_seed(self.seed));
        } else if self.scheme.is_some() {
            let message = format!("the method {} draws no views from a scheme", settings.method.name());
            let hint = "leave the augmentation out, or choose another method".to_owned();
            return Err(Error::new(ErrorKind::Usage, message, hint));
        }
        let mut settings = assign(settings, "", &self.settings)?;
        if settings.seed != self.seed {
            settings.scheme = settings.scheme.map(|scheme| scheme.with_seed(settings.seed));
        }
        Ok(settings)
    }

    /// What stands for other keys.
    fn short_forms(&self, settings: &Settings) -> Result<Vec<(&'static str, Value)>> {
        let mut forms = Vec::new();
        if let Some(dimensions) = self.dimensions {
            let out = settings_tree::knows(settings, "method.encoder.out_channels")?;
            let keys: &[&str] = match settings.method {
                _ if settings.embedding.beside.is_some() => &["embedding.dimensions"],
                MethodSettings::Spectral(_) => &["method.eigenvectors"],
                // Of nodes or of graphs, whichever the data have.
                MethodSettings::Hops(_) => &["method.dimensions", "method.graphs.dimensions"],
                _ if out => &["method.encoder.hidden_channels", "method.encoder.out_channels"],
                _ => &["method.encoder.hidden_channels"],
            };
            forms.extend(keys.iter().map(|&key| (key, Value::from(dimensions))));
        }
        if let Some(epochs) = self.epochs {
            if settings.method.as_any().untrained().is_none() {
                let message = format!("epochs mean nothing to the method {}", settings.method.name());
                return Err(Error::new(
                    ErrorKind::Usage,
                    message,
                    "leave them out, or choose another method".to_owned(),
                ));
            }
            forms.push(("training.epochs", Value::from(epochs)));
        }
        Ok(forms)
    }
}

/// Assigns nested settings key by key; the name of a group first, for it decides which keys there are.
pub fn assign(mut settings: Settings, group: &str, tree: &Map<String, Value>) -> Result<Settings> {
    let names = tree.iter().filter(|(key, _)| *key == "name");
    for (key, value) in names.chain(tree.iter().filter(|(key, _)| *key != "name")) {
        let key = if group.is_empty() { key.clone() } else { format!("{group}.{key}") };
        settings = match value {
            Value::Object(tree) if settings_tree::knows(&settings, &key)? => assign(settings, &key, tree)?,
            value => settings_tree::assign_value(&settings, &key, value.clone())?,
        };
    }
    Ok(settings)
}
