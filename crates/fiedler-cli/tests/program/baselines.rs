//! Embeddings without training as a user meets them: methods, feature sources, and the baselines beside every result.

use std::fs;

use tempfile::TempDir;

use super::{explained, fiedler, json_of, stdout, write_rings};

#[test]
fn hops_and_spectral_need_no_training_and_apply_to_other_data() {
    let folder = TempDir::new().unwrap();
    for (method, columns) in [("hops", 50), ("spectral", 50)] {
        let arguments = ["embed", "citation", "--method", method, "--dimensions", "50", "--out", method, "--no-report"];
        let summary = json_of(fiedler(folder.path()).args(arguments));
        let result = &summary["result"];
        assert_eq!(
            (&result["rows"], &result["columns"], &result["epochs"]),
            (&1000.into(), &columns.into(), &0.into())
        );
        let applied = ["embed", "citation", "--out", &format!("{method}-again"), "--encoder"].map(str::to_owned);
        let encoder = format!("{method}/encoder.safetensors");
        fiedler(folder.path()).args(applied).arg(encoder).assert().success();
        let bytes = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
        assert!(bytes(method) == bytes(&format!("{method}-again")), "{method}");
    }
}

#[test]
fn every_result_stands_beside_what_it_has_to_beat() {
    let folder = TempDir::new().unwrap();
    let arguments = ["embed", "citation", "--method", "dgi", "--hidden", "8", "--epochs", "2", "--out", "run"];
    let summary = json_of(fiedler(folder.path()).args(arguments));
    let scores = summary["result"]["scores"].as_array().unwrap();
    let of: Vec<&str> = scores.iter().map(|score| score["of"].as_str().unwrap()).collect();
    assert_eq!(of, ["dgi", "the untrained encoder", "hops", "spectral", "raw features"]);
    let verdict = summary["result"]["verdict"].as_str().unwrap();
    assert!(verdict.contains(" by ") || verdict.contains("apart"), "{verdict}");
    assert!(summary["result"]["edge_auc"].as_f64().unwrap() > 0.5);
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(page.contains("spectral") && page.contains("The embedding, last, beside what it has to beat."));
    let told = stdout(fiedler(folder.path()).args(["embed", "--resume", "--out", "run"]));
    assert!(told.contains("verdict") && told.contains("from hops"), "{told}");
}

#[test]
fn feature_sources_compose_and_are_remembered() {
    let folder = TempDir::new().unwrap();
    let sources = ["--feature-sources", "structural+spectral:8"];
    let arguments = ["embed", "karate", "--method", "raw", "--out", "raw", "--no-report"];
    let summary = json_of(fiedler(folder.path()).args(arguments).args(sources));
    assert_eq!(summary["result"]["columns"], 27);
    assert_eq!(summary["settings"]["features"]["sources"], "structural+spectral:8");
    let listed = stdout(fiedler(folder.path()).args(["settings", "hops"]));
    assert!(listed.contains("features.sources = auto") && listed.contains("method.hops = [0,1,2,4,8]"), "{listed}");
    explained(
        folder.path(),
        &[
            (&["embed", "karate", "--feature-sources", "words"], 2, &["words", "given", "structural", "spectral:K"]),
            (&["embed", "karate", "--method", "hops", "--feature-sources", "given"], 2, &["features.sources", "given"]),
            (&["embed", "karate", "--dimensions", "3"], 2, &["--dimensions", "cca-ssg"]),
            (&["embed", "karate", "--method", "hops", "--hidden", "3"], 2, &["--hidden", "hops"]),
            (&["embed", "citation", "--method", "hops", "--dimensions", "2"], 2, &["dimensions", "5 to"]),
        ],
    );
}

#[test]
fn the_table_of_baselines_has_scores_and_seconds() {
    let folder = TempDir::new().unwrap();
    let arguments = ["reproduce", "baselines", "--datasets", "citation", "--seeds", "1", "--out", "out"];
    let table = json_of(fiedler(folder.path()).args(arguments));
    let entries = table["entries"].as_array().unwrap();
    let rows: Vec<&str> = entries.iter().map(|entry| entry["row"].as_str().unwrap()).collect();
    assert_eq!(rows, ["raw", "untrained GCN", "spectral", "hops", "default", "seconds of spectral", "seconds of hops"]);
    let mean = |row: usize| entries[row]["mean"].as_f64().unwrap();
    assert!(mean(3) > mean(0) && mean(4) > mean(0) && mean(6) > 0.0, "{table}");
}

