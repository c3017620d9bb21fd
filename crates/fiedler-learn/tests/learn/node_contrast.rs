//! A step of GRACE, which is GCA's as well, against PyTorch: `tests/fixtures/make_grace.py`.

use std::collections::BTreeMap;

use burn::Tensor;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::layer::Activation;
use fiedler_learn::loss::{ContrastiveLoss, InfoNce, PositivePairs};
use fiedler_learn::method::{Anchors, Gca, Grace, Method, NodeContrast, Phase};
use fiedler_learn::ops::Similarity;
use fiedler_learn::{Initializer, Normalization};
use serde::Deserialize;

use crate::common::{self, assert_close, values};
use crate::fixture::{Held, gradients_of, sample, step, task, weights};

#[derive(Deserialize)]
struct Fixture {
    temperature: f64,
    views: Vec<Held>,
    loss: f32,
    gradients: Vec<Held>,
    nodes: usize,
    pairs: Vec<(u32, u32)>,
    other_pairs: Vec<(u32, u32)>,
    features: Held,
    kept: Vec<Vec<bool>>,
    weights: BTreeMap<String, Held>,
    embedded: Vec<Held>,
    step_loss: f32,
    step_gradients: BTreeMap<String, Held>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/grace.json")).unwrap()
}

fn loss(views: [Tensor<2>; 2], temperature: f64) -> Tensor<1> {
    let loss = ContrastiveLoss::InfoNce(InfoNce { similarity: Similarity::Cosine, temperature });
    loss.loss_of_pairs(&PositivePairs::new(views).unwrap()).unwrap()
}

#[test]
fn the_loss_and_its_gradients_are_those_of_pytorch() {
    let fixture = fixture();
    let views = [fixture.views[0].tensor(), fixture.views[1].tensor()];
    let loss = loss(views.clone(), fixture.temperature);
    assert_close(&values(&loss), &[fixture.loss], 1e-6, "the loss");
    let gradients = loss.backward();
    for (view, expected) in views.iter().zip(&fixture.gradients) {
        assert_close(&values(&view.grad(&gradients).unwrap()), &expected.values, 1e-6, "the gradient");
    }
}

#[test]
fn a_step_is_that_of_pytorch() {
    let fixture = fixture();
    let encoder = EncoderSettings::Gcn(GcnSettings {
        hidden_channels: 8,
        out_channels: Some(4),
        activation: Activation::Prelu,
        share_slope: true,
        ..GcnSettings::default()
    });
    let settings =
        NodeContrast { encoder, projector_channels: 6, temperature: fixture.temperature, anchors: Anchors::All };
    let (grace, gca) = (Grace(settings.clone()), Gca(settings));
    let task = task(fixture.nodes, fixture.features.shape[1], 2);
    let mut initializer = Initializer::new(1, &common::device());
    let model = grace.restore(&task, &weights(&fixture.weights), &mut initializer).unwrap();
    let view = |view: usize| {
        let pairs = if view == 0 { &fixture.pairs } else { &fixture.other_pairs };
        sample(pairs, &fixture.features, Some(&fixture.kept[view]), &[Normalization::Symmetric])
    };
    let (views, phase) = ([view(0), view(1)], Phase::default());
    for (view, expected) in views.iter().zip(&fixture.embedded) {
        let found = grace.embed(&model, &step(&task, &phase, None, std::slice::from_ref(view))).unwrap();
        assert_close(&values(&found), &expected.values, 1e-5, "a view");
    }
    let step = step(&task, &phase, None, &views);
    let loss = grace.loss(&model, &(), &step).unwrap().value;
    assert_close(&values(&loss), &[fixture.step_loss], 1e-5, "the loss");
    assert_eq!(values(&gca.loss(&model, &(), &step).unwrap().value), values(&loss));
    let found = gradients_of(&model, &loss.backward());
    assert_eq!(found.len(), fixture.step_gradients.len());
    for (name, expected) in &fixture.step_gradients {
        assert_close(&found[name], &expected.values, 1e-5, name);
    }
}
