//! What the values of an array are.

use std::fmt;

/// The type of an array's values, which numpy calls dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type {
    pub(super) kind: Kind,
    /// Bytes that one value takes.
    pub(in crate::read) width: usize,
    pub(super) big_endian: bool,
}

/// What sort of values an array has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `True` and `False`.
    Bool,
    /// Whole numbers with a sign.
    Integer,
    /// Whole numbers without a sign.
    Unsigned,
    /// Real numbers.
    Float,
    /// Strings of up to so many characters.
    Text,
    /// Strings of up to so many bytes.
    Bytes,
    /// Python objects.
    Object,
}

impl Type {
    /// Whole numbers and floats of this machine's Python, lowest byte first.
    pub(in crate::read) const INT64: Type = Type { kind: Kind::Integer, width: 8, big_endian: false };
    pub(in crate::read) const FLOAT64: Type = Type { kind: Kind::Float, width: 8, big_endian: false };

    /// Reads numpy's short form, such as `<f4`; `None` for types that graphs have no use for.
    pub(in crate::read) fn parse(short: &str) -> Option<Type> {
        let (order, rest) = match short.as_bytes().first()? {
            b'<' | b'>' | b'|' | b'=' => short.split_at(1),
            _ => ("=", short),
        };
        let kind = rest.chars().next()?;
        let size = match rest.get(kind.len_utf8()..)? {
            "" => None,
            digits => Some(digits.parse::<usize>().ok()?),
        };
        let (kind, width) = match (kind, size) {
            ('?', None) | ('b', Some(1)) => (Kind::Bool, 1),
            ('i', Some(width @ (1 | 2 | 4 | 8))) => (Kind::Integer, width),
            ('u', Some(width @ (1 | 2 | 4 | 8))) => (Kind::Unsigned, width),
            ('f', Some(width @ (2 | 4 | 8))) => (Kind::Float, width),
            ('U', length) => (Kind::Text, length.unwrap_or(0).checked_mul(4)?),
            ('S' | 'a', length) => (Kind::Bytes, length.unwrap_or(0)),
            ('O', _) => (Kind::Object, 0),
            _ => return None,
        };
        Some(Type { kind, width, big_endian: order == ">" })
    }

    /// What sort of values these are.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Type {
    /// What the values are, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.width.saturating_mul(8);
        match self.kind {
            Kind::Bool => write!(f, "bools"),
            Kind::Integer => write!(f, "integers of {bits} bits"),
            Kind::Unsigned => write!(f, "unsigned integers of {bits} bits"),
            Kind::Float => write!(f, "floats of {bits} bits"),
            Kind::Text | Kind::Bytes => write!(f, "strings"),
            Kind::Object => write!(f, "Python objects"),
        }
    }
}
