//! Embeddings as tables in files.

use std::path::Path;

use fiedler_graph::{Dataset, Dense};
use fiedler_io::read::TableFile;
use fiedler_io::tables::{RowIds, ids_beside};
use fiedler_io::{AtomicFiles, write};
use fiedler_learn::Embeddings;

use crate::error::Result;
use crate::named::named;

named! {
    /// Formats that embeddings can be written in.
    "format" TableFormat {
        Npy = "npy": "numpy's array format, rows in the order of the nodes or graphs, whose ids are beside it",
        Csv = "csv": "Comma-separated, with the names of the nodes",
        Parquet = "parquet": "Parquet, with the names of the nodes",
    }
}

/// One row a node with the user's names, or one a graph; of an array, with its ids beside it.
pub(crate) fn write_embeddings(
    folder: &Path,
    embeddings: &Embeddings,
    dataset: &Dataset,
    formats: &[TableFormat],
    targets: &mut AtomicFiles,
) -> Result<()> {
    let ids = RowIds::of(dataset);
    let (width, values) = (embeddings.columns(), embeddings.values());
    for format in formats {
        let path = folder.join(format!("embeddings.{format}"));
        match format {
            TableFormat::Npy => {
                targets.write(&path, |file| write::npy(file, [embeddings.rows(), width], values))?;
                targets.write(&ids_beside(&path), |file| ids.write_csv(file, 0, &[]))?;
            }
            TableFormat::Csv => targets.write(&path, |file| ids.write_csv(file, width, values))?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => targets.write(&path, |file| write::parquet(file, &ids, width, values))?,
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
            return Ok(Some(table.numbers(&table.value_columns())?));
        }
    }
    Ok(None)
}
