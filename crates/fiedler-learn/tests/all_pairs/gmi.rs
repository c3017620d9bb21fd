use fiedler_learn::encoder::{EncoderSettings, GcnSettings, InputDims, MlpSettings};
use fiedler_learn::method::{Anchors, Gmi, Method};
use fiedler_learn::run::Settings;
use fiedler_learn::{Task, TaskLevel};

use crate::common::{assert_same_however_it_is_run, assert_trains_on_little, gcn};

fn gmi(width: usize, anchors: Anchors) -> Gmi {
    Gmi { encoder: gcn(width), anchors, ..Gmi::default() }
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    assert_same_however_it_is_run(gmi(8, Anchors::Auto));
    let gcn = GcnSettings { hidden_channels: 8, num_layers: 1, ..GcnSettings::default() };
    assert_same_however_it_is_run(Gmi { encoder: EncoderSettings::Gcn(gcn), ..gmi(8, Anchors::Count(300)) });
}

#[test]
fn graphs_with_little_in_them_are_learned() {
    assert_trains_on_little(gmi(5, Anchors::Auto));
    assert_trains_on_little(gmi(5, Anchors::Count(3)));
}

#[test]
fn it_recommends_how_it_is_trained() {
    let settings = Settings::of_method(Gmi::default()).resolved();
    assert_eq!((settings.training.epochs, settings.training.patience), (550, Some(20)));
    assert_eq!((settings.training.weight_decay, settings.scheme), (0.0, None));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let dims = InputDims { nodes: 4, edges: None };
    let task = |num_nodes| Task {
        level: TaskLevel::Nodes,
        dims,
        num_nodes,
        num_graphs: 1,
        batch_graphs: 1,
        num_views: 0,
        target: None,
    };
    assert!(Gmi::default().check(&task(2)).is_ok());
    let mlp = EncoderSettings::Mlp(MlpSettings::default());
    for (gmi, nodes, expected) in [
        (Gmi::default(), 1, "number of nodes is 1"),
        (Gmi { encoder: mlp, ..Gmi::default() }, 5, "expected gcn"),
        (Gmi { num_negatives: 0, ..Gmi::default() }, 5, "num_negatives is 0"),
        (Gmi { gamma: -1.0, ..Gmi::default() }, 5, "gamma is -1"),
        (Gmi { alpha: f64::INFINITY, ..Gmi::default() }, 5, "alpha is inf"),
        (gmi(4, Anchors::Count(0)), 5, "anchors is 0"),
    ] {
        let error = gmi.check(&task(nodes)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
}
