//! Fingerprints: hashes that tell graphs, features, labels, splits and settings from each other, the same on every machine.
//!
//! Folders, files and random streams are found again by them: what any of these functions gives for a value must never change.
//!
//! | of | hash | where |
//! |---|---|---|
//! | a set of graphs | SHA-256, its first 16 bytes | [`GraphSet::fingerprint`], computed once for each set |
//! | features | SHA-256, its first 16 bytes | [`Features::fingerprint`], computed once for each matrix |
//! | a split | SHA-256, its first 16 bytes | [`Split::fingerprint`] |
//! | labels | [`Fnv`] | [`Labels::fingerprint`] |
//! | the contents of a file of ours | SHA-256, its first 16 bytes | [`Seal`], in the file itself |
//! | settings, and anything else that can be written down | [`Fnv`] of its JSON | [`short_hash`] |

use std::sync::OnceLock;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::features::{Features, Sparse};
use crate::labels::Labels;
use crate::set::GraphSet;
use crate::split::Split;
use crate::stored::StoredFeatures;

/// Fowler–Noll–Vo (FNV-1a, 64 bits): a short hash, fixed for all time where the standard library's may change.
///
/// It tells values apart that differ by accident, not by malice.
///
/// ```
/// use fiedler_graph::fingerprint::Fnv;
/// let mut hash = Fnv::new();
/// hash.update(b"foobar");
/// assert_eq!((hash.finish(), hash.hex().as_str()), (0x85944171f73967e8, "85944171f73967e8"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv::new()
    }
}

impl Fnv {
    /// The hash of no bytes.
    pub const fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Fnv {
        let mut hash = Fnv::new();
        hash.update(bytes);
        hash
    }

    /// Goes on with more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The hash of all bytes so far.
    pub fn finish(self) -> u64 {
        self.0
    }

    /// The hash of all bytes so far, as 16 hexadecimal digits.
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// A hash of 16 hexadecimal digits of anything that can be written down: [`Fnv`] of its JSON.
///
/// What JSON cannot hold, such as a map whose keys are no text, is hashed as if it were empty.
///
/// ```
/// use fiedler_graph::fingerprint::short_hash;
/// assert_eq!(short_hash(&[1, 2]), "6a12f12d4705a9b6");
/// assert_ne!(short_hash(&[1, 2]), short_hash(&[2, 1]));
/// ```
pub fn short_hash(value: &impl Serialize) -> String {
    Fnv::of(serde_json::to_string(value).unwrap_or_default().as_bytes()).hex()
}

/// Seal: a checksum of a file's parts, kept in the file's own note, a JSON object, under the key `checksum`. A file that was changed or
/// damaged is told by it; it is no protection against those who mean harm.
///
/// ```
/// use fiedler_graph::fingerprint::Seal;
/// let seal = |values: &[u8]| {
///     let mut seal = Seal::new();
///     seal.part("weights", values);
///     seal
/// };
/// let sealed = seal(&[1, 2]).write(r#"{"version":2}"#);
/// assert!(sealed.starts_with(r#"{"version":2,"checksum":""#));
/// assert_eq!(seal(&[1, 2]).check(&sealed), Ok(r#"{"version":2}"#.to_owned()));
/// assert!(seal(&[1, 3]).check(&sealed).is_err() && seal(&[1, 2]).check(&sealed.replace("n\":2", "n\":3")).is_err());
/// // Files of before have none.
/// assert_eq!(seal(&[1, 2]).check("{}"), Ok("{}".to_owned()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Seal(Sha256);

impl Seal {
    const KEY: &str = ",\"checksum\":\"";
    const DIGITS: usize = 32;

    /// The checksum of nothing.
    pub fn new() -> Seal {
        Seal::default()
    }

    /// Goes on with a part of the file; parts come in an order that does not depend on how the file is laid out.
    pub fn part(&mut self, name: &str, bytes: &[u8]) {
        for bytes in [name.as_bytes(), bytes] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
    }

    fn of(mut self, note: &str) -> String {
        self.part("note", note.as_bytes());
        digits(self.0)
    }

    /// The note, a JSON object that is not empty, with the checksum of all parts and of itself in it.
    pub fn write(self, note: &str) -> String {
        match note.strip_suffix('}') {
            Some(open) if open.len() > 1 => format!("{open}{}{}\"}}", Seal::KEY, self.of(note)),
            _ => note.to_owned(),
        }
    }

    /// The note without the checksum. A note that has none, as in files of before, is taken as it is.
    ///
    /// # Errors
    /// When the checksum is that of other parts or of another note; the text says so.
    pub fn check(self, sealed: &str) -> std::result::Result<String, String> {
        let open = sealed.strip_suffix("\"}").and_then(|open| open.rsplit_once(Seal::KEY));
        let Some((open, checksum)) = open.filter(|(_, checksum)| checksum.len() == Seal::DIGITS) else {
            return Ok(sealed.to_owned());
        };
        let note = format!("{open}}}");
        match self.of(&note) == checksum {
            true => Ok(note),
            false => Err("its checksum is not that of its contents: it was changed or damaged".into()),
        }
    }
}

/// A fingerprint that is computed when it is first asked for. It belongs to a value, but is no part of it: any two are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cached(OnceLock<String>);

impl Cached {
    pub(crate) fn get(&self, compute: impl FnOnce() -> String) -> String {
        self.0.get_or_init(compute).clone()
    }

