//! Tables in parquet files, flat columns, uncompressed or compressed with snappy.

use parquet::basic::Repetition;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::Table;
use crate::error::{Malformed, Place, Result};
use crate::input::{File, expansion_limit};

/// Where pandas puts an index that is more than a count.
const PANDAS_INDEX: &str = "__index_level_";
/// The key under which pandas says what its columns are.
const PANDAS: &str = "pandas";

#[derive(Debug, Clone)]
enum Cell {
    Missing,
    Integer(i64),
    Real(f64),
    Word(String),
}

/// The cells of a file, row after row.
pub(super) struct Columns {
    place: Place,
    names: Vec<String>,
    cells: Vec<Cell>,
    /// How many columns, the first ones, are the index.
    index: usize,
}

impl Columns {
    pub(super) fn new(file: File) -> Result<Columns> {
        let place = file.place().clone();
        let size = file.bytes().len() as u64;
        let reader = SerializedFileReader::new(bytes::Bytes::from(file.into_bytes()));
        let reader = reader.map_err(|error| damaged(&place, &error.to_string()))?;
        let schema = reader.metadata().file_metadata().schema();
        check_flat(schema, &place)?;
        check_rows(reader.metadata(), size, &place)?;
        let mut names: Vec<String> = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
        // The columns of the index come first.
        let index = index_columns(reader.metadata(), &names);
        let order: Vec<usize> =
            index.iter().copied().chain((0..names.len()).filter(|column| !index.contains(column))).collect();
        names = order.iter().map(|&column| std::mem::take(&mut names[column])).collect();
        names.iter_mut().filter(|name| name.starts_with(PANDAS_INDEX)).for_each(String::clear);
        let mut cells = Vec::new();
        for row in reader.get_row_iter(None).map_err(|error| damaged(&place, &error.to_string()))? {
            let row = row.map_err(|error| damaged(&place, &error.to_string()))?;
            let mut row_of_cells = Vec::with_capacity(names.len());
            for (name, field) in row.into_columns() {
                row_of_cells.push(cell(field).ok_or_else(|| nested(&place, &name))?);
            }
            cells.extend(order.iter().map(|&column| std::mem::replace(&mut row_of_cells[column], Cell::Missing)));
        }
        if names.is_empty() {
            return Err(place.malformed("a table without columns", "one row a node").into());
        }
        Ok(Columns { place, names, cells, index: index.len() })
    }

    fn rows_of_cells(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks_exact(self.names.len())
    }
}

impl Table for Columns {
    fn rows(&self) -> usize {
        self.cells.len() / self.names.len()
    }

