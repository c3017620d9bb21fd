//! Which row of embeddings belongs to which item.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::str::FromStr;

use super::{ItemKind, ItemNames, Items, ids_beside};
use crate::error::{Error, Result};
use crate::read::TableFile;

/// How rows of embeddings are matched to items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// By id where both sides have ids, by order where neither has; else it is an error.
    #[default]
    Automatic,
    /// By id: both sides must have ids.
    Id,
    /// By order: row k belongs to item k, whatever ids there are.
    Order,
    /// By number: the item that is called k has row k, counted from 0.
    Number,
}

impl Matching {
    /// The names of all ways that can be asked for.
    pub const NAMES: [&str; 3] = ["id", "order", "number"];
}

impl FromStr for Matching {
    type Err = Error;

    fn from_str(text: &str) -> Result<Matching> {
        match text {
            "id" => Ok(Matching::Id),
            "order" => Ok(Matching::Order),
            "number" => Ok(Matching::Number),
            _ => Err(Error::unknown_name("way of matching", text, Matching::NAMES)),
        }
    }
}

/// The ids that a table has, or that stand beside it.
pub(super) struct FoundIds {
    /// Columns of the table that are no values.
    pub(super) columns: Vec<usize>,
    /// Ids of the rows, each under the words for where they were found; those that are surely ids first.
    ids: Vec<(String, Vec<String>)>,
}

/// Rows that belong to the items, in their order.
pub(super) struct MatchedRows {
    /// One for each item; `None` where row k belongs to item k.
    pub(super) rows: Option<Vec<u32>>,
    /// Where the ids were found that they were matched by.
    pub(super) ids: Option<String>,
}

/// Ids in columns that headers call so; in a first column that has exactly the items' names; or in the file beside an array.
pub(super) fn find_ids(table: &TableFile, path: &Path, items: Items<'_>) -> Result<FoundIds> {
    let mut found = FoundIds { columns: Vec::new(), ids: Vec::new() };
    let headers = table.names().unwrap_or_default();
    for column in table.id_columns() {
        if let Some(ids) = table.ids(column)? {
            found.ids.push((format!("id column `{}`", headers[column]), ids));
            found.columns.push(column);
        }
    }
    if !found.ids.is_empty() {
        return Ok(found);
    }
    if let Some(ids) = unnamed_ids(table, items)? {
        return Ok(FoundIds { columns: vec![0], ids: vec![("ids in the first column".into(), ids)] });
    }
    let beside = ids_beside(path);
    if headers.is_empty() && beside != path && beside.is_file() {
        let other = TableFile::open(&beside)?;
        if other.rows() != table.rows() {
            let expected = format!("{}, as there are in {}", table.rows(), path.display());
            let malformed = other.place(None).malformed(format!("{} rows", other.rows()), expected);
            return Err(malformed.hint("remove the file if it is not that of these embeddings").into());
        }
        let names = other.names().unwrap_or_default();
        let file = beside.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for (column, name) in names.iter().enumerate() {
            if let Some(ids) = other.ids(column)? {
                found.ids.push((format!("ids of {file}, column `{name}`"), ids));
            }
        }
    }
    Ok(found)
}

/// Ids in a first column that has exactly the items' names, whatever its header. A column with a header that says something else counts
/// only for names that are more than a count.
fn unnamed_ids(table: &TableFile, items: Items<'_>) -> Result<Option<Vec<String>>> {
    let count = items.labels.len();
    let counted = items.names == ItemNames::Counted;
    let may_be = table.columns() > 1 && table.rows() == count && !(counted && table.names().is_some());
    if !may_be || items.names == ItemNames::Unknown {
        return Ok(None);
    }
    let Some(ids) = table.ids(0)? else { return Ok(None) };
    let has: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let all = match items.names {
        ItemNames::Known(names) => names.iter().all(|name| has.contains(name.as_str())),
        _ => (0..count).all(|item| has.contains(item.to_string().as_str())),
    };
    Ok(all.then_some(ids))
}

