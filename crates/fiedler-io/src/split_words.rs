//! Splits as columns of words, one word for each node or graph: one definition for everything that writes them and everything that reads them.
//!
//! A column called `split`, or `split:NAME` where there are several, says of each node or graph which part it is in: `train`, `validation` (or `valid`, `val`,
//! `dev`), `test` or `stopping`; nothing for none, and `test+stopping` for two.

use fiedler_graph::Split;

/// What the column of a split without a name is called, and what stands before the names of others.
const SPLIT: &str = "split";

/// The header of a split's column.
pub(crate) fn header(name: &str) -> String {
    if name == SPLIT { SPLIT.to_owned() } else { format!("{SPLIT}:{name}") }
}

/// The name of the split that a header announces.
pub(crate) fn announced(header: &str) -> Option<&str> {
    let start = header.get(..SPLIT.len()).filter(|start| start.eq_ignore_ascii_case(SPLIT))?;
    match &header[start.len()..] {
        "" => Some(SPLIT),
        rest => rest.strip_prefix(':'),
    }
}

/// The words of a split, one for each of so many nodes or graphs.
pub(crate) fn words(split: &Split, items: usize) -> Vec<String> {
    let mut words = vec![String::new(); items];
    let Split { train, validation, test, stopping, .. } = split;
    for (part, ids) in [("train", train), ("validation", validation), ("test", test), ("stopping", stopping)] {
        for &id in ids {
            if let Some(word) = words.get_mut(id as usize) {
                let joint = if word.is_empty() { "" } else { "+" };
                word.push_str(joint);
                word.push_str(part);
            }
        }
    }
    words
}

/// The split that words describe, or the first of them that is the name of no part.
pub(crate) fn from_words<'a>(name: &str, words: impl IntoIterator<Item = &'a str>) -> Result<Split, &'a str> {
    let mut split = Split { name: name.to_owned(), ..Split::default() };
    for (id, word) in (0..).zip(words) {
        for part in word.split('+').map(str::trim) {
            let ids = match part.to_ascii_lowercase().as_str() {
                "train" | "training" => &mut split.train,
                "validation" | "valid" | "val" | "dev" => &mut split.validation,
                // MOSES has a second test part, of scaffolds that occur nowhere else.
                "test" | "testing" | "test_scaffolds" => &mut split.test,
                "stopping" => &mut split.stopping,
                "" | "nan" | "none" => continue,
                _ => return Err(word),
            };
            ids.push(id);
        }
    }
    Ok(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_parts_are_the_same() {
        let split =
            Split { name: "own".into(), train: vec![0, 3], validation: vec![1], test: vec![4], stopping: vec![4] };
        let words = words(&split, 6);
        assert_eq!(words, ["train", "validation", "", "train", "test+stopping", ""]);
        assert_eq!(from_words("own", words.iter().map(String::as_str)), Ok(split));
        assert_eq!(from_words("own", ["Train", "VAL", "3"]), Err("3"));
    }

    #[test]
    fn headers_announce_names() {
        for name in ["split", "public", "", "a:b"] {
            assert_eq!(announced(&header(name)), Some(name));
        }
        assert_eq!(announced("Split"), Some("split"));
        for other in ["splits", "splitter", "spl", "", "Ŝplit"] {
            assert_eq!(announced(other), None, "{other}");
        }
    }
}
