//! Published graphs. Skipped, by name, without FIEDLER_DATA.

use std::path::PathBuf;

use fiedler_attack::{AttackInput, AttackSettings, Dice, Knowledge, Mettack, RandomFlips, budget};
use fiedler_graph::{Dataset, NoObserver, Split};

use crate::common::on_one_and_two_threads;

fn read(path: &str) -> Option<Dataset> {
    let Some(folder) = std::env::var_os("FIEDLER_DATA") else {
        eprintln!("skipped {path}: FIEDLER_DATA is not set");
        return None;
    };
    Some(fiedler_io::read::read(PathBuf::from(folder).join(path), &Default::default()).unwrap())
}

#[test]
fn budgets_of_cora_and_its_largest_component() {
    let Some(whole) = read("attacks/nettack/cora.npz") else { return };
    let component = whole.largest_component();
    let graph = component.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges()), (2485, 5069));
    assert_eq!(component.features.as_ref().unwrap().columns(), 1433);
    let input = AttackInput::new(graph, Knowledge { labels: component.node_labels.as_ref(), ..Knowledge::default() });
    let ratio = 0.05;
    for settings in [
        AttackSettings::Random(RandomFlips { ratio, ..RandomFlips::default() }),
        AttackSettings::Dice(Dice { ratio, ..Dice::default() }),
    ] {
        assert_eq!(settings.run(&input, &NoObserver).unwrap().flips.len(), 253);
    }
    let Some(cora) = read("cora") else { return };
    let input = AttackInput::new(cora.graph().unwrap(), Knowledge::default());
    let settings = AttackSettings::Random(RandomFlips { ratio: 0.01, ..RandomFlips::default() });
    assert_eq!(settings.run(&input, &NoObserver).unwrap().flips.len(), 52);
    assert_eq!(budget(0.2, 5278), 1055);
}

#[test]
fn mettack_on_cora_is_the_same_on_one_thread_and_on_two() {
    let Some(cora) = read("cora") else { return };
    let split: &Split = &cora.splits[0];
    let knowledge =
        Knowledge { features: cora.features.as_ref(), labels: cora.node_labels.as_ref(), split: Some(split) };
    let input = AttackInput::new(cora.graph().unwrap(), knowledge);
    let settings = AttackSettings::Mettack(Mettack { ratio: 0.0004, ..Mettack::default() });
    let [one, two] = on_one_and_two_threads(|| settings.run(&input, &NoObserver).unwrap());
    assert_eq!(one, two);
    assert_eq!(one.flips.len(), 2);
    for flip in &one.flips {
        assert!(flip.added, "additions first, as published attacks have it");
        assert!(split.train.contains(&flip.low) || split.train.contains(&flip.high), "at a training node");
    }
}
