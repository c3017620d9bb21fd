//! Files that people bring along: molecules in csv, weighted edge lists; and files of ours that come back as data.

use std::fs;

use fiedler_graph::generate;
use fiedler_io::write;
use tempfile::TempDir;

use super::{failure, fiedler, json_of, stdout};

#[test]
fn a_table_of_molecules_is_embedded_and_judged_with_lines_and_names() {
    let folder = TempDir::new().unwrap();
    let mut table = "compound_id,smiles,active\n".to_owned();
    for row in 0..40 {
        let chain = "C".repeat(1 + row % 9);
        let (end, word) = if row % 2 == 0 { ("O", "yes") } else { ("Cl", "no") };
        // Every tenth is no molecule.
        let smiles = if row % 10 == 9 { "C1CC".to_owned() } else { format!("{chain}{end}") };
        table += &format!("M-{row},{smiles},{word}\n");
    }
    fs::write(folder.path().join("own.csv"), table).unwrap();
    let embed = ["embed", "own.csv", "--method", "raw", "--out", "run", "--embeddings", "npy,csv,parquet"];
    let summary = json_of(fiedler(folder.path()).args(embed));
    assert_eq!((&summary["result"]["rows"], &summary["data"]["graphs"]), (&36.into(), &36.into()));
    let score = &summary["result"]["scores"][0];
    assert_eq!((&score["metric"], &score["splits"]), (&"accuracy".into(), &10.into()), "two words are two classes");

    let written = fs::read_to_string(folder.path().join("run/embeddings.csv")).unwrap();
    let rows: Vec<Vec<&str>> = written.lines().map(|line| line.split(',').take(3).collect()).collect();
    assert_eq!(rows[0], ["graph", "line", "name"]);
    assert_eq!(
        (&rows[9], &rows[10]),
        (&vec!["8", "10", "M-8"], &vec!["9", "12", "M-10"]),
        "the tenth row was left out"
    );
    for format in ["npy", "csv", "parquet"] {
        let file = format!("run/embeddings.{format}");
        let judged = json_of(fiedler(folder.path()).args(["evaluate", &file, "--labels", "own.csv"]));
        assert_eq!(judged["mean"], score["value"], "{format}");
    }
    // Labels of one's own are matched by the names that the table has.
    let order = (0..40).step_by(2).chain((1..40).step_by(2)).filter(|row| row % 10 != 9);
    let labels: String = order.map(|row| format!("M-{row},{}\n", row % 2)).collect();
    fs::write(folder.path().join("labels.csv"), format!("id,label\n{labels}")).unwrap();
    let judge = ["evaluate", "run/embeddings.npy", "--labels", "labels.csv", "--protocol", "kfold"];
    let judged = json_of(fiedler(folder.path()).args(judge));
    assert!(judged["used"][0].as_str().unwrap().contains("column `name`"), "{}", judged["used"]);
    let by_order = json_of(fiedler(folder.path()).args(judge).args(["--match", "order"]));
    assert!(judged["mean"].as_f64() == Some(1.0) && by_order["mean"].as_f64() < Some(0.9), "{by_order}");
}

#[test]
fn views_keep_the_nodes_that_they_leave_without_edges() {
    let folder = TempDir::new().unwrap();
    let arguments =
        ["augment", "karate", "--scheme", "uniform-removal", "--ratio", "0.8", "--views", "2", "--out", "scheme"];
    fiedler(folder.path()).args(arguments).assert().success();
    let views: Vec<_> =
        fs::read_dir(folder.path().join("scheme/views")).unwrap().map(|view| view.unwrap().path()).collect();
    let mut isolated = 0;
    for view in &views {
        let seen = json_of(fiedler(folder.path()).arg("inspect").arg(view));
        assert_eq!(seen["nodes"], 34, "{}", view.display());
        isolated += seen["isolated"].as_u64().unwrap();
    }
    assert!(views.len() == 4 && isolated > 0);
}

#[test]
fn weights_are_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("w.csv"), "source,target,weight\na,b,0.5\nb,c,2\nb,a,4\nc,b,2\n").unwrap();
    let text = stdout(fiedler(folder.path()).args(["inspect", "w.csv"]));
    assert!(text.contains("edge weights from 2 to 4 are used"), "{text}");
    assert!(text.contains("1 pairs were given again with another weight, of which the largest is kept"), "{text}");
    let output = fiedler(folder.path()).args(["embed", "w.csv", "--method", "raw", "--out", "run"]).assert().success();
    let notes = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("edge weights from 2 to 4 are used (--unweighted leaves them out)"), "{notes}");
    let text = stdout(fiedler(folder.path()).args(["inspect", "w.csv", "--unweighted"]));
    assert!(!text.contains("weights"), "{text}");
}

#[test]
fn a_search_keeps_to_its_bound_and_checks_labels_first() {
    let folder = TempDir::new().unwrap();
    let tune = ["tune", "sbm:nodes=120", "--budget", "2", "--epochs", "3", "--out", "tuned"];
    let found = json_of(fiedler(folder.path()).args(tune));
    assert!(found["settings"]["training"]["epochs"].as_u64().unwrap() <= 3, "{}", found["settings"]["training"]);
    let mut runs = 0;
    for trial in fs::read_dir(folder.path().join("tuned/runs")).unwrap() {
        for run in fs::read_dir(trial.unwrap().path()).unwrap() {
            let record = fs::read(run.unwrap().path().join("run.json")).unwrap();
            let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
            assert!(record["result"]["epochs"].as_u64().unwrap() <= 3);
            runs += 1;
        }
    }
    assert!(runs > 0);

    let mut dataset = generate::karate_club();
    dataset.node_labels = None;
    write::write(&dataset, folder.path().join("club.csv"), &write::WriteOptions::default()).unwrap();
    fs::write(folder.path().join("few.csv"), "node,label\n0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n").unwrap();
    let few = ["tune", "club.csv", "--labels", "few.csv", "--epochs", "2", "--out", "few"];
    let message = failure(fiedler(folder.path()).args(few), 3);
    assert!(message.contains("too few labels to choose settings by"), "{message}");
    assert!(!folder.path().join("few/runs").exists(), "nothing was trained");
}
