//! `fiedler report` as a user meets it: where pages go, what is refused, files for a paper.

use std::fs;

use tempfile::TempDir;

use super::{failure, fiedler, json_of, stdout};

#[test]
fn a_graph_has_a_page_with_pictures_and_tables_beside_it() {
    let folder = TempDir::new().unwrap();
    let written =
        json_of(fiedler(folder.path()).args(["report", "karate", "--out", "karate.html", "--figures", "beside"]));
    assert_eq!(written["page"], "karate.html");
    let html = fs::read_to_string(folder.path().join("karate.html")).unwrap();
    assert_eq!(html.len() as u64, written["bytes"].as_u64().unwrap());
    assert!(html.contains("One graph of 34 nodes and 78 edges"));
    for address in ["http://", "https://", "url(", "@import", "src="] {
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains(address), "{address}");
    }
    for name in ["degrees.svg", "degrees.png", "spectrum.csv", "spectrum.md", "spectrum.tex"] {
        assert!(folder.path().join("beside").join(name).exists(), "{name}");
    }
    let table = fs::read_to_string(folder.path().join("beside/graph.csv")).unwrap();
    assert!(table.contains("nodes,34,") && table.contains("edges,78,"), "{table}");
    // Nothing is replaced unless asked, and the page is no exception.
    let said = failure(fiedler(folder.path()).args(["report", "karate", "--out", "karate.html"]), 5);
    assert!(said.contains("karate.html"), "{said}");
    let again = ["report", "karate", "--out", "karate.html", "--figures", "beside", "--force"];
    fiedler(folder.path()).args(again).assert().success();
    assert!(html == fs::read_to_string(folder.path().join("karate.html")).unwrap());
}

#[test]
fn a_page_in_its_folder_is_made_anew_but_nobody_elses_file_is() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["augment", "karate", "--ratio", "0.2", "--out", "scheme"]).assert().success();
    let report = ["report", "scheme", "--data", "karate"];
    let said = stdout(fiedler(folder.path()).args(report));
    assert!(said.starts_with("scheme/report.html: "), "{said}");
    fiedler(folder.path()).args(report).assert().success();
    fs::write(folder.path().join("scheme/report.html"), "mine").unwrap();
    failure(fiedler(folder.path()).args(report), 5);
    assert_eq!(fs::read_to_string(folder.path().join("scheme/report.html")).unwrap(), "mine");
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["augment", "karate", "--ratio", "0.2", "--out", "scheme"]).assert().success();
    let said = failure(fiedler(folder.path()).args(["report", "scheme"]), 2);
    assert!(said.contains("--data"), "{said}");
    let said = failure(fiedler(folder.path()).args(["report", "karate", "citation"]), 2);
    assert!(said.contains("one page"), "{said}");
    let said = failure(fiedler(folder.path()).args(["report", "karate", "--around", "nobody"]), 2);
    assert!(said.contains("no node \"nobody\"") && said.contains("34"), "{said}");
    failure(fiedler(folder.path()).args(["report", "no-such-run"]), 4);
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::write(folder.path().join("run/run.json"), "{}").unwrap();
    let said = failure(fiedler(folder.path()).args(["report", "run"]), 3);
    assert!(said.contains("run.json"), "{said}");
}
