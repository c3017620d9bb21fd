//! Search axes: settings that a hyperparameter search may change, with the values that are worth a try.

use serde_json::Value;

/// One axis of a search space: a setting by its key in the settings of a run, and its candidate values.
///
/// ```
/// use fiedler_augment::Axis;
///
/// let axis = Axis::new("scheme.ratio", [0.1, 0.3, 0.5]);
/// assert_eq!((axis.name(), axis.values.len()), ("scheme.ratio".to_owned(), 3));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Keys that always have the same value, such as that of the first and of the second view; usually one.
    pub keys: Vec<&'static str>,
    /// Candidate values: numbers, words, or tables of settings.
    pub values: Vec<Value>,
}

impl Axis {
    /// An axis of one key.
    pub fn new<V: Into<Value>>(key: &'static str, values: impl IntoIterator<Item = V>) -> Axis {
        Axis::tied([key], values)
    }

    /// An axis of several keys that have the same value in every trial.
    pub fn tied<V: Into<Value>>(
        keys: impl IntoIterator<Item = &'static str>,
        values: impl IntoIterator<Item = V>,
    ) -> Axis {
        Axis { keys: keys.into_iter().collect(), values: values.into_iter().map(Into::into).collect() }
    }

    /// Name in tables: the key, or all of them.
    pub fn name(&self) -> String {
        self.keys.join(" = ")
    }
}
