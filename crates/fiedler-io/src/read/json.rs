//! JSON files whose faults are named with their line.

use serde::Deserialize;
use serde_json::error::Category;

use crate::error::{Malformed, Place, Result};
use crate::input::File;

/// What the parser, which takes it for a fault of syntax, says of a number like 1e400.
const OUT_OF_RANGE: &str = "number out of range";

/// Reads a whole file; `expected` says what it should hold.
pub(super) fn parse<'a, T: Deserialize<'a>>(file: &'a File, expected: &str) -> Result<T> {
    serde_json::from_str(file.text()?).map_err(|error| fault(file.place(), &error, expected).into())
}

/// What an error of the parser means at a place of the user's.
pub(super) fn fault(place: &Place, error: &serde_json::Error, expected: &str) -> Malformed {
    let text = error.to_string();
    // The place has the line.
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let place = place.line(error.line() as u64);
    let broken = || place.malformed(format!("broken JSON ({what})"), expected);
    if what == OUT_OF_RANGE {
        return place.malformed("a number too large", "finite numbers");
    }
    match error.classify() {
        Category::Data | Category::Io => place.malformed(what, expected),
        Category::Eof => broken().hint("the file may be truncated; download it again"),
        Category::Syntax => broken().hint("JSON has neither NaN nor Infinity, comments or commas at the end of a list"),
    }
}
