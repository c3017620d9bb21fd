//! A copy of a model with noise in its weights: the second view of SimGRACE.

use burn::Tensor;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::TensorData;
use fiedler_graph::random::stream;
use rand::RngExt;

use crate::ema::deep_copy;
use crate::state_dict::Names;

/// A copy of a model that shares nothing with it and asks for no gradient: every tensor of weights has normal noise added whose deviation
/// is `scale` times that of the tensor's own values. A tensor of one value has no deviation and stays as it is, and so do buffers (fields
/// whose names begin with `running_`). The same seed and index give the same noise.
pub fn perturbed_copy<M: Module>(model: &M, scale: f64, seed: u64, index: u64) -> M {
    deep_copy(model).map(&mut AddNoise { names: Names::default(), scale, seed, index, tensors: 0 }).no_grad()
}

struct AddNoise {
    names: Names,
    scale: f64,
    seed: u64,
    index: u64,
    /// Tensors so far.
    tensors: u64,
}

impl AddNoise {
    fn add_to(&mut self, values: &mut [f32]) {
        let mut random = stream(self.seed, &format!("noise of weights {}", self.tensors), self.index);
        self.tensors += 1;
        if values.len() < 2 {
            return;
        }
        let count = values.len() as f64;
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum();
        let deviation = self.scale * (squares / (count - 1.0)).sqrt();
        for value in values {
            // Box and Muller: two uniform numbers make a normal one.
            let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
            let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
            *value = (f64::from(*value) + deviation * normal) as f32;
        }
    }
}

impl ModuleMapper for AddNoise {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.names.here();
        if name.rsplit('.').next().is_some_and(|field| field.starts_with("running_")) {
            return param;
        }
        param.map(|old| {
            let (shape, device) = (old.shape(), old.device());
            let mut values: Vec<f32> = old.into_data().iter::<f32>().collect();
            self.add_to(&mut values);
            Tensor::from_data(TensorData::new(values, shape), &device)
        })
    }
}
