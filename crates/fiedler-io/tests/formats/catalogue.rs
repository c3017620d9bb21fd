//! Datasets by name: what the catalogue says of them, and where it finds them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fiedler_graph::{Classes, Dataset, Graph, Labels};
use fiedler_io::Error;
use fiedler_io::catalogue::{self, Counts, Entry, Kind, Located};
use fiedler_io::read::{FORMATS, ReadOptions};
use tempfile::TempDir;

use super::{common, graph_saint};

/// A folder with empty files.
fn folder(files: &[&str]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"").unwrap();
    }
    root
}

fn planetoid(folder: &str, name: &str) -> Vec<String> {
    let parts = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];
    parts.map(|part| format!("{folder}/ind.{name}.{part}")).to_vec()
}

fn locate(name: &str, root: &Path) -> Result<Located, Error> {
    catalogue::locate_in(catalogue::find(name)?, &[root.to_path_buf()])
}

/// Where a dataset is found below a folder with these files, and in which format.
fn found(name: &str, files: &[&str]) -> Option<(PathBuf, String)> {
    let root = folder(files);
    let located = locate(name, root.path()).ok()?;
    Some((located.path.strip_prefix(root.path()).unwrap().to_path_buf(), located.format))
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', ' '], "")
}

#[test]
fn every_entry_is_sound() {
    let mut owner_of: BTreeMap<String, &str> = BTreeMap::new();
    for entry in catalogue::entries() {
        let Entry { name, counts, files, .. } = entry;
        assert!(name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '-')), "{name}");
        assert!(!entry.title.is_empty() && entry.homepage.starts_with("https://"), "{name}");
        for known in entry.names() {
            let owner = *owner_of.entry(plain(known)).or_insert(name);
            assert_eq!(owner, name, "{known} means two datasets");
        }
        match &entry.format {
            Some(format) => assert!(FORMATS.iter().any(|known| known.name == format), "{name} is in {format}"),
            None => assert!(entry.unreadable.is_some(), "{name}"),
        }
        assert!(!files.is_empty() || entry.by_hand.is_some(), "{name} cannot be had");
        assert!(files.iter().all(|file| !file.url.contains(['{', '}'])), "{name}");
        match entry.kind {
            Kind::Nodes => assert!(counts.nodes.is_some() && counts.edges.is_some(), "{name}"),
            Kind::Graphs => assert!(counts.graphs.is_some(), "{name}"),
        }
    }
}

#[test]
fn every_dataset_of_the_paper_is_known() {
    let paper = "Cora Citeseer PubMed Wiki-CS Amazon-Computers Amazon-Photos Coauthor-CS NCI1 PROTEINS MUTAG DD COLLAB \
                 REDDIT-BINARY REDDIT-MULTI-5K IMDB-BINARY IMDB-MULTI ogbg-molesol ogbg-molipo ogbg-molfreesolv \
                 ogbg-molbace ogbg-molbbbp ogbg-molclintox ogbg-moltox21 ogbg-molsider PPI-306K PPI ZINC-2M BBBP Tox21 \
                 SIDER ClinTox BACE HIV MUV ToxCast Yelp US-Airport RDT-B IMDB-B";
    for name in paper.split_whitespace() {
        let entry = catalogue::find(name).unwrap();
        assert!(!entry.extra, "{name}");
    }
}

#[test]
fn names_are_found_however_they_are_written() {
    let cases = [
        ("cora", "cora"),
        ("CORA", "cora"),
        ("CiteSeer", "citeseer"),
        ("Photo", "amazon-photo"),
        ("amazon_photo", "amazon-photo"),
        ("Computers", "amazon-computers"),
        ("CS", "coauthor-cs"),
        ("WikiCS", "wiki-cs"),
        ("RDT-B", "reddit-binary"),
        ("REDDIT-MULTI-5K", "reddit-multi-5k"),
        ("reddit_multi_5k", "reddit-multi-5k"),
        ("ogbg_molhiv", "ogbg-molhiv"),
        ("HIV", "hiv"),
        ("lipo", "lipophilicity"),
        ("ogbg-mollipo", "ogbg-mollipo"),
    ];
    for (written, name) in cases {
        assert_eq!(catalogue::find(written).unwrap().name, name, "{written}");
    }
}

