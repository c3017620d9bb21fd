//! Words and numbers as they stand in SVG.

use std::fmt::Write;

/// The text, or its beginning where it is longer than so many letters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// A probability with the digits that a reader can use.
pub(super) fn probability(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value >= 0.9995 => "1".into(),
        value if value >= 0.001 => format!("{value:.3}"),
        value => format!("{value:.1e}"),
    }
}

/// A change with its sign, to three digits that count.
pub(super) fn signed(value: f64) -> String {
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
    use super::{probability, shortened, signed};

    #[test]
    fn numbers_have_sensible_digits() {
        assert_eq!([0.0, 0.12345, 0.99999, 0.00001].map(probability), ["0", "0.123", "1", "1.0e-5"]);
        assert_eq!([0.0, -0.0123456, 1.5, 0.00001].map(signed), ["0", "-0.0123", "+1.50", "+1.0e-5"]);
        assert_eq!((shortened("abc", 3), shortened("abcd", 3)), ("abc".into(), "ab…".into()));
    }
}
