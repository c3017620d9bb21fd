//! Features in an npy file that stay there.

use std::path::Path;

use super::header::Header;
use super::r#type::Kind;
use crate::error::{Error, Place, Result};
use crate::input::{DataSource, File};
use crate::read::stored::{FileRows, Layout, length};

/// Bytes in which the header of an npy file ends, unless nobody could read it anyway.
const HEAD: usize = 1 << 17;

/// The rows of an array of real numbers, which are not read yet.
pub(in crate::read) fn stored(path: &Path) -> Result<FileRows> {
    let source = DataSource::open(path)?;
    let Some(name) = source.file_name() else { return Err(Error::UnknownFormat { path: path.into() }) };
    let header = Header::read(&File::new(path, source.head(name, HEAD)?))?;
    let (place, start) = (Place::file(path), header.end as u64);
    let in_its_file = header.of.kind == Kind::Float && header.of.width >= 4 && !header.of.big_endian;
    let (true, false, &[rows, columns]) = (in_its_file, header.fortran, &*header.shape) else {
        let order = if header.fortran { ", column after column" } else { "" };
        let found = format!("{} in {} dimensions{order}", header.of, header.shape.len());
        let malformed = place.malformed(found, "floats of 32 or 64 bits in two dimensions, row after row");
        return Err(malformed.hint("features of this form are read whole; convert the array to float32").into());
    };
    if columns == 0 {
        return Err(place.malformed(format!("{rows} rows of no values"), "at least one column").into());
    }
    let there = length(path).map_err(Error::io("read", path))?;
    let needed = rows.checked_mul(columns).and_then(|values| values.checked_mul(header.of.width));
    match needed.and_then(|needed| start.checked_add(needed as u64)) {
        Some(end) if end <= there => {}
        _ => {
            let malformed = place.malformed(format!("{there} bytes"), format!("{rows} rows of {columns} values"));
            return Err(malformed.hint("the file may be truncated; write or copy it anew").into());
        }
    }
    let layout = if header.of.width == 4 { Layout::Single { values: start } } else { Layout::Double { values: start } };
    FileRows::open(path, rows, columns, layout).map_err(Error::io("read", path))
}
