//! Open Graph Benchmark folders.

use fiedler_graph::{Features, Labels};
use fiedler_io::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES};
use fiedler_io::{DataSource, Error};

use crate::common::{memory, published, read, read_path};

/// Ethanol's carbons and oxygen, and methane, as OGB has them.
const MOLECULES: &[(&str, &[u8])] = &[
    ("raw/num-node-list.csv", b"3\n1\n"),
    ("raw/num-edge-list.csv", b"2\n0\n"),
    ("raw/edge.csv", b"0,1\n2,1\n"),
    ("raw/node-feat.csv", b"5,0,4,5,3,0,2,0,0\n5,0,4,5,2,0,2,0,0\n7,0,2,5,1,0,2,0,0\n5,0,4,5,4,0,2,0,0\n"),
    ("raw/edge-feat.csv", b"0,0,0\n1,0,1\n"),
];

fn with(more: &[(&str, &[u8])]) -> DataSource {
    let mut files = MOLECULES.to_vec();
    files.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    files.extend_from_slice(more);
    memory(&files, None)
}

#[test]
fn molecules_have_categories_tasks_and_splits() -> Result<(), Error> {
    let dataset = read(&with(&[
        ("raw/graph-label.csv", b"1.0,\nnan,0\n"),
        ("mapping/mol.csv", b"\"active, at all\",toxic,smiles,mol_id\n1,,CCO,a\n,0,C,b\n"),
        ("split/scaffold/train.csv", b"1\n"),
        ("split/scaffold/valid.csv", b""),
        ("split/scaffold/test.csv", b"0\n"),
    ]))?;
    assert_eq!((dataset.report.format, dataset.graphs.len(), dataset.graphs.num_edges()), ("ogb", 2, 2));
    assert_eq!(dataset.graphs.graph(0).neighbors(1), [0, 2]);
    let Some(Features::Categorical(atoms)) = &dataset.features else { panic!("atoms") };
    assert_eq!((atoms.cardinalities(), atoms.row(2)), (&ATOM_CARDINALITIES[..], &[7, 0, 2, 5, 1, 0, 2, 0, 0][..]));
    let Some(Features::Categorical(bonds)) = &dataset.edge_features else { panic!("bonds") };
    assert_eq!((bonds.cardinalities(), bonds.row(1)), (&BOND_CARDINALITIES[..], &[1, 0, 1][..]));
    let Some(Labels::MultiLabel(tasks)) = &dataset.graph_labels else { panic!("tasks") };
    assert_eq!(tasks.names(), ["active, at all", "toxic"]);
    assert_eq!((tasks.row(0), tasks.row(1)), (&[Some(true), None][..], &[None, Some(false)][..]));
    let split = &dataset.splits[0];
    assert_eq!((split.name.as_str(), &split.train[..], &split.test[..]), ("scaffold", &[1][..], &[0][..]));
    Ok(())
}

#[test]
fn labels_are_values_or_classes_by_what_they_say() -> Result<(), Error> {
    let Some(Labels::Regression(values)) = read(&with(&[("raw/graph-label.csv", b"-0.5\n\"\"\n")]))?.graph_labels
    else {
        panic!("values")
    };
    assert_eq!(
        (values.names(), values.row(0), values.row(1)),
        (&["task-1".to_owned()][..], &[Some(-0.5)][..], &[None][..])
    );
    let Some(Labels::Classes(classes)) = read(&with(&[("raw/graph-label.csv", b"36\n4\n")]))?.graph_labels else {
        panic!("classes")
    };
    assert_eq!((classes.names(), classes.of()), (&["4".to_owned(), "36".to_owned()][..], &[Some(1), Some(0)][..]));
    Ok(())
}

#[test]
fn numbers_that_are_no_codes_stay_numbers() -> Result<(), Error> {
    let three = read(&with(&[("raw/node-feat.csv", b"1,2,3\n4,5,6\n7,8,9\n0,0,0.5\n")]))?;
    assert_eq!(three.features.expect("numbers").to_dense().row(3), [0.0, 0.0, 0.5]);
    let nine = read(&with(&[("raw/edge-feat.csv", b"0,0,0\n5,0,1\n")]))?;
    assert!(matches!(nine.edge_features, Some(Features::Dense(_))));
    assert_eq!(
        nine.report.notes,
        ["raw/edge-feat has as many columns as a molecule's edges, but 5 is no code of OGB's: read as numbers"]
    );
    Ok(())
}

#[test]
fn a_single_graph_may_have_labelled_nodes() -> Result<(), Error> {
    let dataset = read(&memory(
        &[
            ("raw/num-node-list.csv", b"4\n"),
            ("raw/num-edge-list.csv", b"3\n"),
            ("raw/edge.csv", b"0,1\n1,0\n1,2\n"),
            ("raw/node-label.csv", b"2\n0\n1\n2\n"),
            ("split/time/train.csv", b"0\n1\n"),
            ("split/time/valid.csv", b"2\n"),
            ("split/time/test.csv", b"3\n"),
        ],
        None,
    ))?;
    assert_eq!(dataset.graph().map(|graph| (graph.num_nodes(), graph.num_edges())), Some((4, 2)));
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(classes.of(), [Some(2), Some(0), Some(1), Some(2)]);
    assert_eq!((dataset.features, dataset.splits[0].name.as_str()), (None, "time"));
    Ok(())
}

