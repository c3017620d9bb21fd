//! Lines of separated fields: what edge lists and tables of features and labels have in common.
//!
//! Lines that are blank or begin with `#`, `%` or `//` are skipped. A field in double quotes may hold anything but a
//! line break; a quote inside it is doubled. Fields without quotes are trimmed of spaces.

use std::borrow::Cow;

/// How many lines are looked at to tell how a file is laid out.
const SAMPLE_LINES: usize = 100;
const BLANKS: [char; 2] = [' ', '\t'];

/// What stands between two fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// Any run of spaces and tabs.
    Spaces,
}

impl Separator {
    /// The separator that every one of the lines has; if there is none, the one that most have, for the others to be faulty.
    ///
    /// Tabs come first, since names may hold any other separator; but lines of nothing but numbers may mix tabs and spaces.
    pub(super) fn of(lines: &[&str]) -> Separator {
        let having = |mark: char| lines.iter().filter(|line| outside_quotes(line).any(|c| c == mark)).count();
        let everywhere = |mark: char| !lines.is_empty() && having(mark) == lines.len();
        if everywhere('\t') {
            let numbers =
                |line: &&str| line.split(BLANKS).all(|field| field.is_empty() || field.parse::<f64>().is_ok());
            let mixed = lines.iter().skip(1).any(|line| line.trim_matches(BLANKS).contains(' '));
            return if mixed && lines.iter().skip(1).all(numbers) { Separator::Spaces } else { Separator::Tab };
        }
        // Spaces may be tabs here and there, so tabs on most lines say nothing.
        let marked = [(';', Separator::Semicolon), (',', Separator::Comma)];
        let found = marked.iter().find(|(mark, _)| everywhere(*mark));
        let found =
            found.or_else(|| marked.iter().find(|(mark, _)| !everywhere(' ') && having(*mark) > lines.len() / 2));
        found.map_or(Separator::Spaces, |(_, separator)| *separator)
    }

    /// The fields of a line.
    pub(super) fn split(self, line: &str) -> Fields<'_> {
        Fields { separator: self, rest: Some(line) }
    }

    /// The one byte between two fields; `None` for any run of spaces.
    pub(super) fn byte(self) -> Option<u8> {
        match self {
            Separator::Comma => Some(b','),
            Separator::Semicolon => Some(b';'),
            Separator::Tab => Some(b'\t'),
            Separator::Spaces => None,
        }
    }

    /// Whether a byte is mere padding around a field.
    pub(super) fn pads(self, byte: u8) -> bool {
        byte == b' ' || byte == b'\t' && self != Separator::Tab
    }

    fn trim(self, text: &str) -> &str {
        text.trim_matches(|c: char| c.is_ascii() && self.pads(c as u8))
    }

    fn trim_start(self, text: &str) -> &str {
        text.trim_start_matches(|c: char| c.is_ascii() && self.pads(c as u8))
    }

    /// Cuts at the first separator: what stands before it, and what follows, if there is one.
    fn cut(self, text: &str) -> (&str, Option<&str>) {
        let found = match self.byte() {
            Some(byte) => text.split_once(byte as char),
            None => text.split_once(BLANKS),
        };
        match found {
            Some((field, rest)) => (field, Some(rest)),
            None => (text, None),
        }
    }
}

/// The fields of one line, without their quotes.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    separator: Separator,
    rest: Option<&'a str>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let text = self.separator.trim_start(self.rest?);
        if self.separator == Separator::Spaces && text.is_empty() {
            self.rest = None;
            return None;
        }
        if let Some((field, rest)) = self.quoted(text) {
            self.rest = rest;
            return Some(field);
        }
        let (field, rest) = self.separator.cut(text);
        self.rest = rest;
        Some(Cow::Borrowed(self.separator.trim(field)))
    }
}

