//! Settings that cannot work, from files and by `--set`: each is refused by its key and value with what is allowed, before anything is
//! written.

use std::fs;

use tempfile::TempDir;

use super::{failure, fiedler};

/// A setting by its key and value, in the syntax of TOML, and what the message has to say.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Numbers, words and tables that are out of their range, or not what the key takes.
const BAD_VALUES: &[Case] = &[
    ("seed", "-1", &["seed", "-1", "expected"]),
    ("seed", "1.5", &["seed", "1.5", "expected"]),
    ("device", "\"gpu\"", &["device", "gpu", "cpu"]),
    ("features.degrees", "0", &["features.degrees", "0", "1 to 100,000"]),
    ("features.degrees", "1000000000000000", &["features.degrees", "1000000000000000", "1 to 100,000"]),
    ("features.normalize_rows", "\"yes\"", &["features.normalize_rows", "yes", "expected"]),
    ("scheme.ratio", "-1", &["ratio", "-1", "not negative"]),
    ("scheme.k", "0", &["k is 0", "at least 1"]),
    ("scheme.noise", "-0.5", &["noise", "-0.5", "not negative"]),
    ("scheme.steps", "-3", &["scheme.steps", "-3", "expected"]),
    ("scheme.support", "\"somewhere\"", &["scheme.support", "somewhere", "candidates"]),
    ("scheme.operator", "\"adjacency\"", &["scheme.operator", "adjacency", "laplacian"]),
    ("feature_masking.first.rate", "1.5", &["rate of the first view is 1.5", "0 to 1"]),
    ("feature_masking.second.nodes", "-1", &["rate of the second view is -1", "0 to 1"]),
    ("feature_masking.cutoff", "2", &["cutoff", "2"]),
    ("feature_masking.centrality", "\"fame\"", &["feature_masking.centrality", "fame", "degree"]),
    ("method.encoder.hidden_channels", "0", &["hidden_channels", "0"]),
    ("method.encoder.hidden_channels", "1000000000000", &["hidden_channels", "1000000000000"]),
    ("method.encoder.hidden_channels", "-4", &["method.encoder.hidden_channels", "-4", "expected"]),
    ("method.encoder.num_layers", "0", &["num_layers", "0"]),
    ("method.encoder.num_layers", "\"two\"", &["method.encoder.num_layers", "two", "expected"]),
    ("method.encoder.dropout", "1", &["dropout is 1", "less than 1"]),
    ("method.encoder.dropout", "-0.1", &["dropout is -0.1", "less than 1"]),
    ("method.encoder.activation", "\"reluu\"", &["method.encoder.activation", "reluu", "prelu"]),
    ("method.readout.pooling", "\"median\"", &["method.readout.pooling", "median", "mean"]),
    ("method.readout.projector", "3", &["method.readout.projector", "3"]),
    ("method.loss.temperature", "0", &["temperature is 0", "positive"]),
    ("method.loss.temperature", "-2", &["temperature is -2", "positive"]),
    ("method.loss.similarity", "\"euclid\"", &["method.loss.similarity", "euclid", "cosine"]),
    ("method.negatives", "\"in-batch\"", &["negatives is in-batch", "corruption"]),
    ("method.extra_propagation", "1001", &["extra_propagation is 1001"]),
    ("method.embed_views", "\"maybe\"", &["method.embed_views", "maybe", "expected"]),
    ("training.epochs", "-1", &["training.epochs", "-1", "expected"]),
    ("training.epochs", "1e300", &["training.epochs", "1e+300", "expected"]),
    ("training.epochs", "4294967295", &["epochs is 4294967295", "at most 4,294,967,294"]),
    ("training.batch_size", "0", &["batch_size is 0", "at least 1"]),
    ("training.learning_rate", "0", &["learning_rate is 0", "a positive number"]),
    ("training.learning_rate", "-1.0", &["learning_rate is -1", "a positive number"]),
    ("training.learning_rate", "nan", &["training.learning_rate", "expected"]),
    ("training.learning_rate", "inf", &["training.learning_rate", "expected"]),
    ("training.weight_decay", "-1", &["weight_decay is -1", "not negative"]),
    ("training.patience", "0", &["patience is 0", "at least 1"]),
    ("training.checkpoint_every", "0", &["checkpoint_every is 0", "at least 1"]),
    ("training.min_relative_std", "1", &["min_relative_std is 1", "less than 1"]),
    ("training.optimizer", "\"sgd\"", &["training.optimizer", "sgd", "adamw"]),
    ("training", "3", &["training", "3"]),
    ("views", "3", &["views", "3", "expected"]),
];

