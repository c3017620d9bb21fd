//! Tensors of PyTorch: a call in the pickle that says which bytes, how many and in which order, and a storage with the bytes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::npz::{Array, Type};
use super::super::pickle::{Items, Value};
use crate::error::{Malformed, Place, Result};
use crate::input::Archive;

/// The tensors of one file.
pub(in crate::read) struct Tensors<'a> {
    place: Place,
    storages: Storages<'a>,
    big_endian: bool,
}

/// Where the bytes of tensors stand.
enum Storages<'a> {
    /// Each in a member of an archive.
    Archive(&'a Archive),
    /// One behind the other, by their keys.
    Bytes(HashMap<String, &'a [u8]>),
}

impl<'a> Tensors<'a> {
    pub(in crate::read) fn of(archive: &'a Archive) -> Result<Tensors<'a>> {
        let big_endian = archive.has("byteorder") && archive.read("byteorder")?.bytes().starts_with(b"big");
        Ok(Tensors { place: archive.place().clone(), storages: Storages::Archive(archive), big_endian })
    }

    /// Those of storages that stand in one file.
    pub(super) fn of_bytes(place: Place, storages: HashMap<String, &'a [u8]>, big_endian: bool) -> Tensors<'a> {
        Tensors { place, storages: Storages::Bytes(storages), big_endian }
    }

    pub(in crate::read) fn place(&self, name: &str) -> Place {
        self.place.member(name)
    }

    fn storage(&self, key: &str, place: &Place) -> Result<Cow<'a, [u8]>> {
        match &self.storages {
            Storages::Archive(archive) => Ok(Cow::Owned(archive.read(&format!("data/{key}"))?.into_bytes())),
            Storages::Bytes(bytes) => match bytes.get(key) {
                Some(bytes) => Ok(Cow::Borrowed(bytes)),
                None => Err(place.malformed("a tensor of a storage that is not in the file", "one that is").into()),
            },
        }
    }

    /// The array that a value describes: a tensor, a numpy array, or a single number.
    pub(in crate::read) fn array(&self, value: Value<'_>, name: &str) -> Result<Array> {
        let place = self.place(name);
        match value {
            Value::Integer(number) => {
                Array::from_bytes(place, Type::INT64, vec![1], false, number.to_le_bytes().to_vec(), 0)
            }
            Value::Float(number) => {
                Array::from_bytes(place, Type::FLOAT64, vec![1], false, number.to_le_bytes().to_vec(), 0)
            }
            Value::Object(object) => match object.class() {
                ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_tensor") => self.tensor(object.arguments(), place),
                ("torch._utils", "_rebuild_parameter") => {
                    // A parameter is a tensor with a mark; one of a parameter is not followed any further.
                    let tensor = object.arguments().get(0);
                    match tensor {
                        Some(Value::Object(inner)) if inner.class().1.starts_with("_rebuild_tensor") => {
                            self.tensor(inner.arguments(), place)
                        }
                        _ => Err(place.malformed("a parameter without a tensor", "a tensor").into()),
                    }
                }
                _ => Array::from_pickle(value, &place),
            },
            other => {
                let malformed = place.malformed(other.to_string(), "a tensor");
                Err(malformed.hint("sparse adjacency matrices must be saved as edge_index").into())
            }
        }
    }

    /// Storage, offset, size and stride, counted in values.
    fn tensor(&self, arguments: Items<'_>, place: Place) -> Result<Array> {
        let Some(Value::Outside(storage)) = arguments.get(0) else {
            return Err(place.malformed("a tensor without a storage", "one in the same file").into());
        };
        let class = match storage.get(1) {
            Some(Value::Global { name, .. }) => name,
            _ => "",
        };
        let Some(of) = type_of(class, self.big_endian) else {
            let malformed = place.malformed(format!("values of the kind {class:?}"), "floats, integers or bools");
            return Err(malformed.hint("convert the tensor in Python, for example with .float()").into());
        };
        let key = storage.get(2).and_then(Value::text).unwrap_or_default();
        let bytes = self.storage(key, &place)?;
        let lengths = |at: usize| -> Option<Vec<usize>> {
            arguments.get(at)?.items()?.iter().map(|length| usize::try_from(length.integer()?).ok()).collect()
        };
        let offset = arguments.get(1).and_then(Value::integer).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.and_then(|offset| offset.checked_add(offset_of_view(storage)?));
        let (Some(offset), Some(shape), Some(stride)) = (offset, lengths(2), lengths(3)) else {
            return Err(place.malformed("a tensor without shape or order", "whole numbers from 0 on").into());
        };
        let Some(values) = gathered(&bytes, of.width, offset, &shape, &stride) else {
            return Err(too_short(&place, bytes.len(), &shape).into());
        };
        Array::from_bytes(place, of, shape, false, values, 0)
    }
}

/// Values before the part of a storage that a tensor is of: files of before PyTorch 1.6 may name a part, as `(key, offset, size)`.
fn offset_of_view(storage: Items<'_>) -> Option<usize> {
    match storage.get(5).and_then(Value::items) {
        Some(view) => usize::try_from(view.get(1)?.integer()?).ok(),
        None => Some(0),
    }
}

fn too_short(place: &Place, bytes: usize, shape: &[usize]) -> Malformed {
    let lengths: Vec<String> = shape.iter().take(8).map(ToString::to_string).collect();
    let found = format!("{bytes} bytes for a tensor of {}", lengths.join(" × "));
    place.malformed(found, "as many as its shape and order ask for").hint("the file may be damaged")
}

/// The bytes of a tensor in the order of rows; `None` when there are fewer than it asks for. A tensor may repeat its values, but not make more of them than there are bytes.
fn gathered(bytes: &[u8], width: usize, offset: usize, shape: &[usize], stride: &[usize]) -> Option<Vec<u8>> {
    if shape.len() != stride.len() {
        return None;
    }
    let count = shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length))?;
    if count == 0 {
        return Some(Vec::new());
    }
    if count > bytes.len() {
        return None;
    }
    let start = offset.checked_mul(width)?;
    if is_contiguous(shape, stride) {
        return Some(bytes.get(start..start.checked_add(count.checked_mul(width)?)?)?.to_vec());
    }
    let mut values = Vec::with_capacity(count.checked_mul(width)?);
    let mut index = vec![0usize; shape.len()];
    for _ in 0..count {
        let steps = index.iter().zip(stride).map(|(at, stride)| at.checked_mul(*stride));
        let place = steps.into_iter().try_fold(offset, |place, step| place.checked_add(step?))?.checked_mul(width)?;
        values.extend_from_slice(bytes.get(place..place.checked_add(width)?)?);
        for (at, &length) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < length {
                break;
            }
            *at = 0;
        }
    }
    Some(values)
}

