#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fiedler_graph::{Dataset, Features, Names};
use fiedler_io::Error;
use fiedler_io::read::{self, ReadOptions};

use crate::common::{self, memory};

fn fixture(name: &str) -> Dataset {
    common::read_path(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name))
}

fn parse(body: &str) -> Result<Dataset, Error> {
    let text = format!("<?xml version=\"1.0\"?>\n<graphml>{body}</graphml>");
    common::read(&memory(&[("graph.graphml", text.as_bytes())], Some("graph.graphml")))
}

fn fails(body: &str) -> String {
    match parse(body) {
        Ok(_) => panic!("{body:?} was read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_networkx_writes_is_read() {
    let dataset = fixture("karate.graphml");
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges(), graph.names()), (34, 78, None));
    assert_eq!(graph.edge_weights().unwrap().iter().sum::<f32>(), 231.0);
    let features = dataset.features.as_ref().map(Features::to_dense).unwrap();
    // The order of the nodes' own attributes, as node-link data of the same graph have it; keys come in the reverse.
    assert_eq!((features.row(0), features.row(1)), ([16.0, 1.0].as_slice(), [9.0, 0.0].as_slice()));
    assert_eq!(dataset.feature_names, Some(vec!["degree".into(), "founder".into()]));
    let labels = dataset.node_labels.as_ref().and_then(|labels| labels.classes()).unwrap();
    assert_eq!(labels.names(), ["Mr. Hi", "Officer"]);
    assert_eq!(dataset.report.notes, ["the attribute \"club\" was read as labels"]);
}

#[test]
fn directed_multigraphs_become_simple() {
    let dataset = fixture("multiple.graphml");
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges()), (4, 2));
    assert_eq!((graph.name(2).as_str(), graph.degree(0)), ("c \"d\"", 0));
    assert_eq!(graph.edge_weights(), Some(vec![3.0, 1.0]));
    let report = dataset.report.edges;
    assert_eq!((report.mirrored, report.repeated), (1, 1));
    assert_eq!(
        dataset.report.notes,
        ["the graph is directed; its edges were made undirected", "3 of 4 nodes have no label"]
    );
    assert_eq!(dataset.node_labels.unwrap().missing(), 3);
}

#[test]
fn what_igraph_writes_is_read() {
    let dataset = fixture("petersen-igraph.graphml");
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges()), (10, 15));
    assert_eq!(graph.name(3), "p 3 & <q>");
    assert_eq!(dataset.features.unwrap().to_dense().values().iter().sum::<f32>(), 5.0);
}

#[test]
fn what_gephi_draws_is_no_feature() {
    let keys: String = ["r", "g", "b", "x", "y", "size", "degree"]
        .map(|name| format!("<key id=\"{name}\" for=\"node\" attr.name=\"{name}\" attr.type=\"float\"/>"))
        .concat();
    let data =
        ["r", "g", "b", "x", "y", "size", "degree"].map(|name| format!("<data key=\"{name}\">2</data>")).concat();
    let label = "<key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>";
    let node = |id: &str| format!("<node id=\"{id}\"><data key=\"label\">Node {id}</data>{data}</node>");
    let edge = "<edge id=\"0\" source=\"a\" target=\"b\"/>";
    let body = format!("{label}{keys}<graph edgedefault=\"undirected\">{}{}{edge}</graph>", node("a"), node("b"));
    let dataset = parse(&body).unwrap();
    assert_eq!(dataset.features.unwrap().columns(), 1);
    assert_eq!(dataset.node_labels, None);
    assert_eq!(dataset.report.notes, ["the node attribute \"label\" was left out: not numbers that every node has"]);
}

