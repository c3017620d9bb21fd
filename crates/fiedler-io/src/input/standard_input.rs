//! Standard input: one file, whose name is told by what it begins with.

use std::io::Read;
use std::path::Path;

use super::{Archive, DataSource, File, STANDARD_INPUT, Store};
use crate::error::{Error, Result};

/// What the data are called.
const NAME: &str = "stdin";

/// Reads standard input to its end.
pub(super) fn open() -> Result<DataSource> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(Error::io("read", STANDARD_INPUT))?;
    of(bytes)
}

/// The bytes as a source; formats look at names first, so the file gets the ending that its first bytes suggest.
fn of(bytes: Vec<u8>) -> Result<DataSource> {
    let file = File::new(NAME, bytes).unpacked()?;
    if file.bytes().starts_with(b"PK\x03\x04") {
        let archive = Archive::of(file.clone())?;
        let has = |ending: &str| archive.names().any(|name| name.ends_with(ending));
        if has(".npy") {
            return Ok(named("npz", file));
        }
        if has("data.pkl") {
            return Ok(named("pt", file));
        }
        return Ok(DataSource { path: NAME.into(), store: Store::Archive(archive), file: None });
    }
    let start = file.bytes().trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let ending = match start.first() {
        _ if start.starts_with(b"PAR1") => "parquet",
        _ if start.starts_with(b"%%MatrixMarket") => "mtx",
        Some(b'<') => "xml",
        Some(b'{' | b'[') => "json",
        _ => "txt",
    };
    Ok(named(ending, file))
}

fn named(ending: &str, file: File) -> DataSource {
    let name = format!("{NAME}.{ending}");
    let source = DataSource::memory([(name.clone(), file.into_bytes())], Some(&name));
    DataSource { path: Path::new(NAME).into(), ..source }
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::read::{ReadOptions, read_source};

    #[test]
    fn the_format_is_told_by_the_bytes() {
        let graphml = "<?xml version=\"1.0\"?><graphml><graph><node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>";
        let gexf = "<gexf><graph><nodes><node id=\"a\"/><node id=\"b\"/></nodes><edges><edge source=\"a\" target=\"b\"/></edges></graph></gexf>";
        for (format, text) in [
            ("edge-list", "0 1\n1 2\n"),
            ("edge-list", "source,target\na,b\n"),
            ("node-link", "{\"nodes\": [{\"id\": 0}, {\"id\": 1}], \"links\": [{\"source\": 0, \"target\": 1}]}"),
            ("graphml", graphml),
            ("gexf", gexf),
            ("gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]"),
            ("matrix-market", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"),
        ] {
            let dataset = read_source(&of(text.into()).expect("a source"), &ReadOptions::default()).expect(format);
            assert_eq!(
                (dataset.report.format, dataset.graphs.num_edges() > 0, dataset.name.as_str()),
                (format, true, "stdin")
            );
        }
    }
}
