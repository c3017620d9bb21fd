//! MVGRL against PyTorch (`fixtures/make_peers.py`), its diffusion in all forms, and the same bits however it is run.
#![allow(clippy::unwrap_used)]

mod peers;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::TensorData;
use burn::{Tensor, tensor::Distribution};
use fiedler_augment::scheme::{DiffusionSettings, Form};
use fiedler_augment::{FeatureMasking, SchemeSettings};
use fiedler_graph::random::stream;
use fiedler_graph::{Features, generate};
use fiedler_learn::encoder::{EncoderSettings, Gcn, GcnSettings, GinSettings, InputDims};
use fiedler_learn::method::{Method, Mvgrl, MvgrlDiffusion, TruncatedPageRank};
use fiedler_learn::pass::Pass;
use fiedler_learn::run::{Run, RunResult, Settings};
use fiedler_learn::trainer::TrainingSettings;
use fiedler_learn::{
    Discriminator, FeatureMatrix, GraphOffsets, Initializer, MessageGraph, Normalization, Operator, SavedEncoder, ops,
};
use peers::{Fixture, assert_close, device, task, values};
use rand::seq::SliceRandom;

fn mvgrl(hidden_channels: usize, steps: usize) -> Mvgrl {
    let gcn = GcnSettings { hidden_channels, num_layers: 1, ..GcnSettings::default() };
    let series = TruncatedPageRank { steps, ..TruncatedPageRank::default() };
    Mvgrl { encoder: EncoderSettings::Gcn(gcn), diffusion: MvgrlDiffusion::Truncated(series) }
}

#[test]
fn steps_and_embeddings_are_those_of_pytorch() {
    let fixture = Fixture::read(include_str!("fixtures/mvgrl.json"));
    let orders: Vec<Vec<u32>> = fixture.get("orders");
    let drawn = |step| {
        let mut order: Vec<u32> = (0..fixture.nodes as u32).collect();
        order.shuffle(&mut stream(7, "corruption", step));
        order
    };
    assert_eq!((0..4).map(drawn).collect::<Vec<_>>(), orders, "the fixture was made for other permutations");
    let method = mvgrl(5, fixture.get("steps"));
    let (task, views) = (fixture.task(), fixture.views());
    let model = fixture.model(&method);
    peers::assert_expected(&peers::losses(&method, &model, &task, None, &views)[0], &fixture.expected());
    let training =
        TrainingSettings { epochs: 4, learning_rate: 0.02, weight_decay: 0.0, ..TrainingSettings::default() };
    let model = peers::train(&method, model, &training, &task, None, &views);
    fixture.assert_trained(&model);
    fixture.assert_embeds(&method, model.clone());
    // With more terms the embedding is that of the exact inverse.
    let exact =
        Fixture { embedding: fixture.get("exact_embedding"), ..Fixture::read(include_str!("fixtures/mvgrl.json")) };
    exact.assert_embeds(&mvgrl(5, 80), model);
}

#[test]
fn the_series_is_as_near_to_the_exact_diffusion_as_it_says() {
    let dataset = generate::from_spec("citation:nodes=200", 3).unwrap();
    let graph = dataset.graph().unwrap();
    let nodes = graph.num_nodes();
    let operator = Arc::new(Operator::new(graph, Normalization::Symmetric));
    let identity = Tensor::<2>::eye(nodes, &device());
    let apply = |steps| {
        let coefficients = TruncatedPageRank { teleport: 0.2, steps }.coefficients();
        let coefficients = Tensor::from_data(TensorData::new(coefficients, [steps + 1]), &device());
        ops::propagate_mix(&operator, identity.clone(), coefficients)
    };
    let exact = apply(200);
    for steps in [0, 5, 20, 30] {
        // The norm of a symmetric matrix that is a series in one whose norm is one: power iteration from several vectors finds it.
        let difference = exact.clone() - apply(steps);
        let mut vectors = Tensor::<2>::random([nodes, 8], Distribution::Uniform(-1.0, 1.0), &device());
        let mut norm = 0.0f32;
        for _ in 0..60 {
            let lengths = vectors.clone().square().sum_dim(0).sqrt();
            vectors = difference.clone().matmul(vectors / lengths);
            norm = values(&vectors.clone().square().sum_dim(0).sqrt()).into_iter().fold(0.0, f32::max);
        }
        let bound = 0.8f32.powi(steps as i32 + 1);
        assert!(norm <= bound * 1.001, "{steps}: {norm}, bound {bound}");
        assert!(norm >= bound * 0.9, "{steps}: the bound is met in the largest eigenvalue, found {norm} of {bound}");
    }
    // It is the response of the diffusion that views are made of.
    let diffusion = DiffusionSettings { form: Form::Exact, ..DiffusionSettings::default() };
    let view = Run::new(&with_scheme(mvgrl(4, 30), diffusion, 0), &dataset).fit().unwrap();
    let applied = Run::new(&peers::settings(mvgrl(4, 80), 0), &dataset).fit().unwrap();
    for row in 0..nodes {
        assert_close(view.embeddings.row(row), applied.embeddings.row(row), 1e-4, "the exact form");
    }
}

