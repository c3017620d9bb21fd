//! JSON values in little memory: a list of numbers is a list of numbers, an object a list of its members.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value of any kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    String(String),
    /// A list of nothing but numbers.
    Numbers(Vec<f64>),
    List(Vec<Json>),
    /// An object, of which nothing is kept.
    Object,
}

/// The members of an object, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Object(pub(super) Vec<(String, Json)>);

/// An object, or nothing where there is a value of another kind.
#[derive(Debug, Default)]
pub(super) struct ObjectIfAny(pub(super) Object);

impl Object {
    /// Takes out the member of this name.
    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.0.iter().position(|(member, _)| member == name)?;
        Some(self.0.remove(at).1)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => write!(f, "null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Integer(number) => write!(f, "{number}"),
            Json::Real(number) => write!(f, "{number}"),
            Json::String(text) => write!(f, "{text}"),
            Json::Numbers(numbers) => list(f, numbers),
            Json::List(values) => list(f, values),
            Json::Object => write!(f, "{{…}}"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, values: &[impl fmt::Display]) -> fmt::Result {
    write!(f, "[")?;
    for (at, value) in values.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        write!(f, "{comma}{value}")?;
    }
    write!(f, "]")
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Real(value as f64), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut numbers = Vec::new();
        while let Some(value) = values.next_element()? {
            match value {
                Json::Integer(number) => numbers.push(number as f64),
                Json::Real(number) => numbers.push(number),
                other => {
                    let mut list: Vec<Json> = numbers.into_iter().map(Json::Real).collect();
                    list.push(other);
                    while let Some(value) = values.next_element()? {
                        list.push(value);
                    }
                    return Ok(Json::List(list));
                }
            }
        }
        Ok(Json::Numbers(numbers))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Json::Object)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Object, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Object(object))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Deserialize<'de> for ObjectIfAny {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObjectIfAny, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Either {
            Object(Object),
            Other(IgnoredAny),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Object(object) => ObjectIfAny(object),
            Either::Other(_) => ObjectIfAny::default(),
        })
    }
}
