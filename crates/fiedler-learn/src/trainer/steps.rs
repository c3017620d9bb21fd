//! Single steps: making them of graphs, and taking them.

use super::{State, Training};
use crate::data::{Data, Loaded, Sample, Supervision, Views};
use crate::dropout::Draws;
use crate::error::{Error, Result};
use crate::method::{Method, Step};

/// What steps are made of and taken with; unlike a [`Trainer`], any thread may use it.
pub(super) struct Steps<'a, M> {
    pub(super) method: &'a M,
    pub(super) data: &'a Data<'a>,
    pub(super) views: Option<Views<'a>>,
    pub(super) supervision: Option<Supervision<'a>>,
    pub(super) training: &'a Training,
    pub(super) seed: u64,
}

impl<M: Method> Steps<'_, M> {
    pub(super) fn make(&self, loaded: &Loaded<'_>, epoch: usize, number: u64) -> Result<Step> {
        let level = self.data.level();
        Ok(Step {
            views: self.draw(loaded, epoch as u32)?,
            level,
            answers: self.supervision.map_or_else(Vec::new, |labels| labels.answers(loaded, level)),
            draws: Draws::new(self.seed, number),
            seed: self.seed,
            number,
        })
    }

    pub(super) fn take(&self, mut state: State<M::Model>, step: Step, epoch: usize) -> Result<(State<M::Model>, f32)> {
        let loss = self.method.loss(&state.model, &step)?;
        let value: f32 = loss.clone().into_scalar();
        if !value.is_finite() {
            return Err(Error::NotFinite { what: "loss", epoch });
        }
        let share = self.training.schedule.share(epoch, self.training.epochs);
        state.adam.set_learning_rate(self.training.learning_rate * share);
        state.model = state.adam.step(state.model, loss.backward());
        Ok((state, value))
    }

    /// As many views as the method looks at; the graphs as they are, where it looks at none.
    pub(super) fn draw(&self, loaded: &Loaded<'_>, epoch: u32) -> Result<Vec<Sample>> {
        let weighting = self.method.weighting();
        let count = self.method.views();
        if count == 0 {
            return Ok(vec![self.data.clean(loaded, weighting)?]);
        }
        let Some(views) = self.views else {
            return Err(Error::setting("scheme", "missing", "one to draw views from"));
        };
        (0..count).map(|view| views.draw(self.data, loaded, weighting, epoch, view)).collect()
    }
}
