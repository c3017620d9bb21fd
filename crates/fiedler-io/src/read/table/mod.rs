//! Features and labels of nodes from tables beside a graph: csv and its kin, npy, parquet.
//!
//! **Rows.** A table may have a column of ids: when its header calls it `id`, `node` or the like (in the first column also
//! `name`, `index` or nothing), or when the values of the first column are exactly the graph's node names. Rows then belong to the
//! nodes of those names, in any order; rows of no node are left out, with a note. Every node must have a row of
//! features; a node without a row of labels has no label. Without ids, row k belongs to node k. In an edge list of
//! whole numbers that is the node whose id is k, so that nodes without edges exist as well. In a set of graphs nodes
//! are counted through.
//!
//! **Features** are finite numbers.
//!
//! **Labels.** One column of whole numbers or words is classes, of numbers with fractions real values. Several columns
//! of 0 and 1 are tasks, of other numbers real values. An empty field or `nan` is a missing label. Columns called `split` or `split:NAME` beside them are
//! splits, in the words of [`split_words`](crate::split_words).

mod array;
mod file;
mod labels;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
mod text;

use std::path::{Path, PathBuf};

use fiedler_graph::{Dataset, Dense, Features, Labels, Split, StoredFeatures};

use super::{ReadOptions, edge_list, npz, separated};
use crate::error::{Error, Place, Result};
use crate::input::{DataSource, File};
use crate::role;
use crate::split_words;

pub use file::TableFile;
pub(crate) use labels::from_columns as labels_from_columns;

/// What the features beside an edge list may be called, after its name.
const FEATURES_BESIDE: [&str; 2] = [edge_list::NPY_FEATURES, edge_list::CSV_FEATURES];

/// Rows of cells, whatever file they come from.
trait Table {
    fn rows(&self) -> usize;
    fn columns(&self) -> usize;
    /// Names of the columns, where the file has them.
    fn names(&self) -> Option<&[String]>;
    /// Where the table, or one of its rows, came from.
    fn place(&self, row: Option<usize>) -> Place;
    /// The cells of a column as text; `None` when they cannot be ids.
    fn column(&self, at: usize) -> Result<Option<Vec<String>>>;
    /// Columns of text, missing cells being empty.
    fn texts(&self, columns: &[usize]) -> Result<Vec<Vec<String>>>;
    /// Row after row of numbers, of the given columns; where `gaps` are admitted, not a number for each.
    fn numbers(&self, columns: &[usize], gaps: bool) -> Result<Vec<f32>>;
    /// How many leading columns whoever wrote the file calls the index of its rows.
    fn index_columns(&self) -> usize {
        0
    }
}

/// What to try where a feature is no number.
const NOT_A_FEATURE: &str = "features are numbers; number categories, fill gaps with --fill zeros or --fill mean, and name what is to be predicted with --targets";

