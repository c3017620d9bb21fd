//! Files with a fault: reading says where it is, what was found and what was expected, so that a person can mend it.

pub mod files;
mod graphs;
mod mixed;
mod python;
mod sets;

use std::collections::BTreeMap;

use fiedler_graph::Dataset;
use fiedler_io::read::{self, ReadOptions};
use fiedler_io::{DataSource, Error};

use files::{Files, gzipped, integers, zipped};

/// Files with one fault, and what must be said of it.
struct Case {
    name: &'static str,
    files: Files,
    format: Option<&'static str>,
    features: Option<&'static str>,
    labels: Option<&'static str>,
    /// The file, and the line or member in it.
    place: &'static str,
    /// Words of what was expected there.
    expected: &'static str,
    /// Words of what the user can try.
    hint: &'static str,
}

fn case(name: &'static str, files: Files) -> Case {
    Case { name, files, format: None, features: None, labels: None, place: "", expected: "", hint: "" }
}

impl Case {
    /// Read as this format, whatever it looks like.
    fn format(self, format: &'static str) -> Case {
        Case { format: Some(format), ..self }
    }

    /// Read with the features in one of the files.
    fn features(self, file: &'static str) -> Case {
        Case { features: Some(file), ..self }
    }

    /// Read with the labels in one of the files.
    fn labels(self, file: &'static str) -> Case {
        Case { labels: Some(file), ..self }
    }

    fn says(self, place: &'static str, expected: &'static str) -> Case {
        Case { place, expected, ..self }
    }

    fn hints(self, hint: &'static str) -> Case {
        Case { hint, ..self }
    }

    fn read(&self) -> Result<Dataset, Error> {
        // Memory has neither archives nor tables beside it: these are read from where a user has them.
        let packed = self.files.named.is_some_and(|name| name.ends_with(".zip"));
        let folder = (packed || self.features.is_some() || self.labels.is_some()).then(|| self.files.on_disk());
        let beside = |name: &str| folder.as_ref().map(|folder| folder.path().join(name));
        let options = ReadOptions {
            format: self.format.map(Into::into),
            features: self.features.and_then(beside),
            labels: self.labels.and_then(beside),
            attributes: true,
            ..ReadOptions::default()
        };
        match beside(self.files.named.unwrap_or("")) {
            Some(path) => read::read(path, &options),
            None => read::read_source(&self.files.input(), &options),
        }
    }
}

#[test]
fn sound_files_are_read() {
    for (format, files) in files::sound() {
        match read::read_source(&files.input(), &ReadOptions::default()) {
            Ok(dataset) => assert_eq!(dataset.report.format, format),
            Err(error) => panic!("{format}: {error}"),
        }
    }
}

