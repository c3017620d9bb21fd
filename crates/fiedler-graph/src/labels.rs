//! What is to be predicted: classes, yes-or-no tasks, or real values.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::features::gather;
use crate::fingerprint;

/// One label a node or graph, some of which may be missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Labels {
    /// One class each.
    Classes(Classes),
    /// Several yes-or-no questions each.
    MultiLabel(MultiLabel),
    /// One or more real values each.
    Regression(Regression),
}

/// One class each; the user's names for the classes are remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    names: Vec<String>,
    of: Vec<Option<u32>>,
}

/// Several yes-or-no questions each, `None` where the answer is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiLabel {
    names: Vec<String>,
    answers: Vec<Option<bool>>,
}

/// One or more real values each, `None` where one is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    names: Vec<String>,
    values: Vec<Option<f32>>,
}

impl Labels {
    /// Number of nodes or graphs.
    pub fn len(&self) -> usize {
        match self {
            Labels::Classes(classes) => classes.of.len(),
            Labels::MultiLabel(tasks) => tasks.answers.len() / tasks.names.len().max(1),
            Labels::Regression(values) => values.values.len() / values.names.len().max(1),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The classes, when that is what these labels are.
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Labels::Classes(classes) => Some(classes),
            _ => None,
        }
    }

    /// How many labels are missing, over all columns.
    pub fn missing(&self) -> usize {
        match self {
            Labels::Classes(classes) => classes.of.iter().filter(|class| class.is_none()).count(),
            Labels::MultiLabel(tasks) => tasks.answers.iter().filter(|answer| answer.is_none()).count(),
            Labels::Regression(values) => values.values.iter().filter(|value| value.is_none()).count(),
        }
    }

    /// The same labels as seen by one who must not know those of the given nodes or graphs; classes and columns stay as they are.
    ///
    /// ```
    /// use fiedler_graph::{Classes, Labels};
    /// let labels = Labels::Classes(Classes::from_integers([Some(0), Some(1), Some(2)]));
    /// let Labels::Classes(hidden) = labels.without(&[1]) else { unreachable!() };
    /// assert_eq!((hidden.of(), hidden.count()), (&[Some(0), None, Some(2)][..], 3));
    /// ```
    pub fn without(&self, items: &[u32]) -> Labels {
        let mut labels = self.clone();
        match &mut labels {
            Labels::Classes(classes) => clear(&mut classes.of, 1, items),
            Labels::MultiLabel(tasks) => clear(&mut tasks.answers, tasks.names.len(), items),
            Labels::Regression(values) => clear(&mut values.values, values.names.len(), items),
        }
        labels
    }

    /// The labels of the chosen nodes or graphs, in the order given; classes and columns stay as they are.
    ///
    /// ```
    /// use fiedler_graph::{Classes, Labels};
    /// let labels = Labels::Classes(Classes::from_integers([Some(0), Some(1), Some(2)]));
    /// let Labels::Classes(chosen) = labels.gather(&[2, 0]) else { unreachable!() };
    /// assert_eq!((chosen.of(), chosen.count()), (&[Some(2), Some(0)][..], 3));
    /// ```
    ///
    /// # Panics
    /// When one of them does not exist.
    pub fn gather(&self, items: &[u32]) -> Labels {
        let mut labels = self.clone();
        match &mut labels {
            Labels::Classes(classes) => classes.of = gather(&classes.of, 1, items),
            Labels::MultiLabel(tasks) => tasks.answers = gather(&tasks.answers, tasks.names.len(), items),
            Labels::Regression(values) => values.values = gather(&values.values, values.names.len(), items),
        }
        labels
    }

    /// A hash of all labels, those that are missing included, and of nothing else: names of classes do not count.
    ///
    /// ```
    /// use fiedler_graph::{Classes, Labels};
    /// let labels = Labels::Classes(Classes::from_integers([Some(0), Some(1), Some(2)]));
    /// assert_eq!(labels.fingerprint(), labels.clone().fingerprint());
    /// assert_ne!(labels.fingerprint(), labels.without(&[1]).fingerprint());
    /// ```
    pub fn fingerprint(&self) -> String {
        fingerprint::of_labels(self)
    }
}

fn clear<T>(rows: &mut [Option<T>], columns: usize, items: &[u32]) {
    for &item in items {
        rows[item as usize * columns..(item as usize + 1) * columns].iter_mut().for_each(|cell| *cell = None);
    }
}