#[test]
fn a_slip_of_the_fingers_is_answered_with_the_nearest_name() {
    let cases =
        [("croa", Some("cora")), ("pub-mde", Some("pubmed")), ("imdbbinry", Some("imdb-binary")), ("xyzzy", None)];
    for (written, expected) in cases {
        let error = catalogue::find(written).unwrap_err();
        let Error::UnknownDataset { nearest, .. } = &error else { panic!("{error}") };
        assert_eq!(nearest.as_deref(), expected, "{written}");
        assert!(error.hint().unwrap().contains(expected.unwrap_or("fiedler data list")));
    }
}

#[test]
fn planetoid_folders_are_found_when_they_are_whole() {
    for place in ["cora", "Cora/raw", "cora/raw", "Cora/Cora/raw"] {
        let files = planetoid(place, "cora");
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        assert_eq!(found("cora", &files), Some((place.into(), "planetoid".into())));
        assert_eq!(found("cora", &files[1..]), None, "{place} without ind.cora.x");
        assert_eq!(found("citeseer", &files), None);
    }
}

#[test]
fn single_files_are_found_where_libraries_put_them() {
    let cases = [
        ("amazon-photo", "Photo/raw/amazon_electronics_photo.npz", "gnn-benchmark"),
        ("amazon-photo", "amazon-photo/amazon_electronics_photo.npz", "gnn-benchmark"),
        ("amazon-computers", "Computers/raw/amazon_electronics_computers.npz", "gnn-benchmark"),
        ("coauthor-cs", "CS/raw/ms_academic_cs.npz", "gnn-benchmark"),
        ("coauthor-physics", "Physics/raw/ms_academic_phy.npz", "gnn-benchmark"),
        ("cora-full", "cora/raw/cora.npz", "gnn-benchmark"),
        ("wiki-cs", "WikiCS/raw/data.json", "wiki-cs"),
        ("wiki-cs", "wiki-cs/data.json", "wiki-cs"),
        ("polblogs", "attacks/nettack/polblogs.npz", "gnn-benchmark"),
        ("europe-airports", "europe/raw/europe-airports.edgelist", "struc2vec"),
        ("usa-airports", "airports/usa-airports.edgelist", "struc2vec"),
        ("esol", "esol/raw/delaney-processed.csv", "moleculenet"),
        ("lipophilicity", "lipo/raw/Lipophilicity.csv", "moleculenet"),
        ("toxcast", "toxcast/toxcast_data.csv.gz", "moleculenet"),
        ("hiv", "moleculenet/hiv.csv.gz", "moleculenet"),
        ("zinc-2m", "chem/dataset/zinc_standard_agent/raw/zinc_combined_apr_8_2019.csv.gz", "moleculenet"),
    ];
    for (name, file, format) in cases {
        assert_eq!(found(name, &[file]), Some((file.into(), format.into())), "{name}");
    }
    let both = ["amazon-photo/amazon_photo.npz", "amazon-photo/amazon_electronics_photo.npz"];
    assert_eq!(found("amazon-photo", &both).unwrap().0, Path::new(both[1]));
}

#[test]
fn tu_sets_are_found_unpacked_and_zipped_in_either_format() {
    let members =
        |place: &str| ["A", "graph_indicator", "graph_labels"].map(|part| format!("{place}/MUTAG_{part}.txt"));
    for place in ["MUTAG/raw", "MUTAG/MUTAG/raw", "mutag", "mutag/MUTAG", "tu/MUTAG"] {
        let files = members(place);
        let files = files.each_ref().map(String::as_str);
        assert_eq!(found("mutag", &files), Some((place.into(), "tu".into())));
        assert_eq!(found("mutag", &files[..2]), None);
    }
    let zips = [
        ("REDDIT-BINARY", "tu/REDDIT-BINARY/REDDIT-BINARY.zip", "tu"),
        ("REDDIT-BINARY", "tu/REDDIT-BINARY/REDDIT-BINARY.powerful-gnns-format.zip", "powerful-gnns"),
        ("IMDB-BINARY", "tu/powerful-gnns-format/IMDBBINARY.zip", "powerful-gnns"),
        ("REDDIT-MULTI-5K", "dataset/REDDITMULTI5K/REDDITMULTI5K.txt", "powerful-gnns"),
    ];
    for (name, file, format) in zips {
        assert_eq!(found(name, &[file]), Some((file.into(), format.into())), "{name}");
    }
    let both = ["tu/DD/DD.powerful-gnns-format.zip", "tu/DD/DD.reconstructed-TU.zip"];
    assert_eq!(found("dd", &both), Some((both[1].into(), "tu".into())));
}

