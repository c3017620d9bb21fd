//! Values as a reader of pickles meets them.

use std::borrow::Cow;
use std::fmt;

use super::{Call, Node, Pickle, Slot};

/// A value of a pickle. Sets are lists of their members.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number that needs more than 64 bits.
    BigInteger,
    /// A real number.
    Float(f64),
    /// `bytes`, `bytearray`, or a string of Python 2.
    Bytes(&'a [u8]),
    /// A string.
    Text(&'a str),
    /// A list or a set.
    List(Items<'a>),
    /// A tuple.
    Tuple(Items<'a>),
    /// A dictionary.
    Dictionary(Entries<'a>),
    /// A class or function, by its name.
    Global {
        /// The module it lives in.
        module: &'a str,
        /// Its name there.
        name: &'a str,
    },
    /// What a call of a class or function would have made.
    Object(Object<'a>),
    /// Something outside of the pickle, by the tuple that identifies it.
    Outside(Items<'a>),
}

/// The values of a list or tuple.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    pub(super) pickle: &'a Pickle,
    pub(super) slots: &'a [Slot],
}

/// The keys and values of a dictionary, in the order they were set.
#[derive(Clone, Copy)]
pub struct Entries<'a> {
    pickle: &'a Pickle,
    slots: &'a [(Slot, Slot)],
}

/// A call of a class or function that was not made.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    pickle: &'a Pickle,
    call: &'a Call,
}

impl Pickle {
    pub(super) fn value(&self, slot: Slot) -> Value<'_> {
        let place = match slot {
            Slot::None => return Value::None,
            Slot::Bool(value) => return Value::Bool(value),
            Slot::Integer(value) => return Value::Integer(value),
            Slot::Float(value) => return Value::Float(value),
            Slot::At(place) => place,
        };
        match self.nodes.get(place as usize) {
            None => Value::None,
            Some(Node::BigInteger) => Value::BigInteger,
            Some(Node::Bytes(bytes)) => Value::Bytes(bytes),
            Some(Node::Text(text)) => Value::Text(text),
            Some(Node::List(slots)) => Value::List(self.items(slots)),
            Some(Node::Tuple(slots)) => Value::Tuple(self.items(slots)),
            Some(Node::Dictionary(slots)) => Value::Dictionary(Entries { pickle: self, slots }),
            Some(&Node::Global(module, name)) => Value::Global { module: self.text(module), name: self.text(name) },
            Some(Node::Object(call)) => Value::Object(Object { pickle: self, call }),
            // What identifies it is looked at, not followed: a reference may be to itself.
            Some(Node::Outside(Slot::At(id))) => match self.nodes.get(*id as usize) {
                Some(Node::Tuple(slots)) => Value::Outside(self.items(slots)),
                _ => Value::Outside(self.items(&[])),
            },
            Some(Node::Outside(_)) => Value::Outside(self.items(&[])),
        }
    }

    fn text(&self, place: u32) -> &str {
        match self.nodes.get(place as usize) {
            Some(Node::Text(text)) => text,
            _ => "",
        }
    }
}

impl<'a> Value<'a> {
    /// The whole number, where it is one.
    pub fn integer(self) -> Option<i64> {
        match self {
            Value::Integer(value) => Some(value),
            Value::Bool(value) => Some(value.into()),
            _ => None,
        }
    }

    /// The text of a string of Python 3, or of one of Python 2 that is UTF-8.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The bytes, also where Python 3 wrote them for Python 2, which is as a call that encodes a string.
    pub fn bytes(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Value::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
            Value::Object(object) => match object.class() {
                ("_codecs", "encode") => {
                    let text = object.arguments().get(0)?.text()?;
                    text.chars()
                        .map(|character| u8::try_from(character).ok())
                        .collect::<Option<Vec<_>>>()
                        .map(Cow::Owned)
                }
                ("__builtin__" | "builtins", "bytes") if object.arguments().is_empty() => Some(Cow::Borrowed(&[])),
                _ => None,
            },
            _ => None,
        }
    }

    /// The values of a list or tuple.
    pub fn items(self) -> Option<Items<'a>> {
        match self {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a dictionary, also of a `defaultdict` or `OrderedDict`.
    pub fn entries(self) -> Option<Entries<'a>> {
        match self {
            Value::Dictionary(entries) => Some(entries),
            Value::Object(object) => match object.class() {
                ("collections", "defaultdict" | "OrderedDict") => Some(object.entries()),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Value<'_> {
    /// What kind of value it is, for messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => write!(f, "None"),
            Value::Bool(true) => write!(f, "True"),
            Value::Bool(false) => write!(f, "False"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::BigInteger => write!(f, "a whole number of more than 64 bits"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Value::Text(text) => write!(f, "the string {:?}", text.chars().take(40).collect::<String>()),
            Value::List(items) => write!(f, "a list of {}", items.len()),
            Value::Tuple(items) => write!(f, "a tuple of {}", items.len()),
            Value::Dictionary(entries) => write!(f, "a dictionary of {}", entries.len()),
            Value::Global { module, name } => write!(f, "the name {module}.{name}"),
            Value::Outside(_) => write!(f, "something outside of the pickle"),
            Value::Object(object) => match object.class() {
                ("", _) => write!(f, "an object of no known class"),
                (module, name) => write!(f, "an object made by {module}.{name}"),
            },
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a value holds may hold the value: one level is all that can be shown safely.
        write!(f, "{self}")
    }
}

impl<'a> Items<'a> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// One value.
    pub fn get(&self, at: usize) -> Option<Value<'a>> {
        self.slots.get(at).map(|slot| self.pickle.value(*slot))
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let pickle = self.pickle;
        self.slots.iter().map(move |slot| pickle.value(*slot))
    }

    /// The pickle and the places in it, to keep.
    pub(in crate::read) fn to_owned(self) -> (Pickle, Vec<Slot>) {
        (self.pickle.clone(), self.slots.to_vec())
    }
}

impl<'a> Entries<'a> {
    /// Number of entries; a key set twice counts twice.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The value last set for a key that is a string.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let found = self.slots.iter().rev().find(|(slot, _)| match self.pickle.value(*slot) {
            Value::Text(text) => text == key,
            Value::Bytes(bytes) => bytes == key.as_bytes(),
            _ => false,
        });
        found.map(|(_, slot)| self.pickle.value(*slot))
    }

    /// All keys and values, in the order they were set.
    pub fn iter(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + use<'a> {
        let pickle = self.pickle;
        self.slots.iter().map(move |(key, value)| (pickle.value(*key), pickle.value(*value)))
    }
}