/// Columns that hold ids rather than values, as headers and the file's own index say; those that are surely ids come first.
fn id_columns(table: &dyn Table) -> Vec<usize> {
    let mut columns = role::id_columns(table.names().unwrap_or_default());
    for column in (0..table.index_columns()).filter(|_| table.columns() > table.index_columns()) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// Attaches the features and labels that the options name, or that lie beside an edge list.
pub(super) fn attach(dataset: &mut Dataset, input: &DataSource, options: &ReadOptions) -> Result<()> {
    if let Some(path) = npy_path(dataset, input, options) {
        let rows = npz::stored(&path)?;
        rows::by_number(dataset, rows.rows, &Place::file(&path))?;
        dataset.stored_features = Some(StoredFeatures::new(rows)?);
        if options.features.is_none() {
            let note = format!("features are read from {}, beside the edge list", path.display());
            dataset.report.notes.push(note);
        }
        (dataset.features, dataset.feature_names) = (None, None);
    } else if let Some(table) = given(dataset, input, options.features.as_deref(), &FEATURES_BESIDE, "features")? {
        let (features, names) = features(dataset, table.as_ref(), options)?;
        (dataset.features, dataset.stored_features) = (Some(features), None);
        dataset.feature_names = names;
    }
    // What is to be predicted may stand among the features.
    let labels = options.labels.as_deref().or(options.features.as_deref().filter(|_| !options.columns.is_empty()));
    if let Some(table) = given(dataset, input, labels, &[edge_list::LABELS], "labels")? {
        let (labels, splits) = labels_of(dataset, table.as_ref(), &options.columns)?;
        if let Some(labels) = labels {
            dataset.node_labels = Some(labels);
        }
        if !splits.is_empty() {
            dataset.splits = splits;
        }
    }
    Ok(())
}

/// The npy file that features are to stay in, if that is wanted and they are in one.
fn npy_path(dataset: &Dataset, input: &DataSource, options: &ReadOptions) -> Option<PathBuf> {
    let of_edge_list = || {
        let name = edge_list::beside(input, &FEATURES_BESIDE)?;
        input.file_path(&name).filter(|_| dataset.report.format == edge_list::FORMAT.name)
    };
    let path = options.features.clone().or_else(of_edge_list).filter(|_| options.stream_features)?;
    let source = DataSource::open(&path).ok()?;
    let name = source.file_name()?;
    (source.file_path(name).is_some() && source.head(name, array::MAGIC.len()).ok()? == array::MAGIC).then_some(path)
}

/// The table at a path, if one is given, or else the one that belongs to an edge list.
fn given(
    dataset: &mut Dataset,
    input: &DataSource,
    path: Option<&Path>,
    beside: &[&str],
    what: &str,
) -> Result<Option<Box<dyn Table>>> {
    if let Some(path) = path {
        return open(path).map(Some);
    }
    if dataset.report.format != edge_list::FORMAT.name {
        return Ok(None);
    }
    let Some(name) = edge_list::beside(input, beside) else { return Ok(None) };
    dataset.report.notes.push(format!("{what} were read from {name}, beside the edge list"));
    table(input.read(&name)?).map(Some)
}

/// How every parquet file begins.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// A file as it is, or, if it is parquet, its table as separated text.
pub(super) fn as_text(file: File) -> Result<File> {
    if !file.bytes().starts_with(PARQUET_MAGIC) {
        return Ok(file);
    }
    let path = file.place().file.clone();
    let table = table(file)?;
    let columns: Vec<usize> = (0..table.columns()).collect();
    let texts = table.texts(&columns)?;
    let mut lines = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &String>| {
        // An empty name would be written in quotes; here it is a cell without a value.
        let fields = cells.map(|cell| if cell.is_empty() { "".into() } else { separated::quote(cell) });
        lines.push_str(&fields.collect::<Vec<_>>().join(","));
        lines.push('\n');
    };
    line(&mut table.names().unwrap_or_default().iter());
    (0..table.rows()).for_each(|row| line(&mut texts.iter().map(|column| &column[row])));
    Ok(File::new(path, lines.into_bytes()))
}

fn open(path: &Path) -> Result<Box<dyn Table>> {
    table(DataSource::open(path)?.read_named()?)
}

fn table(file: File) -> Result<Box<dyn Table>> {
    if file.bytes().starts_with(array::MAGIC) {
        return Ok(Box::new(array::Array::new(file)?));
    }
    if file.bytes().starts_with(PARQUET_MAGIC) {
        #[cfg(feature = "parquet")]
        return Ok(Box::new(parquet::Columns::new(file)?));
        #[cfg(not(feature = "parquet"))]
        return Err(file
            .malformed("a parquet file", "csv or npy, since this build cannot read parquet")
            .hint("build with the feature `parquet`, or save the table as csv or npy")
            .into());
    }
    Ok(Box::new(text::Text::new(file)?))
}

fn features(
    dataset: &mut Dataset,
    table: &dyn Table,
    options: &ReadOptions,
) -> Result<(Features, Option<Vec<String>>)> {
    let rows::Matched { row_of, mut values } = rows::matched(dataset, table, rows::Unknown::JoinEdgeList)?;
    if !options.columns.is_empty() {
        // A label among the features would be predicted from itself; splits are none either.
        let (_, others) = split_columns(table, values);
        if options.labels.is_none() {
            options.columns.iter().try_for_each(|target| named(table, &others, target).map(drop))?;
        }
        let names = table.names().unwrap_or_default();
        values = others
            .into_iter()
            .filter(|&column| names.get(column).is_none_or(|name| !options.columns.contains(name)))
            .collect();
    }
    let fill = options.fill;
    if values.is_empty() {
        return Err(table.place(None).malformed("nothing but node ids", "columns of features").into());
    }
    let names = table.names().map(|names| values.iter().map(|&column| names[column].clone()).collect::<Vec<_>>());
    if let Some(name) = names.iter().flatten().find(|name| role::is_label(name)) {
        dataset
            .report
            .notes
            .push(format!("the column {name:?} was read as a feature, though it is called like a label"));
    }
    let columns = values.len();
    let mut numbers = table.numbers(&values, fill.is_some())?;
    if let Some(fill) = fill {
        if let Some(row_of) = &row_of {
            let own = |row: &Option<u32>| row.map(|row| &numbers[row as usize * columns..(row as usize + 1) * columns]);
            let rows = row_of.iter().map(|row| own(row).map_or_else(|| vec![f32::NAN; columns], <[f32]>::to_vec));
            numbers = rows.flatten().collect();
        }
        let gaps = fill.apply(&mut numbers, columns);
        if gaps > 0 {
            dataset.report.notes.push(fill.note(gaps));
        }
        return Ok((Features::Dense(Dense::new(numbers.len() / columns, columns, numbers)?), names));
    }
    let features = Features::Dense(Dense::new(table.rows(), columns, numbers)?);
    let Some(row_of) = row_of else { return Ok((features, names)) };
    let rows = row_of.iter().enumerate().map(|(node, row)| row.ok_or(node)).collect::<Result<Vec<u32>, usize>>();
    let rows = rows.map_err(|node| {
        let missing = row_of.iter().filter(|row| row.is_none()).count();
        let name = dataset.graphs.block_diagonal().name(node as u32);
        let found = match missing {
            1 => format!("no row for node {name:?}"),
            _ => format!("no row for {missing} nodes, the first of them {name:?}"),
        };
        let malformed = table.place(None).malformed(found, "features for every node");
        Error::from(malformed.hint("add the rows, or fill them with --fill zeros or --fill mean"))
    })?;
    Ok((features.gather(&rows), names))
}

/// Labels of nodes, if the table has any beside splits, and splits.
fn labels_of(dataset: &mut Dataset, table: &dyn Table, targets: &[String]) -> Result<(Option<Labels>, Vec<Split>)> {
    let rows::Matched { row_of, values } = rows::matched(dataset, table, rows::Unknown::LeaveOut)?;
    let (of_splits, mut of_labels) = split_columns(table, values);
    if !targets.is_empty() {
        of_labels = targets.iter().map(|target| named(table, &of_labels, target)).collect::<Result<_>>()?;
    }
    let mut columns = table.texts(&[of_labels.as_slice(), &of_splits].concat())?;
    let names = column_names(table, &of_labels);
    if let Some(row_of) = row_of {
        let missing = row_of.iter().filter(|row| row.is_none()).count();
        if missing > 0 {
            dataset.report.notes.push(format!("{missing} nodes have no row of labels and so no label"));
        }
        for column in &mut columns {
            let cell = |row: &Option<u32>| row.map_or_else(String::new, |row| column[row as usize].clone());
            *column = row_of.iter().map(cell).collect();
        }
    }
    let words = columns.split_off(of_labels.len());
    let splits = splits_from_table(table, &of_splits, &words)?;
    let labels =
        if of_labels.is_empty() && !splits.is_empty() { None } else { Some(labels_from_table(table, names, columns)?) };
    Ok((labels, splits))
}

/// The column of a name, among the given ones.
fn named(table: &dyn Table, columns: &[usize], name: &str) -> Result<usize> {
    let names = table.names().unwrap_or_default();
    columns.iter().copied().find(|&column| names.get(column).is_some_and(|known| known == name)).ok_or_else(|| {
        let known: Vec<&str> = columns.iter().filter_map(|&column| names.get(column).map(String::as_str)).collect();
        let found =
            if names.is_empty() { "columns without names".to_owned() } else { format!("columns {}", known.join(", ")) };
        table.place(None).malformed(found, format!("a column {name:?} to predict")).into()
    })
}

/// The columns that are called splits, and the others.
fn split_columns(table: &dyn Table, columns: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let names = table.names().unwrap_or_default();
    columns
        .into_iter()
        .partition(|&column| names.get(column).is_some_and(|name| split_words::announced(name).is_some()))
}

fn splits_from_table(table: &dyn Table, columns: &[usize], words: &[Vec<String>]) -> Result<Vec<Split>> {
    let names = column_names(table, columns);
    let split = |(header, words): (&String, &Vec<String>)| {
        let name = split_words::announced(header).unwrap_or_default();
        split_words::from_words(name, words.iter().map(String::as_str)).map_err(|word| {
            let malformed = table
                .place(None)
                .malformed(format!("{word:?} in column {header:?}"), "train, validation, test or nothing");
            Error::from(malformed.hint("call the column something else if it is no split"))
        })
    };
    names.iter().zip(words).map(split).collect()
}

fn labels_from_table(table: &dyn Table, names: Vec<String>, columns: Vec<Vec<String>>) -> Result<Labels> {
    labels::from_columns(names, columns).map_err(|found| {
        let malformed = table.place(None).malformed(found, "one column of classes, or several of numbers");
        Error::from(malformed.hint("keep only the columns that are to be predicted"))
    })
}

/// Names of the given columns: the file's, or their numbers.
fn column_names(table: &dyn Table, columns: &[usize]) -> Vec<String> {
    match table.names() {
        Some(names) => columns.iter().map(|&column| names[column].clone()).collect(),
        None => (0..columns.len()).map(|column| column.to_string()).collect(),
    }
}