fn with_scheme(method: Mvgrl, diffusion: DiffusionSettings, epochs: usize) -> Settings {
    let mut settings = peers::settings(method, epochs);
    settings.scheme = Some(SchemeSettings::Diffusion(diffusion));
    settings
}

#[test]
fn all_forms_of_the_diffusion_embed_other_graphs_by_their_own_diffusion() {
    let dataset = generate::from_spec("citation:nodes=150", 3).unwrap();
    let other = generate::from_spec("citation:nodes=90", 4).unwrap();
    let form = |form| DiffusionSettings { form, neighbors: 90, tolerance: 1e-6, ..DiffusionSettings::default() };
    let fits = |epochs| -> Vec<RunResult> {
        let settings = [
            peers::settings(mvgrl(8, 60), epochs),
            with_scheme(mvgrl(8, 60), form(Form::Exact), epochs),
            with_scheme(mvgrl(8, 60), form(Form::Sparse), epochs),
            with_scheme(Mvgrl { diffusion: MvgrlDiffusion::Identity, ..mvgrl(8, 60) }, form(Form::Exact), epochs),
        ];
        settings.iter().map(|settings| Run::new(settings, &dataset).fit().unwrap()).collect()
    };
    let embed = |result: &RunResult, dataset| {
        SavedEncoder::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap().embed(dataset).unwrap()
    };
    let trained = fits(4);
    for result in &trained {
        assert_eq!(embed(result, &dataset), result.embeddings);
        assert!(result.history.losses.last() < result.history.losses.first(), "{:?}", result.history.losses);
    }
    // A view that is a diffusion already is taken as it is.
    assert_eq!(trained[1].embeddings, trained[3].embeddings);
    // With the same weights it is what the series comes to, also of another graph.
    let untrained = fits(0);
    for at in [1, 2] {
        let (found, expected) = (embed(&untrained[at], &other), embed(&untrained[0], &other));
        for row in 0..90 {
            assert_close(found.row(row), expected.row(row), 1e-4, "another graph");
        }
    }
}

#[test]
fn views_may_take_the_place_of_the_diffusion_and_the_clean_graph_is_embedded() {
    let dataset = generate::from_spec("citation:nodes=150", 3).unwrap();
    for diffusion in [MvgrlDiffusion::Identity, mvgrl(8, 5).diffusion] {
        let method = Mvgrl { diffusion, ..mvgrl(8, 5) };
        assert_eq!(method.embedding_views(&[Default::default(), Default::default()]), method.embedding_views(&[]));
        let mut settings = peers::settings(method, 3);
        settings.scheme = Some(SchemeSettings::Uniform(Default::default()));
        settings.feature_masking = Some(FeatureMasking::default());
        let result = Run::new(&settings, &dataset).fit().unwrap();
        assert_eq!(result.encoder.embed(&dataset).unwrap(), result.embeddings);
        // The views have been learned from.
        let clean = Settings { scheme: None, feature_masking: None, ..settings.clone() };
        assert_ne!(Run::new(&clean, &dataset).fit().unwrap().embeddings, result.embeddings);
    }
}

#[test]
fn permuting_after_the_product_is_permuting_before_it() {
    let dataset = generate::from_spec("citation:nodes=80", 3).unwrap();
    let features = dataset.features.as_ref().unwrap();
    let mut order: Vec<u32> = (0..80).collect();
    order.shuffle(&mut stream(1, "test", 0));
    let settings = GcnSettings { hidden_channels: 70, num_layers: 2, ..GcnSettings::default() };
    let gcn = Gcn::new(&settings, features.columns(), &mut Initializer::new(1, &device())).unwrap();
    let graph = MessageGraph::new(dataset.graph().unwrap(), Normalization::Symmetric);
    let matrix = |features: &Features| FeatureMatrix::new(features, &device());
    for graph in [graph.clone(), graph.with_series(&[0.5, 0.3, 0.2]).unwrap()] {
        let pass = Pass::eval();
        let [real, shuffled] =
            gcn.forward_with_shuffled(&graph, &matrix(features), &order.clone().into(), &pass).unwrap();
        let before = gcn.forward(&graph, &matrix(&features.gather(&order)), &pass).unwrap();
        assert_eq!(values(&shuffled.last()), values(&before.last()));
        assert_eq!(values(&real.last()), values(&gcn.forward(&graph, &matrix(features), &pass).unwrap().last()));
    }
    let input = Tensor::<2>::random([80, 9], Distribution::Uniform(-1.0, 1.0), &device()).require_grad();
    let weights = Tensor::<2>::random([80, 9], Distribution::Uniform(-1.0, 1.0), &device());
    let order: Arc<[u32]> = order.into();
    let of = |output: Tensor<2>| {
        let gradients = (output.clone() * weights.clone()).sum().backward();
        (values(&output), values(&input.grad(&gradients).unwrap()))
    };
    assert_eq!(of(ops::permute(input.clone(), &order)), of(ops::plain::permute(input.clone(), &order)));
}

