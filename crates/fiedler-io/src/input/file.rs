//! One file's bytes, and where they came from.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::{GZIP_MAGIC, expansion_limit};
use crate::error::{Malformed, Place, Result};

/// A file in memory that knows its place, for errors.
#[derive(Debug, Clone)]
pub struct File {
    place: Place,
    bytes: Vec<u8>,
    /// Number of bytes on disk that these came from: however often they were packed, they may expand only so far.
    stored: u64,
}

impl File {
    /// Bytes that came from a path.
    pub fn new(path: impl AsRef<Path>, bytes: Vec<u8>) -> File {
        let stored = bytes.len() as u64;
        File { place: Place::file(path), bytes, stored }
    }

    /// Bytes unpacked from `stored` bytes on disk.
    pub(super) fn unpacked_from(stored: u64, place: Place, bytes: Vec<u8>) -> File {
        File { place, bytes, stored }
    }

    /// Number of bytes on disk that these came from.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// Where the file came from.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives up the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The bytes as text, without a byte order mark.
    ///
    /// # Errors
    /// When they are not UTF-8; names the line.
    pub fn text(&self) -> Result<&str> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => {
                let line = 1 + self.bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                let malformed = self.place.line(line as u64).malformed("bytes that are not UTF-8", "text");
                Err(malformed.hint("save the file as UTF-8, or name its format if it is a binary one").into())
            }
        }
    }

    /// Lines that are not blank, each with its number counted from one.
    ///
    /// # Errors
    /// As [`File::text`].
    pub fn lines(&self) -> Result<impl Iterator<Item = (u64, &str)>> {
        let numbered = self.text()?.lines().enumerate();
        Ok(numbered.map(|(at, line)| (at as u64 + 1, line.trim())).filter(|(_, line)| !line.is_empty()))
    }

    /// An error at the file as a whole.
    pub fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.place.malformed(found, expected)
    }

    /// An error at a line counted from one.
    pub fn malformed_at(&self, line: u64, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.place.line(line).malformed(found, expected)
    }

    /// Checks a count that the file claims against its size, so that a short file cannot ask for a lot of memory.
    ///
    /// # Errors
    /// When the file is too short to mean it.
    pub fn plausible(&self, count: u64, of: &str) -> Result<usize> {
        let limit = (self.bytes.len() as u64).saturating_mul(16).max(1 << 16);
        if count > limit {
            let found = format!("{count} {of} claimed by a file of {} bytes", self.bytes.len());
            return Err(self.malformed(found, format!("at most {limit} {of}")).hint("the file may be damaged").into());
        }
        Ok(count as usize)
    }

    /// The file unpacked, if it is gzipped.
    pub(super) fn unpacked(self) -> Result<File> {
        if !self.bytes.starts_with(&GZIP_MAGIC) {
            return Ok(self);
        }
        let limit = expansion_limit(self.stored);
        let mut bytes = Vec::new();
        let read = MultiGzDecoder::new(self.bytes.as_slice()).take(limit + 1).read_to_end(&mut bytes);
        if let Err(error) = read {
            let malformed = self.malformed(format!("damaged gzip data ({error})"), "a whole gzip file");
            return Err(malformed.hint("the file may be truncated; download it again").into());
        }
        if bytes.len() as u64 > limit {
            return Err(bomb(&self.place, limit).into());
        }
        Ok(File { bytes, ..self })
    }
}

/// The error for compressed data that expands beyond measure.
pub(super) fn bomb(place: &Place, limit: u64) -> Malformed {
    place
        .malformed(format!("compressed data that unpacks to more than {limit} bytes"), "data that expands less")
        .hint("if you trust the file, unpack it yourself and read the result")
}
