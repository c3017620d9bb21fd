//! Embeddings as tables in files.

use std::path::Path;

use fiedler_graph::{Dataset, Dense};
use fiedler_io::read::TableFile;
use fiedler_io::{AtomicFiles, write};
use fiedler_learn::Embeddings;

use crate::error::Result;
use crate::named::named;

named! {
    /// Formats that embeddings can be written in.
    "format" TableFormat {
        Npy = "npy": "numpy's array format, rows in the order of the nodes or graphs",
        Csv = "csv": "Comma-separated, with the names of the nodes",
        Parquet = "parquet": "Parquet, with the names of the nodes",
    }
}

/// One row a node with the user's names, or one a graph.
pub(crate) fn write_embeddings(
    folder: &Path,
    embeddings: &Embeddings,
    dataset: &Dataset,
    formats: &[TableFormat],
    targets: &mut AtomicFiles,
) -> Result<()> {
    let what = if dataset.graph().is_some() { "node" } else { "graph" };
    let name = |row: usize| dataset.graph().map_or_else(|| row.to_string(), |graph| graph.name(row as u32));
    for format in formats {
        match format {
            TableFormat::Npy => targets.write(&folder.join("embeddings.npy"), |file| {
                write::npy(file, [embeddings.rows(), embeddings.columns()], embeddings.values())
            })?,
            TableFormat::Csv => targets.write(&folder.join("embeddings.csv"), |file| {
                let mut rows = csv::Writer::from_writer(file);
                let header = (0..embeddings.columns()).map(|column| column.to_string());
                rows.write_record(std::iter::once(what.to_owned()).chain(header))?;
                for row in 0..embeddings.rows() {
                    let values = embeddings.row(row).iter().map(f32::to_string);
                    rows.write_record(std::iter::once(name(row)).chain(values))?;
                }
                rows.flush()
            })?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => targets.write(&folder.join("embeddings.parquet"), |file| {
                let names: Vec<String> = (0..embeddings.rows()).map(name).collect();
                write::parquet(file, what, &names, embeddings.columns(), embeddings.values())
            })?,
            #[cfg(not(feature = "parquet"))]
            TableFormat::Parquet => super::check_formats(formats)?,
        }
    }
    Ok(())
}

/// Embeddings in whatever format a run left them.
pub(crate) fn read_embeddings(folder: &Path) -> Result<Option<Dense>> {
    for name in ["embeddings.npy", "embeddings.parquet", "embeddings.csv"] {
        let path = folder.join(name);
        if path.exists() {
            let table = TableFile::open(&path)?;
            let has_ids = table.ids(&[], true)?.is_some();
            return Ok(Some(table.numbers(has_ids)?));
        }
    }
    Ok(None)
}
