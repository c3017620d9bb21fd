//! Names, help, parsing and serde of everything that is chosen by a name.
#![allow(clippy::unwrap_used)]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use fiedler_evaluate::{
    Entry, Error, EvaluationSettings, LabelKind, Metric, Probe, Protocol, ProtocolPreset, Scaling, SplitScore,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Names, aliases and tables of a list lead to what they stand for and back.
fn round_trip<T>(entries: &[Entry], all: &[T])
where
    T: Debug + Display + PartialEq + FromStr<Err = Error> + Serialize + DeserializeOwned,
{
    assert_eq!(entries.len(), all.len());
    for (entry, one) in entries.iter().zip(all) {
        assert_eq!(one.to_string(), entry.name);
        assert!(!entry.help.is_empty() && !entry.help.contains('\n') && !entry.help.contains("  "), "{entry:?}");
        for name in [entry.name].iter().chain(entry.aliases) {
            assert_eq!(&name.parse::<T>().unwrap(), one);
            assert_eq!(&serde_json::from_value::<T>(json!(name)).unwrap(), one);
        }
        let told = serde_json::to_value(one).unwrap();
        assert_eq!(told.get("name").unwrap_or(&told), entry.name);
        assert_eq!(&serde_json::from_value::<T>(told).unwrap(), one);
    }
}

#[test]
fn names_lead_there_and_back() {
    round_trip(&Protocol::ENTRIES, &Protocol::all());
    round_trip(&Probe::ENTRIES, &Probe::all());
    round_trip(&ProtocolPreset::ENTRIES, &ProtocolPreset::ALL);
    round_trip(&Metric::ENTRIES, &Metric::ALL);
    round_trip(&Scaling::ENTRIES, &Scaling::ALL);
    round_trip(&LabelKind::ENTRIES, &LabelKind::ALL);
}

#[test]
fn settings_come_in_tables_with_a_name() {
    for probe in Probe::all() {
        let mut table = serde_json::to_value(&probe).unwrap();
        assert_eq!(serde_json::from_value::<Probe>(json!({ "name": probe.name() })).unwrap(), probe);
        table["surprise"] = json!(1);
        let error = serde_json::from_value::<Probe>(table).unwrap_err().to_string();
        assert!(error.contains("unknown field `surprise`"), "{error}");
    }
    for protocol in Protocol::all() {
        let mut table = serde_json::to_value(protocol).unwrap();
        assert_eq!(serde_json::from_value::<Protocol>(json!({ "name": protocol.name() })).unwrap(), protocol);
        table["surprise"] = json!(1);
        assert!(serde_json::from_value::<Protocol>(table).is_err(), "{protocol}");
    }
    let folds: Protocol = serde_json::from_value(json!({ "name": "folds", "folds": 5 })).unwrap();
    assert_eq!(serde_json::to_value(folds).unwrap(), json!({ "name": "kfold", "folds": 5, "stratified": true }));
    assert_eq!(
        serde_json::to_value(Protocol::RANDOM).unwrap(),
        json!({ "name": "random", "splits": 10, "train": 0.1, "validation": 0.1, "stratified": false })
    );
    let settings =
        json!({ "protocol": "kfold", "probe": { "name": "ridge", "alphas": [1.0] }, "scaling": ["l2-rows"] });
    let settings: EvaluationSettings = serde_json::from_value(settings).unwrap();
    let again: EvaluationSettings = serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
    assert_eq!((again, settings.protocol), (settings.clone(), Some(Protocol::KFOLD)));
    assert!(serde_json::from_value::<EvaluationSettings>(json!({ "weights": [1.0] })).is_err());
}

/// An unknown name tells the names there are and the nearest, parsed or deserialized.
fn nearest<T: Debug + FromStr<Err = Error> + DeserializeOwned>(misspelt: &str, nearest: &str, names: &[&str]) {
    let error = misspelt.parse::<T>().unwrap_err();
    let expected = format!("did you mean {nearest}? there are: {}", names.join(", "));
    assert_eq!(error.hint().as_deref(), Some(expected.as_str()));
    assert!(error.to_string().ends_with(&format!("is called {misspelt:?}")), "{error}");
    let error = serde_json::from_value::<T>(json!(misspelt)).unwrap_err().to_string();
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn an_unknown_name_gives_the_nearest() {
    nearest::<Protocol>("kflod", "kfold", &Protocol::NAMES);
    nearest::<Probe>("logistics", "logistic", &Probe::NAMES);
    nearest::<ProtocolPreset>("refrence", "reference", &ProtocolPreset::NAMES);
    nearest::<Metric>("accurracy", "accuracy", &Metric::NAMES);
    nearest::<Scaling>("standardise", "standardize", &Scaling::NAMES);
    let error = serde_json::from_value::<Protocol>(json!({ "name": "kflod" })).unwrap_err().to_string();
    assert!(error.contains("unknown variant `kflod`, expected one of `public`, `scaffold`, `random`,"), "{error}");
}

#[test]
fn probes_say_what_they_serve() {
    let able = |kind: LabelKind| -> Vec<&str> {
        Probe::all().iter().filter(|probe| probe.serves().contains(&kind)).map(Probe::name).collect()
    };
    assert_eq!(able(LabelKind::Classes), ["logistic", "adam", "svm", "linear-svm"]);
    assert_eq!(able(LabelKind::MultiLabel), ["logistic"]);
    assert_eq!(able(LabelKind::Regression), ["ridge"]);
}

/// Scores that an earlier version wrote can be read.
#[test]
fn former_scores_are_read() {
    let former = json!({
        "name": "fold-0", "value": 0.5, "validation": 0.6, "weight": 1.0, "preparation": "unit-rows",
        "train_items": 9, "validation_items": 9, "test_items": 1, "fingerprint": "00",
    });
    let score: SplitScore = serde_json::from_value(former).unwrap();
    assert_eq!((score.scaling, score.hyperparameters.len()), (Scaling::L2Rows, 0));
}
