//! Losses against their definitions, written out number by number, and against finite differences.

use burn::Tensor;
use fiedler_learn::GraphOffsets;
use fiedler_learn::loss::{
    ContrastiveLoss, InfoNce, JensenShannon, LocalGlobal, LocalGlobalSide, Negatives, PositivePairs,
};
use fiedler_learn::ops::Similarity;

use crate::common::{assert_derivative, matrix, values};

const WIDTH: usize = 6;

fn similarity(how: Similarity, a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    match how {
        Similarity::Dot => dot(a, b),
        Similarity::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
    }
}

/// One direction as the paper defines it; `corrupted` is empty where negatives come from the batch.
fn definition(loss: &ContrastiveLoss, offsets: &GraphOffsets, nodes: &[f32], graphs: &[f32], corrupted: &[f32]) -> f64 {
    let how = match loss {
        ContrastiveLoss::InfoNce(info) => info.similarity,
        ContrastiveLoss::JensenShannon(jensen) => jensen.similarity,
    };
    let row = |matrix: &'_ [f32], row: usize| matrix[row * WIDTH..(row + 1) * WIDTH].to_vec();
    let negatives = |graph: usize| -> Vec<f64> {
        let z = row(graphs, graph);
        let rows: Vec<usize> = match corrupted.is_empty() {
            true => (0..offsets.rows()).filter(|node| !offsets.range(graph).contains(node)).collect(),
            false => offsets.range(graph).collect(),
        };
        let source = if corrupted.is_empty() { nodes } else { corrupted };
        rows.into_iter().map(|node| similarity(how, &row(source, node), &z)).collect()
    };
    let positives = |graph: usize| -> Vec<f64> {
        offsets.range(graph).map(|node| similarity(how, &row(nodes, node), &row(graphs, graph))).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let graphs: Vec<usize> = (0..offsets.len()).collect();
    match loss {
        ContrastiveLoss::InfoNce(InfoNce { temperature, .. }) => {
            let of_graph = |&graph: &usize| {
                let sum: f64 = negatives(graph).iter().map(|value| (value / temperature).exp()).sum();
                let of_nodes: Vec<f64> =
                    positives(graph).iter().map(|value| ((value / temperature).exp() / sum).ln()).collect();
                mean(&of_nodes)
            };
            -mean(&graphs.iter().map(of_graph).collect::<Vec<_>>())
        }
        ContrastiveLoss::JensenShannon(_) => {
            let softplus = |value: f64| (1.0 + value.exp()).ln();
            let positives: Vec<f64> = graphs.iter().flat_map(|&graph| positives(graph)).collect();
            let negatives: Vec<f64> = graphs.iter().flat_map(|&graph| negatives(graph)).collect();
            let positive = positives.iter().map(|&value| 2f64.ln() - softplus(-value)).collect::<Vec<_>>();
            let negative = negatives.iter().map(|&value| softplus(-value) + value - 2f64.ln()).collect::<Vec<_>>();
            mean(&negative) - mean(&positive)
        }
    }
}

fn contrast(m: &[Tensor<2>], offsets: &GraphOffsets, corrupted: bool) -> LocalGlobal {
    let side = |nodes: usize, graphs: usize, negatives: usize| LocalGlobalSide {
        nodes: m[nodes].clone(),
        graphs: m[graphs].clone(),
        negatives: if corrupted { Negatives::Corrupted(m[negatives].clone()) } else { Negatives::InBatch },
    };
    LocalGlobal { sides: [side(0, 3, 4), side(1, 2, 5)], offsets: offsets.clone() }
}

fn losses() -> [ContrastiveLoss; 4] {
    [
        ContrastiveLoss::InfoNce(InfoNce::default()),
        ContrastiveLoss::InfoNce(InfoNce { similarity: Similarity::Dot, temperature: 0.4 }),
        ContrastiveLoss::JensenShannon(JensenShannon::default()),
        ContrastiveLoss::JensenShannon(JensenShannon { similarity: Similarity::Cosine }),
    ]
}

#[test]
fn losses_are_what_they_are_defined_to_be() {
    for contrastive in &losses() {
        for (offsets, corrupted) in [
            (GraphOffsets::single(20), true),
            (GraphOffsets::new(vec![0, 4, 13, 20]), true),
            (GraphOffsets::new(vec![0, 4, 13, 20]), false),
        ] {
            let graphs = offsets.len();
            let mut matrices =
                vec![matrix(20, WIDTH, 1), matrix(20, WIDTH, 2), matrix(graphs, WIDTH, 3), matrix(graphs, WIDTH, 4)];
            if corrupted {
                matrices.extend([matrix(20, WIDTH, 5), matrix(20, WIDTH, 6)]);
            }
            let loss = |m: &[Tensor<2>], _: &[Tensor<1>]| contrastive.loss(&contrast(m, &offsets, corrupted)).unwrap();
            let of = |place: usize| matrices.get(place).map(values).unwrap_or_default();
            let expected = definition(contrastive, &offsets, &of(0), &of(3), &of(4))
                + definition(contrastive, &offsets, &of(1), &of(2), &of(5));
            let found = f64::from(values(&loss(&matrices, &[]))[0]);
            assert!((found - expected).abs() < 1e-5, "{contrastive:?}: {found}, expected {expected}");
            assert_derivative(&loss, &matrices, &[], 3e-3, &format!("{contrastive:?}"));
        }
    }
}

/// Rows of one view that are to find themselves, one by one.
fn definition_of_pairs(loss: &ContrastiveLoss, views: [&[f32]; 2]) -> f64 {
    let row = |view: usize, row: usize| &views[view][row * WIDTH..(row + 1) * WIDTH];
    let rows = views[0].len() / WIDTH;
    let softplus = |value: f64| (1.0 + value.exp()).ln();
    let mut sum = 0.0;
    for (view, at) in (0..2).flat_map(|view| (0..rows).map(move |row| (view, row))) {
        let others = (0..rows).filter(|&other| other != at);
        match *loss {
            ContrastiveLoss::InfoNce(InfoNce { similarity: how, temperature }) => {
                let of = |view_of_other: usize, other: usize| {
                    (similarity(how, row(view, at), row(view_of_other, other)) / temperature).exp()
                };
                let own = of(1 - view, at);
                let among = own + others.map(|other| of(view, other) + of(1 - view, other)).sum::<f64>();
                sum -= (own / among).ln();
            }
            ContrastiveLoss::JensenShannon(JensenShannon { similarity: how }) => {
                let of = |other: usize| similarity(how, row(view, at), row(1 - view, other));
                let negative = others.map(|other| softplus(of(other))).sum::<f64>() / (rows - 1) as f64;
                sum += softplus(-of(at)) + negative - 2.0 * 2f64.ln();
            }
        }
    }
    sum / (2 * rows) as f64
}

#[test]
fn rows_that_find_themselves_do_so_as_defined() {
    let views = vec![matrix(9, WIDTH, 7), matrix(9, WIDTH, 8)];
    for contrastive in &losses() {
        let loss = |views: &[Tensor<2>], _: &[Tensor<1>]| {
            let pairs = PositivePairs::new([views[0].clone(), views[1].clone()]).unwrap();
            contrastive.loss_of_pairs(&pairs).unwrap()
        };
        let expected = definition_of_pairs(contrastive, [&values(&views[0]), &values(&views[1])]);
        let found = f64::from(values(&loss(&views, &[]))[0]);
        assert!((found - expected).abs() < 1e-5, "{contrastive:?}: {found}, expected {expected}");
        assert_derivative(&loss, &views, &[], 3e-3, &format!("pairs, {contrastive:?}"));
    }
    let error = PositivePairs::new([matrix(1, WIDTH, 1), matrix(1, WIDTH, 2)]).unwrap_err();
    assert_eq!(error.to_string(), "number of pairs in a step is 1; expected at least 2, to be told apart");
}

#[test]
fn what_cannot_be_contrasted_is_refused() {
    let matrices = [matrix(5, WIDTH, 1), matrix(5, WIDTH, 2), matrix(1, WIDTH, 3), matrix(1, WIDTH, 4)];
    let alone = contrast(&matrices, &GraphOffsets::single(5), false);
    let error = ContrastiveLoss::default().loss(&alone).unwrap_err();
    assert!(error.to_string().starts_with("number of graphs in a batch is 1; expected at least 2"), "{error}");
    let cold = InfoNce { temperature: 0.0, ..InfoNce::default() };
    assert_eq!(cold.loss(&alone).unwrap_err().to_string(), "temperature is 0; expected a positive number");
}
