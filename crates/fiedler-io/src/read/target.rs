//! What labels are, whichever format they came from, and what a user should know of them.

use fiedler_graph::{Classes, Dataset, Labels, Regression};
use serde::{Deserialize, Serialize};

use super::ReadOptions;
use super::separated::whole_number;
use crate::error::{Error, Result};

/// Classes of whole numbers beyond so many are asked about.
const MANY_CLASSES: usize = 20;

/// What labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Classes, also where they are numbers with fractions.
    Class,
    /// Real values, also where they are whole numbers.
    Regression,
}

impl TargetKind {
    /// Both by their names.
    pub const NAMES: [&str; 2] = ["class", "regression"];
}

impl std::str::FromStr for TargetKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<TargetKind> {
        match name {
            "class" => Ok(TargetKind::Class),
            "regression" => Ok(TargetKind::Regression),
            _ => Err(Error::unknown_name("kind of target", name, TargetKind::NAMES)),
        }
    }
}

/// Makes of the labels to predict what was asked for, and notes gaps and numbers that may be values.
pub(super) fn settle(dataset: &mut Dataset, options: &ReadOptions) -> Result<()> {
    let of_graphs = dataset.graph_labels.is_some();
    let labels = if of_graphs { &mut dataset.graph_labels } else { &mut dataset.node_labels };
    let Some(given) = labels.take() else { return Ok(()) };
    let settled = match options.target {
        None => given,
        Some(TargetKind::Class) => classes(given)?,
        Some(TargetKind::Regression) => values(given)?,
    };
    let missing = settled.missing();
    let columns = match &settled {
        Labels::Classes(_) => 1,
        Labels::MultiLabel(tasks) => tasks.names().len(),
        Labels::Regression(values) => values.names().len(),
    };
    let said = dataset.report.notes.iter().any(|note| note.contains("no label") || note.contains("nor a label"));
    if missing > 0 && !said {
        let items = if of_graphs { "graphs" } else { "nodes" };
        dataset.report.notes.push(match columns {
            1 => format!("{missing} of {} {items} have no label", settled.len()),
            _ => format!("{missing} of {} labels are missing", settled.len() * columns),
        });
    }
    dataset.report.notes.extend(options.target.is_none().then(|| asked_about(&settled)).flatten());
    *labels = Some(settled);
    Ok(())
}

/// A question where classes are many whole numbers that do not simply count: a year, an age, a price.
fn asked_about(labels: &Labels) -> Option<String> {
    let names = labels.classes()?.names();
    if names.len() <= MANY_CLASSES {
        return None;
    }
    let mut numbers: Vec<i64> = names.iter().map(|name| whole_number(name)).collect::<Option<_>>()?;
    numbers.sort_unstable();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let counts = (first == 0 || first == 1) && last - first + 1 == numbers.len() as i64;
    (!counts).then(|| {
        format!(
            "the labels are {} different whole numbers from {first} to {last} and were read as classes; --target regression reads them as values",
            names.len()
        )
    })
}

fn classes(labels: Labels) -> Result<Labels> {
    let one_column = |columns: usize| match columns {
        1 => Ok(()),
        _ => Err(Error::setting("number of label columns", columns, "one, for --target class")),
    };
    Ok(match labels {
        Labels::Classes(classes) => Labels::Classes(classes),
        Labels::MultiLabel(ref tasks) => {
            one_column(tasks.names().len())?;
            Labels::Classes(Classes::from_integers((0..labels.len()).map(|row| tasks.row(row)[0].map(i64::from))))
        }
        Labels::Regression(ref values) => {
            one_column(values.names().len())?;
            let text = |row: usize| values.row(row)[0].map(|value| value.to_string());
            Labels::Classes(Classes::from_labels((0..labels.len()).map(text)))
        }
    })
}

fn values(labels: Labels) -> Result<Labels> {
    Ok(match labels {
        Labels::Classes(classes) => {
            let number = |name: &String| {
                let number = name.parse::<f32>().ok().filter(|number| number.is_finite());
                number.ok_or_else(|| Error::setting("label", format!("{name:?}"), "a number, for --target regression"))
            };
            let numbers: Vec<f32> = classes.names().iter().map(number).collect::<Result<_>>()?;
            let values = classes.of().iter().map(|class| class.map(|class| numbers[class as usize])).collect();
            Labels::Regression(Regression::new(vec!["class".into()], values)?)
        }
        Labels::MultiLabel(ref tasks) => {
            let answers = (0..labels.len()).flat_map(|row| tasks.row(row));
            let values = answers.map(|answer| answer.map(|answer| f32::from(u8::from(answer)))).collect();
            Labels::Regression(Regression::new(tasks.names().to_vec(), values)?)
        }
        Labels::Regression(values) => Labels::Regression(values),
    })
}
