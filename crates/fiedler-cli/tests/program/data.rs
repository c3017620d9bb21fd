//! The program as a user meets it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;
use tempfile::TempDir;

use super::{explained, failure, fiedler, json, stdout};

#[test]
fn inspect_describes_the_built_in_graph() {
    let folder = TempDir::new().unwrap();
    let text = stdout(fiedler(folder.path()).arg("inspect"));
    for word in ["citation", "nodes", "edges", "components", "clustering", "features", "classes", "homophily"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "colors in a pipe");
}

#[test]
fn json_has_what_scripts_need() {
    let folder = TempDir::new().unwrap();
    let karate = json(fiedler(folder.path()).args(["inspect", "karate", "--json"]));
    for key in ["graphs", "nodes", "edges", "features", "classes", "components", "isolated", "clustering", "homophily"]
    {
        assert!(karate.get(key).is_some(), "no {key} in {karate}");
    }
    assert_eq!((karate["nodes"].as_u64(), karate["edges"].as_u64()), (Some(34), Some(78)));
    assert_eq!(karate["features"], Value::Null);
    assert_eq!(karate["classes"], 2);
}

#[test]
fn results_do_not_depend_on_threads_but_on_the_seed() {
    let folder = TempDir::new().unwrap();
    let inspect = |arguments: &[&str]| {
        stdout(fiedler(folder.path()).args(["inspect", "sbm:nodes=3000", "--json"]).args(arguments))
    };
    assert_eq!(inspect(&["--threads", "1"]), inspect(&["--threads", "2"]));
    assert_ne!(inspect(&["--seed", "1"]), inspect(&["--seed", "2"]));
}

#[test]
fn an_edge_list_with_features_and_labels_is_read() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("edges.csv"), "source,target\nann,bob\nbob,cid\ncid,cid\nbob,ann\n").unwrap();
    fs::write(folder.path().join("features.csv"), "id,height,age\nann,1.5,30\nbob,1.8,40\ncid,1.7,50\n").unwrap();
    fs::write(folder.path().join("labels.csv"), "id,team\nann,red\nbob,blue\ncid,red\n").unwrap();
    let mut command = fiedler(folder.path());
    command.args(["inspect", "edges.csv", "--features", "features.csv", "--labels", "labels.csv"]);
    let summary = json(command.arg("--json"));
    assert_eq!((summary["nodes"].as_u64(), summary["edges"].as_u64()), (Some(3), Some(2)));
    assert_eq!((summary["features"].as_u64(), summary["classes"].as_u64()), (Some(2), Some(2)));
    assert_eq!(summary["read"]["self_loops"], 1);
    assert_eq!(summary["read"]["mirrored"], 1);
}

#[test]
fn convert_writes_what_inspect_reads_and_never_overwrites_unasked() {
    let folder = TempDir::new().unwrap();
    for target in ["karate.csv", "zachary.tsv.gz", "karate.graphml", "karate.npz"] {
        fiedler(folder.path()).args(["convert", "karate", target]).assert().success();
        let summary = json(fiedler(folder.path()).args(["inspect", target, "--json"]));
        assert_eq!((summary["nodes"].as_u64(), summary["edges"].as_u64()), (Some(34), Some(78)), "{target}");
    }
    let before = fs::read(folder.path().join("karate.csv")).unwrap();
    let message = failure(fiedler(folder.path()).args(["convert", "citation", "karate.csv"]), 5);
    assert!(message.contains("karate.csv") && message.contains("--force"), "{message}");
    assert_eq!(before, fs::read(folder.path().join("karate.csv")).unwrap());
    fiedler(folder.path()).args(["convert", "citation", "karate.csv", "--force"]).assert().success();
    assert_ne!(before, fs::read(folder.path().join("karate.csv")).unwrap());
}

#[test]
fn mistakes_are_explained_with_documented_exit_codes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bad.csv"), "1,2\n2,three\n3,4,x,y\n").unwrap();
    fs::write(folder.path().join("empty.csv"), "").unwrap();
    fs::write(folder.path().join("cut.npz"), b"PK\x03\x04 and no more").unwrap();
    fs::write(folder.path().join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    let cases: [(&[&str], i32, &[&str]); 11] = [
        (&["inspect", "nowhere.csv"], 4, &["nowhere.csv"]),
        (&["inspect", "corra"], 4, &["corra", "cora", "data list"]),
        (&["inspect", "cora"], 4, &["cora", "data fetch cora"]),
        (&["inspect", "empty.csv"], 3, &["empty.csv", "expected"]),
        (&["inspect", "cut.npz"], 3, &["cut.npz"]),
        (&["inspect", "picture.png"], 3, &["picture.png"]),
        (&["inspect", "sbm:node=5"], 2, &["node", "nodes"]),
        (&["inspect", "erdos-renyi:probability=2"], 2, &["probability"]),
        (&["inspect", "karate", "--format", "nonsense"], 2, &["nonsense", "edge-list"]),
        (&["convert", "karate", "karate.docx"], 2, &["docx", "graphml"]),
        (&["inspect", "karate", "--threads", "0"], 2, &["threads"]),
    ];
    explained(folder.path(), &cases);
}

