//! Adam (Kingma and Ba) and AdamW, each parameter in one pass.

use std::collections::BTreeMap;

use burn::Tensor;
use burn::backend::Flex;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Gradients, TensorData};
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ops::kernel::vectorised;
use crate::ops::operation;
use crate::state_dict::{Names, StateDict};

/// Values one thread updates at a time.
const VALUES_AT_ONCE: usize = 1 << 14;

/// Settings of Adam and AdamW.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamSettings {
    /// Learning rate, β in the SPAN paper.
    pub learning_rate: f64,
    /// β₁, decay of the first moment.
    pub beta_1: f64,
    /// β₂, decay of the second moment.
    pub beta_2: f64,
    /// ε, added to the root of the second moment.
    pub epsilon: f64,
    /// Weight decay: L2, added to the gradient, in Adam; decoupled in AdamW.
    pub weight_decay: f64,
    /// Whether weight decay is decoupled from the gradient: AdamW (Loshchilov and Hutter).
    pub decoupled: bool,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings {
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            decoupled: false,
        }
    }
}

impl AdamSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("learning_rate", self.learning_rate), ("epsilon", self.epsilon)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::setting(name, value, "a positive number"));
            }
        }
        for (name, value) in [("beta_1", self.beta_1), ("beta_2", self.beta_2)] {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::setting(name, value, "a number from 0 to less than 1"));
            }
        }
        if !(self.weight_decay.is_finite() && self.weight_decay >= 0.0) {
            return Err(Error::setting("weight_decay", self.weight_decay, "a number that is not negative"));
        }
        Ok(())
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
        settings.check()?;
        Ok(Adam { settings, steps: 0, moments: BTreeMap::new() })
    }

    /// Changes the learning rate of the steps to come.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.settings.learning_rate = learning_rate;
    }

    /// Number of steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Moves every parameter of a model that has a gradient.
    pub fn step<M: Module>(&mut self, model: M, gradients: Gradients) -> M {
        self.step_selected(model, gradients, &Select::All, false)
    }

    /// Moves the selected parameters of a model that have a gradient: down, or up where the loss is to be made large.
    pub fn step_selected<M: Module>(&mut self, model: M, gradients: Gradients, select: &Select, maximize: bool) -> M {
        self.step_with_rates(model, gradients, select, maximize, &[])
    }

    /// The same, where some fields of the model have learning rates of their own.
    pub fn step_with_rates<M: Module>(
        &mut self,
        model: M,
        gradients: Gradients,
        select: &Select,
        maximize: bool,
        rates: &[(&'static str, f64)],
    ) -> M {
        self.steps += 1;
        let rule = self.rule(self.settings.learning_rate, maximize);
        let rules = rates.iter().map(|&(field, rate)| (field, self.rule(rate, maximize))).collect();
        model.map(&mut Step { rule, rules, names: Names::default(), moments: &mut self.moments, gradients, select })
    }

    /// What this step does to values that learn at a rate.
    fn rule(&self, learning_rate: f64, maximize: bool) -> Rule {
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let AdamSettings { beta_1, beta_2, epsilon, weight_decay, decoupled, .. } = self.settings;
        // Moments start from zero; dividing by what is missing of them makes up for it.
        let found_1 = 1.0 - beta_1.powi(steps);
        let found_2 = 1.0 - beta_2.powi(steps);
        Rule {
            beta_1: beta_1 as f32,
            beta_2: beta_2 as f32,
            sign: if maximize { -1.0 } else { 1.0 },
            weight_decay: if decoupled { 0.0 } else { weight_decay as f32 },
            kept: if decoupled { (1.0 - learning_rate * weight_decay) as f32 } else { 1.0 },
            rate: (learning_rate / found_1) as f32,
            root: (1.0 / found_2.sqrt()) as f32,
            epsilon: epsilon as f32,
        }
    }

    /// What it remembers, to be saved beside the model's weights.
    pub fn to_state_dict(&self) -> StateDict {
        let mut weights = StateDict::default();
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
    pub fn from_state_dict(settings: AdamSettings, weights: &StateDict, device: &burn::tensor::Device) -> Result<Adam> {
        let mut adam = Adam::new(settings)?;
        let foreign = |name: &str, found: String, expected: &str| Error::StateDict {
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
            if first.dims() != second.dims() {
                return Err(foreign(name, "moments of two sizes".into(), "moments of one size"));
            }
            adam.moments.insert(name.into(), Moments { first, second });
        }
        Ok(adam)
    }
}

impl Adam {
    /// Refuses memories that are not of these weights.
    pub(crate) fn check(&self, weights: &StateDict) -> Result<()> {
        for (name, moments) in &self.moments {
            let found = moments.first.dims()[0];
            let expected = weights.iter().find(|(other, _, _)| other == name).map(|(_, _, values)| values.len());
            if expected != Some(found) {
                let expected =
                    expected.map_or("nothing".to_owned(), |expected| format!("moments of {expected} values"));
                let found = format!("moments of {found} values");
                return Err(Error::StateDict { name: name.clone(), found, expected });
            }
        }
        Ok(())
    }
}

/// Which parameters of a model a phase of training moves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// Those of the model's fields with these names.
    Fields(&'static [&'static str]),
}