impl Classes {
    /// The class of each item by its number, and the names of the classes.
    ///
    /// ```
    /// use fiedler_graph::Classes;
    /// let classes = Classes::new(vec!["b".into(), "a".into()], vec![Some(1), None, Some(0)])?;
    /// assert_eq!((classes.count(), classes.of()[0]), (2, Some(1)));
    /// assert!(Classes::new(vec!["a".into()], vec![Some(1)]).is_err());
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a class has no name.
    pub fn new(names: Vec<String>, of: Vec<Option<u32>>) -> Result<Classes> {
        if let Some(class) = of.iter().flatten().find(|class| **class as usize >= names.len()) {
            return Err(Error::setting("class", class, format!("a number below {}", names.len())));
        }
        Ok(Classes { names, of })
    }

    /// Maps labels of any kind to classes 0, 1, 2 …: in numeric order when all are whole numbers, else alphabetically.
    ///
    /// ```
    /// use fiedler_graph::Classes;
    /// let classes = Classes::from_labels([Some("10"), Some("9"), None, Some("-1")]);
    /// assert_eq!(classes.names(), ["-1", "9", "10"]);
    /// assert_eq!(classes.of(), [Some(2), Some(1), None, Some(0)]);
    /// ```
    pub fn from_labels<S: AsRef<str>>(labels: impl IntoIterator<Item = Option<S>>) -> Classes {
        let mut code_of: BTreeMap<String, u32> = BTreeMap::new();
        let mut seen = Vec::new();
        for label in labels {
            seen.push(label.map(|label| {
                let next = code_of.len() as u32;
                match code_of.get(label.as_ref()) {
                    Some(&code) => code,
                    None => *code_of.entry(label.as_ref().to_owned()).or_insert(next),
                }
            }));
        }
        let mut names: Vec<(String, u32)> = code_of.into_iter().collect();
        if let Ok(numbers) = names.iter().map(|(name, _)| name.parse::<i64>()).collect::<Result<Vec<_>, _>>() {
            let mut numbered: Vec<_> = numbers.into_iter().zip(names).collect();
            numbered.sort();
            names = numbered.into_iter().map(|(_, entry)| entry).collect();
        }
        let mut rank = vec![0; names.len()];
        for (class, (_, code)) in names.iter().enumerate() {
            rank[*code as usize] = class as u32;
        }
        let of = seen.into_iter().map(|code| code.map(|code| rank[code as usize])).collect();
        Classes { names: names.into_iter().map(|(name, _)| name).collect(), of }
    }

    /// Classes given by whole numbers.
    pub fn from_integers(labels: impl IntoIterator<Item = Option<i64>>) -> Classes {
        Classes::from_labels(labels.into_iter().map(|label| label.map(|label| label.to_string())))
    }

    /// The same classes under other names, in the order of [`Classes::names`].
    ///
    /// # Errors
    /// When there is not one name for each class.
    pub fn with_names(self, names: Vec<String>) -> Result<Classes> {
        if names.len() != self.names.len() {
            let expected = format!("one for each of {} classes", self.names.len());
            return Err(Error::setting("number of class names", names.len(), expected));
        }
        Ok(Classes { names, ..self })
    }

    /// The user's names for the classes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The class of each node or graph.
    pub fn of(&self) -> &[Option<u32>] {
        &self.of
    }

    /// Number of classes.
    pub fn count(&self) -> usize {
        self.names.len()
    }
}

impl MultiLabel {
    /// Row after row of answers, one a task.
    ///
    /// # Errors
    /// When the answers do not fill the rows.
    pub fn new(names: Vec<String>, answers: Vec<Option<bool>>) -> Result<MultiLabel> {
        check_rows(&names, answers.len())?;
        Ok(MultiLabel { names, answers })
    }

    /// Names of the tasks.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The answers for one node or graph.
    pub fn row(&self, row: usize) -> &[Option<bool>] {
        &self.answers[row * self.names.len()..(row + 1) * self.names.len()]
    }
}

impl Regression {
    /// Row after row of values, one a column.
    ///
    /// # Errors
    /// When the values do not fill the rows, or one is not finite.
    pub fn new(names: Vec<String>, values: Vec<Option<f32>>) -> Result<Regression> {
        check_rows(&names, values.len())?;
        if let Some(bad) = values.iter().flatten().find(|value| !value.is_finite()) {
            return Err(Error::setting("label", bad, "a finite number"));
        }
        Ok(Regression { names, values })
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of one node or graph.
    pub fn row(&self, row: usize) -> &[Option<f32>] {
        &self.values[row * self.names.len()..(row + 1) * self.names.len()]
    }
}

fn check_rows(names: &[String], values: usize) -> Result<()> {
    if names.is_empty() || !values.is_multiple_of(names.len()) {
        return Err(Error::setting("number of labels", values, format!("rows of {}", names.len())));
    }
    Ok(())
}
