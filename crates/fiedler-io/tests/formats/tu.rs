//! TU graph sets.

use fiedler_graph::{Dataset, Features, Labels};
use fiedler_io::read::{self, ReadOptions};
use fiedler_io::{DataSource, Error};

use crate::common::{memory, published, read, read_path};

/// Two graphs: a path of three nodes and a pair, the pairs of the path given twice over.
const PAIRS: &[u8] = b"1, 2\n2, 1\n2, 3\n3, 2\n1, 2\n2, 1\n4, 5\n5, 4\n";
const INDICATOR: &[u8] = b"1\n1\n1\n2\n2\n";

fn with(more: &[(&str, &[u8])]) -> DataSource {
    let mut files = vec![("TOY_A.txt", PAIRS), ("TOY_graph_indicator.txt", INDICATOR)];
    files.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    files.extend_from_slice(more);
    memory(&files, None)
}

fn read_with_attributes(input: &DataSource) -> Result<Dataset, Error> {
    read::read_source(input, &ReadOptions { attributes: true, ..ReadOptions::default() })
}

fn dense_rows(features: Option<&Features>) -> Vec<Vec<f32>> {
    let dense = features.expect("features").to_dense();
    (0..features.expect("features").rows()).map(|row| dense.row(row).to_vec()).collect()
}

fn message(input: &DataSource) -> String {
    read(input).expect_err("malformed").to_string()
}

#[test]
fn graphs_are_simple_and_counted_from_zero() -> Result<(), Error> {
    let dataset = read(&with(&[("TOY_graph_labels.txt", b"1\r\n-1\r\n\r\n"), ("README.txt", b"a toy")]))?;
    assert_eq!((dataset.name.as_str(), dataset.report.format), ("TOY", "tu"));
    assert_eq!((dataset.graphs.len(), dataset.graphs.num_nodes(), dataset.graphs.num_edges()), (2, 5, 3));
    assert_eq!(dataset.graphs.graph(1).neighbors(0), [1]);
    let edges = dataset.report.edges;
    assert_eq!((edges.pairs, edges.edges, edges.mirrored, edges.repeated), (8, 3, 3, 2));
    let classes = dataset.graph_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!((classes.names(), classes.of()), (&["-1".to_owned(), "1".to_owned()][..], &[Some(1), Some(0)][..]));
    assert_eq!((dataset.features, dataset.edge_features), (None, None));
    Ok(())
}

#[test]
fn node_labels_become_one_column_for_each_value_that_occurs() -> Result<(), Error> {
    let dataset = read(&with(&[("TOY_node_labels.txt", b"7\n3\n3\n9\n7\n")]))?;
    assert!(matches!(dataset.features, Some(Features::Sparse(_))));
    let rows = dense_rows(dataset.features.as_ref());
    assert_eq!(rows[0], [0.0, 1.0, 0.0]);
    assert_eq!(rows[1], [1.0, 0.0, 0.0]);
    assert_eq!(rows[3], [0.0, 0.0, 1.0]);

    let two_columns = read(&with(&[("TOY_node_labels.txt", b"1, 5\n0, 5\n0, 6\n1, 6\n1, 5\n")]))?;
    assert_eq!(dense_rows(two_columns.features.as_ref())[2], [1.0, 0.0, 0.0, 1.0]);
    Ok(())
}

#[test]
fn attributes_serve_where_labels_do_not_exist_or_where_they_are_wanted() -> Result<(), Error> {
    let attributes = ("TOY_node_attributes.txt", &b" 0.5, -1\n1,2\n3,4\n5,6\n7,1e1\n"[..]);
    let alone = read(&with(&[attributes]))?;
    assert!(matches!(alone.features, Some(Features::Dense(_))));
    assert_eq!(dense_rows(alone.features.as_ref())[4], [7.0, 10.0]);

    let both = with(&[attributes, ("TOY_node_labels.txt", b"0\n1\n0\n1\n0\n")]);
    assert!(matches!(read(&both)?.features, Some(Features::Sparse(_))));
    let wanted = read_with_attributes(&both)?;
    assert!(matches!(wanted.features, Some(Features::Dense(_))));
    assert_eq!(dense_rows(wanted.features.as_ref())[..2], [[0.5, -1.0, 1.0, 0.0], [1.0, 2.0, 0.0, 1.0]]);
    Ok(())
}