    fn columns(&self) -> usize {
        self.names.len()
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn index_columns(&self) -> usize {
        self.index
    }

    fn place(&self, row: Option<usize>) -> Place {
        row.map_or_else(|| self.place.clone(), |row| self.place.member(format!("row {row}")))
    }

    fn column(&self, at: usize) -> Result<Option<Vec<String>>> {
        let fits = self.rows_of_cells().all(|row| matches!(row[at], Cell::Integer(_) | Cell::Word(_)));
        Ok(fits.then(|| self.rows_of_cells().map(|row| text(&row[at])).collect()))
    }

    fn texts(&self, columns: &[usize]) -> Result<Vec<Vec<String>>> {
        let column = |&column: &usize| self.rows_of_cells().map(|row| text(&row[column])).collect();
        Ok(columns.iter().map(column).collect())
    }

    fn numbers(&self, columns: &[usize], gaps: bool) -> Result<Vec<f32>> {
        let mut numbers = Vec::with_capacity(self.rows() * columns.len());
        for (row, cells) in self.rows_of_cells().enumerate() {
            for &column in columns {
                let cell = &cells[column];
                let number = match cell {
                    Cell::Integer(number) => *number as f32,
                    Cell::Real(number) => *number as f32,
                    Cell::Missing | Cell::Word(_) => f32::NAN,
                };
                let is_gap = matches!(cell, Cell::Missing) || matches!(cell, Cell::Real(number) if number.is_nan());
                if !(number.is_finite() || gaps && is_gap) {
                    let found = format!("{:?} in column {:?}", text(cell), self.names[column]);
                    return Err(self
                        .place(Some(row))
                        .malformed(found, "a finite number")
                        .hint(super::NOT_A_FEATURE)
                        .into());
                }
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}

/// The columns that pandas says are the index, which it also keeps where the index has a name; a mere count is not kept as a column.
fn index_columns(metadata: &ParquetMetaData, names: &[String]) -> Vec<usize> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let said = pairs.into_iter().flatten().find(|pair| pair.key == PANDAS).and_then(|pair| pair.value.as_deref());
    let said: serde_json::Value = said.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let listed: Vec<&str> =
        said["index_columns"].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let is_index = |name: &String| name.starts_with(PANDAS_INDEX) || listed.contains(&name.as_str());
    names.iter().enumerate().filter(|(_, name)| is_index(name)).map(|(column, _)| column).collect()
}

/// Refuses columns of lists and the like before any is read: what reads them trusts the file to be well-made.
fn check_flat(schema: &Type, place: &Place) -> Result<()> {
    let is_flat = |column: &Type| {
        let basics = column.get_basic_info();
        column.is_primitive() && basics.has_repetition() && basics.repetition() != Repetition::REPEATED
    };
    match schema.get_fields().iter().find(|column| !is_flat(column)) {
        Some(column) => Err(nested(place, column.name()).into()),
        None => Ok(()),
    }
}

/// Refuses more cells than the file can hold: a run of equal values takes a few bytes, however long it is.
fn check_rows(metadata: &ParquetMetaData, size: u64, place: &Place) -> Result<()> {
    let columns = metadata.file_metadata().schema().get_fields().len() as u64;
    let limit = expansion_limit(size) / size_of::<f32>() as u64;
    let mut rows_of_groups = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
    let rows = rows_of_groups.try_fold(0u64, |sum, rows| sum.checked_add(rows?));
    match rows.and_then(|rows| rows.checked_mul(columns.max(1))) {
        Some(cells) if cells <= limit => Ok(()),
        _ => {
            let found = format!("more rows of {columns} columns than a file of {size} bytes can hold");
            Err(place.malformed(found, format!("at most {limit} cells")).hint("the file may be damaged").into())
        }
    }
}

fn nested(place: &Place, column: &str) -> Malformed {
    let malformed = place.member(column).malformed("values of several parts", "numbers or words");
    malformed.hint("write lists as one column for each of their values")
}

fn cell(field: Field) -> Option<Cell> {
    Some(match field {
        Field::Null => Cell::Missing,
        Field::Bool(value) => Cell::Integer(value.into()),
        Field::Byte(value) => Cell::Integer(value.into()),
        Field::Short(value) => Cell::Integer(value.into()),
        Field::Int(value) => Cell::Integer(value.into()),
        Field::Long(value) => Cell::Integer(value),
        Field::UByte(value) => Cell::Integer(value.into()),
        Field::UShort(value) => Cell::Integer(value.into()),
        Field::UInt(value) => Cell::Integer(value.into()),
        Field::ULong(value) => i64::try_from(value).map_or_else(|_| Cell::Word(value.to_string()), Cell::Integer),
        Field::Float16(value) => Cell::Real(value.to_f64()),
        Field::Float(value) => Cell::Real(value.into()),
        Field::Double(value) => Cell::Real(value),
        Field::Str(value) => Cell::Word(value),
        Field::Bytes(value) => Cell::Word(String::from_utf8_lossy(value.data()).into_owned()),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => return None,
        other => Cell::Word(other.to_string()),
    })
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Word(word) => word.clone(),
    }
}

fn damaged(place: &Place, error: &str) -> Malformed {
    place
        .malformed(error, "a parquet file of flat columns, uncompressed or compressed with snappy")
        .hint("write it with pandas.DataFrame.to_parquet(compression=\"snappy\")")
}