impl<'a> Object<'a> {
    /// Module and name of what was to be called; two empty strings when it is not a name.
    ///
    /// Protocols 0 and 1 call a helper with the class; the class is what counts.
    pub fn class(&self) -> (&'a str, &'a str) {
        match self.pickle.value(self.call.callee) {
            Value::Global { module: "copy_reg" | "copyreg", name: "_reconstructor" } => match self.arguments().get(0) {
                Some(Value::Global { module, name }) => (module, name),
                _ => ("", ""),
            },
            Value::Global { module, name } => (module, name),
            _ => ("", ""),
        }
    }

    /// What it was to be called with.
    pub fn arguments(&self) -> Items<'a> {
        match self.pickle.value(self.call.arguments) {
            Value::Tuple(items) => items,
            _ => self.pickle.items(&[]),
        }
    }

    /// What the object was to be filled with: mostly a dictionary of its attributes.
    pub fn state(&self) -> Value<'a> {
        self.pickle.value(self.call.state)
    }

    /// What was to be appended to it.
    pub fn items(&self) -> Items<'a> {
        self.pickle.items(self.call.fill.as_ref().map_or(&[], |fill| &fill.items))
    }

    /// The entries that were to be set in it.
    pub fn entries(&self) -> Entries<'a> {
        Entries { pickle: self.pickle, slots: self.call.fill.as_ref().map_or(&[], |fill| &fill.entries) }
    }
}
