//! Which columns of a table of molecules are to be predicted.

use fiedler_graph::{Classes, Labels, MultiLabel, Regression, Split};

use super::rows::{Column, Rows};
use crate::error::{Error, Place, Result};
use crate::read::ReadOptions;
use crate::{role, split_words};

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

/// Columns left out that are noted by name at most.
const MOST_NOTED: usize = 12;
/// Columns that number the rows or name them by a number.
const IDENTIFIERS: [&str; 9] = ["", "num", "id", "index", "unnamed: 0", "mol_id", "cid", "compound id", "zinc_id"];

/// The labels of the rows that were kept; `None` for a table without any.
///
/// Columns the user names; else those published for a known set; else what [`automatic`] finds.
pub(super) fn choose(
    rows: &Rows,
    kept: &[u32],
    options: &ReadOptions,
    place: &Place,
    notes: &mut Vec<String>,
) -> Result<Option<Labels>> {
    let columns = if options.columns.is_empty() {
        published(rows).unwrap_or_else(|| automatic(rows, notes))
    } else {
        options.columns.iter().map(|name| named(rows, name)).collect::<Result<_>>()?
    };
    if let [column] = columns.as_slice()
        && let Some(words) = column.words(kept)
    {
        return Ok(Some(Labels::Classes(Classes::from_labels(words))));
    }
    if let Some((column, (line, text))) = columns.iter().find_map(|column| Some((column, column.text.as_ref()?))) {
        let place = place.member(format!("column {}", column.name)).line(*line);
        let expected =
            "numbers in a column that is to be predicted, or the same few words again and again in the only one";
        return Err(place.malformed(format!("{text:?}"), expected).into());
    }
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

/// Columns that say which part of a split a molecule is in.
pub(super) fn splits(rows: &Rows, kept: &[u32]) -> Vec<Split> {
    let split = |column: &Column| {
        let name = split_words::announced(&column.name)?;
        let words = column.words(kept)?;
        split_words::from_words(name, words.into_iter().map(Option::unwrap_or_default)).ok()
    };
    rows.columns.iter().filter_map(split).collect()
}

/// Whether a column is a split rather than something to predict.
fn is_split(column: &Column, rows: &Rows) -> bool {
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    split_words::announced(&column.name).is_some()
        && column
            .words(&all)
            .is_some_and(|words| split_words::from_words("", words.into_iter().map(Option::unwrap_or_default)).is_ok())
}

fn find<'a>(rows: &'a Rows, name: &str) -> Option<&'a Column> {
    let same = |column: &&Column| column.name.trim().eq_ignore_ascii_case(name.trim());
    rows.columns.iter().find(|column| column.name == name).or_else(|| rows.columns.iter().find(same))
}

fn named<'a>(rows: &'a Rows, name: &str) -> Result<&'a Column> {
    let names = || rows.columns.iter().map(|column| column.name.as_str());
    find(rows, name).ok_or_else(|| Error::unknown_name("column to predict", name, names()))
}

fn published(rows: &Rows) -> Option<Vec<&Column>> {
    let has = |name: &&str| rows.columns.iter().any(|column| column.name == **name);
    let set = PUBLISHED.iter().find(|set| set.marks.iter().all(has))?;
    let columns: Vec<&Column> = set.targets.iter().filter_map(|name| find(rows, name)).collect();
    columns.iter().all(|column| column.is_numeric()).then_some(columns)
}

/// What is most likely to be predicted: the column that is called so; else all columns of 0 and 1, for questions are what was measured
/// and other numbers describe the molecule; else all columns of numbers; else the only column of classes. What is left out is noted.
fn automatic<'a>(rows: &'a Rows, notes: &mut Vec<String>) -> Vec<&'a Column> {
    let identifies = |column: &Column| {
        let is_name = rows.name_column.as_ref() == Some(&column.name);
        is_name || IDENTIFIERS.iter().any(|name| column.name.eq_ignore_ascii_case(name))
    };
    let candidates: Vec<&Column> =
        rows.columns.iter().filter(|column| !identifies(column) && !is_split(column, rows)).collect();
    let of = |fits: &dyn Fn(&Column) -> bool| -> Vec<&'a Column> {
        candidates.iter().copied().filter(|column| fits(column)).collect()
    };
    let classes = of(&Column::is_classes);
    let chosen = [
        of(&|column| role::is_label(&column.name) && (column.is_classes() || column.is_numeric())),
        of(&Column::is_yes_or_no),
        of(&Column::is_numeric),
        classes.clone(),
    ];
    let mut chosen = chosen.into_iter().find(|columns| !columns.is_empty()).unwrap_or_default();
    let mixed = chosen.iter().any(|column| column.is_classes());
    if mixed && chosen.len() > 1 {
        let names: Vec<&str> = chosen.iter().map(|column| column.name.as_str()).collect();
        notes.push(format!(
            "each of the columns {} could be what is to be predicted; name one as target",
            names.join(", ")
        ));
        chosen.clear();
    }
    let is_chosen = |column: &Column| chosen.iter().any(|other| std::ptr::eq(*other, column));
    let mut left: Vec<String> = Vec::new();
    for column in candidates.iter().filter(|column| !is_chosen(column)) {
        left.push(format!("{:?} ({})", column.name, column.left_out()));
    }
    if !left.is_empty() {
        let more = left.len().saturating_sub(MOST_NOTED);
        left.truncate(MOST_NOTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = match chosen.as_slice() {
            [] => "nothing is taken as what is to be predicted".to_owned(),
            [one] => format!("{:?} is taken as what is to be predicted", one.name),
            several => format!("{} columns are taken as what is to be predicted", several.len()),
        };
        notes
            .push(format!("{what}; columns left out: {}{more}; name the targets to choose otherwise", left.join(", ")));
    }
    chosen
}

impl Column {
    /// Why the column is not what is to be predicted, in a few words.
    fn left_out(&self) -> String {
        match &self.text {
            _ if self.is_yes_or_no() => "0 and 1".into(),
            _ if self.is_numeric() => "numbers".into(),
            _ if self.is_classes() => "words".into(),
            Some((line, text)) => format!("{text:?} on line {line} is no number"),
            None => "empty".into(),
        }
    }
}
