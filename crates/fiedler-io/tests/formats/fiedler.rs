//! Our own format: all of a dataset comes back, and nothing but what was written is believed.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{
    Categorical, Classes, Dataset, Dense, Features, Graph, GraphSet, GraphSource, Labels, MultiLabel, Names,
    Regression, Sparse, Split, generate,
};
use fiedler_io::compact::{MAGIC, with_checksums};
use fiedler_io::{DataSource, ReadOptions, WriteOptions, read, write};
use rand::RngExt;

fn bytes(dataset: &Dataset) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fiedler");
    write::write(dataset, &path, &WriteOptions::default()).unwrap();
    std::fs::read(path).unwrap()
}

fn back(bytes: Vec<u8>) -> Result<Dataset, String> {
    let source = DataSource::memory([("a.fiedler".to_owned(), bytes)], Some("a.fiedler"));
    read::read_source(&source, &ReadOptions::default()).map_err(|error| error.to_string())
}

/// Everything that a dataset of one graph can have.
fn one() -> Dataset {
    let (graph, _) = Graph::from_weighted_pairs(4, vec![(0, 1), (1, 2)], vec![0.5, 2.0]).unwrap();
    let names = Names::Strings(["a", "b \"c\"", "", "\u{e9}\n"].map(Into::into).to_vec());
    let mut dataset = Dataset::single("a", graph.with_names(names).unwrap());
    let sparse = Sparse::new(9, vec![0, 1, 1, 3, 3], vec![8, 0, 3], vec![0.5, -1.0, 3.0]).unwrap();
    dataset.features = Some(Features::Sparse(sparse));
    dataset.feature_names = Some((0..9).map(|column| format!("column {column}")).collect());
    dataset.edge_features = Some(Features::Categorical(Categorical::new(vec![2, 3], vec![1, 2, 0, 0]).unwrap()));
    // A class without a node, and names in no order.
    let classes = Classes::new(vec!["z".into(), "a".into(), "m".into()], vec![Some(2), None, Some(0), Some(0)]);
    dataset.node_labels = Some(Labels::Classes(classes.unwrap()));
    let split = |name: &str, train: Vec<u32>| Split { name: name.into(), train, test: vec![3], ..Split::default() };
    dataset.splits = vec![split("first", vec![0, 1]), split("second", vec![])];
    dataset
}

/// Everything that a set of graphs can have.
fn set() -> Dataset {
    let (arena, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)]).unwrap();
    let arena = arena.with_names(Names::Integers(vec![7, -3, 0, i64::MAX, 5])).unwrap();
    let mut dataset = Dataset::set("a", GraphSet::from_block_diagonal(arena, vec![2, 0, 3]).unwrap());
    dataset.features = Some(Features::Dense(Dense::new(5, 2, (0..10).map(|at| at as f32 / 3.0).collect()).unwrap()));
    let answers = vec![Some(true), None, Some(false), Some(false), None, None];
    dataset.graph_labels = Some(Labels::MultiLabel(MultiLabel::new(vec!["x".into(), "y".into()], answers).unwrap()));
    let values = vec![Some(0.5), None, Some(-1.0), Some(2.0), None];
    dataset.node_labels = Some(Labels::Regression(Regression::new(vec!["v".into()], values).unwrap()));
    let names = Some(vec!["one".into(), "two".into(), "three".into()]);
    dataset.graph_source = Some(GraphSource { lines: vec![2, 5, 6], names });
    dataset.splits =
        vec![Split { name: "own".into(), train: vec![2], validation: vec![1], test: vec![0], stopping: vec![1] }];
    dataset
}

#[test]
fn all_of_a_dataset_comes_back() {
    for dataset in [one(), set(), generate::karate_club()] {
        let bytes = bytes(&dataset);
        let mut found = back(bytes.clone()).unwrap();
        assert_eq!(found.report.format, "fiedler");
        found.report = dataset.report.clone();
        found.name.clone_from(&dataset.name);
        assert_eq!(found, dataset);
        assert_eq!(bytes, self::bytes(&found), "the same dataset gives the same bytes");
        assert_eq!(bytes, with_checksums(bytes.clone()), "the checksums are right as they are");
    }
}

