//! Parquet: columns of ids, then one for each column of a matrix.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::tables::RowIds;

/// Writes a matrix of 32-bit floats as parquet: first the columns that say which row is whose, then those of the matrix, called 0, 1, 2 ….
///
/// # Errors
/// When the writer fails, or the values do not fill the rows.
///
/// ```
/// use fiedler_graph::{Dataset, generate};
/// use fiedler_io::tables::RowIds;
///
/// let dataset = generate::citation(0);
/// let mut file = Vec::new();
/// fiedler_io::write::parquet(&mut file, &RowIds::of(&dataset), 2, &vec![0.5; 2 * dataset.graphs.num_nodes()])?;
/// assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn parquet(writer: &mut (impl Write + Send), ids: &RowIds, columns: usize, values: &[f32]) -> io::Result<()> {
    if ids.rows().checked_mul(columns) != Some(values.len()) {
        return Err(io::Error::other(format!("{} values for {} rows of {columns}", values.len(), ids.rows())));
    }
    write(writer, ids, columns, values).map_err(|error| match error {
        ParquetError::External(error) => io::Error::other(error),
        other => io::Error::other(other),
    })
}

fn write(writer: &mut (impl Write + Send), ids: &RowIds, columns: usize, values: &[f32]) -> Result<(), ParquetError> {
    let field = |name: &str, kind, logical| {
        let field = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
        Ok::<_, ParquetError>(Arc::new(field.with_logical_type(logical).build()?))
    };
    let mut fields = Vec::new();
    for (header, _) in ids.columns() {
        fields.push(field(header, Physical::BYTE_ARRAY, Some(LogicalType::String))?);
    }
    for column in 0..columns {
        fields.push(field(&column.to_string(), Physical::FLOAT, None)?);
    }
    let schema = Type::group_type_builder("embeddings").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false);
    let mut file = SerializedFileWriter::new(writer, Arc::new(schema), Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        if let Some((_, texts)) = ids.columns().get(at) {
            let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_bytes().to_vec().into()).collect();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
        } else {
            let values: Vec<f32> = values.iter().skip(at - ids.columns().len()).step_by(columns).copied().collect();
            column.typed::<FloatType>().write_batch(&values, None, None)?;
        }
        column.close()?;
        at += 1;
    }
    group.close()?;
    file.close()?;
    Ok(())
}
