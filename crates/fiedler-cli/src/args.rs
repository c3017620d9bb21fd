//! Values of arguments by their names: the names are those of the library types.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fiedler_experiment::Named;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// A choice that has names: the help lists them with what they are.
pub fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|value| PossibleValue::new(value.name()).help(value.about()));
    let find = |name: String| T::ALL.iter().copied().find(|value| value.name() == name).ok_or("unknown name");
    PossibleValuesParser::new(values).try_map(find)
}

/// A word that stands for a value in files of settings: what it may be is told where it is none.
pub fn word<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    let words: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(words).map_err(|error| error.to_string().replace('`', ""))
}

/// The command as it was given, without the folder that the program lies in.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word,
    });
    std::iter::once(env!("CARGO_BIN_NAME").to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