#[test]
fn weights_may_be_left_out() {
    let source = DataSource::memory([("a.fiedler".to_owned(), bytes(&one()))], Some("a.fiedler"));
    let unweighted = ReadOptions { unweighted: true, ..ReadOptions::default() };
    assert!(read::read_source(&source, &unweighted).unwrap().graphs.block_diagonal().weights().is_none());
}

#[test]
fn a_file_that_was_cut_or_changed_is_refused() {
    for dataset in [one(), set()] {
        let bytes = bytes(&dataset);
        for length in 0..bytes.len() {
            assert!(back(bytes[..length].to_vec()).is_err(), "cut at {length} of {}", bytes.len());
        }
        assert!(back([bytes.clone(), vec![0; 64]].concat()).unwrap_err().contains("where the file ends"));
        let whole = back(bytes.clone()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            // What fills up the space between sections is not looked at.
            assert!(back(changed).is_err_and(|error| !error.is_empty()) || bytes[at] == 0, "changed at {at}");
        }
        assert_eq!(whole, back(bytes).unwrap());
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = bytes(&one());
    let changed = |at: usize, to: u8| {
        let mut changed = bytes.clone();
        changed[at] = to;
        back(changed).unwrap_err()
    };
    assert!(changed(8, 9).contains("version 9"), "{}", changed(8, 9));
    assert!(changed(30, b'?').contains("checksum"));
    assert!(changed(23, 0xff).contains("a header of"), "{}", changed(23, 0xff));
    let at = bytes.len() - 64;
    assert!(changed(at, 0x77).contains("another checksum"));
    // What claims more than there is gets no room.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("\"count\":4"));
    let claims = |from: &str, to: &str| {
        let (start, end) = (24, 24 + u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize);
        let header = std::str::from_utf8(&bytes[start..end]).unwrap().replacen(from, to, 1);
        let mut file =
            [MAGIC.as_slice(), &1u32.to_le_bytes(), &crc32fast::hash(header.as_bytes()).to_le_bytes()].concat();
        file.extend((header.len() as u64).to_le_bytes());
        file.extend(header.as_bytes());
        file.resize(file.len().next_multiple_of(64), 0);
        file.extend(&bytes[end.next_multiple_of(64)..]);
        back(file).unwrap_err()
    };
    for (from, to) in [("\"count\":4", "\"count\":4000000000000"), ("\"count\":4", "\"count\":18446744073709551615")] {
        assert!(claims(from, to).contains("sections that end at byte"), "{}", claims(from, to));
    }
    assert!(
        claims("\"nodes\":4", "\"nodes\":3000000000").contains("at most"),
        "{}",
        claims("\"nodes\":4", "\"nodes\":3000000000")
    );
    assert!(claims("\"nodes\":4", "\"nodes\":5").contains("numbers of graph.indptr"));
    assert!(claims("graph.indptr", "graph.indices").contains("the section graph.indptr"));
    assert!(claims("\"columns\":9", "\"columns\":2").contains("column"));
}

#[test]
fn mutations_do_no_harm() {
    let seeds = [one(), set(), generate::karate_club()].map(|dataset| bytes(&dataset));
    let mut random = fiedler_graph::random::stream(11, "mutations", 0);
    let mut sound = 0;
    for round in 0..3000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[at] ^= 1 << random.random_range(0..8),
                1 => bytes[at] = random.random(),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let piece = bytes[at..(at + 8).min(bytes.len())].to_vec();
                    let to = random.random_range(0..bytes.len());
                    bytes.splice(to..(to + piece.len()).min(bytes.len()), piece);
                }
            }
        }
        if let Ok(dataset) = back(with_checksums(bytes)) {
            dataset.check().unwrap();
            sound += 1;
        }
    }
    assert!(sound > 100, "only {sound} mutated files got past the checksums");
}

/// A dataset in a file of ours, read with its features left there.
fn streamed(path: &std::path::Path) -> Result<Dataset, String> {
    let options = ReadOptions { stream_features: true, ..ReadOptions::default() };
    read::read(path, &options).map_err(|error| error.to_string())
}

fn dense() -> Dataset {
    let mut dataset = generate::karate_club();
    let values = (0..34 * 5).map(|at| (at as f32).sin()).collect();
    dataset.features = Some(Features::Dense(Dense::new(34, 5, values).unwrap()));
    dataset
}

