//! numpy's array format, version 1.

use std::io::{self, Write};

pub(super) const FLOAT32: &str = "<f4";
pub(super) const FLOAT64: &str = "<f8";
pub(super) const INT32: &str = "<i4";
pub(super) const INT64: &str = "<i8";

/// The whole header is a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// Writes an array of the given type and shape; the bytes are those of its values, row after row.
pub(super) fn write(
    writer: &mut impl Write,
    description: &str,
    shape: &[usize],
    values: impl Iterator<Item = impl AsRef<[u8]>>,
) -> io::Result<()> {
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
    let lengths = lengths.join(" ");
    let shape = if shape.len() > 1 { lengths.trim_end_matches(',') } else { &lengths };
    let mut header = format!("{{'descr': '{description}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes stand before the header, a line end after it.
    let padding = (header.len() + 11).next_multiple_of(ALIGNMENT) - (header.len() + 11);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    for value in values {
        writer.write_all(value.as_ref())?;
    }
    Ok(())
}

/// Writes a matrix of 32-bit floats in numpy's array format; the values stand row after row.
///
/// # Errors
/// When the writer fails.
///
/// ```
/// let mut file = Vec::new();
/// fiedler_io::write::npy(&mut file, [2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&5f32.to_le_bytes()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn npy(writer: &mut impl Write, shape: [usize; 2], values: &[f32]) -> io::Result<()> {
    debug_assert_eq!(shape[0] * shape[1], values.len());
    write(writer, FLOAT32, &shape, floats(values))
}

pub(super) fn floats(values: &[f32]) -> impl Iterator<Item = [u8; 4]> {
    values.iter().map(|value| value.to_le_bytes())
}

pub(super) fn doubles(values: impl Iterator<Item = f64>) -> impl Iterator<Item = [u8; 8]> {
    values.map(f64::to_le_bytes)
}

pub(super) fn integers(values: impl Iterator<Item = i64>) -> impl Iterator<Item = [u8; 8]> {
    values.map(i64::to_le_bytes)
}

/// The type of text of a fixed number of characters, and its values.
pub(super) fn texts(values: &[String]) -> (String, impl Iterator<Item = Vec<u8>>) {
    let longest = values.iter().map(|value| value.chars().count()).max().unwrap_or(0).max(1);
    let padded = move |value: &String| {
        let codes = value.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        codes.flat_map(u32::to_le_bytes).collect()
    };
    (format!("<U{longest}"), values.iter().map(padded))
}
