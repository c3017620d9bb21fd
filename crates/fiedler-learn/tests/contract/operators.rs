//! What MVGRL needs: several ways to weigh messages, and several views of an embedding, a diffusion among them, also when an encoder
//! is applied later.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_augment::scheme::DiffusionSettings;
use fiedler_graph::Graph;
use fiedler_learn::data::{Data, FeatureSettings};
use fiedler_learn::layer::Linear;
use fiedler_learn::method::{AnyMethod, Loss, Method, MethodInfo, Requirements, Step};
use fiedler_learn::ops::{self, ActivationOp};
use fiedler_learn::run::Run;
use fiedler_learn::{Error, Initializer, Normalization, Operator, Result, Sample, SavedEncoder, Task, TaskLevel};
use serde::{Deserialize, Serialize};

use crate::common::{self, Kept, assert_close, matmul, product, wide};

const WIDTH: usize = 3;
const COLUMNS: usize = 4;
const TELEPORT: f64 = 0.2;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Several {}

#[derive(Module, Debug)]
struct SeveralModel {
    linear: Linear,
}

fn propagated(model: &SeveralModel, sample: &Sample, normalization: Normalization) -> Result<Tensor<2>> {
    let hidden = model.linear.forward(sample.features.to_dense());
    Ok(ops::propagate(sample.graph(normalization)?.operator(), hidden, None, &ActivationOp::Identity))
}

impl Method for Several {
    const INFO: MethodInfo = MethodInfo { name: "several", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = SeveralModel;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(true, &[Normalization::Symmetric, Normalization::RowMean]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::Diffuse(DiffusionSettings::default())]
    }

    fn embedding_views(&self, _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::Identity, Pipeline::Diffuse(DiffusionSettings::default())]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SeveralModel> {
        Ok(SeveralModel { linear: Linear::new(task.dims.nodes, WIDTH, initializer) })
    }

    fn loss(&self, model: &SeveralModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let clean = step.clean()?;
        match clean.graph(Normalization::None) {
            Err(Error::Setting { name, .. }) => assert_eq!(name, "normalization"),
            other => panic!("{other:?}"),
        }
        let [one, two] = [Normalization::Symmetric, Normalization::RowMean].map(|how| propagated(model, clean, how));
        let diffused = propagated(model, &step.views[0], Normalization::Symmetric)?;
        Ok(((one? - two?).square() + diffused.square()).mean().into())
    }

    fn embed(&self, model: &SeveralModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let [clean, diffused] = step.views else { panic!("{} views", step.views.len()) };
        let parts = [
            propagated(model, clean, Normalization::Symmetric)?,
            propagated(model, clean, Normalization::RowMean)?,
            propagated(model, diffused, Normalization::Symmetric)?,
        ];
        Ok(Tensor::cat(parts.to_vec(), 1))
    }
}

/// Personalized PageRank, `α Σ (1 - α)ᵏ Âᵏ`, applied to a matrix.
fn diffused(graph: &Graph, dense: &[f64]) -> Vec<f64> {
    let operator = Operator::new(graph, Normalization::Symmetric);
    let mut term: Vec<f64> = dense.to_vec();
    let mut sum = vec![0.0; dense.len()];
    for _ in 0..400 {
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += TELEPORT * term);
        term = product(&operator, &term, WIDTH).into_iter().map(|value| (1.0 - TELEPORT) * value).collect();
    }
    sum
}

fn expected(kept: &Kept, dataset: &fiedler_graph::Dataset) -> Vec<f64> {
    let graph = dataset.graph().unwrap();
    let features = wide(dataset.features.as_ref().unwrap().to_dense().values());
    let bias = kept.tensor("linear.bias");
    let mut hidden = matmul(&features, &wide(&kept.tensor("linear.weight")), COLUMNS, WIDTH);
    hidden.iter_mut().enumerate().for_each(|(at, value)| *value += f64::from(bias[at % WIDTH]));
    let symmetric = product(&Operator::new(graph, Normalization::Symmetric), &hidden, WIDTH);
    // The mean over neighbors, by the lists of neighbors.
    let mean: Vec<f64> = (0..graph.num_nodes() as u32)
        .flat_map(|node| {
            let neighbors = graph.neighbors(node);
            let sum = |at: usize| neighbors.iter().map(|&other| hidden[other as usize * WIDTH + at]).sum::<f64>();
            (0..WIDTH).map(|at| sum(at) / neighbors.len().max(1) as f64).collect::<Vec<f64>>()
        })
        .collect();
    let parts = [symmetric, mean, diffused(graph, &hidden)];
    let rows =
        (0..graph.num_nodes()).flat_map(|node| parts.iter().map(move |part| &part[node * WIDTH..(node + 1) * WIDTH]));
    rows.flatten().copied().collect()
}

#[test]
fn two_operators_and_a_diffusion_are_trained_embedded_and_applied_to_other_graphs() {
    let dataset = common::graph(25, COLUMNS);
    let settings = common::settings(common::training(3));
    let run = Run::new(&settings, &dataset);
    let (embeddings, history) = run.fit_method(&Several::default()).unwrap();
    let result = common::fit_whole(&Several::default(), &run);
    assert_eq!((&embeddings, &history.losses), (&result.embeddings, &result.history.losses));
    assert_eq!(history.losses.len(), 3);
    let kept = Kept::of(&result);
    assert_close(embeddings.values(), &expected(&kept, &dataset), 1e-4, "embedding");

    let bytes = result.encoder.to_bytes().unwrap();
    let saved = SavedEncoder::from_bytes(&bytes).unwrap();
    let features = FeatureSettings::default();
    let again = AnyMethod::apply(&Several::default(), &saved, &Data::new(&dataset, &features).unwrap()).unwrap();
    assert_eq!(again, embeddings);
    let unseen = common::graph(40, COLUMNS);
    let of_unseen = AnyMethod::apply(&Several::default(), &saved, &Data::new(&unseen, &features).unwrap()).unwrap();
    assert_close(of_unseen.values(), &expected(&kept, &unseen), 1e-4, "embedding of an unseen graph");
}