#[test]
fn faults_are_named_with_their_place() {
    let mut problems = Vec::new();
    for case in cases() {
        match case.read() {
            Ok(_) => problems.push(format!("{}: read without an error", case.name)),
            Err(error) => {
                let (text, hint) = (error.to_string(), error.hint().unwrap_or_default());
                let placed = match error {
                    Error::Malformed(malformed) => malformed.place.to_string().ends_with(case.place),
                    _ => text.contains(case.place),
                };
                if !placed || !text.contains(case.expected) || !hint.contains(case.hint) {
                    problems.push(format!("{}: {text} ({hint})", case.name));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn cases() -> Vec<Case> {
    let groups = [
        packed(),
        formats(),
        python::cases(),
        sets::cases(),
        graphs::single_graphs(),
        graphs::tables(),
        mixed::cases(),
    ];
    groups.into_iter().flatten().collect()
}

/// Every message, whole, as a person reads it. `FIEDLER_UPDATE_SNAPSHOTS=1` writes the file anew, for the change to be read.
#[test]
fn messages_are_as_they_were() {
    let mut messages = String::new();
    for case in cases() {
        let error = case.read().err().unwrap_or_else(|| panic!("{}: read without an error", case.name));
        let hint = error.hint().map(|hint| format!("\n    hint: {}", without_folder(&hint))).unwrap_or_default();
        messages.push_str(&format!("{}\n    {}{hint}\n", case.name, without_folder(&error.to_string())));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bad_input.txt");
    if std::env::var_os("FIEDLER_UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(path, &messages).expect("written");
    }
    let kept = std::fs::read_to_string(path).expect("the messages of before");
    let (old, new): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), messages.lines().collect());
    if let Some(at) = (0..old.len().max(new.len())).find(|&at| old.get(at) != new.get(at)) {
        panic!("line {} of {path}\n was: {:?}\n is:  {:?}", at + 1, old.get(at), new.get(at));
    }
    let different: std::collections::BTreeSet<&str> =
        new.iter().filter(|line| line.starts_with("    ")).copied().collect();
    assert!(new.iter().filter(|line| !line.starts_with("    ")).count() >= 60 && different.len() >= 60);
}

/// A message without the folder that files were put into for the test; where it is the folder itself, FOLDER.
fn without_folder(message: &str) -> String {
    let folder = std::env::temp_dir().display().to_string();
    let words = message.split(' ').map(|word| match word.strip_prefix(&folder) {
        Some(inside) => inside.trim_start_matches('/').split_once('/').map_or("FOLDER", |(_, name)| name),
        None => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Compressed files.
fn packed() -> Vec<Case> {
    let bomb = gzipped(vec![0; 20 << 20]);
    let archive = zipped(&files::tu().files);
    let inner =
        BTreeMap::from([("TOY_A.txt".into(), vec![b'1'; 20 << 20]), ("TOY_graph_indicator.txt".into(), b"1".into())]);
    vec![
        case(
            "a gzip file cut short",
            files::ogb().with("raw/edge.csv.gz", gzipped("0,1\n2,1\n0,1\n")).cut("raw/edge.csv.gz", 3),
        )
        .says("raw/edge.csv.gz", "expected a whole gzip file")
        .hints("download it again"),
        case("a gzip file that unpacks to 1000 times its size", files::ogb().with("raw/edge.csv.gz", bomb))
            .says("raw/edge.csv.gz", "expected data that expands less")
            .hints("unpack it yourself"),
        case("a zip archive cut short", Files::one("toy.zip", &archive).cut("toy.zip", 3))
            .says("toy.zip", "expected a whole zip archive")
            .hints("download it again"),
        case("a zip archive with a damaged member", Files::one("toy.zip", damaged(&archive)))
            .says("toy.zip, TOY_A.txt", "expected a whole member")
            .hints("download it again"),
        case("a zip archive that unpacks to 1000 times its size", Files::one("toy.zip", zipped(&inner)))
            .says("toy.zip, TOY_A.txt", "expected data that expands less")
            .hints("unpack it yourself"),
        case("an archive of archives that each seem harmless", Files::one("toy.zip", nested_bomb()))
            .says("toy.zip, TOY_A.txt", "expected data that expands less")
            .hints("unpack it yourself"),
        case("text under the name of a zip archive", Files::one("toy.zip", "1, 2\n"))
            .says("toy.zip", "expected a whole zip archive")
            .hints("download it again"),
        case("an npz file cut short", files::gnn_benchmark().cut("toy.npz", 3))
            .says("toy.npz", "expected a whole zip archive")
            .hints("download it again"),
    ]
}

/// Changes a byte in the data of the first member.
fn damaged(archive: &[u8]) -> Vec<u8> {
    let mut bytes = archive.to_vec();
    let name = b"TOY_A.txt";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("the member");
    bytes[at + name.len() + 4] ^= 0xff;
    bytes
}

/// 20 MiB as a gzip file of 80 kB, which is so regular that a zip archive makes 1 kB of it.
fn nested_bomb() -> Vec<u8> {
    use std::io::Write;
    let mut part = flate2::GzBuilder::new().filename([b'a'; 190]).write(Vec::new(), flate2::Compression::best());
    part.write_all(&[b'1'; 1 << 16]).expect("memory");
    let parts = part.finish().expect("memory").repeat(320);
    zipped(&BTreeMap::from([("TOY_A.txt".into(), parts), ("TOY_graph_indicator.txt".into(), b"1\n".into())]))
}

/// Paths whose format cannot be told, or is told wrongly.
fn formats() -> Vec<Case> {
    let none = || Files { named: None, files: BTreeMap::new() };
    vec![
        case("an empty folder", none()).says("memory", "cannot tell the format of").hints("--format"),
        case(
            "a folder of nothing that is read",
            none().with("readme.md", "# Data").with("paper.pdf", b"%PDF-1.4\0\xff"),
        )
        .says("memory", "cannot tell the format of")
        .hints("--format"),
        case("a format that does not exist", files::tu())
            .format("tud")
            .says("\"tud\"", "no format is called")
            .hints("did you mean tu?"),
        case("a TU folder as OGB", files::tu())
            .format("ogb")
            .says("memory has no raw/num-node-list.csv.gz", "which the OGB format needs")
            .hints("name the format"),
        case("a TU folder as GraphSAINT", files::tu())
            .format("graph-saint")
            .says("memory has no adj_full.npz", "graph-saint format needs")
            .hints("name the format"),
        case("text under the name of an npz file", Files::one("toy.npz", "0 1\n1 2\n"))
            .says("toy.npz", "expected a whole zip archive"),
        case(
            "an npz file of something else",
            Files::one("toy.npz", zipped(&BTreeMap::from([("x.npy".into(), integers(&[1]))]))),
        )
        .format("scipy-npz")
        .says("toy.npz", "expected a member format.npy"),
    ]
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let error = read::read("/no/such/dataset", &ReadOptions::default()).expect_err("nothing there");
    assert!(error.to_string().starts_with("cannot read /no/such/dataset: "), "{error}");
}

/// No file may make a reader panic, wherever it ends.
#[test]
fn files_may_end_anywhere() {
    for (format, sound) in files::sound() {
        let options = ReadOptions { format: Some(format.into()), attributes: true, ..ReadOptions::default() };
        for (name, bytes) in &sound.files {
            for end in 0..bytes.len() {
                let input: DataSource = sound.clone().with(name, &bytes[..end]).input();
                if let Err(error) = read::read_source(&input, &options) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}
