//! The bytes of a pickle, taken from front to back.

use crate::error::{Malformed, Result};
use crate::input::File;

/// The bytes of a pickle and how far they have been read.
pub(super) struct Scan<'a> {
    file: &'a File,
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(file: &'a File, start: usize) -> Scan<'a> {
        Scan { file, at: start }
    }

    /// The next byte's place.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// An error at the byte that was read last.
    pub(super) fn malformed(&self, found: impl std::fmt::Display, expected: &str) -> Malformed {
        let found = format!("{found} at byte {}", self.at.saturating_sub(1));
        self.file.malformed(found, expected).hint("the file may be damaged, or no pickle")
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = self.file.bytes().get(self.at..).unwrap_or_default();
        match usize::try_from(count).ok().and_then(|count| rest.get(..count)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => {
                let found = format!("only {} bytes after byte {}", rest.len(), self.at);
                let expected = format!("{count} more bytes of a pickle");
                Err(self.file.malformed(found, expected).hint("the file may be truncated; download it again").into())
            }
        }
    }

    /// The next bytes, of a number known beforehand.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Bytes that follow their count, which takes `N` bytes.
    pub(super) fn counted<const N: usize>(&mut self) -> Result<&'a [u8]> {
        let mut count = [0; 8];
        count[..N].copy_from_slice(&self.array::<N>()?);
        self.take(u64::from_le_bytes(count))
    }

    /// The next bytes up to a line's end, which is passed.
    pub(super) fn line(&mut self) -> Result<&'a [u8]> {
        let rest = self.file.bytes().get(self.at..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                self.at += end + 1;
                Ok(rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]))
            }
            None => Err(self.malformed("a line without an end", "a line of a pickle").into()),
        }
    }

    /// The next line as text.
    pub(super) fn text_line(&mut self) -> Result<&'a str> {
        let line = self.line()?;
        std::str::from_utf8(line).map_err(|_| self.malformed("a line that is not UTF-8", "a name or a number").into())
    }
}

/// A whole number in as few bytes as it takes, the sign in the last; `None` when it exceeds 64 bits.
pub(super) fn integer_from_bytes(bytes: &[u8]) -> Option<i64> {
    let sign: u8 = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
    let mut eight = [sign; 8];
    let kept = bytes.len().min(8);
    eight[..kept].copy_from_slice(&bytes[..kept]);
    let value = i64::from_le_bytes(eight);
    let fits = bytes[kept..].iter().all(|byte| *byte == sign) && (value < 0) == (sign != 0);
    fits.then_some(value)
}

/// The bytes that a string literal of Python 2 stands for; `None` when it is none.
pub(super) fn unquote(literal: &[u8]) -> Option<Vec<u8>> {
    let (&quote, rest) = literal.split_first()?;
    let (&last, inner) = rest.split_last()?;
    if quote != last || !matches!(quote, b'\'' | b'"') {
        return None;
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escaped, after) = rest.split_first()?;
        rest = after;
        match escaped {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'v' => bytes.push(11),
            b'f' => bytes.push(12),
            b'x' => {
                bytes.push(u8::try_from(hexadecimal(rest.get(..2)?)?).ok()?);
                rest = &rest[2..];
            }
            b'0'..=b'7' => {
                let mut value = u32::from(escaped - b'0');
                for _ in 0..2 {
                    if let Some((&digit @ b'0'..=b'7', after)) = rest.split_first() {
                        value = value * 8 + u32::from(digit - b'0');
                        rest = after;
                    }
                }
                bytes.push(value as u8);
            }
            b'\\' | b'\'' | b'"' => bytes.push(escaped),
            _ => bytes.extend([b'\\', escaped]),
        }
    }
    Some(bytes)
}

/// The text of a line in which only `\u` and `\U` are escapes and every other byte is a character of Latin-1.
pub(super) fn unescape_unicode(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let digits = match (byte, after.first()) {
            (b'\\', Some(b'u')) => after.get(1..5),
            (b'\\', Some(b'U')) => after.get(1..9),
            _ => None,
        };
        match digits.and_then(|digits| Some((hexadecimal(digits)?, digits.len()))) {
            Some((code, length)) => {
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = &after[1 + length..];
            }
            None => text.push(char::from(byte)),
        }
    }
    text
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}
