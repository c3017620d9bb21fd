//! Matrix Market files.

use fiedler_graph::Dataset;
use fiedler_io::read::{self, ReadOptions};

use crate::common::{memory, read};

fn parse(text: &str) -> Dataset {
    read(&memory(&[("a.mtx", text.as_bytes())], Some("a.mtx"))).expect("a matrix")
}

fn fails(text: &str) -> String {
    read(&memory(&[("a.mtx", text.as_bytes())], Some("a.mtx"))).expect_err("malformed").to_string()
}

#[test]
fn patterns_and_values_of_one_are_unweighted() {
    for (field, value) in [("pattern", ""), ("integer", " 1"), ("real", " 1.0")] {
        let text = format!(
            "%%MatrixMarket matrix coordinate {field} general\n% comment\n4 4 4\n1 2{value}\n2 1{value}\n2 2{value}\n3 2{value}\n"
        );
        let dataset = parse(&text);
        let graph = dataset.graph().expect("one graph");
        assert_eq!((dataset.report.format, graph.num_nodes(), graph.weights()), ("matrix-market", 4, None));
        assert_eq!(graph.edge_pairs().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!((dataset.report.edges.mirrored, dataset.report.edges.self_loops), (1, 1));
    }
}

#[test]
fn other_values_are_weights_and_zeros_are_no_edges() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 1 0\n3 2 2\n";
    let graph = parse(text).graph().expect("one graph").clone();
    assert_eq!(
        (graph.edge_pairs().collect::<Vec<_>>(), graph.edge_weights()),
        (vec![(0, 1), (1, 2)], Some(vec![0.5, 2.0]))
    );
    let options = ReadOptions { unweighted: true, ..ReadOptions::default() };
    let unweighted = read::read_source(&memory(&[("a.mtx", text.as_bytes())], Some("a.mtx")), &options);
    assert_eq!(unweighted.expect("a matrix").graph().expect("one graph").weights(), None);
}

#[test]
fn the_banner_tells_the_format_whatever_the_name() {
    let text: &[u8] = b"%%matrixmarket MATRIX Coordinate pattern symmetric\n2 2 1\n2 1\n";
    for (name, named) in [("a.txt", Some("a.txt")), ("graph.mtx", None)] {
        assert_eq!(
            read(&memory(&[(name, text), ("readme.html", b"x")], named)).expect("a matrix").report.format,
            "matrix-market"
        );
    }
}

#[test]
fn errors_name_the_line() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    for (text, expected) in [
        (
            "%%MatrixMarket matrix array real general\n2 2\n1\n".into(),
            "a.mtx, line 1: the layout array; expected coordinate",
        ),
        (
            "%%MatrixMarket matrix coordinate complex general\n1 1 0\n".into(),
            "line 1: complex values; expected pattern",
        ),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n".into(), "line 1: a skew-symmetric matrix"),
        ("%%MatrixMarket\n".into(), "expected %%MatrixMarket matrix coordinate"),
        (banner.to_owned(), "no line of sizes"),
        (format!("{banner}3 2 0\n"), "line 2: 3 rows and 2 columns; expected a square adjacency matrix"),
        (format!("{banner}2 2 1\n0 1 1\n"), "line 3: row 0; expected a row from 1 to 2"),
        (format!("{banner}2 2 1\n1 3 1\n"), "line 3: column 3; expected a column from 1 to 2"),
        (format!("{banner}2 2 1\n1 2\n"), "line 3: the end of the line; expected the value of an entry"),
        (format!("{banner}2 2 1\n1 2 nan\n"), "expected the value of an entry, a finite number"),
        (format!("{banner}2 2 1\n1 2 -3\n"), "a negative entry in row 1, column 2; expected positive edge weights"),
        (format!("{banner}2 2 2\n1 2 1\n"), "1 entries; expected the 2 of the line of sizes"),
        (format!("{banner}2 2 1\n1 2 1\n2 1 1\n"), "line 4: one more entry; expected the 1 of the line of sizes"),
        (format!("{banner}2000000000 2000000000 4000000000\n"), "2000000000 rows claimed by a file of"),
    ] {
        let error = fails(&text);
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}
