//! Labels of the kind that columns of text suggest.

use fiedler_graph::{Classes, Labels, MultiLabel, Regression};

/// Classes, tasks or real values; an error says what stands in the way.
pub(crate) fn from_columns(names: Vec<String>, columns: Vec<Vec<String>>) -> Result<Labels, String> {
    match columns.as_slice() {
        [] => Err("no column of labels".into()),
        [column] => one_column(names, column),
        _ => several_columns(names, &columns),
    }
}

fn one_column(names: Vec<String>, column: &[String]) -> Result<Labels, String> {
    let known = || column.iter().filter(|cell| !is_missing(cell));
    let numbers: Option<Vec<f64>> = known().map(|cell| number(cell)).collect();
    match numbers {
        Some(numbers) if numbers.iter().any(|number| number.fract() != 0.0) => real_values(names, &[column.to_vec()]),
        // A column of whole numbers with gaps often comes as 1.0, 2.0 …: these are the classes 1, 2 ….
        Some(_) => {
            let whole = |cell: &String| match number(cell) {
                Some(number) if cell.contains('.') => number.to_string(),
                _ => cell.clone(),
            };
            let classes = column.iter().map(|cell| (!is_missing(cell)).then(|| whole(cell)));
            Ok(Labels::Classes(Classes::from_labels(classes)))
        }
        None => {
            let classes = column.iter().map(|cell| (!is_missing(cell)).then_some(cell));
            Ok(Labels::Classes(Classes::from_labels(classes)))
        }
    }
}

fn several_columns(names: Vec<String>, columns: &[Vec<String>]) -> Result<Labels, String> {
    let yes_or_no = columns.iter().flatten().all(|cell| is_missing(cell) || answer(cell).is_some());
    if !yes_or_no {
        return real_values(names, columns);
    }
    let rows = columns[0].len();
    let answers = (0..rows).flat_map(|row| columns.iter().map(move |column| answer(&column[row]))).collect();
    MultiLabel::new(names, answers).map(Labels::MultiLabel).map_err(|error| error.to_string())
}

fn real_values(names: Vec<String>, columns: &[Vec<String>]) -> Result<Labels, String> {
    let mut values = Vec::with_capacity(columns.len() * columns[0].len());
    for row in 0..columns[0].len() {
        for (column, name) in columns.iter().zip(&names) {
            let cell = &column[row];
            values.push(match number(cell) {
                Some(number) => Some(number as f32),
                None if is_missing(cell) => None,
                None => return Err(format!("{cell:?} in the label column {name:?} beside other label columns")),
            });
        }
    }
    Regression::new(names, values).map(Labels::Regression).map_err(|error| error.to_string())
}

fn is_missing(cell: &str) -> bool {
    cell.is_empty() || cell.eq_ignore_ascii_case("nan")
}

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite())
}

fn answer(cell: &str) -> Option<bool> {
    match number(cell) {
        Some(0.0) => Some(false),
        Some(1.0) => Some(true),
        Some(_) => None,
        None if cell.eq_ignore_ascii_case("true") => Some(true),
        None if cell.eq_ignore_ascii_case("false") => Some(false),
        None => None,
    }
}
