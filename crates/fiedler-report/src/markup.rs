//! Words of users inside markup.

/// Text that is text and nothing else, in HTML, in SVG, and between quotes.
///
/// Characters that XML has no place for become U+FFFD, so that a picture in a file of its own can be read, and so do those that would turn
/// the text around them.
///
/// ```
/// assert_eq!(fiedler_report::escape("<b>&\"'"), "&lt;b&gt;&amp;&quot;&#39;");
/// ```
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            letter if letter.is_control() || is_forbidden(letter) => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Characters that are in no XML document, and those that change the direction of what follows.
fn is_forbidden(letter: char) -> bool {
    matches!(letter, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name for files and links out of any words: lower case, digits and dashes.
pub fn slug(words: &str) -> String {
    let mut name = String::new();
    for letter in words.chars() {
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter.to_ascii_lowercase()),
            false if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            false => {}
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "unnamed".into() } else { name.chars().take(60).collect() }
}

/// A coordinate with as many digits as can be seen.
pub(crate) fn pixels(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}
