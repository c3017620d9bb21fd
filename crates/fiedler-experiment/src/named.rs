//! Choices that have one name everywhere: on the command line, in files, in reports.

use std::str::FromStr;

/// A choice among a few, each with a name and a line that says what it is.
pub trait Named: Copy + FromStr + 'static {
    /// All of them, in the order of the help.
    const ALL: &'static [Self];

    /// The name.
    fn name(self) -> &'static str;

    /// What it is, in one line.
    fn about(self) -> &'static str;
}

/// An enum whose variants have names; the line that says what one is becomes its documentation too.
macro_rules! named {
    ($(#[$attribute:meta])* $what:literal $type:ident { $($variant:ident = $name:literal: $about:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $(#[doc = $about] #[serde(rename = $name)] $variant,)*
        }

        impl $crate::named::Named for $type {
            const ALL: &'static [$type] = &[$($type::$variant),*];

            fn name(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }

            fn about(self) -> &'static str {
                match self { $($type::$variant => $about),* }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<$type, $crate::Error> {
                match text {
                    $($name => Ok($type::$variant),)*
                    _ => Err(fiedler_graph::Error::unknown_name($what, text, [$($name),*]).into()),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::named::Named::name(*self))
            }
        }
    };
}

pub(crate) use named;

impl Named for fiedler_evaluate::ProtocolPreset {
    const ALL: &'static [Self] = &fiedler_evaluate::ProtocolPreset::ALL;

    fn name(self) -> &'static str {
        fiedler_evaluate::ProtocolPreset::name(self)
    }

    fn about(self) -> &'static str {
        self.help()
    }
}
