//! The header of an npy file: type, order and shape, written as a Python dictionary.

use super::r#type::Type;
use crate::error::Result;
use crate::input::File;

/// What a header says, and where the values start.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) of: Type,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    pub(super) end: usize,
}

impl Header {
    pub(super) fn read(file: &File) -> Result<Header> {
        let Some((text, end)) = text(file.bytes()) else {
            let malformed = file.malformed("no npy header", "a file written by numpy.save, version 1 to 3");
            return Err(malformed.hint("the file may be damaged, or not what its name says").into());
        };
        let malformed = |part: &str, expected: &str| {
            let shown: String = text.trim().chars().take(80).collect();
            file.malformed(format!("the npy header {shown:?} with {part}"), expected)
        };
        let Some(fields) = Fields::parse(&text) else {
            return Err(malformed("an unusual form", "a dictionary with descr, fortran_order and shape").into());
        };
        let Some(of) = fields.descr.as_deref().and_then(Type::parse) else {
            let malformed = malformed("a type that is not read here", "bools, integers, floats, strings or objects");
            return Err(malformed.hint("convert the array in Python, for example with .astype('float32')").into());
        };
        let (Some(fortran), Some(shape)) = (fields.fortran, fields.shape) else {
            return Err(malformed("parts missing", "a dictionary with descr, fortran_order and shape").into());
        };
        Ok(Header { of, fortran, shape, end })
    }
}

/// The header's text and where it ends.
fn text(bytes: &[u8]) -> Option<(String, usize)> {
    let (start, length) = match *bytes.strip_prefix(b"\x93NUMPY")? {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([a, b]))),
        [2 | 3, _, a, b, c, d, ..] => (12, usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?),
        _ => return None,
    };
    let end = length.checked_add(start)?;
    Some((String::from_utf8_lossy(bytes.get(start..end)?).into_owned(), end))
}

#[derive(Default)]
struct Fields {
    descr: Option<String>,
    fortran: Option<bool>,
    shape: Option<Vec<usize>>,
}

impl Fields {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. A descr that is no string, as of structured
    /// arrays, makes the whole unreadable.
    fn parse(text: &str) -> Option<Fields> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let mut fields = Fields::default();
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            let after = match key {
                "descr" => {
                    let (descr, after) = quoted(value)?;
                    fields.descr = Some(descr.to_owned());
                    after
                }
                "fortran_order" => {
                    let (fortran, after) = match value.strip_prefix("True") {
                        Some(after) => (true, after),
                        None => (false, value.strip_prefix("False")?),
                    };
                    fields.fortran = Some(fortran);
                    after
                }
                "shape" => {
                    let (inner, after) = value.strip_prefix('(')?.split_once(')')?;
                    let lengths = inner.split(',').map(str::trim).filter(|length| !length.is_empty());
                    // Python 2 wrote long integers as 5L.
                    let lengths = lengths.map(|length| length.strip_suffix('L').unwrap_or(length).parse().ok());
                    fields.shape = Some(lengths.collect::<Option<_>>()?);
                    after
                }
                _ => return None,
            };
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if after.is_empty() => after,
                None => return None,
            };
        }
        Some(fields)
    }
}

/// A quoted string at the start of a text, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(version: u8, header: &str) -> File {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        File::new("a.npy", bytes)
    }

    #[test]
    fn every_version_and_spelling_is_read() {
        for version in 1..=3 {
            for text in [
                "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4), }   \n",
                "{\"shape\":(3L,4L),\"descr\":\">f4\",\"fortran_order\":True}",
            ] {
                let header = Header::read(&npy(version, text)).unwrap();
                assert_eq!((header.shape, header.fortran, header.of.big_endian), (vec![3, 4], true, true));
            }
        }
        let scalar = Header::read(&npy(1, "{'descr': '|O', 'fortran_order': False, 'shape': (), }")).unwrap();
        assert!(scalar.shape.is_empty());
    }

    #[test]
    fn what_is_no_header_is_refused() {
        for text in [
            "",
            "{",
            "{'descr': '<f4'}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<U99999999999999999999', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': 'é', 'fortran_order': False, 'shape': (1,)}",
        ] {
            assert!(Header::read(&npy(1, text)).is_err(), "{text}");
        }
        assert!(Header::read(&npy(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}")).is_err());
        assert!(Header::read(&File::new("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec())).is_err());
    }
}
