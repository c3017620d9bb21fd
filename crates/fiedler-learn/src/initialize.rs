//! First values of weights, from a stream of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::Tensor;
use burn::module::Param;
use burn::tensor::{Device, TensorData};
use fiedler_graph::random::stream;
use rand::RngExt;

/// Draws the first values of a model's weights: the same seed gives the same weights.
#[derive(Debug, Clone)]
pub struct Initializer {
    seed: u64,
    drawn: u64,
    device: Device,
    /// Values that may still be made, where there is a limit.
    left: Option<Arc<AtomicUsize>>,
}

impl Initializer {
    /// StateDict for a seed, on a device; the device should record gradients (`device.autodiff()`) if the model is to be trained.
    pub fn new(seed: u64, device: &Device) -> Initializer {
        Initializer { seed, drawn: 0, device: device.clone(), left: None }
    }

    /// Weights that will be replaced by others, of which there are so many: of a model that is larger, only the first ones are made.
    pub(crate) fn limited(values: usize, device: &Device) -> Initializer {
        Initializer { left: Some(Arc::new(AtomicUsize::new(values + 1))), ..Initializer::new(0, device) }
    }

    /// Whether more weights were asked for than the limit allows.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }

    /// Where weights are made.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The shape, or an empty one where the limit is reached.
    fn allowed<const D: usize>(&self, shape: [usize; D]) -> [usize; D] {
        let Some(left) = &self.left else { return shape };
        let count = shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size)).unwrap_or(usize::MAX);
        let before = left.load(Ordering::Relaxed);
        // One more than there are values: zero says that the limit was passed.
        let after = before.saturating_sub(count);
        left.store(after, Ordering::Relaxed);
        if after == 0 { [0; D] } else { shape }
    }

    /// Numbers evenly spread over `±sqrt(6 / (rows + columns))`: Glorot's choice.
    pub fn glorot(&mut self, rows: usize, columns: usize) -> Param<Tensor<2>> {
        let bound = (6.0 / (rows + columns) as f32).sqrt();
        self.uniform([rows, columns], bound)
    }

    /// Numbers evenly spread over `±1 / sqrt(inputs)`: usual for dense layers and their biases.
    pub fn by_inputs<const D: usize>(&mut self, shape: [usize; D], inputs: usize) -> Param<Tensor<D>> {
        self.uniform(shape, 1.0 / (inputs.max(1) as f32).sqrt())
    }

    /// Numbers evenly spread over `±sqrt(6 / (rows · columns + columns))`: what PyTorch makes of Glorot's choice for a bilinear form, which
    /// it holds as a table of one matrix.
    pub fn bilinear(&mut self, rows: usize, columns: usize) -> Param<Tensor<2>> {
        let bound = (6.0 / ((rows + 1) * columns).max(1) as f32).sqrt();
        self.uniform([rows, columns], bound)
    }

    /// The same number everywhere.
    pub fn constant<const D: usize>(&self, shape: [usize; D], value: f32) -> Param<Tensor<D>> {
        let shape = self.allowed(shape);
        Param::from_data(TensorData::new(vec![value; shape.iter().product()], shape), &self.device)
    }

    /// The numbers given.
    pub(crate) fn vector(&self, values: Vec<f32>) -> Param<Tensor<1>> {
        let [count] = self.allowed([values.len()]);
        Param::from_data(TensorData::new(values[..count].to_vec(), [count]), &self.device)
    }

    fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f32) -> Param<Tensor<D>> {
        let mut random = stream(self.seed, "weights", self.drawn);
        self.drawn += 1;
        let shape = self.allowed(shape);
        let count: usize = shape.iter().product();
        let values = (0..count).map(|_| (random.random::<f32>() * 2.0 - 1.0) * bound).collect::<Vec<f32>>();
        Param::from_data(TensorData::new(values, shape), &self.device)
    }
}
