//! What a search chooses from: the axes that method, scheme, masking and training declare, by their keys in the settings.

use fiedler_augment::Axis;
use fiedler_graph::random::stream;
use fiedler_learn::TaskLevel;
use fiedler_learn::run::Settings;
use rand::RngExt;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::settings_tree;
use crate::task::Task;

/// How likely a choice of a parent is made anew.
const CHANGED: f64 = 0.25;
const FEATURE_MASKS: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];

/// What a search chooses from, around the settings that it starts from.
#[derive(Debug, Clone)]
pub struct Space {
    base: Settings,
    axes: Vec<Axis>,
}

/// What one trial has of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Name of the axis.
    pub name: String,
    /// The value; `None` where it is as given.
    pub value: Option<Value>,
}

impl Choice {
    /// The value, for people.
    pub fn text(&self) -> String {
        self.value.as_ref().map_or("as given".to_owned(), text)
    }
}

impl Space {
    /// Everything that can be searched around settings.
    ///
    /// # Errors
    /// When there is nothing to search, or an axis does not fit the settings: a key or a word that nobody knows.
    pub fn new(base: &Settings, task: &Task, most_epochs: Option<usize>) -> Result<Space> {
        let mut base = base.resolved();
        base.seed = 0;
        if let Some(most) = most_epochs {
            base.training.epochs = base.training.epochs.min(most);
        }
        let axes = axes(&base, task.level, task.dataset.features.is_some(), most_epochs);
        if axes.is_empty() {
            let message = format!("the method {} has nothing to search", base.method.name());
            return Err(Error::new(ErrorKind::Usage, message, "choose another method with --method".to_owned()));
        }
        let space = Space { base, axes };
        for axis in &space.axes {
            axis.values.iter().try_for_each(|value| assign(&space.base, axis, value).map(drop))?;
        }
        Ok(space)
    }

    /// The settings that the search starts from.
    pub fn base(&self) -> &Settings {
        &self.base
    }

    /// The axes by their names, with the values that count.
    pub fn axes(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        self.axes.iter().map(|axis| (axis.name(), axis.values.iter().map(text).collect()))
    }

    /// The trial that a search starts with: the settings it was given.
    pub fn start(&self) -> (Settings, Vec<Choice>) {
        let choices = self.axes.iter().map(|axis| Choice { name: axis.name(), value: None });
        (self.base.clone(), choices.collect())
    }

    /// The trial of a number that changes some of a parent's choices, or all of what the search started with.
    ///
    /// # Errors
    /// When choices do not go together.
    pub fn trial(&self, seed: u64, number: u64, parent: Option<&[Choice]>) -> Result<(Settings, Vec<Choice>)> {
        let mut random = stream(seed, "trial", number);
        let one = random.random_range(0..self.axes.len());
        let mut settings = self.base.clone();
        let mut choices = Vec::with_capacity(self.axes.len());
        for (at, axis) in self.axes.iter().enumerate() {
            let drawn = axis.values[random.random_range(0..axis.values.len())].clone();
            let kept = parent.filter(|_| !random.random_bool(CHANGED) && at != one);
            let value = kept.map_or(Some(drawn), |parent| parent[at].value.clone());
            if let Some(value) = &value {
                settings = assign(&settings, axis, value)?;
            }
            choices.push(Choice { name: axis.name(), value });
        }
        Ok((settings, choices))
    }
}

