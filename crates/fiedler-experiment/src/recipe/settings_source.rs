//! Which settings a run has: asked for by name, made for the data, recommended by the method, or the general ones.

use fiedler_graph::Observer;
use fiedler_learn::method::{Hops, MethodSettings};
use fiedler_learn::run::Settings;
use fiedler_learn::{FeatureSource, FeatureSources, TaskLevel, have_units};

use super::{Recipe, defaults_of, get, made_for, made_for_method};
use crate::error::Result;
use crate::observe::Tell;
use crate::settings_tree;
use crate::task::Task;

/// Where the settings of a run come from.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingsSource<'a> {
    /// The recipe that was made for the data; where there is none, the first name of `general` for nodes, the second for graphs.
    Automatic {
        /// Names of recipes.
        general: [&'a str; 2],
    },
    /// The recipe that was made for the data and a method; where there is none, the defaults of a method that recommends how to train it,
    /// and for any other what [`SettingsSource::Automatic`] finds, with the method replaced.
    Method {
        /// Name of the method.
        method: &'a str,
        /// As for [`SettingsSource::Automatic`].
        general: [&'a str; 2],
    },
    /// What a method recommends, whatever the data; where it recommends nothing, the paper's settings with the method replaced.
    MethodDefaults(&'a str),
    /// A recipe; `none` for the general one, `paper` for the paper's.
    Recipe(&'a str),
}

/// The general recipes, for nodes and for graphs.
pub const GENERAL: [&str; 2] = ["default-nodes", "default-graphs"];
/// The paper's, which methods that are asked for by name start from.
pub const PAPER: [&str; 2] = ["paper-nodes", "paper-graphs"];
/// Nodes up to which the general recipe trains an encoder: about three minutes on two cores.
const MOST_TRAINED_NODES: usize = 30_000;
/// Entries of a row of features, in the mean, up to which structural features and eigenvectors stand beside them.
const FEW_ENTRIES: f64 = 16.0;
/// Nodes up to which eigenvectors are among them: seconds on two cores.
const MOST_DECOMPOSED_NODES: usize = 50_000;

impl SettingsSource<'_> {
    /// Finds the recipe; which one was taken without being asked for is told to the observer.
    ///
    /// # Errors
    /// When there is no recipe of that name.
    pub fn resolve(&self, task: &Task, observer: &dyn Observer) -> Result<Recipe> {
        let recipe = self.find(task, observer)?;
        let asked_for = matches!(self, SettingsSource::Recipe(name) if *name != "none");
        let made_for_data = !recipe.header.datasets.is_empty();
        // Settings of publications stay what they are, but multi-hop features take theirs only for want of others.
        let published = matches!(self, SettingsSource::MethodDefaults(_)) || PAPER.contains(&recipe.name.as_str());
        let as_published = published && !matches!(recipe.settings.method, MethodSettings::Hops(_));
        Ok(if asked_for || as_published || made_for_data { recipe } else { recipe.suited(task, observer) })
    }

    fn find(&self, task: &Task, observer: &dyn Observer) -> Result<Recipe> {
        let general = |names: &[&str; 2]| {
            let name = if task.level == TaskLevel::Nodes { names[0] } else { names[1] };
            observer.note(&format!("settings: recipe {name}"));
            get(name)
        };
        match self {
            SettingsSource::Recipe("none") => Ok(general(&GENERAL)?.fitted(task, observer)),
            SettingsSource::Recipe("paper") => general(&PAPER),
            SettingsSource::Recipe(name) => get(name),
            SettingsSource::Automatic { general: names } => match made_for(&task.name)? {
                Some(recipe) => {
                    observer.note(&format!("settings: recipe {}, made for this dataset", recipe.name));
                    Ok(recipe)
                }
                None => Ok(general(names)?.fitted(task, observer)),
            },
            SettingsSource::Method { method, general } => {
                if let Some(recipe) = made_for_method(&task.name, method)? {
                    observer.note(&format!("settings: recipe {}, made for this dataset and method", recipe.name));
                    return Ok(recipe);
                }
                if let Some(recipe) = defaults_of(method) {
                    observer.note(&format!("settings: defaults of the method {method}"));
                    return Ok(recipe);
                }
                let recipe = SettingsSource::Automatic { general: *general }.find(task, observer)?;
                recipe.with_method(method)
            }
            SettingsSource::MethodDefaults(method) => match defaults_of(method) {
                Some(recipe) => {
                    observer.note(&format!("settings: defaults of the method {method}"));
                    Ok(recipe)
                }
                None => general(&PAPER)?.with_method(method),
            },
        }
    }
}

impl Recipe {
    fn with_method(self, method: &str) -> Result<Recipe> {
        Ok(Recipe { settings: settings_tree::with_method(&self.settings, method)?, ..self })
    }

    /// The general recipe for nodes as it suits a dataset: structural features and eigenvectors where there are no features, and no
    /// training where that would take long.
    fn fitted(mut self, task: &Task, observer: &dyn Observer) -> Recipe {
        if self.name != GENERAL[0] {
            return self;
        }
        let nodes = task.dataset.graphs.num_nodes();
        if !(3..=MOST_TRAINED_NODES).contains(&nodes) {
            if nodes > MOST_TRAINED_NODES {
                let advice = "multi-hop features alone; --method cca-ssg trains an encoder, at its own pace";
                observer.note(&format!("more than {MOST_TRAINED_NODES} nodes: {advice}"));
            }
            self.settings = Settings::of_method(Hops::default());
            return self;
        }
        if task.dataset.feature_columns().is_none() {
            let sources = vec![FeatureSource::Structural, FeatureSource::Spectral(64)];
            self.settings.features.sources = FeatureSources::new(sources);
            self.settings.features.normalize_rows = false;
        }
        self
    }

    /// Settings that were made for no data, as they suit features of nodes that are few or have units. The program's own measure of that is
    /// `bench/few_columns.py`.
    fn suited(mut self, task: &Task, observer: &dyn Observer) -> Recipe {
        let settings = &mut self.settings;
        // Features as they are, and eigenvectors, are what these two are for.
        let is_bare = matches!(settings.method, MethodSettings::Raw(_) | MethodSettings::Spectral(_));
        let nodes = task.dataset.graphs.num_nodes();
        let Some(features) = task.dataset.features.as_ref().filter(|_| task.level == TaskLevel::Nodes && nodes > 2)
        else {
            return self;
        };
        if is_bare || !settings.features.sources.is_auto() {
            return self;
        }
        if have_units(features) {
            settings.features.standardize = true;
            settings.features.normalize_rows = false;
            observer.note("features in different units: columns are standardized (features.standardize)");
        }
        if features.density() * features.columns() as f64 <= FEW_ENTRIES {
            let mut sources = vec![FeatureSource::Given, FeatureSource::Structural];
            if nodes <= MOST_DECOMPOSED_NODES {
                sources.push(FeatureSource::Spectral(64));
            }
            let sources = FeatureSources::new(sources);
            let why = format!("features have {FEW_ENTRIES} entries a node or fewer");
            observer.note(&format!("{why}: what the graph says stands beside them (--feature-sources {sources})"));
            settings.features.sources = sources;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_task_takes_the_recipe_that_was_made_for_its_data_and_says_so() {
        let notes = std::sync::Mutex::new(Vec::new());
        let observer = |event: &fiedler_graph::Event<'_>| {
            if let fiedler_graph::Event::Note(text) = event {
                notes.lock().unwrap().push((*text).to_owned());
            }
            std::ops::ControlFlow::Continue(())
        };
        let graph = fiedler_graph::generate::karate_club;
        for (source, data, expected, note) in [
            (
                SettingsSource::Automatic { general: GENERAL },
                "Cora",
                "cora",
                "settings: recipe cora, made for this dataset",
            ),
            (
                SettingsSource::Automatic { general: GENERAL },
                "karate",
                "default-nodes",
                "settings: recipe default-nodes",
            ),
            (SettingsSource::Recipe("none"), "cora", "default-nodes", "settings: recipe default-nodes"),
            (SettingsSource::Recipe("paper"), "cora", "paper-nodes", "settings: recipe paper-nodes"),
            (SettingsSource::MethodDefaults("dgi"), "cora", "paper-nodes", "settings: recipe paper-nodes"),
            (
                SettingsSource::Method { method: "cca-ssg", general: GENERAL },
                "Cora",
                "cca-ssg/cora",
                "settings: recipe cca-ssg/cora, made for this dataset and method",
            ),
            (
                SettingsSource::Method { method: "cca-ssg", general: GENERAL },
                "karate",
                "cca-ssg",
                "settings: defaults of the method cca-ssg",
            ),
            (
                SettingsSource::Method { method: "span", general: GENERAL },
                "cora",
                "cora",
                "settings: recipe cora, made for this dataset and method",
            ),
            (
                SettingsSource::Method { method: "untrained", general: GENERAL },
                "cora",
                "cora",
                "settings: recipe cora, made for this dataset",
            ),
        ] {
            let task = Task::of(data, &Default::default(), graph());
            assert_eq!(source.resolve(&task, &observer).unwrap().name, expected);
            assert_eq!(notes.lock().unwrap().pop().as_deref(), Some(note));
        }
    }
}
