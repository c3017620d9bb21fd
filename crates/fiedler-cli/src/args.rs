//! Values of arguments by their names: the names are those of the library types.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fiedler_attack::AttackSettings;
use fiedler_augment::SchemeSettings;
use fiedler_experiment::{Named, settings_tree};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde_json::Value;

/// A choice that has names: the help lists them with what they are.
pub fn named<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|value| PossibleValue::new(value.name()).help(value.about()));
    let find = |name: String| T::ALL.iter().copied().find(|value| value.name() == name).ok_or("unknown name");
    PossibleValuesParser::new(values).try_map(find)
}

/// The name of a scheme: the help lists all of them with what they do.
pub fn schemes() -> PossibleValuesParser {
    let values =
        SchemeSettings::ALL.iter().map(|(name, about)| PossibleValue::new(*name).help(about.trim_end_matches('.')));
    PossibleValuesParser::new(values)
}

/// The name of an attack: the help lists all of them with what they do.
pub fn attacks() -> PossibleValuesParser {
    let values =
        AttackSettings::ALL.iter().map(|(name, about)| PossibleValue::new(*name).help(about.trim_end_matches('.')));
    PossibleValuesParser::new(values)
}

/// A word that stands for a value in files of settings: what it may be is told where it is none.
pub fn word<T: for<'a> Deserialize<'a>>(text: &str) -> Result<Value, String> {
    let words: StrDeserializer<'_, Error> = text.into_deserializer();
    let known = T::deserialize(words).map(|_| Value::from(text));
    let explain = |problem: String| settings_tree::explain_choice("value", &problem).unwrap_or(problem);
    known.map_err(|error| explain(error.to_string()))
}

/// A number that is finite.
pub fn number(text: &str) -> Result<Value, String> {
    let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
    number.map(Value::Number).ok_or_else(|| "expected a number".to_owned())
}

/// A whole number that is not negative.
pub fn whole(text: &str) -> Result<Value, String> {
    text.parse::<usize>().map(Value::from).map_err(|_| "expected a whole number".to_owned())
}

/// A time: seconds, or a number with s, m or h.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, factor) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60.0),
        Some(number) if text.ends_with('h') => (number, 3600.0),
        Some(number) => (number, 1.0),
        None => (text, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * factor).filter(|&seconds| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a positive time such as 90s, 5m or 1.5h".to_owned())
}

/// The arguments of the program, its name first.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the arguments that the program was started with, for whoever asks for them later.
pub fn remember(arguments: Vec<OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| arguments)
}

fn words() -> impl Iterator<Item = Cow<'static, str>> {
    ARGUMENTS.get().into_iter().flatten().skip(1).map(|word| word.to_string_lossy())
}

/// Whether the command is asked for JSON; known also where its arguments could not be read.
pub fn asks_for_json() -> bool {
    words().take_while(|word| word != "--").any(|word| word == "--json")
}

/// The command as it was given, without the folder that the program lies in.
pub fn command_line() -> String {
    let words = words().map(|word| match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.into_owned(),
    });
    std::iter::once("fiedler".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
