//! Lists of what there is to choose from: one list makes an enum with its names, help, parsing and serde.
//!
//! [`named_enum!`] is for choices without settings, [`listed_settings!`] for choices whose settings are a struct in a file of its own.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use crate::error::{Error, Result};

/// Entry of a list: what a command line or a page shows of one choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Name in settings, flags and reports.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
}

impl Entry {
    fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// Place of a name in a list.
///
/// # Errors
/// When the name is not in the list: names all that are, and the nearest.
pub(crate) fn find(kind: &str, entries: &[Entry], name: &str) -> Result<usize> {
    let known = entries.iter().map(|entry| entry.name);
    let found = entries.iter().position(|entry| entry.answers_to(name));
    found.ok_or_else(|| fiedler_graph::Error::unknown_name(kind, name, known).into())
}

/// Reads a name.
pub(crate) fn deserialize_name<'de, D: Deserializer<'de>, T: FromStr<Err = Error>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(|error: Error| D::Error::custom(error.in_one_line()))
}

/// Reads a name alone, which stands for default settings, or a table with the key `name` and settings.
pub(crate) fn deserialize_settings<'de, D, T, Tagged>(kind: &'static str, from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err = Error> + From<Tagged>,
    Tagged: Deserialize<'de>,
{
    from.deserialize_any(NameOrTable(kind, PhantomData::<(T, Tagged)>))
}

struct NameOrTable<T>(&'static str, PhantomData<T>);

impl<'de, T, Tagged> Visitor<'de> for NameOrTable<(T, Tagged)>
where
    T: FromStr<Err = Error> + From<Tagged>,
    Tagged: Deserialize<'de>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {} or a table with the key `name`", self.0)
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        name.parse().map_err(|error: Error| E::custom(error.in_one_line()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        Tagged::deserialize(MapAccessDeserializer::new(map)).map(T::from)
    }
}

/// Makes an enum without settings out of one list; a variant's doc is its help.
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident as $kind:literal {
        $($(#[doc = $help:literal])+ $name:literal $(| $alias:literal)* => $Variant:ident),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Enum {
            $($(#[doc = $help])+ $Variant,)+
        }

        impl $Enum {
            /// All of them, in the order of the list.
            pub const ALL: [$Enum; [$($name),+].len()] = [$($Enum::$Variant),+];
            /// Names, in the order of the list.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];
            /// Names, aliases and help, in the order of the list.
            pub const ENTRIES: [$crate::list::Entry; [$($name),+].len()] = [
                $($crate::list::Entry {
                    name: $name, aliases: &[$($alias),*], help: concat!($($help),+).trim_ascii()
                }),+
            ];

            /// Name in settings, flags and reports.
            pub fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $name),+ }
            }

            /// One line of help.
            pub fn help(self) -> &'static str {
                match self { $($Enum::$Variant => concat!($($help),+).trim_ascii()),+ }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $Enum {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> $crate::error::Result<$Enum> {
                $crate::list::find($kind, &$Enum::ENTRIES, name).map(|at| $Enum::ALL[at])
            }
        }

        impl serde::Serialize for $Enum {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$Enum, D::Error> {
                $crate::list::deserialize_name(from)
            }
        }
    };
}

/// Makes an enum of settings out of one list. A settings type has `Default`, serde, an associated constant `HELP`, and the trait
/// through which all of them are used.
macro_rules! listed_settings {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident as $kind:literal, dyn $Trait:ident {
        $($name:literal $(| $alias:literal)* => $Variant:ident($Settings:ty)),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(tag = "name")]
        $vis enum $Enum {
            $(
                #[doc = concat!("`", $name, "`: see [`", stringify!($Settings), "`].")]
                #[serde(rename = $name)]
                $Variant($Settings),
            )+
        }

        impl $Enum {
            /// Names, in the order of the list.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];
            /// Names, aliases and help, in the order of the list.
            pub const ENTRIES: [$crate::list::Entry; [$($name),+].len()] = [
                $($crate::list::Entry { name: $name, aliases: &[$($alias),*], help: <$Settings>::HELP }),+
            ];

            /// All of them with default settings, in the order of the list.
            pub fn all() -> [$Enum; [$($name),+].len()] {
                [$($Enum::$Variant(Default::default())),+]
            }

            /// Name in settings, flags and reports.
            pub fn name(&self) -> &'static str {
                match self { $($Enum::$Variant(_) => $name),+ }
            }

            /// One line of help.
            pub fn help(&self) -> &'static str {
                match self { $($Enum::$Variant(_) => <$Settings>::HELP),+ }
            }

            fn settings(&self) -> &dyn $Trait {
                match self { $($Enum::$Variant(settings) => settings),+ }
            }
        }

        $(
            impl From<$Settings> for $Enum {
                fn from(settings: $Settings) -> $Enum {
                    $Enum::$Variant(settings)
                }
            }
        )+

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        /// By its name, with default settings.
        impl std::str::FromStr for $Enum {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> $crate::error::Result<$Enum> {
                let at = $crate::list::find($kind, &$Enum::ENTRIES, name)?;
                let make: [fn() -> $Enum; [$($name),+].len()] = [$(|| $Enum::$Variant(Default::default())),+];
                Ok(make[at]())
            }
        }

        impl<'de> serde::Deserialize<'de> for $Enum {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$Enum, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(tag = "name")]
                enum Tagged {
                    $(#[serde(rename = $name $(, alias = $alias)*)] $Variant($Settings),)+
                }
                impl From<Tagged> for $Enum {
                    fn from(tagged: Tagged) -> $Enum {
                        match tagged { $(Tagged::$Variant(settings) => $Enum::$Variant(settings)),+ }
                    }
                }
                $crate::list::deserialize_settings::<D, $Enum, Tagged>($kind, from)
            }
        }
    };
}

pub(crate) use {listed_settings, named_enum};