#[test]
fn the_discriminator_is_bilinear_and_starts_from_knowing_nothing() {
    let (width, rows) = (6, 11);
    let offsets = GraphOffsets::new(vec![0, 4, 11]);
    let discriminator = Discriminator::new(width, &mut Initializer::new(1, &device()));
    let matrix = |rows| Tensor::<2>::random([rows, width], Distribution::Uniform(-1.0, 1.0), &device());
    let (nodes, summaries) = (matrix(rows), matrix(2));
    let state = fiedler_learn::state_dict::StateDict::of(&discriminator);
    let weight = state.get("weight").unwrap();
    let bound = (6.0f32 / 42.0).sqrt();
    assert!(weight.iter().all(|value| value.abs() <= bound) && weight.iter().any(|value| value.abs() > bound / 2.0));
    assert_eq!(state.get("bias").unwrap(), [0.0]);
    let biased = {
        let mut state = state.clone();
        state.insert("bias", vec![1], vec![0.25]).unwrap();
        state.apply(discriminator.clone()).unwrap()
    };
    let found = values(&biased.scores(nodes.clone(), summaries.clone(), &offsets));
    let (h, s) = (values(&nodes), values(&summaries));
    let expected: Vec<f32> = offsets
        .of_rows()
        .iter()
        .enumerate()
        .map(|(row, &graph)| {
            let pairs = (0..width).flat_map(|i| (0..width).map(move |j| (i, j)));
            0.25 + pairs
                .map(|(i, j)| h[row * width + i] * weight[i * width + j] * s[graph as usize * width + j])
                .sum::<f32>()
        })
        .collect();
    assert_close(&found, &expected, 1e-5, "scores");
    // As wide as it usually is, it says next to nothing at first.
    let wide = Discriminator::new(512, &mut Initializer::new(1, &device()));
    let rows = |seed: f32| Tensor::<2>::random([30, 512], Distribution::Uniform(-0.1, seed.into()), &device());
    let summary = Tensor::<2>::full([1, 512], 0.5, &device());
    let loss = wide.loss(rows(0.1), rows(0.2), summary, &GraphOffsets::single(30));
    assert_close(&values(&loss), &[2f32.ln()], 1e-2, "the first loss");
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let result = peers::assert_same_bits(&peers::settings(mvgrl(64, 4), 8));
    assert!((result.history.losses[0] - 2f32.ln()).abs() < 0.05, "{:?}", result.history.losses);
    assert!(result.history.losses.last() < result.history.losses.first(), "{:?}", result.history.losses);
}

#[test]
fn graphs_with_little_in_them_are_learned_or_refused_by_name() {
    peers::assert_robust(&peers::settings(mvgrl(6, 5), 10));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |method: Mvgrl, views| method.check(&task(5, 4, views)).unwrap_err().to_string();
    assert!(mvgrl(4, 3).check(&task(2, 4, 2)).is_ok());
    let gin = EncoderSettings::Gin(GinSettings::default());
    assert!(refused(Mvgrl { encoder: gin.clone(), ..mvgrl(4, 3) }, 2).contains("encoder is gin; expected gcn"));
    assert!(refused(mvgrl(4, 3), 1).contains("number of views is 1"));
    assert!(refused(mvgrl(4, 2000), 2).contains("steps is 2000"));
    let teleport = |teleport| Mvgrl {
        diffusion: MvgrlDiffusion::Truncated(TruncatedPageRank { teleport, steps: 3 }),
        ..mvgrl(4, 3)
    };
    assert!(refused(teleport(0.0), 2).contains("teleport is 0"));
    assert!(refused(teleport(f64::NAN), 2).contains("teleport is NaN"));
    // Other encoders cannot walk a series.
    let dims = InputDims { nodes: 3, edges: None };
    let encoder = gin.build(dims, &mut Initializer::new(1, &device())).unwrap();
    let dataset = peers::graph(4, &[(0, 1)], 3, peers::wave);
    let graph = MessageGraph::new(dataset.graph().unwrap(), Normalization::None).with_series(&[0.5, 0.5]).unwrap();
    let features = FeatureMatrix::new(dataset.features.as_ref().unwrap(), &device());
    let error = encoder.valid().forward(&graph, &features, &Pass::eval()).unwrap_err().to_string();
    assert!(error.contains("expected gcn"), "{error}");
    assert!(graph.with_series(&[]).is_err());
}
