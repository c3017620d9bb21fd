//! Copies of models: deep ones, and moving averages.

use std::collections::BTreeMap;

use burn::Tensor;
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};

use crate::error::{Error, Result};
use crate::state_dict::Names;
use crate::trainer::Clock;

/// A copy of a model that shares nothing that training changes: `clone()` shares the running statistics of batch normalizations, so
/// that training the copy would change the original.
pub fn deep_copy<M: Module>(model: &M) -> M {
    model.valid().train()
}

/// Exponential moving average: every weight of `target` becomes `momentum · target + (1 - momentum) · online`.
///
/// Buffers (fields whose names begin with `running_`) stay those of the target. The result does not ask for gradients if the target does
/// not.
pub fn ema<M: Module>(target: M, online: &M, momentum: f64) -> M {
    let mut weights = Collect::default();
    online.visit(&mut weights);
    target.map(&mut Average { names: Names::default(), online: weights.tensors, momentum: momentum as f32 })
}

/// Momentum that rises from a first value to 1 along half a cosine, as BGRL's: `1 - (1 - first) (1 + cos(π t / T)) / 2` in step `t` of `T`.
///
/// ```
/// use fiedler_learn::{cosine_momentum, trainer::Clock};
/// let at = |step| cosine_momentum(0.99, &Clock { step, total_steps: 1000, ..Clock::default() });
/// assert_eq!((at(0), at(1000)), (0.99, 1.0));
/// assert!((at(500) - 0.995).abs() < 1e-12);
/// ```
pub fn cosine_momentum(first: f64, clock: &Clock) -> f64 {
    1.0 - (1.0 - first) * (1.0 + (std::f64::consts::PI * clock.progress()).cos()) / 2.0
}

/// Refuses a momentum that would lead a target away from what it follows.
pub(crate) fn check_momentum(momentum: f64) -> Result<()> {
    if (0.0..=1.0).contains(&momentum) {
        return Ok(());
    }
    Err(Error::setting("momentum", momentum, "a number from 0 to 1"))
}

#[derive(Default)]
struct Collect {
    names: Names,
    /// Flat, because tensors of different ranks have different types.
    tensors: BTreeMap<String, Tensor<1>>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.tensors.insert(self.names.here(), param.val().inner().reshape([-1]));
    }
}

struct Average {
    names: Names,
    online: BTreeMap<String, Tensor<1>>,
    momentum: f32,
}

impl ModuleMapper for Average {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.exit();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.names.here();
        let is_buffer = name.rsplit('.').next().is_some_and(|field| field.starts_with("running_"));
        let Some(online) = self.online.remove(&name).filter(|_| !is_buffer) else { return param };
        param.map(|old| {
            let wants_gradient = old.is_require_grad();
            let recorded = old.is_autodiff();
            let shape = old.shape();
            let target = if recorded { old.inner() } else { old };
            let online = online.reshape(shape);
            let moved = target * self.momentum + online * (1.0 - self.momentum);
            let moved = if recorded { Tensor::from_inner(moved) } else { moved };
            moved.set_require_grad(wants_gradient)
        })
    }
}