impl Select {
    /// Whether the parameter of a name, such as `encoder.layers.0.weight`, is among them.
    pub fn holds(&self, name: &str) -> bool {
        match self {
            Select::All => true,
            Select::Fields(fields) => fields.contains(&name.split('.').next().unwrap_or_default()),
        }
    }
}

/// What one step does to a value.
#[derive(Debug, Clone, Copy)]
struct Rule {
    beta_1: f32,
    beta_2: f32,
    /// Minus one where the loss is to be made large.
    sign: f32,
    weight_decay: f32,
    /// What decoupled weight decay leaves of a weight.
    kept: f32,
    rate: f32,
    root: f32,
    epsilon: f32,
}

struct Step<'a> {
    rule: Rule,
    /// Those of fields with learning rates of their own.
    rules: Vec<(&'static str, Rule)>,
    names: Names,
    moments: &'a mut BTreeMap<String, Moments>,
    gradients: Gradients,
    select: &'a Select,
}

impl ModuleMapper for Step<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.names.here();
        if !self.select.holds(&name) {
            return param;
        }
        let (id, tensor, mapper) = param.consume();
        let Some(gradient) = tensor.grad_remove(&mut self.gradients) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let count = tensor.shape().num_elements();
        let moments = self.moments.remove(&name).filter(|moments| moments.first.dims()[0] == count);
        let zeros = || Tensor::<1>::zeros([count], &gradient.device());
        let moments = moments.unwrap_or_else(|| Moments { first: zeros(), second: zeros() });
        let field = name.split('.').next().unwrap_or_default();
        let rule = self.rules.iter().find(|(own, _)| *own == field).map_or(&self.rule, |(_, rule)| rule);
        let (moved, moments) = rule.apply(tensor.inner(), gradient, moments);
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
        let gradient = gradient.reshape([-1]) * self.sign + weight.clone() * self.weight_decay;
        let first = moments.first * self.beta_1 + gradient.clone() * (1.0 - self.beta_1);
        let second = moments.second * self.beta_2 + gradient.square() * (1.0 - self.beta_2);
        let moved = weight * self.kept - first.clone() * self.rate / (second.clone().sqrt() * self.root + self.epsilon);
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
            let gradient = self.sign * gradient + self.weight_decay * *weight;
            *first = self.beta_1 * *first + (1.0 - self.beta_1) * gradient;
            *second = self.beta_2 * *second + (1.0 - self.beta_2) * gradient * gradient;
            *weight = self.kept * *weight - self.rate * *first / (second.sqrt() * self.root + self.epsilon);
        }
    }
}