/// The row of every item.
pub(super) fn rows(table: &TableFile, found: &FoundIds, items: Items<'_>, matching: Matching) -> Result<MatchedRows> {
    let counts: Vec<String>;
    let names = match items.names {
        ItemNames::Known(names) => Some(names),
        ItemNames::Counted => {
            counts = (0..items.labels.len()).map(|item| item.to_string()).collect();
            Some(counts.as_slice())
        }
        ItemNames::Unknown => None,
    };
    let in_order = MatchedRows { rows: None, ids: None };
    match (matching, found.ids.is_empty(), names) {
        (Matching::Order, ..) => check_count(table, items).map(|()| in_order),
        (Matching::Number, _, Some(names)) => by_number(table, names, items),
        (Matching::Number, _, None) => Err(lacking_ids(table, items)),
        (_, false, Some(names)) => by_id(table, &found.ids, names, items),
        // Rows that are called 0, 1, 2 … in this order are called by their order.
        (Matching::Automatic, false, None) if counts_rows(&found.ids[0].1) => {
            check_count(table, items).map(|()| in_order)
        }
        (_, false, None) => Err(lacking_ids(table, items)),
        (Matching::Automatic, true, None) => check_count(table, items).map(|()| in_order),
        (Matching::Automatic, true, Some(_)) if items.names == ItemNames::Counted => {
            check_count(table, items).map(|()| in_order)
        }
        (_, true, _) => {
            let malformed =
                table.place(None).malformed("rows without ids", format!("ids, as the {} have", labelled(items)));
            let hint = "--match order takes the rows in the order of the labels, --match number row k for what is called k; \
                        or put the ids into a first column `id`";
            Err(malformed.hint(hint).into())
        }
    }
}

fn labelled(items: Items<'_>) -> String {
    format!("labelled {}s", items.kind.name())
}

fn counts_rows(ids: &[String]) -> bool {
    ids.iter().enumerate().all(|(row, id)| *id == row.to_string())
}

fn lacking_ids(table: &TableFile, items: Items<'_>) -> Error {
    let found = format!("rows with ids, where the {} have none", labelled(items));
    let malformed = table.place(None).malformed(found, "ids on both sides, or on none");
    malformed
        .hint("--match order takes the rows in the order of the labels; or give the labels a first column `id`")
        .into()
}

/// By the first ids that all items are among.
fn by_id(
    table: &TableFile,
    found: &[(String, Vec<String>)],
    names: &[String],
    items: Items<'_>,
) -> Result<MatchedRows> {
    for (place, ids) in found {
        let Ok(row_of) = row_of_id(table, ids) else { continue };
        let rows: Option<Vec<u32>> = names.iter().map(|name| row_of.get(name.as_str()).copied()).collect();
        if let Some(rows) = rows {
            return Ok(MatchedRows { rows: Some(rows), ids: Some(place.clone()) });
        }
    }
    let Some((_, ids)) = found.first() else { return Err(lacking_ids(table, items)) };
    let row_of = row_of_id(table, ids)?;
    let kind = items.kind.name();
    let mut missing = names.iter().filter(|name| !row_of.contains_key(name.as_str()));
    let first = missing.next().map(String::as_str).unwrap_or_default();
    let found = match 1 + missing.count() {
        1 => format!("no row for {kind} {first:?}"),
        several => format!("no row for {several} {kind}s, the first of them {first:?}"),
    };
    let malformed = table.place(None).malformed(found, format!("a row for every {kind}"));
    let own = ids.first().map(String::as_str).unwrap_or_default();
    let hint = format!(
        "ids must be the names that the labels have; its own begin with {own:?}. --match order takes rows in their order"
    );
    Err(malformed.hint(hint).into())
}

/// Names count rows.
fn by_number(table: &TableFile, names: &[String], items: Items<'_>) -> Result<MatchedRows> {
    let number = |name: &String| name.parse::<u32>().ok().filter(|row| (*row as usize) < table.rows());
    let row = |name: &String| {
        number(name).ok_or_else(|| {
            let found = format!("no row {name:?}, which is what a {} is called", items.kind.name());
            Error::from(table.place(None).malformed(found, format!("a number below {}", table.rows())))
        })
    };
    let rows = names.iter().map(row).collect::<Result<_>>()?;
    Ok(MatchedRows { rows: Some(rows), ids: Some("rows by their numbers".into()) })
}

fn check_count(table: &TableFile, items: Items<'_>) -> Result<()> {
    let (rows, count) = (table.rows(), items.labels.len());
    if rows == count {
        return Ok(());
    }
    let malformed =
        table.place(None).malformed(format!("{rows} rows"), format!("{count}, one a {}", items.kind.name()));
    let hint = match items.kind {
        ItemKind::Graph => "embeddings of nodes have to be pooled, graph by graph",
        ItemKind::Node => "a first column `id` says which row is whose, where labels have names",
    };
    Err(malformed.hint(hint).into())
}

/// The row of every id.
pub(super) fn row_of_id<'a>(table: &TableFile, ids: &'a [String]) -> Result<HashMap<&'a str, u32>> {
    let mut row_of = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if row_of.insert(id.as_str(), row as u32).is_some() {
            let malformed = table.place(Some(row)).malformed(format!("{id:?} once more"), "one row for each id");
            return Err(malformed.into());
        }
    }
    Ok(row_of)
}
