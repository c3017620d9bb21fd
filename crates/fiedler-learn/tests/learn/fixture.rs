//! What the files of `tests/fixtures` hold, and gradients by the names that weights have there.

use std::collections::BTreeMap;

use burn::Tensor;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Gradients, TensorData};
use fiedler_graph::{Dataset, Dense, Features, Graph, NoObserver, Sparse};
use fiedler_learn::data::{Data, FeatureSettings};
use fiedler_learn::method::{FitData, Phase, Step};
use fiedler_learn::pass::Pass;
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::Clock;
use fiedler_learn::{FeatureMatrix, Normalization, Sample, Task, TaskLevel};
use serde::Deserialize;

use crate::common;

/// A tensor.
#[derive(Deserialize)]
pub struct Held {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

impl Held {
    pub fn tensor(&self) -> Tensor<2> {
        let data = TensorData::new(self.values.clone(), [self.shape[0], self.shape[1]]);
        Tensor::from_data(data, &common::device()).require_grad()
    }

    pub fn features(&self) -> FeatureMatrix {
        let dense = Dense::new(self.shape[0], self.shape[1], self.values.clone()).unwrap();
        FeatureMatrix::new(&Features::Dense(dense), &common::device())
    }
}

/// Weights by name.
pub fn weights(held: &BTreeMap<String, Held>) -> StateDict {
    let mut weights = StateDict::default();
    for (name, held) in held {
        weights.insert(name, held.shape.clone(), held.values.clone()).unwrap();
    }
    weights
}

/// What there is to learn from one graph.
pub fn task(nodes: usize, columns: usize, num_views: usize) -> Task {
    Task {
        level: TaskLevel::Nodes,
        dims: fiedler_learn::encoder::InputDims { nodes: columns, edges: None },
        num_nodes: nodes,
        num_graphs: 1,
        batch_graphs: 1,
        num_views,
        target: None,
    }
}

/// A graph with the features of a table, but for the columns that are left out.
pub fn sample(pairs: &[(u32, u32)], features: &Held, kept: Option<&[bool]>, operators: &[Normalization]) -> Sample {
    let (nodes, columns) = (features.shape[0], features.shape[1]);
    let mut dataset = Dataset::single("fixture", Graph::from_pairs(nodes, pairs.to_vec()).unwrap().0);
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in features.values.chunks_exact(columns) {
        let is_kept = |column: &usize| row[*column] != 0.0 && kept.is_none_or(|kept| kept[*column]);
        indices.extend((0..columns).filter(is_kept).map(|column| column as u32));
        values.extend((0..columns).filter(is_kept).map(|column| row[column]));
        indptr.push(indices.len());
    }
    dataset.features = Some(Features::Sparse(Sparse::new(columns, indptr, indices, values).unwrap()));
    let data = Data::new(&dataset, &FeatureSettings::default()).unwrap();
    let (task, device) = (task(nodes, columns, 2), common::device());
    FitData { task: &task, data: &data, seed: SEED, device: &device, step_nodes: task.num_nodes, observer: &NoObserver }
        .sample(operators)
        .unwrap()
}

/// Seed of what a step draws.
pub const SEED: u64 = 5;

/// A first step in which nothing is dropped.
pub fn step<'a>(task: &'a Task, phase: &'a Phase, clean: Option<&'a Sample>, views: &'a [Sample]) -> Step<'a> {
    let clock = Clock { epochs: 1, steps_per_epoch: 1, total_steps: 1, ..Clock::default() };
    let (pass, observer) = (Pass::eval(), &fiedler_graph::NoObserver);
    Step { task, clean, views, labels: None, rows: None, phase, clock, seed: SEED, pass, observer }
}

/// The gradients of a model's weights by name.
pub fn gradients_of(model: &impl Module, gradients: &Gradients) -> BTreeMap<String, Vec<f32>> {
    struct OfWeights<'a> {
        names: Vec<String>,
        gradients: &'a Gradients,
        found: BTreeMap<String, Vec<f32>>,
    }

    impl ModuleVisitor for OfWeights<'_> {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.names.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.names.pop();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = param.val().grad(self.gradients) {
                self.found.insert(self.names.join("."), common::values(&gradient));
            }
        }
    }

    let mut visitor = OfWeights { names: Vec::new(), gradients, found: BTreeMap::new() };
    model.visit(&mut visitor);
    visitor.found
}