#[test]
fn quiet_says_nothing_but_results() {
    let folder = TempDir::new().unwrap();
    let output = fiedler(folder.path())
        .args(["--quiet", "convert", "karate", "k.graphml"])
        .assert()
        .success()
        .get_output()
        .clone();
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn completions_for_every_shell() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(fiedler(folder.path()).args(["completions", shell]));
        assert!(script.contains("inspect"), "{shell}");
    }
}

#[test]
fn help_teaches() {
    let folder = TempDir::new().unwrap();
    let help = stdout(fiedler(folder.path()).arg("--help"));
    assert!(help.contains("Exit codes") && help.contains("fiedler inspect cora"), "{help}");
    let formats = stdout(fiedler(folder.path()).args(["inspect", "--help"]));
    assert!(formats.contains("planetoid") && formats.contains("graphml"), "{formats}");
}

#[test]
fn data_lists_finds_and_fetches() {
    let folder = TempDir::new().unwrap();
    let listed = stdout(fiedler(folder.path()).args(["data", "list"]));
    for name in
        ["cora", "wiki-cs", "amazon-computers", "reddit-multi-5k", "ogbg-molbace", "zinc-2m", "usa-airports", "yelp"]
    {
        assert!(listed.contains(name), "no {name} in\n{listed}");
    }
    let entries = json(fiedler(folder.path()).args(["data", "list", "--json"]));
    assert!(entries.as_array().unwrap().iter().any(|entry| entry["name"] == "cora" && entry["path"].is_null()));
    failure(fiedler(folder.path()).args(["data", "where", "brazil-airports"]), 4);

    let mirror = serve(&[
        ("brazil-airports.edgelist", "0 1\n1 2\n"),
        ("labels-brazil-airports.txt", "node label\n0 0\n1 1\n2 0\n"),
    ]);
    // The published hashes cannot match these; the download must be refused and leave nothing behind.
    let message = failure(fiedler(folder.path()).args(["data", "fetch", "brazil-airports", "--mirror", &mirror]), 6);
    assert!(message.contains("brazil-airports"), "{message}");
    failure(fiedler(folder.path()).args(["data", "where", "brazil-airports"]), 4);

    let mutag = zip_of(&[
        ("MUTAG/MUTAG_A.txt", "1, 2\n2, 1\n3, 4\n"),
        ("MUTAG/MUTAG_graph_indicator.txt", "1\n1\n2\n2\n"),
        ("MUTAG/MUTAG_graph_labels.txt", "1\n-1\n"),
    ]);
    let mirror = serve_bytes(vec![("MUTAG.zip".into(), mutag)]);
    let path = stdout(fiedler(folder.path()).args(["data", "fetch", "mutag", "--mirror", &mirror]));
    assert!(path.trim().starts_with(folder.path().to_str().unwrap()), "{path}");
    assert_eq!(path, stdout(fiedler(folder.path()).args(["data", "where", "MUTAG"])));
    let summary = json(fiedler(folder.path()).args(["inspect", "mutag", "--json", "--quiet"]));
    assert_eq!((summary["graphs"].as_u64(), summary["edges"].as_u64()), (Some(2), Some(2)));
}

#[test]
fn a_published_dataset_by_name() {
    let Some(data) = std::env::var_os("FIEDLER_DATA") else {
        let _ = writeln!(std::io::stderr(), "skipped: the program on cora (FIEDLER_DATA is not set)");
        return;
    };
    let folder = TempDir::new().unwrap();
    let cora = json(fiedler(folder.path()).env("FIEDLER_DATA", data).args(["inspect", "cora", "--json"]));
    let expected =
        [("graphs", 1), ("nodes", 2708), ("edges", 5278), ("features", 1433), ("classes", 7), ("components", 78)];
    for (key, value) in expected {
        assert_eq!(cora[key], value, "{key}");
    }
    assert!((cora["clustering"].as_f64().unwrap() - 0.2407).abs() < 1e-4);
    assert!((cora["homophily"].as_f64().unwrap() - 0.81).abs() < 1e-3);
}

fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn serve(files: &[(&str, &str)]) -> String {
    serve_bytes(files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect())
}

/// A server on loopback for as long as the test runs; any folder of an address holds the files.
fn serve_bytes(files: Vec<(String, Vec<u8>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().take(64).flatten() {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                request.push(byte[0]);
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let path = request.split_whitespace().nth(1).unwrap_or_default();
            let found = files.iter().find(|(name, _)| path.ends_with(&format!("/{name}")));
            let (status, body) = found.map_or(("404 Not Found", [].as_slice()), |(_, bytes)| ("200 OK", bytes));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    address
}