/// Keys that nobody knows, with those that are nearest.
const UNKNOWN_KEYS: &[(&str, &str)] = &[
    ("training.epoch", "training.epochs"),
    ("training.learning_rat", "training.learning_rate"),
    ("training.weight-decay-rate", "training.weight_decay"),
    ("features.degree", "features.degrees"),
    ("method.encoder.hiden_channels", "method.encoder.hidden_channels"),
    ("method.share_encoders", "method.share_encoder"),
    ("scheme.ratios", "scheme.ratio"),
    ("feature_masking.cut_off", "feature_masking.cutoff"),
    ("sed", "seed"),
];

/// Names of methods, schemes, encoders and losses that nobody knows, with those that are nearest or allowed.
const UNKNOWN_NAMES: &[(&str, &str, &str)] = &[
    ("method.name", "spam", "span"),
    ("scheme.name", "oposite", "opposite"),
    ("method.encoder.name", "gcm", "gcn"),
    ("method.loss.name", "infonce", "info-nce"),
    ("method.contrast.name", "local", "local-global"),
    ("training.schedule.name", "linear", "cosine"),
];

/// A TOML file with one setting, and with the names without which it could not stand there.
fn file(key: &str, value: &str) -> String {
    let names = [
        ("scheme", "scheme.name", "opposite"),
        ("method", "method.name", "span"),
        ("method.encoder", "method.encoder.name", "gcn"),
        ("method.loss", "method.loss.name", "info-nce"),
    ];
    let needed = names.iter().filter(|(table, name, _)| key.starts_with(&format!("{table}.")) && key != *name);
    let mut lines: Vec<String> = needed.map(|(_, name, word)| format!("{name} = \"{word}\"")).collect();
    lines.push(format!("{key} = {value}"));
    lines.join("\n")
}

#[test]
fn each_is_refused_by_name_before_anything_is_written() {
    let quoted = |word: &str| format!("\"{word}\"");
    let values = BAD_VALUES.iter().map(|(key, value, words)| (*key, (*value).to_owned(), words.to_vec()));
    let keys = UNKNOWN_KEYS.iter().map(|(key, near)| (*key, "1".to_owned(), vec![*key, "did you mean ", *near]));
    let names = UNKNOWN_NAMES.iter().map(|(key, word, near)| (*key, quoted(word), vec![*key, *word, *near]));
    let cases: Vec<(&str, String, Vec<&str>)> = values.chain(keys).chain(names).collect();
    assert!(cases.len() >= 40, "{}", cases.len());

    let folder = TempDir::new().unwrap();
    let embed = ["embed", "karate", "--out", "run"];
    for (key, value, words) in &cases {
        fs::write(folder.path().join("mine.toml"), file(key, value)).unwrap();
        let assignment = format!("{key}={value}");
        for arguments in [vec!["--settings", "mine.toml"], vec!["--recipe", "paper", "--set", &assignment]] {
            let message = failure(fiedler(folder.path()).args(embed).args(&arguments), 2);
            let told = words.iter().all(|word| message.contains(word)) && !message.contains("panicked");
            assert!(told, "{arguments:?}, {key} = {value} does not say {words:?}:\n{message}");
        }
        fs::remove_file(folder.path().join("mine.toml")).unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{key} = {value} leaves {left:?}");
    }
}

#[test]
fn what_other_commands_are_told_is_refused_alike() {
    let folder = TempDir::new().unwrap();
    let commands: [&[&str]; 2] = [
        &["tune", "sbm:nodes=200", "--budget", "1", "--out", "out"],
        &["reproduce", "node", "--datasets", "sbm:nodes=200", "--seeds", "1", "--out", "out"],
    ];
    for command in commands {
        for (assignment, words) in [
            ("training.epoch=3", ["training.epoch", "did you mean training.epochs"]),
            ("training.epochs=-1", ["training.epochs cannot be -1", "expected"]),
        ] {
            let message = failure(fiedler(folder.path()).args(command).args(["--set", assignment]), 2);
            assert!(words.iter().all(|word| message.contains(word)), "{command:?} --set {assignment}:\n{message}");
        }
        assert!(!folder.path().join("out").exists(), "{command:?}");
    }
}
