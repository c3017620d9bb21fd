//! struc2vec's airports.

use fiedler_graph::Labels;
use fiedler_io::read::FORMATS;
use fiedler_io::{DataSource, Error};

use crate::common::{memory, published, read, read_path};

fn toy(edges: &[u8], labels: &[u8]) -> DataSource {
    memory(&[("toy.edgelist", edges), ("labels-toy.txt", labels)], Some("toy.edgelist"))
}

#[test]
fn nodes_keep_their_names_and_need_no_edges() -> Result<(), Error> {
    let dataset = read(&toy(b"30 10\n10 40\n10 10\n", b"node label\n10 2\n20 0\n30 2\n"))?;
    assert_eq!((dataset.name.as_str(), dataset.report.format), ("toy", "struc2vec"));
    let graph = dataset.graph().expect("one graph");
    assert_eq!((graph.num_nodes(), graph.num_edges(), dataset.report.edges.self_loops), (4, 2, 1));
    assert_eq!((0..4).map(|node| graph.name(node)).collect::<Vec<_>>(), ["10", "20", "30", "40"]);
    assert_eq!((graph.degree(1), graph.neighbors(0)), (0, &[2, 3][..]));
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(classes.of(), [Some(1), Some(0), Some(1), None]);
    Ok(())
}

#[test]
fn the_path_may_name_the_labels_or_a_folder() -> Result<(), Error> {
    let one: &[(&str, &[u8])] = &[("a.edgelist", b"0 1\n"), ("labels-a.txt", b"0 1\n1 0\n")];
    for named in [None, Some("labels-a.txt"), Some("a.edgelist")] {
        let dataset = read(&memory(one, named))?;
        assert_eq!(dataset.name, "a");
        assert!(dataset.graph().expect("one graph").names().is_none(), "0 and 1 are no names of their own");
    }
    let two = [one, &[("b.edgelist", b"0 1\n"), ("labels-b.txt", b"0 1\n")]].concat();
    let error = read(&memory(&two, None)).expect_err("two sets");
    assert_eq!(error.to_string(), "memory: both a.edgelist and b.edgelist; expected one dataset");
    Ok(())
}

#[test]
fn an_edge_list_without_labels_is_left_to_other_formats() {
    let alone = memory(&[("a.edgelist", b"0 1\n"), ("labels-b.txt", b"0 1\n")], None);
    assert!(!FORMATS.iter().any(|format| format.name == "struc2vec" && (format.recognizes)(&alone)));
}

#[test]
fn errors_name_the_line() {
    let cases: [(&[u8], &[u8], &str); 4] = [
        (b"0 1\n0 x\n", b"0 1\n", "toy.edgelist, line 2: \"x\"; expected a second node"),
        (b"0 1 2\n", b"0 1\n", "toy.edgelist, line 1: \"2\"; expected two nodes a line"),
        (b"", b"node label\n0 1\n0 2\n", "labels-toy.txt, line 3: node 0 again; expected one label a node"),
        (b"", b"0\n", "labels-toy.txt, line 1: the end of the line; expected the class of the node"),
    ];
    for (edges, labels, expected) in cases {
        assert_eq!(read(&toy(edges, labels)).expect_err("malformed").to_string(), expected);
    }
}

#[test]
fn published_airports() {
    for (name, nodes, edges, self_loops) in [("usa", 1_190, 13_599, 0), ("brazil", 131, 1_003, 71)] {
        let Some(path) = published(&format!("airports/{name}-airports.edgelist")) else { continue };
        let dataset = read_path(path);
        assert_eq!(dataset.graph().map(|graph| (graph.num_nodes(), graph.num_edges())), Some((nodes, edges)), "{name}");
        assert_eq!(dataset.report.edges.self_loops, self_loops, "{name}");
        let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
        assert_eq!((classes.count(), dataset.node_labels.as_ref().map(Labels::missing)), (4, Some(0)), "{name}");
    }
}