#[test]
fn defaults_fill_in_and_keep_features_sparse() {
    let keys = "<key id=\"d0\" for=\"node\" attr.name=\"f0\" attr.type=\"double\"><default>0</default></key>\
                <key id=\"d1\" for=\"node\" attr.name=\"f1\" attr.type=\"int\"><default> 0 </default></key>\
                <key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"><default>2</default></key>";
    let nodes = "<node id=\"7\"><data key=\"d1\">5</data></node><node id=\"3\"/><node id=\"9\"/>";
    let edges = "<edge source=\"7\" target=\"3\"><data key=\"w\">4</data></edge><edge source=\"3\" target=\"9\"/>";
    let dataset = parse(&format!("{keys}<graph>{edges}{nodes}</graph>")).unwrap();
    assert!(matches!(&dataset.features, Some(Features::Sparse(_))));
    assert_eq!(dataset.features.as_ref().unwrap().to_dense().row(0), [0.0, 5.0]);
    let graph = dataset.graph().unwrap();
    assert_eq!(graph.names(), Some(&Names::Integers(vec![7, 3, 9])));
    assert_eq!(graph.edge_weights(), Some(vec![4.0, 2.0]));
}

#[test]
fn what_cannot_be_a_graph_is_named() {
    let weight = "<key id=\"w\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>";
    let number = "<key id=\"n\" for=\"node\" attr.name=\"n\" attr.type=\"int\"/>";
    for (body, found) in [
        ("", "no graph element"),
        ("<graph><node id=\"a\"><graph/></node></graph>", "a graph inside a node or edge"),
        ("<graph/><graph/>", "a second graph"),
        ("<graph><hyperedge/></graph>", "a hyperedge"),
        ("<graph>\n<node id=\"a\"/>\n<node id=\"a\"/></graph>", "line 4: node \"a\" once more"),
        (
            "<graph>\n<edge source=\"a\" target=\"b\"/></graph>",
            "line 3: an edge of node \"a\", which is not in the file",
        ),
        ("<graph><node/></graph>", "an element node without id"),
        ("<graph><node id=\"&xxe;\"/></graph>", "xxe"),
        ("<graph><node id=\"a\"><data key=\"n\">&xxe;</data></node></graph>", "the entity &xxe;"),
        ("<graph><node id=\"a\"></graph>", "expected well-formed XML"),
        ("<graph><node id=\"a\">", "expected well-formed XML"),
        (
            &format!("{number}<graph><node id=\"a\"><data key=\"n\">x</data></node></graph>"),
            "\"x\" as \"n\"; expected a number",
        ),
        (
            &format!(
                "{weight}<graph><node id=\"a\"/><edge source=\"a\" target=\"a\"><data key=\"w\">-1</data></edge></graph>"
            ),
            "the weight \"-1\"",
        ),
    ] {
        let error = fails(body);
        assert!(error.contains(found), "{body:?}: {error}");
    }
}

#[test]
fn entities_are_never_expanded() {
    let text = "<?xml version=\"1.0\"?><!DOCTYPE g [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">\
                <!ENTITY f SYSTEM \"file:///etc/passwd\">]><graphml><graph><node id=\"x\"><desc>&b;</desc></node></graph></graphml>";
    let error = common::read(&memory(&[("g.graphml", text.as_bytes())], Some("g.graphml"))).unwrap_err();
    assert!(error.to_string().contains("the entity &b;"), "{error}");
    assert!(error.hint().unwrap().contains("not expanded"));
}

#[test]
fn many_attributes_of_few_nodes_stay_small() {
    let keys: String =
        (0..2000).map(|at| format!("<key id=\"k{at}\" for=\"node\" attr.name=\"k{at}\" attr.type=\"int\"/>")).collect();
    let nodes: String = (0..2000).map(|at| format!("<node id=\"{at}\"><data key=\"k{at}\">1</data></node>")).collect();
    let dataset = parse(&format!("{keys}<graph>{nodes}</graph>")).unwrap();
    assert_eq!(dataset.features, None);
    assert!(dataset.report.notes[0].contains("and 1995 more were left out"), "{:?}", dataset.report.notes);
}

#[test]
fn weights_can_be_left_out() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/karate.graphml");
    let dataset = read::read(path, &ReadOptions { unweighted: true, ..ReadOptions::default() }).unwrap();
    assert_eq!(dataset.graph().unwrap().edge_weights(), None);
}
