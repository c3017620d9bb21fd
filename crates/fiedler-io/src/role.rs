//! Roles of columns, told by their headers: one definition for everything that writes tables and everything that reads them.

/// Headers that say, wherever the column stands, that it holds ids.
const IDS: [&str; 6] = ["id", "node", "graph", "node_id", "nodeid", "graph_id"];
/// Headers that say so in the first column, or right behind other columns of ids: names, and the index that pandas writes.
const BESIDE_IDS: [&str; 4] = ["name", "", "index", "unnamed: 0"];
/// What the column with the lines of a source is called; it stands behind a column of ids.
pub(crate) const LINE: &str = "line";
/// What the column with the names that a source has is called.
pub(crate) const NAME: &str = "name";
/// Headers that call a column what is to be predicted.
const LABELS: [&str; 6] = ["label", "labels", "class", "target", "category", "y"];

/// Whether a header says, wherever its column stands, that it holds ids.
fn is_id(header: &str) -> bool {
    IDS.iter().any(|name| header.eq_ignore_ascii_case(name))
}

/// Whether a header says in the first column that it holds ids.
pub(crate) fn is_first_id(header: &str) -> bool {
    is_id(header) || BESIDE_IDS.iter().any(|name| header.eq_ignore_ascii_case(name))
}

/// Whether a header calls its column ids of graphs, which those of nodes are not.
pub(crate) fn is_graph_id(header: &str) -> bool {
    ["graph", "graph_id"].iter().any(|name| header.eq_ignore_ascii_case(name))
}

/// Whether a header calls its column what is to be predicted.
pub(crate) fn is_label(header: &str) -> bool {
    LABELS.iter().any(|name| header.eq_ignore_ascii_case(name))
}

/// Columns that hold ids, names, counts or lines of a source rather than values; those that are surely ids come first. A table of a
/// single column has none.
pub(crate) fn id_columns<S: AsRef<str>>(headers: &[S]) -> Vec<usize> {
    if headers.len() < 2 {
        return Vec::new();
    }
    let leading = headers.iter().enumerate().take_while(|(at, header)| {
        let header = header.as_ref();
        is_first_id(header) || *at > 0 && header.eq_ignore_ascii_case(LINE)
    });
    let leading = leading.count();
    let (sure, others): (Vec<usize>, Vec<usize>) = (0..leading).partition(|&at| is_id(headers[at].as_ref()));
    let later = (leading..headers.len()).filter(|&at| is_id(headers[at].as_ref()));
    sure.into_iter().chain(later).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_by_their_headers() {
        assert_eq!(id_columns(&["graph", "0", "1"]), [0]);
        assert_eq!(id_columns(&["graph", "line", "name", "0", "1"]), [0, 1, 2]);
        assert_eq!(id_columns(&["", "id", "x"]), [1, 0]);
        assert_eq!(id_columns(&["x", "Node_ID"]), [1]);
        for values in [&["x", "name", "index"][..], &["line", "x"], &["id"]] {
            assert!(id_columns(values).is_empty(), "{values:?}");
        }
    }
}
