//! GML files.

use fiedler_graph::{Dataset, Labels};
use fiedler_io::Error;

use crate::common::{memory, read, read_path};

fn parse(text: &str) -> Result<Dataset, Error> {
    read(&memory(&[("a.gml", text.as_bytes())], Some("a.gml")))
}

#[test]
fn nodes_attributes_and_weights_are_read() {
    let text = "Creator \"me\"\n# comment\ngraph\n[\n  directed 1\n\
                node [ id 7 label \"caf&#233; &amp; bar\" class \"red\" x 1.5 v 1 v 2 graphics [ x 3 fill [ r 1 ] ] ]\n\
                node [ id 2 label \"b\" class \"blue\" x -2 v 3 v 4 ]\n\
                node [ id 5 label \"alone\" class \"red\" x 0 v 0 v 1e1 ]\n\
                edge [ source 7 target 2 value 2 ]\n]\n";
    let dataset = parse(text).expect("a graph");
    let graph = dataset.graph().expect("one graph");
    assert_eq!(dataset.report.format, "gml");
    assert_eq!((0..3).map(|node| graph.name(node)).collect::<Vec<_>>(), ["caf\u{e9} & bar", "b", "alone"]);
    assert_eq!((graph.edge_pairs().collect::<Vec<_>>(), graph.edge_weights()), (vec![(0, 1)], Some(vec![2.0])));
    assert_eq!(dataset.feature_names.as_deref(), Some(&["x", "v.0", "v.1"].map(str::to_owned)[..]));
    assert_eq!(dataset.features.as_ref().expect("features").to_dense().row(2), [0.0, 0.0, 10.0]);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(
        (classes.names(), classes.of()),
        (&["blue".to_owned(), "red".into()][..], &[Some(1), Some(0), Some(1)][..])
    );
    assert!(dataset.report.notes.iter().any(|note| note.contains("directed")), "{:?}", dataset.report.notes);
}

#[test]
fn what_networkx_writes_is_read() {
    let dataset = read_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/karate.gml"));
    let graph = dataset.graph().expect("one graph");
    assert_eq!((graph.num_nodes(), graph.num_edges(), graph.names()), (34, 78, None));
    assert_eq!(graph.edge_weights().expect("weights").iter().sum::<f32>(), 231.0);
    assert_eq!(dataset.feature_names.as_deref(), Some(&["degree", "founder"].map(str::to_owned)[..]));
    assert_eq!(dataset.node_labels.as_ref().and_then(Labels::classes).expect("clubs").names(), ["Mr. Hi", "Officer"]);
}

#[test]
fn errors_name_the_line() {
    for (text, expected) in [
        ("graph [\nnode [ id 0 ]\nnode [ id 0 ]\n]", "a.gml, line 3: node 0 once more; expected each node once"),
        ("graph [\nnode [ label \"a\" ]\n]", "line 2: a node without id"),
        ("graph [\nnode [ id 0.5 ]\n]", "line 2: 0.5; expected a whole number as id"),
        (
            "graph [\nnode [ id 0 ]\nedge [ source 0 target 3 ]\n]",
            "line 3: an edge of node 3, which is not in the file",
        ),
        ("graph [\nnode [ id 0 ]\nedge [ source 0 ]\n]", "line 3: an edge without source or target"),
        (
            "graph [ node [ id 0 ] node [ id 1 ]\nedge [ source 0 target 1 weight -1 ] ]",
            "line 2: the weight -1; expected a positive",
        ),
        ("graph [\nnode [ id 0 label \"a ]\n]", "line 2: a string without an end"),
        ("graph [\nnode [ id 0\n", "line 3: the end of the file; expected a key or ]"),
        ("graph [\nnode 3\n]", "line 2: the number 3; expected [ after node"),
        ("graph [\n%\n]", "line 2: \"%\"; expected a key, a number or a string"),
    ] {
        let error = parse(text).expect_err("malformed").to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let deep = format!("graph [ a {} ]", "[ a ".repeat(100_000));
    assert!(parse(&deep).expect_err("no end").to_string().contains("the end of the file"));
}