#[test]
fn a_single_graph_needs_no_count_of_edges_and_may_name_its_classes() -> Result<(), Error> {
    let dataset = read(&memory(
        &[
            ("raw/num-node-list.csv", b"3\n"),
            ("raw/edge.csv", b"0,1\n1,2\n"),
            ("raw/node-feat.csv", b"0.5,1\n0,1\n-1,0\n"),
            ("raw/node-label.csv", b"2\n0\n1\n"),
            ("mapping/labelidx2arxivcategeory.csv", b"label idx,arxiv category\n0,cs na\n1,cs mm\n2,cs lo\n"),
            ("raw/node_year.csv", b"2013\n2015\n2019\n"),
            ("split/time/train.csv", b"0\n"),
            ("split/time/valid.csv", b"1\n"),
            ("split/time/test.csv", b"2\n"),
        ],
        None,
    ))?;
    let split = &dataset.splits[0];
    assert_eq!((&*split.name, &*split.train, &*split.validation, &*split.test), ("time", &[0][..], &[1][..], &[2][..]));
    assert_eq!(dataset.graphs.num_edges(), 2);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!((classes.names(), classes.of()[0]), (&["cs na", "cs mm", "cs lo"].map(str::to_owned)[..], Some(2)));
    let files: Vec<_> = MOLECULES.iter().filter(|(name, _)| *name != "raw/num-edge-list.csv").copied().collect();
    let error = read(&memory(&files, None)).expect_err("two graphs").to_string();
    assert!(error.contains("num-edge-list"), "{error}");
    Ok(())
}

#[test]
fn errors_name_the_line() {
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "raw/edge.csv",
            b"0,1\n2,3\n",
            "raw/edge.csv, line 2: nodes 2 and 3; expected nodes below 3, the nodes of graph 0",
        ),
        (
            "raw/edge.csv",
            b"0,1\n",
            "raw/edge.csv: the end of the file; expected as many edges as raw/num-edge-list counts",
        ),
        (
            "raw/edge.csv",
            b"0,1\n0,1\n0,1\n",
            "raw/edge.csv, line 3: one more edge; expected the 2 of raw/num-edge-list",
        ),
        (
            "raw/num-edge-list.csv",
            b"2\n",
            "raw/num-edge-list.csv: the end of the file; expected a number of edges for each graph",
        ),
        ("raw/num-edge-list.csv", b"2\n0\n0\n", "raw/num-edge-list.csv, line 3: one more line; expected 2 graphs"),
        (
            "raw/num-node-list.csv",
            b"3\n1000000\n",
            "raw/num-node-list.csv, line 2: 1000003 nodes so far; expected fewer, beside a list of edges of 8 bytes",
        ),
        ("raw/node-feat.csv", b"1\n2\n", "raw/node-feat.csv: 2 rows; expected 4, one for each node"),
        ("raw/edge-feat.csv", b"inf\n2\n", "raw/edge-feat.csv, line 1: \"inf\"; expected a feature, a finite number"),
        ("raw/graph-label.csv", b"1\nyes\n", "raw/graph-label.csv, line 2: \"yes\"; expected a label"),
        ("split/scaffold/train.csv", b"1\n", "memory has no split/scaffold/valid.csv.gz, which the OGB format needs"),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(read(&with(&[(name, bytes)])).expect_err("malformed").to_string(), *expected);
    }
}

#[test]
fn published_sets_have_their_published_counts() {
    // Graphs, atoms, bonds, tasks or values, missing labels.
    let sets = [
        ("molesol", 1_128, 14_991, 15_428, 1, 0),
        ("molfreesolv", 642, 5_600, 5_385, 1, 0),
        ("molbbbp", 2_039, 49_068, 52_921, 1, 0),
        ("mollipo", 4_200, 113_568, 123_899, 1, 0),
        ("molclintox", 1_477, 38_629, 41_177, 2, 0),
        ("moltox21", 7_831, 145_459, 151_095, 12, 16_026),
        ("molsider", 1_427, 48_006, 50_456, 27, 0),
        ("molhiv", 41_127, 1_049_163, 1_129_688, 1, 0),
    ];
    for (name, graphs, nodes, edges, columns, missing) in sets {
        let Some(path) = published(&format!("ogb/ogbg_{name}")) else { continue };
        let dataset = read_path(path);
        assert_eq!((dataset.name.clone(), dataset.report.format), (format!("ogbg_{name}"), "ogb"));
        assert_eq!(
            (dataset.graphs.len(), dataset.graphs.num_nodes(), dataset.graphs.num_edges()),
            (graphs, nodes, edges)
        );
        assert!(matches!(dataset.features, Some(Features::Categorical(_))), "{name}");
        assert!(matches!(dataset.edge_features, Some(Features::Categorical(_))), "{name}");
        let labels = dataset.graph_labels.as_ref().expect("labels");
        let names = match labels {
            Labels::MultiLabel(tasks) => tasks.names(),
            Labels::Regression(values) => values.names(),
            Labels::Classes(_) => panic!("{name} has no classes"),
        };
        let regression = matches!(labels, Labels::Regression(_));
        assert_eq!(regression, ["molesol", "molfreesolv", "mollipo"].contains(&name));
        assert_eq!((names.len(), labels.missing()), (columns, missing), "{name}");
        assert!(!names[0].starts_with("task-"), "{name}: names come from the mapping");

        let [split] = &dataset.splits[..] else { panic!("{name}: one split") };
        let parts = split.train.len() + split.validation.len() + split.test.len();
        // The parts are disjoint, which reading checks, so their sizes tell that they cover the set.
        assert_eq!((split.name.as_str(), parts), ("scaffold", graphs));
    }
}