    /// Forgets the fingerprint of a value that has changed.
    pub(crate) fn clear(&mut self) {
        self.0.take();
    }
}

impl PartialEq for Cached {
    fn eq(&self, _: &Cached) -> bool {
        true
    }
}

impl Eq for Cached {}

/// The first 16 bytes of a hash in hexadecimal digits.
fn digits(hash: Sha256) -> String {
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Feeds numbers to a hash, many at a time.
fn feed(hash: &mut Sha256, numbers: impl Iterator<Item = u32>) {
    const FULL: usize = 1 << 16;
    let mut buffer = Vec::with_capacity(FULL);
    for number in numbers {
        buffer.extend_from_slice(&number.to_le_bytes());
        if buffer.len() >= FULL {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
}

pub(crate) fn of_graphs(graphs: &GraphSet) -> String {
    let graph = graphs.block_diagonal();
    let mut hash = Sha256::new();
    feed(&mut hash, [graphs.len() as u32, graphs.num_nodes() as u32].into_iter());
    feed(&mut hash, graphs.node_offsets().iter().copied());
    feed(&mut hash, graph.indptr().windows(2).map(|row| (row[1] - row[0]) as u32));
    feed(&mut hash, graph.indices().iter().copied());
    feed(&mut hash, graph.weights().unwrap_or_default().iter().map(|weight| weight.to_bits()));
    digits(hash)
}

pub(crate) fn of_features(features: &Features) -> String {
    let mut hash = Sha256::new();
    hash.update([(features.rows() as u64).to_le_bytes(), (features.columns() as u64).to_le_bytes()].concat());
    match features {
        Features::Dense(dense) => {
            hash.update(b"dense");
            feed(&mut hash, dense.values().iter().map(|value| value.to_bits()));
        }
        Features::Sparse(sparse) => {
            hash.update(b"offsets");
            feed(&mut hash, sparse.indptr().iter().map(|&offset| offset as u32));
            hash.update(b"columns");
            feed(&mut hash, sparse.indices().iter().copied());
            hash.update(b"values");
            feed(&mut hash, sparse.values().iter().map(|value| value.to_bits()));
        }
        Features::Categorical(categorical) => {
            hash.update(b"cardinalities");
            feed(&mut hash, categorical.cardinalities().iter().map(|&count| count.into()));
            hash.update(b"codes");
            feed(&mut hash, categorical.codes().iter().map(|&code| code.into()));
        }
    }
    digits(hash)
}

/// The same of features that are read some rows at a time; what of them comes first is read first.
pub(crate) fn of_stored(stored: &StoredFeatures) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update([(stored.rows() as u64).to_le_bytes(), (stored.columns() as u64).to_le_bytes()].concat());
    if !stored.is_sparse() {
        hash.update(b"dense");
        for rows in stored.blocks() {
            if let Features::Dense(dense) = stored.read(rows)? {
                feed(&mut hash, dense.values().iter().map(|value| value.to_bits()));
            }
        }
        return Ok(digits(hash));
    }
    let mut each = |name: &str, work: &mut dyn FnMut(&mut Sha256, &Sparse)| -> Result<()> {
        hash.update(name.as_bytes());
        for rows in stored.blocks() {
            if let Features::Sparse(sparse) = stored.read(rows)? {
                work(&mut hash, &sparse);
            }
        }
        Ok(())
    };
    let mut last = None;
    each("offsets", &mut |hash, sparse| {
        let before = last.unwrap_or(0);
        // The end of a block is the start of the next.
        let offsets = &sparse.indptr()[usize::from(last.is_some())..];
        feed(hash, offsets.iter().map(|&offset| (before + offset) as u32));
        last = Some(before + sparse.values().len());
    })?;
    if last.is_none() {
        return of_no_rows(stored.columns());
    }
    each("columns", &mut |hash, sparse| feed(hash, sparse.indices().iter().copied()))?;
    each("values", &mut |hash, sparse| feed(hash, sparse.values().iter().map(|value| value.to_bits())))?;
    Ok(digits(hash))
}

/// Of sparse features without a row.
fn of_no_rows(columns: usize) -> Result<String> {
    Ok(of_features(&Features::Sparse(Sparse::new(columns, vec![0], Vec::new(), Vec::new())?)))
}

pub(crate) fn of_split(split: &Split) -> String {
    let mut hash = Sha256::new();
    for part in [&split.train, &split.validation, &split.test, &split.stopping] {
        let mut ids = part.clone();
        ids.sort_unstable();
        hash.update((ids.len() as u64).to_le_bytes());
        feed(&mut hash, ids.into_iter());
    }
    digits(hash)
}

pub(crate) fn of_labels(labels: &Labels) -> String {
    let mut hash = Fnv::new();
    for item in 0..labels.len() {
        match labels {
            Labels::Classes(classes) => hash.update(&classes.of()[item].unwrap_or(u32::MAX).to_le_bytes()),
            Labels::MultiLabel(tasks) => {
                tasks.row(item).iter().for_each(|answer| hash.update(&[answer.map_or(2, u8::from)]));
            }
            Labels::Regression(values) => {
                values.row(item).iter().for_each(|value| hash.update(&value.unwrap_or(f32::NAN).to_le_bytes()));
            }
        }
    }
    hash.hex()
}
