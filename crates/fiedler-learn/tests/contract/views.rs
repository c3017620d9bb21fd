//! What GraphMAE and DGI need: rows that are hidden in a view with the target beside it, and training without any view.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_augment::mask::MaskNodes;
use fiedler_learn::layer::Linear;
use fiedler_learn::method::{Dgi, Loss, Method, MethodInfo, Requirements, Step};
use fiedler_learn::run::{Run, Settings};
use fiedler_learn::{Error, Initializer, Normalization, Result, Task, TaskLevel};
use serde::{Deserialize, Serialize};

use crate::common::{self, Kept, assert_resumes, values};

const COLUMNS: usize = 4;

static LOOKED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Masked {}

#[derive(Module, Debug)]
struct MaskedModel {
    decoder: Linear,
}

impl Method for Masked {
    const INFO: MethodInfo =
        MethodInfo { name: "masked", about: "", citation: "", levels: &[TaskLevel::Nodes, TaskLevel::Graphs] };
    type Model = MaskedModel;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(true, &[Normalization::Symmetric]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::MaskNodes(MaskNodes { rate: 0.5, ..MaskNodes::default() }), Pipeline::Identity]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<MaskedModel> {
        Ok(MaskedModel { decoder: Linear::new(task.dims.nodes, task.dims.nodes, initializer) })
    }

    fn loss(&self, model: &MaskedModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        LOOKED.fetch_add(1, Ordering::Relaxed);
        let (clean, view) = (step.clean()?, &step.views[0]);
        let masked = view.masked_nodes.as_ref().expect("the nodes whose features are hidden");
        assert!(clean.masked_nodes.is_none() && step.views[1].masked_nodes.is_none());
        let rows = |sample: &fiedler_learn::Sample| -> Vec<Vec<f32>> {
            values(&sample.features.to_dense()).chunks(COLUMNS).map(<[f32]>::to_vec).collect()
        };
        let (seen, whole) = (rows(view), rows(clean));
        assert_eq!(whole, rows(&step.views[1]));
        assert_eq!((masked.len(), seen.len()), (clean.num_nodes(), clean.num_nodes()));
        for (node, &hidden) in masked.iter().enumerate() {
            assert!(whole[node].iter().all(|&value| value != 0.0), "the target is hidden as well");
            assert_eq!(seen[node], if hidden { vec![0.0; COLUMNS] } else { whole[node].clone() });
        }
        for graph in 0..clean.num_graphs() {
            let range = clean.offsets.range(graph);
            let hidden = range.clone().filter(|&node| masked[node]).count();
            assert!(hidden > 0 && hidden < range.len(), "{hidden} of {}", range.len());
        }
        let (input, target) = (view.features.to_dense(), clean.features.to_dense());
        Ok((model.decoder.forward(input) - target).square().mean().into())
    }

    fn embed(&self, model: &MaskedModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let nodes = model.decoder.forward(step.views[0].features.to_dense());
        Ok(match step.task.level {
            TaskLevel::Nodes => nodes,
            TaskLevel::Graphs => {
                fiedler_learn::ops::pool(nodes, &step.views[0].offsets, fiedler_learn::ops::Pooling::Mean)
            }
        })
    }
}

#[test]
fn hidden_nodes_are_known_and_their_target_is_not_hidden() {
    let mut training = common::training(3);
    training.batch_size = 4;
    let settings = common::settings(training);
    for (dataset, steps) in [(common::graph(30, COLUMNS), 3), (common::rings(10, COLUMNS), 9)] {
        LOOKED.store(0, Ordering::Relaxed);
        common::fit_whole(&Masked::default(), &Run::new(&settings, &dataset));
        assert_eq!(LOOKED.load(Ordering::Relaxed), steps);
    }
}

/// A method that asks for nothing: neither views nor clean graphs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Blind {}

impl Method for Blind {
    const INFO: MethodInfo = MethodInfo { name: "blind", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = MaskedModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        assert_eq!(task.num_views, 0);
        Ok(common::requirements(false, &[]))
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<MaskedModel> {
        Masked::default().build(task, initializer)
    }

    fn loss(&self, model: &MaskedModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        assert!(step.views.is_empty());
        match step.clean() {
            Err(Error::Setting { name, .. }) => assert_eq!(name, "clean graphs"),
            other => panic!("{other:?}"),
        }
        Ok(model.decoder.weight.val().square().sum().into())
    }

    fn embed(&self, model: &MaskedModel, step: &Step<'_>) -> Result<Tensor<2>> {
        Masked::default().embed(model, step)
    }
}

#[test]
fn a_method_without_views_is_trained() {
    let dataset = common::graph(30, COLUMNS);
    let settings = common::settings(common::training(4));
    let result = assert_resumes(&Blind::default(), &Run::new(&settings, &dataset), 1);
    assert_eq!(result.history.losses.len(), 4);
    assert!(result.history.losses.is_sorted_by(|a, b| a > b), "{:?}", result.history.losses);

    let dgi = |epochs| Settings { method: Dgi::default().into(), ..common::settings(common::training(epochs)) };
    let trained = Run::new(&dgi(4), &dataset).fit().unwrap();
    let untrained = Run::new(&dgi(0), &dataset).fit().unwrap();
    assert_eq!((trained.history.losses.len(), untrained.history.losses.len()), (4, 0));
    let (before, after) = (Kept::of(&untrained), Kept::of(&trained));
    for name in after.names() {
        assert_ne!(before.tensor(name), after.tensor(name), "{name} was not trained");
    }
}
