//! How a file of molecules is laid out: a table with a column of SMILES, or a list.

use crate::error::Error;
use crate::input::File;
use crate::molecule;

/// How many lines are looked at to tell whether a file without a header is a list of SMILES.
const SAMPLE: usize = 20;
/// Names of columns, beside those with "smiles" in them, that hold SMILES if their first row does.
const OTHER_NAMES: [&str; 3] = ["mol", "molecule", "structure"];

/// A table or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "molecules"), allow(dead_code))]
pub(super) enum Layout {
    /// A header, then one molecule a row.
    Table {
        /// The byte between two fields.
        delimiter: u8,
        /// Which column holds the SMILES.
        smiles: usize,
        /// Names of all columns.
        names: Vec<String>,
    },
    /// One SMILES a line, perhaps with a name behind it.
    List,
}

impl Layout {
    /// Tells the layout from the first bytes of a file; `None` when they hold no SMILES.
    pub(super) fn of(head: &[u8]) -> Option<Layout> {
        let text = String::from_utf8_lossy(head);
        let lines = sample(&text);
        // Spaces last: names of columns hold them.
        let tables = [(b",\t;".as_slice(), true), (b",\t;", false), (b" ", true), (b" ", false)];
        tables
            .into_iter()
            .find_map(|(delimiters, exact)| delimiters.iter().find_map(|&delimiter| table(delimiter, exact, &lines)))
            .or_else(|| is_list(&lines).then_some(Layout::List))
    }
}

/// The error for a file in which no SMILES can be found.
pub(super) fn unknown(file: &File, head: &[u8]) -> Error {
    let text = String::from_utf8_lossy(head);
    let first = sample(&text).first().copied().unwrap_or_default();
    let names: Vec<String> = fields(b',', first).into_iter().take(12).collect();
    let found = match names.as_slice() {
        [] => "no text".to_owned(),
        [only] => format!("{only:?}, which is no SMILES ({})", refusal(only)),
        _ => format!("the columns {}", names.join(", ")),
    };
    let malformed = file.malformed_at(1, found, "a column called smiles, or one SMILES a line");
    malformed.hint("give the column that holds the molecules the name smiles").into()
}

fn refusal(text: &str) -> String {
    molecule::refusal(text).map(|why| why.to_string()).unwrap_or_default()
}

/// The first lines that are not blank. The last one may be cut off, unless it is the only one.
fn sample(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
    whole.lines().map(str::trim).filter(|line| !line.is_empty()).take(SAMPLE).collect()
}

fn fields(delimiter: u8, line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|field| field.trim().to_owned()).collect()
}

fn table(delimiter: u8, exact: bool, lines: &[&str]) -> Option<Layout> {
    let names = fields(delimiter, lines.first()?);
    let row = lines.get(1).map(|line| fields(delimiter, line)).unwrap_or_default();
    let smiles = (0..names.len()).find(|&column| {
        let name = names[column].to_ascii_lowercase();
        if exact {
            return name == "smiles";
        }
        let fitting = name.contains("smiles") || OTHER_NAMES.contains(&name.as_str());
        fitting
            && row
                .get(column)
                .is_some_and(|field| !field.contains(char::is_whitespace) && molecule::refusal(field).is_none())
    })?;
    Some(Layout::Table { delimiter, smiles, names })
}

/// Whether every line begins with SMILES, and the lines are not pairs of names that could be SMILES by chance: edges.
fn is_list(lines: &[&str]) -> bool {
    let firsts: Vec<&str> = lines.iter().filter_map(|line| first_field(line)).collect();
    let valid = firsts.iter().filter(|first| molecule::refusal(first).is_none()).count();
    let alone = lines.iter().all(|line| first_field(line) == Some(line));
    let unmistakable = firsts.iter().any(|first| first.contains(['(', '[', '=', '#']));
    // One line in ten may hold a SMILES that is no molecule.
    valid > 0 && valid * 10 >= lines.len() * 9 && (alone || unmistakable)
}

/// What stands before the first white space or comma, neither of which SMILES has.
pub(super) fn first_field(line: &str) -> Option<&str> {
    line.split([' ', '\t', ',']).find(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_tables_and_lists_from_edges_and_features() {
        let table = |delimiter, smiles, names: &[&str]| {
            Some(Layout::Table { delimiter, smiles, names: names.iter().map(|name| (*name).to_owned()).collect() })
        };
        assert_eq!(Layout::of(b"num,SMILES\n1,CCO\n"), table(b',', 1, &["num", "SMILES"]));
        assert_eq!(Layout::of(b"\xef\xbb\xbfSMILES\nCCO\n"), table(b',', 0, &["SMILES"]));
        assert_eq!(Layout::of(b"SMILES Name\nCCO ethanol\n"), table(b' ', 0, &["SMILES", "Name"]));
        assert_eq!(Layout::of(b"mol,CID\nCCO,BACE_1\n"), table(b',', 0, &["mol", "CID"]));
        assert_eq!(Layout::of(b"canonical_smiles\ty\nCCO\t1\n"), table(b'\t', 0, &["canonical_smiles", "y"]));
        assert_eq!(Layout::of(b"id,Canonical SMILES\n1,CCO\n"), table(b',', 1, &["id", "Canonical SMILES"]));
        assert_eq!(Layout::of(b"CCO\nc1ccccc1\n"), Some(Layout::List));
        assert_eq!(Layout::of(b"CC(=O)O acetic acid\nCCO ethanol\n"), Some(Layout::List));
        assert_eq!(Layout::of(b"CCO"), Some(Layout::List));
        for other in
            ["0 1\n1 2\n", "0,1\n", "C O\nN C\n", "mol,weight\n1,0.5\n", "a,b\n1,2\n", "alice bob\n", "", "\n\n"]
        {
            assert_eq!(Layout::of(other.as_bytes()), None, "{other:?}");
        }
    }
}
