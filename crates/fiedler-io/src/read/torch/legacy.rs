//! The layout of `torch.save` before PyTorch 1.6: pickles one behind the other, then the bytes of each storage behind their number.

use std::collections::HashMap;

use super::super::pickle::{Pickle, Value};
use super::tensor::{Tensors, type_of};
use crate::error::Result;
use crate::input::File;

/// The first pickle, a number of ten bytes, behind the two bytes that say which protocol.
const MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// Whether a file begins as this layout does.
pub(super) fn is_legacy(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x80) && bytes.get(2..).is_some_and(|rest| rest.starts_with(MAGIC))
}

/// The pickle that describes what was saved, and the bytes that it refers to.
pub(super) fn open(file: &File) -> Result<(Pickle, Tensors<'_>)> {
    // A version that never changed; then what the machine was like.
    let (_, at) = Pickle::read_part(file, 2 + MAGIC.len(), false)?;
    let (system, at) = Pickle::read_part(file, at, false)?;
    let little_endian = system.root().entries().and_then(|entries| entries.get("little_endian"));
    let big_endian = matches!(little_endian, Some(Value::Bool(false)));
    let (pickle, at) = Pickle::read_part(file, at, true)?;
    let (keys, mut at) = Pickle::read_part(file, at, false)?;

    let mut classes: HashMap<&str, &str> = HashMap::new();
    for storage in pickle.outside() {
        if let (Some(Value::Global { name, .. }), Some(key)) = (storage.get(1), storage.get(2).and_then(Value::text)) {
            classes.insert(key, name);
        }
    }
    let malformed = |found: &str, expected: &str| {
        file.malformed(found, expected).hint("the file may be truncated; download it again")
    };
    let Some(keys) = keys.root().items().map(|keys| keys.iter().filter_map(Value::text).collect::<Vec<&str>>()) else {
        return Err(malformed("no list of storages", "one behind the description of the tensors").into());
    };
    let mut storages = HashMap::with_capacity(keys.len());
    for key in keys {
        // What no tensor refers to has no known width, and nothing behind it could be found.
        let Some(of) = classes.get(key).and_then(|class| type_of(class, big_endian)) else {
            return Err(malformed(&format!("a storage {key:?} of unknown values"), "floats, integers or bools").into());
        };
        let count = file.bytes().get(at..).and_then(|rest| rest.first_chunk::<8>());
        let count = count.map(|count| if big_endian { u64::from_be_bytes(*count) } else { u64::from_le_bytes(*count) });
        let end = count
            .and_then(|count| usize::try_from(count).ok()?.checked_mul(of.width))
            .and_then(|bytes| bytes.checked_add(at + 8));
        let Some((end, bytes)) = end.and_then(|end| Some((end, file.bytes().get(at + 8..end)?))) else {
            return Err(malformed("fewer bytes than its tensors have", "all of them").into());
        };
        storages.insert(key.to_owned(), bytes);
        at = end;
    }
    Ok((pickle, Tensors::of_bytes(file.place().clone(), storages, big_endian)))
}
