//! Adam (Kingma and Ba), each parameter in one pass.

use std::collections::BTreeMap;

use burn::Tensor;
use burn::backend::Flex;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Gradients, TensorData};
use pulp::Arch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ops::kernel::vectorised;
use crate::ops::operation;
use crate::weights::{Names, Weights};

/// Values one thread updates at a time.
const VALUES_AT_ONCE: usize = 1 << 14;

/// How fast and in which way weights move.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdamSettings {
    /// Length of a step: β in the paper.
    pub learning_rate: f64,
    /// Share of the past in the mean of gradients.
    pub beta_1: f64,
    /// Share of the past in the mean of squared gradients.
    pub beta_2: f64,
    /// What is added to the root of the mean of squared gradients.
    pub epsilon: f64,
    /// Multiple of each weight that is added to its gradient.
    pub weight_decay: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { learning_rate: 1e-3, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// Adam with what it remembers of past gradients, by the names of the parameters.
#[derive(Debug, Clone)]
pub struct Adam {
    settings: AdamSettings,
    steps: u64,
    moments: BTreeMap<String, Moments>,
}

#[derive(Debug, Clone)]
struct Moments {
    /// Mean of gradients.
    first: Tensor<1>,
    /// Mean of squared gradients.
    second: Tensor<1>,
}

impl Adam {
    /// An optimizer that has seen nothing yet.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: AdamSettings) -> Result<Adam> {
        let AdamSettings { learning_rate, beta_1, beta_2, epsilon, weight_decay } = settings;
        for (name, value) in [("learning-rate", learning_rate), ("epsilon", epsilon)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::setting(name, value, "a positive number"));
            }
        }
        for (name, value) in [("beta-1", beta_1), ("beta-2", beta_2)] {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::setting(name, value, "a number from 0 to less than 1"));
            }
        }
        if !(weight_decay.is_finite() && weight_decay >= 0.0) {
            return Err(Error::setting("weight-decay", weight_decay, "a number that is not negative"));
        }
        Ok(Adam { settings, steps: 0, moments: BTreeMap::new() })
    }

    /// Changes the length of the steps to come.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.settings.learning_rate = learning_rate;
    }

    /// Number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves every parameter of a model that has a gradient.
    pub fn step<M: Module>(&mut self, model: M, gradients: Gradients) -> M {
        self.steps += 1;
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let AdamSettings { learning_rate, beta_1, beta_2, epsilon, weight_decay } = self.settings;
        // Moments start from zero; dividing by what is missing of them makes up for it.
        let found_1 = 1.0 - beta_1.powi(steps);
        let found_2 = 1.0 - beta_2.powi(steps);
        let rule = Rule {
            beta_1: beta_1 as f32,
            beta_2: beta_2 as f32,
            weight_decay: weight_decay as f32,
            rate: (learning_rate / found_1) as f32,
            root: (1.0 / found_2.sqrt()) as f32,
            epsilon: epsilon as f32,
        };
        model.map(&mut Step { rule, names: Names::default(), moments: &mut self.moments, gradients })
    }

    /// What it remembers, to be saved beside the model's weights.
    pub fn to_weights(&self) -> Weights {
        let mut weights = Weights::default();
        weights.note = Some(self.steps.to_string());
        for (name, moments) in &self.moments {
            for (moment, values) in [("first", &moments.first), ("second", &moments.second)] {
                let values: Vec<f32> = values.to_data().try_to_vec().unwrap_or_default();
                let shape = vec![values.len()];
                weights.insert(format!("{name}.{moment}"), shape, values).unwrap_or_default();
            }
        }
        weights
    }

    /// An optimizer that goes on from what another remembered.
    ///
    /// # Errors
    /// When a setting is out of its range, or these are not the memories of an optimizer.
    pub fn from_weights(settings: AdamSettings, weights: &Weights, device: &burn::tensor::Device) -> Result<Adam> {
        let mut adam = Adam::new(settings)?;
        let foreign = |name: &str, found: String, expected: &str| Error::Weights {
            name: name.into(),
            found,
            expected: expected.into(),
        };
        let note = weights.note.clone().unwrap_or_default();
        adam.steps = note.parse().map_err(|_| foreign("the number of steps", format!("{note:?}"), "a number"))?;
        let device = device.clone().inner();
        let tensor = |values: &[f32]| Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &device);
        let mut halves: BTreeMap<&str, [Option<Tensor<1>>; 2]> = BTreeMap::new();
        for (name, _, values) in weights.iter() {
            let (parameter, moment) = name.rsplit_once('.').unwrap_or((name, ""));
            let half = match moment {
                "first" => 0,
                "second" => 1,
                _ => return Err(foreign(name, "a tensor".into(), "only first and second moments")),
            };
            halves.entry(parameter).or_default()[half] = Some(tensor(values));
        }
        for (name, halves) in halves {
            let [Some(first), Some(second)] = halves else {
                return Err(foreign(name, "one moment".into(), "a first and a second moment"));
            };
            adam.moments.insert(name.into(), Moments { first, second });
        }
        Ok(adam)
    }
}

