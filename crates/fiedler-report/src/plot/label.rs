//! How much room words take.

/// Widths of the letters from space to tilde in hundredths of the size, of the widest typeface a page may fall back to.
const WIDTHS: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84,
    84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69,
    61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63,
    59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// The width of words at a size; letters outside the table count as wide.
pub fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        ' '..='~' => f64::from(WIDTHS[letter as usize - 32]),
        '\u{2e80}'.. => 100.0,
        _ => 66.0,
    };
    text.chars().map(of).sum::<f64>() * size / 100.0
}

/// The words, cut where there is no room for them.
pub fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if width(&short, size) + width("…m", size) > room {
            break;
        }
        short.push(letter);
    }
    format!("{}…", short.trim_end())
}

/// Lines of words that each fit into the room, as many as needed.
pub fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most - 1).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| shorten(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_to_their_room() {
        assert_eq!(shorten("span", 12.0, 100.0), "span");
        let short = shorten("a rather long name of a method", 12.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0, "{short}");
        assert_eq!(wrap("relative norm, maximised", 12.0, 100.0, 2), ["relative norm,", "maximised"]);
        assert!(wrap("one two three four five six seven eight", 12.0, 60.0, 2).len() == 2);
    }
}