#[test]
fn ogb_folders_are_found_as_ogb_leaves_them() {
    let raw = ["edge", "node-feat", "num-node-list", "num-edge-list"];
    for place in ["ogbg_molhiv", "ogb/ogbg_molhiv", "ogbg_molhiv/hiv", "ogbg_molhiv_pyg", "ogbg-molhiv"] {
        let files = raw.map(|part| format!("{place}/raw/{part}.csv.gz"));
        assert_eq!(found("ogbg-molhiv", &files.each_ref().map(String::as_str)), Some((place.into(), "ogb".into())));
    }
}

#[test]
fn folders_are_searched_in_their_order() {
    let (first, second) = (folder(&["wiki-cs/other.json"]), folder(&["wiki-cs/data.json"]));
    let folders = [first.path().to_path_buf(), second.path().to_path_buf()];
    let entry = catalogue::find("wiki-cs").unwrap();
    assert_eq!(catalogue::locate_in(entry, &folders).unwrap().path, second.path().join("wiki-cs/data.json"));
    fs::write(first.path().join("wiki-cs/data.json"), b"").unwrap();
    assert_eq!(catalogue::locate_in(entry, &folders).unwrap().path, first.path().join("wiki-cs/data.json"));
}

#[test]
fn what_is_not_here_says_where_it_was_sought_and_how_to_get_it() {
    let root = folder(&[]);
    let error = locate("cora", root.path()).unwrap_err();
    assert!(error.to_string().contains(&root.path().display().to_string()), "{error}");
    assert!(error.hint().unwrap().contains("fiedler data fetch cora"));
    let error = locate("yelp", root.path()).unwrap_err();
    assert!(error.hint().unwrap().contains("drive.google.com"), "{:?}", error.hint());
    let error = locate("PPI-306K", root.path()).unwrap_err();
    assert!(error.to_string().contains("only Python can load"), "{error}");
}

