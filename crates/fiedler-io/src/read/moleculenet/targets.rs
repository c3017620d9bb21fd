//! Which columns of a table of molecules are to be predicted.

use fiedler_graph::{Labels, MultiLabel, Regression};

use super::rows::{Column, Rows};
use crate::error::{Error, Place, Result};
use crate::read::ReadOptions;

/// A published set whose table holds more than what is to be predicted.
struct Published {
    /// Columns that tell the set from any other.
    marks: &'static [&'static str],
    /// What is to be predicted.
    targets: &'static [&'static str],
}

const PUBLISHED: [Published; 7] = [
    Published { marks: &["p_np"], targets: &["p_np"] },
    Published {
        marks: &["ESOL predicted log solubility in mols per litre"],
        targets: &["measured log solubility in mols per litre"],
    },
    Published { marks: &["expt", "calc"], targets: &["expt"] },
    Published { marks: &["CMPD_CHEMBLID", "exp"], targets: &["exp"] },
    Published { marks: &["FDA_APPROVED", "CT_TOX"], targets: &["FDA_APPROVED", "CT_TOX"] },
    Published { marks: &["HIV_active"], targets: &["HIV_active"] },
    Published { marks: &["pIC50", "Class"], targets: &["Class"] },
];

/// Columns that number the rows or name them by a number.
const IDENTIFIERS: [&str; 9] = ["", "num", "id", "index", "unnamed: 0", "mol_id", "cid", "compound id", "zinc_id"];

/// The labels of the rows that were kept; `None` for a table without any.
///
/// Columns the user names; else those published for a known set; else every column of numbers.
pub(super) fn choose(
    rows: &Rows,
    kept: &[u32],
    options: &ReadOptions,
    place: &Place,
    notes: &mut Vec<String>,
) -> Result<Option<Labels>> {
    let columns = if options.columns.is_empty() {
        published(rows).unwrap_or_else(|| numbers(rows, notes))
    } else {
        options.columns.iter().map(|name| named(rows, name, place)).collect::<Result<_>>()?
    };
    if columns.is_empty() {
        return Ok(None);
    }
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let fields = kept.iter().flat_map(|&row| columns.iter().map(move |column| column.values[row as usize]));
    let present = |value: f32| (!value.is_nan()).then_some(value);
    Ok(Some(if columns.iter().all(|column| column.is_yes_or_no()) {
        Labels::MultiLabel(MultiLabel::new(
            names,
            fields.map(|value| present(value).map(|value| value == 1.0)).collect(),
        )?)
    } else {
        Labels::Regression(Regression::new(names, fields.map(present).collect())?)
    }))
}

fn find<'a>(rows: &'a Rows, name: &str) -> Option<&'a Column> {
    let same = |column: &&Column| column.name.trim().eq_ignore_ascii_case(name.trim());
    rows.columns.iter().find(|column| column.name == name).or_else(|| rows.columns.iter().find(same))
}

fn named<'a>(rows: &'a Rows, name: &str, place: &Place) -> Result<&'a Column> {
    let Some(column) = find(rows, name) else {
        let names = rows.columns.iter().map(|column| column.name.as_str());
        return Err(Error::unknown_name("column to predict", name, names));
    };
    if let Some((line, text)) = &column.text {
        let place = place.member(format!("column {}", column.name)).line(*line);
        return Err(place.malformed(format!("{text:?}"), "numbers in a column that is to be predicted").into());
    }
    Ok(column)
}

fn published(rows: &Rows) -> Option<Vec<&Column>> {
    let has = |name: &&str| rows.columns.iter().any(|column| column.name == **name);
    let set = PUBLISHED.iter().find(|set| set.marks.iter().all(has))?;
    let columns: Vec<&Column> = set.targets.iter().filter_map(|name| find(rows, name)).collect();
    columns.iter().all(|column| column.is_numeric()).then_some(columns)
}

/// Every column of numbers. Questions and values do not mix: where there are both, the questions are what was measured, and
/// the values most likely describe the molecule.
fn numbers<'a>(rows: &'a Rows, notes: &mut Vec<String>) -> Vec<&'a Column> {
    let identifies = |column: &Column| IDENTIFIERS.iter().any(|name| column.name.eq_ignore_ascii_case(name));
    let numeric = rows.columns.iter().filter(|column| column.is_numeric() && !identifies(column));
    let (questions, values): (Vec<&Column>, Vec<&Column>) = numeric.partition(|column| column.is_yes_or_no());
    if questions.is_empty() || values.is_empty() {
        return if questions.is_empty() { values } else { questions };
    }
    let list = |columns: &[&Column]| columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    notes.push(format!(
        "the columns with only 0 and 1 are taken as what is to be predicted ({}), the other numbers left out ({}); \
         name the targets to choose otherwise",
        list(&questions),
        list(&values)
    ));
    questions
}
