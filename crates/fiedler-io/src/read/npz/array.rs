//! One array of any shape, and an npz full of them.

use super::header::Header;
use super::r#type::{Kind, Type};
use crate::error::{Malformed, Place, Result};
use crate::input::{Archive, DataSource, File};
use crate::read::pickle::{Items, Pickle, Slot, Value};

/// Arrays without a value, or whose values take no bytes, may claim up to this many rows or columns.
const FREE_LENGTH: usize = 1 << 16;

/// The arrays of an npz file, by name.
#[derive(Debug)]
pub struct Arrays {
    archive: Archive,
}

impl Arrays {
    /// Opens an npz file; no array is read yet.
    ///
    /// # Errors
    /// When the file is no zip archive.
    pub fn open(file: File) -> Result<Arrays> {
        Ok(Arrays { archive: Archive::of(file)? })
    }

    /// Opens the npz that an input names; `None` when it names something else.
    ///
    /// # Errors
    /// When the file cannot be read, or is no zip archive.
    pub fn named_by(input: &DataSource) -> Result<Option<Arrays>> {
        match input.file_name() {
            Some(name) if name.to_ascii_lowercase().ends_with(".npz") => Arrays::open(input.read_named()?).map(Some),
            _ => Ok(None),
        }
    }

    /// The names of all arrays, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.names().map(|member| member.strip_suffix(".npy").unwrap_or(member))
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.has(&format!("{name}.npy"))
    }

    /// Reads an array.
    ///
    /// # Errors
    /// When there is none of this name, or it is damaged.
    pub fn get(&self, name: &str) -> Result<Array> {
        Array::from_npy(self.archive.read(&format!("{name}.npy"))?)
    }

    /// Reads an array if there is one of this name.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn find(&self, name: &str) -> Result<Option<Array>> {
        if self.has(name) { self.get(name).map(Some) } else { Ok(None) }
    }

    /// Where the npz came from.
    pub fn place(&self) -> &Place {
        self.archive.place()
    }
}

/// An array of any shape, with its values still as they are stored.
#[derive(Debug, Clone)]
pub struct Array {
    pub(super) place: Place,
    pub(super) of: Type,
    pub(super) shape: Vec<usize>,
    pub(super) fortran: bool,
    pub(super) data: Data,
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    /// Exactly the bytes that the shape asks for, from `start` on.
    Bytes { bytes: Vec<u8>, start: usize },
    /// As many objects as the shape asks for.
    Objects { pickle: Pickle, slots: Vec<Slot> },
}

impl Array {
    /// Reads an npy file.
    ///
    /// # Errors
    /// When the file is not what `numpy.save` writes, is cut short, or has values of a type that is not read here.
    pub fn from_npy(file: File) -> Result<Array> {
        let header = Header::read(&file)?;
        if header.of.kind == Kind::Object {
            let pickle = Pickle::read_bytes(&file, header.end)?;
            return Array::from_pickle(pickle.root(), file.place());
        }
        let place = file.place().clone();
        Array::from_bytes(place, header.of, header.shape, header.fortran, file.into_bytes(), header.end)
    }

    /// An array of the bytes from `start` on.
    pub(in crate::read) fn from_bytes(
        place: Place,
        of: Type,
        shape: Vec<usize>,
        fortran: bool,
        mut bytes: Vec<u8>,
        start: usize,
    ) -> Result<Array> {
        let available = bytes.len().saturating_sub(start);
        let length = length(&shape, available).and_then(|length| length.checked_mul(of.width));
        match length {
            Some(length) if length <= available => {
                bytes.truncate(start + length);
                Ok(Array { place, of, shape, fortran, data: Data::Bytes { bytes, start } })
            }
            _ => {
                let malformed =
                    place.malformed(format!("{available} bytes"), format!("{of} in the shape {}", Shape(&shape)));
                Err(malformed.hint("the file may be truncated; download it again").into())
            }
        }
    }

    /// An array of Python objects.
    pub(super) fn from_objects(
        place: Place,
        of: Type,
        shape: Vec<usize>,
        fortran: bool,
        items: Items<'_>,
    ) -> Result<Array> {
        if length(&shape, items.len()) != Some(items.len()) {
            let malformed = place.malformed(format!("{} objects", items.len()), format!("the shape {}", Shape(&shape)));
            return Err(malformed.hint("the file may be damaged").into());
        }
        let (pickle, slots) = items.to_owned();
        Ok(Array { place, of, shape, fortran, data: Data::Objects { pickle, slots } })
    }

    /// Where the array came from.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The type of its values.
    pub fn of(&self) -> Type {
        self.of
    }

    /// Its length in each dimension; empty for a single value.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and columns; an array of one dimension is one column.
    ///
    /// # Errors
    /// When it has no dimension, or more than two.
    pub fn rows_and_columns(&self) -> Result<(usize, usize)> {
        match *self.shape {
            [rows] => Ok((rows, 1)),
            [rows, columns] => Ok((rows, columns)),
            _ => {
                Err(self.malformed(format!("an array of shape {}", Shape(&self.shape)), "one or two dimensions").into())
            }
        }
    }

    /// The Python objects of an object array, in the order they are stored; `None` for other arrays.
    pub fn objects(&self) -> Option<Items<'_>> {
        match &self.data {
            Data::Objects { pickle, slots } => Some(pickle.items(slots)),
            Data::Bytes { .. } => None,
        }
    }

    /// The one Python object of an array without dimensions, which is how an npz keeps a dictionary or a sparse matrix.
    pub fn object(&self) -> Option<Value<'_>> {
        self.objects().filter(|_| self.shape.is_empty()).and_then(|objects| objects.get(0))
    }

    /// An error at this array.
    pub fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.place.malformed(found, expected)
    }
}

/// Number of values of a shape; `None` when `available` bytes or objects cannot make it up.
fn length(shape: &[usize], available: usize) -> Option<usize> {
    let limit = available.max(FREE_LENGTH);
    if shape.iter().any(|&length| length > limit) {
        return None;
    }
    let total = shape.iter().try_fold(1usize, |total, &length| total.checked_mul(length))?;
    (total <= limit).then_some(total)
}

/// A shape as numpy shows it.
struct Shape<'a>(&'a [usize]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths: Vec<_> = self.0.iter().take(8).map(ToString::to_string).collect();
        write!(f, "({})", lengths.join(", "))
    }
}
