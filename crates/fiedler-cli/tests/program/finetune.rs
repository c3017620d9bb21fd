//! `fiedler finetune` and `fiedler import` as a user meets them.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{explained, failure, fiedler, json_of, stdout, write_rings};

/// A folder with a set of graphs and an encoder that was trained on it without labels.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let embed = ["embed", "RINGS", "--method", "graphcl", "--epochs", "2", "--no-evaluate", "--out", "pretrained"];
    stdout(fiedler(folder.path()).args(embed));
    folder
}

const SMALL: [&str; 6] = ["--epochs", "3", "--splits", "2", "--batch-size", "16"];

#[test]
fn an_encoder_is_tuned_told_of_and_applied() {
    let folder = folder();
    let program = |arguments: &[&str]| {
        let mut command = fiedler(folder.path());
        command.args(arguments);
        command
    };
    let tune = ["finetune", "pretrained", "RINGS", "--out", "tuned"];
    let told = stdout(program(&tune).args(SMALL));
    for words in [
        "fine-tuned from the weights of pretrained",
        "accuracy",
        "on validation",
        "2-fold",
        "seed-0/split-1",
        "tuned/report.html",
    ] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    let page = fs::read_to_string(folder.path().join("tuned/report.html")).unwrap();
    assert!(page.contains("Learning curves") && page.contains("<svg"));
    for file in
        ["finetune.json", "encoder.safetensors", "seed-0/split-0/losses.csv", "seed-0/split-1/encoder.safetensors"]
    {
        assert!(folder.path().join("tuned").join(file).is_file(), "{file}");
    }
    let losses = fs::read_to_string(folder.path().join("tuned/seed-0/split-0/losses.csv")).unwrap();
    assert!(losses.lines().next().unwrap().contains("validation") && losses.lines().count() == 4, "{losses}");

    // Again without --force is refused, --resume finds everything done, --json says the same.
    let again = failure(program(&tune).args(SMALL), 5);
    assert!(again.contains("finished fine-tuning") && again.contains("--force"), "{again}");
    let found = json_of(program(&tune).args(SMALL).arg("--resume"));
    assert_eq!((found["finished"].as_bool(), found["runs"].as_array().unwrap().len()), (Some(true), 2));
    assert!(told.contains(&format!("{:.2}", 100.0 * found["score"]["mean"].as_f64().unwrap())));
    assert!(stdout(&mut program(&["report", "tuned"])).contains("report.html"));

    // What came of it is an encoder: it is applied, and tuned again on other labels.
    let applied =
        json_of(&mut program(&["embed", "RINGS", "--encoder", "tuned/encoder.safetensors", "--out", "applied"]));
    assert_eq!((applied["rows"].as_u64(), applied["columns"].as_u64()), (Some(40), Some(2)));
    let modes: [&[&str]; 3] = [
        &["--mode", "frozen", "--head-learning-rate", "0.05"],
        &["--mode", "head-first", "--head-epochs", "1", "--class-weights", "balanced"],
        &["--label-fraction", "0.2", "--dropout", "0.3", "--head-dropout", "0.1", "--seeds", "2", "--no-report"],
    ];
    for (at, mode) in modes.iter().enumerate() {
        let out = format!("mode-{at}");
        stdout(program(&["finetune", "tuned", "RINGS", "--out", &out]).args(SMALL).args(*mode));
        assert_eq!(folder.path().join(out).join("report.html").exists(), at < 2);
    }
    let scratch =
        stdout(program(&["finetune", "none", "RINGS", "--like", "pretrained", "--out", "scratch"]).args(SMALL));
    assert!(scratch.contains("fine-tuned from random weights"), "{scratch}");
}

#[test]
fn nodes_are_tuned_by_their_splits() {
    let folder = TempDir::new().unwrap();
    let data = "citation";
    stdout(fiedler(folder.path()).args([
        "embed",
        data,
        "--method",
        "dgi",
        "--epochs",
        "2",
        "--no-evaluate",
        "--out",
        "run",
    ]));
    let told = stdout(fiedler(folder.path()).args(["finetune", "run", data, "--epochs", "3", "--out", "tuned"]));
    assert!(told.contains("the split that came with the data"), "{told}");
    let few = ["finetune", "none", data, "--epochs", "2", "--protocol", "random", "--splits", "2", "--out", "random"];
    assert!(stdout(fiedler(folder.path()).args(few)).contains("over 2 runs"));
}

