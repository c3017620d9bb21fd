//! Our own format, `.fiedler`: what a dataset has, as arrays that lie in the file as they lie in memory.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `FIEDLER` and a zero |
//! | 4 | version, 1 |
//! | 4 | checksum (CRC-32) of the header |
//! | 8 | length of the header |
//! | | the header: JSON, see [`Header`] |
//! | | the sections, one after the other, each from the next multiple of 64 bytes on; zeros between them |
//!
//! Numbers are little-endian. The header says which sections there are, of how many numbers of what kind, and the checksum of each. Their lengths must add up to
//! the length of the file before anything is made room for.

use fiedler_graph::{Features, Labels};
use serde::{Deserialize, Serialize};

/// How every file begins.
pub const MAGIC: [u8; 8] = *b"FIEDLER\0";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// Bytes before the header.
pub const PREAMBLE: u64 = 24;
/// Sections start at multiples of so many bytes.
pub const ALIGNMENT: u64 = 64;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Number of nodes of all graphs.
    pub nodes: u64,
    /// Number of graphs.
    pub graphs: u64,
    /// What is known of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Shape>,
    /// What is known of the edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge_features: Option<Shape>,
    /// Labels of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_labels: Option<LabelKind>,
    /// Labels of graphs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_labels: Option<LabelKind>,
    /// Names of the splits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<String>,
    /// The arrays, in the order of the file.
    pub sections: Vec<Section>,
}

/// How features are held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// All values.
    Dense {
        /// Number of columns.
        columns: u64,
    },
    /// Compressed sparse rows.
    Sparse {
        /// Number of columns.
        columns: u64,
    },
    /// Codes of categories.
    Categorical {
        /// Number of codes of each column.
        cardinalities: Vec<u16>,
    },
}

impl Shape {
    /// The shape of some features.
    pub fn of(features: &Features) -> Shape {
        match features {
            Features::Dense(dense) => Shape::Dense { columns: dense.columns() as u64 },
            Features::Sparse(sparse) => Shape::Sparse { columns: sparse.columns() as u64 },
            Features::Categorical(codes) => Shape::Categorical { cardinalities: codes.cardinalities().to_vec() },
        }
    }
}

/// What labels are, and their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LabelKind {
    /// One class of several: their numbers, the largest of 32 bits where one is missing.
    Classes {
        /// Names of the classes.
        names: Vec<String>,
    },
    /// Yes (1), no (0) or missing (2), row after row.
    MultiLabel {
        /// Names of the columns.
        names: Vec<String>,
    },
    /// Numbers, NaN where one is missing, row after row.
    Regression {
        /// Names of the columns.
        names: Vec<String>,
    },
}

impl LabelKind {
    /// What some labels are.
    pub fn of(labels: &Labels) -> LabelKind {
        match labels {
            Labels::Classes(classes) => LabelKind::Classes { names: classes.names().to_vec() },
            Labels::MultiLabel(tasks) => LabelKind::MultiLabel { names: tasks.names().to_vec() },
            Labels::Regression(values) => LabelKind::Regression { names: values.names().to_vec() },
        }
    }
}

/// An array of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// What it is.
    pub name: String,
    /// Of what kind its numbers are.
    pub kind: Kind,
    /// How many there are.
    pub count: u64,
    /// Checksum of its bytes: CRC-32, as in gzip.
    pub crc32: u32,
}

impl Section {
    /// Bytes that it takes without what fills it up; `None` where no file has so many.
    pub fn bytes(&self) -> Option<u64> {
        self.count.checked_mul(self.kind.size())
    }
}

/// Kinds of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bytes; texts are a list in JSON.
    U8,
    /// Whole numbers of 32 bits.
    U32,
    /// Whole numbers of 64 bits.
    U64,
    /// Whole numbers of 64 bits with a sign.
    I64,
    /// Real numbers of 32 bits.
    F32,
}

impl Kind {
    /// Bytes of a number.
    pub fn size(self) -> u64 {
        match self {
            Kind::U8 => 1,
            Kind::U32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 => 8,
        }
    }
}

/// The next multiple of [`ALIGNMENT`]; `None` where there is none.
pub fn aligned(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(ALIGNMENT)
}

/// Numbers as they stand in a file.
pub(crate) trait Number: Copy {
    const KIND: Kind;
    fn write(self, to: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty = $kind:ident,)+) => {
        $(impl Number for $number {
            const KIND: Kind = Kind::$kind;

            fn write(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
            }
        })+
    };
}

numbers! {
    u8 = U8,
    u32 = U32,
    u64 = U64,
    i64 = I64,
    f32 = F32,
}

impl Number for usize {
    const KIND: Kind = Kind::U64;

    fn write(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&(self as u64).to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        u64::read(bytes)?.try_into().ok()
    }
}

/// The bytes of a file with all checksums made right, for those who test what lies behind them: a mutated file would never get there. Bytes that
/// are not such a file stay as they are.
#[doc(hidden)]
pub fn with_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(length) = bytes.get(16..24).and_then(u64::read).and_then(|length| usize::try_from(length).ok()) else {
        return bytes;
    };
    let Some(end) = length.checked_add(PREAMBLE as usize).filter(|end| *end <= bytes.len()) else { return bytes };
    let Ok(mut header) = serde_json::from_slice::<Header>(&bytes[PREAMBLE as usize..end]) else { return bytes };
    let mut at = aligned(end as u64);
    for section in &mut header.sections {
        let range = at.zip(section.bytes()).and_then(|(at, length)| Some((at, at.checked_add(length)?)));
        let Some((first, last)) = range.filter(|(_, last)| *last <= bytes.len() as u64) else { break };
        section.crc32 = crc32fast::hash(&bytes[first as usize..last as usize]);
        at = aligned(last);
    }
    let Ok(json) = serde_json::to_vec(&header) else { return bytes };
    let rest = bytes.split_off((aligned(end as u64).unwrap_or(u64::MAX) as usize).min(bytes.len()));
    let mut whole = preamble(&json);
    whole.extend(json);
    whole.resize(whole.len().next_multiple_of(ALIGNMENT as usize), 0);
    whole.extend(rest);
    whole
}

/// What stands before a header.
pub(crate) fn preamble(header: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    VERSION.write(&mut bytes);
    crc32fast::hash(header).write(&mut bytes);
    (header.len() as u64).write(&mut bytes);
    bytes
}