/// What one step does to a value.
#[derive(Debug, Clone, Copy)]
struct Rule {
    beta_1: f32,
    beta_2: f32,
    weight_decay: f32,
    rate: f32,
    root: f32,
    epsilon: f32,
}

struct Step<'a> {
    rule: Rule,
    names: Names,
    moments: &'a mut BTreeMap<String, Moments>,
    gradients: Gradients,
}

impl ModuleMapper for Step<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let Some(gradient) = tensor.grad_remove(&mut self.gradients) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let name = self.names.here();
        let count = tensor.shape().num_elements();
        let moments = self.moments.remove(&name).filter(|moments| moments.first.dims()[0] == count);
        let zeros = || Tensor::<1>::zeros([count], &gradient.device());
        let moments = moments.unwrap_or_else(|| Moments { first: zeros(), second: zeros() });
        let (moved, moments) = self.rule.apply(tensor.inner(), gradient, moments);
        self.moments.insert(name, moments);
        Param::from_mapped_value(id, Tensor::from_inner(moved).require_grad(), mapper)
    }
}

impl Rule {
    fn apply<const D: usize>(&self, weight: Tensor<D>, gradient: Tensor<D>, moments: Moments) -> (Tensor<D>, Moments) {
        if operation::is_on_cpu(&weight) {
            self.apply_on_cpu(weight, gradient, moments)
        } else {
            self.apply_plainly(weight, gradient, moments)
        }
    }

    fn apply_plainly<const D: usize>(
        &self,
        weight: Tensor<D>,
        gradient: Tensor<D>,
        moments: Moments,
    ) -> (Tensor<D>, Moments) {
        let shape = weight.shape();
        let weight: Tensor<1> = weight.reshape([-1]);
        let gradient = gradient.reshape([-1]) + weight.clone() * self.weight_decay;
        let first = moments.first * self.beta_1 + gradient.clone() * (1.0 - self.beta_1);
        let second = moments.second * self.beta_2 + gradient.square() * (1.0 - self.beta_2);
        let moved = weight - first.clone() * self.rate / (second.clone().sqrt() * self.root + self.epsilon);
        (moved.reshape(shape), Moments { first, second })
    }

    fn apply_on_cpu<const D: usize>(
        &self,
        weight: Tensor<D>,
        gradient: Tensor<D>,
        moments: Moments,
    ) -> (Tensor<D>, Moments) {
        let mut weight = operation::to_cpu(weight);
        let gradient = operation::to_cpu(gradient);
        let (mut first, mut second) = (operation::to_cpu(moments.first), operation::to_cpu(moments.second));
        let arch = Arch::new();
        weight
            .storage_mut::<f32>()
            .par_chunks_mut(VALUES_AT_ONCE)
            .zip(gradient.storage::<f32>().par_chunks(VALUES_AT_ONCE))
            .zip(first.storage_mut::<f32>().par_chunks_mut(VALUES_AT_ONCE))
            .zip(second.storage_mut::<f32>().par_chunks_mut(VALUES_AT_ONCE))
            .for_each(|(((weights, gradients), firsts), seconds)| {
                vectorised(
                    arch,
                    #[inline(always)]
                    || self.apply_to_slices(weights, gradients, firsts, seconds),
                );
            });
        let first = Tensor::from_primitive::<Flex>(first);
        let second = Tensor::from_primitive::<Flex>(second);
        (Tensor::from_primitive::<Flex>(weight), Moments { first, second })
    }

    #[inline(always)]
    fn apply_to_slices(&self, weights: &mut [f32], gradients: &[f32], firsts: &mut [f32], seconds: &mut [f32]) {
        let values = weights.iter_mut().zip(gradients).zip(firsts.iter_mut().zip(seconds));
        for ((weight, gradient), (first, second)) in values {
            let gradient = gradient + self.weight_decay * *weight;
            *first = self.beta_1 * *first + (1.0 - self.beta_1) * gradient;
            *second = self.beta_2 * *second + (1.0 - self.beta_2) * gradient * gradient;
            *weight -= self.rate * *first / (second.sqrt() * self.root + self.epsilon);
        }
    }
}
