//! powerful-gnns text.

use std::collections::HashSet;

use fiedler_graph::{Features, Labels};
use fiedler_io::Error;
use fiedler_io::read::{self, FORMATS, ReadOptions};

use crate::common::{memory, published, read, read_path};

const TOY: &[u8] = b"2\n3 5\n0 1 1\n2 2 0 2\n0 2 1 2\n2 0\n2 1 1\n2 1 0\n";

#[test]
fn graphs_tags_classes_and_folds() -> Result<(), Error> {
    let files: &[(&str, &[u8])] = &[
        ("TOY.txt", TOY),
        ("10fold_idx/train_idx-1.txt", b"1\n"),
        ("10fold_idx/test_idx-1.txt", b"0\n"),
        ("10fold_idx/train_idx-2.txt", b"0\n"),
        ("10fold_idx/test_idx-2.txt", b"1"),
    ];
    for named in [None, Some("TOY.txt")] {
        let dataset = read(&memory(files, named))?;
        assert_eq!((dataset.name.as_str(), dataset.report.format), ("TOY", "powerful-gnns"));
        assert_eq!((dataset.graphs.len(), dataset.graphs.num_nodes(), dataset.graphs.num_edges()), (2, 5, 3));
        assert_eq!((dataset.report.edges.mirrored, dataset.report.edges.self_loops), (3, 1));
        let classes = dataset.graph_labels.as_ref().and_then(Labels::classes).expect("classes");
        assert_eq!(classes.of(), [Some(1), Some(0)]);
        let features = dataset.features.expect("tags").to_dense();
        assert_eq!((features.row(0), features.row(1)), (&[1.0, 0.0][..], &[0.0, 1.0][..]));
        assert_eq!(dataset.splits.len(), 2);
        let second = &dataset.splits[1];
        assert_eq!((second.name.as_str(), &second.train[..], &second.test[..]), ("fold-2", &[0][..], &[1][..]));
        assert!(second.validation.is_empty());
    }
    Ok(())
}

#[test]
fn tags_that_are_all_the_same_say_nothing() -> Result<(), Error> {
    let dataset = read(&memory(&[("TOY.txt", b"1\n2 0\n0 1 1\n0 1 0\n")], None))?;
    assert_eq!((dataset.graphs.num_edges(), dataset.features), (1, None));
    Ok(())
}

#[test]
fn attributes_follow_the_neighbors() -> Result<(), Error> {
    let same_tags = memory(&[("TOY.txt", b"1\n2 0\n0 1 1 0.5 -2\n0 1 0 3 4e-1\n")], None);
    let features = read(&same_tags)?.features.expect("attributes").to_dense();
    assert_eq!((features.row(0), features.row(1)), (&[0.5, -2.0][..], &[3.0, 0.4][..]));

    let with_tags = memory(&[("TOY.txt", b"1\n2 0\n0 1 1 0.5\n1 1 0 3\n")], None);
    assert!(matches!(read(&with_tags)?.features, Some(Features::Sparse(_))));
    let both = read::read_source(&with_tags, &ReadOptions { attributes: true, ..ReadOptions::default() })?;
    assert_eq!(both.features.expect("both").to_dense().row(1), [3.0, 0.0, 1.0]);
    Ok(())
}

#[test]
fn errors_name_the_line() {
    let cases: &[(&[u8], &str)] = &[
        (b"2\n1 0\n0 0\n", "TOY.txt: the end of the file; expected a graph's `nodes class`"),
        (b"1\n2 0\n0 0\n", "TOY.txt: the end of the file; expected another node of the last graph"),
        (
            b"1\n4000000000 0\n0 0\n",
            "TOY.txt, line 2: number of nodes is 4000000000; expected at most 2147483647 in all graphs",
        ),
        (b"1\n1 0\n0 2 0\n", "TOY.txt, line 3: the end of the line; expected as many neighbors as the degree says"),
        (b"1\n1 0\n0 1 1\n", "TOY.txt, line 3: node 0 joined to 1; expected neighbors below 1, the nodes of the graph"),
        (b"1\n1 0\n0 0\n0 0\n", "TOY.txt, line 4: one more line; expected the end of the file after 1 graphs"),
        (
            b"1\n2 0\n0 0 1 1\n0 0\n",
            "TOY.txt, line 4: 0 attributes after the neighbors; expected 2 as at the nodes before",
        ),
        (b"0\n", "TOY.txt, line 1: 0; expected at least one graph"),
        (b"", "TOY.txt: the end of the file; expected the number of graphs, alone on the first line"),
    ];
    let options = ReadOptions { format: Some("powerful-gnns".into()), ..ReadOptions::default() };
    for (bytes, expected) in cases {
        let error = read::read_source(&memory(&[("TOY.txt", bytes)], None), &options).expect_err("malformed");
        assert_eq!(error.to_string(), *expected);
    }
    let fold: &[(&str, &[u8])] = &[("TOY.txt", TOY), ("10fold_idx/train_idx-1.txt", b"1\n2\n")];
    let error = read(&memory(fold, None)).expect_err("no such graph");
    assert_eq!(error.to_string(), "10fold_idx/train_idx-1.txt, line 2: graph 2; expected a number below 2");
}