#[test]
fn mistakes_are_explained_and_leave_nothing() {
    let folder = folder();
    let cases: &[(&[&str], i32, &[&str])] = &[
        (&["finetune", "nowhere", "RINGS", "--out", "x"], 4, &["nowhere holds no encoder", "none"]),
        (&["finetune", "pretrained", "nodata", "--out", "x"], 4, &["nodata"]),
        (&["finetune", "pretrained", "RINGS", "--like", "pretrained", "--out", "x"], 2, &["--like", "none"]),
        (&["finetune", "pretrained", "RINGS", "--head-epochs", "3", "--out", "x"], 2, &["--mode head-first"]),
        (&["finetune", "pretrained", "RINGS", "--label-fraction", "2", "--out", "x"], 2, &["label fraction is 2"]),
        (&["finetune", "pretrained", "RINGS", "--learning-rate", "-1", "--out", "x"], 2, &["learning_rate is -1"]),
        (&["finetune", "pretrained", "RINGS", "--mode", "thawed", "--out", "x"], 2, &["thawed", "frozen"]),
        (&["finetune", "pretrained", "RINGS", "--protocol", "scaffold", "--out", "x"], 3, &["scaffold"]),
        (&["finetune", "pretrained", "citation", "--out", "x"], 3, &["citation", "columns of features"]),
        (&["finetune", "pretrained", "RINGS", "--out", "pretrained", "--force"], 5, &["holds a run"]),
        (&["import", "nothing.pth", "--out", "x"], 4, &["nothing.pth"]),
    ];
    explained(folder.path(), cases);
    assert!(!folder.path().join("x").exists());
    assert!(!folder.path().join("pretrained/finetune.json").exists());
}

#[test]
fn published_weights_are_imported_applied_and_tuned() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fiedler-experiment/tests/fixtures/hu_gin");
    let folder = TempDir::new().unwrap();
    let weights = fixtures.join("old.pth");
    let weights = weights.to_str().unwrap();
    let told = stdout(fiedler(folder.path()).args(["import", weights, "--out", "imported"]));
    for words in [
        "3 graph isomorphism layers of 6 channels",
        "left out  graph_pred_linear.weight",
        "imported/encoder.safetensors",
    ] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    let rings = ["c1ccccc1", "C1CCCCC1", "CCO", "CC(C)C"].iter().cycle().take(200);
    let rows: String =
        rings.enumerate().map(|(at, smiles)| format!("{}{smiles},{}\n", "C".repeat(at / 4), at % 2)).collect();
    fs::write(folder.path().join("drugs.csv"), format!("smiles,active\n{rows}")).unwrap();
    for start in ["imported", weights] {
        let tune = ["finetune", start, "drugs.csv", "--epochs", "2", "--splits", "2", "--force", "--out", "tuned"];
        assert!(stdout(fiedler(folder.path()).args(tune)).contains("over 2 runs"));
    }
    let direct = json_of(fiedler(folder.path()).args(["embed", "drugs.csv", "--encoder", weights, "--out", "direct"]));
    assert_eq!((direct["rows"].as_u64(), direct["columns"].as_u64()), (Some(200), Some(6)));
    // Again is refused, and so is what is no encoder.
    assert!(
        failure(fiedler(folder.path()).args(["import", weights, "--out", "imported"]), 5)
            .contains("encoder.safetensors")
    );
    // An encoder that is there is not taken for one of a fine-tuning, and a run keeps its own.
    let tune = ["finetune", "none", "drugs.csv", "--epochs", "2", "--splits", "2", "--resume", "--out", "imported"];
    assert!(failure(fiedler(folder.path()).args(tune), 5).contains("imported holds an encoder"));
    let over = ["import", weights, "--force", "--out", "tuned"];
    assert!(failure(fiedler(folder.path()).args(over), 5).contains("tuned holds a run"));
    fs::write(folder.path().join("text.pth"), "no weights").unwrap();
    let message = failure(fiedler(folder.path()).args(["import", "text.pth", "--out", "other"]), 3);
    assert!(message.contains("text.pth") && message.contains("torch.save"), "{message}");
    assert!(!folder.path().join("other").exists());
}