impl<'a> Fields<'a> {
    /// What has not been cut yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest.unwrap_or("")
    }

    /// A field in quotes that ends where a field can end; text that merely begins with a quote is not one.
    fn quoted(&self, text: &'a str) -> Option<(Cow<'a, str>, Option<&'a str>)> {
        let inside = text.strip_prefix('"')?;
        let mut end = inside.find('"')?;
        while inside[end + 1..].starts_with('"') {
            end += 2 + inside[end + 2..].find('"')?;
        }
        let (between, rest) = self.separator.cut(&inside[end + 1..]);
        if !self.separator.trim(between).is_empty() {
            return None;
        }
        let field = &inside[..end];
        let field = if field.contains('"') { Cow::Owned(field.replace("\"\"", "\"")) } else { Cow::Borrowed(field) };
        Some((field, rest))
    }
}

/// Lines with their numbers counted from one, without line ends, blank lines left out, comments kept.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let numbered = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    numbered.filter(|(_, line)| !line.trim_matches(BLANKS).is_empty())
}

/// Lines that hold data: neither blank nor a comment.
pub(super) fn data_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    lines(text).filter(|(_, line)| !is_comment(line))
}

/// The first lines of data, to tell the layout from.
pub(super) fn sample(text: &str) -> Vec<&str> {
    data_lines(text).take(SAMPLE_LINES).map(|(_, line)| line).collect()
}

/// Whether a line is a comment.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim_start_matches(BLANKS);
    line.starts_with(['#', '%']) || line.starts_with("//")
}

/// A whole number, written the one way that loses nothing: no plus sign, no leading zeros.
pub(crate) fn whole_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = !digits.starts_with(['+', '0']) || text == "0";
    if canonical { text.parse().ok() } else { None }
}

/// A field as it must be written for [`Separator::split`] to give it back.
pub(crate) fn quote(field: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !field.is_empty() && field.chars().all(plain) {
        Cow::Borrowed(field)
    } else {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    }
}

fn outside_quotes(line: &str) -> impl Iterator<Item = char> {
    let mut inside = false;
    line.chars().filter(move |&c| {
        inside ^= c == '"';
        !inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(separator: Separator, line: &str) -> Vec<String> {
        separator.split(line).map(Cow::into_owned).collect()
    }

    #[test]
    fn fields_lose_padding_and_quotes() {
        assert_eq!(split(Separator::Comma, " a , \"b, \"\"c\"\"\" ,"), ["a", "b, \"c\"", ""]);
        assert_eq!(split(Separator::Tab, "New York\t\tBoston "), ["New York", "", "Boston"]);
        assert_eq!(split(Separator::Spaces, "  1 \t 2  \"x y\" "), ["1", "2", "x y"]);
        assert_eq!(split(Separator::Comma, "\"Weird Al\" Yankovic,\"open"), ["\"Weird Al\" Yankovic", "\"open"]);
    }

    #[test]
    fn separators_are_told_by_looking() {
        assert_eq!(Separator::of(&["a,b\tc", "d,e\tf"]), Separator::Tab);
        assert_eq!(Separator::of(&["1 2\t1", "3 4\t1"]), Separator::Spaces);
        assert_eq!(Separator::of(&["New York\tBoston", "Boston\tNew York"]), Separator::Tab);
        assert_eq!(Separator::of(&["a;b;0,5", "c;d;0,25"]), Separator::Semicolon);
        assert_eq!(Separator::of(&["\"x;y\",b", "\"c;d\",e"]), Separator::Comma);
        assert_eq!(Separator::of(&["1 2", "3 4"]), Separator::Spaces);
        assert_eq!(Separator::of(&["1,2", "3", "4,5"]), Separator::Comma);
        assert_eq!(Separator::of(&["1 2", "3 4,", "5 6,"]), Separator::Spaces);
        assert_eq!(Separator::of(&["1\t2", "3\t4", "5 6"]), Separator::Spaces);
    }

    #[test]
    fn whole_numbers_are_written_one_way() {
        assert_eq!(["0", "-7", "12"].map(whole_number), [Some(0), Some(-7), Some(12)]);
        assert_eq!(["-0", "+1", "007", "", "-", "1.0"].map(whole_number), [None; 6]);
    }
}