/// In this order: the scheme, the masking, the features, the method, the training.
fn axes(base: &Settings, level: TaskLevel, has_features: bool, most_epochs: Option<usize>) -> Vec<Axis> {
    let mut axes = Vec::new();
    let method = base.method.as_any();
    if method.default_views().is_some() {
        axes.extend(base.scheme.as_ref().map(|scheme| scheme.search_axes()).into_iter().flatten());
        if base.feature_masking.is_some() {
            axes.push(Axis::tied(["feature_masking.first.rate", "feature_masking.second.rate"], FEATURE_MASKS));
        }
    }
    if level == TaskLevel::Nodes && has_features {
        axes.push(Axis::new("features.normalize_rows", [false, true]));
    }
    axes.extend(method.search_axes(level));
    // What is compared with an untrained encoder is trained.
    if method.untrained().is_some() {
        axes.push(Axis::new("training.learning_rate", [1e-4, 3e-4, 1e-3, 3e-3]));
        axes.push(Axis::new("training.weight_decay", [0.0, 1e-5, 1e-4]));
        let mut epochs: Vec<usize> = match level {
            TaskLevel::Nodes => vec![50, 100, 200, 300, 500],
            TaskLevel::Graphs => vec![5, 10, 20, 40, 100],
        };
        if let Some(most) = most_epochs {
            epochs.iter_mut().for_each(|epochs| *epochs = most.min(*epochs));
            epochs.dedup();
        }
        axes.push(Axis::new("training.epochs", epochs));
    }
    axes.retain(|axis| !axis.values.is_empty());
    axes
}

fn assign(settings: &Settings, axis: &Axis, value: &Value) -> Result<Settings> {
    let mut settings = settings.clone();
    for key in &axis.keys {
        settings = settings_tree::assign_value(&settings, key, value.clone())?;
    }
    Ok(settings)
}

/// A value for people: of a table its name, then its settings.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(table) => {
            let name = table.get("name").map(text);
            let others =
                table.iter().filter(|(key, _)| *key != "name").map(|(key, value)| format!("{key} {}", text(value)));
            name.into_iter().chain(others).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fiedler_augment::SchemeSettings;
    use fiedler_graph::NoObserver;
    use fiedler_io::ReadOptions;
    use fiedler_learn::method::MethodSettings;

    use super::*;

    fn task() -> Result<Task> {
        Task::open("sbm:nodes=60", &ReadOptions::default(), 0, &NoObserver)
    }

    #[test]
    fn axes_of_every_method_and_scheme_fit_their_settings() -> Result<()> {
        let task = task()?;
        for method in MethodSettings::ALL {
            for level in [TaskLevel::Nodes, TaskLevel::Graphs] {
                let base = settings_tree::with_method(&Settings::paper(level), method.name)?.resolved();
                for axis in axes(&base, level, true, None) {
                    for value in &axis.values {
                        let made = assign(&base, &axis, value)?;
                        assert_eq!(made.method.name(), method.name, "{axis:?}");
                    }
                }
            }
        }
        for (name, _) in SchemeSettings::ALL {
            let base = settings_tree::with_scheme(&Settings::default(), name)?;
            let space = Space::new(&base, &task, None)?;
            let (settings, choices) = space.trial(0, 1, None)?;
            assert_eq!(settings.scheme.as_ref().map(SchemeSettings::name), Some(*name));
            assert_eq!(choices.len(), space.axes.len());
        }
        Ok(())
    }

    #[test]
    fn other_methods_stay_what_they_are() -> Result<()> {
        let task = task()?;
        let base = settings_tree::with_method(&Settings::default(), "dgi")?;
        let space = Space::new(&base, &task, Some(7))?;
        let names: Vec<String> = space.axes().map(|(name, _)| name).collect();
        assert!(names.contains(&"method.encoder.hidden_channels".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("scheme") || name.contains("masking")), "{names:?}");
        for number in 0..20 {
            let (settings, _) = space.trial(3, number, None)?;
            assert!(matches!(settings.method, MethodSettings::Dgi(_)) && settings.training.epochs <= 7);
        }
        Ok(())
    }

    #[test]
    fn an_axis_that_does_not_fit_is_an_error() {
        let base = Settings::default();
        let unknown_word = Axis::new("method.readout.projector", ["cake"]);
        let error = assign(&base, &unknown_word, &unknown_word.values[0]).unwrap_err();
        assert!(error.in_one_line().contains("cake"), "{}", error.in_one_line());
        let unknown_key = Axis::new("method.loss.temprature", [0.5]);
        let error = assign(&base, &unknown_key, &unknown_key.values[0]).unwrap_err();
        assert!(error.in_one_line().contains("method.loss.temperature"), "{}", error.in_one_line());
    }
}