#[test]
fn features_may_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fiedler");
    for dataset in [one(), dense()] {
        std::fs::write(&path, bytes(&dataset)).unwrap();
        let found = streamed(&path).unwrap();
        let (stored, features) = (found.stored_features.clone().unwrap(), dataset.features.clone().unwrap());
        assert!(found.features.is_none() && found.feature_names == dataset.feature_names);
        assert_eq!(found.node_labels, dataset.node_labels);
        assert_eq!(stored.fingerprint(), features.fingerprint());
        for rows in [0..1, 1..4, 2..2, 0..features.rows()] {
            let chosen: Vec<u32> = rows.clone().map(|row| row as u32).collect();
            assert_eq!(stored.read(rows).unwrap(), features.gather(&chosen));
        }
        // Cut or written to while it is read.
        let whole = std::fs::read(&path).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole.len() as u64 - 64).unwrap();
        let error = stored.read(0..1).unwrap_err();
        assert!(error.to_string().contains("as when it was opened") && error.hint().is_some(), "{error}");
        std::fs::write(&path, &whole).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(stored.read(0..1).unwrap_err().to_string().contains("has changed"));
    }
}

#[test]
fn features_that_stay_in_a_damaged_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fiedler");
    for dataset in [one(), dense()] {
        let bytes = bytes(&dataset);
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(streamed(&path).is_err(), "cut at {length}");
        }
        let mut refused = 0;
        for at in (0..bytes.len()).filter(|&at| bytes[at] != 0) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            std::fs::write(&path, &changed).unwrap();
            assert!(streamed(&path).is_err(), "changed at {at}");
            // What lies behind the checksums does no harm either.
            std::fs::write(&path, with_checksums(changed)).unwrap();
            refused += usize::from(streamed(&path).is_err());
        }
        assert!(refused > 0);
    }
    std::fs::write(&path, self::bytes(&set())).unwrap();
    assert!(streamed(&path).unwrap_err().contains("row by row"), "those of a set do not");
}

#[test]
fn features_may_stay_in_an_npy_file() {
    let folder = tempfile::tempdir().unwrap();
    let (edges, path) = (folder.path().join("a.csv"), folder.path().join("a.features.npy"));
    std::fs::write(&edges, "0,1\n1,2\n").unwrap();
    let npy = |descr: &str, order: &str, rows: usize, values: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, 2), }}");
        let header = format!("{header:<117}\n");
        [b"\x93NUMPY\x01\x00".as_slice(), &118u16.to_le_bytes(), header.as_bytes(), values].concat()
    };
    let numbers = (0..8).map(|at| f64::from(at).sqrt() / 3.0);
    let single: Vec<u8> = numbers.clone().flat_map(|value| (value as f32).to_le_bytes()).collect();
    let double: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
    for (descr, values) in [("<f4", &single), ("<f8", &double)] {
        std::fs::write(&path, npy(descr, "False", 4, values)).unwrap();
        let whole = read::read(&edges, &ReadOptions::default()).unwrap();
        let given = ReadOptions { features: Some(path.clone()), stream_features: true, ..ReadOptions::default() };
        // Beside the edge list, and given by name.
        for found in [streamed(&edges).unwrap(), read::read(&edges, &given).unwrap()] {
            let (stored, features) = (found.stored_features.unwrap(), whole.features.as_ref().unwrap());
            assert_eq!(stored.read(0..4).unwrap(), *features, "{descr}");
            assert_eq!(stored.fingerprint(), features.fingerprint());
            // A node without an edge is there by its row.
            assert_eq!(found.graphs, whole.graphs);
        }
    }
    let not_finite = [f32::NAN.to_le_bytes().as_slice(), &single[4..]].concat();
    let cases = [
        (npy("<f4", "False", 4, &single[..20]), "148 bytes"),
        (npy("<f4", "True", 4, &single), "column after column"),
        (npy("<i4", "False", 4, &single), "integers"),
        (npy("<f4", "False", 2, &single), "3, one a node"),
        (npy("<f4", "False", 4, &not_finite), "row 0, column 0"),
    ];
    for (file, expected) in cases {
        std::fs::write(&path, file).unwrap();
        let error = streamed(&edges).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::write(&path, npy("<f4", "False", 4, &single)).unwrap();
    let stored = streamed(&edges).unwrap().stored_features.unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(140).unwrap();
    assert!(stored.read(3..4).unwrap_err().to_string().contains("a.features.npy"));
}
