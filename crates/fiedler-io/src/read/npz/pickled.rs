//! numpy's arrays as they stand in pickles.

use super::array::Array;
use super::r#type::{Kind, Type};
use crate::error::{Place, Result};
use crate::read::pickle::{Object, Value};

impl Array {
    /// The array that a value of a pickle describes: an array or a single number of numpy.
    ///
    /// # Errors
    /// When the value is something else, is cut short, or has values of a type that is not read here.
    pub fn from_pickle(value: Value<'_>, place: &Place) -> Result<Array> {
        let Some(parts) = Parts::of(value) else {
            return Err(place.malformed(value.to_string(), "a numpy array").into());
        };
        let Some(of) = parts.of.and_then(type_of) else {
            let malformed =
                place.malformed("an array of unusual values", "bools, integers, floats, strings or objects");
            return Err(malformed.hint("convert the array in Python, for example with .astype('float32')").into());
        };
        let Some(shape) = parts.shape else {
            return Err(place.malformed("an array without a shape", "a tuple of whole numbers").into());
        };
        let place = place.clone();
        match (of.kind, parts.content) {
            (Kind::Object, Some(Value::List(items))) => Array::from_objects(place, of, shape, parts.fortran, items),
            (Kind::Object, _) => Err(place.malformed("an object array without its objects", "a list of them").into()),
            (_, content) => match content.and_then(Value::bytes) {
                Some(bytes) => Array::from_bytes(place, of, shape, parts.fortran, bytes.into_owned(), 0),
                None => Err(place.malformed("an array without its values", "the bytes of its values").into()),
            },
        }
    }
}

/// What the three ways of pickling an array have in common.
struct Parts<'a> {
    of: Option<Value<'a>>,
    shape: Option<Vec<usize>>,
    fortran: bool,
    content: Option<Value<'a>>,
}

impl<'a> Parts<'a> {
    fn of(value: Value<'a>) -> Option<Parts<'a>> {
        let Value::Object(object) = value else { return None };
        let (module, name) = object.class();
        if !module.starts_with("numpy.") {
            return None;
        }
        match name {
            "_reconstruct" => {
                let state = object.state().items()?;
                let fortran = state.get(3).and_then(Value::integer) == Some(1);
                Some(Parts { of: state.get(2), shape: state.get(1).and_then(shape), fortran, content: state.get(4) })
            }
            // As protocol 5 has it: values, type, shape, order.
            "_frombuffer" => {
                let arguments = object.arguments();
                let fortran = arguments.get(3).and_then(Value::text) == Some("F");
                let shape = arguments.get(2).and_then(shape);
                Some(Parts { of: arguments.get(1), shape, fortran, content: arguments.get(0) })
            }
            "scalar" => {
                let arguments = object.arguments();
                let (of, content) = (arguments.get(0), arguments.get(1));
                Some(Parts { of, shape: Some(Vec::new()), fortran: false, content })
            }
            _ => None,
        }
    }
}

/// The lengths in a tuple of whole numbers.
pub(super) fn shape(value: Value<'_>) -> Option<Vec<usize>> {
    value.items()?.iter().map(|length| length.integer()?.try_into().ok()).collect()
}

/// The type that a pickled `numpy.dtype` describes: a short form such as `i4`, then byte order and width as its state.
fn type_of(value: Value<'_>) -> Option<Type> {
    let Value::Object(object) = value else { return None };
    let ("numpy", "dtype") = object.class() else { return None };
    let short = object.arguments().get(0)?.text()?;
    let mut of = Type::parse(short)?;
    if let Some(state) = object.state().items() {
        of.big_endian = state.get(1).and_then(Value::text) == Some(">");
        let width = state.get(5).and_then(Value::integer).and_then(|width| usize::try_from(width).ok());
        if let (Kind::Text | Kind::Bytes, Some(width)) = (of.kind, width) {
            of.width = width;
        }
    }
    Some(of)
}

/// The attributes of an object, by name.
pub(super) fn attribute<'a>(object: Object<'a>, names: &[&str]) -> Option<Value<'a>> {
    let attributes = object.state().entries()?;
    names.iter().find_map(|name| attributes.get(name))
}