fn is_contiguous(shape: &[usize], stride: &[usize]) -> bool {
    let mut expected = 1usize;
    shape.iter().zip(stride).rev().all(|(&length, &stride)| {
        let fits = length == 1 || stride == expected;
        expected = expected.saturating_mul(length);
        fits
    })
}

/// The type of the values in a storage of this class.
pub(super) fn type_of(class: &str, big_endian: bool) -> Option<Type> {
    let short = match class {
        "DoubleStorage" => "f8",
        "FloatStorage" => "f4",
        "HalfStorage" => "f2",
        "LongStorage" => "i8",
        "IntStorage" => "i4",
        "ShortStorage" => "i2",
        "CharStorage" => "i1",
        "ByteStorage" => "u1",
        "BoolStorage" => "b1",
        _ => return None,
    };
    Type::parse(&format!("{}{short}", if big_endian { '>' } else { '<' }))
}

#[cfg(test)]
mod tests {
    use super::gathered;

    #[test]
    fn order_and_bounds_are_kept() {
        let bytes: Vec<u8> = (0..12).collect();
        assert_eq!(gathered(&bytes, 1, 2, &[2, 3], &[3, 1]), Some((2..8).collect()));
        assert_eq!(gathered(&bytes, 1, 0, &[3, 2], &[1, 3]), Some(vec![0, 3, 1, 4, 2, 5]));
        assert_eq!(gathered(&bytes, 2, 1, &[2], &[2]), Some(vec![2, 3, 6, 7]));
        assert_eq!(gathered(&bytes, 1, 5, &[3], &[0]), Some(vec![5, 5, 5]));
        assert_eq!(gathered(&bytes, 1, 0, &[0, 9], &[9, 1]), Some(vec![]));
        for (offset, shape, stride) in [
            (0, [13, 1], [1, 1]),
            (10, [3, 1], [1, 1]),
            (0, [4, 3], [4, 1]),
            (usize::MAX, [1, 2], [1, 1]),
            (0, [2, usize::MAX], [1, 1]),
        ] {
            assert_eq!(gathered(&bytes, 1, offset, &shape, &stride), None, "{offset} {shape:?} {stride:?}");
        }
        assert_eq!(gathered(&bytes, 1, 0, &[2, 2], &[1]), None);
    }
}
