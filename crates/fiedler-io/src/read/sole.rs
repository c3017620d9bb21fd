//! The one file among those that the path could mean.

use crate::error::{Place, Result};
use crate::input::DataSource;

/// The only candidate; an error when there is none, or when the user has to say which.
pub(super) fn sole(
    input: &DataSource,
    mut candidates: Vec<String>,
    wanted: &str,
    format: &'static str,
) -> Result<String> {
    match (candidates.pop(), candidates.pop()) {
        (Some(candidate), None) => Ok(candidate),
        (None, _) => Err(input.missing(wanted, format)),
        (Some(one), Some(other)) => {
            let malformed = Place::file(input.path()).malformed(format!("both {other} and {one}"), "one dataset");
            Err(malformed.hint(format!("give the path of the file to read, such as {other}")).into())
        }
    }
}
