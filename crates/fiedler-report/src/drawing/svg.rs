//! Words and numbers as they stand in SVG.

use std::fmt::Write;

/// A user's text as it stands in markup, in an element or an attribute: shown as text, whatever it says.
///
/// ```
/// use fiedler_report::drawing::svg::escape;
/// assert_eq!(escape("<b onload='x'>\u{1}"), "&lt;b onload=&#39;x&#39;&gt;\u{fffd}");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            // XML has no place for these, not even escaped; the others would turn the text around them.
            letter if letter.is_control() || is_forbidden(letter) => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Characters that are in no XML document, and those that change the direction of what follows.
fn is_forbidden(letter: char) -> bool {
    matches!(letter, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text, or its beginning where it is longer than so many letters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// About how wide a text is, in pixels, in the sans-serif fonts that people have.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ' ' | '\'' | ':' | '|' => 0.34,
        'm' | 'w' | 'M' | 'W' | '—' | '…' => 0.95,
        letter if letter.is_ascii_uppercase() => 0.7,
        letter if letter.is_ascii() => 0.58,
        // Letters of other scripts are as wide as they are high.
        _ => 1.0,
    };
    size * text.chars().map(width).sum::<f64>()
}

/// A place or a length in pixels, to a tenth.
pub(super) fn pixels(length: f64) -> String {
    let tenths = (length * 10.0).round() / 10.0;
    // No "-0".
    format!("{}", tenths + 0.0)
}

/// A probability with the digits that a reader can use.
pub fn probability(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value >= 0.9995 => "1".into(),
        value if value >= 0.001 => format!("{value:.3}"),
        value => format!("{value:.1e}"),
    }
}

/// A change with its sign, to three digits that count.
pub fn signed(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size < 1e-4 => format!("{value:+.1e}"),
        size => format!("{value:+.*}", (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize),
    }
}

/// A length in words of SVG, appended.
pub(super) fn push(markup: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = markup.write_fmt(piece);
}

#[cfg(test)]
mod tests {
    use super::{pixels, probability, shortened, signed};

    #[test]
    fn numbers_have_sensible_digits() {
        assert_eq!([0.0, 0.12345, 0.99999, 0.00001].map(probability), ["0", "0.123", "1", "1.0e-5"]);
        assert_eq!([0.0, -0.0123456, 1.5, 0.00001].map(signed), ["0", "-0.0123", "+1.50", "+1.0e-5"]);
        assert_eq!([-0.01, 12.34, 3.0].map(pixels), ["0", "12.3", "3"]);
        assert_eq!((shortened("abc", 3), shortened("abcd", 3)), ("abc".into(), "ab…".into()));
    }
}