#[test]
fn other_texts_are_left_to_other_formats() {
    for text in [&b"0 1\n1 2\n"[..], b"3\n0 1\n1 2\n2 0\n", b"2\n1 0\n5 0\n1 0\n5 0\n", b"a text\n", b""] {
        let input = memory(&[("a.txt", text)], Some("a.txt"));
        assert!(!FORMATS.iter().any(|format| format.name == "powerful-gnns" && (format.recognizes)(&input)));
    }
}

#[test]
fn collab_has_its_published_counts() {
    let Some(path) = published("tu/COLLAB/COLLAB.powerful-gnns-format.zip") else { return };
    let dataset = read_path(path);
    assert_eq!((dataset.graphs.len(), dataset.graphs.num_nodes()), (5_000, 372_474));
    let edges = dataset.report.edges;
    // Together 5,000 times the published mean of 2,457.78, which counts self-loops.
    assert_eq!((edges.edges, edges.self_loops), (12_286_079, 2_837));
    assert_eq!((edges.mirrored, edges.repeated), (12_286_079, 0));
    assert_eq!(dataset.features, None);
    let classes = dataset.graph_labels.as_ref().and_then(Labels::classes).expect("classes");
    let of_class = |class| classes.of().iter().filter(|of| **of == Some(class)).count();
    assert_eq!([of_class(0), of_class(1), of_class(2)], [2_600, 775, 1_625]);
    assert_eq!(dataset.splits.len(), 10);
}

/// Both collections hold the same graphs, node by node and in the same order; only the names of classes and labels differ.
#[test]
fn the_same_graphs_as_in_the_tu_collection() {
    // The folds test no graph twice, but leave out a few.
    let twins = [
        ("tu/PROTEINS/PROTEINS.zip", "tu/powerful-gnns-format/PROTEINS.zip", 3),
        ("tu/IMDB-BINARY/IMDB-BINARY.zip", "tu/powerful-gnns-format/IMDBBINARY.zip", 0),
        ("tu/DD/DD.reconstructed-TU.zip", "tu/DD/DD.powerful-gnns-format.zip", 8),
        (
            "tu/REDDIT-BINARY/REDDIT-BINARY.reconstructed-TU.zip",
            "tu/REDDIT-BINARY/REDDIT-BINARY.powerful-gnns-format.zip",
            0,
        ),
    ];
    for (tu, text, never_tested) in twins {
        let (Some(tu_path), Some(text_path)) = (published(tu), published(text)) else { continue };
        let (tu, text) = (read_path(tu_path), read_path(text_path));
        assert_eq!((tu.report.format, text.report.format), ("tu", "powerful-gnns"));
        assert!(tu.graphs == text.graphs, "{}", tu.name);
        assert!(tu.features == text.features, "{}", tu.name);
        let classes = |labels: Option<&Labels>| labels.and_then(Labels::classes).map(|classes| classes.of().to_vec());
        assert_eq!(classes(tu.labels()), classes(text.labels()), "{}", tu.name);

        assert_eq!(text.splits.len(), 10);
        assert!(text.splits.iter().all(|fold| fold.train.len() + fold.test.len() == text.graphs.len()));
        let tested: Vec<u32> = text.splits.iter().flat_map(|fold| fold.test.clone()).collect();
        let distinct: HashSet<u32> = tested.iter().copied().collect();
        assert_eq!((distinct.len(), text.graphs.len() - distinct.len()), (tested.len(), never_tested), "{}", tu.name);
    }
}
