//! Files that `torch.save` writes: a pickle that describes tensors, and their bytes. The pickle is read as data; nothing in it is run.
//!
//! [`StateFile`] reads the weights of a model, its `state_dict`: of a zip archive, or of the layout before PyTorch 1.6, which has the bytes
//! behind the pickle. Graphs of PyTorch Geometric are read by the format `pyg`.

mod legacy;
mod tensor;

use std::path::Path;

use super::npz::Array;
use super::pickle::{Entries, Pickle, Value};
use crate::error::{Place, Result};
use crate::input::{Archive, DataSource, File, expansion_limit};

pub(super) use tensor::Tensors;

/// The pickle in the archive.
pub(super) const PICKLE: &str = "data.pkl";
/// How every zip archive begins.
pub(super) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Keys that the weights stand under where more than they was saved, as in checkpoints.
const WRAPPERS: [&str; 5] = ["state_dict", "model_state_dict", "model", "gnn", "net"];

/// Whether bytes begin as those of a file that `torch.save` wrote.
pub fn is_torch(bytes: &[u8]) -> bool {
    bytes.starts_with(ZIP_MAGIC) || legacy::is_legacy(bytes)
}

/// The weights that a file holds.
#[derive(Debug)]
pub struct StateFile {
    place: Place,
    tensors: Vec<(String, Array)>,
}

impl StateFile {
    /// Reads the `state_dict` in a file, also where it is one entry of a checkpoint.
    ///
    /// # Errors
    /// When the file is not what `torch.save` writes, is damaged, or holds no tensors by name.
    pub fn read(path: impl AsRef<Path>) -> Result<StateFile> {
        StateFile::of(DataSource::open(path)?.read_named()?)
    }

    /// As [`StateFile::read`], of a file in memory.
    ///
    /// # Errors
    /// As [`StateFile::read`].
    pub fn of(file: File) -> Result<StateFile> {
        let place = file.place().clone();
        let limit = expansion_limit(file.bytes().len() as u64);
        let tensors = if file.bytes().starts_with(ZIP_MAGIC) {
            let archive = Archive::of(file)?;
            let pickle = Pickle::read_with_outside(&archive.read(PICKLE)?)?;
            weights(pickle.root(), &Tensors::of(&archive)?, (&place, limit))?
        } else if legacy::is_legacy(file.bytes()) {
            let (pickle, tensors) = legacy::open(&file)?;
            weights(pickle.root(), &tensors, (&place, limit))?
        } else {
            let malformed = place.malformed("neither a zip archive nor its forerunner", "a file that torch.save wrote");
            return Err(malformed.hint("give the .pth or .pt file of a model's state_dict").into());
        };
        Ok(StateFile { place, tensors })
    }

    /// Names and arrays, in the order of the file.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.tensors.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// Where it was read.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// The tensors of a dictionary. Other entries, such as the number of an epoch, are left out.
///
/// Many may be views of the same values; all of them together take no more bytes than the limit.
fn weights(root: Value<'_>, tensors: &Tensors<'_>, (place, limit): (&Place, u64)) -> Result<Vec<(String, Array)>> {
    let expected = "a state_dict: tensors by their names";
    let Some(entries) = root.entries() else {
        let malformed = place.malformed(root.to_string(), expected);
        return Err(malformed.hint("in Python: torch.save(model.state_dict(), FILE)").into());
    };
    let inner = || WRAPPERS.iter().find_map(|name| entries.get(name)?.entries());
    let entries = if has_tensors(entries) { entries } else { inner().unwrap_or(entries) };
    let (mut found, mut held) = (Vec::new(), 0u64);
    for (name, value) in entries.iter() {
        if let (Some(name), true) = (name.text(), is_tensor(value)) {
            let array = tensors.array(value, name)?;
            let values: u64 = array.shape().iter().map(|&size| size as u64).product();
            held = held.saturating_add(values.saturating_mul(4));
            if held > limit {
                let expected = format!("tensors of {limit} bytes at most, by the size of the file");
                return Err(place.malformed(format!("more, up to {name}"), expected).into());
            }
            found.push((name.to_owned(), array));
        }
    }
    if found.is_empty() {
        let names: Vec<&str> = entries.iter().filter_map(|(name, _)| name.text()).take(8).collect();
        let malformed = place.malformed(format!("no tensor among the entries {}", names.join(", ")), expected);
        return Err(malformed.hint("in Python: torch.save(model.state_dict(), FILE)").into());
    }
    Ok(found)
}

fn has_tensors(entries: Entries<'_>) -> bool {
    entries.iter().any(|(_, value)| is_tensor(value))
}

fn is_tensor(value: Value<'_>) -> bool {
    let Value::Object(object) = value else { return false };
    let (module, name) = object.class();
    module == "torch._utils" && name.starts_with("_rebuild_")
}
