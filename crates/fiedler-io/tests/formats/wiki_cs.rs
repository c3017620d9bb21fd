//! Wiki-CS.

use fiedler_graph::Labels;
use fiedler_io::read::FORMATS;
use fiedler_io::{DataSource, Error};

use crate::common::{memory, read};

const TOY: &str = r#"{
"features": [[0.5, -1], [1e-1, 0], [0, 0]],
"labels": [3, 0, 3],
"links": [[1, 1, 0], [0, 2], []],
"node_ids": {"ignored": [null, {"deep": "down"}]},
"train_masks": [[true, false, false], [1, 0, 0]],
"val_masks": [[false, true, false], [0, 1, 0]],
"stopping_masks": [[false, true, false], [0, 0, 0]],
"test_mask": [false, false, true]
}"#;

fn input(text: &str) -> DataSource {
    memory(&[("data.json", text.as_bytes())], Some("data.json"))
}

fn message(found: &str, replaced: &str) -> String {
    assert!(TOY.contains(found));
    read(&input(&TOY.replace(found, replaced))).expect_err("malformed").to_string()
}

#[test]
fn features_classes_links_and_splits() -> Result<(), Error> {
    let folder = memory(&[("raw/data.json", TOY.as_bytes()), ("raw/metadata.json", b"{}")], None);
    assert_eq!(read(&folder)?, read(&input(TOY))?);

    let dataset = read(&input(TOY))?;
    assert_eq!((dataset.name.as_str(), dataset.report.format), ("wiki-cs", "wiki-cs"));
    assert_eq!(dataset.graph().map(|graph| (graph.num_nodes(), graph.num_edges())), Some((3, 2)));
    let edges = dataset.report.edges;
    assert_eq!((edges.pairs, edges.repeated, edges.mirrored, edges.self_loops), (5, 1, 1, 1));
    assert_eq!(dataset.features.as_ref().expect("features").to_dense().values(), [0.5, -1.0, 0.1, 0.0, 0.0, 0.0]);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(classes.of(), [Some(1), Some(0), Some(1)]);

    assert_eq!(dataset.splits.len(), 2);
    let [first, second] = &dataset.splits[..] else { panic!("two splits") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("split-1", "split-2"));
    assert_eq!((&first.train[..], &first.validation[..], &first.test[..]), (&[0][..], &[1][..], &[2][..]));
    assert_eq!((&first.stopping[..], &second.stopping[..]), (&[1][..], &[][..]));
    assert_eq!((&second.train, &second.validation, &second.test), (&first.train, &first.validation, &first.test));
    Ok(())
}

#[test]
fn errors_name_the_key_and_the_index() {
    let expected = "expected the lists of numbers and masks of Wiki-CS";
    let cases = [
        ("1e-1", "NaN", format!("data.json, features[1][0], line 2: broken JSON (expected value); {expected}")),
        ("1e-1", "1e39", "data.json, features[1][0], line 2: a number too large; expected finite numbers".into()),
        ("[1e-1, 0]", "[1]", "data.json, features[1]: 1 numbers; expected 2 as in row 0".into()),
        ("[0, 2]", "[0, 3]", "data.json, links[1][1]: node 3; expected a node below 3".into()),
        ("[3, 0, 3]", "[3, 0]", "data.json, labels: 2 entries; expected 3, one for each row of features".into()),
        (
            "[1, 0, 0]",
            "[1, 0]",
            "data.json, train_masks[1]: 2 entries; expected 3, one for each row of features".into(),
        ),
        (
            ", [0, 1, 0]]",
            "]",
            "data.json: 2 train_masks, 1 val_masks and 2 stopping_masks; expected one of each for every split".into(),
        ),
    ];
    for (found, replaced, expected) in cases {
        assert_eq!(message(found, replaced), expected);
    }
    let negative = message("[0, 2]", "[0, -2]");
    assert!(negative.starts_with("data.json, links[1][1], line 4: invalid value: integer `-2`, expected u32"));
    let mark = message("[1, 0, 0]", "[2, 0, 0]");
    assert!(mark.starts_with("data.json, train_masks[1][0], line 6: invalid value: integer `2`"));
    assert!(message("\"labels\"", "\"classes\"").contains("missing field `labels`"));
    assert!(message("true]\n}", "true]\n} more").contains("line 10: broken JSON (trailing characters)"));
}

#[test]
fn other_json_is_left_to_other_formats() {
    for text in [r#"{"nodes": [], "links": []}"#, "[1, 2]", "", "\u{0}"] {
        let input = input(text);
        assert!(!FORMATS.iter().any(|format| format.name == "wiki-cs" && (format.recognizes)(&input)));
    }
}