#[test]
fn hops_describe_every_graph_of_a_set() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let arguments = ["embed", "RINGS", "--method", "hops", "--out", "run", "--no-report"];
    let blocks = ["--dimensions", "6", "--set", r#"method.graphs.blocks=["hop","wl"]"#];
    let summary = json_of(fiedler(folder.path()).args(arguments).args(blocks));
    assert_eq!(summary["settings"]["method"]["graphs"]["blocks"].as_array().unwrap().len(), 2);
    let result = &summary["result"];
    // Four different graphs have three directions.
    assert_eq!((&result["rows"], &result["columns"], &result["epochs"]), (&40.into(), &3.into(), &0.into()));
    assert!(result["scores"][0]["value"].as_f64().unwrap() > 0.9, "{result}");
    let arguments = ["embed", "RINGS", "--encoder", "run/encoder.safetensors", "--out", "applied"];
    fiedler(folder.path()).args(arguments).assert().success();
    let bytes = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
    assert!(bytes("run") == bytes("applied"));
    let arguments = ["embed", "RINGS", "--method", "span", "--epochs", "1", "--out", "trained", "--no-report"];
    let summary = json_of(fiedler(folder.path()).args(arguments));
    let scores = summary["result"]["scores"].as_array().unwrap();
    let of: Vec<&str> = scores.iter().map(|score| score["of"].as_str().unwrap()).collect();
    assert_eq!(of[1..], ["the untrained encoder", "hops", "node degrees"]);
    let unknown = ["embed", "RINGS", "--method", "hops", "--set", r#"method.graphs.blocks=["colors"]"#];
    explained(folder.path(), &[(&unknown, 2, &["method.graphs.blocks"])]);
}

#[test]
fn a_few_columns_in_different_units_are_standardized_beside_what_the_graph_says() {
    let folder = TempDir::new().unwrap();
    // Two groups, each a ring with chords; age and income tell little.
    let edges = (0..60).flat_map(|node| {
        let (first, at) = (node / 30 * 30, node % 30);
        [1, 2, 5].map(|step| format!("{node},{}\n", first + (at + step) % 30))
    });
    fs::write(folder.path().join("edges.csv"), edges.collect::<String>() + "0,30\n").unwrap();
    let people = |years: usize| {
        let row = |node: usize| format!("{node},{},{}\n", 20 + years + node * 7 % 50, 20_000 + node * 997 % 40_000);
        "node,age,income\n".to_owned() + &(0..60).map(row).collect::<String>()
    };
    let groups: String = (0..60).map(|node| format!("{node},{}\n", node / 30)).collect();
    fs::write(folder.path().join("groups.csv"), "node,group\n".to_owned() + &groups).unwrap();
    fs::write(folder.path().join("people.csv"), people(0)).unwrap();
    fs::write(folder.path().join("older.csv"), people(10)).unwrap();
    let run = |features: &str, rest: &[&str]| {
        let arguments = ["embed", "edges.csv", "--features", features, "--labels", "groups.csv", "--no-report"];
        let mut program = fiedler(folder.path());
        program.args(arguments).args(rest);
        program
    };
    let told = run("people.csv", &["--out", "run"]).assert().success().get_output().stderr.clone();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("features in different units") && told.contains("entries a node or fewer"), "{told}");
    let record = fs::read_to_string(folder.path().join("run/run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let features = &record["settings"]["features"];
    assert_eq!(features["sources"], "given+structural+spectral:64");
    assert_eq!((&features["standardize"], &features["normalize_rows"]), (&true.into(), &false.into()));
    // What stands beside the score as hops is what --method hops gives.
    run("people.csv", &["--method", "hops", "--out", "hops"]).assert().success();
    let hops = fs::read_to_string(folder.path().join("hops/run.json")).unwrap();
    let hops: serde_json::Value = serde_json::from_str(&hops).unwrap();
    assert_eq!(&hops["settings"]["features"], features);
    let score = |record: &serde_json::Value, of: &str| {
        let scores = record["result"]["scores"].as_array().unwrap();
        scores.iter().find(|score| score["of"] == of).unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(score(&hops, "hops"), score(&record, "hops"));
    // An encoder keeps the scale that it was trained on: people who are all ten years older are others.
    let bytes = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
    run("people.csv", &["--encoder", "run/encoder.safetensors", "--out", "same"]).assert().success();
    assert!(bytes("run") == bytes("same"));
    run("older.csv", &["--encoder", "run/encoder.safetensors", "--out", "older"]).assert().success();
    assert!(bytes("run") != bytes("older"));
    let refused: &[&str] = &["embed", "citation", "--set", "features.standardize=true"];
    explained(folder.path(), &[(refused, 2, &["features.standardize", "sparse"])]);
}

#[test]
fn hops_read_features_from_their_file_to_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let run = |arguments: &[&str]| fiedler(folder.path()).args(arguments).assert().success();
    run(&["convert", "citation:nodes=400", "data.fiedler"]);
    let common = ["embed", "data.fiedler", "--method", "hops", "--dimensions", "50", "--no-report", "--out"];
    run(&[common.as_slice(), &["whole"]].concat());
    run(&[common.as_slice(), &["streamed", "--stream-features"]].concat());
    for name in ["embeddings.npy", "encoder.safetensors"] {
        let of = |run: &str| std::fs::read(folder.path().join(run).join(name)).unwrap();
        assert!(of("whole") == of("streamed"), "{name} differs");
    }
    let record = |run: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.path().join(run).join("run.json")).unwrap()).unwrap()
    };
    assert_eq!(record("whole")["data"]["features_fingerprint"], record("streamed")["data"]["features_fingerprint"]);
    assert_eq!(record("whole")["result"]["scores"][0], record("streamed")["result"]["scores"][0]);
    let bytes = std::fs::read(folder.path().join("data.fiedler")).unwrap();
    std::fs::write(folder.path().join("cut.fiedler"), &bytes[..bytes.len() - 64]).unwrap();
    let streamed = |data, method| ["embed", data, "--method", method, "--stream-features", "--out", "no"];
    explained(
        folder.path(),
        &[
            (&streamed("data.fiedler", "grace"), 2, &["grace", "hops"]),
            (&streamed("cut.fiedler", "hops"), 3, &["cut.fiedler", "damaged"]),
            (&streamed("ego:karate", "hops"), 2, &["stream_features", "transform"]),
        ],
    );
    assert!(!folder.path().join("no").exists());
}