#[test]
fn attributes_beside_very_many_labels_are_not_written_out() -> Result<(), Error> {
    let nodes = 1000;
    let line = |of: &dyn Fn(usize) -> usize| (0..nodes).map(|node| format!("{}\n", of(node))).collect::<String>();
    let (indicator, labels) = (line(&|_| 1), line(&|node| node));
    let dataset = read_with_attributes(&with(&[
        ("TOY_graph_indicator.txt", indicator.as_bytes()),
        ("TOY_node_labels.txt", labels.as_bytes()),
        ("TOY_node_attributes.txt", labels.as_bytes()),
    ]))?;
    let Some(Features::Sparse(features)) = dataset.features else { panic!("sparse") };
    assert_eq!(features.row(7), (&[0, 8][..], &[7.0, 1.0][..]));
    Ok(())
}

#[test]
fn edge_features_follow_the_order_of_edges_and_the_first_pair() -> Result<(), Error> {
    let pairs = ("TOY_A.txt", &b"5, 4\n3, 2\n2, 1\n1, 2\n"[..]);
    let labels = ("TOY_edge_labels.txt", &b"30\n20\n10\n20\n"[..]);
    let attributes = ("TOY_edge_attributes.txt", &b"0.3\n0.2\n0.1\n0.9\n"[..]);
    let labelled = read(&with(&[pairs, labels, attributes]))?;
    assert!(matches!(labelled.edge_features, Some(Features::Sparse(_))));
    let rows = dense_rows(labelled.edge_features.as_ref());
    assert_eq!(rows, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let attributed = read(&with(&[pairs, attributes]))?;
    assert_eq!(dense_rows(attributed.edge_features.as_ref()), [[0.1], [0.2], [0.3]]);
    let both = read_with_attributes(&with(&[pairs, labels, attributes]))?;
    assert_eq!(dense_rows(both.edge_features.as_ref())[0], [0.1, 1.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn graph_attributes_are_values_to_predict() -> Result<(), Error> {
    let targets = ("TOY_graph_attributes.txt", &b"0.5,1\n-2,3\n"[..]);
    let dataset = read(&with(&[targets, ("TOY_graph_labels.txt", b"0\n1\n")]))?;
    assert_eq!(
        dataset.report.notes,
        ["TOY_graph_labels.txt is left out: the values of TOY_graph_attributes.txt are the labels"]
    );
    let Some(Labels::Regression(values)) = dataset.graph_labels else { panic!("values") };
    assert_eq!((values.names().len(), values.row(1)), (2, &[Some(-2.0), Some(3.0)][..]));
    Ok(())
}

#[test]
fn nodes_of_a_graph_need_not_stand_together() -> Result<(), Error> {
    let dataset = read(&with(&[
        ("TOY_A.txt", b"1,3\n3,5\n2,4\n"),
        ("TOY_graph_indicator.txt", b"2\n1\n2\n1\n2\n"),
        ("TOY_node_attributes.txt", b"1\n2\n3\n4\n5\n"),
    ]))?;
    assert_eq!(dataset.graphs.node_range(0), 0..2);
    assert_eq!(dataset.graphs.block_diagonal().edge_pairs().collect::<Vec<_>>(), [(0, 1), (2, 3), (3, 4)]);
    assert_eq!(dense_rows(dataset.features.as_ref()), [[2.0], [4.0], [1.0], [3.0], [5.0]]);
    Ok(())
}

#[test]
fn a_folder_may_keep_its_files_in_raw_and_a_path_may_name_the_pairs() -> Result<(), Error> {
    let raw = memory(&[("raw/TOY_A.txt", PAIRS), ("raw/TOY_graph_indicator.txt", INDICATOR)], None);
    assert_eq!(read(&raw)?.name, "TOY");

    let two = [
        ("A_A.txt", PAIRS),
        ("A_graph_indicator.txt", INDICATOR),
        ("B_A.txt", PAIRS),
        ("B_graph_indicator.txt", INDICATOR),
    ];
    assert_eq!(read(&memory(&two, Some("B_A.txt")))?.name, "B");
    assert_eq!(message(&memory(&two, None)), "memory: both A_A.txt and B_A.txt; expected one dataset");
    Ok(())
}

#[test]
fn errors_name_the_line() {
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "TOY_A.txt",
            b"1, 2\n3, 4\n",
            "TOY_A.txt, line 2: nodes 3 and 4 of graphs 1 and 2; expected two nodes of one graph",
        ),
        (
            "TOY_A.txt",
            b"\n0, 1\n",
            "TOY_A.txt, line 2: nodes 0 and 1; expected numbers from 1 to 5, the lines of the graph indicator",
        ),
        (
            "TOY_A.txt",
            b"1, 6\n",
            "TOY_A.txt, line 1: nodes 1 and 6; expected numbers from 1 to 5, the lines of the graph indicator",
        ),
        ("TOY_A.txt", b"1\n", "TOY_A.txt, line 1: the end of the line; expected a second node number"),
        ("TOY_A.txt", b"1,2,3\n", "TOY_A.txt, line 1: \"3\"; expected two node numbers a line"),
        (
            "TOY_graph_indicator.txt",
            b"1\n0\n",
            "TOY_graph_indicator.txt, line 2: graph 0; expected graphs counted from 1",
        ),
        ("TOY_graph_indicator.txt", b"", "TOY_graph_indicator.txt: no lines; expected one line a node"),
        (
            "TOY_graph_labels.txt",
            b"1\n",
            "TOY_graph_labels.txt: 1 rows; expected 2, one for each graph of the graph indicator",
        ),
        ("TOY_node_labels.txt", b"1\n2\n3\n4\nC\n", "TOY_node_labels.txt, line 5: \"C\"; expected a node label"),
        (
            "TOY_node_attributes.txt",
            b"1\nnan\n",
            "TOY_node_attributes.txt, line 2: \"nan\"; expected a node attribute, a finite number",
        ),
        ("TOY_node_attributes.txt", b"1\n2\n", "TOY_node_attributes.txt: 2 rows; expected 5, one for each node"),
        ("TOY_edge_labels.txt", b"1,\n", "TOY_edge_labels.txt, line 1: an empty field; expected an edge label"),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(message(&with(&[(name, bytes)])), *expected);
    }
    assert!(
        message(&with(&[("TOY_graph_indicator.txt", b"4000000000\n")])).contains("line 1: graph 4000000000; expected")
    );
}

#[test]
fn published_sets_have_their_published_counts() {
    // Graphs, nodes, edges, node label columns, class names, pairs in the file.
    let sets = [
        ("tu/MUTAG/MUTAG.zip", 188, 3_371, 3_721, Some(7), ["-1", "1"], 7_442),
        ("tu/NCI1/NCI1.zip", 4_110, 122_747, 132_753, Some(37), ["0", "1"], 265_506),
        ("tu/PROTEINS/PROTEINS.zip", 1_113, 43_471, 81_044, Some(3), ["1", "2"], 162_088),
        ("tu/IMDB-BINARY/IMDB-BINARY.zip", 1_000, 19_773, 96_531, None, ["0", "1"], 386_124),
        ("tu/DD/DD.reconstructed-TU.zip", 1_178, 334_925, 843_046, Some(82), ["1", "2"], 1_686_092),
        ("tu/REDDIT-BINARY/REDDIT-BINARY.reconstructed-TU.zip", 2_000, 859_254, 995_508, None, ["-1", "1"], 1_991_016),
    ];
    for (path, graphs, nodes, edges, columns, names, pairs) in sets {
        let Some(full) = published(path) else { continue };
        let dataset = read_path(full);
        let counts = (dataset.graphs.len(), dataset.graphs.num_nodes(), dataset.graphs.num_edges());
        assert_eq!(counts, (graphs, nodes, edges), "{path}");
        assert_eq!(dataset.features.as_ref().map(Features::columns), columns, "{path}");
        assert_eq!(dataset.graph_labels.as_ref().and_then(Labels::classes).expect(path).names(), names, "{path}");
        assert_eq!((dataset.report.edges.pairs, dataset.report.edges.self_loops), (pairs, 0), "{path}");
    }
}

#[test]
fn published_attributes_and_edge_labels() -> Result<(), Error> {
    if let Some(path) = published("tu/PROTEINS/PROTEINS.zip") {
        let dataset = read::read(path, &ReadOptions { attributes: true, ..ReadOptions::default() })?;
        assert_eq!(dense_rows(dataset.features.as_ref())[0], [23.0, 1.0, 0.0, 0.0]);
    }
    if let Some(path) = published("tu/MUTAG/MUTAG.zip") {
        let dataset = read_path(path);
        assert_eq!(dataset.edge_features.as_ref().map(|bonds| (bonds.rows(), bonds.columns())), Some((3_721, 4)));
    }
    Ok(())
}