#[test]
fn a_catalogue_with_mistakes_is_refused() {
    let good = r#"
        [[collection]]
        kind = "nodes"
        format = "edge-list"
        homepage = "https://example.org"
        files = ["https://example.org/{key}.txt"]
        [[collection.dataset]]
        name = "mine"
        title = "Mine"
        keys = ["mine"]
    "#;
    assert_eq!(catalogue::parse(good).unwrap()[0].files[0].url, "https://example.org/mine.txt");
    let mistakes = [
        ("kind = \"nodes\"", "kind = \"edges\"", "unknown variant"),
        ("homepage", "hompage", "unknown field"),
        ("format = \"edge-list\"", "", "`format` or `unreadable`"),
        ("keys = [\"mine\"]", "keys = []", "spelling"),
        ("https://example.org/{key}.txt", "https://example.org/", "file name"),
        ("https://example.org/{key}.txt", "ftp://example.org/a.txt", "http address"),
        ("title", "checked = { \"a.txt\" = { size = 1, sha256 = \"00\" } }\ntitle", "a file that is published"),
        ("title", "checked = { \"mine.txt\" = { size = 1, sha256 = \"00\" } }\ntitle", "64 hexadecimal"),
    ];
    for (right, wrong, expected) in mistakes {
        let error = catalogue::parse(&good.replace(right, wrong)).unwrap_err().to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[test]
fn differences_from_the_published_numbers_are_told() {
    let (graph, report) = Graph::from_pairs(3, vec![(0, 1), (1, 2), (2, 2)]).unwrap();
    let mut dataset = Dataset::single("mine", graph);
    dataset.report.edges = report;
    dataset.node_labels = Some(Labels::Classes(Classes::from_integers([Some(0), Some(1), None])));
    let same = Counts { graphs: Some(1), nodes: Some(3), edges: Some(2), classes: Some(2), ..Counts::default() };
    assert!(same.differences(&dataset).is_empty());
    // Some publishers count the self-loop that was dropped; some say nothing of features.
    let with_loop = Counts { edges: Some(3), features: Some(9), mean_nodes: Some(3.02), ..same.clone() };
    assert!(with_loop.differences(&dataset).is_empty());
    let other = Counts { nodes: Some(4), edges: Some(5), mean_edges: Some(2.5), ..same };
    let notes = other.differences(&dataset);
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(notes[0], "read 3 nodes; published are 4");
}

#[test]
fn a_dataset_read_by_name_bears_it_and_tells_what_differs() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("Yelp")).unwrap();
    for (name, bytes) in graph_saint::files(r#"{"0": [1, 0], "1": [0, 1]}"#, graph_saint::ROLES) {
        fs::write(root.path().join("Yelp").join(name), bytes).unwrap();
    }
    let entry = catalogue::find("yelp").unwrap();
    let located = locate("yelp", root.path()).unwrap();
    let dataset = entry.read(&located, &ReadOptions::default()).unwrap();
    assert_eq!((dataset.name.as_str(), dataset.graphs.num_nodes()), ("yelp", 4));
    assert!(
        dataset.report.notes.contains(&"read 4 nodes; published are 716847".to_owned()),
        "{:?}",
        dataset.report.notes
    );
    let other = ReadOptions { format: Some("wiki-cs".into()), ..ReadOptions::default() };
    assert!(entry.read(&located, &other).is_err(), "the user's format is taken");
}

#[test]
fn everything_published_here_is_located() {
    let Some(root) = common::published("") else { return };
    let here = "cora citeseer pubmed amazon-photo coauthor-cs polblogs usa-airports brazil-airports mutag nci1 proteins \
                imdb-binary dd reddit-binary collab ogbg-molesol ogbg-molfreesolv ogbg-molbbbp ogbg-mollipo \
                ogbg-molclintox ogbg-moltox21 ogbg-molsider ogbg-molhiv bbbp lipophilicity freesolv clintox esol hiv muv \
                sider tox21 toxcast moses";
    for name in here.split_whitespace() {
        let located = locate(name, &root).unwrap_or_else(|error| panic!("{error}"));
        let expected =
            if name == "collab" { "powerful-gnns" } else { catalogue::find(name).unwrap().format.as_ref().unwrap() };
        assert_eq!(located.format, expected, "{name}");
    }
    let found: Vec<_> = catalogue::entries().iter().filter(|entry| locate(&entry.name, &root).is_ok()).collect();
    assert_eq!(found.len(), here.split_whitespace().count());
}

#[test]
fn checksums_are_those_of_the_published_files() {
    let Some(root) = common::published("MANIFEST.tsv") else { return };
    let manifest = fs::read_to_string(root).unwrap();
    for file in catalogue::entries().iter().flat_map(|entry| &entry.files) {
        let Some(sum) = &file.sha256 else { continue };
        let line = manifest.lines().find(|line| line.contains(sum.as_str())).unwrap_or_else(|| panic!("{}", file.file));
        let fields: Vec<_> = line.split('\t').collect();
        assert!(fields[0].ends_with(&file.file) && fields[1] == file.size.unwrap().to_string(), "{line}");
        assert!(!fields[3].contains("DERIVED"), "{line}");
    }
}

#[test]
fn published_datasets_open_by_name_with_the_published_numbers() {
    let Some(root) = common::published("") else { return };
    for name in ["cora", "citeseer", "pubmed", "amazon-photo", "coauthor-cs", "polblogs"] {
        let located = locate(name, &root).unwrap_or_else(|error| panic!("{error}"));
        let entry = catalogue::find(name).unwrap();
        let dataset = entry.read(&located, &ReadOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(dataset.name, name);
        assert_eq!(entry.counts.differences(&dataset), Vec::<String>::new(), "{name}");
    }
}
